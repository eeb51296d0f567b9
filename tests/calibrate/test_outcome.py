"""Whatever rows come, a fit ends in one of four outcomes, with one sentence that a person understands."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from tests.calibrate.made import PRIOR, SIZES, measured, row, scaled
from vmodel.calibrate.fit import fit
from vmodel.calibrate.outcome import (
    AT_BOUND,
    NOT_IDENTIFIED,
    OK,
    OUTCOMES,
    OUTSIDE_DOMAIN,
    _constant,
    _contradiction,
    _named,
    _outside,
    _rejected,
    _unit,
)


@pytest.fixture(scope="module")
def rows():
    return measured(costs={"vcpu_wake_s": 2.5e-5, "worker_copy_bytes_s": 3e9})


def fitted(rows):
    f = fit(rows, PRIOR)
    assert f.outcome in OUTCOMES
    assert f.because and "\n" not in f.because and len(f.because) < 300
    return f


def test_rows_that_the_model_can_explain_are_ok(rows):
    f = fitted(rows)
    assert f.outcome == OK and f.outliers == ()
    assert "learned from" in f.because


def test_one_row_is_not_identified_and_says_what_to_measure_next():
    f = fitted([row(0, 61.0, size=1024)])
    assert f.outcome == NOT_IDENTIFIED
    assert "one row" in f.because and "measure virtio-vhost with stream" in f.because


def test_rows_of_one_configuration_are_rank_deficient():
    f = fitted([row(i, v, size=1024) for i, v in enumerate((60.0, 61.0, 62.0, 61.5, 60.5))])
    assert f.outcome == NOT_IDENTIFIED
    assert "5 rows of one configuration" in f.because and "measure" in f.because


def test_the_same_value_again_and_again_is_not_identified_either():
    assert fitted([row(i, 61.0, size=1024) for i in range(6)]).outcome == NOT_IDENTIFIED


def test_one_value_for_every_size_is_outside_the_domain():
    f = fitted([row(i, 60.0, size=64 << i) for i in range(0, 17, 2)])  # 4 MiB as fast as 64 bytes
    assert f.outcome == OUTSIDE_DOMAIN
    assert "9 configurations all have latency_us 60" in f.because and "r0" in f.because


def test_rows_that_no_cost_moves_are_not_identified():
    asked = dict(path="native", topology="cross-host-host", workload="stream", metric="throughput_mbps", link_gbps=0.1)
    f = fitted([row(i, 94.1, size=65536 + i, **asked) for i in range(4)])  # the wire is full, whatever it costs
    assert f.outcome == NOT_IDENTIFIED
    assert "known already" in f.because


def test_contradictory_rows_are_named_in_pairs():
    rows = [row(i, 50.0 if i % 2 else 200.0, size=1024) for i in range(10)]
    f = fitted(rows)
    assert f.outcome == OUTSIDE_DOMAIN
    assert "factor of 4.0" in f.because and "mislabelled" in f.because


def test_contradictions_within_their_own_spread_are_noise():
    rows = [row(i, 50.0 if i % 2 else 120.0, size=1024, sd=60.0) for i in range(6)]
    assert "ask the same" not in fitted(rows).because


@pytest.mark.parametrize(("factor", "words"), [(1e-3, "1000 times larger"), (1e3, "1000 times smaller")])
def test_a_wrong_unit_is_recognised_as_one(rows, factor, words):
    f = fitted(scaled(rows, factor))
    assert f.outcome == OUTSIDE_DOMAIN
    assert words in f.because and "unit" in f.because


def test_one_row_in_a_wrong_unit_is_named_and_does_not_spoil_the_rest(rows):
    f, clean = fitted(scaled(rows, 1e-3, {4})), fitted(rows)
    assert f.outliers == ("r4",)
    assert "r4" in f.because
    rest = [i for i in range(len(rows)) if i != 4]
    assert f.predicted[rest] == pytest.approx(clean.predicted[rest], rel=0.15)


def test_a_mislabelled_row_is_named(rows):
    spoiled = [
        replace(r, metric="latency_us", workload="rr", direction="") if i == 3 else r for i, r in enumerate(rows)
    ]  # a throughput that is called a latency
    assert "r3" in fitted(spoiled).because


def test_most_rows_mislabelled_are_never_a_good_fit(rows):
    """Either the rows speak against the model, or costs so open that they could be anything are not identified."""
    streams = [r for r in rows if r.workload == "stream"]
    wrong = [replace(r, knobs={"size": float(s)}) for r, s in zip(streams, reversed(SIZES), strict=True)]
    f = fitted(wrong)
    assert f.outcome in (OUTSIDE_DOMAIN, "not identified")
    assert "off by more than" in f.because or "tell" in f.because


def test_a_cost_that_would_have_to_be_impossible_is_at_its_bound():
    prior = replace(PRIOR, correlated=(), covariance=(), seen={})
    f = fit([row(i, 4e6 + i, size=64) for i in range(3)] + [row(9, 4e6, size=128)], prior)  # four seconds
    assert f.outcome in (AT_BOUND, OUTSIDE_DOMAIN)
    moved = [e.moved_sd for e in f.estimates]
    assert max(moved) == pytest.approx(4.0, abs=0.01) and max(map(abs, moved)) <= 4.0 + 1e-9
    if f.outcome == AT_BOUND:
        assert "as far from what is physically likely" in f.because


def test_a_unit_explains_values_that_it_brings_back_and_brings_closer():
    thousand = math.log(1000)
    assert _unit(np.array([-thousand, -thousand - 1.3, -thousand + 1.3])) == "1000 times larger"
    assert _unit(np.full(3, thousand)) == "1000 times smaller"
    assert _unit(np.full(3, -2 * thousand)) == "a million times larger"
    assert _unit(np.full(3, 2 * thousand + 1.3)) == "a million times smaller"
    assert _unit(np.full(3, thousand + 1.5)) is None
    assert _unit(np.full(3, 3.4)) is None  # a factor of thirty is as far from a thousand as from one


def test_rows_contradict_each_other_beyond_a_factor_their_spread_and_a_quarter_of_all():
    def torn(high, sd=None, others=0):
        rest = [row(9 + i, 10.0 + i, size=9999 + i) for i in range(others)]
        return _contradiction([row(0, 10.0, size=64, sd=sd), row(1, high, size=64, sd=sd), *rest])

    assert torn(20.0) is None and "r0 and r1 ask the same and differ by a factor of 2.1" in torn(20.9)
    assert torn(30.0, sd=7.0) is not None and torn(30.0, sd=7.1) is None  # 20 against 2 sqrt(2) sd
    assert torn(30.0, others=5) is not None and torn(30.0, others=6) is None  # two of seven, two of eight


def test_ids_are_named_five_at_a_time_and_verbs_agree():
    assert _named(["a"] * 5) == "a, a, a, a, a" and _named(["a"] * 6) == "a, a, a, a, a, ..."
    assert (
        _rejected([]) == "" and "a speaks against" in _rejected(["a"]) and "a, b speak against" in _rejected(["a", "b"])
    )


def test_one_value_of_four_configurations_is_a_cap_where_a_factor_of_two_is_expected():
    def constant(values, apart):
        rows = [row(i, v, size=64 * (i + 1)) for i, v in enumerate(values)]
        first = np.linspace(0, math.log(apart), len(rows))
        return _constant(SimpleNamespace(problem=SimpleNamespace(rows=rows), first=first))

    assert "4 configurations all have latency_us 5, where a factor of 2 is expected" in constant([5.0] * 4, 2.1)
    assert constant([5.0] * 4, 1.9) is None and constant([5.0] * 3, 9.0) is None
    assert constant([5.0, 5.0, 5.0, 5.1], 9.0) is None


def test_a_quarter_of_rows_may_be_off_by_more_than_a_third():
    def outside(residuals, noise):
        rows = [row(i, 10.0, size=64 * (i + 1)) for i in range(len(residuals))]
        off = np.zeros(len(rows))
        return _outside(
            SimpleNamespace(
                problem=SimpleNamespace(rows=rows, measured=off), first=off, residuals=np.array(residuals),
                noise=np.full(len(rows), noise),
            )
        )  # fmt: skip

    edge = math.log1p(0.35)
    assert outside([-1.01 * edge, edge * 1.01, 0.0, 0.0], 0.01).startswith(
        "2 of 4 rows are off by more than 35%: r0, r1;"
    )
    assert outside([0.99 * edge, 1.01 * edge, 0.0, 0.0], 0.01) is None
    assert outside([0.51] * 4, 0.25) is not None and outside([0.49] * 4, 0.25) is None  # twice the noise
    assert outside([0.70] * 4, 9.0) is not None and outside([0.69] * 4, 9.0) is None  # never more than a factor of two
