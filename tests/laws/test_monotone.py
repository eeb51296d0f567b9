"""Laws of more and less: dearer stages, larger messages, faster wires, longer timers, polling, requests in flight."""

import itertools
import math

import pytest

from tests.strategies import combinations, label, of_workload, outcome, used_parameters
from vmodel.library import tables
from vmodel.solve.ask import predict

EXACT = 1e-12
DEARER = {"s": 1.5, "B/s": 1 / 1.5}  # factors that make a cost of this unit larger
SIZES = (1, 64, 65, 500, 1448, 1449, 2048, 4096, 4097, 9000, 30_000, 65_483, 65_537, 131_072, 1_000_000)
LINKS = (0.01, 0.1, 1, 2.5, 10, 25, 100)
TIMERS_US = (10, 20, 50, 125, 500, 1000)  # ordinary values of every driver, no modes
POLLS_US = (0, 1, 10, 50, 200, 1000, 1e6)
POLLS = ("busy_poll", "halt_poll", "worker_poll")
US = 1e-6
NIC_PATHS = [p for p in tables.path_names() if tables.endpoint(p).device != "none"]
OFF = {"rx_usecs": 0, "pf_rx_usecs": 0}
THROTTLED, HELD_OFF = "igbvf", "virtio_coal"


def never_falls(values):
    return all(b >= a * (1 - EXACT) for a, b in itertools.pairwise(values))


def never_rises(values):
    return never_falls([-v for v in values]) if values[0] < 0 else never_falls(list(reversed(values)))


def test_a_dearer_stage_never_helps(path):
    for settings in combinations(path):
        before = outcome(path, profile="generic", **settings)
        for parameter in used_parameters(path, **settings):
            factor = DEARER.get(tables.priors()[parameter].unit)
            if factor is None:
                continue
            after = outcome(path, {parameter: factor}, profile="generic", **settings)
            if settings["workload"] == "rr":
                assert after.latency_s >= before.latency_s * (1 - EXACT), (parameter, settings)
            assert after.rate_per_s <= before.rate_per_s * (1 + EXACT), (parameter, settings)


@pytest.mark.parametrize("offload", [True, False])
def test_a_larger_message_never_takes_less_time(path, offload):
    for settings in combinations(path):
        found = [outcome(path, size=size, tso=offload, gro=offload, **settings) for size in SIZES]
        if settings["workload"] == "rr":
            assert never_falls([o.latency_s for o in found]), settings
        assert never_rises([o.rate_per_s for o in found]), settings


def test_a_faster_wire_never_lowers_throughput(path):
    for settings in combinations(path):
        assert never_falls([outcome(path, link_gbps=g, **settings).rate_per_s for g in LINKS]), settings


@pytest.mark.parametrize("device", ["igb", "igbvf", "ixgbevf", "dwmac", "virtio_coal"])
@pytest.mark.parametrize("path", NIC_PATHS)
def test_a_longer_timer_never_shortens_a_ping_pong(path, device):
    for settings in of_workload(path, "rr"):
        asked = {"device": device, "profile": "e5620-82576-2011", **settings}
        assert never_falls([outcome(path, rx_usecs=us, **asked).latency_s for us in TIMERS_US]), settings


@pytest.mark.parametrize("knob", POLLS)
def test_polling_never_lengthens_a_ping_pong(path, knob):
    for settings in of_workload(path, "rr"):
        latencies = [outcome(path, **settings, **{knob: us}).latency_s for us in POLLS_US]
        assert never_rises(latencies), settings


def test_more_requests_in_flight_never_lower_rate_or_latency(path):
    for settings in of_workload(path, "rr"):
        found = [outcome(path, in_flight=n, **settings) for n in (1, 2, 3, 8, 32, 128)]
        assert never_falls([o.latency_s for o in found]), settings
        assert never_falls([o.rate_per_s for o in found]), settings
        assert all(o.rate_per_s <= o.upper_rate_per_s * (1 + EXACT) for o in found[1:]), settings


