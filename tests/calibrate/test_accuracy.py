"""Figures of accuracy, from errors chosen by hand: each figure can be said without the code."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from tests.calibrate.made import row
from vmodel.calibrate.accuracy import (
    Point,
    by,
    few_of_studies,
    figures,
    of_rate,
    points,
    ranks,
    reason,
    share,
    unseen,
    worst,
)
from vmodel.calibrate.transfer import LEAST_ERROR, Draw, Transfer
from vmodel.calibrate.validate import Guess, Result


def point(number, inside=0.0, *, study="a", value=100.0, few=(), row_out=0.0, zero=0.0, covered=(True, True), **of_row):
    """A compared row; errors are given as ratios of predicted to measured, minus one."""
    series, note = of_row.pop("series", "s"), of_row.pop("note", "")
    known = {k: of_row.pop(k) for k in ("path", "topology", "workload", "direction", "metric") if k in of_row}
    size = of_row.pop("size", 64 * (number + 1))
    return Point(
        study=study,
        row=replace(row(number, value, size=size, **known), series=series, note=note),
        inside=math.log1p(inside),
        row_out=math.log1p(row_out),
        row_out_covered=covered[0],
        zero=math.log1p(zero),
        zero_covered=covered[1],
        few=tuple(math.log1p(e) for e in few),
        few_covered=tuple(e < 0.15 for e in few),
        baselines={"nearest_row": tuple(math.log1p(2 * abs(e)) for e in few)},
    )


def test_figures_are_medians_and_shares_of_the_errors():
    chosen = [
        point(0, 0.01, few=(0.1, -0.2), row_out=0.3, zero=0.99),
        point(1, -0.03, few=(0.4,), row_out=-0.1, zero=-0.49, covered=(False, True)),
        point(2, 0.05, study="b", row_out=0.2, zero=1.02, covered=(True, False)),
        point(3, 0.20, study="b", few=(0.05,), row_out=0.9, zero=-0.51, covered=(False, False)),
    ]
    told = figures(chosen)
    assert (told["rows"], told["studies"]) == (4, 2)
    assert told["inside"] == pytest.approx((0.03 + 0.05) / 2)
    assert told["row_out"] == pytest.approx((0.2 + 0.3) / 2)
    assert told["few"] == pytest.approx((0.1 + 0.2) / 2)
    assert told["few_studies"] == pytest.approx((0.2 + 0.05) / 2)
    assert told["within_two"] == 0.5  # between half and twice
    assert told["row_out_covered"] == told["zero_covered"] == 0.5
    assert told["few_covered"] == 0.75
    assert told["baselines"] == {"nearest_row": pytest.approx((0.2 + 0.4) / 2)}
    none = figures(chosen[2:3])
    assert none["few"] is None and none["few_studies"] is None and none["baselines"] == {}
    assert share([]) is None and share([True, False, False, False]) == 0.25


def test_a_study_without_draws_does_not_count_among_medians_of_studies():
    assert few_of_studies([point(0, study="a"), point(1, study="b", few=(0.25,))]) == pytest.approx(0.25)


def test_ranks_are_of_median_draws_within_study_and_kind_and_their_median_is_told():
    # Measured 1 2 3 4; the median draws say 1 3.3 3 4: five pairs of six agree, tau = (5 - 1) / 6.
    factors = {1.0: (0.0, -0.5, 0.1), 2.0: (0.65,), 3.0: (0.0,), 4.0: (0.0,)}
    group = [point(i, value=v, few=few) for i, (v, few) in enumerate(factors.items())]
    assert [r.clear for r in ranks(group)] == [pytest.approx(4 / 6)]
    other = [point(9 + i, study="b", value=v, few=(0.0,)) for i, v in enumerate((1.0, 2.0, 5.0, 9.0))]
    assert figures([*group, *other])["rank"] == pytest.approx((4 / 6 + 1) / 2)
    assert figures([*group, *other[:3]])["rank"] == pytest.approx(4 / 6)  # three make no order
    silent = [replace(p, few=()) for p in other]
    assert len(ranks([*group, *silent])) == 1
    near = [point(20 + i, study="c", value=v, few=(0.0,)) for i, v in enumerate((100.0, 100.1, 100.2, 100.3))]
    told = figures(near)
    assert told["rank"] is None and told["rank_all_pairs"] == pytest.approx(1.0)


def test_the_reason_of_a_miss_is_the_first_that_the_evidence_gives():
    doubtful = point(0, 0.5, note="read off a plot; doubtful: the axis is cut; kept")
    assert reason(doubtful, [doubtful]) == "doubtful: the axis is cut"
    one, two = point(0, 0.2, value=100.0, size=64), point(1, -0.1, value=130.0, size=64)
    assert reason(one, [one, two]) == "repeats of it differ by 30%"
    assert reason(replace(one, inside=math.log1p(0.7)), [one, two]) == "few rows of its kind"
    elsewhere = replace(two, study="b")
    assert reason(one, [one, elsewhere]) == "few rows of its kind"
    whole = [point(i, e) for i, e in enumerate((0.2, 0.22, 0.18, 0.21))]
    assert reason(whole[0], whole).startswith("its whole series is missed by +20%")
    assert reason(whole[0], whole[:3]) == "few rows of its kind"
    alone = [point(0, 0.5), *(point(i, -0.02) for i in (1, 2, 3))]
    assert reason(alone[0], alone) == "alone in its series, whose median is off by -2%"
    assert reason(alone[0], [*alone[:3], replace(alone[3], study="b")]) == "few rows of its kind"


def test_the_worst_of_each_study_are_four_series_and_the_error_is_of_the_prediction():
    errors = {"p": (0.1, -0.6), "q": (0.3,), "r": (0.02,), "s": (-0.05,), "t": (0.01,)}
    told = [
        point(10 * i + j, e, series=name, value=200.0)
        for i, (name, own) in enumerate(errors.items())
        for j, e in enumerate(own)
    ]
    lines = worst([point(99, 0.4, study="z"), *told])
    assert [(line["study"], line["id"], line["error"]) for line in lines] == [
        ("a", "r1", "-60 %"), ("a", "r10", "+30 %"), ("a", "r30", "-5 %"), ("a", "r20", "+2 %"), ("z", "r99", "+40 %"),
    ]  # fmt: skip
    assert (lines[0]["measured"], lines[0]["predicted"]) == ("200", "80")
    assert all(line["reason"] for line in lines)


def test_points_are_sorted_by_what_they_are_of():
    rows = [point(0, path="virtio-vhost"), point(1, path="vf", topology=""), point(2, metric="rate_pps")]
    assert {k: len(v) for k, v in by(rows, "path").items()} == {"vf": 1, "virtio-vhost": 2}
    assert list(by(rows, "topology")) == ["cross-host-vm", "host-vm"]  # a path's own topology where none is said
    assert list(by(rows, "kind")) == ["vf/rr", "virtio-vhost/rr"]
    assert [of_rate(p) for p in rows] == [False, False, True]
    assert "vf" not in unseen(rows) and "virtio-vhost" not in unseen(rows) and "xen-pv" in unseen(rows)


def a_study(name, values, draws, sd=0.0):
    """What `validate` and `transfer` would say of rows of one series: draws are (places given, log predictions)."""
    rows = tuple(replace(row(i, v, size=64.0 * 2**i), series="s") for i, v in enumerate(values))
    logs = np.log(values)
    n = len(rows)
    told = tuple(
        Draw(
            given=given,
            rest=tuple(i for i in range(n) if i not in given),
            logs=np.asarray(guess, dtype=float),
            sd=np.full(n, sd),
            outcome="ok",
        )
        for given, guess in draws
    )
    t = Transfer(
        study=SimpleNamespace(name=name, compared=rows), measured=logs, logs=logs + 0.3, sd=np.full(n, sd), draws=told
    )
    guess = Guess(logs=logs + 0.1, sd=np.full(n, 0.1))
    result = Result(
        name=name, rows=rows, excluded=0, measured=logs, inside=guess,
        row_out=Guess(logs=logs - 0.2, sd=np.array([0.1, 0.2, *[0.121] * (n - 2)])), series_out=None, baselines={},
        series_baselines={}, effective=1.0,
    )  # fmt: skip
    return t, result


class OfOthers:
    """In place of the pooled models, which take long and have tests of their own: the number of other rows."""

    def __init__(self, rows, others):
        self.rows, self.others = rows, others

    def guesses(self, given):
        return {"others": np.full(len(self.rows), float(len(self.others) + len(given)))}


def test_points_join_what_was_found_of_each_row(monkeypatch):
    monkeypatch.setattr("vmodel.calibrate.accuracy.Pool", OfOthers)
    values = np.array([10.0, 20.0, 40.0, 80.0])
    logs = np.log(values)
    one, first = a_study("a", values, [((0, 1), logs + 0.02), ((2, 3), logs - 0.5)])
    two, second = a_study("b", values, [((0, 1), logs + 0.1), ((2, 3), logs + 0.1)])
    learned = (a_study("a", values, [((0, 1), logs + 1.0), ((2, 3), logs + 2.0)])[0], two)
    calls = []
    found = points([first, second], [one, two], learned, lambda: calls.append(1))
    assert len(found) == 8 and len(calls) == 2
    p = found[0]  # given in the first draw, so that only the second tells of it
    assert (p.study, p.row) == ("a", first.rows[0])
    assert p.inside == pytest.approx(0.1) and p.row_out == pytest.approx(-0.2) and p.zero == pytest.approx(0.3)
    assert p.few == pytest.approx((-0.5,)) and found[3].few == pytest.approx((0.02,))
    assert p.baselines["learned_population"] == pytest.approx((2.0,))
    assert p.baselines["nearest_row"] == pytest.approx((math.log(40 / 10),))
    assert found[3].baselines["nearest_row"] == pytest.approx((math.log(20 / 80),))
    assert p.baselines["others"] == pytest.approx((4 + 2 - math.log(10),))
    # 1.645 standard deviations of 0.1, 0.2 and 0.121 are below, above and (0.199) just below the error of 0.2.
    assert [q.row_out_covered for q in found[:3]] == [False, True, False]
    # Study b was always off by 0.1, which is what a 90 % interval of another study must hold: errors of 0.02, not 0.5.
    assert [q.few_covered for q in found[:4]] == [(False,), (False,), (True,), (True,)]
    assert [q.zero_covered for q in found[:4]] == [False] * 4
    # Study a was off by up to 0.5, so that of b everything is inside.
    assert all(q.few_covered == (True,) and q.zero_covered for q in found[4:])
    assert LEAST_ERROR < 0.1 / 1.645
    left = replace(first, row_out=None)
    assert points([left, second], [one, two], learned) == found[4:]
