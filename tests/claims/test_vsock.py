"""Claims 32 to 42 and observations O6 to O9: vsock before and after its changes, TCP over virtio-net beside it."""

import math

import pytest

from tests.claims.asking import NOISE_2019, VSOCK_HOST, ask, close, mbps, off, rising, rows, seconds
from vmodel.errors import ConfigError

BEFORE = {"rx_buffer_bytes": 4096, "credit_per_packet": True, "merge_rx_buffers": False}
CHANGES = {
    "buffers": {"rx_buffer_bytes": 65536},
    "credit": {"credit_per_packet": False},
    "merging": {"merge_rx_buffers": True},
}
SIZES = (64, 256, 512, *(1024 << n for n in range(10)))
SMALL, LARGE = (1024, 2048, 4096, 8192), (65536, 131072, 262144, 524288)
BOTH_WAYS = ("to-vm", "from-vm")
PAIR_NOISE = NOISE_2019 * math.sqrt(2)  # of a ratio of two figures


def vsock(size, direction, **settings):
    return mbps("vsock", size=size, direction=direction, **settings)


def tcp(size, direction, nodelay=False, **settings):
    return mbps(
        "virtio-vhost",
        profile=VSOCK_HOST,
        topology="host-vm",
        size=size,
        direction=direction,
        nodelay=nodelay,
        **settings,
    )


def measured(direction, size, *, path="vsock", **knobs):
    """Mean of the measured figures of one cell over both tables [Mbit/s]."""
    found = [
        r.value
        for r in rows("garzarella2019").values()
        if (r.path, r.direction, r.knobs.get("size")) == (path, direction, size)
        and not r.excluded
        and all(r.knobs.get(k) == v for k, v in knobs.items())
    ]
    return math.exp(sum(map(math.log, found)) / len(found))


@pytest.mark.parametrize("direction", BOTH_WAYS)
def test_claim_32_before_the_work_every_packet_is_answered_by_a_credit_packet(direction):
    credit = ["credit_from_guest"] if direction == "to-vm" else ["credit_from_host", "credit_taken"]
    one, sixteen = (ask("vsock", workload="stream", direction=direction, size=s, **BEFORE) for s in (4096, 65536))
    assert seconds(one, *credit) > 0.05 * seconds(one, "vsock_worker")
    assert seconds(sixteen, *credit) > 1.2 * seconds(one, *credit)  # 16 packets, which share notifications
    after = ask("vsock", workload="stream", direction=direction, size=65536)
    assert seconds(after, *credit) == 0


def test_claim_33_larger_buffers_mean_fewer_packets_and_more_throughput_of_large_messages():
    for direction in BOTH_WAYS:
        small, large = (vsock(65536, direction, **{**BEFORE, **c}) for c in ({}, CHANGES["buffers"]))
        assert large > (1 + NOISE_2019) * small
        assert vsock(1024, direction, **{**BEFORE, **CHANGES["buffers"]}) == vsock(1024, direction, **BEFORE)


@pytest.mark.parametrize(
    ("buffer", "size", "packets"), [(4096, 65536, 16), (65536, 65536, 1), (65536, 1024, 1), (4096, 5000, 2)]
)
def test_claim_33_packets_per_message_are_size_over_buffer_size(buffer, size, packets):
    p = ask("vsock", workload="stream", size=size, rx_buffer_bytes=buffer)
    assert p.rate_pps / p.messages_per_s == pytest.approx(packets)


def test_claim_34_merging_fills_receive_buffers_with_small_messages():
    def refill(size, merged):
        p = ask("vsock", workload="stream", direction="to-vm", size=size, merge_rx_buffers=merged)
        return seconds(p, "vsock_refill")

    assert refill(1024, True) == pytest.approx(refill(1024, False) / 64)
    assert refill(65536, True) == pytest.approx(refill(65536, False))
    assert vsock(64, "to-vm") > vsock(64, "to-vm", merge_rx_buffers=False)


@pytest.mark.parametrize("direction", BOTH_WAYS)
def test_claim_35_together_the_changes_raise_throughput_at_every_size(direction):
    gains = [vsock(s, direction) / vsock(s, direction, **BEFORE) for s in SIZES]
    assert min(gains) >= 1
    assert gains[-1] > 1.2
    for size, gain in zip(SIZES, gains, strict=True):
        before, after = (measured(direction, size, credit_per_packet=c) for c in (1.0, 0.0))
        assert abs(off(gain, after / before)) < 2 * PAIR_NOISE


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("direction", BOTH_WAYS)
def test_claim_35_each_change_alone_helps_or_does_no_harm(direction, change):
    gains = [vsock(s, direction, **{**BEFORE, **CHANGES[change]}) / vsock(s, direction, **BEFORE) for s in SIZES]
    assert min(gains) >= 1
    if direction == "to-vm" or change != "merging":  # the host's receiver posts no buffers, so nothing is merged there
        assert max(gains) > 1.01
    undone = [vsock(s, direction, **{k: BEFORE[k] for k in CHANGES[change]}) / vsock(s, direction) for s in SIZES]
    assert max(undone) <= 1


