"""Stages at an end of a path, in the guest or on a host: application, socket copies, stack, driver, interrupts.

`cpu` is the processor of that end; composition names it guest vCPU or host CPU.
"""

from sympy import Expr

from vmodel.core.stage import Cost, Stage, stage
from vmodel.core.symbols import Words

CPU = "cpu"
COPY = {"cold_copy_bytes_s": "B/s", "copy_bytes_s": "B/s"}


USER_COPY = {**COPY, "memory_copy_bytes_s": "B/s", "cache_bytes": "B"}


def copy_seconds(cold: Expr, total: Expr, p: Words) -> Expr:
    """Time of a copy: the first page misses every line, the rest streams behind the prefetcher."""
    return cold / p.cold_copy_bytes_s + (total - cold) / p.copy_bytes_s


def uncached_seconds(w: Words, p: Words) -> Expr:
    """Time that a long message waits for memory: the share of it that no cache holds is n / (n + cache)."""
    return w.bytes**2 / (w.bytes + p.cache_bytes) / p.memory_copy_bytes_s


@stage(occupies=CPU, uses={"send_call_s": "s"}, cites=("dykman2007", "garzarella2019"))
def app_send(w: Words, p: Words) -> Expr:
    """The application enters the kernel once for each message it sends."""
    return p.send_call_s


@stage(occupies=CPU, uses=USER_COPY, cites=("ahern2011", "garzarella2019", "virtink2023"))
def copy_send(w: Words, p: Words) -> Cost:
    """The socket layer copies the message from user space into kernel buffers, unless it is sent from its own pages."""
    copied = 1 - w.send_zero_copy
    seconds = copy_seconds(w.cold_bytes, w.bytes, p) + uncached_seconds(w, p)
    return Cost(seconds=copied * seconds, bus_bytes=2 * w.bytes * copied)


@stage(occupies=CPU, uses={"pin_call_s": "s", "zero_copy_pin_s": "s"}, cites=("filippov2025a",))
def pin_send(w: Words, p: Words) -> Expr:
    """A send without a copy pins each page of the message and reports later that the pages are free again."""
    return w.send_zero_copy * (p.pin_call_s + w.bytes / w.page_bytes * p.zero_copy_pin_s)


@stage(occupies=CPU, uses={"stack_segment_s": "s", "tcp_s": "s"}, cites=("dykman2007", "virtink2023"))
def stack_send(w: Words, p: Words) -> Expr:
    """The stack builds headers for each unit it hands down: a segment with TSO, a packet without."""
    return w.stack_units * (p.stack_segment_s + w.tcp * p.tcp_s)


@stage(occupies=CPU, uses={"stack_receive_s": "s", "tcp_s": "s"}, cites=("dykman2007", "virtink2023"))
def stack_receive(w: Words, p: Words) -> Expr:
    """The stack takes each received unit through IP and TCP: a segment with GRO, a packet without."""
    return w.receive_units * (p.stack_receive_s + w.tcp * p.tcp_s)


@stage(occupies=CPU, uses=USER_COPY, cites=("ahern2011", "virtink2023"))
def copy_receive(w: Words, p: Words) -> Cost:
    """The socket layer copies the message from kernel buffers to user space; each segment starts on a cold page."""
    seconds = copy_seconds(w.segment_cold_bytes, w.bytes, p) + uncached_seconds(w, p)
    return Cost(seconds=seconds, bus_bytes=2 * w.bytes)


@stage(occupies=None, uses={"process_wake_s": "s"}, when="idle", variability=0.5, cites=("dykman2007",))
def app_wake(w: Words, p: Words) -> Expr:
    """The scheduler wakes the sleeping receiver; an application that polls its socket does not sleep."""
    return p.process_wake_s * (1 - w.busy_poll)


@stage(occupies=CPU, uses={"receive_call_s": "s"}, cites=("dykman2007",))
def app_receive(w: Words, p: Words) -> Expr:
    """The application leaves the kernel with each message it receives."""
    return p.receive_call_s


@stage(occupies=CPU, uses={"loopback_s": "s"}, cites=("dykman2007",))
def loopback_queue(w: Words, p: Words) -> Expr:
    """The loopback device puts each segment on the backlog of its own CPU."""
    return w.segments * p.loopback_s


@stage(occupies=CPU, uses={"veth_s": "s"}, cites=("dykman2007",))
def veth_cross(w: Words, p: Words) -> Expr:
    """A veth device hands each segment to the other network name space."""
    return w.segments * p.veth_s


