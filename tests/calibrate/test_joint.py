"""Two files as one normal law: whitening, evidence and the linear search against the laws written out in full."""

import itertools
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from tests.calibrate.made import PRIOR, row
from vmodel.calibrate.diagnose import (
    CLOCK,
    VERDICTS,
    Change,
    Explanation,
    _figure,
    _mean,
    _noise_nodes,
    _posterior,
    _Search,
    _verdict,
    diagnose,
)
from vmodel.calibrate.joint import SHIFT_ERROR, Data, JointLaw, State, data_of, log_evidence, whiten
from vmodel.calibrate.shifts import SESSION, Pair, lay_side_by_side
from vmodel.errors import FitError
from vmodel.library.profile import value_of
from vmodel.library.tables import priors
from vmodel.solve.ask import predict
from vmodel.solve.doubt import UNSEEN_LOG_SD

SIZES = (64, 4096, 65536)
STREAM = {"workload": "stream", "direction": "to-vm", "metric": "throughput_mbps"}


def rows(factor=1.0, noise=0.0, seed=1, sizes=SIZES, repeats=1, **knobs):
    """Round trips and streams of a machine whose wake-ups of the worker cost `factor` times as much."""
    chance = np.random.default_rng(seed)
    cost = {"worker_wake_s": factor * value_of(PRIOR, "worker_wake_s").value}
    out = []
    for size, _ in itertools.product(sizes, range(repeats)):
        trip = predict("virtio-vhost", topology="host-vm", size=size, profile=PRIOR, **cost).latency_s * 1e6
        out.append(row(len(out), trip * math.exp(noise * chance.standard_normal()), size=size, **knobs))
    return out


@pytest.fixture(scope="module")
def searched():
    bulk = [row(9, 9000.0, size=65536, **STREAM)]
    shifts = lay_side_by_side([*rows(), *bulk], [*rows(3.0), row(8, 60.0, size=512)], PRIOR)
    return shifts, _Search(JointLaw(data_of(shifts, PRIOR)), shifts)


def covariance_of(d, noise):
    """Both files' figures: noise of each, the model's error of each, and what it has in common before and after."""
    n = d.counts[0]
    whole = np.diag(d.variance * noise**2 + d.shared)
    for k, i in enumerate(d.partner):
        if i >= 0:
            whole[n + k, i] = whole[i, n + k] = d.alike[k] * math.sqrt(d.shared[n + k] * d.shared[i])
    return whole


@pytest.mark.parametrize("noise", [1.0, 2.5])
def test_whitening_divides_by_a_root_of_the_covariance(noise):
    d = Data(
        belief=None, groups=((), ()), counts=(3, 3), logs=np.zeros(6),
        variance=np.array([0.01, 0.02, 0.03, 0.04, 0.05, 0.06]), shared=np.array([0.09, 0.04, 0.01, 0.04, 0.16, 0.09]),
        alike=np.array([1.0, 0.75, 0.0]), partner=np.array([1, 0, -1]),
    )  # fmt: skip
    root, log_root = whiten(d, noise, np.eye(6))
    covariance = covariance_of(d, noise)
    np.testing.assert_allclose(root.T @ root, np.linalg.inv(covariance), rtol=1e-10, atol=1e-10)
    assert log_root == pytest.approx(0.5 * np.linalg.slogdet(covariance)[1])
    vector = np.array([1.0, -2.0, 0.5, 3.0, 1.0, 0.1])
    np.testing.assert_allclose(whiten(d, noise, vector)[0], root @ vector)


def test_the_evidence_of_a_linear_law_is_its_normal_density():
    chance = np.random.default_rng(3)
    b, z = chance.standard_normal((5, 3)), chance.standard_normal(5)
    found = log_evidence(State(at=np.zeros(3), misfit=z, jacobian=b, log_sigma=0.7))
    law = multivariate_normal(np.zeros(5), np.eye(5) + b @ b.T)
    assert found == pytest.approx(law.logpdf(z) + 2.5 * math.log(2 * math.pi) - 0.7)


