"""predict: elasticities, intervals, standing, warnings and bottleneck, each against a second way to find it."""

import math
from dataclasses import replace

import numpy
import pytest

from tests.strategies import combinations, label, outcome
from vmodel.config import scenario
from vmodel.library import tables
from vmodel.library.profile import profile, value_of
from vmodel.solve import compose
from vmodel.solve.ask import predict
from vmodel.solve.doubt import UNSEEN_LOG_SD, UNSEEN_TOPOLOGY_LOG_SD
from vmodel.solve.solver import NORMAL_90
from vmodel.sources import ASSUMED, FITTED, TRANSFERRED

STEP = 1e-6
SMALL = 0.02  # from here on a kink within a small step does not matter
US = 1e-6


def test_elasticities_are_what_a_small_change_of_a_parameter_gives(path):
    for chosen in combinations(path):
        answer = predict(path, profile="generic", **chosen)
        target = "latency_s" if chosen["workload"] == "rr" else "rate_per_s"
        for name, elasticity in answer.elasticities.items():
            if abs(elasticity) > SMALL:
                up, down = (
                    getattr(outcome(path, {name: f}, profile="generic", **chosen), target) for f in (1 + STEP, 1 - STEP)
                )
                slope = (math.log(up) - math.log(down)) / (2 * STEP)
                assert elasticity == pytest.approx(slope, rel=1e-3), (name, label(answer))


def test_intervals_are_ninety_per_cent_of_a_log_normal_law():
    answer = predict("vf", workload="rr")
    spread = math.exp(1.6448536269514722 * answer.log_sd)
    assert pytest.approx(1.6448536, abs=1e-7) == NORMAL_90
    assert answer.latency_interval_s.low == pytest.approx(answer.latency_s / spread)
    assert answer.latency_interval_s.high == pytest.approx(answer.latency_s * spread)


def test_spread_is_that_of_the_parameters_and_of_a_path_never_seen():
    apart = replace(profile("generic"), correlated=(), covariance=(), seen={})
    answer = predict("veth", profile=apart, topology="loopback", workload="rr")
    own = sum((e * value_of(apart, name).log_error) ** 2 for name, e in answer.elasticities.items())
    assert answer.log_sd == pytest.approx(math.sqrt(own + UNSEEN_LOG_SD**2))


def test_spread_uses_the_covariance_of_a_fit():
    found = profile("e5620-82576-2011")
    answer = predict("vf", profile=found.name, topology="vm-vm", workload="rr", rx_usecs=10)
    order = {name: i for i, name in enumerate(found.correlated)}
    full = numpy.zeros((len(order), len(order)))
    for i, row in enumerate(found.covariance):
        full[i, : i + 1] = full[: i + 1, i] = row
    slope = numpy.array([answer.elasticities.get(name, 0.0) for name in order])
    other = sum((e * value_of(found, n).log_error) ** 2 for n, e in answer.elasticities.items() if n not in order)
    model = found.seen["vf/rr"].log_sd ** 2
    assert answer.log_sd**2 >= slope @ full @ slope + other + model - 1e-12


def test_a_parameter_of_ones_own_is_certain():
    apart = replace(profile("generic"), seen={})
    free = predict("veth", profile=apart, workload="rr")
    names = {name: value_of(apart, name).value for name in free.elasticities}
    assert predict("veth", profile=apart, workload="rr", **names).log_sd == pytest.approx(UNSEEN_LOG_SD)


def test_what_only_other_machines_told_of_a_path_is_its_model_error_and_never_a_comparison():
    known = profile("e5620-82576-2011")
    from_others = replace(known, seen={k: replace(s, rows=0, log_sd=0.4) for k, s in known.seen.items()})
    answer = predict("vf", profile=from_others, workload="rr")
    assert any("never compared" in w for w in answer.warnings)
    assert answer.log_sd > 0.4


