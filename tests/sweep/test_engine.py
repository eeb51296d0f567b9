"""The same table wherever a sweep runs; what is done stays done; what fails is written down."""

import json
import math
import multiprocessing
import os
import signal
import time
import warnings

import numpy as np
import pyarrow.parquet as pq
import pytest

import vmodel
from vmodel.cli.main import main
from vmodel.errors import ConfigError, EngineError
from vmodel.library import tables
from vmodel.solve import doubt
from vmodel.sweep import engine
from vmodel.sweep.axis import faults_of
from vmodel.sweep.draws import cost_draws
from vmodel.sweep.grid import grid
from vmodel.sweep.store import Folder, digest, holds

CHUNK = 300  # rows; small, so that a sweep has many chunks
COLUMNS = ["latency_us", "latency_us_p99", "throughput_bps", "bottleneck", "saturated"]


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch):
    monkeypatch.setattr(engine, "CHUNK", CHUNK)


@pytest.fixture
def g():
    axes = faults_of(["path=vf,virtio-vhost", "size=64..64KiB/40@log", "rx_usecs=0..200/31"])[0]
    return grid({}, axes, COLUMNS)


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    assert distributed
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the cluster's own machinery
        with engine.cluster("local") as found:
            yield found


def bytes_of(g, place, name, runner, **how):
    output = place / f"{name}.parquet"
    done = engine.to_file(g, output, runner, **how)
    return output.read_bytes(), done


def test_a_file_holds_the_rows_of_memory_with_units_and_question(g, tmp_path):
    _, done = bytes_of(g, tmp_path, "a", engine.here)
    assert done == engine.Done(found=0, computed=len(engine.jobs_of(g)), failures=())
    found = pq.read_table(tmp_path / "a.parquet")
    memory = engine.in_memory(g).columns
    assert found.column_names == list(memory) and found.num_rows == g.rows == 2480
    for name, values in memory.items():
        assert found.column(name).to_pylist() == values.tolist()
    told = found.schema.metadata
    assert json.loads(told[b"vmodel.units"])["latency_us"] == "us"
    assert json.loads(told[b"vmodel.settings"])["axes"] == ["path", "size", "rx_usecs"]
    assert pq.ParquetFile(tmp_path / "a.parquet").num_row_groups == len(engine.jobs_of(g))
    assert [p.name for p in tmp_path.iterdir()] == ["a.parquet"]


def test_a_finished_table_is_not_computed_again_and_another_question_is(g, tmp_path):
    bytes_of(g, tmp_path, "a", engine.here)
    before = (tmp_path / "a.parquet").stat().st_mtime_ns

    def forbidden(asked, first, last):
        raise AssertionError("computed again")

    _, done = bytes_of(g, tmp_path, "a", engine.here, work=forbidden)
    assert done.computed == 0 and (tmp_path / "a.parquet").stat().st_mtime_ns == before
    other = grid({"mtu": 9000}, g.axes, COLUMNS)
    assert digest(other) != digest(g) and not holds(tmp_path / "a.parquet", other)
    assert bytes_of(other, tmp_path, "a", engine.here)[1].found == 0


def test_a_resumed_sweep_computes_only_what_is_missing(g, tmp_path):
    whole, _ = bytes_of(g, tmp_path, "whole", engine.here)
    seen = []

    def until_interrupted(asked, first, last):
        if len(seen) == 3:
            raise KeyboardInterrupt
        seen.append(first)
        return engine.compute(asked, first, last)

    with pytest.raises(KeyboardInterrupt):
        bytes_of(g, tmp_path, "a", engine.here, work=until_interrupted)
    assert not (tmp_path / "a.parquet").exists()
    again = []

    def counted(asked, first, last):
        again.append(first)
        return engine.compute(asked, first, last)

    told = []
    found, done = bytes_of(g, tmp_path, "a", engine.here, work=counted, tell=told.append)
    assert done.found == 3 and set(again).isdisjoint(seen)
    assert sorted(seen + again) == [job.first for job in engine.jobs_of(g)]
    assert sum(told) == g.rows and found == whole


