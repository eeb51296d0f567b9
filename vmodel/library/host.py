"""Stages in the host between the virtual and the physical NIC: tap, bridge, macvtap, softirq, emulated devices."""

from sympy import Expr, Min

from vmodel.core.stage import Cost, Stage, stage
from vmodel.core.symbols import Words
from vmodel.library.guest import COPY, CPU, copy_seconds
from vmodel.library.transport import IO_THREAD, WORKER

SOFTIRQ = "host softirq CPU"


@stage(occupies=CPU, uses={"tap_queue_s": "s", "tap_bytes_s": "B/s"}, cites=("garzarella2019",))
def tap_queue(w: Words, p: Words) -> Expr:
    """The sending host runs its stack down to the tap for each segment, and pays per byte for pages and checksums."""
    return w.segments * p.tap_queue_s + w.bytes / p.tap_bytes_s


@stage(occupies=WORKER, uses={"tap_send_s": "s"}, cites=("perezmartin2020",))
def tap_send(w: Words, p: Words) -> Expr:
    """The tap turns each buffer of the worker into a packet of the host."""
    return w.segments * p.tap_send_s


@stage(occupies=WORKER, uses={"tap_receive_s": "s"}, cites=("perezmartin2020",))
def tap_receive(w: Words, p: Words) -> Expr:
    """The tap hands each queued packet to the worker."""
    return w.segments * p.tap_receive_s


@stage(occupies=WORKER, uses={"skb_free_s": "s"}, cites=("perezmartin2020",))
def skb_free(w: Words, p: Words) -> Expr:
    """The worker frees each packet buffer that another CPU allocated."""
    return w.segments * p.skb_free_s


@stage(occupies=WORKER, uses={"macvtap_s": "s"}, cites=("ahern2011",))
def macvtap(w: Words, p: Words) -> Expr:
    """macvtap ties the worker to one NIC function by its address, without a bridge."""
    return w.segments * p.macvtap_s


@stage(occupies=SOFTIRQ, uses={"bridge_s": "s", "nat_s": "s"}, cites=("ahern2011", "virtink2023"))
def bridge(w: Words, p: Words) -> Expr:
    """The bridge looks up each packet's address and passes it on; a host that translates addresses rewrites it."""
    return w.segments * (w.bridged * p.bridge_s + w.nat * p.nat_s)


@stage(occupies=SOFTIRQ, uses={"softirq_s": "s", "frame_join_s": "s"}, cites=("ahern2011",))
def host_softirq(w: Words, p: Words) -> Expr:
    """The host's softirq takes each frame from the NIC's ring, joins it to its segment and hands the segment on."""
    return w.receive_units * p.softirq_s + w.packets * p.frame_join_s


@stage(occupies=SOFTIRQ, uses={"host_interrupt_s": "s"}, cites=("ahern2011",))
def host_interrupt(w: Words, p: Words) -> Expr:
    """The host takes the NIC's interrupt."""
    return w.interrupts * p.host_interrupt_s


@stage(occupies=SOFTIRQ, uses={"host_interrupt_s": "s"}, cites=("ahern2011",))
def forwarded_interrupt(w: Words, p: Words) -> Expr:
    """The interrupt of a function that a guest owns still arrives at the host; posted interrupts pass it by."""
    return w.interrupts * p.host_interrupt_s * (1 - w.posted_interrupts)


@stage(occupies=None, uses={"idle_exit_s": "s"}, when="idle", variability=0.5, cites=("ahern2011",))
def idle_exit(w: Words, p: Words) -> Expr:
    """The CPU that the NIC interrupts leaves its idle state first."""
    return p.idle_exit_s


@stage(occupies=None, uses={"forward_wake_s": "s"}, when="idle", variability=0.5, cites=("ahern2011",))
def forward_wake(w: Words, p: Words) -> Expr:
    """A host that only forwards sleeps longer between packets and deeper: softirq and worker start cold."""
    return p.forward_wake_s


