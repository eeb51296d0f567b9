"""Output for hands: settings by name -> the commands, libvirt XML and QEMU options that put them in force.

What each setting is called by the tools is data (commands.toml); what a NIC driver makes of a number is the device
table. Text only: nothing is run, and every name that a user gave is quoted.
"""

import shlex
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any
from xml.etree import ElementTree as Xml

from vmodel.library import tables
from vmodel.library.moderation import devices, moderate, number_to_write
from vmodel.units import BYTES_PER_KIB, NS_PER_S, US_PER_S

GUEST, HOST, PEER, DOMAIN, QEMU = "guest", "host", "peer", "libvirt", "qemu"
PLACES: Mapping[str, str] = {
    GUEST: "in the guest",
    HOST: "on the host",
    PEER: "on the other host",
    DOMAIN: "libvirt domain",
    QEMU: "QEMU options",
}
MODERATION = ("rx_usecs", "rx_frames", "adaptive_rx", "pf_rx_usecs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """What the things are called that the commands act on."""

    guest: str = "eth0"
    host: str = "eth0"
    tap: str = "vnet0"
    bridge: str = "br0"
    domain: str = "DOMAIN"
    pci: str = "0000:00:00.0"  # address of an assigned function


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The path that the settings belong to, and the NIC drivers whose interrupts its receivers wait for.

    timers: place (guest, host, peer) -> driver of the device table, and whether it is a virtual function's.
    """

    path: str
    timers: Mapping[str, tuple[str, bool]] = field(default_factory=dict)
    names: Names = Names()


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Text to carry out at one place, the settings it puts in force, and what to know about it."""

    place: str
    text: str
    knobs: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hands:
    """Everything that puts a set of settings in force."""

    steps: tuple[Step, ...]
    without: Mapping[str, str]  # setting -> why no command sets it
    warnings: tuple[str, ...]  # values that the tool or the device does not take as they are

    def at(self, place: str) -> tuple[Step, ...]:
        """The steps of one place."""
        return tuple(step for step in self.steps if step.place == place)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a command: what stands beside it in the same command has the same place and head."""

    knob: str
    place: str
    head: tuple[str, ...]
    words: str
    note: str


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(files("vmodel.library").joinpath("commands.toml").read_text(encoding="utf-8"))


def _paths(row: Mapping[str, Any]) -> set[str]:
    groups = _table()["groups"]
    return {path for name in row["paths"] for path in groups.get(name, (name,))}


def group(name: str) -> tuple[str, ...]:
    """The paths of a group of the table."""
    return tuple(_table()["groups"][name])


def reason_without(knob: str, path: str) -> str:
    """Why a setting has no command where no way of the table applies."""
    here = any(path in _paths(row) for row in _table()["ways"].get(knob, ()))
    return "it is so unless somebody sets it otherwise" if here else str(_table()["without"][knob])


def hands(values: Mapping[str, float], target: Target, *, attach: bool = False) -> Hands:
    """The commands and snippets that put settings in force on a path.

    values: knobs by name in their own units.  attach: also how the guest is attached on this path, settings or not.
    Raises UnknownName for a setting that is no knob.
    """
    pieces: list[_Piece] = []
    without: dict[str, str] = {}
    warnings: list[str] = []
    for name, value in values.items():
        tables.knob(name)
        fixed = tables.endpoint(target.path).fixed
        if name in fixed:
            without[name] = f"{target.path} fixes it at {str(fixed[name]).lower()}"
        elif name not in MODERATION:
            found = _ways(name, value, target, warnings)
            pieces += found
            if not found:
                without[name] = reason_without(name, target.path)
    pieces += _moderation(values, target, without, warnings)
    steps = (*_commands(pieces, target), *_libvirt(pieces, target, attach), *_qemu(pieces, target, attach))
    return Hands(steps=steps, without=without, warnings=tuple(dict.fromkeys(warnings)))


def _ways(name: str, value: float, target: Target, warnings: list[str]) -> list[_Piece]:
    out = []
    for row in _table()["ways"].get(name, ()):
        position = "on" if value else "off"
        if target.path not in _paths(row) or row.get("when", position) != position or value < row.get("from", value):
            continue
        taken = _taken(name, value, row, warnings)
        names = _names(target.names, row["kind"])
        words = row["write"].format_map(_spellings(taken) | names)
        note = row.get("note", "").format_map(_spellings(taken) | names)
        out.append(_Piece(name, row.get("where", ""), _head(row, target), words, note))
    return out


def _taken(name: str, value: float, row: Mapping[str, Any], warnings: list[str]) -> float:
    """The value as the tool takes it: within its limits, a power of two where it must be."""
    taken = float(min(max(value, row.get("least", value)), row.get("most", value)))
    if row.get("power"):
        taken = float(1 << int(taken - 1).bit_length())
    if taken != value:
        tool = "libvirt and QEMU take" if row["kind"] in ("driver", "device", "netdev") else "the tool takes"
        warnings.append(f"{name} {value:g} is not what {tool}: {taken:g} is written")
    return taken


def _spellings(value: float) -> dict[str, str]:
    return {
        "n": f"{value:.15g}",
        "onoff": "on" if value else "off",
        "ns": f"{value * NS_PER_S / US_PER_S:.0f}",
        "kib": f"{value / BYTES_PER_KIB:.0f}",
        "pairs": f"{2 * value + 2:.0f}",
    }


def _names(names: Names, kind: str) -> dict[str, str]:
    """The user's names, quoted for a shell; XML quotes by itself."""
    plain = {field_name: getattr(names, field_name) for field_name in Names.__dataclass_fields__}
    return plain if kind in ("driver", "interface", "domain") else {k: shlex.quote(v) for k, v in plain.items()}


def _head(row: Mapping[str, Any], target: Target) -> tuple[str, ...]:
    kind = row["kind"]
    if kind == "ethtool":
        interface = getattr(target.names, row.get("interface", row["where"]))
        return ("ethtool", row["flag"], shlex.quote(interface))
    return (kind, row["flag"]) if "flag" in row else (kind,)


def _moderation(
    values: Mapping[str, float], target: Target, without: dict[str, str], warnings: list[str]
) -> Iterator[_Piece]:
    """The coalescing settings of each place, as its driver takes them."""
    asked = {name: values[name] for name in MODERATION if name in values}
    written: set[str] = set()
    refused: dict[str, str] = {}
    for place, (device, virtual) in target.timers.items():
        usecs_from = "pf_rx_usecs" if "pf_rx_usecs" in asked and not virtual else "rx_usecs"
        given = {"rx_usecs": asked.get(usecs_from), "rx_frames": asked.get("rx_frames")}
        words, refusals = _ethtool_words(device, given, asked.get("adaptive_rx"), warnings)
        sources = {"rx_usecs": usecs_from, "rx_frames": "rx_frames", "adaptive_rx": "adaptive_rx"}
        refused |= {sources[name]: reason for name, reason in refusals.items()}
        interface = getattr(target.names, GUEST if place == GUEST else HOST)
        for name, text in words.items():
            written.add(sources[name])
            yield _Piece(sources[name], place, ("ethtool", "-C", shlex.quote(interface)), text, "")
    for name in asked:
        if name not in written:
            without[name] = refused.get(name, reason_without(name, target.path))


def _ethtool_words(
    device: str, given: Mapping[str, float | None], adaptive: float | None, warnings: list[str]
) -> tuple[dict[str, str], dict[str, str]]:
    """What to write after `ethtool -C DEV` for one driver, and what it does not take, with the reason."""
    record = devices()[device]
    usecs, frames = given["rx_usecs"], given["rx_frames"]
    asked = {"adaptive_rx": adaptive, "rx_usecs": usecs, "rx_frames": frames}
    if not record.honoured:
        return {}, {k: f"{device} does not honour it: {record.note}" for k, v in asked.items() if v is not None}
    words: dict[str, str] = {}
    refused: dict[str, str] = {}
    on = None if adaptive is None else bool(adaptive)
    if record.adaptive_switch and (on is not None or usecs is not None or frames is not None):
        words["adaptive_rx" if on is not None else "rx_usecs"] = f"adaptive-rx {'on' if on else 'off'}"
    elif on and not record.adaptive_switch:
        mode = next((m for m in record.special if m.mode == "adaptive"), None)
        if mode is None:
            refused["adaptive_rx"] = f"{device} has no adaptive mode"
        else:
            default = record.mode(record.default_rx_usecs) or mode
            words["adaptive_rx"] = f"rx-usecs {default.rx_usecs:g}"
    elif on is False:
        refused["adaptive_rx"] = f"{device} has no switch for it: a time in rx-usecs turns it off"
    silenced = on is None and record.adaptive_switch and bool(words)  # the line below turns the adaptive mode off
    found = moderate(device, usecs, None if frames is None else int(frames), False if silenced else on)
    warnings.extend(found.warnings)
    if silenced and record.adaptive_default:
        warnings.append(f"{device} starts adaptive: a time acts only with adaptive-rx off, which is written too")
    if on:
        refused |= {
            name: f"the adaptive mode of {device} overrides it"
            for name, value in (("rx_usecs", usecs), ("rx_frames", frames))
            if value is not None
        }
        return words, refused
    if usecs is not None:
        words["rx_usecs"] = " ".join(
            filter(None, (words.get("rx_usecs"), f"rx-usecs {number_to_write(device, usecs)}"))
        )
    if frames is not None and record.frames:
        cap = f"rx-frames {min(int(frames), record.max_frames)}"
        words["rx_frames"] = cap
        if usecs is None and "rx_usecs" in words:
            words["rx_frames"] = f"{words.pop('rx_usecs')} {cap}"
    elif frames is not None:
        refused["rx_frames"] = f"{device} has a timer only"
    return words, refused


def _commands(pieces: Sequence[_Piece], target: Target) -> Iterator[Step]:
    """Shell commands: what the same tool sets on the same interface stands in one line."""
    for place in (GUEST, HOST, PEER):
        mine = [p for p in pieces if p.place == place and p.head[0] in ("ethtool", "sysctl", "module", "shell")]
        for head in dict.fromkeys(p.head for p in mine if p.head[0] != "shell"):
            group = [p for p in mine if p.head == head]
            words = " ".join(p.words for p in group)
            yield Step(place=place, text=_line(head, words), knobs=_knobs(group), notes=_notes(group))
        for piece in mine:
            if piece.head[0] == "shell":
                yield Step(place=place, text=piece.words, knobs=(piece.knob,), notes=_notes([piece]))


def _line(head: tuple[str, ...], words: str) -> str:
    if head[0] == "ethtool":
        return " ".join((*head, words))
    if head[0] == "sysctl":
        return f"sysctl -w {words}"
    module = head[1]
    keep = f"echo 'options {module} {words}' > /etc/modprobe.d/vmodel-{module}.conf"
    return f"{keep}  # in force when {module} is loaded again"


def _knobs(group: Sequence[_Piece]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(p.knob for p in group))


def _notes(group: Sequence[_Piece]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(p.note for p in group if p.note))


def attributes(text: str) -> dict[str, str]:
    """`a=1 b=2` as a dictionary."""
    return dict(word.split("=", 1) for word in text.split())


def _libvirt(pieces: Sequence[_Piece], target: Target, attach: bool) -> Iterator[Step]:
    """Domain XML: the interface with all that belongs into it, then the elements of the domain."""
    mine = [p for p in pieces if p.head[0] in ("driver", "interface")]
    if (mine or attach) and "type" in _table()["attach"].get(target.path, {}):
        yield Step(place=DOMAIN, text=_xml_text(_interface(mine, target)), knobs=_knobs(mine), notes=_notes(mine))
    for piece in pieces:
        if piece.head[0] == "domain":
            text = _xml_text(_domain_element(piece))
            yield Step(place=DOMAIN, text=text, knobs=(piece.knob,), notes=_notes([piece]))


def _interface(pieces: Sequence[_Piece], target: Target) -> Xml.Element:
    row = _table()["attach"][target.path]
    names = _names(target.names, "interface")
    root = Xml.Element("interface", {"type": row["type"]})
    if row.get("pci"):
        root.set("managed", "yes")
        Xml.SubElement(Xml.SubElement(root, "source"), "address", _pci(target.names.pci))
    elif "source" in row:
        Xml.SubElement(root, "source", attributes(row["source"]) | {})
        for key, value in root[0].attrib.items():
            root[0].set(key, value.format_map(names))
    if "model" in row:
        Xml.SubElement(root, "model", {"type": row["model"]})
    driver = {"name": row["driver"]} if "driver" in row else {}
    for piece in pieces:
        if piece.head[0] == "driver":
            driver |= attributes(piece.words)
        else:
            found = root.find(piece.head[1])
            (Xml.SubElement(root, piece.head[1]) if found is None else found).attrib.update(attributes(piece.words))
    if driver:
        Xml.SubElement(root, "driver", driver)
    return root


def _pci(address: str) -> dict[str, str]:
    """0000:03:10.0 as the attributes of a libvirt address; a part that is missing stays zero."""
    head, _, function = address.rpartition(".")
    parts = [part or "0" for part in head.split(":")]
    domain, bus, slot = ["0000", "00", "00", *parts][-3:] if head else ("0000", "00", "00")
    return {
        "type": "pci",
        "domain": f"0x{domain}",
        "bus": f"0x{bus}",
        "slot": f"0x{slot}",
        "function": f"0x{function or '0'}",
    }


def _domain_element(piece: _Piece) -> Xml.Element:
    """`memoryBacking/hugepages` with `page size=2048` becomes nested elements; words without = are text."""
    outer, *inner = piece.head[1].split("/")
    root = node = Xml.Element(outer)
    for tag in inner:
        node = Xml.SubElement(node, tag)
    first, *rest = piece.words.split()
    if rest:
        Xml.SubElement(node, first, attributes(" ".join(rest)))
    else:
        node.text = first
    return root


def _xml_text(root: Xml.Element) -> str:
    Xml.indent(root)
    return Xml.tostring(root, encoding="unicode").replace(" />", "/>")


def _qemu(pieces: Sequence[_Piece], target: Target, attach: bool) -> Iterator[Step]:
    """QEMU options on one line."""
    row = _table()["attach"].get(target.path, {})
    names = _names(target.names, "netdev")
    found = {kind: [p for p in pieces if p.head[0] == kind] for kind in ("netdev", "device", "option")}
    if not (attach or any(found.values())) or "device" not in row:
        return
    words = []
    for kind in ("chardev", "netdev", "device"):
        if kind in row and (attach or found["netdev"] or found["device"]):
            words.append(",".join([f"-{kind} {row[kind].format_map(names)}", *(p.words for p in found.get(kind, ()))]))
    words += [p.words for p in found["option"]]
    used = [p for group in found.values() for p in group]
    yield Step(place=QEMU, text=" ".join(words), knobs=_knobs(used), notes=_notes(used))


def lines(found: Hands) -> list[str]:
    """A script-like text: one block for each place, notes and reasons as comments."""
    out: list[str] = []
    for place, title in PLACES.items():
        steps = found.at(place)
        if steps:
            out.append(f"# {title}")
            for step in steps:
                out += [*step.text.splitlines(), *(f"#   {note}" for note in step.notes)]
    out += [f"# warning: {warning}" for warning in found.warnings]
    out += [f"# no command sets {name}: {reason}" for name, reason in found.without.items()]
    return out


def hands_json(found: Hands) -> dict[str, Any]:
    """The same as a record."""
    return {
        "steps": [
            {"place": s.place, "text": s.text, "settings": list(s.knobs), "notes": list(s.notes)} for s in found.steps
        ],
        "without_command": dict(found.without),
        "warnings": list(found.warnings),
    }
