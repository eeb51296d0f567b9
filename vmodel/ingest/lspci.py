"""`lspci -vv`: what the PCIe link of each network device can do and what it came up with."""

import re
from typing import Any

from vmodel.ingest.given import Given, count, words
from vmodel.ingest.result import Ingested, refusal
from vmodel.units import BPS_PER_GBPS

TOOL = "lspci -vv"
HEAD = re.compile(r"^(?P<at>(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) (?P<what>[^\n]{1,300})")
LINK = re.compile(r"Speed (?P<speed>\d{1,4}(?:\.\d{1,3})?)\s?GT/s[^,\n]{0,30}, Width x(?P<width>\d{1,2})")
PAYLOAD = re.compile(r"MaxPayload (\d{1,5}) bytes")
NODE = re.compile(r"NUMA node: (-?\d{1,5})")
DRIVER = re.compile(r"Kernel driver in use: (\S{1,64})")
NETWORK = ("Ethernet controller", "Network controller", "Infiniband controller")
# lanes carry 8 of 10 bits up to 5 GT/s, 128 of 130 beyond, and 242 of 256 bytes of a flit from 64 GT/s
CODING = ((5.0, 8 / 10), (32.0, 128 / 130), (64.0, 242 / 256))
MOST_DEVICES = 10_000


def is_lspci(given: Given) -> bool:
    """Whether a line begins a device of lspci."""
    lines = given.head.split("\n")
    return any(HEAD.match(line) for line in lines) and (
        "LnkCap" in given.text or "LnkSta" in given.text or "controller" in given.head
    )


def read(given: Given) -> Ingested:
    """Read the network devices; raises DatasetError where there is none, or none tells its link."""
    devices: list[dict[str, Any]] = []
    now: dict[str, Any] | None = None
    for line in given.lines:
        line = line[:400]
        head = HEAD.match(line)
        if head is not None:
            now = None
            if any(kind in head["what"] for kind in NETWORK) and len(devices) < MOST_DEVICES:
                now = {
                    "bus_info": head["at"],
                    "title": words(head["what"], 120),
                    "role": "VF" if "Virtual Function" in head["what"] else None,
                }
                devices.append(now)
        elif now is not None:
            _take(now, line.strip())
    if not devices:
        raise refusal("no network device in this lspci output")
    linked = [d for d in devices if "pcie_width" in d]
    if not linked:
        raise refusal("no LnkSta in this lspci output: run lspci -vv as root")
    named = [d for d in devices if d["bus_info"] in given.pick or f"0000:{d['bus_info']}" in given.pick]
    one = named[0] if named else linked[0] if len(linked) == 1 else None
    configuration: dict[str, Any] = dict(one) if one else {}
    configuration["devices"] = devices
    warnings = [
        f"{d['bus_info']}: link runs at {d['pcie_gt_s']:g} GT/s x{d['pcie_width']}, the device can do "
        f"{d['pcie_gt_s_max']:g} GT/s x{d['pcie_width_max']}"
        for d in linked
        if d.get("pcie_width_max") and (d["pcie_width"] < d["pcie_width_max"] or d["pcie_gt_s"] < d["pcie_gt_s_max"])
    ]
    return Ingested(tool=TOOL, kind="configuration", configuration=configuration, warnings=tuple(warnings[:50]))


def _take(device: dict[str, Any], line: str) -> None:
    """One line of a device."""
    found = LINK.search(line)
    if line.startswith("LnkCap:") and found is not None:
        device |= {"pcie_gt_s_max": float(found["speed"]), "pcie_width_max": int(found["width"])}
    elif line.startswith("LnkSta:") and found is not None:
        speed, width = float(found["speed"]), int(found["width"])
        device |= {"pcie_gt_s": speed, "pcie_width": width, "pcie_bps": _bps(speed, width)}
    elif line.startswith("DevCtl:") or line.startswith("MaxPayload"):
        _payload(device, line)
    elif (node := NODE.search(line)) is not None:
        device["numa_node"] = count(node[1])
    elif (driver := DRIVER.search(line)) is not None:
        device["driver"] = driver[1]


def _payload(device: dict[str, Any], line: str) -> None:
    found = PAYLOAD.search(line)
    if found is not None:
        device["pcie_payload_bytes"] = int(found[1])


def _bps(speed: float, width: int) -> float | None:
    """What the lanes carry after their coding, before headers of packets."""
    share = next((part for limit, part in CODING if speed <= limit), None)
    return None if share is None else speed * BPS_PER_GBPS * width * share
