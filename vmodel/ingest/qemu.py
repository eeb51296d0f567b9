"""QEMU command lines, old and new: which network device there is, what serves it, and the parts that matter to it."""

import re
from dataclasses import dataclass
from typing import Any

from vmodel.ingest.given import Given, words
from vmodel.ingest.hardware import (
    EMULATED,
    UNKNOWN_SWITCH,
    USER_SPACE_NETWORKS,
    emulated,
    offloads,
    queue_remarks,
    virtio,
)
from vmodel.ingest.qemu_arguments import BINARY, SURE, Option, options, properties, split
from vmodel.ingest.result import Ingested, refusal

TOOL = "QEMU command line"
VIRTIO = re.compile(r"virtio-net(?:-pci|-device|-ccw)?(?:-transitional|-non-transitional)?|virtio")
PASSED = ("vfio-pci", "vfio-pci-nohotplug", "pci-assign", "vfio-pci-igd", "kvm-pci-assign")
VSOCK = re.compile(r"vhost-vsock-(?:pci|device|ccw)(?:-transitional|-non-transitional)?")
MARKS = re.compile(r"(?:^|\s)-(?:netdev|nic|net|device|enable-kvm|accel|machine|M)[\s\0]")
VECTORS = "2N+2"
SWITCHES = ("csum", "gso", "host_tso4", "host_tso6", "guest_csum", "guest_tso4", "guest_tso6", "mrg_rxbuf", "event_idx",
            "packed", "in_order")  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Nic:
    """A network device and its back end; an option of -nic or -net is both."""

    device: Option
    backend: Option | None
    hub: bool = False

    @property
    def model(self) -> str:
        return self.device.get("driver", "model") or ""

    @property
    def label(self) -> str:
        name = self.device.get("id") or (self.backend.get("id") if self.backend else None) or ""
        return f"{words(name, 40)} {words(self.model, 40) or 'default NIC'}".strip()


def is_qemu(given: Given) -> bool:
    """Whether the text names QEMU's program and options, or at least its network options."""
    if b"\0" in given.data[:65536]:
        return BINARY.fullmatch(given.head.split("\0", 1)[0]) is not None
    head = given.head
    if re.search(r"(?:^|\s|/)(?:qemu-system-[a-z0-9_]{1,20}|qemu-kvm|kvm)(?:\.exe)?(?:\s|\\|$)", head) is not None:
        return MARKS.search(head) is not None or re.search(r"\s-\w", head) is not None
    return re.search(r"(?:^|\s)-(?:netdev|nic)\s", head) is not None and "-device" in head


def read(given: Given) -> Ingested:
    """Read one command line; raises DatasetError for wrong references, numbers, several devices or none."""
    parts, notes = split(given.raw)
    binaries = [p for i, p in enumerate(parts) if SURE.fullmatch(p) and not (i and parts[i - 1].startswith("-"))]
    if len(binaries) > 1:
        raise refusal(f"holds {len(binaries)} QEMU command lines: split them")
    found = options(parts)
    _accelerated(found, binaries or [p for p in parts if BINARY.fullmatch(p)], notes)
    vcpus = _vcpus(found)
    nics = _nics(found, notes)
    passed = [o for o in found if o.name == "device" and o.get("driver") in PASSED]
    vsock = any(o.name == "device" and VSOCK.fullmatch(o.get("driver") or "") for o in found)
    configuration: dict[str, Any] = {"vcpus": vcpus, "side": "host"}
    name = next((o.get("guest") for o in found if o.name == "name"), None)
    configuration["name"] = words(name, 120) or None
    configuration["viommu"] = any(
        o.name == "device" and (o.get("driver") or "") in ("intel-iommu", "virtio-iommu-pci", "amd-iommu")
        for o in found
    )
    configuration |= _served(_one_of(nics, passed, given.pick, found, vsock), vcpus, notes)
    if vsock:
        configuration["vsock"] = True
    return Ingested(tool=TOOL, kind="configuration", configuration=configuration, warnings=tuple(notes))


def _accelerated(found: list[Option], binaries: list[str], notes: list[str]) -> None:
    """Refuse emulation without KVM, and say so where no accelerator is named."""
    named = [o.get("accel") or "" for o in found if o.name in ("accel", "machine", "M")]
    first = next((name.split(":")[0] for name in named if name), "")
    if first and first != "kvm":
        outside = "is emulation without KVM: outside the model" if first == "tcg" else "is outside the model (KVM only)"
        raise refusal(f'accelerator "{words(first, 30)}" {outside}')
    kvm = first == "kvm" or any(o.name == "enable-kvm" for o in found)
    if not kvm and not any(name.rpartition("/")[2] in ("kvm", "qemu-kvm") for name in binaries):
        notes.append(
            "no accelerator is named: QEMU would emulate without KVM, which is outside the model; KVM is assumed"
        )


