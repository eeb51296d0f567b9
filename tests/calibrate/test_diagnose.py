"""Diagnosis: a cost that changed by a known factor is found behind noise, and nothing where nothing changed."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from vmodel.calibrate.diagnose import VERDICTS, diagnose
from vmodel.calibrate.shifts import lay_side_by_side
from vmodel.cli.main import main
from vmodel.core.records import Observation
from vmodel.errors import FitError
from vmodel.library.profile import profile, value_of
from vmodel.solve.ask import predict

pytestmark = pytest.mark.slow  # the README runs the command among the quick tests

MACHINE = profile(str(Path(__file__).with_name("machine.toml")))  # the truth; the diagnosis knows only `generic`
GENERIC = profile("generic")
SIZES = (64, 1024, 4096, 16384, 65536)
NOISE = 0.02
KINDS = {"rr": "latency_us", "stream": "throughput_mbps"}


def row(number, value, *, path, workload, metric, size, **knobs):
    return Observation(
        id=f"r{number}", path=path, peer="", topology="", workload=workload, direction="to-vm", metric=metric,
        value=value, sd=None, knobs={"size": float(size), **knobs}, session="", series="", profile="", source="",
        excluded="", note="",
    )  # fmt: skip


def measured(seed, *, path="virtio-vhost", repeats=3, factors=(), **knobs):
    """Rows of one session on MACHINE with costs multiplied by known factors."""
    noise = np.random.default_rng(seed)
    costs = {name: value_of(MACHINE, name).value * factor for name, factor in dict(factors).items()}
    out = []
    for workload, metric in KINDS.items():
        for size in SIZES:
            p = predict(path, workload=workload, size=size, profile=MACHINE, **knobs, **costs)
            true = p.latency_s * 1e6 if workload == "rr" else p.throughput_bps / 1e6
            for _ in range(repeats):
                value = true * math.exp(NOISE * noise.standard_normal())
                out.append(row(len(out), value, path=path, workload=workload, metric=metric, size=size, **knobs))
    return out


@pytest.mark.parametrize(
    ("name", "factor"),
    [
        ("cold_copy_bytes_s", 0.5),
        ("worker_wake_s", 2.5),
        pytest.param("vcpu_wake_s", 2.0, marks=pytest.mark.slow),
    ],
)
def test_a_cost_that_changed_is_ranked_first_or_named_as_inseparable_from_the_first(name, factor):
    found = diagnose(measured(1), measured(2, factors=[(name, factor)]), GENERIC)
    assert found.verdict == "explained"
    first = found.explanations[0].changes
    assert len(first) == 1
    assert name in (first[0].parameter, *first[0].partners)
    assert all(f.state != "left" for f in found.figures)


@pytest.mark.parametrize(("name", "factor"), [("cold_copy_bytes_s", 0.5), ("worker_wake_s", 2.5)])
def test_the_interval_of_the_factor_holds_the_true_one_where_the_machine_is_known(name, factor):
    found = diagnose(measured(1), measured(2, factors=[(name, factor)]), MACHINE)
    alone = {e.changes[0].parameter: e.changes[0] for e in found.explanations if len(e.changes) == 1}
    assert alone[name].interval[0] <= factor <= alone[name].interval[1]
    assert alone[name].interval[1] < 2 * alone[name].interval[0]


@pytest.mark.slow
def test_two_costs_that_changed_far_apart_are_found_as_a_pair():
    truth = [("cold_copy_bytes_s", 0.4), ("worker_wake_s", 3.0)]
    found = diagnose(measured(3), measured(4, factors=truth), GENERIC)
    assert found.verdict in ("explained", "several explanations")
    probable = [e for e in found.explanations if len(e.changes) == 2]
    assert sum(e.probability for e in probable) > 0.5
    assert any("cold_copy_bytes_s" in {c.parameter for c in e.changes} for e in probable[:2])


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)])
def test_where_nothing_changed_nothing_is_found(seed):
    found = diagnose(measured(2 * seed + 10), measured(2 * seed + 11), GENERIC)
    assert found.verdict == "nothing changed"
    assert found.nothing > 0.5


def test_shifts_that_no_cost_can_make_are_not_explained():
    before = measured(5, repeats=2)
    flip = {"latency_us": (2.0, 0.5), "throughput_mbps": (1.0, 2.0)}
    after = [replace(r, value=r.value * flip[r.metric][int(math.log2(r.knobs["size"]) / 2) % 2]) for r in before]
    found = diagnose(before, after, GENERIC)
    assert found.verdict == "not explained"
    assert found.none > 0.5


def test_repeats_that_contradict_each_other_are_named_and_hide_no_other_figure():
    before, after = measured(6), measured(7, factors=[("worker_wake_s", 2.5)])
    spoiled = [replace(r, value=r.value / 10) if i == len(after) - 1 else r for i, r in enumerate(after)]
    found = diagnose(before, spoiled, GENERIC)
    assert found.verdict == "explained"
    assert found.shifts.contradicting[0][1] == pytest.approx(10, rel=0.2)
    assert "contradict" in found.because


def test_a_setting_that_differs_is_told_and_explains_the_shift():
    before, after = measured(8, path="vf", rx_usecs=0.0), measured(9, path="vf", rx_usecs=200.0)
    found = diagnose(before, after, MACHINE)
    assert [(s.name, s.before, s.after) for s in found.shifts.settings] == [("rx_usecs", 0.0, 200.0)]
    assert found.verdict == "the configuration explains it"
    assert "rx_usecs" in found.because
    slow = [f for f in found.figures if "rr" in f.label and "size 64)" in f.label]
    assert slow[0].configured > 0.2 and slow[0].change > 0.2


@pytest.mark.slow
def test_a_profile_of_the_machine_narrows_the_factor():
    before, after = measured(1), measured(2, factors=[("cold_copy_bytes_s", 0.5)])

    def width(known):
        change = diagnose(before, after, known).explanations[0].changes[0]
        return math.log(change.interval[1] / change.interval[0])

    assert width(MACHINE) < width(GENERIC)


@pytest.mark.slow
def test_more_repeats_make_the_noise_known_and_the_answer_surer():
    truth = [("worker_wake_s", 1.15)]
    few = diagnose(measured(20, repeats=1), measured(21, repeats=1, factors=truth), GENERIC)
    many = diagnose(measured(20, repeats=12), measured(21, repeats=12, factors=truth), GENERIC)
    assert few.shifts.repeats == 0
    assert many.shifts.noise == pytest.approx(NOISE, rel=0.3)
    assert many.nothing < few.nothing


def test_probabilities_are_a_distribution_and_verdicts_a_closed_set():
    found = diagnose(measured(1), measured(2, factors=[("tap_queue_s", 2.0)]), GENERIC)
    whole = found.nothing + found.none + sum(e.probability for e in found.explanations)
    assert 0.8 < whole <= 1 + 1e-9  # explanations below a per cent are not listed
    assert found.verdict in VERDICTS


@pytest.mark.slow
def test_the_order_of_rows_changes_nothing():
    before, after = measured(1), measured(2, factors=[("worker_wake_s", 2.5)])
    one = diagnose(before, after, GENERIC)
    other = diagnose(before[::-1], after[::-1], GENERIC)
    assert one.nothing == pytest.approx(other.nothing, abs=1e-9)
    assert {e.changes[0].parameter for e in one.explanations[:3]} == {
        e.changes[0].parameter for e in other.explanations[:3]
    }


def test_files_without_a_common_question_are_refused_in_one_line():
    rr = [r for r in measured(1) if r.workload == "rr"]
    stream = [r for r in measured(1) if r.workload == "stream"]
    with pytest.raises(FitError, match="no question is in both files"):
        diagnose(rr, stream, GENERIC)
    with pytest.raises(FitError, match="no row"):
        diagnose([], rr, GENERIC)


def test_a_default_that_one_file_spells_out_is_no_difference():
    plain = measured(1)
    spelt = [replace(r, knobs={**r.knobs, "mtu": 1500.0}) for r in measured(2)]
    found = lay_side_by_side(plain, spelt, GENERIC)
    assert found.settings == ()
    assert len(found.pairs) == len(SIZES) * len(KINDS)


def test_the_command_tells_the_verdict_first_and_exits_by_it(tmp_path, capsys):
    head = "path,workload,message_bytes,metric,value\n"
    lines = ["virtio-vhost,rr,64,latency_us,", "virtio-vhost,rr,4096,latency_us,", "virtio-vhost,rr,16384,latency_us,"]
    files = {}
    for name, values in {"before": (60, 65, 80), "slower": (90, 95, 110), "odd": (120, 30, 160)}.items():
        files[name] = tmp_path / f"{name}.csv"
        files[name].write_text(head + "".join(f"{a}{b}\n" for a, b in zip(lines, values, strict=True)))

    def ran(*arguments):
        code = main(["diagnose", *map(str, arguments)])
        out = capsys.readouterr()
        return code, out.out, out.err

    code, out, err = ran(files["before"], files["slower"])
    assert (code, err) == (0, "")
    assert out.startswith("explained: ") and "none of these" in out and "configuration: the same" in out
    code, out, _ = ran(files["before"], files["odd"], "--json")
    record = json.loads(out)
    assert (code, record["verdict"]) == (1, "not explained")
    assert {f["state"] for f in record["figures"]} == {"left"}
    code, out, err = ran(files["before"], tmp_path / "absent.csv")
    assert (code, out, err.count("\n")) == (2, "", 1)
    code, out, err = ran(files["before"], files["odd"], "--profile", "generik")
    assert (code, out) == (2, "") and "generic" in err


def test_outputs_of_tools_are_taken_as_well_as_observation_files(tmp_path, capsys):
    summary = "sockperf: == version #3.7-no.git == \nsockperf: Summary: Latency is {:.3f} usec\n"
    files = []
    for name, half in (("before", 30.0), ("after", 60.0)):
        files.append(tmp_path / f"{name}.txt")
        files[-1].write_text(summary.format(half))
    code = main(["diagnose", *map(str, files), "--path", "virtio-vhost", "--topology", "host-vm", "--json"])
    record = json.loads(capsys.readouterr().out)
    assert code in (0, 1)
    assert record["figures"][0]["before"] == pytest.approx(60.0, rel=1e-3)
    assert record["figures"][0]["change"] == pytest.approx(1.0, rel=1e-3)
    assert main(["diagnose", *map(str, files)]) == 2
    assert "--path" in capsys.readouterr().err
