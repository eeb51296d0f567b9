"""What ethtool's settings mean, from text or JSON: units, `n/a`, mode numbers, invented link speeds."""

import re
from collections.abc import Mapping
from typing import Any

from vmodel.ingest.given import count, number, words
from vmodel.ingest.result import refusal
from vmodel.units import BPS_PER_MBPS

Facts = tuple[dict[str, Any], list[str]]
SWITCH = {"on": True, "off": False, "yes": True, "no": False, "true": True, "false": False}
ABSENT = ("n/a", "")
COALESCE = {
    "rx_usecs": "rx-usecs", "rx_frames": "rx-frames", "tx_usecs": "tx-usecs", "tx_frames": "tx-frames",
    "rx_usecs_irq": "rx-usecs-irq", "rx_frames_irq": "rx-frames-irq",
}  # fmt: skip
FEATURES = {
    "tso": "tcp-segmentation-offload", "gso": "generic-segmentation-offload", "gro": "generic-receive-offload",
    "lro": "large-receive-offload", "rx_csum": "rx-checksumming", "tx_checksumming": "tx-checksumming",
    "scatter_gather_offload": "scatter-gather", "rx_gro_hw": "rx-gro-hw", "tx_udp_segmentation": "tx-udp-segmentation",
}  # fmt: skip
MODES = {  # numbers that are modes of Intel's drivers, where adaptive-rx does not exist or is off
    1: "ixgbevf, ixgbe, igb, igbvf or e1000e", 2: "igbvf", 3: "e1000e, igb or igbvf",
}  # fmt: skip
GIGABIT = 10**3  # [Mbit/s]
NO_SPEED = 2**32 - 1  # an unknown speed printed as a number, and its 16-bit form
SPEED = re.compile(r"(\d{1,12})(?:\s?Mb(?:it)?/s)?\b")
VIRTUAL_PREFIXES = (
    "tap",
    "tun",
    "vnet",
    "veth",
    "macvtap",
    "vif",
    "virbr",
    "br",
    "docker",
    "fwpr",
    "fwln",
    "lxc",
    "cali",
)


def switch(value: Any) -> bool | None:
    """A switch of text or JSON; None for `n/a` and everything else."""
    if isinstance(value, bool):
        return value
    return SWITCH.get(value.strip().casefold()) if isinstance(value, str) else None


def setting(value: Any, name: str) -> int | None:
    """A number of a setting; None for `n/a` or what is not there. Raises DatasetError for anything else."""
    if value is None or (isinstance(value, str) and value.strip().casefold() in ABSENT):
        return None
    found = count(value)
    if found is None or found > NO_SPEED:
        raise refusal(f'{words(name, 40)} = "{words(str(value)[:200], 40)}": expected a whole number or n/a')
    return found


def coalescing(values: Mapping[str, Any]) -> Facts:
    """Interrupt moderation; a value that the driver does not have is None, never 0."""
    found: dict[str, Any] = {key: setting(values.get(name), name) for key, name in COALESCE.items()}
    for key in ("adaptive-rx", "adaptive-tx"):
        found[key.replace("-", "_")] = switch(values.get(key, values.get(f"use-{key}")))
    for key in ("cqe-mode-rx", "cqe-mode-tx"):
        if key in values:
            found[key.replace("-", "_")] = switch(values[key])
    if all(value is None for value in found.values()):
        raise refusal("every value is n/a: no coalescing settings on this device")
    warnings = []
    usecs, adaptive = found["rx_usecs"], found["adaptive_rx"]
    numbers = [n for value in values.values() if (n := number(value)) is not None]
    zeros = len(numbers) > 10 and not any(numbers) and adaptive is False
    if zeros:
        warnings.append(
            "every value is 0: the old form of ethtool prints 0 also for fields the driver does not support; "
            "rx_usecs=0 and adaptive_rx=off are of low certainty"
        )
    elif adaptive:
        warnings.append(f"adaptive RX is on: rx_usecs={_told(usecs)} is momentary and moves with the load, not a bound")
    elif usecs in MODES:
        warnings.append(
            f"rx_usecs={usecs} with driver {MODES[usecs]} means dynamic ITR chosen by load, not {usecs} us; "
            "the driver is unknown from this file: give ethtool -i too"
        )
    if usecs == 0 and found["rx_frames"] == 1 and found["tx_frames"] == 1:
        found["device"], found["side"] = "virtio", "guest"  # what virtio_net answers without moderation
    return found, warnings


def _told(value: int | None) -> str:
    return "unknown" if value is None else str(value)