def test_a_bad_chunk_is_written_down_and_only_it_is_tried_again(g, tmp_path):
    whole, _ = bytes_of(g, tmp_path, "whole", engine.here)
    bad = engine.jobs_of(g)[2].first

    def faulty(asked, first, last):
        if first == bad:
            raise ArithmeticError("no such number")
        return engine.compute(asked, first, last)

    output = tmp_path / "a.parquet"
    done = engine.to_file(g, output, engine.here, work=faulty)
    (failure,) = done.failures
    assert isinstance(failure, EngineError) and failure.chunk == f"rows {bad + 1} to {bad + CHUNK}"
    assert "no such number" in str(failure) and not output.exists()
    (record,) = json.loads((Folder.beside(output, g).place / "failed.json").read_text())
    assert record["rows"] == failure.chunk and "ArithmeticError" in record["reason"]
    again = engine.to_file(g, output, engine.here)
    assert again.computed == 1 and output.read_bytes() == whole


def test_half_a_chunk_is_no_chunk(g, tmp_path):
    folder = Folder.beside(tmp_path / "a.parquet", g)
    folder.create()
    folder.path(0).with_suffix(".1.part").write_bytes(b"half")
    done = engine.to_file(g, tmp_path / "a.parquet", engine.here)
    assert done.found == 0 and not done.failures


def test_a_foreign_file_is_not_taken_for_a_table(g, tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"PAR1 not really")
    assert not holds(tmp_path / "a.parquet", g)
    assert bytes_of(g, tmp_path, "a", engine.here)[1].computed


@pytest.mark.parametrize(
    "settings",
    [
        {"path": "vf", "rx_usecs": 180},
        {"path": "vsock", "workload": "stream"},
        {"path": "virtio-vhost", "workload": "packets"},
    ],
)
def test_draws_are_what_single_predictions_at_the_drawn_costs_say(settings):
    axes = faults_of(["size=256,1024"])[0]
    made = grid(settings, axes, draws=60, seed=3)
    columns = engine.in_memory(made).columns
    base = made.cells[0].scenario
    costs, normal = cost_draws(base, 60, 3)
    error = np.exp(normal * np.sqrt(doubt.model_variance(vmodel.scenario(**settings, size=1024))))
    asked = [vmodel.predict(**settings, size=1024, **{k: v[i] for k, v in costs.items()}) for i in range(60)]
    latency = [p.latency_s * 1e6 * e for p, e in zip(asked, error, strict=True)]
    carried = [p.throughput_bps / e for p, e in zip(asked, error, strict=True)]
    ends = [columns[f"latency_us_{e}"][1] for e in ("low", "high")]
    assert ends == pytest.approx(np.quantile(latency, (0.05, 0.95)))
    ends = [columns[f"throughput_bps_{e}"][1] for e in ("low", "high")]
    assert ends == pytest.approx(np.quantile(carried, (0.05, 0.95)))


def test_with_every_cost_given_only_the_models_own_error_is_left():
    costs = {name: vmodel.profile("vsock-2019").values[name].value for name in vmodel.profile("vsock-2019").values}
    costs |= {n: tables.priors()[n].at(2.4) for n in tables.priors() if n not in costs}
    settings = {"path": "vsock", "workload": "stream", **costs}
    columns = engine.in_memory(grid(settings, faults_of(["size=4096,8192"])[0], draws=20000)).columns
    sd = math.sqrt(doubt.model_variance(vmodel.scenario(path="vsock", workload="stream", size=4096)))
    spread = np.log(columns["throughput_bps_high"] / columns["throughput_bps_low"])
    assert spread == pytest.approx(2 * 1.6448536 * sd, rel=0.03)


def test_a_load_below_capacity_is_carried_whatever_the_costs_unless_capacity_is_short():
    axes = faults_of(["load=30%,95%"])[0]
    t = engine.in_memory(grid({"path": "virtio-vhost", "workload": "packets"}, axes, draws=400)).columns
    assert t["throughput_bps_high"] == pytest.approx(t["throughput_bps"], rel=1e-6)
    assert t["throughput_bps_low"][1] < t["throughput_bps"][1]


def test_draws_depend_on_the_seed_and_not_on_the_chunk(monkeypatch):
    axes = faults_of(["size=64..1500/9"])[0]

    def high(seed):
        return engine.in_memory(grid({"path": "vf"}, axes, ["latency_us_high"], draws=50, seed=seed)).columns

    first = high(1)["latency_us_high"]
    monkeypatch.setattr(engine, "CHUNK", 100)
    assert np.array_equal(high(1)["latency_us_high"], first)
    assert not np.array_equal(high(2)["latency_us_high"], first)


