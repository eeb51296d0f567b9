"""Approximations and small rules against their formulas written out, or against exact counting."""

import math
from fractions import Fraction

import numpy as np
import pytest

from vmodel.config import scenario
from vmodel.errors import ConfigError
from vmodel.solve.ask import predict
from vmodel.solve.compose import POLLS
from vmodel.solve.explain import MOST_STAGES, ONLY_FOR, _is_law, _listed
from vmodel.solve.formula import closed_form
from vmodel.solve.goal import Constraint, read_constraint, read_constraints, read_objective
from vmodel.solve.moderation_law import throttle_percentile
from vmodel.solve.mva import approximate_mva
from vmodel.solve.quantities import quantity
from vmodel.solve.queues import klb_wait
from vmodel.solve.rings import mg1k, ring_percentile
from vmodel.solve.spread import hot_queue_load, largest_share, usl_peak, usl_speedup
from vmodel.solve.workloads import _notification_regime


def counted(flows, queues):
    """E[max] / f by counting: f! times the coefficient of x^f in (sum over k <= m of x^k / k!)^q, over q^f."""
    expected = Fraction(0)
    for most in range(flows):
        one = [Fraction(1, math.factorial(k)) if k <= most else Fraction(0) for k in range(flows + 1)]
        ways = [Fraction(1)] + [Fraction(0)] * flows
        for _ in range(queues):
            ways = [sum(ways[n - k] * one[k] for k in range(min(n, most) + 1)) for n in range(flows + 1)]
        expected += 1 - ways[flows] * math.factorial(flows) / Fraction(queues) ** flows
    return float(expected / flows)


@pytest.mark.parametrize(("flows", "queues"), [(25, 2), (26, 5), (27, 9)])
def test_the_expansion_for_many_flows_is_within_its_stated_error_of_counting(flows, queues):
    assert largest_share(flows, queues) == pytest.approx(counted(flows, queues), rel=1e-3)
    assert hot_queue_load(0.4, queues, flows) == pytest.approx(0.4 * queues * counted(flows, queues), rel=1e-3)


def test_scalability_peaks_where_its_slope_is_zero():
    peak = usl_peak(0.05, 0.001)
    assert usl_speedup(peak, 0.05, 0.001) > max(usl_speedup(peak + d, 0.05, 0.001) for d in (-0.5, 0.5))
    assert usl_speedup(3.0, 0.1, 0.01) == pytest.approx(3 / (1 + 0.1 * 2 + 0.01 * 3 * 2))


def test_the_correction_of_kraemer_and_langenbach_belz_is_the_printed_one():
    rho, service = 0.6, 2.0
    for ca, cs in ((0.25, 1.0), (0.5, 0.0), (1.0, 0.5), (2.0, 0.5), (4.0, 2.0)):
        if ca <= 1:
            factor = math.exp(-2 * (1 - rho) * (1 - ca) ** 2 / (3 * rho * (ca + cs)))
        else:
            factor = math.exp(-(1 - rho) * (ca - 1) / (ca + 4 * cs))
        expected = rho / (1 - rho) * (ca + cs) / 2 * service * factor
        assert klb_wait(rho / service, service, ca, cs) == pytest.approx(expected), (ca, cs)


def test_the_approximate_network_is_the_fixed_point_of_schweitzer():
    demands, delay, n = [0.4, 1.1, 0.7], 3.0, 6.0
    queue = np.full(3, n / 3)
    for _ in range(5000):
        residence = np.array(demands) * (1 + queue * (n - 1) / n)
        queue = n / (delay + residence.sum()) * residence
    found = approximate_mva(demands, delay, n)
    assert found.throughput_pps == pytest.approx(n / (delay + residence.sum()), rel=1e-8)


def test_percentiles_of_a_full_ring_are_those_of_erlang_stages():
    """M/M/1/K: an accepted frame that finds j inside stays for j + 1 exponential services."""
    rho, places = 0.9, 6
    inside = np.array([rho**j for j in range(places)])
    inside = inside / inside.sum()

    def below(t):
        return sum(
            q * (1 - math.exp(-t) * sum(t**k / math.factorial(k) for k in range(j + 1))) for j, q in enumerate(inside)
        )

    for p in (0.5, 0.9, 0.99):
        assert below(ring_percentile(rho / 3.0, 3.0, 1.0, places, p) / 3.0) == pytest.approx(p, abs=1e-6)
    loss = rho**places * (1 - rho) / (1 - rho ** (places + 1))
    assert mg1k(rho / 3.0, 3.0, 1.0, places).loss == pytest.approx(loss)


