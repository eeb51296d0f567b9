"""Stages between a guest and its host: virtqueues, vhost, vhost-user, vDPA, QEMU, Xen rings."""

from sympy import Expr, sqrt

from vmodel.core.stage import Cost, Stage, stage
from vmodel.core.symbols import Words
from vmodel.library.guest import COPY, CPU, copy_seconds

WORKER = "vhost worker"
POLL_CORE = "poll-mode core"
IO_THREAD = "QEMU I/O thread"
BACK_CPU = "back-end CPU"
WORKER_COPY = {"cold_copy_bytes_s": "B/s", "worker_copy_bytes_s": "B/s"}


def _worker_copy(w: Words, p: Words) -> Expr:
    """Time of a worker's copy between guest memory and the kernel, less what a DMA engine takes over."""
    cpu = w.segment_cold_bytes / p.cold_copy_bytes_s + (w.bytes - w.segment_cold_bytes) / p.worker_copy_bytes_s
    return cpu * (1 - w.dma_engine)


def _remote(w: Words, p: Words) -> Expr:
    """Factor on memory accesses that go to the other NUMA node."""
    return 1 + (1 - w.numa_local) * p.numa_penalty


PMD = {"pmd_packet_s": "s", "used_entry_s": "s", "split_ring_s": "s", "numa_penalty": "", **COPY}


def _pmd(units: Expr, w: Words, p: Words) -> Cost:
    """What a poll-mode core pays for units through a guest's ring: descriptors, the entry given back, and the copy."""
    given_back = (1 - w.in_order) * p.used_entry_s + (1 - w.packed_ring) * p.split_ring_s
    copied = copy_seconds(w.segment_cold_bytes, w.bytes, p) * (1 - w.dma_engine)
    seconds = units * (p.pmd_packet_s + given_back) + copied
    return Cost(seconds=w.chain * seconds * _remote(w, p), bus_bytes=2 * w.chain * w.bytes)


@stage(occupies=CPU, uses={"descriptor_post_s": "s"}, cites=("perezmartin2020",))
def virtqueue_post(w: Words, p: Words) -> Expr:
    """The front-end driver makes descriptors for each segment and shows them in the ring."""
    return w.segments * p.descriptor_post_s


@stage(occupies=CPU, uses={"descriptor_reap_s": "s", "frame_join_s": "s"}, cites=("perezmartin2020", "virtink2023"))
def virtqueue_reap(w: Words, p: Words) -> Expr:
    """The front-end driver takes used buffers from the ring, posts fresh ones, and joins frames that nobody joined."""
    return w.delivered * (p.descriptor_reap_s + (1 - w.direct) * (1 - w.joins) * p.frame_join_s)


@stage(occupies=CPU, uses={"kick_check_s": "s"}, cites=("xuan2021",))
def kick_check(w: Words, p: Words) -> Expr:
    """The driver of an AF_XDP sender shows its frames and looks whether the worker wants a kick."""
    return w.packets / w.kick_packets * p.kick_check_s


@stage(occupies=None, uses={"worker_wake_s": "s"}, when="idle", variability=0.5, cites=("ahern2011",))
def worker_wake(w: Words, p: Words) -> Expr:
    """The scheduler wakes the vhost worker; a worker that polls its rings is awake."""
    return p.worker_wake_s * (1 - w.worker_poll)


@stage(occupies=None, uses={"flood_packet_s": "s"}, when="idle", variability=0.5, cites=("zhang2018",))
def turn_wait(w: Words, p: Words) -> Expr:
    """A packet to a guest that floods its transmit ring waits for the worker's turn to end, half of one on average."""
    return w.tx_flood * w.packet_weight / 2 * p.flood_packet_s


@stage(
    occupies=None, uses={"flood_packet_s": "s", "flood_depth": ""}, when="idle", variability=0.1, cites=("zhang2018",)
)
def ring_ahead(w: Words, p: Words) -> Expr:
    """A packet of a guest that floods its transmit ring waits behind the ring and what is queued before it."""
    return w.tx_flood * w.ring_entries * p.flood_depth * p.flood_packet_s


@stage(
    occupies=WORKER,
    uses={"send_descriptor_s": "s", "send_prefetch_s": "s", "send_fetch_turn_s": "s"},
    cites=("perezmartin2020",),
)
def vhost_fetch_send(w: Words, p: Words) -> Expr:
    """The worker reads each transmit descriptor: one by one, or a batch ahead into an array of its own."""
    single = p.send_descriptor_s
    ahead = p.send_prefetch_s + p.send_fetch_turn_s / w.fetch_batch
    return w.segments * ((1 - w.batched_fetch) * single + w.batched_fetch * ahead)


