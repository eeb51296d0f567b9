"""`ip -d link`, as JSON or text: devices with MTU, kind, master, queues, and the limits of virtual functions."""

import re
from collections.abc import Mapping
from typing import Any

from vmodel.ingest.given import Given, count, mapping, objects, words
from vmodel.ingest.result import Ingested, refusal
from vmodel.units import BPS_PER_MBPS

TOOL = "ip link"
ESCAPE = "\x1b"
DEVICE = re.compile(
    r"^\d{1,9}: (?P<name>[^\s:@]{1,64})(?:@(?P<lower>[^\s:]{1,64}))?: <(?P<flags>[A-Z0-9_,-]{0,200})> "
    r"(?P<rest>[^\n]{0,600})"
)
PAIR = re.compile(r"\b(mtu|qdisc|master|state|numtxqueues|numrxqueues|gso_max_size|numqueues|gro_max_size) (\S{1,40})")
VF = re.compile(r"^\s+vf (?P<number>\d{1,6})\s(?P<rest>[^\n]{0,600})")
VF_RATE = re.compile(r"\b(max_tx_rate|min_tx_rate) (\d{1,9})Mbps")
VF_VLAN = re.compile(r"\bvlan (\d{1,5})")
KIND = re.compile(
    r"^\s+(?P<kind>tun|veth|bridge|macvtap|macvlan|vlan|vxlan|bond|openvswitch|dummy|ipvtap|bridge_slave)\b(?P<rest>[^\n]{0,400})"
)
MOST_DEVICES = 100_000
MOST_LOOKED_AT = 500


def is_ip_json(given: Given) -> bool:
    """Whether the JSON is a list of links."""
    found = given.json
    if found is None:
        return False
    if not found.values:
        return '"ifindex"' in given.head or ('"ifname"' in given.head and '"flags"' in given.head)
    rows = list(objects(found.values[0])) if isinstance(found.values[0], list) else []
    return any("ifindex" in row or ("ifname" in row and "flags" in row) for row in rows[:MOST_LOOKED_AT])


def is_ip_text(given: Given) -> bool:
    """Whether a line begins a link."""
    return any(DEVICE.match(line) for line in given.head.split("\n"))


def read_json(given: Given) -> Ingested:
    """Read the list; raises DatasetError for colour codes inside it, damage, or no device."""
    found = given.json
    if ESCAPE in given.raw:
        raise refusal("control characters in the JSON (colour codes of ip -c): run ip -j -c=never")
    if found is None or found.fault:
        raise refusal(f"the JSON of ip is cut off or damaged: {found.fault if found else 'no list'}")
    rows = [row for value in found.values for row in objects(value) if row.get("ifname")]
    return _made([_device(row) for row in rows[:MOST_DEVICES]], given.pick)


def _device(row: Mapping[str, Any]) -> dict[str, Any]:
    info = mapping(row.get("linkinfo"))
    data = mapping(info.get("info_data"))
    kind = words(info.get("info_kind"), 40)
    tap = kind == "tun" and data.get("type", "tap") == "tap"
    flags = [words(flag, 30) for flag in row["flags"]] if isinstance(row.get("flags"), list) else []
    device: dict[str, Any] = {
        "ifname": words(row.get("ifname"), 64),
        "kind": "tap" if tap else kind or ("loopback" if row.get("link_type") == "loopback" else "physical or unknown"),
        "mtu": count(row.get("mtu")),
        "master": words(row.get("master"), 64) or None,
        "up": "UP" in flags,
        "operstate": words(row.get("operstate"), 20) or None,
        "address": words(row.get("address"), 60) or None,
        "qdisc": words(row.get("qdisc"), 40) or None,
        # Queues of a tap are those a program holds open; what num_tx_queues says is how many it might.
        "queues": (count(data.get("numqueues")) if "numqueues" in data else None)
        if tap
        else count(row.get("num_rx_queues")),
        "gso_max_size_bytes": count(row.get("gso_max_size")),
        "gro_max_size_bytes": count(row.get("gro_max_size")),
    }
    if tap:
        device |= {"vnet_hdr": data.get("vnet_hdr") is True, "multi_queue": data.get("multi_queue") is True}
    vfs = [_vf(vf) for vf in objects(row.get("vfinfo_list"))]
    if vfs:
        device["vfs"] = vfs
    parent = words(row.get("parentdev"), 64)
    if parent:
        device["bus_info"] = parent
    return device


