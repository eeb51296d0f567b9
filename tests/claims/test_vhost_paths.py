"""Claims 61 to 75 and 83 to 86: packet tools, notifications, pinning and the worker's cycles of 2020."""

import pytest

from tests.claims.asking import (
    BROADWELL,
    NOISE_RX,
    NOISE_TX,
    ask,
    close,
    context,
    demand,
    mbps,
    names,
    pps,
    rising,
    rows,
    seconds,
    us,
)
from vmodel.errors import ConfigError

BRIDGED = {"topology": "vm-vm", "profile": BROADWELL}
PATCHED = {"batched_fetch": True, "buf_api": True}
TX, RX = {"direction": "from-vm", "size": 64}, {"direction": "to-vm", "size": 60}
WAYS = pytest.mark.parametrize("way", [TX, RX], ids=["tx", "rx"])


def bridged(**settings):
    """Latency, stream and packet rate between two guests on one bridge."""
    return (
        us("virtio-vhost", **BRIDGED, **settings),
        mbps("virtio-vhost", **BRIDGED, **settings),
        pps("virtio-vhost", size=64, **BRIDGED, **settings),
    )


def test_claim_61_the_unpinned_gain_of_a_datagram_stream_is_not_laid_to_the_data_path():
    base, patched = (pps("virtio-vhost", size=1024, batched_fetch=on, **BRIDGED) for on in (False, True))
    assert close(patched, base, NOISE_TX)
    unpinned = [r for r in rows("perezmartin2020").values() if r.session == "004/#5"]
    assert unpinned and all("not pinned" in r.excluded for r in unpinned)


def test_claim_62_late_notifications_set_the_kernel_apart_from_poll_mode_drivers():
    notified = {"kick", "interrupt_injection", "guest_interrupt", "vhost_signal", "vcpu_wake"}
    poll = ask("virtio-user", workload="packets", **RX)
    assert not notified & set(names(poll)) and "poll mode" in poll.regime
    kernel = ask("virtio-vhost", workload="packets", load=1e5, size=64, **BRIDGED)
    assert set(names(kernel)) >= notified and "interrupt driven" in kernel.regime
    off = ask("virtio-vhost", workload="packets", load=1e5, size=64, event_idx=False, **BRIDGED)
    assert seconds(kernel, "event_check") > 0 == seconds(off, "event_check")


def test_claim_63_two_guests_on_an_outer_bridge_are_a_row_of_their_own():
    p = ask("virtio-vhost", workload="packets", size=64, **BRIDGED)
    assert names(p).count("bridge") == 1 and not {"wire", "nic_dma"} & set(names(p))
    assert {k for k in p.demands_s if k.startswith("vhost worker")} == {
        "vhost worker (sender)",
        "vhost worker (receiver)",
    }
    assert close(p.rate_pps, pps("virtio-vhost", size=64, bridge=False, **BRIDGED), 0.01)


@pytest.mark.parametrize("event_idx", [True, False])
def test_claim_64_pinned_base_and_patch_are_alike(event_idx):
    for mine, other in zip(bridged(event_idx=event_idx, **PATCHED), bridged(event_idx=event_idx), strict=True):
        assert close(mine, other, NOISE_TX)


def test_claim_65_without_event_index_the_patched_series_is_at_least_as_good():
    base, patched = bridged(event_idx=False), bridged(event_idx=False, batched_fetch=True)
    assert patched[0] <= base[0] and patched[1] >= base[1] and patched[2] >= base[2]


def test_claim_66_sent_received_and_dropped_packets_are_told_apart():
    capacity = ask("virtio-vhost", workload="packets", size=64, **BRIDGED).messages_per_s
    below, above = (ask("virtio-vhost", workload="packets", load=f * capacity, size=64, **BRIDGED) for f in (0.5, 2))
    assert below.loss < 1e-6 and below.messages_per_s == pytest.approx(0.5 * capacity, rel=1e-5)
    assert above.loss == pytest.approx(0.5, rel=0.01) and above.messages_per_s == pytest.approx(capacity)
    near = [
        ask("virtio-vhost", workload="packets", load=0.97 * capacity, size=64, ring_size=n, **BRIDGED)
        for n in (8, 64, 512)
    ]
    assert rising(-p.loss for p in near) and near[0].loss > near[-1].loss


