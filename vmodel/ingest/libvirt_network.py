"""libvirt network XML: how a network reaches the outside, its bridge and its MTU."""

from typing import Any
from xml.etree.ElementTree import Element

from vmodel.ingest.given import count, words
from vmodel.ingest.result import Ingested

TOOL = "libvirt network XML"
MODES = {"nat": "NAT", "route": "routed", "bridge": "bridge", "private": "macvtap (private)", "vepa": "macvtap (vepa)",
         "passthrough": "macvtap (passthrough)", "hostdev": "SR-IOV VFs", "open": "open"}  # fmt: skip


def read(root: Element) -> Ingested:
    """Read a network; it says where interfaces of type network lead."""
    name = words(root.findtext("name"), 80)
    forward, bridge, mtu = root.find("forward"), root.find("bridge"), root.find("mtu")
    mode = "isolated" if forward is None else words(forward.get("mode"), 20) or "nat"
    made: dict[str, Any] = {
        "network": name or None,
        "network_mode": mode,
        "bridge_name": None if bridge is None else words(bridge.get("name"), 60) or None,
        "bridge": True if mode in ("nat", "route", "open", "isolated", "bridge") and bridge is not None else None,
        "mtu": None if mtu is None else count(mtu.get("size")),
        "path": "vf" if mode == "hostdev" else None,
        "side": "host",
    }
    where = f" on bridge {made['bridge_name']}" if made["bridge_name"] else ""
    made["network_text"] = f"network {name} = {MODES.get(mode, mode)}{where}"
    warnings = []
    if mode in ("nat", "route"):
        warnings.append(f"{MODES[mode]}: packets pass the host's forwarding and firewall beside the bridge")
    return Ingested(tool=TOOL, kind="configuration", configuration=made, warnings=tuple(warnings))
