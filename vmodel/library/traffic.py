"""How a message of each workload becomes segments, packets and notifications. Counts only; no seconds.

Nothing here branches: a switch is a word that is 0 or 1, so that the same formula serves scalars and arrays.
"""

from collections.abc import Mapping

from sympy import Expr, Integer, Max, Min, ceiling, floor

from vmodel.core.stage import Traffic, traffic
from vmodel.core.symbols import Words


def packet_payload(k: Words) -> Expr:
    """Payload of one full packet: mtu - headers - time stamps; a datagram has shorter headers and no stamp."""
    return k.mtu_bytes - _network_headers(k)


def _network_headers(k: Words) -> Expr:
    """Bytes of IP and transport headers in each packet."""
    stamps = k.timestamp_bytes * k.timestamps * (1 - k.udp)
    return k.header_bytes - k.datagram_saving_bytes * k.udp + stamps


def _headers(k: Words) -> Expr:
    """Bytes that each packet of a byte stream adds to its payload: IP, TCP, time stamps, Ethernet."""
    return _network_headers(k) + k.frame_bytes


def offload(k: Words) -> Expr:
    """Whether the stack hands down segments of many packets."""
    return k.tso * (1 - k.udp)


def _limit(k: Words) -> Expr:
    """Most payload the stack hands to a device at once: whole packets up to the GSO limit with TSO, else one packet."""
    mss = packet_payload(k)
    whole = Max(1, floor(k.segment_limit_bytes / mss), evaluate=False)
    return mss * (offload(k) * whole + 1 - offload(k))


def _vsock_packet(k: Words) -> Expr:
    """Most payload of one vsock packet."""
    return Min(k.rx_buffer_bytes, k.segment_limit_bytes, evaluate=False)


def _vsock(k: Words) -> dict[str, Expr]:
    """virtio-vsock cuts a message at the receiver's buffer size, and again at the device's segment limit.

    The slab allocator serves buffers of up to two pages; larger ones come from the page allocator.
    """
    size = k.size_bytes
    packet = _vsock_packet(k)
    packets = (1 - k.coalesce_writes) * ceiling(size / packet) + k.coalesce_writes * size / packet
    first = Min(size, packet, evaluate=False)
    fill = k.merge_rx_buffers * Max(1, k.rx_buffer_bytes / first, evaluate=False) + 1 - k.merge_rx_buffers
    return {
        "vsock_packets": packets,
        "vsock_fill": fill,
        "vsock_large": packets * Min(1, ceiling(first / (2 * k.page_bytes)) - 1, evaluate=False),
        "vsock_cold_bytes": Min(size, packets * k.page_bytes, evaluate=False),
        "first_packet_bytes": Min(first, k.page_bytes, evaluate=False),
    }


def _counts(
    k: Words,
    *,
    tcp: Expr,
    overhead: Expr,
    packets: Expr,
    segments: Expr,
    kicks: Expr,
    interrupts: Expr,
    taken: Expr,
    ahead: Expr,
) -> Mapping[str, Expr]:
    size = k.size_bytes
    return {
        "bytes": size,
        "tcp": tcp,
        "segments": segments,
        "packets": packets,
        "stack_units": offload(k) * segments + (1 - offload(k)) * packets,
        "receive_units": k.gro * Min(segments, packets, evaluate=False)
        + (1 - k.gro) * (k.direct * segments + (1 - k.direct) * packets),
        "delivered": k.direct * segments
        + (1 - k.direct) * (k.joins * k.gro * Min(segments, packets, evaluate=False) + (1 - k.joins * k.gro) * packets),
        "tap_units": k.scatter_gather * segments + (1 - k.scatter_gather) * packets,
        "wire_bytes": size + packets * (overhead + k.gap_bytes),
        "cold_bytes": Min(size, k.page_bytes, evaluate=False),
        "segment_cold_bytes": Min(size, segments * k.page_bytes, evaluate=False),
        "further_buffers": Max(segments, size / k.page_bytes, evaluate=False) - segments,
        **_vsock(k),
        "further_packets": packets - Min(packets, 1, evaluate=False),
        "taken": taken,
        "fetch_batch": Min(k.descriptor_batch + 1, ahead, evaluate=False),
        "kicks": kicks,
        "interrupts": interrupts,
    }


@traffic
def rr(k: Words) -> Mapping[str, Expr]:
    """One message at a time: every message is cut by itself, and notifies each side once."""
    packets = ceiling(k.size_bytes / packet_payload(k))
    segments = ceiling(k.size_bytes / _limit(k))
    return _counts(
        k,
        tcp=1 - k.udp,
        overhead=_headers(k),
        packets=packets,
        segments=segments,
        kicks=Min(segments, 1, evaluate=False),
        interrupts=Min(segments, 1, evaluate=False),
        taken=Min(k.batch, segments, evaluate=False),
        ahead=segments,
    )


@traffic
def stream(k: Words) -> Mapping[str, Expr]:
    """Bulk transfer: small writes fill packets unless TCP_NODELAY, and fill segments where the device is busy.

    Where the device is never busy (`fills`) a packet leaves as soon as it is full, and a longer write by itself.
    """
    size = k.size_bytes
    joins = (1 - k.nodelay) * (1 - k.udp)
    packets = (1 - joins) * ceiling(size / packet_payload(k)) + joins * size / packet_payload(k)
    merged = k.merges * joins
    filled = 1 - k.fills * joins + k.fills * joins * Min(1, size / packet_payload(k), evaluate=False)
    whole = (offload(k) * ceiling(size / _limit(k)) + (1 - offload(k)) * packets) * filled
    segments = merged * size / _limit(k) + (1 - merged) * whole
    joined = k.coalesce_writes * Min(1, size / _vsock_packet(k), evaluate=False)
    noticed = joined + (1 - k.coalesce_writes) * Min(segments, 1, evaluate=False)
    return _counts(
        k,
        tcp=1 - k.udp,
        overhead=_headers(k),
        packets=packets,
        segments=segments,
        kicks=noticed,
        interrupts=noticed / k.interrupt_batch,
        taken=merged * k.batch + (1 - merged) * Min(k.batch, Max(segments, 1, evaluate=False), evaluate=False),
        ahead=merged * (k.descriptor_batch + 1) + (1 - merged) * Max(segments, 1, evaluate=False),
    )


@traffic
def packets(k: Words) -> Mapping[str, Expr]:
    """Frames at saturation: a message is a whole frame, and a worker finds a full batch each time."""
    frames = ceiling(k.size_bytes / (k.mtu_bytes + k.frame_bytes))
    return _counts(
        k,
        tcp=Integer(0),
        overhead=Integer(0),
        packets=frames,
        segments=frames,
        kicks=1 / k.batch,
        interrupts=1 / Max(k.batch, k.interrupt_batch, evaluate=False),
        taken=k.batch,
        ahead=k.descriptor_batch + 1,
    )


TRAFFIC: tuple[Traffic, ...] = (rr, stream, packets)
