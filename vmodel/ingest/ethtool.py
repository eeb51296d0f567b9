"""ethtool in text: -c, -g, -k, -l, -i, -S and the link, some or all of them. JSON is `ethtool_json.py`."""

import re
from dataclasses import dataclass, field
from typing import Any

from vmodel.ingest.drivers import facts
from vmodel.ingest.ethtool_facts import channels, coalescing, features, link, rings
from vmodel.ingest.given import Given, number, words
from vmodel.ingest.result import Ingested, refusal

TOOL = "ethtool"
HEAD = re.compile(
    r"^(?P<kind>Coalesce parameters|Ring parameters|Channel parameters|Features|Offload parameters|Settings) "
    r"for (?P<name>[^\s:]{1,64}(?::[^\s:]{1,20})?):\s*$"
)
DRIVER = re.compile(r"^driver: (\S{1,64})\s*$")
STATISTICS = re.compile(r"^(?:NIC statistics|Statistics for [^\n]{1,64}):\s*$")
FAULT = re.compile(
    r"^(?:ethtool: (?P<usage>bad command line[^\n]{0,60}|unrecognized option[^\n]{0,80})"
    r"|netlink error: (?P<netlink>[^\n]{1,120})|(?P<cannot>Cannot get [^\n]{1,80}: [^\n]{1,100})"
    r"|(?P<none>No data available|no stats available))\s*$"
)
LETTERS = {
    "Coalesce parameters": "c", "Ring parameters": "g", "Channel parameters": "l", "Features": "k",
    "Offload parameters": "k", "Settings": "link",
}  # fmt: skip
MEANT = {"c": "no coalescing settings", "g": "no ring sizes", "l": "no channels", "k": "no features", "i": "no driver"}
CANNOT = {
    "coalesce": "c", "ring": "g", "channel": "l", "driver information": "i", "features": "k", "settings for": "link",
    "stats strings": "S", "link status": "link",
}  # fmt: skip
MOST_DEVICES = 500


@dataclass(slots=True, kw_only=True)
class Section:
    """One query's answer about one device."""

    kind: str
    name: str | None
    lines: list[str] = field(default_factory=list)


def is_ethtool(given: Given) -> bool:
    """Whether a line begins one of ethtool's answers or is one of its errors."""
    lines = given.head.split("\n")
    heads = any(HEAD.match(line) or STATISTICS.match(line) or FAULT.match(line) for line in lines)
    return heads or (any(DRIVER.match(line) for line in lines) and "bus-info:" in given.head)


def read(given: Given) -> Ingested:
    """Read every answer in the text; raises DatasetError for errors only, or several devices without a name."""
    sections, faults = _sections(given)
    wanted = _wanted(sections, given.pick)
    kept = [s for s in sections if s.name is None or s.name == wanted]
    configuration: dict[str, Any] = {"ifname": wanted} if wanted else {}
    warnings: list[str] = []
    for kind, text in faults:
        warnings.append(f"ethtool{f' -{kind}' if kind and kind != 'link' else ''}: {text}")
    if len([s for s in kept if s.kind == "i"]) > 1:
        raise refusal("holds ethtool -i of more than one device: split them")
    kinds = [s.kind for s in kept]
    kept = [s for s in kept if s.lines]
    if not kept:
        raise refusal(_why(faults, kinds))
    kinds = [s.kind for s in kept]
    counters: dict[str, int] = {}
    for section in kept:
        if section.kind == "S":
            counters.update(_counters(section.lines))
            continue
        found, more = _meaning(section)
        configuration.update(found)
        warnings += more
    if wanted == "lo":
        warnings.append("the loopback device is not a VM path")
    tool = f"{TOOL} -{kinds[0]}" if len(set(kinds)) == 1 and kinds[0] != "link" else TOOL
    if counters and set(kinds) == {"S"}:
        warnings.append("counters since the device came up, not settings: no rate without a second reading")
        made = {"metric": None, "workload": None, "counters": counters, "usable": False, "because": "counters, no rate"}
        return Ingested(tool=tool, kind="observations", observations=(made,), warnings=tuple(warnings))
    if counters:
        configuration["counters"] = counters
    return Ingested(tool=tool, kind="configuration", configuration=configuration, warnings=tuple(warnings))


