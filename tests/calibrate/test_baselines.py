"""What stands beside the model: a nearest row, a line and a Gaussian process, each against what it is by definition."""

import math
import statistics
from dataclasses import replace

import numpy as np
import pytest

from tests.calibrate.made import row
from vmodel.calibrate.baselines import features, gaussian_process, nearest_row, series_affine
from vmodel.calibrate.pooled import Pool, _shifted, table_of


def latencies(sizes, law, **known):
    """One series of latencies over size."""
    return [replace(row(i, law(size), size=size, **known), series="s") for i, size in enumerate(sizes)]


def test_features_are_logarithms_of_settings_and_switches_of_the_rest():
    rows = [
        row(0, 1.0, size=3, nodelay=1),
        row(1, 1.0, size=7, nodelay=0, mtu=1023),
        row(2, 1.0, size=15, nodelay=0, mtu=1023, workload="stream", direction="to-vm", metric="throughput_mbps"),
    ]
    table, metric = features(rows)
    assert metric.tolist() == ["latency_us", "latency_us", "throughput_mbps"]
    columns = sorted(tuple(column) for column in table.T)
    switches = [(1, 0, 0), (0, 1, 1), (1, 0, 0), (1, 1, 0), (0, 0, 1), (0, 0, 1)]  # nodelay on and off, mtu unset,
    numbers = [(2, 3, 4), (0, 10, 10)]  # rr, stream, to-vm; sizes and mtu, of 1 + value
    assert columns == sorted(tuple(map(float, c)) for c in switches + numbers)


def test_the_nearest_row_is_of_the_same_metric_and_closest_in_spreads_of_each_setting():
    # Sizes spread three times as far (in powers of two) as MTUs, so that a step of one counts a third of one of MTU.
    rows = [
        row(0, 10.0, size=2**6 - 1, mtu=2**10 - 1),
        row(1, 20.0, size=2**9 - 1, mtu=2**10 - 1),
        row(2, 30.0, size=2**6 - 1, mtu=2**11 - 1),
        row(3, 40.0, size=2**9 - 1, mtu=2**11 - 1),
        row(4, 50.0, size=2**7 - 1, mtu=2**10 - 1),
        row(5, 99.0, size=2**7 - 1, mtu=2**10 - 1, metric="transactions_per_s"),
    ]
    whole = tuple(range(5))
    one = [((i,), tuple(j for j in whole if j != i)) for i in whole]
    guess = np.exp(nearest_row(rows, one))
    # Deviations: size about 1.3, mtu about 0.49: row 4 is 0.77 from row 0, 1.5 from row 1, 2.8 from row 2.
    assert guess[[0, 1, 3, 4]] == pytest.approx([50.0, 50.0, 20.0, 10.0])
    assert math.isnan(guess[5])
    alone = nearest_row(rows, [((5,), (1, 4))])
    assert math.exp(alone[5]) == pytest.approx(50.0)  # no row of its metric: the closest of all
    assert np.isnan(nearest_row(rows, [((0,), ())])).all()


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("latency_us", lambda size, time: time),
        ("throughput_mbps", lambda size, time: size / time),
        ("transactions_per_s", lambda size, time: 1 / time),
    ],
)
def test_a_line_through_the_series_finds_an_affine_time_again(metric, value):
    sizes = (64, 256, 1024, 4096, 16384)
    rows = latencies(sizes, lambda size: value(size, 20.0 + 0.01 * size), metric=metric)
    folds = [((i,), tuple(j for j in range(5) if j != i)) for i in range(5)]
    assert np.exp(series_affine(rows, folds)) == pytest.approx([r.value for r in rows], rel=1e-9)


def test_a_line_weighs_relative_errors_and_takes_the_setting_that_varies_most():
    sizes, times = (100, 200, 400), (11.0, 19.0, 45.0)
    rows = [
        replace(row(i, t, size=s, mtu=1500, nodelay=i % 2), series="s")
        for i, (s, t) in enumerate(zip(sizes, times, strict=True))
    ]
    rows.append(replace(row(3, 70.0, size=800, mtu=9000, nodelay=0), series="s"))
    weights = [1 / t**2 for t in times]  # the normal equations of relative least squares
    sw = sum(weights)
    sx = sum(w * x for w, x in zip(weights, sizes, strict=True))
    sxx = sum(w * x * x for w, x in zip(weights, sizes, strict=True))
    sy = sum(w * y for w, y in zip(weights, times, strict=True))
    sxy = sum(w * x * y for w, x, y in zip(weights, sizes, times, strict=True))
    slope = (sw * sxy - sx * sy) / (sw * sxx - sx * sx)
    line = (sy - slope * sx) / sw + slope * 800
    assert math.exp(series_affine(rows, [((3,), (0, 1, 2))])[3]) == pytest.approx(line)