@stage(occupies=SOFTIRQ, uses={"forward_s": "s"}, cites=("ahern2011",))
def forward_send(w: Words, p: Words) -> Expr:
    """The host passes each unit from the bridge to the physical NIC's transmit ring."""
    return w.stack_units * p.forward_s


@stage(occupies=CPU, uses={"nic_post_s": "s"}, cites=("ahern2011",))
def nic_post(w: Words, p: Words) -> Expr:
    """The driver maps each unit and writes its descriptors for the NIC."""
    return w.stack_units * p.nic_post_s


@stage(occupies=CPU, uses={"nic_reap_s": "s", "frame_join_s": "s"}, cites=("ahern2011",))
def nic_reap(w: Words, p: Words) -> Expr:
    """The driver takes each frame from the ring of its own NIC function and joins it to its segment."""
    return w.receive_units * p.nic_reap_s + w.packets * w.gro * p.frame_join_s


@stage(occupies=CPU, uses={"dma_map_s": "s"}, cites=("filippov2025a",))
def dma_map(w: Words, p: Words) -> Expr:
    """The driver maps each page for the NIC's IOMMU and takes the mapping back."""
    return w.iommu * (w.stack_units + w.further_buffers) * p.dma_map_s


@stage(occupies=CPU, uses={"ip_forward_s": "s"}, cites=("hoiland2018",))
def ip_forward(w: Words, p: Words) -> Expr:
    """The kernel makes a buffer of each frame and takes it through the IP layer to the other interface."""
    return w.packets * p.ip_forward_s


@stage(occupies=CPU, uses={"route_s": "s", "route_miss_s": "s", "cached_routes": ""}, cites=("hoiland2018",))
def route_lookup(w: Words, p: Words) -> Expr:
    """A forwarding host looks each frame's route up; what of a large table no cache holds comes from memory."""
    missed = w.routes / (w.routes + p.cached_routes)
    return w.packets * (Min(w.routes, 1, evaluate=False) * p.route_s + missed * p.route_miss_s)


@stage(occupies=CPU, uses={"driver_frame_s": "s"}, cites=("hoiland2018",))
def driver_frame(w: Words, p: Words) -> Expr:
    """The driver reads or writes the descriptor of each frame, and no socket buffer is made."""
    return w.packets * p.driver_frame_s


@stage(occupies=CPU, uses={"xdp_redirect_s": "s"}, cites=("hoiland2018",))
def xdp_redirect(w: Words, p: Words) -> Expr:
    """The driver hands each frame of an XDP program to the transmit ring of an interface."""
    return w.packets * p.xdp_redirect_s


@stage(occupies=CPU, uses={"io_miss_s": "s", "io_cache_entries": ""}, cites=("hoiland2018",))
def io_cache_miss(w: Words, p: Words) -> Expr:
    """Frames that the NIC wrote come from memory when all rings together exceed the cache's part for devices.

    Buffers are reused in turn, so a ring a little too large misses nearly always: the share is steep, x^4 / (1 + x^4).
    """
    over = (w.ring_entries * w.queue_count / p.io_cache_entries) ** 4
    return w.packets * p.io_miss_s * over / (1 + over)


@stage(occupies=CPU, uses={"end_interrupt_s": "s"}, cites=("ahern2011",))
def end_interrupt(w: Words, p: Words) -> Expr:
    """The processor of a native end takes the NIC's interrupt."""
    return w.interrupts * p.end_interrupt_s


@stage(occupies=IO_THREAD, uses={"register_exit_s": "s", "rtl8029_reads": ""}, cites=("dykman2007",))
def rtl8029_receive(w: Words, p: Words) -> Expr:
    """The guest's driver reads each packet out of the card's window register by register; each read is an exit."""
    return w.packets * p.rtl8029_reads * p.register_exit_s


