"""Suggestions: the gain that is promised is that of a refit, and real rows bring what was to be expected of them."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm, spearmanr

from vmodel.calibrate.belief import belief
from vmodel.calibrate.candidates import candidates
from vmodel.calibrate.design import design, evaluate, moved_by, question
from vmodel.calibrate.evidence import load
from vmodel.calibrate.fit import fit
from vmodel.calibrate.profile_file import as_profile
from vmodel.calibrate.suggest import NOISE, RUN_NOISE, Law, achieved, condition, suggest
from vmodel.cli.main import main
from vmodel.config import scenario
from vmodel.core.records import Observation
from vmodel.library.profile import profile
from vmodel.solve.ask import predict

GENERIC = profile("generic")
VHOST = scenario(path="virtio-vhost", topology="host-vm", size=1024, profile=GENERIC)
VF = scenario(path="vf", topology="cross-host-vm", profile=GENERIC)
ACROSS = scenario(path="virtio-vhost", topology="cross-host-vm", profile=GENERIC)


def row(number, value, *, path="virtio-vhost", topology="host-vm", size=1024, metric="latency_us", workload="rr"):
    return Observation(
        id=f"r{number}", path=path, peer="", topology=topology, workload=workload, direction="to-vm", metric=metric,
        value=value, sd=None, knobs={"size": float(size)}, session="", series="", profile="", source="", excluded="",
        note="",
    )  # fmt: skip


def test_the_promised_variance_is_that_of_the_posterior_with_a_pseudo_row():
    """Against the textbook posterior: (C^-1 + h h' / s^2)^-1, inverted as a whole."""
    rows = [row(0, 1.0, size=64), row(1, 1.0, size=65536, workload="stream", metric="throughput_mbps")]
    asked = [VHOST, *(question(r, GENERIC) for r in rows)]
    groups = design([row(9, 1.0), *rows], GENERIC)
    known = belief(GENERIC, moved_by(groups))
    _, jacobian = evaluate(groups, {}, known.names, 3)
    law = Law([(s, m) for s, m in zip(asked, ("latency_us", "latency_us", "throughput_mbps"), strict=True)], GENERIC)
    parameters_only = jacobian @ known.covariance @ jacobian.T
    for i in (1, 2):
        precision = np.linalg.inv(known.covariance) + np.outer(jacobian[i], jacobian[i]) / NOISE**2
        refitted = jacobian[0] @ np.linalg.inv(precision) @ jacobian[0]
        assert condition(parameters_only, i, NOISE)[0, 0] == pytest.approx(refitted, rel=1e-6)
    extra = np.diag(law.covariance) - np.diag(parameters_only)
    assert np.all(extra > 0)  # what the model is off by comes on top


def test_the_promised_width_is_that_of_a_refit_with_the_predicted_value():
    found = suggest([VHOST], GENERIC)
    first = found.picks[0]
    s = first.candidate.scenario
    taken = row(0, first.predicted, path=s.path, topology=s.topology, size=s.knobs["size"])
    brought = achieved([VHOST], GENERIC, [replace(taken, sd=NOISE * first.predicted)])
    assert brought.expected.log_sd == pytest.approx(first.after.log_sd, rel=1e-6)
    assert brought.achieved.value == pytest.approx(found.now.value, rel=0.01)
    assert brought.achieved.log_sd < 0.75 * found.now.log_sd


def test_every_measurement_narrows_and_none_twice():
    found = suggest([VF, ACROSS], GENERIC)
    kept = [p for p in found.picks if not p.instead]
    widths = [found.now.log_sd, *(p.after.log_sd for p in kept)]
    assert widths == sorted(widths, reverse=True)
    assert len({p.candidate.label for p in found.picks}) == len(found.picks) == 3
    wrong = [found.now.wrong, *(p.after.wrong for p in kept)]
    assert wrong == sorted(wrong, reverse=True)
    assert all(0 <= p.flips <= 0.5 for p in found.picks)


def test_a_cheaper_measurement_goes_first_where_it_tells_as_much():
    found = suggest([VHOST], GENERIC)
    assert found.picks[0].candidate.seconds <= min(c.seconds for c in candidates([VHOST], ())) * 1.5


def test_the_expected_chance_of_a_wrong_choice_agrees_with_drawing_it():
    found = suggest([VF, ACROSS], GENERIC)
    last = [p for p in found.picks if not p.instead][-1]
    dice = np.random.default_rng(1)
    mean, first, after = math.log(found.now.value), found.now.log_sd**2, last.after.log_sd**2
    truth = mean + math.sqrt(first) * dice.standard_normal(200_000)
    seen = mean + (first - after) / first * (truth - mean)
    seen += math.sqrt((first - after) * after / first) * dice.standard_normal(truth.size)
    assert np.mean((seen > 0) != (truth > 0)) == pytest.approx(last.after.wrong, abs=0.003)
    assert np.mean((seen > 0) != (mean > 0)) == pytest.approx(last.flips, abs=0.003)


def test_paths_that_cannot_be_measured_are_not_suggested():
    found = suggest([VF], GENERIC, without=("vf",))
    assert found.picks
    assert all("vf" not in (p.candidate.scenario.path, p.candidate.scenario.peer) for p in found.picks)


def test_the_settings_of_a_decision_are_put_in_force_by_the_commands():
    sides = [scenario(path="virtio-vhost", workload="stream", queues=q, flows=16, profile=GENERIC) for q in (4, 1)]
    there = [c for c in candidates(sides, ()) if c.scenario.path == "virtio-vhost"]
    assert {c.scenario.knobs["queues"] for c in there} == {1.0, 4.0}
    for one in there:
        assert f"ethtool -L eth0 combined {one.scenario.knobs['queues']:g}" in " ".join(one.commands)


def test_rows_bring_a_decision_near_certainty():
    truth = {"vf": 60.0, "virtio-vhost": 120.0}
    rows = [row(i, v, path=p, topology="cross-host-vm") for i, (p, v) in enumerate(truth.items())]
    brought = achieved([VF, ACROSS], GENERIC, rows)
    assert brought.achieved.log_sd < brought.before.log_sd
    assert brought.achieved.better > 0.95
    assert brought.achieved.value == pytest.approx(0.5, rel=0.15)
    now = suggest([VF, ACROSS], GENERIC).now
    assert now.better == pytest.approx(norm.cdf(-math.log(now.value) / now.log_sd))  # of two latencies the lower
    assert now.value < 1 and not brought.flipped
    other = achieved([VF, ACROSS], GENERIC, [replace(r, value=v) for r, v in zip(rows, (110.0, 60.0), strict=True)])
    assert other.flipped and other.achieved.value > 1 and other.achieved.better < 0.5
    assert not achieved([VF], GENERIC, rows[:1]).flipped


FIRST, TRIED, DRAWS, REST = 2, 6, 3, 30


@pytest.mark.slow
def test_real_rows_bring_more_where_more_was_expected():
    """Left-out rows of the four documents: expected fall of variance against the fall of squared error that came."""
    dice = np.random.default_rng(1)
    expected, came = [], []
    for study in load():
        rows = list(study.compared)
        for _ in range(DRAWS):
            order = [rows[i] for i in dice.permutation(len(rows))]
            first, tried, rest = order[:FIRST], order[FIRST : FIRST + TRIED], order[FIRST + TRIED :][:REST]
            known = as_profile(fit(first, study.seed), "known")
            law = Law([(question(r, known), r.metric) for r in [*rest, *tried]], known)
            n, measured = len(rest), np.log([r.value for r in rest])
            for k, one in enumerate(tried):
                left = condition(law.covariance, n + k, RUN_NOISE)
                expected.append(float(np.mean(np.diag(law.covariance)[:n] - np.diag(left)[:n])))
                after = as_profile(fit([*first, one], study.seed), "after")
                logs, _ = evaluate(design(rest, after), {}, (), n)
                came.append(float(np.mean((law.logs[:n] - measured) ** 2 - (logs - measured) ** 2)))
    found = spearmanr(expected, came)
    assert found.statistic > 0.15 and found.pvalue < 0.05
    most = np.argsort(expected)[-len(expected) // 3 :]
    assert np.mean(np.array(came)[most]) > 2 * np.mean(np.delete(np.array(came), most))


def test_the_command_prints_ready_commands_and_the_achieved_gain_beside_the_expected(tmp_path, capsys):
    def ran(*arguments):
        code = main(["suggest", *arguments])
        out = capsys.readouterr()
        return code, out.out, out.err

    code, out, err = ran("--decide", "vf vs virtio-vhost")
    assert (code, err) == (0, "")
    assert "netperf -H $PEER -t TCP_RR" in out and "is better with probability" in out and "flips" in out
    record = json.loads(ran("--path", "virtio-vhost", "--topology", "host-vm", "--json")[1])
    now = predict("virtio-vhost", topology="host-vm", profile="generic")
    assert record["now"]["interval90"] == pytest.approx(
        [1e6 * now.latency_interval_s.low, 1e6 * now.latency_interval_s.high], rel=1e-3
    )
    file = tmp_path / "rows.csv"
    file.write_text("path,topology,workload,metric,value\nvirtio-vhost,host-vm,rr,latency_us,70\n")
    code, out, _ = ran("--path", "virtio-vhost", "--topology", "host-vm", "--after", str(file))
    assert code == 0 and "expected: interval" in out and "achieved: " in out
    for wrong in (["--decide", "vf"], ["--decide", "vf vs virtio-vhots"], ["--path", "vf", "--without", "vff"]):
        code, out, err = ran(*wrong)
        assert (code, out) == (2, "") and err.count("\n") == 1


def test_frames_are_sent_and_received_by_the_tool_of_the_path_and_the_way():
    def commands(path, way):
        s = scenario(path=path, topology="host-vm", workload="packets", direction=way, profile=GENERIC)
        found = [c for c in candidates([s], ()) if (c.scenario.workload, c.scenario.direction) == ("packets", way)]
        return " ".join(line for c in found for line in c.commands)

    assert "--forward-mode=rxonly" in commands("virtio-user", "to-vm")
    assert "--forward-mode=txonly" in commands("virtio-user", "from-vm")
    assert "# on the host" in commands("virtio-vhost", "to-vm")
    assert "# in the guest" in commands("virtio-vhost", "from-vm")


def test_both_ways_are_tried_where_the_ways_differ():
    def ways(topology):
        s = scenario(path="virtio-vhost", topology=topology, profile=GENERIC)
        own = [c.scenario for c in candidates([s], ()) if c.scenario.path == s.path]
        return {one.direction for one in own if (one.topology, one.workload) == (topology, "stream")}

    assert ways("host-vm") == {"to-vm", "from-vm"} and len(ways("vm-vm")) == 1


def test_each_pick_tells_what_the_model_predicts_of_it():
    for pick in suggest([VHOST], GENERIC).picks:
        s = pick.candidate.scenario
        set_ = {n: v for n, v in s.knobs.items() if n in ("size", *s.chosen) and v is not None}
        answer = predict(
            s.path, topology=s.topology, workload=s.workload, direction=s.direction, profile=GENERIC, **set_
        )
        figure = {"latency_us": (answer.latency_s or 0) * 1e6, "throughput_mbps": answer.throughput_bps / 1e6}
        assert pick.predicted == pytest.approx(figure[pick.candidate.metric], rel=1e-6), pick.candidate.label
