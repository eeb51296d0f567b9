"""Laws of offered load: below capacity everything arrives, above it the bottleneck decides, and both have an answer."""

import itertools
import math
from functools import cache

import pytest

from tests.strategies import label, of_workload, outcome
from vmodel.library import tables
from vmodel.library.profile import shipped
from vmodel.solve.ask import predict
from vmodel.units import BITS_PER_BYTE

UNMODERATED = {"rx_usecs": 0, "pf_rx_usecs": 0, "device": "igbvf", "profile": "generic"}
BELOW = (1e-6, 1e-3, 0.05, 0.2, 0.5, 0.7)
NEAR = (0.9, 0.97, 0.999)
RING_LOSS = 0.01
ROOMY = 2**20  # a short one loses during the interval of an interrupt, and has fewer intervals when it is never empty
LONGER_TRAINS = 0.001  # a busier worker hands over longer trains, whose first frame wakes the next resource for all
OVER = (1.001, 1.1, 1.5, 3, 100)
NEGLIGIBLE = 1e-6
EXACT = 1e-9


@cache
def _loaded(path, share, asked):
    capacity = outcome(path, load="max", **dict(asked)).rate_per_s
    return predict(path, load=share * capacity, **dict(asked)), capacity


def loaded(path, chosen, share, **settings):
    """The prediction at a share of the capacity, and the capacity."""
    return _loaded(path, share, tuple((chosen | settings).items()))


def busy_seconds(answer):
    """The latency without what is only paid by ends that were idle."""
    return sum(share.seconds for share in answer.shares if share.when != "idle")


def test_below_capacity_everything_offered_is_carried_by_a_ring_that_holds_what_comes_before_an_interrupt(path):
    for chosen, share in itertools.product(of_workload(path, "packets"), BELOW):
        answer, capacity = loaded(path, chosen, share, ring_size=ROOMY)
        assert answer.messages_per_s == pytest.approx(share * capacity, rel=NEGLIGIBLE), label(answer)
        assert answer.loss <= NEGLIGIBLE and not answer.saturated, label(answer)
        assert "below capacity" in answer.regime, label(answer)


@pytest.mark.slow
def test_a_smaller_ring_never_loses_less(path):
    for chosen, share in itertools.product(of_workload(path, "packets")[:2], (0.2, 0.7, 0.97)):
        lost = [loaded(path, chosen, share, ring_size=places)[0].loss for places in (16, 64, 256, 4096, ROOMY)]
        assert all(b <= a + EXACT for a, b in itertools.pairwise(lost)), (chosen, share, lost)


@pytest.mark.slow
def test_overload_carries_the_capacity_loses_the_rest_and_has_a_latency(path):
    for chosen, share in itertools.product(of_workload(path, "packets"), OVER):
        answer, capacity = loaded(path, chosen, share, ring_size=ROOMY)
        assert answer.saturated and math.isfinite(answer.latency_s), label(answer)
        # just above its capacity a ring of finite length is still empty now and then
        assert capacity * (1 - RING_LOSS) <= answer.messages_per_s <= capacity * (1 + EXACT), label(answer)
        assert answer.loss == pytest.approx(1 - answer.messages_per_s / (capacity * share), rel=EXACT), label(answer)
        assert 1 - RING_LOSS <= answer.busy[answer.bottleneck] <= 1 + EXACT, label(answer)


@pytest.mark.slow
def test_carried_rate_never_falls_with_offered_load_where_the_ring_holds_an_interval(path):
    for chosen in of_workload(path, "packets"):
        carried = [
            loaded(path, chosen, share, ring_size=ROOMY)[0].messages_per_s for share in (*BELOW, *NEAR, 1.0, *OVER)
        ]
        assert all(b >= a * (1 - EXACT) for a, b in itertools.pairwise(carried)), chosen


def test_loss_never_falls_with_offered_load_where_the_ring_holds_an_interval(path):
    for chosen in of_workload(path, "packets"):
        losses = [loaded(path, chosen, share, ring_size=ROOMY)[0].loss for share in (*BELOW, *NEAR, 1.0, *OVER)]
        assert all(b >= a - EXACT for a, b in itertools.pairwise(losses)), (chosen, losses)


@pytest.mark.slow
@pytest.mark.parametrize("profile", shipped())
def test_latency_without_idle_wake_ups_never_falls_with_load(path, profile):
    for chosen in of_workload(path, "packets"):
        found = [
            busy_seconds(loaded(path, chosen, share, **UNMODERATED | {"profile": profile})[0])
            for share in (1e-6, 0.5, 0.9, 0.999, 1.001, 2)
        ]
        assert all(b >= a * (1 - EXACT) for a, b in itertools.pairwise(found)), (chosen, found)