@stage(
    occupies=WORKER,
    uses={"receive_descriptor_s": "s", "receive_prefetch_s": "s", "receive_fetch_turn_s": "s"},
    cites=("perezmartin2020",),
)
def vhost_fetch_receive(w: Words, p: Words) -> Expr:
    """The worker reads each receive descriptor: one by one, or a batch ahead into an array of its own."""
    single = p.receive_descriptor_s
    ahead = p.receive_prefetch_s + p.receive_fetch_turn_s / w.fetch_batch
    return w.segments * ((1 - w.batched_fetch) * single + w.batched_fetch * ahead)


@stage(
    occupies=WORKER,
    uses={"translation_s": "s", "translation_reuse": "", "numa_penalty": ""},
    cites=("perezmartin2020",),
)
def vhost_translate(w: Words, p: Words) -> Expr:
    """The worker turns guest addresses into its own; read ahead, one look-up serves 1 + reuse descriptors."""
    return w.segments * p.translation_s / (1 + w.batched_fetch * p.translation_reuse) * _remote(w, p)


@stage(
    occupies=WORKER,
    uses={"vhost_send_packet_s": "s", "vhost_send_turn_s": "s", "send_meeting_s": "s", "buf_api_send_s": "s"},
    cites=("perezmartin2020",),
)
def vhost_send(w: Words, p: Words) -> Expr:
    """The worker handles each transmitted segment, and hands a batch to the tap in one call.

    The call is paid once a batch; what meets the guest in the used ring is paid 1/sqrt(batch), as in reception.
    """
    shared = p.vhost_send_turn_s / w.taken + p.send_meeting_s / sqrt(w.taken)
    return w.segments * (p.vhost_send_packet_s + shared + w.buf_api * p.buf_api_send_s)


@stage(
    occupies=WORKER,
    uses={
        "vhost_receive_packet_s": "s",
        "tap_meeting_s": "s",
        "ring_meeting_s": "s",
        "buf_api_meeting_s": "s",
        "numa_penalty": "",
    },
    cites=("perezmartin2020", "feller1968"),
)
def vhost_receive(w: Words, p: Words) -> Expr:
    """The worker takes each packet from the tap's ring; each time it meets the producer there it waits for its line.

    Both are busy all the time, so their distance in the ring is a walk without drift, which returns to zero about
    sqrt(n) times in n steps: a batch of n pays sqrt(n) meetings, a packet 1/sqrt(n) of one. Descriptors that are
    read one by one meet the guest's refills in the same way; read ahead they do not.
    """
    met = p.tap_meeting_s + (1 - w.batched_fetch) * p.ring_meeting_s + w.buf_api * p.buf_api_meeting_s
    meeting = met / sqrt(w.taken) * _remote(w, p)
    return w.segments * (p.vhost_receive_packet_s + meeting)


@stage(occupies=WORKER, uses={"receive_buffer_s": "s"}, cites=("garzarella2019",))
def vhost_buffers(w: Words, p: Words) -> Expr:
    """The worker goes on to another receive buffer where a large segment fills more than one."""
    return w.further_buffers * p.receive_buffer_s


@stage(occupies=WORKER, uses={"send_copy_call_s": "s", **WORKER_COPY}, cites=("ahern2011", "perezmartin2020"))
def vhost_copy_send(w: Words, p: Words) -> Cost:
    """The worker copies each segment from the guest into a host buffer; zero-copy pins the pages instead."""
    kept = 1 - w.zero_copy
    return Cost(seconds=kept * (w.segments * p.send_copy_call_s + _worker_copy(w, p)), bus_bytes=kept * 2 * w.bytes)


@stage(occupies=WORKER, uses={"zero_copy_pin_s": "s"}, cites=("ahern2011",))
def vhost_pin(w: Words, p: Words) -> Expr:
    """With zero-copy the worker pins and unpins the guest's pages of each segment."""
    return w.zero_copy * (w.segments + w.further_buffers) * p.zero_copy_pin_s


@stage(occupies=WORKER, uses={"receive_copy_call_s": "s", **WORKER_COPY}, cites=("ahern2011", "perezmartin2020"))
def vhost_copy_receive(w: Words, p: Words) -> Cost:
    """The worker copies each segment into the guest's buffers; a NIC function of its own can write there itself."""
    kept = 1 - w.zero_copy_rx
    return Cost(seconds=kept * (w.segments * p.receive_copy_call_s + _worker_copy(w, p)), bus_bytes=kept * 2 * w.bytes)


