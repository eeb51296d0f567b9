"""What can be measured on one host: each a path of the model, laid between two namespaces of our own."""

import ipaddress
import socket
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vmodel.errors import ConfigError, Fault
from vmodel.measure.ground import Ground, GroundError, Space, run

NETWORK = ipaddress.ip_network("198.18.0.0/30")  # RFC 2544: for measurements, never routed
CLIENT, SERVER = (str(address) for address in NETWORK.hosts())
LOOPBACK = "127.0.0.1"
LOOPBACK_MTU = 65535  # the largest IP packet; Linux gives its loopback one byte more
MTU = 1500
NO_OFFLOAD = {"tso": False, "gro": False}  # a tap whose process reads plain frames gets them cut
PACKAGE = Path(__file__).resolve().parents[2]
VSOCK_LOCAL = 1  # VMADDR_CID_LOCAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """Two ends with an address between them, and the knobs that say how they are joined."""

    path: str
    client: Space | None  # None: this host itself
    server: Space | None
    address: str
    vsock: bool = False  # the address is a context identifier
    knobs: Mapping[str, Any] = field(default_factory=dict)


def loopback(ground: Ground) -> Course:
    """The loopback of a namespace; where none can be had, that of this host, which needs no rights."""
    try:
        space = ground.space()
    except GroundError:
        return Course(path="loopback", client=None, server=None, address=LOOPBACK, knobs=_loopback_knobs())
    run(space, "ip", "link", "set", "lo", "mtu", str(LOOPBACK_MTU))
    run(space, "ip", "address", "add", CLIENT, "dev", "lo")  # netperf finds no address where 127.0.0.1 is the only one
    return Course(path="loopback", client=space, server=space, address=LOOPBACK, knobs=_loopback_knobs())


def _loopback_knobs() -> dict[str, Any]:
    return {"mtu": LOOPBACK_MTU, "tso": True, "gro": True}


def _wire(one: Space, name: str, other: Space, far: str) -> None:
    """A veth pair with an end in each namespace."""
    mtu = ("mtu", str(MTU))
    run(one, "ip", "link", "add", name, *mtu, "type", "veth", "peer", "name", far, *mtu, "netns", str(other.pid))
    run(one, "ip", "link", "set", name, "up")
    run(other, "ip", "link", "set", far, "up")


def _address(space: Space, name: str, address: str) -> None:
    run(space, "ip", "address", "add", f"{address}/{NETWORK.prefixlen}", "dev", name)


def veth(ground: Ground) -> Course:
    """A veth pair between two namespaces."""
    client, server = ground.space(), ground.space()
    _wire(client, "veth0", server, "veth0")
    _address(client, "veth0", CLIENT)
    _address(server, "veth0", SERVER)
    return Course(path="veth", client=client, server=server, address=SERVER, knobs={"mtu": MTU})


def bridge(ground: Ground) -> Course:
    """Two namespaces, each with a veth pair to a bridge in a third: containers on one bridge."""
    client, server, middle = ground.space(), ground.space(), ground.space()
    run(middle, "ip", "link", "add", "bridge0", "type", "bridge", "stp_state", "0", "forward_delay", "0")
    run(middle, "ip", "link", "set", "bridge0", "up")
    for number, (end, address) in enumerate(((client, CLIENT), (server, SERVER))):
        _wire(middle, f"port{number}", end, "veth0")
        run(middle, "ip", "link", "set", f"port{number}", "master", "bridge0")
        _address(end, "veth0", address)
    return Course(path="veth-bridge", client=client, server=server, address=SERVER, knobs={"mtu": MTU})


def tap(ground: Ground) -> Course:
    """A tap in each of two namespaces, and a process in user space that passes frames between them."""
    client, server = ground.space(), ground.space()
    ground.keep(client, [sys.executable, "-P", "-m", "vmodel.measure.cable", f"/proc/{server.pid}/ns/net"], PACKAGE)
    for end, address in ((client, CLIENT), (server, SERVER)):
        run(end, "ip", "link", "set", "tap0", "mtu", str(MTU), "up")
        _address(end, "tap0", address)
    return Course(path="tap", client=client, server=server, address=SERVER, knobs={"mtu": MTU, **NO_OFFLOAD})


def vsock(ground: Ground) -> Course:
    """vsock within this kernel, which no namespace separates. Raises GroundError where the kernel has none."""
    why = vsock_missing()
    if why:
        raise GroundError(why)
    return Course(path="vsock-loopback", client=None, server=None, address=str(VSOCK_LOCAL), vsock=True)


LAYOUTS: Mapping[str, Callable[[Ground], Course]] = {
    "loopback": loopback, "veth": veth, "bridge": bridge, "tap": tap, "vsock": vsock,
}  # fmt: skip


def own(address: str) -> Course:
    """A course on an address of this host itself; any other address is refused before a packet leaves.

    Raises ConfigError. An address is our own if a socket can be bound to it; traffic to it never leaves the host.
    """
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        raise _not_ours(address, "an IP address of this host") from None
    if parsed.is_unspecified or parsed.is_multicast:
        raise _not_ours(address, "an address of this host that a server can have")
    kind = socket.AF_INET if parsed.version == 4 else socket.AF_INET6
    try:
        with socket.socket(kind, socket.SOCK_DGRAM) as probe:
            probe.bind((address, 0))
    except OSError:
        raise _not_ours(address, "an address of this host: measure sends to no other machine") from None
    return Course(path="loopback", client=None, server=None, address=address, knobs=_loopback_knobs())


def _not_ours(address: str, expected: str) -> ConfigError:
    return ConfigError([Fault(file="", key="--address", value=address, expected=expected)])


def vsock_missing() -> str:
    """Why vsock cannot be measured within this host, empty if it can: its local address can be bound only if it is."""
    if not hasattr(socket, "AF_VSOCK"):
        return "this Python knows no vsock"
    try:
        with socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM) as probe:
            probe.bind((VSOCK_LOCAL, socket.VMADDR_PORT_ANY))
    except OSError:
        return "the kernel has no vsock_loopback"
    return ""