@stage(occupies=CPU, uses={"af_packet_s": "s"}, cites=("perezmartin2020",))
def af_packet_send(w: Words, p: Words) -> Expr:
    """A packet socket takes each frame from its memory-mapped ring to the driver."""
    return w.packets * p.af_packet_s


@stage(occupies=CPU, uses={"af_packet_receive_s": "s"}, cites=("perezmartin2020",))
def af_packet_receive(w: Words, p: Words) -> Expr:
    """A packet socket clones each received frame into its memory-mapped ring."""
    return w.packets * p.af_packet_receive_s


@stage(occupies=CPU, uses={"af_xdp_s": "s"}, cites=("hoiland2018",))
def af_xdp_ring(w: Words, p: Words) -> Expr:
    """An AF_XDP socket moves each frame's descriptor between user and driver rings."""
    return w.packets * p.af_xdp_s


@stage(occupies=CPU, uses={"xdp_program_s": "s"}, cites=("hoiland2018",))
def xdp_program(w: Words, p: Words) -> Expr:
    """The driver runs an XDP program on each frame before a socket buffer exists."""
    return w.packets * p.xdp_program_s


@stage(occupies=CPU, uses={"poll_mode_packet_s": "s"}, spins=True, cites=("emmerich2015",))
def poll_mode_send(w: Words, p: Words) -> Expr:
    """A poll-mode application posts each frame to the queue it owns."""
    return w.packets * p.poll_mode_packet_s


@stage(occupies=CPU, uses={"poll_mode_packet_s": "s"}, spins=True, cites=("emmerich2015",))
def poll_mode_receive(w: Words, p: Words) -> Expr:
    """A poll-mode application takes each frame from the queue it owns."""
    return w.packets * p.poll_mode_packet_s


@stage(occupies=CPU, uses={"virtio_frame_s": "s"}, spins=True, cites=("cnftestbed2018a",))
def virtio_frame(w: Words, p: Words) -> Expr:
    """A poll-mode virtio driver in the guest fills or empties the descriptor of each frame."""
    return w.packets * p.virtio_frame_s


@stage(occupies=CPU, uses={"memif_s": "s", **COPY}, spins=True, cites=("cnftestbed2018a",))
def memif_frame(w: Words, p: Words) -> Cost:
    """A function at a shared-memory interface takes or copies each frame on its own processor."""
    seconds = w.packets * p.memif_s + copy_seconds(w.segment_cold_bytes, w.bytes, p)
    return Cost(seconds=seconds, bus_bytes=2 * w.bytes)


@stage(occupies=CPU, uses={"exit_s": "s"}, cites=("ahern2011", "dykman2007"))
def kick(w: Words, p: Words) -> Expr:
    """The guest leaves to the hypervisor to tell the back end that work waits."""
    return w.kicks * p.exit_s


@stage(occupies=CPU, uses={"injection_s": "s"}, cites=("ahern2011",))
def interrupt_injection(w: Words, p: Words) -> Expr:
    """The hypervisor forces an exit and injects the interrupt; posted interrupts need neither."""
    return w.interrupts * p.injection_s * (1 - w.posted_interrupts)


@stage(occupies=CPU, uses={"guest_interrupt_s": "s"}, cites=("ahern2011",))
def guest_interrupt(w: Words, p: Words) -> Expr:
    """The guest takes the interrupt and starts its softirq."""
    return w.interrupts * p.guest_interrupt_s


@stage(occupies=None, uses={"cross_cpu_s": "s"}, when="idle", variability=0.5, cites=("ahern2011",))
def cross_cpu(w: Words, p: Words) -> Expr:
    """The interrupt lands on another CPU than the one that runs the vCPU, and a second one is sent there."""
    return p.cross_cpu_s * (1 - w.irq_affinity)


@stage(occupies=None, uses={"vcpu_wake_s": "s"}, when="idle", variability=0.5, cites=("ahern2011",))
def vcpu_wake(w: Words, p: Words) -> Expr:
    """The host schedules a halted vCPU again; while halt polling lasts it was never halted."""
    return p.vcpu_wake_s * (1 - w.halt_poll)


STAGES: tuple[Stage, ...] = (
    app_send,
    copy_send,
    pin_send,
    stack_send,
    stack_receive,
    copy_receive,
    app_wake,
    app_receive,
    loopback_queue,
    veth_cross,
    af_packet_send,
    af_packet_receive,
    af_xdp_ring,
    xdp_program,
    poll_mode_send,
    poll_mode_receive,
    virtio_frame,
    memif_frame,
    kick,
    interrupt_injection,
    guest_interrupt,
    cross_cpu,
    vcpu_wake,
)
