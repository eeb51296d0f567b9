"""libvirt domain XML: the network device to model, what serves it, and the parts of the guest that matter to it."""

import re
from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element

from vmodel.ingest import libvirt_interface, libvirt_network
from vmodel.ingest.given import HEAD_BYTES, Given, count, words
from vmodel.ingest.result import Ingested, refusal
from vmodel.ingest.xml_tree import parsed

TOOL = "libvirt domain XML"
KVM = "kvm"
WRAPPERS = ("domstatus", "domainsnapshot", "domainbackup", "domaincheckpoint")
OUTSIDE = {"qemu": "is emulation without KVM: outside the model", "xen": "is outside the model (KVM only)"}
BEGINS = re.compile(rb"^<(?:\?xml |domain[ >]|network[ >])", re.M)
SIZES = {"KiB": 1, "k": 1, "KB": 1, "M": 2, "MiB": 2, "G": 3, "GiB": 3, "T": 4, "TiB": 4}


def is_xml(given: Given) -> bool:
    """Whether the data begins like XML or HTML, or a libvirt document follows some text."""
    return given.data.lstrip()[:1] == b"<" or BEGINS.search(given.data[:HEAD_BYTES]) is not None


def read(given: Given) -> Ingested:
    """Read a domain or a network; raises DatasetError for what is neither, damaged, hostile or outside the model."""
    data = given.data.lstrip()
    if data[:1] != b"<" and (found := BEGINS.search(data)) is not None:
        data = data[found.start() :]  # a warning of virsh or sudo stands before it
    root = parsed(data)
    if root.tag == "network":
        return libvirt_network.read(root)
    domain = root if root.tag == "domain" else root.find("domain") if root.tag in WRAPPERS else None
    if domain is None:
        if root.tag in ("html", "HTML"):
            raise refusal("this is HTML, not a libvirt domain")
        raise refusal(f"XML with the root <{words(root.tag, 40)}>, expected a libvirt <domain> or <network>")
    return _read_domain(domain, given.pick)


def _read_domain(domain: Element, pick: tuple[str, ...]) -> Ingested:
    kind = words(domain.get("type"), 30)
    if kind != KVM:
        raise refusal(f'domain type "{kind}" {OUTSIDE.get(kind, "is outside the model (KVM only)")}')
    devices = domain.find("devices")
    interfaces = [] if devices is None else devices.findall("interface")
    passed = [] if devices is None else list(_passed_through(devices))
    vsock = devices is not None and devices.find("vsock") is not None
    machine = _machine(domain)
    configuration, warnings = _guest(domain)
    if interfaces:
        chosen = _one_of(interfaces, pick)
        found, more = libvirt_interface.read(chosen, machine, configuration["vcpus"])
        if passed:
            more.append(f"{len(passed)} PCI device(s) passed through beside the interface: {', '.join(passed)[:120]}")
    elif passed:
        found, more = _hostdev(passed, pick)
    elif vsock:
        found, more = {"path": "vsock", "path_text": "virtio-vsock, no network device"}, []
    else:
        raise refusal("no network device in this domain")
    configuration |= found
    if vsock:
        configuration["vsock"] = True
    extra = [words(arg.get("value"), 60) for arg in domain.iter("{http://libvirt.org/schemas/domain/qemu/1.0}arg")]
    if any("net" in value or value.startswith("virtio") for value in extra):
        more.append("the domain passes network options to QEMU past libvirt (qemu:commandline): they are not read")
    return Ingested(tool=TOOL, kind="configuration", configuration=configuration, warnings=tuple([*warnings, *more]))


def _machine(domain: Element) -> tuple[str, str]:
    """Architecture and machine type."""
    kind = domain.find("os/type")
    return ("", "") if kind is None else (words(kind.get("arch"), 30), words(kind.get("machine"), 60))


def _guest(domain: Element) -> tuple[dict[str, Any], list[str]]:
    """What the guest as a whole is: name, vCPUs, memory pages, NUMA placement, IOMMU."""
    warnings = []
    vcpu = domain.find("vcpu")
    vcpus = None
    if vcpu is not None:
        most, now = count(vcpu.text), count(vcpu.get("current"))
        vcpus = now or most
        if vcpus is None:
            raise refusal(f'vcpu = "{words(vcpu.text, 40)}": expected a whole number')
        if now and most and now < most:
            warnings.append(f"{now} of at most {most} vCPUs are plugged in")
    iommu = domain.find("devices/iommu")
    page = domain.find("memoryBacking/hugepages/page")
    nodes = domain.find("numatune/memory")
    pins = [words(pin.get("cpuset"), 60) for pin in domain.findall("cputune/vcpupin")[:2000]]
    configuration: dict[str, Any] = {
        "name": words(domain.findtext("name"), 120) or None,
        "side": "host",
        "vcpus": vcpus,
        "machine": _machine(domain)[1] or None,
        "viommu": iommu is not None,
        "hugepages": domain.find("memoryBacking/hugepages") is not None,
        "page_bytes": None if page is None else _page(page),
        "numa_nodeset": None if nodes is None else words(nodes.get("nodeset"), 60) or None,
        "vcpu_pins": pins or None,
    }
    return configuration, warnings


def _page(page: Element) -> int | None:
    size, unit = count(page.get("size")), words(page.get("unit"), 5) or "KiB"
    return None if size is None or unit not in SIZES else size << (10 * SIZES[unit])


def _passed_through(devices: Element) -> Iterator[str]:
    """Host addresses of PCI devices passed through; the address outside <source> is the guest's."""
    for device in devices.findall("hostdev"):
        if device.get("type") in ("pci", "mdev"):
            source = device.find("source/address")
            if source is not None:
                yield libvirt_interface.pci(source) or words(source.get("uuid"), 40)


def _hostdev(passed: list[str], pick: tuple[str, ...]) -> tuple[dict[str, Any], list[str]]:
    named = [address for address in passed if address in pick]
    if len(passed) > 1 and not named:
        raise refusal(
            f"{len(passed)} PCI devices passed through ({', '.join(passed)[:120]}): name the NIC, with --interface"
        )
    address = named[0] if named else passed[0]
    text = f"device assignment by vfio at {address}"
    return {"path": None, "path_text": text, "backend": "vfio", "host_bus_info": address}, [
        f"PCI device {address} passed through: nothing in the XML says that it is a NIC, or a VF: say so with --path, "
        "or give lspci or ip link of the host"
    ]


def _one_of(interfaces: list[Element], pick: tuple[str, ...]) -> Element:
    """The only interface, or the one that the user named by MAC, target, alias, address or number."""
    if len(interfaces) == 1:
        return interfaces[0]
    for name in pick:
        for place, interface in enumerate(interfaces, start=1):
            if name.casefold() in (*libvirt_interface.names(interface), str(place)):
                return interface
    listed = ", ".join(libvirt_interface.label(interface) for interface in interfaces[:6])
    more = ", ..." if len(interfaces) > 6 else ""
    raise refusal(f"{len(interfaces)} network devices ({listed}{more}): name the one to model, with --interface")
