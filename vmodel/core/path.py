"""Two endpoints and a topology -> the stages a message passes, each with its resource. Nothing here costs time."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from vmodel.errors import ScenarioError


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """What composition needs to know of one endpoint, and where it stands: host 0 or host 1."""

    name: str
    place: str
    attach: str
    tx: tuple[str, ...]
    rx: tuple[str, ...]
    host: int
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One stage at its place: which end or link it belongs to, and the resource it occupies (None: delay)."""

    stage: str
    owner: str
    resource: str | None
    guest: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """The stages from one application to the other, in order."""

    sender: End
    receiver: End
    nodes: tuple[Node, ...]
    direct: bool


PER_HOST = ("poll-mode core", "PCIe link", "NIC DMA engine", "embedded switch", "vDPA device", "host softirq CPU")
OF_GUEST = ("vhost worker", "QEMU I/O thread")
UPLINK = {"kernel": "uplink", "macvtap": "macvtap", "switch": "switch"}
INSIDE_ONLY = ("vsock", "loopback")


def _resource(kind: str | None, node_end: End, direction: str, ends: tuple[End, End]) -> str | None:
    """Name the instance of a resource that a stage of this end occupies.

    A back end runs where the host's own end does, and what a host end does in a worker it does in its guest's.
    """
    if kind is None:
        return None
    if kind == "cpu":
        return f"{'guest vCPU' if node_end.place == 'guest' else 'host CPU'}|{node_end.label}"
    if kind == "back-end CPU":
        host_end = next((end for end in ends if end.place == "host" and end.host == node_end.host), None)
        return f"host CPU|{host_end.label if host_end else node_end.host}"
    if kind == "wire":
        return f"wire|{direction}"
    if kind in OF_GUEST and node_end.place == "host":
        node_end = next((end for end in ends if end.place == "guest"), node_end)
    if kind in PER_HOST:
        return f"{kind}|{node_end.host}"
    return f"{kind}|{node_end.label}"


def chain(
    sender: End,
    receiver: End,
    links: Mapping[str, Sequence[str]],
    occupies: Callable[[str], str | None],
    direction: str,
) -> Chain:
    """Compose the way from a sender's application to a receiver's.

    The ends meet in the kernel, in a user-space switch, or at a NIC; an end that does not reach the NIC itself gets
    an uplink when the way leads through one.  Raises ScenarioError when the two ends cannot meet.
    """
    same = sender.host == receiver.host
    ends = {sender.attach, receiver.attach}
    pieces: list[tuple[str, End]] = [(s, sender) for s in sender.tx]
    direct = False
    if ends & set(INSIDE_ONLY):
        if not (same and len(ends) == 1):
            inner, other = (sender, receiver) if sender.attach in INSIDE_ONLY else (receiver, sender)
            raise ScenarioError("peer", other.name, f"an end on the same host that speaks {inner.attach}")
        direct = True
    elif same and len(ends) == 1 and sender.attach in ("kernel", "macvtap", "switch"):
        direct = True
        if sender.attach == "kernel":
            pieces += [(s, receiver if receiver.place == "guest" else sender) for s in links["kernel-kernel"]]
        elif sender.attach == "macvtap":
            pieces += [(links["macvtap_tx"][0], sender)]
    else:
        if sender.attach != "nic":
            pieces += [(s, sender) for s in links[f"{UPLINK[sender.attach]}_tx"]]
        pieces += [(s, sender) for s in links["nic_tx"]]
        pieces += [(s, sender) for s in links["inside_nic" if same else "between_hosts"]]
        pieces += [(s, receiver) for s in links["nic_rx"]]
        if receiver.attach != "nic":
            pieces += [(s, receiver) for s in links[f"{UPLINK[receiver.attach]}_rx"]]
    pieces += [(s, receiver) for s in receiver.rx]
    nodes = tuple(
        Node(
            stage=name,
            owner=end.label,
            resource=_resource(occupies(name), end, direction, (sender, receiver)),
            guest=end.place == "guest" and occupies(name) == "cpu",
        )
        for name, end in pieces
    )
    return Chain(sender=sender, receiver=receiver, nodes=nodes, direct=direct)


def resource_titles(keys: Sequence[str]) -> dict[str, str]:
    """Resource keys -> names to show: the instance is named only where there is more than one."""
    kinds: dict[str, list[str]] = {}
    for key in dict.fromkeys(keys):
        kinds.setdefault(key.partition("|")[0], []).append(key)
    return {
        key: kind if len(found) == 1 else f"{kind} ({key.partition('|')[2]})"
        for kind, found in kinds.items()
        for key in found
    }
