"""What the name of a Linux network driver says: role, data path, side, and the row of the device table."""

from dataclasses import dataclass
from typing import Any

from vmodel.ingest.result import refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Driver:
    """The meaning of one driver name; None where the name alone does not tell."""

    role: str
    path: str | None = None
    device: str | None = None
    side: str | None = None
    warning: str = ""
    refused: str = ""


PF = "PF or passed-through device"
CLOUD = "pass-through device of a cloud with provider limits ({limits}): the host side is unknown"
FOREIGN = "is outside this model (KVM/QEMU paths only)"
DRIVERS: dict[str, Driver] = {
    "virtio_net": Driver(
        role="guest end of virtio-net", device="virtio", side="guest",
        warning="virtio_net is the guest's end: it does not tell whether vhost, QEMU or a user-space switch serves it",
    ),
    "igb": Driver(role=PF, device="igb"),
    "igc": Driver(role=PF),
    "ixgbe": Driver(role=PF, device="ixgbe"),
    "i40e": Driver(role=PF, device="i40e"),
    "ice": Driver(role=PF, device="ice"),
    "bnxt_en": Driver(role="PF or VF"),
    "mlx4_en": Driver(role="PF or VF"),
    "mlx5_core": Driver(role="PF or VF", device="mlx5"),
    "mlx5e_rep": Driver(role="representor of a VF", side="host"),
    "tg3": Driver(role=PF),
    "r8169": Driver(role=PF),
    "st_gmac": Driver(role=PF, device="dwmac"),
    "stmmac": Driver(role=PF, device="dwmac"),
    "igbvf": Driver(role="VF", path="vf", device="igbvf"),
    "ixgbevf": Driver(role="VF", path="vf", device="ixgbevf"),
    "iavf": Driver(role="VF", path="vf", device="iavf"),
    "i40evf": Driver(role="VF", path="vf", device="iavf"),
    "8139cp": Driver(role="emulated", path="emulated-rtl8139", device="rtl8139", side="guest"),
    "8139too": Driver(role="emulated", path="emulated-rtl8139", device="rtl8139", side="guest"),
    "ne2k-pci": Driver(role="emulated", path="emulated-rtl8029", device="rtl8029", side="guest"),
    "e1000": Driver(
        role="emulated", path="emulated-e1000", device="e1000_emulated", side="guest",
        warning="driver e1000: taken for the emulated 82540EM of a guest, since real ones are rare",
    ),
    "e1000e": Driver(role="PF, passed-through or emulated device"),
    "vmxnet3": Driver(
        role="emulated or VMware's", device="vmxnet3", side="guest",
        warning="driver vmxnet3: VMware's own NIC, or QEMU's emulation of it; neither is a path of the model",
    ),
    "tun": Driver(role="tap", device="tap", side="host"),
    "veth": Driver(role="veth", side="host"),
    "bridge": Driver(role="bridge", side="host"),
    "macvlan": Driver(role="macvlan or macvtap", side="host"),
    "macvtap": Driver(role="macvtap", side="host"),
    "bonding": Driver(role="bond", side="host"),
    "openvswitch": Driver(role="Open vSwitch port", side="host"),
    "ena": Driver(
        role="cloud VF", path="vf", device="ena", side="guest",
        warning="driver ena (EC2): " + CLOUD.format(limits="per-flow 5 or 10 Gbit/s, packets/s allowance"),
    ),
    "gve": Driver(
        role="cloud NIC", side="guest", warning="driver gve (Google): " + CLOUD.format(limits="per-VM egress")
    ),
    "mana": Driver(
        role="cloud VF", path="vf", side="guest", warning="driver mana (Azure): " + CLOUD.format(limits="per-VM rate")
    ),
    "hv_netvsc": Driver(role="foreign", refused=f"driver hv_netvsc (Hyper-V) {FOREIGN}"),
    "vif": Driver(role="foreign", refused=f"driver vif (Xen netfront) {FOREIGN}"),
    "xen_netfront": Driver(role="foreign", refused=f"driver xen_netfront (Xen) {FOREIGN}"),
}  # fmt: skip
SAME = {"xen-netfront": "xen_netfront", "ne2k_pci": "ne2k-pci", "vfio-pci": "vfio-pci"}


def known(name: str) -> Driver | None:
    """What is known of a driver; raises DatasetError for one of another hypervisor."""
    found = DRIVERS.get(SAME.get(name, name))
    if found is not None and found.refused:
        raise refusal(found.refused)
    return found


def facts(name: str) -> tuple[dict[str, Any], list[str]]:
    """Configuration keys that follow from a driver's name, and warnings."""
    found = known(name)
    if found is None:
        return {"role": None, "path": None}, [f"driver {name}: not known to the model"]
    out: dict[str, Any] = {"role": found.role, "path": found.path, "side": found.side, "device": found.device}
    return out, [found.warning] if found.warning else []
