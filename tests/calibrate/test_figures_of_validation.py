"""Figures of `validate` from errors chosen by hand, and folds linearised against folds fitted again."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import kendalltau

from tests.calibrate.made import PRIOR, measured, row
from vmodel.calibrate.evidence import load
from vmodel.calibrate.fit import fit
from vmodel.calibrate.noise import configuration
from vmodel.calibrate.problem import problem
from vmodel.calibrate.profile_file import spreads
from vmodel.calibrate.validate import (
    Guess,
    Result,
    compare_rows,
    folds,
    left_out,
    rank_correlation,
    report,
    residuals,
    rows_only,
    rows_out,
    summary,
)
from vmodel.solve.ask import predict

STUDIES = {study.name: study for study in load(public=True)}


def result(name, values, errors, *, sd=0.1, out=None, metrics=None, excluded=0, **baselines):
    """A study whose predictions are off by the given ratios minus one."""
    metrics = metrics or ["latency_us"] * len(values)
    rows = tuple(row(i, v, size=64 + i, metric=m) for i, (v, m) in enumerate(zip(values, metrics, strict=True)))
    logs = np.log(values)

    def guess(of):
        return Guess(logs=logs + np.log1p(of), sd=np.full(len(values), sd))

    return Result(
        name=name, rows=rows, excluded=excluded, measured=logs, inside=guess(errors),
        row_out=None if out is None else guess(out), series_out=None,
        baselines={k: logs + np.log1p(v) for k, v in baselines.items()}, series_baselines={}, effective=1.504,
    )  # fmt: skip


def test_figures_are_of_relative_errors_over_all_rows_together():
    one = result(
        "a", [10.0, 20.0, 30.0], [0.1, -0.2, 0.02], out=[0.3, -0.1, 0.0], nearest_row=[0.5, 0.1, -0.3], excluded=2
    )
    two = result("b", [5.0, 6.0], [0.4, -0.05], out=[0.2, 0.05], nearest_row=[0.2, 0.0], excluded=1)
    told = summary([one, two])
    assert (told["rows"], told["excluded"], told["parameters"]) == (5, 3, 3.01)
    assert told["median_ape"] == pytest.approx(0.1) and told["max_ape"] == pytest.approx(0.4)
    assert told["p95_ape"] == pytest.approx(0.2 + 0.8 * 0.2)  # between the two largest of five
    assert told["bias"] == pytest.approx(0.02)
    within = [abs(math.log1p(e)) <= 0.16448536 for e in (0.1, -0.2, 0.02, 0.4, -0.05)]
    assert told["coverage90"] == pytest.approx(sum(within) / 5) == 0.6
    assert told["loo_median_ape"] == pytest.approx(0.1) and told["loo_bias"] == pytest.approx(0.05)
    assert told["loso_median_ape"] is None and told["loso_kendall_tau"] is None
    assert told["baselines"] == {"nearest_row": pytest.approx(0.2)} and told["loso_baselines"] == {}
    assert summary([one, replace(two, row_out=None)])["loo_median_ape"] is None
    assert summary([one, replace(two, baselines={})])["baselines"] == {}


def test_ranks_are_weighed_by_rows_and_kinds_of_three_rows_count():
    one = result("a", [1.0, 2.0, 3.0, 4.0], [0.0, 0.6, -0.4, 0.0])  # 1.0 3.2 1.8 4.0
    both = result(
        "b", [1.0, 2.0, 3.0, 9.0, 8.0], [0.0, 0.0, 0.0, 0.0, 0.5],
        metrics=["cpu_cores"] * 3 + ["rate_pps"] * 2,
    )  # fmt: skip
    first = kendalltau([1, 2, 3, 4], [1.0, 3.2, 1.8, 4.0]).statistic
    assert rank_correlation([one, both], lambda r: r.inside) == pytest.approx((4 * first + 3 * 1.0) / 7)
    assert rank_correlation([one, both], lambda r: r.row_out) is None
    same = result("c", [2.0, 2.0, 2.0], [0.0, 0.1, 0.2])
    assert rank_correlation([same], lambda r: r.inside) is None


def test_each_row_is_listed_with_its_error_and_its_prediction_from_the_others():
    one = result("a", [10.0, 20.0], [0.1, -0.2], out=[0.25, -0.5])
    assert residuals(one) == [
        {"id": "r0", "metric": "latency_us", "measured": 10.0, "predicted": 11.0, "ape": 0.1, "inside90": True,
         "loo_predicted": 12.5},
        {"id": "r1", "metric": "latency_us", "measured": 20.0, "predicted": 16.0, "ape": 0.2, "inside90": False,
         "loo_predicted": 10.0},
    ]  # fmt: skip
    assert "loo_predicted" not in residuals(replace(one, row_out=None))[0]
    told = report([one])
    assert set(told) == {"datasets", "all"} and told["all"] == summary([one])
    third = result("a", [3.0], [1 / 3])
    assert residuals(third)[0]["ape"] == 0.333333


def test_a_linearised_fold_is_close_to_one_that_is_fitted_again():
    rows = measured(noise=0.03)
    p, f = problem(rows, PRIOR), fit(rows, PRIOR)
    parts = folds(rows, configuration)[:3]
    calls = []
    quick = rows_out(p, f, parts, lambda: calls.append(1))
    exact = left_out(p, f, parts, lambda: calls.append(1))
    assert len(calls) == 6
    places = [i for left, _ in parts for i in left]
    np.testing.assert_allclose(quick.logs[places], exact.logs[places], atol=0.03)
    np.testing.assert_allclose(quick.sd[places], exact.sd[places], rtol=0.25)
    assert np.isnan(quick.logs[len(places) :]).all() and np.isnan(exact.sd[len(places) :]).all()
    inside = np.abs(f.residuals[places])
    assert np.abs(exact.logs[places] - p.measured[places]).sum() > inside.sum()  # not the fit that has seen the row


def test_a_small_study_is_compared_with_itself_and_with_each_row_left_out():
    rows = measured(noise=0.03)
    spoiled = [replace(r, excluded="a row of another machine") if i in (2, 5) else r for i, r in enumerate(rows)]
    small = replace(STUDIES["ahern2011"], rows=tuple(spoiled), seed=PRIOR)
    found = rows_only(small)
    assert (found.excluded, len(found.rows)) == (2, len(rows) - 2)
    assert found.series_out is None and found.baselines == {} and found.series_baselines == {}
    np.testing.assert_allclose(found.measured, np.log([r.value for r in small.compared]))
    f = fit(small.compared, small.seed)
    np.testing.assert_allclose(found.inside.logs, np.log(f.predicted))
    assert np.isfinite(found.row_out.logs).all() and found.effective == f.effective
    own = np.einsum("ij,jk,ik->i", f.jacobian, f.covariance, f.jacobian)
    np.testing.assert_allclose(found.inside.sd**2, own + spreads(f) ** 2, rtol=1e-6)


def test_rows_are_compared_with_what_predict_says_and_its_interval():
    asked = [
        row(0, 50.0, size=1024),
        row(1, 4000.0, size=16384, workload="stream", direction="to-vm", metric="throughput_mbps"),
    ]
    found = compare_rows("mine", asked, 7, PRIOR)
    trip = predict("virtio-vhost", topology="host-vm", size=1024, profile=PRIOR)
    bulk = predict("virtio-vhost", topology="host-vm", workload="stream", direction="to-vm", size=16384, profile=PRIOR)
    assert np.exp(found.inside.logs) == pytest.approx([trip.latency_s * 1e6, bulk.throughput_bps / 1e6])
    assert found.inside.sd == pytest.approx([trip.log_sd, bulk.log_sd], rel=1e-6)
    assert (found.excluded, found.row_out, found.effective) == (7, None, 0.0)
