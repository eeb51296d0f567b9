"""Network devices that hypervisors offer and what serves them, in the names of the model."""

from collections.abc import Mapping
from typing import Any

EMULATED: Mapping[str, str | None] = {  # model -> path; None: emulated, and none of the paths of the model
    "rtl8139": "emulated-rtl8139", "ne2k_pci": "emulated-rtl8029", "ne2k_isa": "emulated-rtl8029",
    "e1000": "emulated-e1000", "e1000-82540em": "emulated-e1000", "e1000-82544gc": "emulated-e1000",
    "e1000-82545em": "emulated-e1000", "e1000e": "emulated-e1000", "igb": "emulated-e1000",
    "pcnet": None, "vmxnet3": None, "tulip": None, "usb-net": None, "lan9118": None, "smc91c111": None,
    "i82550": None, "i82551": None, "i82557b": None, "i82559er": None, "i82562": None, "i82801": None,
    "sungem": None, "sunhme": None, "spapr-vlan": None,
}  # fmt: skip
NEAREST = ("e1000e", "igb")  # modelled by the nearest relative
USER_SPACE_NETWORKS = (
    "user",
    "passt",
    "slirp",
    "vde",
    "socket",
    "stream",
    "dgram",
    "l2tpv3",
    "mcast",
    "udp",
    "server",
    "client",
)
BACKENDS = {
    "vhost": ("virtio-vhost", "virtio-net/vhost-net"),
    "qemu": ("virtio-qemu", "virtio-net/QEMU userspace (vhost off)"),
    "vhost-user": ("vhost-user", "virtio-net/vhost-user"),
    "vhost-vdpa": ("vdpa", "virtio-net/vhost-vdpa"),
    "macvtap-vhost": ("macvtap-vhost", "virtio-net/vhost-net over macvtap"),
}
UNKNOWN_SWITCH = "backend process unknown (OVS-DPDK, VPP ...): its CPU cost is nowhere in this file"


def emulated(model: str, *, sriov: bool = False) -> tuple[dict[str, Any], list[str]]:
    """Path and remarks of an emulated device."""
    path = EMULATED.get(model)
    note = f"emulated {model}"
    if model == "igb":
        note += " (with emulated VFs): not hardware SR-IOV"
    out = {"path": path, "path_text": note, "device_model": model}
    if path is None:
        return out, [f"{model} is emulated, and none of the paths of the model"]
    if model in NEAREST:
        return out, [f"emulated {model} is modelled as emulated e1000, its nearest relative"]
    return out, []


def virtio(backend: str, where: str = "") -> dict[str, Any]:
    """Path of a virtio device by what serves it."""
    path, text = BACKENDS[backend]
    return {
        "path": path,
        "path_text": f"{text} {where}".rstrip(),
        "backend": backend,
    }


def offloads(properties: Mapping[str, bool | None]) -> dict[str, Any]:
    """Switches of a virtio device as the guest and the host will see them.

    properties: csum, gso, host_tso4, host_tso6, guest_csum, guest_tso4, guest_tso6, mrg_rxbuf, event_idx and so on;
    None is not given, which is on. A segment needs its checksum done later, so csum off takes TSO with it.
    """

    def on(*names: str) -> bool:
        return all(properties.get(name) is not False for name in names)

    host_tso = on("host_tso4", "csum") and on("gso")
    guest_tso = on("guest_tso4", "guest_csum")
    out: dict[str, Any] = {
        "host_tso": host_tso, "guest_tso": guest_tso, "tso": host_tso and guest_tso, "gso": on("gso") and on("csum"),
        "csum": on("csum"), "mrg_rxbuf": on("mrg_rxbuf"), "event_idx": on("event_idx"),
    }  # fmt: skip
    for name in ("packed", "in_order"):
        if properties.get(name) is not None:
            out[name] = properties[name]
    return out


def queue_remarks(queues: int | None, vcpus: int | None) -> list[str]:
    """What the number of queue pairs means for a guest with so many vCPUs."""
    if queues and vcpus and queues > vcpus:
        return [f"{queues} queues with {vcpus} vCPUs: the guest will use at most {vcpus}"]
    return []