def rings(most: Mapping[str, Any], now: Mapping[str, Any]) -> Facts:
    """Ring sizes: those in use, and the largest there can be."""
    rx, tx = setting(now.get("rx"), "RX"), setting(now.get("tx"), "TX")
    rx_max, tx_max = setting(most.get("rx"), "RX"), setting(most.get("tx"), "TX")
    if rx is None and tx is None:
        raise refusal("no ring is in use: no ring sizes on this device")
    found = {
        "rx_ring": rx, "tx_ring": tx, "rx_ring_max": rx_max, "tx_ring_max": tx_max,
        "rx": rx, "tx": tx, "rx_max": rx_max, "tx_max": tx_max, "rx_jumbo": setting(now.get("rx-jumbo"), "RX Jumbo"),
    }  # fmt: skip
    warnings = []
    if found["rx_jumbo"]:
        warnings.append("an RX Jumbo ring is in use beside the RX ring")
    return found, warnings


def channels(most: Mapping[str, Any], now: Mapping[str, Any]) -> Facts:
    """Queue pairs: combined channels carry both ways, RX and TX channels one; `Other` carries no data."""
    queues, rx, tx = _pairs(now)
    if rx is None and tx is None:
        raise refusal("no channel is in use: no queues on this device")
    queues_max, _, _ = _pairs(most)
    found = {"queues": queues, "queues_max": queues_max, "rx_queues": rx, "tx_queues": tx}
    warnings = []
    if queues and queues_max and queues < queues_max:
        warnings.append(f"{queues} of at most {queues_max} queue pairs are in use: the current number counts")
    if rx and tx and rx != tx:
        warnings.append(f"{rx} receive and {tx} transmit queues: {queues} full queue pairs")
    return found, warnings


def _pairs(side: Mapping[str, Any]) -> tuple[int | None, int | None, int | None]:
    rx, tx, both = (setting(side.get(name), name) for name in ("rx", "tx", "combined"))
    if rx is None and tx is None and both is None:
        return None, None, None
    rx_all, tx_all = (both or 0) + (rx or 0), (both or 0) + (tx or 0)
    return min(rx_all, tx_all) or None, rx_all or None, tx_all or None


def features(states: Mapping[str, Any], full: Mapping[str, Any]) -> Facts:
    """Offloads as they are in force; `off [requested on]` is off."""
    found: dict[str, Any] = {key: switch(states[name]) for key, name in FEATURES.items() if name in states}
    if all(value is None for value in found.values()):
        raise refusal("no offload that is known: no features of this device")
    found.setdefault("tso", None)
    found.setdefault("gro", None)
    warnings = []
    wished = [words(name, 60) for name, value in full.items() if _wished(value)]
    if wished:
        listed = ", ".join(wished[:3]) + (f" and {len(wished) - 3} more" if len(wished) > 3 else "")
        warnings.append(f"off although requested on: {listed}; the state is off, so packets cost one by one")
    return found, warnings


def _wished(value: Any) -> bool:
    if isinstance(value, Mapping):
        return value.get("active") is False and value.get("requested") is True
    return isinstance(value, str) and value.startswith("off") and "[requested on]" in value


def link(pairs: Mapping[str, Any], name: str) -> Facts:
    """The link: its rate where it is one, its state, and why a printed speed is no limit."""
    told = words(str(pairs.get("Speed", pairs.get("speed", ""))), 40)
    found_speed = SPEED.match(told)
    speed = number(found_speed[1]) if found_speed else None
    if speed is not None and speed in (0, NO_SPEED, 2**16 - 1):
        speed = None
    state = pairs.get("Link detected", pairs.get("link-detected"))
    up = switch(state.split(" ")[0] if isinstance(state, str) else state)
    if speed is None and up is None:
        raise refusal("neither speed nor link state: no link settings of this device")
    modes = words(str(pairs.get("Supported link modes", pairs.get("supported-link-modes", ""))), 200)
    port = words(str(pairs.get("Port", pairs.get("port", ""))), 60)
    # Taps, veths and bridges print a constant; no hardware claims a speed without a single link mode.
    virtual = name.startswith(VIRTUAL_PREFIXES) or (
        speed is not None and modes == "Not reported" and port == "Twisted Pair"
    )
    found: dict[str, Any] = {
        "speed_mbps": None if speed is None else int(speed),
        "speed_is_real": None if speed is None else not virtual,
        "link_bps": None if speed is None or virtual or up is False else speed * BPS_PER_MBPS,
        "link_up": up,
        "duplex": words(str(pairs.get("Duplex", pairs.get("duplex", ""))), 20) or None,
    }
    warnings = []
    if speed is not None and virtual:
        warnings.append(f"Speed {int(speed)}Mb/s on a tun/tap/veth device is a made-up constant: no link rate")
    elif speed is not None and up is False:
        warnings.append(f"link is down (Link detected: no) although Speed says {int(speed)}Mb/s")
    elif up is False:
        warnings.append("link is down (Link detected: no)")
    elif speed == GIGABIT and port == "Twisted Pair" and not virtual:
        warnings.append(
            "an emulated e1000 also claims 1000Mb/s and does not keep to it: if this is one, take no limit from it "
            "(ethtool -i tells the driver)"
        )
    return found, warnings
