"""Half of a study predicts the other half: how it is split, what is told of each configuration, and how wide."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.calibrate.made import PRIOR, measured, row
from vmodel.calibrate.halves import Unseen, configuration, halves, predicted, repeat_spread, split
from vmodel.core.records import Seen
from vmodel.solve.ask import predict
from vmodel.solve.doubt import UNSEEN_LOG_SD

SIZES = (64, 256, 1024, 4096, 16384)


def series(name, sizes=SIZES, repeats=2, **known):
    rows = [row(10 * i + k, 50.0 + i, size=s, **known) for i, s in enumerate(sizes) for k in range(repeats)]
    return [replace(r, series=name) for r in rows]


def sizes_of(rows, name, metric="latency_us"):
    return sorted({r.knobs["size"] for r in rows if (r.series, r.metric) == (name, metric)})


def test_every_second_size_is_seen_and_both_ends_of_an_odd_number():
    rows = list(reversed(series("a"))) + series("b", SIZES[:4]) + series("b", metric="cpu_cores")
    starts = set()
    for seed in range(8):
        seen, other = split(rows, seed)
        assert sizes_of(seen, "a") == sizes_of(seen, "b", "cpu_cores") == [64, 1024, 16384]
        assert sizes_of(other, "a") == [256, 4096]
        starts.add(tuple(sizes_of(seen, "b")))
        assert not {configuration(r) for r in seen} & {configuration(r) for r in other}
        assert sorted(map(id, [*seen, *other])) == sorted(map(id, rows))
        assert split(rows, seed) == (seen, other)
    assert starts == {(64, 1024), (256, 4096)}


def test_size_orders_a_series_and_no_other_setting():
    rows = [row(i, 5.0, size=s, mtu=9000 - 100 * i) for i, s in enumerate((64, 4096, 256, 16384, 1024))]
    assert sizes_of(split([replace(r, series="a") for r in rows], 1)[0], "a") == [64, 1024, 16384]


def test_too_few_configurations_are_not_split():
    assert halves(series("a", SIZES[:3], repeats=5), PRIOR, 1) is None
    apart = [r for name in "abcd" for r in series(name, SIZES[:1])]
    assert halves(apart, PRIOR, 1) is None  # each the only one of its series: all seen


def test_the_unseen_half_is_predicted_by_a_fit_of_the_other():
    rows = measured(noise=0.0)
    found = halves(rows, PRIOR, 1)
    seen, other = split(rows, 1)
    assert found.fitted.rows == seen and found.seed == 1
    assert [u.row for u in found.unseen] == list(other)
    assert len(other) == 4  # of five sizes of each of two metrics
    for u in found.unseen:
        assert abs(u.error) < 0.15 and u.covered  # without noise, between sizes that were seen
        assert u.predicted == pytest.approx(u.measured * (1 + u.error))


def test_a_prediction_is_that_of_predict_with_what_costs_and_model_leave_open():
    known = replace(
        PRIOR,
        seen={"virtio-vhost/rr": Seen(topologies=(), directions=(), size_bytes=(1.0, 1e9), rows=9, log_sd=0.07)},
    )
    asked = [row(0, 50.0, size=1024), row(1, 80.0, size=1024), row(2, 65.0, size=1024)]
    stream = row(3, 900.0, size=4096, workload="stream", direction="to-vm", metric="throughput_mbps")
    seen = [
        row(4, 30.0, size=256), row(5, 33.0, size=256), row(6, 34.0, size=256), row(7, 60.0, size=8192),
        row(8, 700.0, size=8192, workload="stream", direction="to-vm", metric="throughput_mbps"),
    ]  # fmt: skip
    trip, bulk = predicted([asked[0], stream, *asked[1:]], seen, known)
    answer = predict("virtio-vhost", topology="host-vm", size=1024, profile=known)
    assert (trip.rows, trip.measured, trip.spread) == (3, 65.0, pytest.approx(80 / 50))
    assert trip.predicted == pytest.approx(answer.latency_s * 1e6)
    rate = predict("virtio-vhost", topology="host-vm", workload="stream", direction="to-vm", size=4096, profile=known)
    assert bulk.predicted == pytest.approx(rate.throughput_bps / 1e6)
    assert (trip.nearest, bulk.nearest) == (33.0, 700.0)  # 256 is four times less, 8192 eight times more

    # The spread by finite differences over every cost, and what the model was off by.
    lower = np.array([[*line, *[0.0] * (len(known.correlated) - len(line))] for line in known.covariance])
    whole = np.tril(lower) + np.tril(lower, -1).T
    slopes = {}
    for name, value in known.values.items():
        up, down = (
            predict("virtio-vhost", topology="host-vm", size=1024, profile=known, **{name: value.value * factor})
            for factor in (1.001, 1 / 1.001)
        )
        slopes[name] = math.log(up.latency_s / down.latency_s) / (2 * math.log(1.001))
    slope = np.array([slopes[name] for name in known.correlated])
    alone = sum((slopes[n] * v.log_error) ** 2 for n, v in known.values.items() if n not in known.correlated)
    assert trip.log_sd == pytest.approx(math.sqrt(slope @ whole @ slope + alone + 0.07**2), rel=0.01)
    (unseen,) = predicted(asked, seen, replace(known, seen={}))
    assert unseen.log_sd**2 - trip.log_sd**2 == pytest.approx(UNSEEN_LOG_SD**2 - 0.07**2)
    assert predicted([row(0, 50.0, size=4096)], seen, known)[0].nearest == 60.0
    assert [math.isnan(u.nearest) for u in predicted([asked[0]], [replace(seen[0], series="z")], known)] == [True]


def test_a_median_is_covered_within_1_645_standard_deviations():
    def told(ratio, log_sd):
        return Unseen(
            row=row(0, 1.0, size=1), rows=1, measured=10.0, predicted=10.0 * ratio, log_sd=log_sd, spread=1.0,
            nearest=math.nan,
        )  # fmt: skip

    assert told(math.exp(0.1644), 0.1).covered and not told(math.exp(0.1646), 0.1).covered
    assert told(math.exp(-0.1644), 0.1).covered and not told(math.exp(-0.1646), 0.1).covered
    assert told(1.25, 0.1).error == pytest.approx(0.25)


def test_the_spread_of_repeats_is_told_over_configurations_that_have_some():
    values = {64: (10.0, 11.0, 12.1), 128: (5.0, 10.0), 256: (7.0,), 512: (20.0, 21.0)}
    rows = [row(i, v, size=s) for s, own in values.items() for i, v in enumerate(own)]
    deviation, ratio, most = repeat_spread(rows)
    deviations = [np.log(1.1), np.log(2) / math.sqrt(2), np.log(1.05) / math.sqrt(2)]
    assert deviation == pytest.approx(sorted(deviations)[1])
    assert ratio == pytest.approx(1.21) and most == pytest.approx(2.0)
    assert all(math.isnan(x) for x in repeat_spread(rows[5:6]))
