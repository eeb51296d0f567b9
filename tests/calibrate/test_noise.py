"""Noise comes from repeats, from the spread that rows state, and from what the model is usually off by."""

import math

import numpy as np
import pytest

from tests.calibrate.made import PRIOR, measured, row
from vmodel.calibrate.fit import fit
from vmodel.calibrate.noise import LEAST_NOISE, from_prior, repeat_noise, stated
from vmodel.calibrate.problem import Weighing


def test_repeats_tell_the_noise_by_their_pooled_standard_deviation():
    rows = [
        row(0, 100.0, size=64),
        row(1, 110.0, size=64),
        row(2, 200.0, size=128),
        row(3, 190.0, size=128),
        row(4, 7.0, size=1),
    ]
    expected = math.sqrt((math.log(110 / 100) ** 2 / 2 + math.log(200 / 190) ** 2 / 2) / 2)
    assert repeat_noise(rows) == {"virtio-vhost/rr": pytest.approx(expected)}


def test_a_stated_spread_is_a_weight():
    tight, wide = row(0, 50.0, size=1024, sd=0.5), row(1, 70.0, size=1024, sd=20.0)
    to_first = fit([tight, wide], PRIOR).predicted[0]
    to_second = fit([row(0, 50.0, size=1024, sd=20.0), row(1, 70.0, size=1024, sd=0.7)], PRIOR).predicted[0]
    assert to_first < 57 < 63 < to_second


def test_rows_of_equal_relative_spread_weigh_the_same():
    _, ratio = stated([row(0, 139.16, size=1, sd=13.916), row(1, 10061.2964352, size=2, sd=1006.13)])
    assert ratio.tolist() == [1.0, 1.0]


def test_repeats_of_one_row_do_not_outvote_the_model():
    once, often = [row(0, 60.0, size=64)], [row(i, 60.0, size=64) for i in range(50)]
    alone = 1 / from_prior(once, 0.1, None, 0.0).whole[0] ** 2
    own = from_prior(often, 0.1, None, 0.0).own
    assert np.sum(1 / own**2) < 3 * alone


def test_half_of_the_models_error_is_shared_by_the_rows_of_a_set():
    two = [row(0, 60.0, size=64), row(1, 65.0, size=512), row(2, 9.0, size=64, metric="cpu_cores")]
    found = from_prior(two, 0.1, None, 0.0)
    ((places, variance),) = found.shared
    assert places.tolist() == [0, 1] and variance == pytest.approx(0.005)
    assert found.own == pytest.approx([math.sqrt(0.005 + LEAST_NOISE**2)] * 2 + [math.sqrt(0.01 + LEAST_NOISE**2)])
    assert found.whole == pytest.approx([math.sqrt(0.01 + LEAST_NOISE**2)] * 3)


def test_repeats_beyond_a_factor_of_two_tell_nothing_of_noise():
    assert repeat_noise([row(0, 10.0, size=64), row(1, 21.0, size=64)]) == {}
    assert repeat_noise([row(0, 10.0, size=64), row(1, 19.0, size=64)]) != {}


def test_a_shared_error_is_whitened_as_its_covariance_says():
    own = np.array([2.0, 5.0, 3.0])
    weighing = Weighing(own=own, shared=((np.array([0, 2]), 0.3),))
    covariance = np.diag(1 / own**2)
    covariance[np.ix_([0, 2], [0, 2])] += 0.3
    square = weighing.of(np.eye(3))
    np.testing.assert_allclose(square.T @ square, np.linalg.inv(covariance), rtol=1e-12)
    r = np.array([0.1, -0.2, 0.4])
    np.testing.assert_allclose(weighing.of(r), square @ r, rtol=1e-12)


def test_ten_thousand_rows_are_fitted_like_ten():
    rows = [r for i in range(100) for r in measured(seed=i, noise=0.05)]
    f = fit(rows, PRIOR)
    assert len(f.rows) == 1000
    assert f.repeat_noise["virtio-vhost/rr"] == pytest.approx(0.05, rel=0.15)
    assert f.outcome == "ok"