def test_a_bound_of_zero_measures_distances_in_units_of_the_quantity():
    none = Constraint(quantity=quantity("loss"), upper=True, bound=0.0)
    assert (none.scale, none.excess(0.25)) == (1.0, 0.25)
    assert none.met(0.0) and none.met(9e-10) and not none.met(2e-9) and not none.met(None) and not none.met(math.nan)
    least = read_constraint(" throughput >= 5Gbit/s ", None)
    assert (least.upper, least.bound, least.scale) == (False, 5e9, 5e9)
    assert least.excess(4e9) == pytest.approx(0.2) and least.met(5e9 * (1 - 1e-10)) and not least.met(4.99e9)
    assert least.at(1e9).bound == 1e9 and least.text.startswith("throughput >= 5")
    for sign, upper in (("<", True), ("=<", True), ("\u2264", True), (">", False), ("=>", False), ("\u2265", False)):
        assert read_constraint(f"p99 {sign} 3us", None).upper is upper
    assert read_objective("p99", None).cost(2.0) == 2.0 and read_objective(None, "rate").cost(2.0) == -2.0
    assert read_objective("p99", None).text == "minimise p99" and read_objective(None, "rate").text == "maximise rate"


def test_every_fault_of_bounds_is_told():
    with pytest.raises(ConfigError) as error:
        read_constraints(["p98 <= 3us", "cpu <= -1", "loss <= x", "cpu", "cpu <= 1"], None)
    assert len(error.value.faults) == 4
    with pytest.raises(ConfigError):
        read_constraint("transactions >= 5", scenario(path="vf", workload="stream", profile="generic"))
    for pair in ((None, None), ("p99", "rate")):
        with pytest.raises(ConfigError, match="one objective"):
            read_objective(*pair)


def test_packets_that_come_to_a_quiet_throttle_do_not_wait():
    a = 0.5  # packets in a timer; the share that waits is a / (a + exp(-a)), evenly over the timer
    waiting = a / (a + math.exp(-a))
    for p in (0.2, 0.9 * (1 - waiting), 1 - 0.5 * waiting, 0.99):
        expected = max(0.0, 1 - (1 - p) / waiting) * 1e-3
        assert throttle_percentile(a / 1e-3, 1e-3, p) == pytest.approx(expected, abs=1e-12)


def test_stages_are_listed_up_to_a_few():
    names = [f"s{i}" for i in range(MOST_STAGES + 2)]
    assert _listed(names[:MOST_STAGES]) == ", ".join(names[:MOST_STAGES])
    assert _listed(names) == ", ".join(names[:MOST_STAGES]) + " and 2 more"


def test_some_settings_act_on_the_law_of_one_workload_alone():
    trips, stream = (scenario(path="virtio-vhost", workload=w, profile="generic") for w in ("rr", "stream"))
    own = {name for name, workload in ONLY_FOR.items() if workload == "stream" and name not in POLLS}
    assert own and all(_is_law(stream, name) and not _is_law(trips, name) for name in own)
    assert not any(_is_law(trips, name) for name in POLLS)


def test_who_waits_for_whom_is_told_by_the_slower_side():
    assert _notification_regime({"a": 1.0}, None) == _notification_regime({"a": 1.0}, "b") == "pipeline"
    assert _notification_regime({"a": 1.0}, "a").startswith("slow producer")
    assert _notification_regime({"a": 1.0, "b": 1.0}, "a").startswith("slow producer")
    assert _notification_regime({"a": 1.0, "b": 2.0}, "a").startswith("slow consumer")


def test_a_ring_is_full_only_behind_a_sender_that_is_faster():
    for path, batch in (("virtio-user", 1), ("virtio-user", 64), ("vhost-user", 64), ("dpdk", 32)):
        answer = predict(path, workload="packets", size=64, batch=batch, profile="generic")
        sender = next(row.resource for row in answer.shares if row.resource is not None)
        told = "the sender is the slowest" if answer.bottleneck == sender else "the ring is full"
        assert told in answer.regime, (path, batch, answer.regime, answer.bottleneck)


@pytest.mark.parametrize(
    ("workload", "head"), [("rr", "Mean round-trip latency [s]"), ("stream", "Messages per second [1/s]")]
)
def test_the_written_function_says_what_it_answers(workload, head):
    answer = predict("virtio-vhost", workload=workload, topology="host-vm", profile="generic")
    assert f"{head} of virtio-vhost, host-vm, {workload}, on generic." in closed_form(answer).python


def test_requests_in_flight_pay_stages_queueing_and_a_timer_that_locks_them():
    answer = predict("vhost-user", workload="rr", in_flight=16, profile="generic")
    assert sum(row.seconds for row in answer.shares) == pytest.approx(answer.latency_s)
    assert "queueing" in {row.stage for row in answer.shares}
    assert answer.transactions_per_s == pytest.approx(16 / answer.latency_s)  # Little
    held = predict("vf", workload="rr", in_flight=2, rx_usecs=500, device="ixgbevf", profile="generic")
    assert "locked to the interrupt throttle" in held.regime
    assert held.latency_s == pytest.approx(500e-6, rel=0.01)


def test_a_message_in_pieces_is_paid_whole_at_the_slowest_resource():
    for path in ("virtio-vhost", "vhost-user", "native"):
        small, large = (predict(path, workload="rr", size=size, profile="generic") for size in (1024, 262144))
        assert large.latency_s > max(large.demands_s.values()) > 2 * max(small.demands_s.values())


def test_nothing_is_busier_than_all_the_time_far_beyond_capacity():
    for path in ("virtio-user", "vhost-user", "virtio-vhost"):
        answer = predict(path, workload="packets", load=1e9, profile="generic")
        assert max(answer.busy.values()) <= 1 + 1e-9