@stage(occupies=WORKER, uses={"user_access_s": "s", "ring_metadata_s": "s"}, cites=("wang2019",))
def vhost_user_access(w: Words, p: Words) -> Expr:
    """The worker reads a ring's indices and two more words of guest memory for each segment; SMAP opens and closes
    user memory for each access, and indices that are mapped into the kernel need neither."""
    indices = 1 - w.direct_metadata
    return w.segments * (w.smap * (indices + 2) * p.user_access_s + indices * p.ring_metadata_s)


@stage(occupies=WORKER, uses={"used_entry_s": "s", "split_ring_s": "s"}, cites=("wang2025", "wang2019"))
def vhost_give_back(w: Words, p: Words) -> Expr:
    """The worker gives each buffer back: by an entry of its own unless in order, on more lines in a split ring."""
    return w.segments * ((1 - w.in_order) * p.used_entry_s + (1 - w.packed_ring) * p.split_ring_s)


@stage(occupies=WORKER, uses={"signal_s": "s"}, cites=("perezmartin2020", "lettieri2018"))
def vhost_signal(w: Words, p: Words) -> Expr:
    """The worker raises the guest's interrupt."""
    return w.interrupts * p.signal_s


@stage(occupies=WORKER, uses={"event_check_s": "s"}, cites=("perezmartin2020", "lettieri2018"))
def event_check(w: Words, p: Words) -> Expr:
    """The worker reads the guest's event index for each segment to learn whether an interrupt is wanted."""
    return w.segments * w.event_idx * p.event_check_s


@stage(occupies=POLL_CORE, uses=PMD, spins=True, cites=("dpdk2020", "cnftestbed2018a"))
def pmd_dequeue(w: Words, p: Words) -> Cost:
    """A poll-mode core takes each segment out of the guest's ring and copies it, once for each function of a chain."""
    return _pmd(w.segments, w, p)


@stage(occupies=POLL_CORE, uses=PMD, spins=True, cites=("dpdk2020", "cnftestbed2018a"))
def pmd_enqueue(w: Words, p: Words) -> Cost:
    """A poll-mode core copies what it has into the guest's ring: segments of a guest, frames of a NIC."""
    return _pmd(w.delivered, w, p)


@stage(occupies=POLL_CORE, uses={"pmd_turn_s": "s"}, cites=("dpdk2020", "cnftestbed2018a"))
def pmd_switch(w: Words, p: Words) -> Expr:
    """The poll-mode core comes round once a batch; several VMs divide a batch, so that each has more rounds."""
    return w.segments * w.chain * w.vms * p.pmd_turn_s / w.taken


@stage(occupies=POLL_CORE, uses={"pmd_nic_s": "s"}, spins=True, cites=("emmerich2015", "csit2017"))
def pmd_nic_send(w: Words, p: Words) -> Expr:
    """The poll-mode core of a switch posts each segment to the NIC."""
    return w.stack_units * p.pmd_nic_s


@stage(occupies=POLL_CORE, uses={"pmd_nic_s": "s"}, spins=True, cites=("emmerich2015", "csit2017"))
def pmd_nic_receive(w: Words, p: Words) -> Expr:
    """The poll-mode core of a switch takes each frame from the NIC; nobody joins frames there."""
    return w.packets * p.pmd_nic_s


@stage(occupies=POLL_CORE, uses={"memif_s": "s", **COPY}, spins=True, cites=("cnftestbed2018a",))
def memif_copy(w: Words, p: Words) -> Cost:
    """A poll-mode core copies each frame through a shared-memory interface, once for each function of a chain."""
    seconds = w.segments * p.memif_s + copy_seconds(w.segment_cold_bytes, w.bytes, p)
    return Cost(seconds=w.chain * seconds, bus_bytes=2 * w.chain * w.bytes)


@stage(occupies="vDPA device", uses={"vdpa_packet_s": "s"}, cites=("perezmartin2020",))
def vdpa_ring(w: Words, p: Words) -> Expr:
    """The NIC reads the guest's virtqueue itself: no worker, no copy of descriptors."""
    return w.packets * p.vdpa_packet_s


@stage(
    occupies=None,
    uses={"worker_wake_s": "s", "io_thread_wake_s": "s"},
    when="idle",
    variability=0.5,
    cites=("ahern2011", "dykman2007"),
)
def io_thread_wake(w: Words, p: Words) -> Expr:
    """The scheduler wakes the device model's main loop, which then returns to user space and looks for its work."""
    return (p.worker_wake_s + p.io_thread_wake_s) * (1 - w.worker_poll)


@stage(occupies=IO_THREAD, uses={"qemu_send_s": "s", **WORKER_COPY}, cites=("ahern2011", "dykman2007"))
def qemu_send(w: Words, p: Words) -> Cost:
    """The I/O thread takes each unit from the guest's ring and writes it to the tap: one kernel/user copy."""
    return Cost(seconds=w.tap_units * p.qemu_send_s + _worker_copy(w, p), bus_bytes=2 * w.bytes)


