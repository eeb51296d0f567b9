"""Studies left out, population priors and rows given, against the sums that define them."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from tests.calibrate.made import PRIOR, measured, row, scaled
from vmodel.calibrate.belief import belief
from vmodel.calibrate.evidence import load
from vmodel.calibrate.fewshot import FEWEST_LEFT, curve
from vmodel.calibrate.fit import fit
from vmodel.calibrate.generic import alike, facts_of_study, machine_of, profile_of, summary, told_machine
from vmodel.calibrate.population import SLOPES, TOGETHER, Machine, alikeness, assumed, facts_of, kind, learn
from vmodel.calibrate.problem import carried, posterior, problem
from vmodel.calibrate.profile_file import seen, spreads
from vmodel.calibrate.transfer import (
    ENOUGH,
    LEAST_ERROR,
    STARTS,
    Draw,
    Transfer,
    assumptions,
    enough_spread,
    model_errors,
    population,
    seen_by,
    spread_over,
    transfer,
)
from vmodel.calibrate.validate import compare_rows
from vmodel.core.records import Seen
from vmodel.library.profile import profile, value_of
from vmodel.library.tables import priors, reference_clock_ghz
from vmodel.solve.ask import predict
from vmodel.solve.doubt import UNSEEN_LOG_SD

GENERIC = profile("generic")
STREAM = {"workload": "stream", "direction": "to-vm", "metric": "throughput_mbps"}


def left_out(name, errors, sd=0.0, kinds=None):
    """A transfer of which each draw missed the rows that it was not given by the same errors."""
    rows = kinds or [row(i, 10.0, size=2.0 ** (6 + i)) for i in range(len(errors))]
    n = len(rows)
    draws = tuple(
        Draw(given=(0,), rest=tuple(range(1, n)), logs=np.array(errors), sd=np.full(n, sd), outcome="ok")
        for _ in STARTS
    )
    return Transfer(
        study=SimpleNamespace(name=name, compared=tuple(rows)), measured=np.zeros(n), logs=np.zeros(n), sd=np.zeros(n),
        draws=draws,
    )  # fmt: skip


def test_model_errors_are_pooled_over_kinds_by_rows_and_leave_out_the_study_itself():
    trips = left_out("a", [9.0, 0.5, -0.5, 0.5], sd=0.1)
    bulk = left_out("b", [9.0] + [0.1] * 9, kinds=[row(i, 5.0, size=64 + i, **STREAM) for i in range(10)])
    found = model_errors([trips, bulk])
    # 9 errors of 0.5 with 0.1 known and 27 of 0.1: the 90 % place of all is among the large ones.
    large = math.sqrt((0.5 / 1.6448536) ** 2 - 0.01)
    small = 0.1 / 1.6448536
    assert found[""] == pytest.approx(large)
    assert found["virtio-vhost/rr"] == pytest.approx(large)
    assert found["virtio-vhost/stream"] == pytest.approx(math.sqrt((9 * small**2 + ENOUGH * large**2) / (9 + ENOUGH)))
    alone = model_errors([trips, bulk], "a")
    assert alone[""] == pytest.approx(small) and "virtio-vhost/rr" not in alone
    assert model_errors([trips], "a") == {"": UNSEEN_LOG_SD}
    assert model_errors([left_out("c", [9.0, 0.001, 0.001])])[""] == LEAST_ERROR
    told = seen_by([trips, bulk])
    assert set(told) == {"virtio-vhost/rr", "virtio-vhost/stream"}
    first = told["virtio-vhost/rr"]
    assert (first.rows, first.size_bytes, first.topologies, first.directions) == (4, (64.0, 512.0), ("host-vm",), ())
    assert told["virtio-vhost/stream"].directions == ("to-vm",) and first.log_sd == found["virtio-vhost/rr"]


def test_the_spread_that_covers_nine_of_ten_is_that_of_the_ordered_place():
    errors = np.arange(1.0, 20.0)  # nineteen: the place of (19 + 1) 0.9 is the eighteenth
    assert enough_spread(errors, np.zeros(19)) == pytest.approx(18 / 1.6448536)
    assert enough_spread(errors[:5], np.zeros(5)) == pytest.approx(5 / 1.6448536)
    assert enough_spread(errors, np.full(19, 2.0)) == pytest.approx(math.sqrt((18 / 1.6448536) ** 2 - 4))


def test_places_are_one_in_each_stretch():
    assert spread_over(10, 5, 0.25) == (0, 2, 4, 6, 8) and spread_over(10, 5) == (1, 3, 5, 7, 9)
    assert spread_over(7, 2, 0.75) == (2, 6) and spread_over(2, 2, 0.999) == (0, 1)


def test_a_study_is_predicted_from_its_prior_and_from_five_rows_of_each_draw():
    study = replace(load()[0], name="made", rows=tuple(measured(noise=0.02)), seed=GENERIC)
    calls = []
    (found,) = transfer([study], assumptions(PRIOR), lambda: calls.append(1))
    assert len(calls) == 1 and found.rows == study.compared
    trip = predict("virtio-vhost", topology="host-vm", size=64, profile=machine_of(PRIOR, GENERIC)).latency_s * 1e6
    assert math.exp(found.logs[0]) == pytest.approx(trip)
    assert [d.given for d in found.draws] == [spread_over(10, 5, s) for s in STARTS]
    for draw in found.draws:
        assert sorted((*draw.given, *draw.rest)) == list(range(10))
        assert np.all(draw.sd < found.sd) and np.all(draw.sd > 0)
        off = np.abs(draw.logs - found.measured)[list(draw.rest)]
        assert np.median(off) < 0.1
    others = [Machine(name=n, places=np.array([0]), information=np.eye(1), pull=np.array([p]), clock=0.0,
                      facts=facts_of(None, None)) for n, p in (("made", 99.0), ("other", 1.0))]  # fmt: skip
    blind = population(others, GENERIC)(study)
    alone = population(others[1:], GENERIC)(study)
    assert blind.values == alone.values and blind.covariance == alone.covariance


def test_facts_of_a_machine_are_decades_and_mitigations_by_the_year():
    assert facts_of(2015, None).tolist() == [0.0, 0.0] and facts_of(2018, None).tolist() == [0.3, 1.0]
    assert facts_of(2017, None).tolist() == [pytest.approx(0.2), 0.0] and facts_of(2025, 0.0).tolist() == [1.0, 0.0]
    assert facts_of(None, None).tolist() == [0.0, 0.5] and facts_of(None, 1.0).tolist() == [0.0, 1.0]

    def study(name, **machine):
        return SimpleNamespace(name=name, seed=replace(GENERIC, machine=machine))

    assert facts_of_study(study("miller2019b")).tolist() == [pytest.approx(0.4), 1.0]
    assert facts_of_study(study("miller")).tolist() == [0.0, 0.5]
    assert facts_of_study(study("miller2019", year=2011, mitigations=True)).tolist() == [pytest.approx(-0.4), 1.0]


def test_what_is_assumed_is_the_table_of_parameters_with_kinds_that_move_together():
    before = assumed()
    table = priors()
    sd = np.array([table[n].log_sd for n in before.names])
    assert np.exp(before.mean) == pytest.approx([table[n].median for n in before.names])
    assert np.diag(before.spread) == pytest.approx(sd**2)
    one, two, other = (before.names.index(n) for n in ("bridge_s", "veth_s", "copy_bytes_s"))
    assert before.spread[one, two] == pytest.approx(TOGETHER * sd[one] * sd[two]) and before.spread[one, other] == 0
    assert list(before.slopes) == [m for m, _ in SLOPES.values()]
    n = len(sd)
    assert np.diag(before.doubt)[:n] == pytest.approx(sd**2)
    assert np.diag(before.doubt)[n:] == pytest.approx([s**2 for _, s in SLOPES.values()])
    assert alikeness(("bridge_s", "veth_s", "translation_reuse", "copy_bytes_s")).tolist() == [
        [0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0],
    ]  # fmt: skip


def test_a_prior_without_a_fit_moves_costs_of_a_kind_together_and_one_with_a_fit_stays():
    bare = replace(GENERIC, correlated=(), covariance=(), values={"exit_s": value_of(GENERIC, "exit_s")})
    found = alike(bare)
    assert "exit_s" not in found.correlated and set(found.correlated) == set(priors()) - {"exit_s"}
    i, j = sorted((found.correlated.index("bridge_s"), found.correlated.index("veth_s")))
    sd = {n: value_of(bare, n).log_error for n in ("bridge_s", "veth_s")}
    assert found.covariance[j][i] == pytest.approx(TOGETHER * sd["bridge_s"] * sd["veth_s"])
    assert found.covariance[i][i] == pytest.approx(sd[found.correlated[i]] ** 2)
    assert alike(found) is found


def test_the_prior_of_a_study_has_its_clock_and_what_its_folder_tells():
    before = replace(PRIOR, clock_ghz=2.0)
    told = {"exit_s": replace(value_of(PRIOR, "exit_s"), value=7e-7, log_error=0.01)}
    seed = replace(GENERIC, name="it", clock_ghz=4.0, values=told, drivers={"vf": "x"}, defaults={"mtu": 9000.0})
    found = machine_of(before, seed)
    assert (found.name, found.clock_ghz, found.drivers, found.defaults) == ("it", 4.0, {"vf": "x"}, {"mtu": 9000.0})
    assert found.values["exit_s"] == told["exit_s"] and "exit_s" not in found.correlated
    assert found.values["bridge_s"].value == pytest.approx(before.values["bridge_s"].value / 2)  # by its clock
    assert found.values["copy_bytes_s"].value == before.values["copy_bytes_s"].value
    kept = [before.correlated.index(n) for n in found.correlated]
    for i, j in ((3, 1), (9, 9), (20, 5)):
        assert found.covariance[i][j] == before.covariance[kept[i]][kept[j]]


def test_the_profile_of_a_population_is_as_wide_as_clocks_and_facts_leave_it():
    places = np.array([priors_place(n) for n in ("bridge_s", "copy_bytes_s")])
    sd = np.array([priors()[n].log_sd for n in ("bridge_s", "copy_bytes_s")])
    machine = Machine(
        name="told2020", places=places, information=np.diag([1.01, 0.99] / sd**2), pull=np.zeros(2), clock=0.0,
        facts=facts_of(None, None),
    )  # fmt: skip
    before = assumed()
    found = profile_of(before, {}, GENERIC, [machine])
    assert found.clock_ghz == reference_clock_ghz()
    assert "told2020" in found.values["bridge_s"].sources and "told2020" not in found.values["copy_bytes_s"].sources
    assert (
        found.values["bridge_s"].standing != found.values["copy_bytes_s"].standing == priors()["copy_bytes_s"].standing
    )
    assert all(kind(n) != "rest" for n in set(found.correlated) - {"bridge_s"})
    centre, covariance = before.of(facts_of(None, None), 0.0)
    i = before.names.index("bridge_s")
    by = {
        fact: dict(zip(SLOPES, before.slopes, strict=True))[kind("bridge_s"), fact]
        for fact in ("decades", "mitigations")
    }
    wide = covariance[i, i] + 0.25**2 + (0.4 * by["decades"]) ** 2 + (0.5 * by["mitigations"]) ** 2
    assert found.values["bridge_s"].log_error == pytest.approx(math.sqrt(wide))
    assert found.values["bridge_s"].value == pytest.approx(math.exp(centre[i]))
    assert found.machine["population"]["decades"][kind("bridge_s")] == by["decades"]
    same = told_machine(found, clock_ghz=None, year=None, mitigations=None)
    assert same.covariance == found.covariance and same.clock_ghz == found.clock_ghz
    old = told_machine(found, clock_ghz=None, year=2005, mitigations=None)
    shift = -1.0 * by["decades"] + (0 - 0.5) * by["mitigations"]  # a year tells of mitigations, but not for certain
    assert old.values["bridge_s"].value == pytest.approx(found.values["bridge_s"].value * math.exp(shift))
    assert old.values["bridge_s"].log_error == pytest.approx(math.sqrt(wide - (0.4 * by["decades"]) ** 2))
    plain = replace(
        GENERIC, machine={}, correlated=(), covariance=(), values={"bridge_s": value_of(GENERIC, "bridge_s")}
    )
    fast = told_machine(plain, clock_ghz=2 * plain.clock_ghz, year=2025, mitigations=True)
    assert fast.values["bridge_s"].value == pytest.approx(plain.values["bridge_s"].value / 2)
    assert fast.values["bridge_s"].log_error == plain.values["bridge_s"].log_error


def priors_place(name):
    return list(priors()).index(name)


def test_what_a_study_says_of_its_costs_is_the_whitened_likelihood_near_their_best():
    rows = tuple(measured(noise=0.02))
    study = replace(load()[0], name="made2019", rows=rows, seed=replace(GENERIC, values={}))
    found = summary(study, PRIOR)
    assert found.name == "made2019" and found.facts.tolist() == [pytest.approx(0.4), 1.0]
    # Ten rows of two sets, each 10 % off for itself and 10 % together: information within a direction all rows share.
    sd = np.sqrt([priors()[list(priors())[i]].log_sd ** 2 for i in found.places])
    whole = np.sqrt(np.diag(found.information)) * sd
    assert whole.max() > 1  # some cost is told by the rows alone
    moved = summary(replace(study, rows=tuple(scaled(rows, 1.0))), PRIOR)
    np.testing.assert_allclose(found.information, moved.information)
    learned = learn([found], assumed())
    slow = [replace(r, value=r.value * (1.5 if r.metric == "latency_us" else 1 / 1.5)) for r in rows]
    slower = learn([summary(replace(study, rows=tuple(slow)), PRIOR)], assumed())
    place = priors_place("worker_wake_s")
    assert slower.mean[place] > learned.mean[place]


def test_more_rows_given_bring_the_rest_closer():
    slow = {n: 2.5 * value_of(PRIOR, n).value for n in ("worker_wake_s", "vcpu_wake_s")}
    rows = measured(noise=0.02, costs=slow)[:9]
    calls = []
    found = curve(rows, PRIOR, lambda: calls.append(1))
    assert [p.given for p in found] == [0, 1, 2, 3, 5] and len(calls) == 5  # of nine, three must be left
    assert FEWEST_LEFT == 3
    assert found[-1].median_ape < 0.5 * found[0].median_ape and found[-1].median_ape < 0.05
    assert all(p.p95_ape >= p.median_ape and 0 <= p.coverage90 <= 1 and p.width90 > 1 for p in found)
    assert found[-1].width90 < found[0].width90
    logs = np.log([answer_of(r) / r.value for r in rows])
    assert found[0].median_ape == pytest.approx(np.median(np.abs(np.expm1(logs))))
    assert found[0].p95_ape == pytest.approx(np.quantile(np.abs(np.expm1(logs)), 0.95))
    sd = compare_rows("none given", rows, 0, PRIOR).inside.sd
    assert found[0].width90 == pytest.approx(math.exp(2 * 1.6448536 * np.median(sd)))
    assert found[0].coverage90 == np.mean(np.abs(logs) <= 1.6448536 * sd)
    tight = replace(
        PRIOR,
        values={n: replace(v, log_error=v.log_error / 20) for n, v in PRIOR.values.items()},
        correlated=(),
        covariance=(),
        seen={k: replace(v, log_sd=0.02) for k, v in PRIOR.seen.items()},
    )
    narrow = compare_rows("none given", rows[:3], 0, tight).inside.sd
    (few,) = curve(rows[:3], tight)  # of three rows none can be given
    assert few.coverage90 == np.mean(np.abs(logs[:3]) <= 1.6448536 * narrow) < 1


def answer_of(r):
    found = predict(
        r.path, topology=r.topology, workload=r.workload, direction=r.direction or None, profile=PRIOR, **r.knobs
    )
    return found.latency_s * 1e6 if r.metric == "latency_us" else found.throughput_bps / 1e6


def test_what_a_fit_has_seen_is_joined_with_what_its_profile_had_seen():
    rows = measured(noise=0.02)
    f = fit(rows, PRIOR)
    table = seen(f)
    trips = table["virtio-vhost/rr"]
    assert (trips["rows"], trips["size_bytes"], trips["topologies"], trips["directions"]) == (
        5,
        [64, 65536],
        ["host-vm"],
        [],
    )
    assert spreads(f) == pytest.approx([table[f"{r.path}/{r.workload}"]["log_sd"] for r in rows])
    assert set(PRIOR.seen) <= set(table)  # of other paths it stays as it was
    other = next(k for k in PRIOR.seen if not k.startswith("virtio-vhost/"))
    assert table[other]["rows"] == 0 and table[other]["log_sd"] == PRIOR.seen[other].log_sd
    known = Seen(topologies=("vm-vm",), directions=(), size_bytes=(16.0, 1024.0), rows=7, log_sd=0.1)
    again = seen(fit(rows, replace(PRIOR, seen={"virtio-vhost/rr": known})))["virtio-vhost/rr"]
    assert (again["rows"], again["size_bytes"], again["topologies"]) == (12, [16, 65536], ["host-vm", "vm-vm"])
    bare = replace(PRIOR, seen={}, correlated=(), covariance=())
    alone = fit(rows, bare)
    told = seen(alone)
    pooled = max(v for k, v in alone.noise.items() if k.startswith("virtio-vhost/rr"))
    assert set(told) == {"virtio-vhost/rr", "virtio-vhost/stream"}
    assert told["virtio-vhost/rr"]["log_sd"] >= 0.5 * pooled


def test_estimates_tell_prior_error_and_what_cannot_be_told_apart():
    f = fit(measured(noise=0.02), PRIOR)
    before = belief(PRIOR, f.names)
    p = problem(f.rows, PRIOR)
    sd = np.sqrt(np.diag(f.covariance))
    for j, e in enumerate(f.estimates):
        assert (e.value, e.log_error) == pytest.approx((math.exp(f.log_values[j]), sd[j]))
        assert e.prior == pytest.approx(math.exp(before.mean[j]))
        assert e.prior_log_sd == pytest.approx(math.sqrt(before.covariance[j, j]))
        assert e.moved_sd == pytest.approx((f.log_values[j] - before.mean[j]) / e.prior_log_sd)
        assert e.learned == pytest.approx(1 - e.log_error / e.prior_log_sd)
        assert e.at_bound == (abs(e.moved_sd) >= 3.9999)
        others = [(f.names[k], f.covariance[j, k] / sd[j] / sd[k]) for k in range(len(sd)) if k != j]
        most = [(n, c) for n, c in sorted(others, key=lambda o: -abs(o[1]))[:3] if abs(c) > 0.3]
        assert sorted(n for n, _ in e.partners) == sorted(n for n, _ in most)
        assert sorted(c for _, c in e.partners) == pytest.approx(sorted(c for _, c in most))
    weighing = f.row_noise.weighing(f.weights)
    covariance, information = posterior(p, weighing, f.jacobian)
    np.testing.assert_allclose(
        np.linalg.inv(covariance), information + np.linalg.inv(before.covariance), rtol=1e-5, atol=1e-4 / sd.min() ** 2
    )
    assert f.effective == pytest.approx(np.trace(covariance @ information))
    kept = carried(f, belief(PRIOR, (*f.names, "veth_s")))
    np.testing.assert_allclose(kept.mean[:-1], f.log_values, atol=1e-8)
    np.testing.assert_allclose(kept.covariance[:-1, :-1], f.covariance, atol=1e-8)
    joint = belief(PRIOR, (*f.names, "veth_s")).covariance
    gain = joint[-1, :-1] @ np.linalg.inv(joint[:-1, :-1])
    left = joint[-1, -1] - gain @ joint[:-1, -1] + gain @ f.covariance @ gain
    assert kept.covariance[-1, -1] == pytest.approx(left)
    assert kept.mean[-1] == pytest.approx(
        math.log(value_of(PRIOR, "veth_s").value) + gain @ (f.log_values - before.mean)
    )
