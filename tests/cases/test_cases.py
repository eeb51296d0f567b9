"""Public reports posed as questions: each is answered in direction and within the factor that its test states.

The machines are not ours, so every question goes to the generic profile, which knows no measurement at all. What a
report contradicts stands in docs/cases.md, not here.
"""

import ast
import re
from pathlib import Path

import pytest

import vmodel
from tests.claims.asking import ask as ask_any
from vmodel.errors import VmodelError

GENERIC = "generic"
TABLE = Path(__file__).resolve().parents[2] / "docs" / "cases.md"
NUMBERS = [f"C{n:02}" for n in (1, 4, 5, 7, 9, 11, 13, 15, 17, 19, 21, 24, 25, 26, 28, 30, 32, 34, 36, 38, 40)]
NUMBERS += ["C44", "C45", "C46", "C47", "C49"]
FAST_PCIE = {"pcie_bytes_s": 12.5e9, "link_gbps": 100}  # so that slot and wire of a 100G NIC are not what limits
PLAIN = {"tso": False, "gro": False}


def ask(path, **settings):
    return ask_any(path, profile=GENERIC, **settings)


def gbps(path, **settings):
    return ask(path, workload="stream", **{"size": 65536, **settings}).throughput_bps / 1e9


def us(path, **settings):
    return ask(path, workload="rr", size=64, **settings).latency_s * 1e6


def within(predicted, reported, factor):
    """Whether a prediction lies within a factor of a reported figure."""
    return 1 / factor <= predicted / reported <= factor


def test_case_01_a_lone_packet_waits_the_whole_hold_off_timer_of_the_side_that_was_changed():
    """0.605 ms at 393 us, 0.270 ms at 50 us: 335 us for 343 us of timer."""
    board = dict(device="dwmac", peer="native", link_gbps=1)  # the peer keeps its own driver's default
    gain = us("native-vf", rx_usecs=393, **board) - us("native-vf", rx_usecs=50, **board)
    assert gain == pytest.approx(343, rel=0.10) and within(gain, 335, 1.1)


def test_case_04_a_setting_that_the_device_ignores_changes_nothing_and_is_said_so():
    """No change in latency on a generation without moderation; on another it works."""
    peer = dict(pf_rx_usecs=0)
    deaf = [us("vf", device="ena_unmoderated", rx_usecs=u, **peer) for u in (0, 64, 200)]
    assert deaf[0] == deaf[1] == deaf[2]
    answer = ask("vf", workload="rr", size=64, device="ena_unmoderated", rx_usecs=64, **peer)
    assert any("not honoured" in w for w in answer.warnings)
    heard = [us("vf", device="ena", rx_usecs=u, **peer) for u in (0, 64, 200)]
    assert heard[1] - heard[0] == pytest.approx(64, rel=0.05) and heard[2] - heard[0] == pytest.approx(200, rel=0.05)


def test_case_05_moderation_lowers_interrupts_and_cpu_and_leaves_throughput():
    """Throughput the same in every scenario, fewer interrupts."""
    load = dict(workload="packets", size=88, load=100_000, device="ena")
    off, on = ask("vf", adaptive_rx=False, rx_usecs=0, **load), ask("vf", adaptive_rx=False, rx_usecs=64, **load)
    assert on.throughput_bps == pytest.approx(off.throughput_bps, rel=0.001)
    assert on.interrupts_per_s < off.interrupts_per_s
    assert on.cpu_guest + on.cpu_host < off.cpu_guest + off.cpu_host
    bulk = [gbps("vf", device="ena", size=88, mtu=140, adaptive_rx=a, **PLAIN) for a in (False, True)]
    assert bulk[0] == bulk[1]


def test_case_09_with_polling_a_guest_is_nearly_as_fast_as_its_host():
    """Host 31.3, polling host 33.4, polling guest 32.7: the guest within a fifth, the two ways of polling close."""
    nic = dict(device="ena", rx_usecs=0)
    host, halted = us("native", **nic), us("vf", **nic)
    polled = us("vf", halt_poll=300, **nic)
    inside = us("vf", halt_poll=300, posted_interrupts=True, irq_affinity=True, **nic)
    assert inside < polled < halted and host < polled < 1.2 * host
    assert within(inside / host, 32.73 / 31.33, 1.1) and within(polled / host, 33.40 / 31.33, 1.15)