@stage(
    occupies=IO_THREAD,
    uses={"qemu_receive_s": "s", "receive_buffer_s": "s", **WORKER_COPY},
    cites=("ahern2011", "dykman2007"),
)
def qemu_receive(w: Words, p: Words) -> Cost:
    """The I/O thread reads each unit from the tap into a buffer of its own, one kernel/user copy, and fills the
    guest's receive buffers one after the other."""
    handled = w.tap_units * p.qemu_receive_s + w.further_buffers * p.receive_buffer_s
    return Cost(seconds=handled + _worker_copy(w, p), bus_bytes=2 * w.bytes)


@stage(occupies=IO_THREAD, uses=COPY, cites=("ahern2011",))
def qemu_internal_copy(w: Words, p: Words) -> Cost:
    """The I/O thread copies from its own buffer into the guest's scatter list: the second copy of reception."""
    copied = 1 - w.direct_tap
    return Cost(seconds=copied * copy_seconds(w.segment_cold_bytes, w.bytes, p), bus_bytes=2 * copied * w.bytes)


@stage(occupies=BACK_CPU, uses={"event_channel_s": "s"}, cites=("dykman2007",))
def event_channel(w: Words, p: Words) -> Expr:
    """A domain notifies the other through an event channel: a hypercall and a switch of domains."""
    return w.kicks * p.event_channel_s


@stage(occupies=BACK_CPU, uses={"xen_ring_s": "s"}, cites=("dykman2007",))
def xen_ring(w: Words, p: Words) -> Expr:
    """netback moves each packet's requests and responses through the shared ring."""
    return w.packets * p.xen_ring_s


@stage(occupies=BACK_CPU, uses={"page_flip_s": "s", "flip_call_s": "s"}, cites=("dykman2007", "menon2006"))
def grant_flip(w: Words, p: Words) -> Expr:
    """netback gives pages away to a paravirtual guest: one hypercall a burst, one page-table change a packet."""
    return w.kicks * p.flip_call_s + w.packets * p.page_flip_s


@stage(occupies=BACK_CPU, uses={"grant_copy_bytes_s": "B/s"}, cites=("dykman2007", "menon2006"))
def grant_copy(w: Words, p: Words) -> Cost:
    """netback has the hypervisor copy the payload into granted pages."""
    return Cost(seconds=w.bytes / p.grant_copy_bytes_s, bus_bytes=2 * w.bytes)


@stage(occupies=None, uses={"domain_wake_s": "s"}, when="idle", variability=0.5, cites=("dykman2007",))
def domain_wake(w: Words, p: Words) -> Expr:
    """The hypervisor's scheduler runs the blocked domain again."""
    return p.domain_wake_s


@stage(occupies=None, uses={"hvm_event_s": "s"}, when="idle", variability=0.5, cites=("dykman2007",))
def hvm_event(w: Words, p: Words) -> Expr:
    """A fully virtualised guest gets its event as an emulated interrupt, with the exits that belong to it."""
    return p.hvm_event_s


@stage(occupies=CPU, uses={"hvm_packet_s": "s"}, cites=("dykman2007",))
def hvm_shadow(w: Words, p: Words) -> Expr:
    """A fully virtualised guest under shadow paging pays for the page tables that each packet touches."""
    return w.packets * p.hvm_packet_s


@stage(occupies=CPU, uses={"netfront_s": "s"}, cites=("dykman2007",))
def netfront(w: Words, p: Words) -> Expr:
    """netfront makes requests for each packet and takes responses back."""
    return w.packets * p.netfront_s


STAGES: tuple[Stage, ...] = (
    virtqueue_post,
    virtqueue_reap,
    kick_check,
    worker_wake,
    turn_wait,
    ring_ahead,
    vhost_fetch_send,
    vhost_fetch_receive,
    vhost_translate,
    vhost_send,
    vhost_receive,
    vhost_buffers,
    vhost_copy_send,
    vhost_pin,
    vhost_copy_receive,
    vhost_user_access,
    vhost_give_back,
    vhost_signal,
    event_check,
    pmd_dequeue,
    pmd_enqueue,
    pmd_switch,
    pmd_nic_send,
    pmd_nic_receive,
    memif_copy,
    vdpa_ring,
    io_thread_wake,
    qemu_send,
    qemu_receive,
    qemu_internal_copy,
    event_channel,
    xen_ring,
    grant_flip,
    grant_copy,
    domain_wake,
    hvm_event,
    netfront,
    hvm_shadow,
)