def test_more_queues_and_flows_never_lower_capacity(path):
    for settings in of_workload(path, "stream", "packets"):
        rates = [outcome(path, queues=n, flows=4 * n, vcpus=n, **settings).rate_per_s for n in (1, 2, 4, 16)]
        assert never_falls(rates), settings


def test_a_larger_window_never_lowers_throughput(path):
    for settings in of_workload(path, "stream"):
        windows = (1024, 4096, 65_536, 1 << 20, 1 << 26)
        assert never_falls([outcome(path, socket_buffer_bytes=w, **settings).rate_per_s for w in windows]), settings


def test_one_request_in_flight_takes_the_sum_of_all_stages_both_ways(path):
    for settings in of_workload(path, "rr"):
        answer = predict(path, **settings, **OFF, device=THROTTLED, profile="e5620-82576-2011")
        waits = sum(s.seconds for s in answer.shares if s.stage == "moderation_wait")
        stages = [s for s in answer.shares if s.stage != "moderation_wait"]
        assert {s.direction for s in stages} == {"there", "back"}, label(answer)
        assert sum(s.seconds for s in stages) + waits == pytest.approx(answer.latency_s, rel=EXACT), label(answer)
        assert all(s.stage != "queueing" for s in stages), label(answer)


@pytest.mark.parametrize("us", [10, 100, 300, 5000])
@pytest.mark.parametrize("path", ["vf", "native-vf", "vdpa"])
def test_a_throttle_locks_a_ping_pong(path, us):
    for settings in of_workload(path, "rr"):
        asked = {"device": THROTTLED, "profile": "e5620-82576-2011", **settings}
        free = predict(path, **OFF, **asked).latency_s
        locked = predict(path, rx_usecs=us, **asked)
        assert locked.latency_s == pytest.approx(max(free, us * US), rel=EXACT), label(locked)
        assert ("locked" in locked.regime) == (us * US > free), label(locked)


@pytest.mark.parametrize("us", [10, 100, 300])
@pytest.mark.parametrize(
    ("path", "topology"), [("vf", "cross-vm-vm"), ("vf", "vm-vm"), ("native-vf", "cross-host-host")]
)
def test_a_hold_off_adds_its_time_at_each_receiving_end(path, topology, us):
    asked = {"device": HELD_OFF, "topology": topology, "workload": "rr"}
    free = predict(path, rx_usecs=0, **asked).latency_s
    held = predict(path, rx_usecs=us, **asked)
    assert held.latency_s == pytest.approx(free + 2 * us * US, rel=EXACT)
    assert "hold-off" in held.regime


@pytest.mark.parametrize("frames", [1, 2])
def test_a_cap_of_one_frame_ends_a_hold_off_at_once(frames):
    asked = {"topology": "cross-vm-vm", "workload": "rr", "device": HELD_OFF}
    free = predict("vf", rx_usecs=0, **asked).latency_s
    capped = predict("vf", rx_usecs=100, rx_frames=frames, **asked).latency_s
    assert capped == pytest.approx(free if frames == 1 else free + 2 * 100 * US, rel=EXACT)


def test_long_polling_leaves_no_wake_up_in_a_ping_pong(path):
    for settings in of_workload(path, "rr"):
        asleep = predict(path, **settings, **OFF, device=THROTTLED, profile="e5620-82576-2011")
        awake = predict(
            path, **settings, **OFF, device=THROTTLED, profile="e5620-82576-2011", **dict.fromkeys(POLLS, 1e6)
        )
        woken = {s.stage for s in awake.shares if s.seconds > 0}
        assert not woken & {"app_wake", "vcpu_wake", "worker_wake", "io_thread_wake"}, label(awake)
        assert math.isclose(awake.latency_s, asleep.latency_s) or awake.latency_s < asleep.latency_s, label(awake)