def test_data_are_figures_of_both_files_pairs_first(searched):
    shifts, search = searched
    d = search.model.d
    assert d.counts == (4, 4) and d.partner.tolist() == [0, 1, 2, -1] and d.alike.tolist() == [1, 1, 1, 0]
    assert np.exp(d.logs) == pytest.approx([r.value for r in rows()] + [9000.0] + [r.value for r in rows(3.0)] + [60.0])
    changes = [math.log(b.value / a.value) for a, b in zip(rows(), rows(3.0), strict=True)]
    own = [shifts.pairs[0].before.log_sd ** 2] * 4
    assert d.variance == pytest.approx([*own, *[own[0] + (SHIFT_ERROR * c) ** 2 for c in changes], own[0]])
    assert d.shared == pytest.approx([UNSEEN_LOG_SD**2] * 8)
    trips = {"virtio-vhost/rr": replace(PRIOR.seen["virtio-vhost/rr"], log_sd=0.07)}
    known = replace(PRIOR, seen=trips)
    found = data_of(lay_side_by_side([*rows(), row(9, 9000.0, size=65536, **STREAM)], rows(3.0), known), known)
    assert found.shared == pytest.approx([0.07**2] * 3 + [UNSEEN_LOG_SD**2] + [0.07**2] * 3)


def test_the_linear_law_of_a_hypothesis_is_the_normal_law_of_all_figures(searched):
    _, search = searched
    model, d = search.model, search.model.d
    causes = [search.visible[0], search.visible[1]]
    directions = search.directions[causes]
    p = len(d.belief.names)
    x = np.concatenate([search.first, [0.3, -0.2]])
    found = log_evidence(model.linear(x, directions, 1.5))
    logs, jacobian, change = model.predict(x, directions)
    n = d.counts[0]
    whole = np.hstack([jacobian, np.vstack([np.zeros((n, 2)), (change @ directions.T)[n:]])])
    prior = np.zeros((p + 2, p + 2))
    prior[:p, :p], prior[p:, p:] = d.belief.covariance, np.eye(2)
    step = np.concatenate([model.root @ search.first, [0.3, -0.2]])
    law = multivariate_normal(logs - whole @ step, whole @ prior @ whole.T + covariance_of(d, 1.5))
    assert found == pytest.approx(law.logpdf(d.logs) + len(d.logs) / 2 * math.log(2 * math.pi), rel=1e-6)


