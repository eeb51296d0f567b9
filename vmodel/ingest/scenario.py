"""From several tool outputs to one scenario: which file says what, what contradicts, what is left out and why.

A file's configuration becomes candidates for settings; where several files speak of one setting a rule chooses, and
the choice is told. Reading files belongs to `read.py`, asking the model to the commands.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from vmodel.errors import ConfigError, DatasetError, Fault
from vmodel.ingest.ethtool_facts import VIRTUAL_PREFIXES
from vmodel.ingest.lscpu import cpu_numbers
from vmodel.ingest.result import Ingested
from vmodel.library import tables
from vmodel.library.moderation import devices as known_devices
from vmodel.units import BPS_PER_GBPS

HYPERVISORS = ("libvirt domain XML", "QEMU command line")
NOT_A_NIC = ("virtio", "tap", "vhost")  # rows of the device table that no NIC of a host or a VF has


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """One value of a setting as one file gives it."""

    setting: str
    value: Any
    file: str
    tool: str
    key: str

    @property
    def place(self) -> str:
        """File and key, as a person looks it up."""
        return f"{self.file}: {self.key}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One file that was read."""

    file: str
    found: Ingested

    @property
    def configuration(self) -> Mapping[str, Any]:
        return self.found.configuration


@dataclass(frozen=True, slots=True, kw_only=True)
class Combined:
    """Settings with the file each came from; notes say what contradicts and what was left out."""

    origins: Mapping[str, Origin]
    notes: tuple[str, ...]
    parts: tuple[Part, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def settings(self) -> dict[str, Any]:
        """Settings by name: path, device, and knobs in the units of the knob table."""
        return {name: origin.value for name, origin in self.origins.items()}


@dataclass(slots=True)
class _Work:
    """Candidates and notes while files are combined."""

    candidates: dict[str, list[Origin]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def offer(self, part: Part, setting: str, value: Any, key: str) -> None:
        if value is not None:
            origin = Origin(setting=setting, value=value, file=part.file, tool=part.found.tool, key=key)
            self.candidates.setdefault(setting, []).append(origin)


def read_files(files: Sequence[str], pick: tuple[str, ...] = ()) -> tuple[Part, ...]:
    """Read files for a scenario; raises ConfigError with the faults of all, also for measurements."""
    from vmodel.ingest.read import read  # the readers are loaded where there are files

    parts, faults = [], []
    for file in files:
        try:
            found = read(file, pick=pick)
        except DatasetError as error:
            where = error.file or file
            faults.append(Fault(file=f"{where}:{error.line}" if error.line else where, key="", expected=_plain(error)))
            continue
        if found.kind != "configuration":
            expected = f"a configuration; this is a measurement ({found.tool}): use `vmodel ingest -o` and `vmodel fit`"
            faults.append(Fault(file=file, key="", expected=expected))
            continue
        parts.append(Part(file=file, found=found))
    if faults:
        raise ConfigError(faults)
    return tuple(parts)


def _plain(error: DatasetError) -> str:
    return f"a file with a result; {error.fault}"


def combine(parts: Sequence[Part]) -> Combined:
    """Settings of one scenario from the configurations of several files."""
    work = _Work()
    known = _named_devices(parts)
    for part in parts:
        work.notes += [f"{part.file}: {warning}" for warning in part.found.warnings]
        for offer in OFFERS:
            offer(part, parts, work)
        _links(part, known, work)
    _numa(parts, work)
    origins = {}
    for setting, candidates in work.candidates.items():
        rule = RULES.get(setting, _first)
        origins[setting] = rule(candidates, work.notes)
    _without_meaning(origins, work)
    return Combined(origins=origins, notes=tuple(dict.fromkeys(work.notes)), parts=tuple(parts), facts=_facts(parts))


def settings_from(files: Sequence[str], pick: tuple[str, ...] = ()) -> Combined:
    """Settings of one scenario from outputs of configuration tools, of which several may tell the same.

    `.settings` are keywords of `predict`, each in the unit of its knob; `.origins` name file and key of each; `.notes`
    say what contradicted.  pick: names of devices for files that hold several.
    Raises ConfigError with every fault of all files: one without a result, or settings that cannot go together.
    """
    return combine(read_files(files, pick))


def _is_hypervisor(part: Part) -> bool:
    return part.found.tool in HYPERVISORS


def _is_virtual(part: Part) -> bool:
    """Whether a file is about a tap, veth, bridge or the guest's virtio device, which has no hardware behind it."""
    name = part.configuration.get("ifname") or ""
    return name.startswith(VIRTUAL_PREFIXES) or part.configuration.get("device") in NOT_A_NIC


def _path(part: Part, parts: Sequence[Part], work: _Work) -> None:
    found = part.configuration
    work.offer(part, "path", found.get("path"), "network device" if _is_hypervisor(part) else "driver")
    if found.get("path") is None and found.get("backend") == "vfio":
        work.offer(part, "path", _assigned(found.get("host_bus_info"), parts), f"device {found.get('host_bus_info')}")


def _assigned(address: str | None, parts: Sequence[Part]) -> str | None:
    """Whether an assigned PCI device is a VF or a PF, where lspci of the host is among the files."""
    for part in parts:
        if part.found.tool != "lspci -vv" or not address:
            continue
        for device in part.configuration.get("devices", ()):
            if address.removeprefix("0000:") == device["bus_info"].removeprefix("0000:"):
                return "vf" if device.get("role") == "VF" else "pf"
    return None


def _device(part: Part, parts: Sequence[Part], work: _Work) -> None:
    name = part.configuration.get("device")
    if name is None or name in NOT_A_NIC or name not in known_devices():
        return
    if part.configuration.get("role") != "emulated":
        work.offer(part, "device", name, "driver")


def _guest(part: Part, parts: Sequence[Part], work: _Work) -> None:
    found = part.configuration
    work.offer(part, "vcpus", found.get("vcpus"), "vCPUs" if _is_hypervisor(part) else "CPU(s)")
    work.offer(part, "page_bytes", found.get("page_bytes"), "hugepages")


def _queues(part: Part, parts: Sequence[Part], work: _Work) -> None:
    found = part.configuration
    if part.found.tool == "ip link" or (found.get("ifname") or "").startswith(("veth", "br")):
        return
    work.offer(part, "queues", found.get("queues"), "queues" if _is_hypervisor(part) else "Combined")
    work.offer(part, "ring_size", found.get("rx_ring"), "rx_queue_size" if _is_hypervisor(part) else "RX ring")


def _offloads(part: Part, parts: Sequence[Part], work: _Work) -> None:
    found = part.configuration
    if _is_hypervisor(part):
        for name in ("tso", "event_idx"):
            if found.get(name) is False:  # on is what is assumed without being told
                work.offer(part, name, False, "driver host and guest" if name == "tso" else "event_idx")
        return
    if (found.get("ifname") or "") == "lo":
        return
    work.offer(part, "tso", found.get("tso"), "tcp-segmentation-offload")
    work.offer(part, "gro", found.get("gro"), "generic-receive-offload")


def _moderation(part: Part, parts: Sequence[Part], work: _Work) -> None:
    found = part.configuration
    if not any(name in found for name in ("rx_usecs", "adaptive_rx")):
        return
    if _is_virtual(part):
        if any(found.get(name) is not None for name in ("rx_usecs", "rx_frames")):
            work.notes.append(f"{part.file}: coalescing of a tap or virtio device is not that of a NIC: not taken")
        return
    work.offer(part, "adaptive_rx", found.get("adaptive_rx"), "Adaptive RX")
    work.offer(part, "rx_frames", found.get("rx_frames"), "rx-frames")
    if found.get("adaptive_rx") is not True:
        work.offer(part, "rx_usecs", found.get("rx_usecs"), "rx-usecs")


def _network(part: Part, parts: Sequence[Part], work: _Work) -> None:
    """MTU of the interface, of its network, and the bridge."""
    found = part.configuration
    if part.found.tool == "libvirt network XML":
        wanted = {p.configuration.get("network") for p in parts if _is_hypervisor(p)} - {None}
        if wanted and found.get("network") not in wanted:
            work.notes.append(
                f'{part.file}: network "{found.get("network")}" is not the one of the interface: not taken'
            )
            return
        work.offer(part, "mtu", found.get("mtu"), "mtu")
    elif part.found.tool != "ip link":
        work.offer(part, "mtu", found.get("mtu"), "mtu" if part.found.tool == HYPERVISORS[0] else "host_mtu")
    if found.get("bridge") is True:
        work.offer(part, "bridge", True, "source bridge" if _is_hypervisor(part) else "bridge")


OFFERS: tuple[Callable[[Part, Sequence[Part], _Work], None], ...] = (
    _path, _device, _guest, _queues, _offloads, _moderation, _network,
)  # fmt: skip


def _named_devices(parts: Sequence[Part]) -> set[str]:
    """Names of devices that other files are about: taps, bridges, lower devices."""
    keys = ("ifname", "master", "lower_device", "bridge_name")
    return {
        p.configuration[key] for p in parts if p.found.tool != "ip link" for key in keys if p.configuration.get(key)
    }


def _links(part: Part, known: set[str], work: _Work) -> None:
    """What `ip link` and `ethtool DEV` say about the devices on the way."""
    found = part.configuration
    if part.found.tool == "ip link":
        rows = [d for d in found.get("devices", ()) if d["ifname"] in known]
        if not rows and found.get("ifname") and found.get("kind") != "loopback":
            rows = [found]
        for row in rows:
            work.offer(part, "mtu", row.get("mtu"), f"{row['ifname']} mtu")
            if row.get("vnet_hdr") is False and row.get("kind") == "tap":
                work.offer(part, "tso", False, f"{row['ifname']} vnet_hdr")
        if not rows:
            work.notes.append(f"{part.file}: none of its devices is named by another file: nothing taken")
        return
    link = found.get("link_bps")
    if link is not None:
        work.offer(part, "link_gbps", link / BPS_PER_GBPS, f"{found.get('ifname') or 'link'} Speed")


def _numa(parts: Sequence[Part], work: _Work) -> None:
    """Whether guest and NIC are on one node, where the files tell both."""
    nic = next((p for p in parts if p.configuration.get("numa_node") is not None), None)
    domain = next((p for p in parts if p.configuration.get("numa_nodeset") or p.configuration.get("vcpu_pins")), None)
    if nic is None or domain is None or nic.configuration["numa_node"] < 0:
        return
    nodes = guest_nodes(parts)
    if nodes:
        local = nodes == {nic.configuration["numa_node"]}
        told = ", ".join(str(node) for node in sorted(nodes))
        work.offer(domain, "numa_local", local, f"guest on node {told}, NIC on node {nic.configuration['numa_node']}")


def guest_nodes(parts: Sequence[Part]) -> set[int]:
    """NUMA nodes on which the guest's memory or pinned vCPUs are; empty where no file tells."""
    host = next(
        (p.configuration for p in parts if p.configuration.get("numa_cpus") and not p.configuration.get("vcpus")), {}
    )
    numa: Mapping[str, Sequence[int]] = host.get("numa_cpus") or {}
    nodes: set[int] = set()
    for part in parts:
        if part.configuration.get("numa_nodeset"):
            nodes |= set(cpu_numbers(part.configuration["numa_nodeset"]))
        for pin in part.configuration.get("vcpu_pins") or ():
            cpus = set(cpu_numbers(pin))
            nodes |= {int(node) for node, members in numa.items() if cpus & set(members)}
    return nodes


def _first(candidates: Sequence[Origin], notes: list[str]) -> Origin:
    """The first file that tells, a hypervisor's before others; different values are told."""
    return _chosen(candidates, notes, lambda c: c.tool not in HYPERVISORS, "is taken")


def _least(candidates: Sequence[Origin], notes: list[str]) -> Origin:
    """The smallest value: what the narrowest part of the way lets pass."""
    return _chosen(candidates, notes, lambda c: c.value, "the smallest is taken")


def _all_on(candidates: Sequence[Origin], notes: list[str]) -> Origin:
    """On only where every part of the way has it on."""
    return _chosen(candidates, notes, lambda c: c.value is not False, "off anywhere is off")


def _chosen(candidates: Sequence[Origin], notes: list[str], order: Callable[[Origin], Any], why: str) -> Origin:
    best = min(candidates, key=order)
    others = [c for c in candidates if c.value != best.value]
    if others:
        told = ", ".join(f"{shown(c.value)} ({c.place})" for c in others[:3])
        notes.append(f"{best.setting}: files differ: {shown(best.value)} ({best.place}) {why}, not {told}")
    return best


def shown(value: Any) -> str:
    """A value as notes write it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, (int, float)) else str(value)


RULES: Mapping[str, Callable[[Sequence[Origin], list[str]], Origin]] = {
    "queues": _least, "mtu": _least, "link_gbps": _least, "tso": _all_on, "gro": _all_on, "event_idx": _all_on,
    "numa_local": _all_on,
}  # fmt: skip


def _without_meaning(origins: dict[str, Origin], work: _Work) -> None:
    """Leave out what a file tells but the path makes untrue, and say so."""
    path = origins["path"].value if "path" in origins else None
    if path is None:
        return
    end = tables.endpoint(path)
    if path.startswith("emulated") and "link_gbps" in origins:
        work.notes.append(
            f"{origins.pop('link_gbps').place}: an emulated NIC does not keep to the speed it claims: not taken"
        )
    for name in [name for name in origins if name in end.fixed]:
        if origins[name].value != end.fixed[name]:
            work.notes.append(
                f"{origins[name].place}: {path} cannot have {name} {shown(origins[name].value)}: not taken"
            )
            del origins[name]


def _facts(parts: Sequence[Part]) -> dict[str, Any]:
    """Every key that some file gives, the first that gives it; for findings that are no settings."""
    out: dict[str, Any] = {}
    for part in parts:
        for key, value in part.configuration.items():
            if value is not None:
                out.setdefault(key, value)
    return out
