"""A sweep says of every row what `predict` says of it alone."""

import math
from dataclasses import replace

import numpy as np
import pytest

import vmodel
from vmodel.core.records import Load
from vmodel.errors import ConfigError
from vmodel.solve import answers, solver
from vmodel.sweep.axis import faults_of
from vmodel.sweep.engine import in_memory
from vmodel.sweep.grid import BLOCK, grid, table

PATHS = vmodel.path_names()
ROWS = 6
NEAR = 1e-6  # percentiles of nearly normal laws; all else agrees to 1e-12
TIE = 1e-6  # resources so equally busy have no bottleneck among them


def laid_out(settings, *texts, columns=None):
    axes, faults = faults_of(texts)
    assert not faults
    return grid(settings, axes, columns)


def expected(p):
    """The columns that one prediction gives."""
    latency, carried = p.latency_interval_s, p.throughput_interval_bps
    return {
        "latency_s": p.latency_s,
        "latency_low_s": latency.low,
        "latency_high_s": latency.high,
        "p50_s": p.percentiles_s[0.5],
        "p90_s": p.percentiles_s[0.9],
        "p99_s": p.percentiles_s[0.99],
        "p999_s": p.percentiles_s[0.999],
        "throughput_bps": p.throughput_bps,
        "throughput_low_bps": carried.low,
        "throughput_high_bps": carried.high,
        "rate_pps": p.rate_pps,
        "transactions_per_s": p.transactions_per_s,
        "interrupts_per_s": p.interrupts_per_s,
        "loss": p.loss,
        "cpu_host": p.cpu_host,
        "cpu_guest": p.cpu_guest,
        "saturated": p.saturated,
    }


def cases(path, workload):
    """A base scenario, and the same with arrays of sizes, timers and, where asked, loads."""
    loaded = workload == "load"
    base = vmodel.scenario(path=path, workload="packets" if loaded else workload)
    generator = np.random.default_rng(PATHS.index(path))
    most = 1400 if base.workload == "packets" else 30000
    arrays = {
        "size": np.rint(generator.uniform(64, most, ROWS)),
        "rx_usecs": np.rint(generator.uniform(4, 250, ROWS)),
    }
    block = replace(base, knobs={**base.knobs, **arrays})
    if loaded:
        block = replace(
            block, load=Load(kind="rate_pps", value=answers.capacity_per_s(block, ROWS) * np.linspace(0.1, 1.2, ROWS))
        )
    return base, arrays, block


@pytest.mark.parametrize("workload", ["rr", "stream", "packets", "load"])
@pytest.mark.parametrize("path", PATHS)
def test_a_block_answers_as_single_predictions_do(path, workload):
    base, arrays, block = cases(path, workload)
    solved = answers.solve_block(block, ROWS, gradient=True)
    columns = {n: answers.column(solved, n) for n in answers.COLUMNS}
    places, names = answers.bottlenecks(solved)
    assert set(names) <= set(answers.resource_names(base))
    for i in range(0, ROWS, 1 if workload == "rr" else 2):
        load = replace(block.load, value=float(block.load.value[i])) if workload == "load" else base.load
        one = replace(base, knobs={**base.knobs, **{k: float(v[i]) for k, v in arrays.items()}}, load=load)
        p = solver.predict(one)
        for name, value in expected(p).items():
            got = columns[name] if columns[name] is None else np.broadcast_to(columns[name], ROWS)[i]
            assert got == (value if value is None else pytest.approx(value, rel=NEAR, abs=1e-15)), (name, i)
        busiest = max(p.demands_s.values())
        tied = [k for k, v in p.demands_s.items() if v >= busiest * (1 - TIE)]
        assert names[np.broadcast_to(places, ROWS)[i]] in ([p.bottleneck] if p.bottleneck not in tied else tied)


def test_rows_go_round_like_an_odometer_with_words_slowest():
    g = laid_out({}, "size=64,128", "path=vf,virtio-vhost", "rx_usecs=0,50", columns=["latency_us"])
    t = in_memory(g).columns
    assert t["path"].tolist() == ["vf"] * 4 + ["virtio-vhost"] * 4
    assert t["size"].tolist() == [64, 64, 128, 128] * 2
    assert t["rx_usecs"].tolist() == [0, 50] * 4
    for i in range(g.rows):
        p = vmodel.predict(path=t["path"][i], size=t["size"][i], rx_usecs=t["rx_usecs"][i])
        assert t["latency_us"][i] == pytest.approx(p.latency_s * 1e6, rel=1e-9)