def test_claim_67_idle_states_and_wake_ups_are_costs_that_can_be_taken_away():
    base = us("virtio-vhost", **BRIDGED)
    awake = us("virtio-vhost", halt_poll=1000, worker_poll=1000, busy_poll=1000, **BRIDGED)
    assert awake < 0.7 * base
    assert us("virtio-vhost", vcpu_wake_s=1e-4, **BRIDGED) > 1.5 * base
    p = ask("vf", workload="rr", rx_usecs=10)
    assert {"idle_exit", "vcpu_wake"} <= {r.stage for r in p.shares if r.resource is None and r.seconds > 0}
    packets = ask("virtio-vhost", workload="packets", size=64, **BRIDGED)
    woken = sum(r.seconds for r in packets.shares if r.stage == "vcpu_wake")
    assert woken < 0.05 * packets.latency_s  # a full ring hides what the less busy ends still pay


@WAYS
def test_claim_68_a_saving_for_each_packet_counts_less_as_packets_grow(way):
    sizes = (64, 256, 1024, 1500)
    gains = [
        pps("virtio-user", direction=way["direction"], size=s, batch=64)
        / pps("virtio-user", direction=way["direction"], size=s, batch=1)
        for s in sizes
    ]
    assert rising(-g for g in gains) and gains[0] - 1 > 1.5 * (gains[-1] - 1) > 0


def test_claim_69_rates_that_grow_with_the_packet_are_left_unexplained():
    strange = [r for r in rows("perezmartin2020").values() if r.path == "af-packet" and r.direction == "from-vm"]
    assert len(strange) >= 4 and all("unclear" in r.excluded for r in strange)
    assert rising(-pps("af-packet", direction="from-vm", size=s, event_idx=False) for s in (64, 256, 1024, 1500))


def test_claim_70_the_packet_socket_rows_towards_the_guest_lie_inside_the_interval():
    told = [r for r in rows("perezmartin2020").values() if r.path == "af-packet" and r.direction == "to-vm"]
    assert len(told) == 7
    for r in told:
        assert "unexplained" in r.excluded
        p = ask("af-packet", workload="packets", direction="to-vm", size=r.knobs["size"], event_idx=False)
        assert p.rate_interval_pps.low < r.value < p.rate_interval_pps.high


@pytest.mark.parametrize("direction", ["from-vm", "to-vm"])
def test_claim_71_with_event_index_the_patch_changes_nothing_between_packet_sockets(direction):
    base, patched = (pps("af-packet", direction=direction, size=64, event_idx=True, **v) for v in ({}, PATCHED))
    assert close(patched, base, NOISE_TX)


@WAYS
def test_claim_72_only_the_poll_mode_rows_reach_a_million_packets(way):
    assert pps("virtio-user", **way, batch=1) > 1e6
    assert pps("af-packet", **way) < 1e6


def test_claim_73_packet_sockets_cost_something_for_each_packet_and_the_generator_has_none():
    sent, received = (ask("af-packet", workload="packets", direction=d, size=64) for d in ("from-vm", "to-vm"))
    assert seconds(sent, "af_packet_send") > 0 < seconds(received, "af_packet_receive")
    generated = ask("virtio-user", workload="packets", **RX)
    assert not [n for n in names(generated) if n.startswith("af_packet")]
    assert seconds(generated, "generator") < seconds(sent, "af_packet_send")
    faster = pps("af-packet", direction="to-vm", size=64, af_packet_s=4e-7, af_packet_receive_s=4e-7)
    assert faster > 1.3 * received.rate_pps  # a lighter ring interface


@WAYS
def test_claim_74_the_worker_is_fully_busy(way):
    p = ask("virtio-user", workload="packets", **way)
    assert p.bottleneck.startswith("vhost worker")
    assert p.busy[p.bottleneck] == pytest.approx(1.0)
    assert p.slack == pytest.approx(0.0, abs=1e-9)


def test_claim_74_on_transmit_there_is_one_worker_and_the_drop_program_runs_in_it():
    p = ask("virtio-user", workload="packets", **TX)
    assert len([k for k in p.demands_s if k.startswith("vhost worker")]) == 1