def _vcpus(found: list[Option]) -> int:
    """vCPUs at start: the number, else the product of the topology, else one."""
    smp = next((o for o in reversed(found) if o.name == "smp"), None)
    if smp is None:
        return 1
    cpus = smp.number("cpus")
    if cpus is not None:
        return max(cpus, 1)
    product = 1
    for part in ("drawers", "books", "sockets", "dies", "clusters", "modules", "cores", "threads"):
        product *= smp.number(part) or 1
    return product


def _nics(found: list[Option], notes: list[str]) -> list[Nic]:
    """Network devices with their back ends; what refers to nothing is an error."""
    backends: dict[str, Option] = {}
    for option in (o for o in found if o.name == "netdev"):
        name = option.get("id") or ""
        if name in backends:
            raise refusal(f'netdev id "{words(name, 40)}" is defined twice')
        backends[name] = option
    nics, used = [], set()
    for option in (o for o in found if o.name == "device" and _is_nic(o.get("driver") or "")):
        netdev = option.get("netdev")
        name = netdev or ""
        if netdev is not None and name not in backends:
            defined = words(", ".join(backends), 80) or "none"
            raise refusal(
                f'device {words(option.get("driver"), 40)} refers to netdev "{words(name, 40)}", which is not defined '
                f"(defined: {defined})"
            )
        used.add(name)
        nics.append(Nic(device=option, backend=backends.get(name)))
    idle = [name for name in backends if name not in used]
    if idle and nics:
        notes.append(f"netdev {words(', '.join(idle), 80)} is used by no device")
    nics += [Nic(device=o, backend=o) for o in found if o.name == "nic" and o.get("type") != "none"]
    return nics + _legacy(found)


def _is_nic(driver: str) -> bool:
    return VIRTIO.fullmatch(driver) is not None or driver in EMULATED


def _legacy(found: list[Option]) -> list[Nic]:
    """-net nic and -net tap, joined by a hub."""
    old = [o for o in found if o.name == "net" and o.get("type") != "none"]
    backend = next((o for o in old if o.get("type") != "nic"), None)
    return [Nic(device=o, backend=backend, hub=True) for o in old if o.get("type") == "nic"]


def _one_of(
    nics: list[Nic], passed: list[Option], pick: tuple[str, ...], found: list[Option], vsock: bool
) -> Nic | Option | str:
    """The only network device, the one that the user named, a passed-through device, vsock, or QEMU's default."""
    named = [n for n in nics if {n.device.get("id"), n.device.get("mac"), n.device.get("netdev")} & set(pick)]
    named += [nics[int(p) - 1] for p in pick if p.isdigit() and len(p) < 6 and 1 <= int(p) <= len(nics)]
    if named:
        return named[0]
    if len(nics) > 1:
        listed = ", ".join(nic.label for nic in nics[:6])
        raise refusal(f"{len(nics)} network devices ({listed}): name the one to model, with --interface")
    if nics:
        return nics[0]
    if len(passed) > 1:
        chosen = [o for o in passed if {o.get("host"), o.get("id")} & set(pick)]
        if not chosen:
            listed = ", ".join(words(o.get("host", "sysfsdev") or "", 60) for o in passed[:6])
            raise refusal(f"{len(passed)} devices passed through ({listed}): name the NIC, with --interface")
        return chosen[0]
    if passed:
        return passed[0]
    if vsock:
        return "vsock"
    if any(o.name in ("nic", "net") and o.get("type") == "none" for o in found):
        option = next(o.name for o in found if o.name in ("nic", "net") and o.get("type") == "none")
        raise refusal(f"no network device on this command line (-{option} none)")
    if any(o.name == "nodefaults" for o in found):
        raise refusal("no network device on this command line (-nodefaults)")
    return _default(found)


def _default(found: list[Option]) -> str:
    machine = next((o.get("type") or "" for o in found if o.name in ("machine", "M")), "")
    return "e1000e" if "q35" in machine else "e1000"


def _served(chosen: Nic | Option | str, vcpus: int, notes: list[str]) -> dict[str, Any]:
    """Configuration keys of the device that was chosen."""
    if chosen == "vsock":
        return {"path": "vsock", "path_text": "virtio-vsock, no network device"}
    if isinstance(chosen, str):
        out, remarks = emulated(chosen)
        notes.append(
            f"no network option: QEMU adds its default NIC ({chosen} on this machine type, with user networking)"
        )
        notes.extend(remarks)
        return {**out, "path": None, "backend": "user", "model_is_default": True}
    if isinstance(chosen, Option):
        return _assigned(chosen, notes)
    return _nic(chosen, vcpus, notes)


