"""Questions asked in the documents that a prediction answers, by their number in docs/claims.md."""

import pytest

from tests.claims.asking import (
    BLADE,
    DELL,
    NOISE_2011,
    NOISE_2019,
    VSOCK_HOST,
    ask,
    bus_per_byte,
    close,
    demand,
    mbps,
    names,
    pps,
    rising,
    seconds,
    us,
)


def test_question_01_should_a_vf_generally_win():
    wins = {
        t: us("vf", topology=t, rx_usecs=10) < us("virtio-vhost", topology=t)
        for t in ("host-vm", "cross-host-vm", "cross-vm-vm")
    }
    assert wins == {"host-vm": False, "cross-host-vm": True, "cross-vm-vm": True}


def test_question_02_what_makes_a_vf_faster():
    base = us("vf")
    assert us("vf", rx_usecs=10) < 0.5 * base
    tuned = dict(rx_usecs=10, irq_affinity=True, posted_interrupts=True, halt_poll=200)
    assert us("vf", **tuned) < 0.8 * us("vf", rx_usecs=10)
    p = ask("vf", workload="rr")
    assert p.bottleneck == "interrupt moderation"


def test_question_03_which_copies_are_on_which_path():
    copies = {
        (path, d): round(
            bus_per_byte(ask(path, workload="stream", topology="host-vm", direction=d, size=65536, profile=DELL)) / 2
        )
        for path in ("virtio-qemu", "virtio-vhost")
        for d in ("to-vm", "from-vm")
    }  # two of them between user space and kernel of the ends
    assert copies == {
        ("virtio-qemu", "to-vm"): 4,
        ("virtio-qemu", "from-vm"): 3,
        ("virtio-vhost", "to-vm"): 3,
        ("virtio-vhost", "from-vm"): 3,
    }


def test_question_04_a_dma_engine_differs_from_zero_copy_on_the_bus():
    asked = dict(workload="stream", direction="from-vm", size=65536, topology="cross-host-vm", link_gbps=40)
    plain, dma, zero = (ask("macvtap-vhost", **k, **asked) for k in ({}, {"dma_engine": True}, {"zero_copy": True}))
    assert demand(dma, "vhost worker") < demand(plain, "vhost worker") > demand(zero, "vhost worker")
    assert bus_per_byte(dma) == pytest.approx(bus_per_byte(plain)) and bus_per_byte(zero) < bus_per_byte(plain)


def test_question_05_vf_interrupts_pass_through_the_host():
    assert {"forwarded_interrupt", "interrupt_injection"} <= set(names(ask("vf", workload="rr")))


def test_question_06_how_much_of_the_latency_is_the_vfs():
    assert close(us("native-vf"), us("vf"), 0.01)
    assert close(us("pf", topology="cross-host-vm"), 185, NOISE_2011)
    assert us("vf", rx_usecs=10) - us("native", rx_usecs=10) == pytest.approx(84, rel=0.15)


def test_question_07_moderation_is_behind_185us():
    p = ask("native", workload="rr")
    assert p.bottleneck == "interrupt moderation"
    assert us("native", rx_usecs=10) < 0.65 * us("native")


def test_question_08_the_floor_of_a_native_pair_is_waking_up():
    p = ask("native", workload="rr", rx_usecs=10)
    assert close(p.latency_s * 1e6, 105, NOISE_2011)
    wakes = seconds(p, "idle_exit", "app_wake")
    assert wakes > 0.4 * p.latency_s and wakes > 2 * seconds(p, "wire")


def test_question_09_inside_one_host_the_vf_pays_for_the_adapter():
    vf, virtio = (ask(path, workload="rr", topology="host-vm", rx_usecs=10) for path in ("vf", "virtio-vhost"))
    hardware = seconds(
        vf, "pcie_link", "pcie_transit", "nic_dma", "embedded_switch", "end_interrupt", "nic_reap", "idle_exit"
    )
    assert vf.latency_s > virtio.latency_s and hardware > vf.latency_s - virtio.latency_s
    assert seconds(virtio, "pcie_link", "nic_dma") == 0


def _host_pair(direction, size):
    where = dict(profile=VSOCK_HOST, topology="host-vm", direction=direction, size=size)
    return mbps("virtio-qemu", mtu=65520, **where), mbps("virtio-vhost", **where)


@pytest.mark.parametrize("direction", ["to-vm", "from-vm"])
@pytest.mark.parametrize("size", [1024, 65536])
def test_question_10_vsock_beside_virtio_with_and_without_vhost(direction, size):
    qemu, vhost = _host_pair(direction, size)
    vsock = mbps("vsock", direction=direction, size=size)
    assert vsock > 0
    assert vhost >= (1 - NOISE_2019) * qemu  # a back end in the kernel does not lose to one in user space