def test_any_stretch_of_rows_is_the_same_as_that_part_of_the_whole():
    g = laid_out({"path": "virtio-vhost", "workload": "stream"}, "size=1..65536/4200", "mtu=1500,9000,576",
                 "zero_copy=on,off")  # fmt: skip
    assert g.rows > 2 * BLOCK - 1
    whole = table(g, 0, g.rows)
    for first, last in ((0, 1), (17, 14000), (g.rows - 3, g.rows)):
        part = table(g, first, last)
        for name in whole:
            assert np.array_equal(part[name], whole[name][first:last], equal_nan=part[name].dtype == float), name


def test_modes_of_a_driver_within_one_axis_are_kept_apart():
    g = laid_out({"path": "pf", "workload": "packets"}, "rx_usecs=0,1,3,20,100", "load=30%,95%")
    t = table(g, 0, g.rows)
    for i in range(g.rows):
        p = vmodel.predict("pf", workload="packets", rx_usecs=t["rx_usecs"][i],
                           load=t["load"][i] * vmodel.predict("pf", workload="packets").messages_per_s)  # fmt: skip
        assert t["latency_us"][i] == pytest.approx(p.latency_s * 1e6, rel=1e-9)
        assert t["interrupts_per_s"][i] == pytest.approx(p.interrupts_per_s, rel=1e-9)


def test_a_share_of_the_capacity_is_that_of_each_row():
    g = laid_out({"path": "virtio-vhost", "workload": "packets"}, "size=64,1500", "load=50%,120%")
    t = table(g, 0, g.rows)
    top = [vmodel.predict("virtio-vhost", workload="packets", size=s).messages_per_s for s in (64, 1500)]
    assert t["rate_pps"] == pytest.approx([top[0] / 2, top[0], top[1] / 2, top[1]], rel=1e-3)
    assert t["saturated"].tolist() == [False, True, False, True]
    assert all(math.isfinite(x) for x in t["latency_us"])


def test_a_cost_varies_like_a_setting():
    g = laid_out({"path": "virtio-vhost"}, "guest_interrupt_s=1e-6,9e-6", columns=["latency_us"])
    a, b = table(g, 0, 2)["latency_us"]
    one = vmodel.predict("virtio-vhost", guest_interrupt_s=9e-6)
    assert b > a and b == pytest.approx(one.latency_s * 1e6, rel=1e-9)


def test_the_regime_is_that_of_predict_without_its_figures():
    g = laid_out({"path": "vf"}, "rx_usecs=0,400", columns=["regime"])
    found = table(g, 0, 2)["regime"]
    assert found.tolist() == [vmodel.predict("vf", rx_usecs=x).regime for x in (0, 400)]


def test_combinations_that_cannot_exist_are_left_out_and_named():
    g = laid_out({"topology": "cross-host-vm"}, "path=vf,vsock", "size=64,128")
    assert g.rows == 2 and len(g.left_out) == 1
    assert "vsock" in g.left_out[0] and "host-vm" in g.left_out[0]


@pytest.mark.parametrize(
    ("vary", "columns", "draws", "part"),
    [
        (["burst=1:9999:1", "in_flight=1:99:1"], None, 0, "100,000 combinations of words"),
        (["size=1:999999:1", "mtu=68:9000:1", "batch=1:999:1"], None, 0, "10,000,000,000 configurations"),
        (["size=1:999999:1"], None, 100000, "draws counted"),
        (["size=1:999999:1", "mtu=68:99:1"], ["regime"], 0, "found row by row"),
    ],
)
def test_what_would_not_end_is_refused_before_it_begins(vary, columns, draws, part):
    with pytest.raises(ConfigError, match=part):
        grid({"path": "vf"}, faults_of(vary)[0], columns, draws=draws)


@pytest.mark.parametrize(
    ("settings", "vary", "part"),
    [
        ({"topology": "cross-host-vm"}, "path=vsock", "one that vsock can have"),
        ({"path": "vf"}, "load=10%,50%", "packets only"),
        ({"path": "vff"}, "size=1,2", 'did you mean "vf"'),
    ],
)
def test_a_sweep_without_any_possible_row_is_refused(settings, vary, part):
    with pytest.raises(ConfigError, match=part):
        laid_out(settings, vary)