def _sections(given: Given) -> tuple[list[Section], list[tuple[str, str]]]:
    sections: list[Section] = []
    faults: list[tuple[str, str]] = []
    now: Section | None = None
    for line in given.lines:
        if len(line) > 300 or len(sections) > MOST_DEVICES:
            continue
        if (head := HEAD.match(line)) is not None:
            now = Section(kind=LETTERS[head["kind"]], name=head["name"])
            sections.append(now)
        elif STATISTICS.match(line) is not None:
            now = Section(kind="S", name=None)
            sections.append(now)
        elif DRIVER.match(line) is not None:
            now = Section(kind="i", name=None, lines=[line])
            sections.append(now)
        elif (fault := FAULT.match(line)) is not None:
            text = fault["usage"] or fault["netlink"] or fault["cannot"] or fault["none"]
            kind = next((k for word, k in CANNOT.items() if word in text), now.kind if now and not now.lines else "")
            faults.append((kind, text))
        elif now is not None and line.strip():
            now.lines.append(line)
    return sections, faults


def _wanted(sections: list[Section], pick: tuple[str, ...]) -> str | None:
    """The device that the text is about, or that the user named."""
    names = list(dict.fromkeys(s.name for s in sections if s.name is not None))
    named = [name for name in pick if name in names]
    if named:
        return named[0]
    if len(names) > 1:
        listed = words(", ".join(names), 120)
        raise refusal(f"holds {len(names)} devices ({listed}): name the one to use, with --interface")
    return names[0] if names else None


def _why(faults: list[tuple[str, str]], kinds: list[str]) -> str:
    if not faults:
        return "the ethtool output has a heading and nothing below it"
    kind, text = faults[0]
    kind = kind or (kinds[0] if kinds else "")
    option = f" -{kind}" if kind and kind != "link" else ""
    if "bad command line" in text or "unrecognized" in text:
        return f'this ethtool does not know the option ("{text}"); where --json is missing, use the text form'
    hint = (
        f" ({MEANT[kind]} on this device)"
        if kind in MEANT
        else " (the driver does not answer: give the value by hand; igbvf, for one, has one queue pair)"
    )
    return f"ethtool{option}: {text}{hint}"


def _pairs(lines: list[str]) -> list[tuple[str, str]]:
    """Name and value of each line with a colon."""
    return [(name.strip(), value.strip()) for line in lines for name, colon, value in (line.partition(":"),) if colon]


def _counters(lines: list[str]) -> dict[str, int]:
    found = ((name, number(value)) for name, value in _pairs(lines))
    return {words(name, 80): int(value) for name, value in found if value is not None}


def _meaning(section: Section) -> tuple[dict[str, Any], list[str]]:
    """Keys and warnings of one section."""
    pairs = _pairs(section.lines)
    if section.kind == "i":
        return _driver(dict(pairs))
    if section.kind == "c":
        values: dict[str, Any] = {}
        for name, value in pairs:
            if name in ("Adaptive RX", "CQE mode RX"):
                rx, _, tx = value.partition("TX:")
                stem = "adaptive" if name.startswith("Adaptive") else "cqe-mode"
                values[f"{stem}-rx"], values[f"{stem}-tx"] = rx.strip(), tx.strip()
            else:
                values[name] = value
        return coalescing(values)
    if section.kind in ("g", "l"):
        return (rings if section.kind == "g" else channels)(*_halves(section.lines))
    if section.kind == "k":
        return features({name: value.split()[0] if value.split() else "" for name, value in pairs}, dict(pairs))
    return link(dict(pairs), section.name or "")


def _halves(lines: list[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The maxima and the current settings."""
    halves: tuple[dict[str, Any], dict[str, Any]] = {}, {}
    place = 1
    for line in lines:
        if line.startswith("Pre-set maximums"):
            place = 0
        elif line.startswith("Current hardware settings"):
            place = 1
        else:
            name, colon, value = line.partition(":")
            if colon:
                halves[place][name.strip().casefold().replace(" ", "-")] = value.strip()
    return halves


def _driver(pairs: dict[str, str]) -> tuple[dict[str, Any], list[str]]:
    name = words(pairs.get("driver"), 64)
    found, warnings = facts(name)
    bus = words(pairs.get("bus-info"), 64) or None
    return {
        "driver": name, "driver_version": words(pairs.get("version"), 64) or None,
        "firmware_version": words(pairs.get("firmware-version"), 64) or None, "bus_info": bus, **found,
    }, warnings  # fmt: skip