def _assigned(option: Option, notes: list[str]) -> dict[str, Any]:
    """A PCI device handed to the guest."""
    host = option.get("host")
    if option.get("driver") in ("pci-assign", "kvm-pci-assign"):
        text = f"device assignment of {host} (old pci-assign, removed in QEMU 2.12): treated like vfio"
    elif host is None and "mdev" in (option.get("sysfsdev") or ""):
        notes.append("vfio mediated device: kind unknown, it may not be a NIC")
        return {"path": None, "path_text": "vfio mediated device", "backend": "vfio"}
    else:
        host = host or (option.get("sysfsdev") or "").rstrip("/").rpartition("/")[2] or None
        text = f"device assignment by vfio of {words(host or '', 60)}"
    notes.append(
        f"passed-through device {words(host or '', 60)} may not be a NIC, nor a VF: say so with --path, or give lspci "
        "or ip link of the host"
    )
    return {
        "path": None,
        "path_text": words(text, 200),
        "backend": "vfio",
        "host_bus_info": words(host or "", 60) or None,
    }


def _nic(nic: Nic, vcpus: int, notes: list[str]) -> dict[str, Any]:
    backend, device = nic.backend, nic.device
    kind = (backend.get("type") or "") if backend is not None else ""
    model = nic.model or ("e1000" if nic.hub or device.name == "nic" else "")
    if not nic.model:
        notes.append(f"no model= given: QEMU's default NIC, an emulated {model} or its relative, is assumed")
    is_virtio = VIRTIO.fullmatch(model) is not None
    queues = _queues(backend)
    vhost = bool(is_virtio and backend is not None and not nic.hub and _vhost(backend))
    out: dict[str, Any] = {
        "device_model": model, "vhost": vhost, "mac": words(device.get("mac", "macaddr") or "", 40) or None,
        "ifname": words((backend.get("ifname") or "") if backend else "", 40) or None,
    }  # fmt: skip
    if kind in USER_SPACE_NETWORKS:
        notes.append(f"-netdev {kind}: a user-space network is none of the paths of the model, and far slower than tap")
        return {**out, "path": None, "path_text": f"{model} over a user-space network ({kind})", "backend": kind}
    if not is_virtio:
        found, remarks = emulated(model)
        notes.extend(remarks)
        if nic.hub:
            found["path_text"] += " on the QEMU hub (legacy -net)"
        return {**out, **found, "backend": "qemu"}
    serving = {"vhost-user": "vhost-user", "vhost-vdpa": "vhost-vdpa"}.get(kind, "vhost" if vhost else "qemu")
    out |= virtio(serving, "on the QEMU hub (legacy -net)" if nic.hub else "")
    if serving == "vhost-user":
        notes.append(UNKNOWN_SWITCH)
    if backend is None:
        notes.append("the device has no netdev: nothing serves it")
    return out | _virtio(device, queues, vcpus, notes)


def _vhost(backend: Option) -> bool:
    asked = backend.on("vhost")
    if asked is not None:
        return asked
    return backend.get("vhostfd", "vhostfds") is not None or backend.on("vhostforce") is True


def _queues(backend: Option | None) -> int:
    """Queue pairs: the number, else one for each descriptor that was handed over."""
    if backend is None:
        return 1
    told = backend.number("queues")
    if told is not None:
        return max(told, 1)
    fds = backend.get("fds", "vhostfds")
    return fds.count(":") + 1 if fds else 1


def _virtio(device: Option, queues: int, vcpus: int, notes: list[str]) -> dict[str, Any]:
    """Queues, rings, vectors and switches of a virtio device."""
    vectors = device.number("vectors")
    several = device.on("mq")
    found: dict[str, Any] = {
        "queues": queues, "vectors": vectors, "rx_ring": device.number("rx_queue_size"),
        "tx_ring": device.number("tx_queue_size"), "mtu": device.number("host_mtu"),
    }  # fmt: skip
    if queues > 1 and several is not True and device.name == "device":
        notes.append(f"{queues} queue pairs without mq=on: the guest uses one")
        found |= {"queues": 1, "queues_max": queues}
    elif queues > 1 and vectors is not None and vectors < 2 * queues + 2:
        notes.append(
            f"vectors={vectors} is too few for {queues} queue pairs ({2 * queues + 2} needed): interrupts are shared"
        )
    switches = {name: device.on(name) for name in SWITCHES}
    found |= offloads(switches)
    if device.on("iommu_platform") is not None:
        found["iommu_platform"] = device.on("iommu_platform")
    notes.extend(queue_remarks(found["queues"], vcpus))
    return found


def argument(text: str) -> dict[str, str | bool]:
    """The properties of one argument, for command lines of other programs."""
    return properties(text, "")