def test_every_cause_alone_and_every_two_have_their_evidence_in_the_linear_law(searched):
    _, search = searched
    model = search.model
    assert set(search.single) == set(search.visible) and "worker_wake_s" in [search.names[i] for i in search.visible]

    def linear(*causes):
        at = np.concatenate([search.first, np.zeros(len(causes))])
        return log_evidence(model.linear(at, search.directions[list(causes)]))

    assert search.still_linear == pytest.approx(
        log_evidence(model.linear(search.first, np.zeros((0, len(search.first)))))
    )
    for i in search.visible[::5]:
        assert search.single[i] == pytest.approx(linear(i), rel=1e-7)
    couples = list(itertools.combinations(search.visible, 2))
    assert set(search.double) == set(couples)
    for i, j in couples[:: max(1, len(couples) // 12)]:
        assert search.double[i, j] == pytest.approx(linear(i, j), rel=1e-7)
    clock = search.directions[search.names.index(CLOCK)]
    flags = np.array([priors()[n].clock for n in model.d.belief.names])
    assert clock == pytest.approx(-0.3 * flags)
    assert search.directions[0] == pytest.approx(0.7 * np.eye(len(flags))[0])


def test_the_most_probable_point_is_a_minimum(searched):
    _, search = searched
    cause = search.names.index("worker_wake_s")
    state, evidence = search.exact((cause,))
    directions = search.directions[[cause]]
    best = search.model.cost(state.at, directions)
    chance = np.random.default_rng(1)
    for _ in range(5):
        step = chance.standard_normal(len(state.at))
        assert search.model.cost(state.at + 0.1 * step, directions) > best
    assert evidence > search.nothing
    before = search.first
    n, d = search.model.d.counts[0], search.model.d

    def first_file(x):
        white, _ = whiten(d, 1.0, d.logs - search.model.predict(x, np.zeros((0, len(x))))[0])
        return float(white[:n] @ white[:n] + x @ x)

    assert all(first_file(before + 0.1 * chance.standard_normal(len(before))) > first_file(before) for _ in range(5))


def test_uncertain_noise_is_three_nodes_of_a_lognormal_law():
    for repeats in (0.0, 30.0):
        nodes, weights = _noise_nodes(repeats)
        sd = 1 / math.sqrt(2 * (repeats + 2))
        logs = np.log(nodes)
        assert weights.sum() == pytest.approx(1)
        for power, moment in ((1, 0), (2, sd**2), (3, 0), (4, 3 * sd**4)):
            assert weights @ logs**power == pytest.approx(moment, abs=1e-12)
    logs, weights = [-1000.0, -1003.0, -999.0], np.array([0.2, 0.5, 0.3])
    assert _mean(logs, weights) == pytest.approx(logsumexp(logs, b=weights))


def test_probabilities_divide_each_prior_share_among_all_causes(searched):
    _, search = searched
    n, seen = len(search.names), search.visible
    logs = {(i,): float(k % 5) for k, i in enumerate(seen)}
    logs |= {c: 0.5 * (k % 3) for k, c in enumerate(itertools.combinations(seen, 2))}
    share, nothing, none = _posterior(search, logs)
    # Every cause and every couple, seen or not; one that no figure shows has the evidence of what is left without it.
    weights = {"nothing": 0.25 * math.exp(search.nothing), "none": 0.1 * math.exp(search.none)}
    for i in range(n):
        key = (i,) if i in seen else "nothing"
        weights[key] = weights.get(key, 0.0) + 0.5 / n * math.exp(logs.get((i,), search.nothing))
    for couple in itertools.combinations(range(n), 2):
        kept = tuple(i for i in couple if i in seen)
        key = kept or "nothing"
        evidence = logs[kept] if kept else search.nothing
        weights[key] = weights.get(key, 0.0) + 0.15 / math.comb(n, 2) * math.exp(evidence)
    whole = sum(weights.values())
    assert nothing == pytest.approx(weights["nothing"] / whole) and none == pytest.approx(weights["none"] / whole)
    assert {c: pytest.approx(weights[c] / whole) for c in logs} == share


def a_pair(change, sd=0.05):
    side = lay_side_by_side(rows(), rows(), PRIOR).pairs[0].before
    before = replace(side, log_mean=math.log(50.0), log_sd=sd)
    return Pair(before=before, after=replace(before, log_mean=before.log_mean + change), differing={})


def test_a_figure_is_within_noise_explained_or_left():
    def state(change, explained):
        pair = a_pair(change)
        return _figure(pair, math.hypot(0.05, 0.05), 0.0, explained).state

    edge = 2 * math.hypot(0.05, 0.05)
    assert (state(0.99 * edge, 0.0), state(1.01 * edge, 0.0)) == ("within noise", "explained")
    assert state(0.5, 0.5 - 0.99 * 2 * math.hypot(0.05, 0.05, 0.05)) == "explained"
    assert state(0.5, 0.5 - 1.01 * 2 * math.hypot(0.05, 0.05, 0.05)) == "left"
    assert state(-0.5, -0.5) == "explained" and state(0.0, 0.5) == "left"
    told = _figure(a_pair(0.5), 0.1, 0.2, 0.3)
    assert (told.before, told.after, told.change) == pytest.approx((50.0, 50.0 * math.exp(0.5), 0.5))
    assert (told.sd, told.configured, told.explained) == (0.1, 0.2, 0.3)


def test_the_verdict_is_what_has_half_of_the_probability():
    shifts = lay_side_by_side(rows(), rows(), PRIOR)
    told = [_figure(a_pair(c), 0.05, 0.0, 0.0) for c in (0.0, 0.5, -0.5)]

    def explained(probability, *names, partners=()):
        changes = tuple(Change(parameter=n, factor=2.0, interval=(1, 4), stages=(), partners=partners) for n in names)
        return Explanation(changes=changes, probability=probability, log_bayes=3.0, shifts=())

    def verdict(found=(), nothing=0.0, none=0.0, **of_shifts):
        return _verdict(replace(shifts, **of_shifts), found, nothing, none, told)

    setting = SimpleNamespace(name="mtu")
    assert verdict(nothing=0.5, settings=(setting, setting)) == (
        "the configuration explains it", "no cost changed beside mtu",
    )  # fmt: skip
    assert verdict(nothing=0.5)[0] == "nothing changed" and "2 of 3 figures moved" in verdict(nothing=0.5)[1]
    assert verdict(none=0.5)[0] == "not explained" and verdict(none=0.5)[1].startswith("2 figures moved")
    assert verdict([explained(0.5, "exit_s")], 0.49)[0] == "explained"
    assert verdict([explained(0.49, "exit_s")], 0.49)[0] == "several explanations"
    alike = [explained(0.3, "exit_s", partners=("entry_s",)), explained(0.2, "entry_s"), explained(0.2, "veth_s")]
    name, because = verdict(alike)
    assert name == "explained" and because.startswith("exit_s (or entry_s: these figures") and "2 of 3" in because
    apart = [alike[0], alike[2]]
    assert verdict(apart)[0] == "several explanations"
    both = [alike[0], explained(0.4, "exit_s", "entry_s")]
    assert verdict(both)[0] == "several explanations"
    assert verdict([explained(0.6, "exit_s", "veth_s")])[1].startswith("exit_s and veth_s; ")
    torn = verdict(nothing=0.9, contradicting=(("a question", 3.0), ("another", 2.0)))[1]
    assert "repeats of a question contradict each other by a factor of 3" in torn
    assert {verdict(nothing=1.0)[0], verdict(none=1.0)[0], verdict()[0]} <= set(VERDICTS)


def test_noise_and_middle_of_repeats():
    # Three questions; Wilson and Hilferty: a variance of f degrees of freedom has its median at (1 - 2 / 9f)^3.
    values = {64: (50.0, 51.0, 53.0), 4096: (60.0, 66.0), 65536: (90.0, 91.0, 92.0, 95.0)}
    told = [row(i, v, size=s) for s, own in values.items() for i, v in enumerate(own)]
    shifts = lay_side_by_side(told, [row(0, 55.0, size=64)], PRIOR)
    true = sorted(
        (np.log(own).var(ddof=1) / (1 - 2 / (9 * (len(own) - 1))) ** 3, len(own) - 1) for own in values.values()
    )
    middle = true[0][0] if 2 * true[0][1] >= 6 else true[1][0]
    noise = math.sqrt((6 * middle + 2 * 0.05**2) / 8)
    assert (shifts.repeats, shifts.noise) == (6, pytest.approx(noise))
    (pair,) = shifts.pairs
    three = ((2 * np.log(values[64]).var(ddof=1) + 2 * noise**2) / 4) * math.pi / 2 / 3
    assert pair.before.log_mean == pytest.approx(math.log(51.0)) and pair.before.rows == 3
    assert pair.before.log_sd == pytest.approx(math.sqrt(three + SESSION**2))
    assert pair.after.log_sd == pytest.approx(math.sqrt(noise**2 + SESSION**2))
    assert pair.change == pytest.approx(math.log(55 / 51))
    two = next(s for s in shifts.only_before if s.rows == 2)
    assert two.log_mean == pytest.approx(math.log(60 * 66) / 2)
    pooled = (np.log(values[4096]).var(ddof=1) + 2 * noise**2) / 3 / 2
    assert two.log_sd == pytest.approx(math.sqrt(pooled + SESSION**2))
    (stated,) = lay_side_by_side([row(0, 50.0, size=64, sd=10.0)], [row(0, 50.0, size=64)], PRIOR).pairs
    assert stated.before.log_sd == pytest.approx(math.sqrt(0.2**2 + SESSION**2))
    torn = lay_side_by_side([row(0, 50.0, size=64), row(1, 80.0, size=64)], rows(), PRIOR).contradicting
    assert [f for _, f in torn] == [pytest.approx(1.6)]
    assert lay_side_by_side([row(0, 50.0, size=64), row(1, 74.0, size=64)], rows(), PRIOR).contradicting == ()


def test_one_empty_side_is_refused():
    for sides in (([], rows()), (rows(), [])):
        with pytest.raises(FitError, match="no row to compare on one side"):
            diagnose(*sides, PRIOR)


def test_questions_pair_across_few_settings_and_never_across_what_is_asked():
    def paired(before, after):
        found = lay_side_by_side(before, after, PRIOR)
        return [(p.before.row.id, p.after.row.id, dict(p.differing)) for p in found.pairs], found

    plain = [row(0, 50.0, size=64), row(1, 60.0, size=4096)]
    jumbo = [row(2, 52.0, size=64, mtu=9000), row(3, 61.0, size=4096, mtu=9000)]
    pairs, found = paired(plain, jumbo)
    assert pairs == [("r0", "r2", {"mtu": (1500.0, 9000.0)}), ("r1", "r3", {"mtu": (1500.0, 9000.0)})]
    assert [(s.name, s.before, s.after, s.rows) for s in found.settings] == [("mtu", 1500.0, 9000.0, 2)]
    assert data_of(found, PRIOR).alike.tolist() == [0.75, 0.75]
    pairs, found = paired(plain[:1], jumbo[1:])
    assert pairs == [] and len(found.only_before) == len(found.only_after) == 1
    assert paired(plain[:1], [replace(plain[0], metric="transactions_per_s")])[0] == []
    assert paired(plain[:1], [replace(plain[0], workload="stream")])[0] == []
    moved = [replace(row(4, 80.0, size=64), path="virtio-qemu")]
    pairs, found = paired(plain[:1], moved)
    assert pairs == [("r0", "r4", {"path": ("virtio-vhost", "virtio-qemu")})]
    assert data_of(found, PRIOR).alike.tolist() == [0.0]
    # What one change explains most goes first: both plain rows meet the jumbo frames, and not the odd one.
    odd = row(6, 55.0, size=64, nodelay=1, mtu=9000)
    assert [p[:2] for p in paired(plain, [odd, *jumbo])[0]] == [("r0", "r2"), ("r1", "r3")]


def test_a_worker_that_wakes_three_times_as_slowly_is_found():
    found = diagnose(rows(noise=0.01, repeats=2), rows(3.0, noise=0.01, seed=2, repeats=2), PRIOR)
    assert found.verdict in ("explained", "several explanations")
    best = found.explanations[0]
    assert "worker_wake_s" in {c.parameter for c in best.changes} | {p for c in best.changes for p in c.partners}
    whole = found.nothing + found.none + sum(e.probability for e in found.explanations)
    assert 0.8 < whole <= 1 + 1e-9
    alone = {e.changes[0].parameter: e.changes[0] for e in found.explanations if len(e.changes) == 1}
    change = alone["worker_wake_s"]
    assert change.interval[0] < change.factor < change.interval[1]
    assert change.factor**2 == pytest.approx(change.interval[0] * change.interval[1])
    assert "worker_wake" in " ".join(change.stages)
    shift = math.log(rows(3.0)[0].value / rows()[0].value)
    assert best.shifts[0] == pytest.approx(shift, abs=0.1)
    assert not set(found.blind) & {c.parameter for e in found.explanations for c in e.changes}