def test_too_many_rows_for_memory_need_a_file():
    axes = faults_of(["size=1:65536:1", "rx_usecs=0:99:1"])[0]
    with pytest.raises(ConfigError, match=r"-o FILE\.parquet"):
        engine.in_memory(grid({"path": "vf"}, axes))


def test_failures_and_resumption_are_told_on_the_command_line(tmp_path, capsys, monkeypatch):
    arguments = ["sweep", "--path", "vf", "--vary", "size=64..1500/900", "--columns", "latency_us", "-o"]
    output = tmp_path / "a.parquet"
    original = engine.table

    def faulty(g, first, last):
        if first == CHUNK:
            raise MemoryError("full")
        return original(g, first, last)

    with monkeypatch.context() as broken:
        broken.setattr(engine, "table", faulty)
        assert main([*arguments, str(output)]) == 1
    err = capsys.readouterr().err
    assert "rows 301 to 600: MemoryError: full" in err and "1 of 3 chunks failed" in err
    assert main([*arguments, str(output)]) == 0
    assert "2 of 3 chunks were there already" in capsys.readouterr().err
    assert main([*arguments, str(output)]) == 0
    assert "complete already" in capsys.readouterr().err


def test_a_scheduler_that_nobody_runs_is_one_line(capsys, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(engine, "TIMEOUT", "1s")
    code = main(["sweep", "--path", "vf", "--vary", "size=64,128", "--scheduler", "tcp://127.0.0.1:9"])
    err = capsys.readouterr().err
    assert code == 2 and len(err.splitlines()) == 1 and "--scheduler" in err and "tcp://host:8786" in err


@pytest.mark.slow
def test_all_cores_give_the_same_bytes_and_survive_a_killed_process(g, tmp_path):
    whole, _ = bytes_of(g, tmp_path, "whole", engine.here)
    killed = []

    def kill_one(rows):
        children = multiprocessing.active_children()
        if rows and children and not killed:
            killed.append(children[0].pid)
            os.kill(children[0].pid, signal.SIGKILL)

    found, done = bytes_of(g, tmp_path, "cores", engine.on_cores(2), tell=kill_one)
    assert killed and not done.failures and found == whole


@pytest.mark.slow
def test_processes_are_started_only_where_they_pay(g, tmp_path, monkeypatch):
    whole, _ = bytes_of(g, tmp_path, "whole", engine.here)
    started = []

    def counted(count):
        started.append(count)
        return engine.here

    monkeypatch.setattr(engine, "on_cores", counted)
    assert bytes_of(g, tmp_path, "short", engine.as_it_pays(2))[0] == whole and started == []
    monkeypatch.setattr(engine, "PAYS_S", 0.0)
    assert bytes_of(g, tmp_path, "long", engine.as_it_pays(2))[0] == whole and started == [2]


@pytest.mark.slow
def test_a_dask_cluster_gives_the_same_bytes(g, tmp_path, client):
    whole, _ = bytes_of(g, tmp_path, "whole", engine.here)
    found, done = bytes_of(g, tmp_path, "dask", engine.on_dask(client))
    assert done.computed == len(engine.jobs_of(g)) and found == whole
    assert client.dashboard_link.startswith("http://")


@pytest.mark.slow
def test_a_worker_killed_in_mid_sweep_loses_nothing(g, tmp_path, client):
    whole, _ = bytes_of(g, tmp_path, "whole", engine.here)
    killed = []

    def slowly(asked, first, last):
        time.sleep(0.2)
        return engine.compute(asked, first, last)

    def kill_one(rows):
        if rows and not killed:
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    found, done = bytes_of(g, tmp_path, "dask", engine.on_dask(client), work=slowly, tell=kill_one)
    assert killed and not done.failures and found == whole


@pytest.mark.slow
def test_a_bad_chunk_on_a_cluster_is_written_down_and_the_rest_resumes(g, tmp_path, client):
    whole, _ = bytes_of(g, tmp_path, "whole", engine.here)
    bad = engine.jobs_of(g)[-1].first

    def faulty(asked, first, last):
        if first == bad:
            raise ValueError("bad chunk")
        return engine.compute(asked, first, last)

    output = tmp_path / "a.parquet"
    done = engine.to_file(g, output, engine.on_dask(client), work=faulty)
    assert [f.chunk for f in done.failures] == [f"rows {bad + 1} to {g.rows}"] and not output.exists()
    assert engine.to_file(g, output, engine.on_dask(client)).computed == 1
    assert output.read_bytes() == whole