def _vf(vf: Mapping[str, Any]) -> dict[str, Any]:
    rate = mapping(vf.get("rate"))
    return _limits(
        count(vf.get("vf")), count(rate.get("max_tx", vf.get("max_tx_rate"))),
        count(rate.get("min_tx", vf.get("min_tx_rate"))),
        next((count(v.get("vlan")) for v in objects(vf.get("vlan_list"))), count(vf.get("vlan"))),
    )  # fmt: skip


def _limits(vf: int | None, most: int | None, least: int | None, vlan: int | None) -> dict[str, Any]:
    """A virtual function; a rate of 0 is no limit."""
    return {
        "vf": vf, "max_tx_mbps": most or None, "max_tx_bps": most * BPS_PER_MBPS if most else None,
        "min_tx_mbps": least or None, "vlan": vlan or None,
    }  # fmt: skip


def read_text(given: Given) -> Ingested:
    """Read the text form."""
    devices: list[dict[str, Any]] = []
    for line in given.lines:
        line = line[:900]
        if (head := DEVICE.match(line)) is not None and len(devices) < MOST_DEVICES:
            pairs = dict(PAIR.findall(head["rest"]))
            flags = head["flags"].split(",")
            devices.append(
                {
                    "ifname": head["name"], "kind": "loopback" if "LOOPBACK" in flags else "physical or unknown",
                    "mtu": count(pairs.get("mtu")), "master": pairs.get("master"), "up": "UP" in flags,
                    "operstate": pairs.get("state"), "qdisc": pairs.get("qdisc"), "queues": None,
                }
            )  # fmt: skip
        elif devices and (vf := VF.match(line)) is not None:
            rates = dict(VF_RATE.findall(vf["rest"]))
            vlan = VF_VLAN.search(vf["rest"])
            limits = _limits(
                int(vf["number"]),
                count(rates.get("max_tx_rate")),
                count(rates.get("min_tx_rate")),
                int(vlan[1]) if vlan else None,
            )
            devices[-1].setdefault("vfs", []).append(limits)
        elif devices and (kind := KIND.match(line)) is not None:
            _detail(devices[-1], kind["kind"], kind["rest"])
    return _made(devices, given.pick)


def _detail(device: dict[str, Any], kind: str, rest: str) -> None:
    """What the -d line of a device adds."""
    if kind == "bridge_slave":
        return
    tap = kind == "tun" and "type tap" in rest
    device["kind"] = "tap" if tap else kind
    pairs = dict(PAIR.findall(rest))
    if tap:
        device |= {"vnet_hdr": "vnet_hdr on" in rest, "multi_queue": "multi_queue on" in rest or "multi_queue" in pairs}
        device["queues"] = count(pairs.get("numqueues"))
    elif "numrxqueues" in pairs:
        device["queues"] = count(pairs["numrxqueues"])


def _made(devices: list[dict[str, Any]], pick: tuple[str, ...]) -> Ingested:
    if not devices:
        raise refusal("no network device in this list")
    named = [d for d in devices if d["ifname"] in pick]
    real = [d for d in devices if d["kind"] != "loopback"]
    one = named[0] if named else real[0] if len(real) == 1 else devices[0] if len(devices) == 1 else None
    configuration: dict[str, Any] = dict(one) if one else {}
    configuration["devices"] = devices
    warnings = []
    if one is not None and one["kind"] == "loopback":
        warnings.append("the loopback device is not a VM path")
    if one is not None and one.get("vnet_hdr") is False and one["kind"] == "tap":
        warnings.append("a tap without vnet_hdr: no checksum or segmentation offload can pass it")
    for vf in (v for d in devices for v in d.get("vfs", ()) if v["max_tx_mbps"]):
        warnings.append(f"VF {vf['vf']} is limited to {vf['max_tx_mbps']} Mbit/s on transmit")
    return Ingested(
        tool=TOOL, kind="configuration", configuration=configuration, warnings=tuple(dict.fromkeys(warnings))
    )
