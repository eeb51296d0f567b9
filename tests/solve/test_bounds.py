"""Bounds: the textbook's tandem, monotony, and no message of a shaped source ever later than its worst case."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import of_workload
from vmodel.config import scenario
from vmodel.solve import compose, solver
from vmodel.solve.bounds import (
    Hop,
    asymptotic,
    backlog_bound,
    convolve,
    delay_bound,
    delay_bound_hop_by_hop,
    hops_of,
    worst_case,
)

MESSAGES = 4000
hops_drawn = st.lists(st.tuples(st.floats(0.1, 10), st.floats(0, 5)), min_size=1, max_size=5).map(
    lambda rows: [Hop(name=str(i), rate_per_s=r, latency_s=t) for i, (r, t) in enumerate(rows)]
)
SHAPED = (
    {"path": "vhost-user", "topology": "vm-vm"},
    {"path": "virtio-vhost", "topology": "host-vm", "direction": "from-vm"},
    {"path": "vf", "topology": "cross-host-vm", "device": "dwmac", "rx_usecs": 100},
    {"path": "dpdk"},
)


def asked(**settings):
    return scenario(**{"profile": "generic", "workload": "packets", "size": 1500, **settings})


def test_two_servers_in_a_row_pay_the_burst_once_as_in_the_textbook():
    """LeBoudecThiran2001, section 1.4.3: b / min(R1, R2) + T1 + T2 against b / R1 + (b + r T1) / R2 + T1 + T2."""
    b, r, (r1, t1), (r2, t2) = Fraction(12), Fraction(2), (Fraction(5), Fraction(3)), (Fraction(4), Fraction(1))
    row = [Hop(name="1", rate_per_s=r1, latency_s=t1), Hop(name="2", rate_per_s=r2, latency_s=t2)]
    assert delay_bound(b, r, row) == b / min(r1, r2) + t1 + t2
    each = delay_bound_hop_by_hop(b, r, row)
    assert each == pytest.approx(float(b / r1 + (b + r * t1) / r2 + t1 + t2))
    assert each - delay_bound(b, r, row) == pytest.approx(float(b / r1 + r * t1 / r2))
    assert backlog_bound(b, r, row) == b + r * (t1 + t2)


@given(hops_drawn, st.floats(1, 100), st.floats(0.01, 10))
def test_the_burst_paid_once_is_never_looser_than_hop_by_hop(row, burst, rate):
    once, each = delay_bound(burst, rate, row), delay_bound_hop_by_hop(burst, rate, row)
    assert (once is None) == (each is None) == (rate > min(h.rate_per_s for h in row))
    if once is not None:
        assert once <= each * (1 + 1e-12)
        assert once >= sum(h.latency_s for h in row)


@given(hops_drawn, st.floats(1, 100), st.floats(0.01, 10), st.floats(1, 3))
def test_a_larger_burst_or_rate_never_lowers_a_bound(row, burst, rate, factor):
    for bound in (delay_bound, backlog_bound, delay_bound_hop_by_hop):
        base, bursty, fast = bound(burst, rate, row), bound(burst * factor, rate, row), bound(burst, rate * factor, row)
        for more in (bursty, fast):
            assert more is None or base <= more * (1 + 1e-12)
        if base is None:
            assert bursty is None and fast is None


@given(hops_drawn)
def test_convolution_does_not_depend_on_the_order(row):
    there, back = convolve(row), convolve(row[::-1])
    assert there.rate_per_s == back.rate_per_s and there.latency_s == pytest.approx(back.latency_s)


def shaped(random, burst, rate):
    """Arrival times that use a token bucket greedily, with pauses of random length in which it fills again."""
    times, now, tokens = [], 0.0, float(burst)
    while len(times) < MESSAGES:
        pause = float(random.exponential(burst / rate)) if random.random() < 0.05 else 0.0
        now, tokens = now + pause, min(burst, tokens + pause * rate)
        if tokens < 1:
            now, tokens = now + (1 - tokens) / rate, 1.0
        times.append(now)
        tokens -= 1
    return np.array(times)


def longest(arrivals, hops, transit):
    """Event by event through resources that serve in order of arrival; returns longest delay and largest backlog."""
    leaving = arrivals
    for seconds in hops:
        free, out = 0.0, []
        for come in leaving:
            free = max(free, come) + seconds
            out.append(free)
        leaving = np.array(out)
    leaving = leaving + transit
    inside = np.arange(1, len(arrivals) + 1) - np.searchsorted(leaving, arrivals, side="right")
    return float((leaving - arrivals).max()), int(inside.max())


@pytest.mark.parametrize("settings", SHAPED, ids=lambda s: s["path"])
@pytest.mark.parametrize("burst", [1, 8, 100])
@pytest.mark.parametrize("load", [0.3, 0.8, 1.0])
def test_no_message_of_a_shaped_source_is_later_than_the_worst_case(settings, burst, load):
    s = asked(**settings)
    hops = hops_of(s)
    rate = load * convolve(hops).rate_per_s
    bound = worst_case(s, burst=burst, rate_per_s=rate)
    random = np.random.default_rng(20250711)
    served = [1 / h.rate_per_s for h in hops if math.isfinite(h.rate_per_s)]
    late, inside = longest(shaped(random, burst, rate), served, hops[-1].latency_s)
    assert late <= bound.delay_s * (1 + 1e-9) and inside <= bound.backlog * (1 + 1e-9)
    if burst == 100:
        assert late > 0.9 * bound.delay_s - sum(served)  # and not much looser than the worst that happens


def test_the_worst_case_is_no_less_than_the_least_and_the_mean_latency(path):
    for settings in of_workload(path, "packets"):
        s = scenario(path=path, profile="generic", **settings)
        out = solver.solve(s, compose.parameter_values(s)).outcome
        limits = asymptotic(out)
        bound = worst_case(s, burst=1, rate_per_s=1.0)
        assert bound.delay_s >= limits.latency_s > 0
        quiet = scenario(path=path, profile="generic", load=1.0, **settings)
        assert bound.delay_s >= solver.solve(quiet, compose.parameter_values(quiet)).outcome.latency_s
        half = limits.rate_per_s / 2
        busy = scenario(path=path, profile="generic", load=half, **settings)
        mean = solver.solve(busy, compose.parameter_values(busy)).outcome.latency_s
        assert worst_case(s, burst=32, rate_per_s=half).delay_s >= mean


def test_hard_bounds_are_those_of_the_prediction_and_say_what_they_assume(path):
    for settings in of_workload(path, "rr", "stream", "packets"):
        s = scenario(path=path, profile="generic", **settings)
        limits, answer = asymptotic(solver.solve(s, compose.parameter_values(s)).outcome), solver.predict(s)
        assert limits.latency_s == pytest.approx(answer.lower_bound_s)
        bits = 8 * answer.scenario.knobs["size"]
        assert limits.rate_per_s * bits == pytest.approx(answer.throughput_bound_bps)
        assert limits.bottleneck in solver.solve(s, compose.parameter_values(s)).outcome.demands_s
        assert all(text.endswith(".") for text in limits.assumptions)


def test_overload_is_answered_by_a_reason_and_never_by_a_number():
    s = asked(path="vhost-user", topology="vm-vm")
    capacity = convolve(hops_of(s)).rate_per_s
    over = worst_case(s, burst=8, rate_per_s=1.01 * capacity)
    assert (over.delay_s, over.backlog) == (None, None)
    assert over.reason.startswith("unbounded: ") and "guest vCPU" in over.reason
    kept = worst_case(s, burst=8, rate_per_s=capacity)
    assert math.isfinite(kept.delay_s) and kept.reason.startswith("bounded: ")


def test_slower_service_and_a_longer_timer_raise_the_worst_case():
    s = asked(path="vf", topology="cross-host-vm", device="dwmac", rx_usecs=50)
    base = worst_case(s, burst=8, rate_per_s=1000.0)
    slow = worst_case(s, burst=8, rate_per_s=1000.0, slower=2.0)
    held = worst_case(
        asked(path="vf", topology="cross-host-vm", device="dwmac", rx_usecs=100), burst=8, rate_per_s=1000.0
    )
    assert slow.delay_s > base.delay_s
    assert held.delay_s - base.delay_s == pytest.approx(50e-6, abs=1e-6)