def test_case_11_latency_and_throughput_of_a_user_space_device_are_not_linked():
    """76 us for a round trip over the same queue that carries tens of gigabits."""
    local = dict(topology="host-vm")
    trip = us("virtio-qemu", **local)
    assert within(trip, 76.0, 1.6)
    flow = gbps("virtio-qemu", direction="from-vm", **local)
    assert within(flow, 50.7, 3)
    assert flow * 1e9 * trip * 1e-6 / 8 > 2 * 65536  # far more than a message for a round trip


def test_case_13_one_path_has_one_round_trip_and_only_a_timer_doubles_it():
    """TCP 50 to 60 us; UDP jumped from 45 to above 100 us with another driver."""
    tcp, lighter = (us("vf", device="ena", rx_usecs=0, pf_rx_usecs=0, timestamps=t) for t in (True, False))
    assert within(tcp, 55, 1.5) and abs(tcp - lighter) < 5
    assert us("vf", device="ena", rx_usecs=64, pf_rx_usecs=0) > 1.6 * tcp


def test_case_15_one_core_serves_one_queue_and_eight_queues_gain_less_than_eight_times():
    """2 to 13 Gbit/s, a gain of 6.5."""
    overlay = dict(topology="cross-vm-vm", mtu=1400, vcpus=8, **PLAIN, **FAST_PCIE)
    one = ask("virtio-vhost", workload="stream", size=65536, queues=1, flows=16, **overlay)
    assert one.bottleneck.startswith(("guest vCPU", "vhost worker"))
    gain = gbps("virtio-vhost", queues=8, flows=16, **overlay) / (one.throughput_bps / 1e9)
    assert within(gain, 6.5, 1.5) and gain < 8
    assert gbps("virtio-vhost", queues=8, flows=1, **overlay) == pytest.approx(one.throughput_bps / 1e9)
    assert gbps("native", mtu=1400, **FAST_PCIE) > gbps("virtio-vhost", queues=8, flows=16, **overlay)


def test_case_17_a_second_queue_gives_a_single_flow_nothing():
    """Transmit 496k with one pair, 530k with two; receive 237k and 241k: inside the spread."""
    for d in ("from-vm", "to-vm"):
        asked = dict(workload="packets", size=64, topology="host-vm", direction=d, flows=1, vcpus=4)
        one, two = (ask("virtio-qemu", queues=q, **asked).rate_pps for q in (1, 2))
        assert one == two
    assert within(ask("virtio-qemu", **{**asked, "direction": "to-vm"}).rate_pps, 237_218, 2)


def test_case_19_a_forwarding_vm_pays_reception_and_transmission_and_flows_do_not_help():
    """About 2 Gbit/s through one queue, one instance or many."""
    asked = dict(workload="packets", size=1500, topology="cross-host-vm")
    into, out = (ask("virtio-vhost", direction=d, **asked) for d in ("to-vm", "from-vm"))
    both = 1 / (into.demands_s["guest vCPU"] + out.demands_s["guest vCPU"])
    assert within(both * 1500 * 8 / 1e9, 2.0, 1.5)
    assert both < 0.65 * min(into.rate_pps, out.rate_pps)
    assert ask("virtio-vhost", flows=100, **asked).rate_pps == into.rate_pps
    spread = ask("virtio-vhost", flows=100, queues=4, vcpus=4, **asked)
    assert spread.demands_s["guest vCPU"] < 0.5 * into.demands_s["guest vCPU"]


def test_case_21_one_queue_pair_stays_far_below_bare_metal_and_eight_give_several_times_more():
    """60 to 70 % below bare metal with one pair; 28.9 Gbit/s with eight."""
    asked = dict(topology="cross-host-vm", vcpus=8, flows=8, **FAST_PCIE)
    one, eight = (gbps("virtio-vhost", queues=q, **asked) for q in (1, 8))
    assert 0.55 < 1 - one / gbps("native", **FAST_PCIE) < 0.75
    assert eight > 2 * one and within(eight, 28.9, 1.5)


def test_case_24_a_single_stream_does_not_care_for_sixteen_queues():
    """10 to 14 Gbit/s over a 100G NIC."""
    asked = dict(topology="cross-host-vm", vcpus=16, **FAST_PCIE)
    single = gbps("virtio-vhost", queues=16, flows=1, **asked)
    assert single == gbps("virtio-vhost", queues=1, flows=1, **asked)
    assert within(single, 12, 1.5)
    assert gbps("virtio-vhost", queues=16, flows=16, **asked) > 2 * single


