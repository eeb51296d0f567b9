"""The words a formula may use: knobs (settings), traffic (counts per message) and the units of both.

The words are declared here once; a stage that misspells one fails when it is declared, with the list of words.
What the words are worth in a scenario is computed by `library.traffic` and `solve`.
"""

from collections.abc import Mapping

import sympy

from vmodel.errors import StageError, nearest

# word -> unit ("" is dimensionless, "B" bytes, "B/s" bytes per second, "s" seconds)
KNOB_WORDS: Mapping[str, str] = {
    "size_bytes": "B",
    "mtu_bytes": "B",
    "link_bytes_s": "B/s",
    "segment_limit_bytes": "B",
    "rx_buffer_bytes": "B",
    "page_bytes": "B",
    "timestamps": "",
    "tso": "",
    "gro": "",
    "nodelay": "",
    "udp": "",
    "coalesce_writes": "",
    "scatter_gather": "",
    "batch": "",
    "descriptor_batch": "",
    "batched_fetch": "",
    "buf_api": "",
    "interrupt_batch": "",
    "event_idx": "",
    "zero_copy": "",
    "zero_copy_rx": "",
    "send_zero_copy": "",
    "iommu": "",
    "smap": "",
    "direct_metadata": "",
    "packed_ring": "",
    "in_order": "",
    "dma_engine": "",
    "posted_interrupts": "",
    "irq_affinity": "",
    "credit_per_packet": "",
    "merge_rx_buffers": "",
    "busy_poll": "",
    "halt_poll": "",
    "worker_poll": "",
    "numa_local": "",
    "core_sharing": "",
    "chain": "",
    "vms": "",
    "routes": "",
    "ring_entries": "",
    "queue_count": "",
    "merges": "",
    "fills": "",
    "joins": "",
    "kick_packets": "",
    "tx_flood": "",
    "packet_weight": "",
    "direct_tap": "",
    "direct": "",
    "header_bytes": "B",
    "timestamp_bytes": "B",
    "datagram_saving_bytes": "B",
    "frame_bytes": "B",
    "gap_bytes": "B",
    "bridged": "",
    "nat": "",
}

# what one message becomes on its way, per direction
TRAFFIC_WORDS: Mapping[str, str] = {
    "bytes": "B",  # payload of one message
    "tcp": "",  # whether TCP carries it
    "segments": "",  # units the stack hands to a device, per message
    "packets": "",  # frames on the wire, per message
    "stack_units": "",  # units the sending stack works on (segments with TSO, packets without)
    "receive_units": "",  # units the receiving stack works on (segments with GRO, packets without)
    "delivered": "",  # units that a guest takes from its ring: segments of its host, frames of a poll-mode switch
    "tap_units": "",  # units that cross a tap of the user-space device model
    "wire_bytes": "B",  # bytes that occupy the wire, preamble and gap included
    "cold_bytes": "B",  # bytes of a message on the first page of a send or receive call
    "segment_cold_bytes": "B",  # the same for the pieces that a device or worker copies
    "further_buffers": "",  # receive buffers a message fills beyond one for each segment
    "vsock_packets": "",  # virtio-vsock packets per message
    "vsock_fill": "",  # vsock packets that share one receive buffer
    "vsock_large": "",  # vsock packets whose buffer is too large for the slab allocator
    "vsock_cold_bytes": "B",  # bytes on the first page of each vsock packet
    "first_packet_bytes": "B",  # bytes of the first vsock packet of a message
    "further_packets": "",  # packets of a message after its first
    "taken": "",  # units a worker takes in one round
    "fetch_batch": "",  # descriptors fetched at once
    "kicks": "",  # notifications to the back end, per message
    "interrupts": "",  # notifications to the receiver, per message
}

UNITS: Mapping[str, str] = {**KNOB_WORDS, **TRAFFIC_WORDS}


class Words:
    """Attribute access to declared words as non-negative sympy symbols; remembers which were used."""

    def __init__(self, declared: Mapping[str, str], owner: str) -> None:
        self._declared = declared
        self._owner = owner
        self.used: set[str] = set()

    def __getattr__(self, name: str) -> sympy.Symbol:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._declared:
            guess = nearest(name, self._declared)
            raise StageError(stage=self._owner, fault=f"no word {name!r}; did you mean {guess!r}?")
        self.used.add(name)
        return sympy.Symbol(name, nonnegative=True)