@pytest.mark.parametrize("size", [256, 512, 1024])
def test_claim_36_nodelay_and_vsock_send_a_packet_for_each_write_and_plain_tcp_is_faster(size):
    nodelay = ask("virtio-vhost", profile=VSOCK_HOST, workload="stream", direction="from-vm", size=size, nodelay=True)
    assert nodelay.rate_pps == pytest.approx(nodelay.messages_per_s)
    gain = tcp(size, "from-vm") / tcp(size, "from-vm", nodelay=True)
    told = [measured("from-vm", size, path="virtio-vhost", nodelay=n) for n in (0.0, 1.0)]
    assert gain > 2
    assert abs(off(gain, told[0] / told[1])) < 2 * PAIR_NOISE


@pytest.mark.parametrize(("direction", "least"), [("to-vm", 0.0), ("from-vm", NOISE_2019)])
def test_claim_36_coalescing_would_raise_vsock_throughput_of_small_writes(direction, least):
    # TCP gains from joined writes on the way out (threefold at 256 bytes) and hardly on the way in.
    plain, joined = (vsock(256, direction, coalesce_writes=on) for on in (False, True))
    assert joined > (1 + least) * plain


def test_claim_37_the_mtu_goes_up_to_65520_and_sets_the_segments_of_a_message():
    def packets(mtu, size):
        p = ask("virtio-vhost", profile=VSOCK_HOST, workload="stream", size=size, mtu=mtu, nodelay=True)
        return p.rate_pps / p.messages_per_s

    assert [packets(1500, s) for s in (1024, 16384, 65536)] == pytest.approx([1, 12, 46])
    assert [packets(65520, s) for s in (1024, 16384, 65536)] == pytest.approx([1, 1, 2])
    assert ask("virtio-vhost", profile=VSOCK_HOST, workload="stream").scenario.knobs["mtu"] == 65520
    with pytest.raises(ConfigError, match="mtu"):
        ask("virtio-vhost", mtu=70000)


def test_claim_38_tcp_ends_near_11_gigabits_towards_the_guest_and_near_29_from_it():
    for size in LARGE:
        assert close(tcp(size, "to-vm"), 11_000, NOISE_2019)
        assert close(tcp(size, "from-vm"), 28_800, NOISE_2019)
    assert ask("virtio-vhost", profile=VSOCK_HOST, workload="stream", size=131072).bottleneck == "vhost worker"


def test_claim_39_vsock_comes_near_virtio_net_and_could_ride_on_it():
    for size in LARGE:
        assert 0.8 < vsock(size, "from-vm") / tcp(size, "from-vm") < 1.0
    carried = ask("vsock-virtio-net", workload="stream", direction="from-vm", size=65536)
    assert carried.throughput_interval_bps.low < carried.throughput_bps < carried.throughput_interval_bps.high
    assert any("never compared" in w for w in carried.warnings)


@pytest.mark.parametrize("direction", BOTH_WAYS)
def test_claim_40_the_optimised_path_lies_within_the_noise_of_its_two_tables(direction):
    for size in (1024 << n for n in range(10)):
        assert abs(off(vsock(size, direction), measured(direction, size, credit_per_packet=0.0))) < NOISE_2019


@pytest.mark.parametrize("direction", BOTH_WAYS)
def test_claim_41_messages_of_64_bytes_are_inside_the_calibrated_range(direction):
    p = ask("vsock", workload="stream", direction=direction, size=64)
    assert not p.warnings
    assert close(p.throughput_bps / 1e6, measured(direction, 64, credit_per_packet=0.0), NOISE_2019)


@pytest.mark.parametrize("size", [256, 512, 1024])
def test_observation_o6_small_writes_cost_nodelay_and_early_vsock_the_same(size):
    assert close(tcp(size, "from-vm", nodelay=True), vsock(size, "from-vm", **BEFORE), NOISE_2019)


def test_observation_o7_before_the_work_the_way_out_peaks_at_16k_and_falls():
    out = {s: vsock(s, "from-vm", **BEFORE) for s in SIZES}
    assert max(out, key=out.get) == 16384
    assert out[524288] < 0.9 * out[16384]
    assert close(out[524288], 7900, NOISE_2019)
    assert rising(vsock(s, "to-vm", **BEFORE) for s in SIZES)
    assert rising(vsock(s, "from-vm") for s in SIZES)
    assert all(close(vsock(s, "from-vm"), 25_700, NOISE_2019) for s in LARGE)


def test_observation_o8_the_work_helps_small_messages_towards_the_guest_only():
    for size in SMALL:
        inward, outward = (vsock(size, d) / vsock(size, d, **BEFORE) for d in BOTH_WAYS)
        assert 1.9 / (1 + NOISE_2019) < inward < 3.2 * (1 + NOISE_2019)
        told = measured("from-vm", size, credit_per_packet=0.0) / measured("from-vm", size, credit_per_packet=1.0)
        assert abs(off(outward, told)) < PAIR_NOISE
        assert inward > outward


@pytest.mark.parametrize("size", SIZES[1:11])
def test_observation_o9_nodelay_lowers_the_way_out_from_256_bytes_to_128k(size):
    assert tcp(size, "from-vm", nodelay=True) < tcp(size, "from-vm")
    assert close(tcp(size, "to-vm", nodelay=True), tcp(size, "to-vm"), NOISE_2019)
