"""Ranks of configurations, counted by hand and against scipy where nothing is tied."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import kendalltau

from tests.calibrate.made import row
from vmodel.calibrate.ranking import ranking


def rows_of(values, **known):
    return [row(i, v, size=64 * (i + 1), **known) for i, v in enumerate(values)]


def test_without_noise_and_ties_it_is_the_tau_of_the_books():
    dice = np.random.default_rng(3)
    values = dice.uniform(1, 1000, 30)
    predicted = np.log(values) + dice.normal(0, 1, 30)
    told = ranking(rows_of(values), predicted)
    assert told.whole == pytest.approx(float(kendalltau(values, predicted).statistic))
    assert told.pairs == 30 * 29 // 2


def test_a_pair_within_the_stated_spread_has_no_order():
    # 100 and 103 with a spread of 2 each: log difference 0.0296 < 2 sqrt(0.02^2 + 0.0194^2) = 0.0557.
    values = (100.0, 103.0, 200.0, 400.0, 800.0)
    rows = [replace(r, sd=2.0) if r.value < 150 else r for r in rows_of(values)]
    swapped = np.log([103.0, 100.0, 200.0, 400.0, 800.0])
    told = ranking(rows, swapped)
    assert (told.clear, told.clear_pairs) == (1.0, 9)
    assert told.whole == pytest.approx((9 - 1) / 10)
    certain = ranking(rows_of(values), swapped)
    assert certain.clear == certain.whole == pytest.approx(0.8)


def test_repeats_are_one_configuration_whose_spread_is_its_noise():
    # Two of 95 and 105: median of logarithms 99.87; standard deviation of logarithms 0.0708, of their mean 0.05.
    repeats = [row(0, 95.0, size=64), row(1, 105.0, size=64)]
    others = [row(2 + i, v, size=128 * (i + 1)) for i, v in enumerate((115.0, 200.0, 300.0))]
    rows = [*repeats, *others]
    told = ranking(rows, np.log([120.0, 120.0, 115.0, 200.0, 300.0]))
    assert told.pairs == 6
    # 115 against 99.87 is 0.141 apart, within 2 sqrt(0.05^2 + 0.0708^2) = 0.173: five clear pairs, too few.
    assert told.clear_pairs == 5 and told.clear is None
    assert told.whole == pytest.approx((5 - 1) / 6)


def test_equal_predictions_agree_half_and_equal_figures_are_no_pairs():
    flat = ranking(rows_of((1.0, 2.0, 4.0, 8.0)), np.zeros(4))
    assert flat.clear == flat.whole == 0.0
    same = ranking(rows_of((5.0,) * 6), np.arange(6.0))
    assert same.clear is None and same.whole is None


def test_fewer_than_four_configurations_make_no_order():
    told = ranking(rows_of((1.0, 2.0, 3.0)), np.zeros(3))
    assert told.clear is None and told.whole is None and told.pairs == 3