def test_case_25_no_penalty_for_processors_is_made_up():
    """Another hypervisor, where 16 processors were slower than 8: nothing that is known of ours says so."""
    rates = {v: gbps("virtio-vhost", topology="vm-vm", vcpus=v) for v in (4, 8, 16)}
    assert rates[4] == rates[8] == rates[16]


def test_case_26_without_segmentation_offload_the_packets_of_a_tap_limit_a_stream():
    """4.21 Gbit/s (2.4 to 4.9), another VM two to three times as much."""
    asked = dict(topology="cross-host-vm")
    for d in ("to-vm", "from-vm"):
        plain = ask("virtio-vhost", workload="stream", size=65536, direction=d, **PLAIN, **asked)
        assert within(plain.throughput_bps / 1e9, 4.21, 1.7) and plain.bottleneck != "wire"
        full = ask("virtio-vhost", workload="stream", size=65536, direction=d, **asked)
        assert full.bottleneck == "wire" and full.throughput_bps > 9e9


def test_case_28_without_offloads_a_larger_mtu_helps_by_less_than_its_size():
    """4 to 9.5 Gbit/s from MTU 1500 to 9000; guests with offloads 18 to 25."""
    small, large = (gbps("virtio-vhost", topology="vm-vm", mtu=m, **PLAIN) for m in (1500, 9000))
    assert 1 < large / small < 6 and within(large / small, 9.5 / 4, 1.3)
    full = gbps("virtio-vhost", topology="vm-vm")
    assert full > 2 * small and within(full, 20, 1.5)


def test_case_30_datagrams_through_a_user_space_device_are_not_tcp():
    """1 to 2 Gbit/s in frames of 1500 bytes, 0.1 to 0.17 Mpps, where TCP has tens of gigabits."""
    for d in ("to-vm", "from-vm"):
        asked = dict(topology="host-vm", direction=d)
        frames = ask("virtio-qemu", workload="packets", size=1472, **asked)
        assert within(frames.rate_pps, 130e3, 2) and within(frames.throughput_bps / 1e9, 1.5, 2)
        assert gbps("virtio-qemu", **asked) > 4 * frames.throughput_bps / 1e9


def test_case_32_a_tap_with_vhost_carries_14_gigabits():
    """1800 MB/s; the user-mode network it was compared with is no path of ours."""
    assert within(gbps("virtio-vhost", topology="host-vm"), 14.4, 1.25)
    with pytest.raises(VmodelError, match="slirp"):
        vmodel.predict("slirp")


def test_case_34_a_larger_mtu_that_is_in_force_shows_where_packets_limit():
    """1.54 to 1.60 Gbit/s: so small a gain means that it is not in force, or that something else limits."""
    asked = dict(topology="cross-host-vm")
    bound = [gbps("virtio-vhost", mtu=m, **PLAIN, **asked) for m in (1500, 9000)]
    assert bound[1] > 1.4 * bound[0]
    wired = [gbps("virtio-vhost", mtu=m, **asked) for m in (1500, 9000)]
    assert 1 < wired[1] / wired[0] < 1.06


def test_case_36_an_emulated_card_ends_below_a_gigabit_and_virtio_is_the_first_advice():
    """1.14 Gbit/s out, 2 Mbit/s in."""
    into, out = (gbps("emulated-rtl8139", direction=d) for d in ("to-vm", "from-vm"))
    assert out < 1.2 and within(into, out, 1.5)  # so 500 times between the directions is a fault on top
    assert gbps("virtio-vhost") > 10 * max(into, out)


def test_case_38_zero_copy_frees_the_processor_and_leaves_a_full_wire():
    """Throughput the same; nothing gained with small packets."""
    asked = dict(topology="cross-host-vm", direction="from-vm")
    copied, zero = (ask("virtio-vhost", workload="stream", size=65536, zero_copy=z, **asked) for z in (False, True))
    assert copied.throughput_bps == zero.throughput_bps and zero.cpu_host < copied.cpu_host
    small = [ask("virtio-vhost", workload="packets", size=64, zero_copy=z, **asked) for z in (False, True)]
    assert small[1].rate_pps <= small[0].rate_pps and small[1].cpu_host >= small[0].cpu_host