def test_question_11_eleven_gigabits_towards_the_guest_are_the_workers_limit():
    p = ask("virtio-vhost", profile=VSOCK_HOST, workload="stream", size=262144)
    assert close(p.throughput_bps, 11e9, NOISE_2019) and p.bottleneck == "vhost worker"
    filling = seconds(p, "vhost_buffers", "vhost_copy_receive")
    assert filling > 0.8 * p.demands_s["vhost worker"]
    assert mbps("virtio-vhost", profile=VSOCK_HOST, size=262144, direction="from-vm") > 2 * 11_000


def test_question_12_the_bottleneck_of_kvm_pv_is_its_io_thread():
    p = ask("virtio-qemu", workload="stream", size=8192, profile=BLADE)
    assert p.bottleneck == "QEMU I/O thread"
    assert seconds(p, "qemu_receive") > 0.8 * p.demands_s["QEMU I/O thread"]


def test_question_13_copying_into_the_guest_can_exceed_flipping_pages():
    assert mbps("xen-hvm-pv", size=65536, profile=BLADE) > mbps("xen-pv", size=65536, profile=BLADE)
    flip = ask("xen-pv", workload="stream", size=65536, profile=BLADE)
    assert seconds(flip, "grant_flip") > seconds(
        ask("xen-hvm-pv", workload="stream", size=65536, profile=BLADE), "grant_copy"
    )


def test_question_16_the_stream_loses_on_transmit_and_not_on_receive():
    change = {
        d: pps("virtio-user", direction=d, size=s, batched_fetch=True) / pps("virtio-user", direction=d, size=s)
        for d, s in (("from-vm", 64), ("to-vm", 60))
    }
    assert change["from-vm"] < 1 < change["to-vm"]


def test_question_18_reception_pays_more_for_copy_tap_and_buffers():
    sent, received = (ask("virtio-user", workload="packets", direction=d, size=64) for d in ("from-vm", "to-vm"))
    gap = 1 / received.rate_pps - 1 / sent.rate_pps
    parts = {
        "copy": seconds(received, "vhost_copy_receive") - seconds(sent, "vhost_copy_send"),
        "tap": seconds(received, "tap_receive", "skb_free") - seconds(sent, "tap_send"),
        "vhost": seconds(received, "vhost_receive") - seconds(sent, "vhost_send"),
    }
    assert all(v > 0 for v in parts.values()) and sum(parts.values()) > 0.6 * gap


@pytest.mark.parametrize("direction", ["to-vm", "from-vm"])
def test_question_19_packet_sockets_keep_the_rate_below_a_million(direction):
    p = ask("af-packet", workload="packets", direction=direction, size=64)
    assert p.rate_pps < 1e6 and not p.bottleneck.startswith("vhost worker")
    assert max(p.demands_s["guest vCPU"], p.demands_s["host CPU"]) > 2 * demand(p, "vhost worker")


def test_question_20_a_generator_in_the_tap_is_lighter_than_a_packet_socket():
    generator = ask("virtio-user", workload="packets", direction="to-vm", size=60)
    sockets = ask("virtio-user", peer="af-packet-host", workload="packets", direction="to-vm", size=60)
    assert generator.rate_pps > sockets.rate_pps and sockets.bottleneck == "host CPU"


def test_question_21_64_is_not_too_large_and_one_is_not_none():
    sizes = (1, 4, 16, 64, 256)
    assert rising(pps("virtio-user", direction="from-vm", size=64, batched_fetch=True, batch=b) for b in sizes)
    one = pps("virtio-user", direction="from-vm", size=64, batched_fetch=True, descriptor_batch=0)
    assert one < 0.99 * pps("virtio-user", direction="from-vm", size=64)


@pytest.mark.parametrize("direction", ["to-vm", "from-vm"])
def test_question_22_the_worker_is_the_bottleneck(direction):
    p = ask("virtio-user", workload="packets", direction=direction, size=64)
    assert p.bottleneck.startswith("vhost worker") and p.slack == pytest.approx(0, abs=1e-9)


def test_question_23_memory_on_the_other_node_would_show():
    assert pps("virtio-user", direction="to-vm", numa_local=False) < 0.99 * pps("virtio-user", direction="to-vm")


@pytest.mark.parametrize("direction", ["to-vm", "from-vm"])
def test_question_25_a_larger_packet_batch_brings_little_beyond_64(direction):
    base, larger = (pps("virtio-user", direction=direction, size=64, batch=b) for b in (64, 1024))
    assert 1 < larger / base < 1.10


def test_question_26_for_the_base_a_descriptor_batch_means_nothing():
    found = [
        ask("virtio-user", workload="packets", direction="to-vm", size=60, descriptor_batch=n) for n in (0, 64, 512)
    ]
    assert len({p.rate_pps for p in found}) == 1
    patched = ask("virtio-user", workload="packets", direction="to-vm", size=60, batched_fetch=True)
    assert seconds(patched, "vhost_translate") < seconds(found[0], "vhost_translate")
    assert seconds(patched, "vhost_copy_receive") == pytest.approx(seconds(found[0], "vhost_copy_receive"))