def test_claim_74_towards_the_guest_generator_and_worker_are_both_fully_busy():
    p = ask("virtio-user", workload="packets", **RX)
    assert sum(share > 0.95 for share in p.busy.values()) >= 2


def test_claim_75_a_distant_node_and_a_shared_core_slow_reception():
    base = pps("virtio-user", **RX)
    assert pps("virtio-user", numa_local=False, **RX) < (1 - NOISE_RX) * base
    shared = ask("virtio-user", workload="packets", core_sharing=True, **RX)
    assert shared.rate_pps < (1 - NOISE_RX) * base and shared.bottleneck == "host CPU"
    received, sent = (pps("virtio-user", numa_local=False, **w) / pps("virtio-user", **w) for w in (RX, TX))
    assert received != sent
    with_core = pps("virtio-user", core_sharing=True, **TX)
    assert close(with_core, pps("virtio-user", **TX), NOISE_TX)  # no generator on this way


def test_claim_83_event_index_cannot_be_switched_off_for_virtio_user():
    with pytest.raises(ConfigError, match="event_idx"):
        ask("virtio-user", workload="packets", event_idx=False)
    assert ask("virtio-user", workload="packets", event_idx=True).scenario.knobs["event_idx"]
    assert ask("virtio-vhost", event_idx=False).latency_s > 0


GROUPS = {
    "copy": ("vhost_copy_send", "vhost_copy_receive"),
    "tap": ("tap_send", "tap_receive"),
    "vhost": ("vhost_send", "vhost_receive", "vhost_buffers", "vhost_signal", "event_check", "vhost_pin"),
    "descriptor": ("vhost_fetch_send", "vhost_fetch_receive"),
    "translation": ("vhost_translate",),
    "memory": ("skb_free",),
}


def unlisted(way):
    """Share of samples that the base listing leaves out, of whatever group: 9 % sending, 5 % receiving."""
    return 1 - sum(profiled(way, "base", g) for g in (*GROUPS, "bridge_stack"))


def profiled(way, variant, group):
    """Share of a group in the profile of the worker."""
    subject = f"virtio-user/{way['direction']}/#38/{variant}/"
    found = [r for r in context("perezmartin2020") if r["quantity"] == "cpu_share" and r["subject"].startswith(subject)]
    return sum(float(r["value"]) for r in found if r["group"] == group) / 100


def modelled(way, variant, group):
    """Share of a group of stages in the time of the worker that moves the packet."""
    p = ask("virtio-user", workload="packets", batched_fetch=variant == "batch", **way)
    return seconds(p, *GROUPS[group]) / demand(p, p.bottleneck)


@WAYS
@pytest.mark.parametrize("group", GROUPS)
def test_claim_84_the_workers_time_splits_as_in_the_profile(way, group):
    assert abs(modelled(way, "base", group) - profiled(way, "base", group)) < unlisted(way)


def test_claim_84_copying_leads_in_both_directions():
    for way in (TX, RX):
        shares = {g: modelled(way, "base", g) for g in GROUPS}
        assert max(shares, key=shares.get) == "copy"
    assert modelled(TX, "base", "copy") > modelled(RX, "base", "copy")


@WAYS
def test_claim_85_descriptor_work_grows_by_the_patch(way):
    before, after = (modelled(way, v, "descriptor") for v in ("base", "batch"))
    assert profiled(way, "batch", "descriptor") > profiled(way, "base", "descriptor")
    assert after > before


@WAYS
@pytest.mark.parametrize("group", ["descriptor", "translation", "tap"])
def test_claim_85_the_resolved_groups_of_the_patched_profile_agree(way, group):
    assert abs(modelled(way, "batch", group) - profiled(way, "batch", group)) < unlisted(way)


def test_claim_86_transmit_is_faster_since_reception_costs_more_in_every_group_that_differs():
    sent, received = (ask("virtio-user", workload="packets", **w) for w in (TX, RX))
    assert sent.rate_pps > 1.8 * received.rate_pps
    for group in ("copy", "tap", "vhost", "descriptor", "memory"):
        assert seconds(received, *GROUPS[group]) > seconds(sent, *GROUPS[group])