def test_case_40_four_gigabit_ports_do_not_fit_through_one_lane():
    """3.06 Gbit/s in sum. 5 GT/s coded 8b/10b are 500 MB/s; 128 B of payload carry 24 B of packet overhead."""
    lane = 5e8 * 128 / (128 + 24)
    sum_of_ports = ask("native", workload="stream", size=65536, link_gbps=4, pcie_bytes_s=lane)
    assert sum_of_ports.bottleneck.startswith("PCIe link")
    assert 3.0 <= sum_of_ports.throughput_bps / 1e9 <= 3.3 < 4 * gbps("native", link_gbps=1)


def test_case_45_a_longer_ring_loses_less_and_carries_the_same():
    """127 losses with 256 entries, none with 1024; 1118 MB/s (of 2^20) either way."""
    asked = dict(topology="cross-host-vm", workload="packets", size=1500)
    most = ask("virtio-vhost", **asked).rate_pps
    short, long = (ask("virtio-vhost", load=0.99 * most, ring_size=r, **asked) for r in (256, 1024))
    assert short.loss > 10 * long.loss > 0 and short.rate_pps == pytest.approx(long.rate_pps, rel=0.01)
    bursts = [ask("virtio-vhost", load=0.5 * most, burst=64, ring_size=r, **asked).loss for r in (256, 1024)]
    assert bursts[0] > 1e-3 > 1e-6 > bursts[1]  # at half the load already, when frames come in bursts
    bulk = dict(topology="cross-host-vm", queues=8, flows=32, vcpus=16)
    rates = [gbps("virtio-vhost", ring_size=r, **bulk) for r in (256, 1024)]
    assert rates[0] == rates[1] and within(rates[0], 1118.5 * 2**20 * 8 / 1e9, 1.01)


def test_case_46_half_a_million_frames_are_neither_the_wires_nor_a_polling_cores_limit():
    """500 kpps of 64 B on a 10G instance at 2 % CPU."""
    most = ask("dpdk", workload="packets", size=64)
    assert most.rate_pps / 1e6 == pytest.approx(14.88, rel=0.001) and most.bottleneck == "wire"
    asked = ask("dpdk", workload="packets", size=64, load=500_000)
    assert asked.loss < 1e-6 and asked.busy["wire"] < 0.05 and not asked.saturated


@pytest.mark.parametrize(
    ("link", "mtu", "stamps", "expected"),
    [(1, 1500, True, 0.9415), (1, 1500, False, 0.9493), (10, 1500, True, 9.415), (10, 9000, True, 9.900)],
)
def test_case_47_goodput_counts_payload_alone(link, mtu, stamps, expected):
    """941.5 Mbit/s of payload with time stamps, 949.3 without."""
    assert gbps("native", size=2**20, link_gbps=link, mtu=mtu, timestamps=stamps) == pytest.approx(expected, rel=5e-4)


def test_case_49_one_thread_cannot_fill_100_gigabits():
    """35.2 Gbit/s by a tool with one thread for 16 streams."""
    one = ask("native", workload="stream", size=131072, flows=1, **FAST_PCIE)
    assert one.bottleneck.startswith("host CPU") and within(one.throughput_bps / 1e9, 35.2, 1.6)


def listed():
    """Number -> how it is shown, of every row of the first table."""
    answered = TABLE.read_text("utf-8").partition("## Not answered")[0]
    rows = [[c.strip() for c in line.strip().strip("|").split("|")] for line in answered.splitlines()]
    return {r[0]: r[-1] for r in rows if re.fullmatch(r"C\d\d", r[0])}


def written():
    """Names of the tests of cases."""
    names = [n.name for n in ast.parse(Path(__file__).read_text("utf-8")).body if isinstance(n, ast.FunctionDef)]
    return {n for n in names if n.startswith("test_case_")}


def test_the_table_lists_every_case_once_with_its_test_or_a_reason():
    assert list(listed()) == NUMBERS
    for number, shown in listed().items():
        named = set(re.findall(r"`(test_\w+)`", shown))
        assert named == {t for t in written() if t.startswith(f"test_case_{number[1:]}_")}, number
        assert named or (shown.startswith("no test: ") and len(shown) > 20), number