def test_what_was_not_measured_is_said_and_widens_the_interval():
    seen = predict("virtio-vhost", profile="vsock-2019", topology="host-vm", workload="stream")
    elsewhere = predict("virtio-vhost", profile="vsock-2019", topology="cross-vm-vm", workload="stream")
    assert not any("topology" in w for w in seen.warnings)
    assert any("topology cross-vm-vm was not measured" in w for w in elsewhere.warnings)
    larger = predict("virtio-vhost", profile="vsock-2019", topology="host-vm", workload="stream", size=1 << 24)
    assert any("extrapolated" in w for w in larger.warnings)
    never = predict("virtio-vhost", profile="vsock-2019", topology="host-vm", workload="rr")
    assert any("never compared" in w for w in never.warnings)
    assert UNSEEN_TOPOLOGY_LOG_SD > 0


def test_standing_is_the_worst_that_matters():
    assert predict("dpdk", profile="generic").standing == ASSUMED
    fitted = predict("vsock", profile="vsock-2019", workload="stream").standing
    assert fitted in (FITTED, ASSUMED, TRANSFERRED)


def test_bottleneck_is_the_resource_with_the_largest_demand(path):
    for chosen in combinations(path):
        answer = predict(path, **chosen)
        if answer.bottleneck not in ("window", "interrupt moderation"):
            assert answer.demands_s[answer.bottleneck] == max(answer.demands_s.values()), label(answer)


def test_a_locked_ping_pong_blames_the_moderation():
    answer = predict("vf", rx_usecs=1000, device="igbvf", workload="rr")
    assert (answer.bottleneck, answer.slack) == ("interrupt moderation", 0.0)


def test_a_small_window_is_the_bottleneck_and_bounds_throughput():
    answer = predict("virtio-vhost", workload="stream", socket_buffer_bytes=1024, size=1024)
    free = predict("virtio-vhost", workload="stream", size=1024)
    assert answer.bottleneck == "window" and answer.throughput_bps < free.throughput_bps
    assert 0 < answer.slack < 1


def test_a_fast_link_is_not_the_bottleneck_and_a_slow_one_is():
    slow = predict("native", workload="stream", link_gbps=0.01, size=65_536)
    assert slow.bottleneck.startswith("wire")
    assert slow.throughput_bps < 0.01e9
    assert slow.throughput_bps == pytest.approx(0.01e9 * 1448 / (1448 + 52 + 18 + 20), rel=1e-9)


def test_64_byte_frames_reach_14_88_million_a_second_on_ten_gigabit():
    cheap = {name: 1e-12 for name, prior in tables.priors().items() if prior.unit == "s"}
    fast = {name: 1e14 for name, prior in tables.priors().items() if prior.unit == "B/s"}
    answer = predict("dpdk", size=64, link_gbps=10, profile="generic", **cheap, **fast)
    assert answer.rate_pps == pytest.approx(10e9 / (84 * 8)) and answer.rate_pps == pytest.approx(14.88e6, rel=1e-3)


def test_cpu_is_split_between_host_and_guest():
    answer = predict("virtio-vhost", workload="stream", topology="host-vm")
    guest = sum(v for k, v in answer.busy.items() if k.startswith("guest vCPU"))
    assert answer.cpu_guest == pytest.approx(guest) and answer.cpu_host > 0
    assert predict("loopback", workload="stream").cpu_guest == 0


def test_polls_cover_the_share_of_a_gap_that_their_window_lasts():
    asked = scenario(path="virtio-vhost", profile="generic", workload="rr", halt_poll=10)
    cycle = predict("virtio-vhost", profile="generic", workload="rr").latency_s
    polled = outcome("virtio-vhost", profile="generic", workload="rr", halt_poll=10).latency_s
    wakes = sum(
        n.stage == "vcpu_wake" for w in (compose.scenario_ways(asked),) for c in (w.forward, w.reverse) for n in c.nodes
    )
    wake = compose.parameter_values(asked)["vcpu_wake_s"]
    assert polled == pytest.approx(cycle - wakes * wake * min(1.0, 10 * US / cycle))


def test_a_breakdown_names_resources_as_the_busy_table_does(path):
    for chosen in combinations(path):
        answer = predict(path, **chosen)
        found = {share.resource for share in answer.shares if share.resource is not None and share.stage != "full_ring"}
        assert found <= set(answer.busy), label(answer)
