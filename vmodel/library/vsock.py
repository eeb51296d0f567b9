"""Stages of virtio-vsock: packets, receive buffers, credit. No network stack is on this path."""

from sympy import Expr

from vmodel.core.stage import Cost, Stage, stage
from vmodel.core.symbols import Words
from vmodel.library.guest import CPU
from vmodel.library.transport import WORKER

VSOCK_COPY = {"vsock_cold_copy_bytes_s": "B/s", "vsock_copy_bytes_s": "B/s"}


def _copy(w: Words, p: Words) -> Expr:
    """Time to copy into fresh buffers: every packet starts in one of its own, on a cold page."""
    return w.vsock_cold_bytes / p.vsock_cold_copy_bytes_s + (w.bytes - w.vsock_cold_bytes) / p.vsock_copy_bytes_s


@stage(occupies=CPU, uses={"vsock_send_s": "s"}, cites=("garzarella2019",))
def vsock_send(w: Words, p: Words) -> Expr:
    """The sender enters the kernel, checks its credit and queues the packets of one message."""
    return p.vsock_send_s


@stage(occupies=CPU, uses=VSOCK_COPY, cites=("garzarella2019",))
def vsock_copy_send(w: Words, p: Words) -> Cost:
    """The sender's kernel allocates a buffer for each packet and copies the payload into it."""
    return Cost(seconds=_copy(w, p) * (1 - w.zero_copy), bus_bytes=2 * w.bytes * (1 - w.zero_copy))


@stage(occupies=CPU, uses={"large_allocation_s": "s"}, cites=("garzarella2019",))
def vsock_allocate(w: Words, p: Words) -> Expr:
    """The sender's kernel gets each buffer of more than two pages from the page allocator instead of a slab."""
    return w.vsock_large * p.large_allocation_s * (1 - w.zero_copy)


@stage(
    occupies=WORKER,
    uses={"vsock_packet_s": "s", "cold_copy_bytes_s": "B/s", "vsock_worker_copy_bytes_s": "B/s"},
    cites=("garzarella2019",),
)
def vsock_worker(w: Words, p: Words) -> Cost:
    """The vhost worker moves each packet between guest buffers and the host's queue."""
    cold = w.vsock_cold_bytes
    moved = cold / p.cold_copy_bytes_s + (w.bytes - cold) / p.vsock_worker_copy_bytes_s
    return Cost(seconds=w.vsock_packets * p.vsock_packet_s + moved * (1 - w.dma_engine), bus_bytes=2 * w.bytes)


@stage(occupies=CPU, uses={"vsock_receive_s": "s"}, cites=("garzarella2019",))
def vsock_receive(w: Words, p: Words) -> Expr:
    """The receiver takes the message's packets from the socket queue and returns to user space."""
    return p.vsock_receive_s


@stage(occupies=CPU, uses={"buffer_refill_s": "s"}, cites=("garzarella2019",))
def vsock_refill(w: Words, p: Words) -> Expr:
    """The guest posts a fresh receive buffer for each one used; merged packets share a buffer."""
    return w.vsock_packets / w.vsock_fill * p.buffer_refill_s


@stage(occupies=CPU, uses={"vsock_receive_copy_bytes_s": "B/s"}, cites=("garzarella2019",))
def vsock_copy_receive(w: Words, p: Words) -> Cost:
    """The receiver's kernel copies the payload out of buffers that the worker has just written to user space."""
    return Cost(seconds=w.bytes / p.vsock_receive_copy_bytes_s, bus_bytes=2 * w.bytes)


@stage(occupies=CPU, uses={"credit_packet_s": "s", "credit_kick_s": "s"}, cites=("garzarella2019",))
def credit_from_guest(w: Words, p: Words) -> Expr:
    """The receiving guest answers each packet with a credit packet; those of one message share a notification."""
    return w.credit_per_packet * (w.vsock_packets * p.credit_packet_s + w.kicks * p.credit_kick_s)


@stage(occupies=CPU, uses={"lockstep_bytes_s": "B/s"}, cites=("garzarella2019",))
def credit_lockstep(w: Words, p: Words) -> Expr:
    """With a credit packet for each packet, receiver and worker take turns: the first packet's two earlier copies
    are not hidden behind the receiver's own work."""
    return w.credit_per_packet * w.first_packet_bytes / p.lockstep_bytes_s


@stage(occupies=WORKER, uses={"credit_host_s": "s"}, cites=("garzarella2019",))
def credit_from_host(w: Words, p: Words) -> Expr:
    """The worker puts a credit packet into the guest's receive ring for each packet the host takes."""
    return w.credit_per_packet * w.vsock_packets * p.credit_host_s


@stage(occupies=CPU, uses={"credit_taken_s": "s"}, cites=("garzarella2019",))
def credit_taken(w: Words, p: Words) -> Expr:
    """The sending guest takes a credit packet out of its receive ring for each packet sent."""
    return w.credit_per_packet * w.vsock_packets * p.credit_taken_s


@stage(occupies=WORKER, uses={"credit_wake_s": "s"}, when="blocked", cites=("garzarella2019",))
def credit_wake(w: Words, p: Words) -> Expr:
    """A sender out of credit sleeps and is woken by each credit packet, at the worker's expense."""
    return w.credit_per_packet * w.vsock_packets * p.credit_wake_s


STAGES: tuple[Stage, ...] = (
    vsock_send,
    vsock_allocate,
    vsock_copy_send,
    vsock_worker,
    vsock_receive,
    vsock_refill,
    vsock_copy_receive,
    credit_from_guest,
    credit_lockstep,
    credit_from_host,
    credit_taken,
    credit_wake,
)