@pytest.mark.slow
def test_idle_wake_ups_fall_with_load_and_end_where_the_ring_is_full(path):
    for chosen in of_workload(path, "packets"):
        answers = [loaded(path, chosen, share, **UNMODERATED)[0] for share in (1e-6, 0.2, 0.7, 0.97, 1.5)]
        paid = [sum(s.seconds for s in answer.shares if s.when == "idle") for answer in answers]
        assert all(b <= a * (1 + LONGER_TRAINS) for a, b in itertools.pairwise(paid)), (chosen, paid)
        if (
            answers[-1].bottleneck.startswith("guest vCPU") and chosen["direction"] == "to-vm"
        ):  # who is told is never idle
            assert paid[-1] < paid[0] / 2, chosen


@pytest.mark.slow
def test_percentiles_are_ordered_at_any_load(path):
    for chosen, share in itertools.product(of_workload(path, "packets"), (*BELOW, *NEAR, 1.0, *OVER)):
        answer, _ = loaded(path, chosen, share)
        percentiles = list(answer.percentiles_s.values())
        assert percentiles == sorted(percentiles), label(answer)
        assert answer.lower_bound_s <= answer.latency_s, label(answer)
        assert sum(s.seconds for s in answer.shares) == pytest.approx(answer.latency_s, rel=EXACT), label(answer)


def test_latency_at_vanishing_load_is_the_sum_of_the_stages(path):
    for chosen in of_workload(path, "packets"):
        answer, _ = loaded(path, chosen, 1e-9, **UNMODERATED)
        queueing = sum(s.seconds for s in answer.shares if s.stage == "queueing")
        assert queueing <= 1e-6 * answer.latency_s, label(answer)


@pytest.mark.parametrize("timer_us", [50, 500])
def test_moderation_under_load_waits_no_longer_than_its_timer(timer_us):
    for share in (1e-6, 0.1, 0.5, 0.9):
        answer, _ = loaded("vf", {"workload": "packets"}, share, rx_usecs=timer_us, profile="e5620-82576-2011")
        waits = [s.seconds for s in answer.shares if s.stage == "moderation_wait"]
        assert len(waits) == 1 and 0 <= waits[0] <= timer_us * 1e-6
        assert answer.interrupts_per_s <= 1e6 / timer_us * (1 + EXACT)


def test_loads_in_bits_and_in_packets_agree(path):
    size = 512
    rate = 1000.0
    for chosen in of_workload(path, "packets"):
        packets = predict(path, load=rate, size=size, **chosen)
        bits = predict(path, load=f"{rate * size * BITS_PER_BYTE}bit/s", size=size, **chosen)
        assert bits.latency_s == pytest.approx(packets.latency_s, rel=EXACT)
        assert bits.messages_per_s == pytest.approx(packets.messages_per_s, rel=EXACT)


def test_capacity_is_the_reciprocal_of_the_largest_demand(path):
    for workload in ("packets", "stream"):
        for chosen in of_workload(path, workload):
            answer = predict(path, **chosen)
            if answer.bottleneck != "window":
                assert answer.messages_per_s * max(answer.demands_s.values()) == pytest.approx(1, rel=EXACT)
                assert answer.bottleneck == max(answer.demands_s, key=answer.demands_s.__getitem__)


def test_the_knee_is_continuous_in_the_carried_rate():
    for path in tables.path_names():
        below, capacity = loaded(path, {"workload": "packets"}, 1 - 1e-6, ring_size=ROOMY)
        assert below.messages_per_s == pytest.approx(capacity, rel=RING_LOSS)


@pytest.mark.parametrize("settings", [{"arrival_scv": 0}, {"arrival_scv": 4}, {"burst": 16}], ids=str)
def test_how_packets_arrive_changes_waits_and_loss_only(path, settings):
    for chosen in of_workload(path, "packets")[:2]:
        for share in (1e-3, 0.7, 1.5):
            usual, other = loaded(path, chosen, share)[0], loaded(path, chosen, share, **settings)[0]
            assert other.demands_s == usual.demands_s, label(other)
            assert other.interrupts_per_s / other.messages_per_s == pytest.approx(
                usual.interrupts_per_s / usual.messages_per_s, rel=EXACT, abs=EXACT
            )
            percentiles = list(other.percentiles_s.values())
            assert percentiles == sorted(percentiles), label(other)