@stage(occupies=IO_THREAD, uses={"register_exit_s": "s", "rtl8029_writes": ""}, cites=("dykman2007",))
def rtl8029_send(w: Words, p: Words) -> Expr:
    """The guest's driver writes each packet into the card's window; string output needs few exits."""
    return w.packets * p.rtl8029_writes * p.register_exit_s


@stage(occupies=IO_THREAD, uses={"register_exit_s": "s", "rtl8139_accesses": ""}, cites=("dykman2007",))
def rtl8139_registers(w: Words, p: Words) -> Expr:
    """The guest's driver starts and acknowledges each packet through device registers; each access is an exit."""
    return w.packets * p.rtl8139_accesses * p.register_exit_s


@stage(occupies=IO_THREAD, uses={"register_exit_s": "s", "e1000_accesses": ""}, cites=("ahern2011",))
def e1000_registers(w: Words, p: Words) -> Expr:
    """The guest's driver writes a tail register and reads a cause for each packet; each access is an exit."""
    return w.packets * p.e1000_accesses * p.register_exit_s


@stage(occupies=IO_THREAD, uses={"emulation_s": "s", **COPY}, cites=("dykman2007",))
def emulate_send(w: Words, p: Words) -> Cost:
    """The device model builds each frame and writes it to the tap."""
    return Cost(seconds=w.packets * p.emulation_s + copy_seconds(w.cold_bytes, w.bytes, p), bus_bytes=2 * w.bytes)


@stage(occupies=IO_THREAD, uses={"emulation_s": "s", **COPY}, cites=("dykman2007",))
def emulate_receive(w: Words, p: Words) -> Cost:
    """The device model reads each frame from the tap and copies it into the device's memory: two copies."""
    return Cost(seconds=w.packets * p.emulation_s + 2 * copy_seconds(w.cold_bytes, w.bytes, p), bus_bytes=4 * w.bytes)


@stage(occupies=IO_THREAD, uses={"user_forward_s": "s", **COPY}, cites=("ahern2011",))
def user_forward(w: Words, p: Words) -> Cost:
    """A process in user space reads each frame from one tap and writes it to another: two calls, two copies."""
    copies = 2 * copy_seconds(w.cold_bytes, w.bytes, p)
    return Cost(seconds=w.packets * p.user_forward_s + copies, bus_bytes=4 * w.bytes)


@stage(occupies=None, uses={"tap_tick_s": "s"}, when="idle", variability=0.5, cites=("dykman2007",))
def tap_tick(w: Words, p: Words) -> Expr:
    """After the first packet of a burst each further one waits for the next timer tick of the device model."""
    return w.further_packets * p.tap_tick_s


@stage(occupies=CPU, uses={"generator_s": "s"}, spins=True, cites=("perezmartin2020",))
def generator(w: Words, p: Words) -> Expr:
    """A kernel packet generator puts each frame straight into the tap; a shared core takes twice as long."""
    return w.packets * p.generator_s * (1 + w.core_sharing)


@stage(occupies=WORKER, uses={"xdp_drop_s": "s"}, cites=("perezmartin2020",))
def xdp_drop(w: Words, p: Words) -> Expr:
    """An XDP program on the tap counts and drops each frame, in the worker's own context."""
    return w.packets * p.xdp_drop_s


STAGES: tuple[Stage, ...] = (
    tap_queue,
    tap_send,
    tap_receive,
    skb_free,
    macvtap,
    bridge,
    host_softirq,
    host_interrupt,
    forwarded_interrupt,
    idle_exit,
    forward_wake,
    forward_send,
    nic_post,
    nic_reap,
    dma_map,
    driver_frame,
    ip_forward,
    route_lookup,
    xdp_redirect,
    io_cache_miss,
    end_interrupt,
    rtl8029_receive,
    rtl8029_send,
    rtl8139_registers,
    e1000_registers,
    emulate_send,
    emulate_receive,
    user_forward,
    tap_tick,
    generator,
    xdp_drop,
)