def test_where_no_line_helps_the_geometric_mean_or_the_nearest_row_stands_in():
    falling = latencies((64, 128, 4096), lambda size: 100.0 if size < 100 else 1.0)
    # The line through (64, 100) and (128, 1) is below zero at 4096.
    assert math.exp(series_affine(falling, [((2,), (0, 1))])[2]) == pytest.approx(10.0)
    same = latencies((64, 64, 64), lambda size: 5.0)
    same = [replace(r, value=v) for r, v in zip(same, (4.0, 9.0, 1.0), strict=True)]
    assert math.exp(series_affine(same, [((2,), (0, 1))])[2]) == pytest.approx(6.0)
    assert math.exp(series_affine(falling, [((2,), (1,))])[2]) == pytest.approx(1.0)
    switch = [replace(row(i, v, nodelay=on), series="s") for i, (v, on) in enumerate(((4.0, 1), (9.0, 0), (1.0, 1)))]
    assert math.exp(series_affine(switch, [((2,), (0, 1))])[2]) == pytest.approx(6.0)  # no line through a switch
    other = [*falling, replace(row(3, 7.0, size=4000), series="t"), replace(falling[2], metric="cpu_cores")]
    assert math.exp(series_affine(other, [((2,), (3,))])[2]) == pytest.approx(7.0)
    assert math.exp(series_affine(other, [((4,), (0, 1, 2, 3))])[4]) == pytest.approx(1.0)  # same size, other metric


def test_a_gaussian_process_finds_a_smooth_law_and_needs_six_rows_of_a_metric():
    sizes = [2.0**k for k in range(4, 14)]
    rows = latencies(sizes, lambda size: 10.0 * math.sqrt(size))
    folds = [((i,), tuple(j for j in range(10) if j != i)) for i in range(10)]
    guess = gaussian_process(rows, folds)
    inner = slice(1, -1)
    assert np.exp(guess[inner]) == pytest.approx([r.value for r in rows][inner], rel=0.02)
    nearest = nearest_row(rows, folds)
    assert np.abs(nearest[inner] - np.log([r.value for r in rows])[inner]).min() > 0.3
    few = rows[:5]
    short = [((i,), tuple(j for j in range(5) if j != i)) for i in range(5)]
    np.testing.assert_array_equal(gaussian_process(few, short), nearest_row(few, short))
    six = gaussian_process(rows[:6], [((2,), (0, 1, 3, 4, 5)), ((1,), (0,))])
    assert math.exp(six[2]) == pytest.approx(rows[2].value, rel=0.02)
    assert six[1] == pytest.approx(math.log(rows[0].value))  # one row tells a process nothing
    flat = [replace(r, knobs={"size": 64.0}) for r in rows]
    np.testing.assert_array_equal(gaussian_process(flat, folds), nearest_row(flat, folds))


def test_a_pooled_guess_is_moved_by_the_rows_given_of_its_metric_or_by_all():
    before, own = np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([1.5, 2.1, 3.3, 9.0, 9.0])
    metric = ["a", "a", "a", "b", "c"]
    moved = _shifted(before, own, (0, 1, 2, 3), metric)
    middle = statistics.median((0.5, 0.1, 0.3))
    assert moved == pytest.approx([1 + middle, 2 + middle, 3 + middle, 9.0, 5 + statistics.median((0.5, 0.1, 0.3, 5))])


def test_features_of_many_studies_have_unit_deviation_and_hold_the_metric():
    rows = [row(i, 1.0, size=2.0**i, metric="latency_us" if i % 2 else "cpu_cores") for i in range(6)]
    table = table_of(rows)
    assert table.mean(axis=0) == pytest.approx(np.zeros(3), abs=1e-12)
    assert table.std(axis=0) == pytest.approx(np.ones(3))
    assert table[:, 1] == pytest.approx([1, -1] * 3) and table[:, 2] == pytest.approx([-1, 1] * 3)


def test_pooled_baselines_learn_the_law_of_the_others_and_the_level_of_the_rows_given():
    sizes = [2.0**k for k in range(4, 16)]
    others = [replace(row(i, 5.0 * size**0.5, size=size), series="o") for i, size in enumerate(sizes * 3)]
    mine = [replace(row(i, 20.0 * size**0.5, size=size), series="m") for i, size in enumerate(sizes)]
    given = (2, 5, 8)
    found = Pool(mine, others).guesses(given)
    truth = np.log([r.value for r in mine])
    assert found["pooled_gaussian_process"] == pytest.approx(truth, abs=0.1)
    trees = found["pooled_boosting"] - truth
    assert trees[list(given)] == pytest.approx(np.zeros(3), abs=0.02)  # each of them weighs as twenty others
    assert (
        trees.max() < 0.1 and trees.min() > -math.log(20 / 5) - 0.1
    )  # elsewhere between the others' level and its own
