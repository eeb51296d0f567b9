"""One <interface> of a libvirt domain: path, back end, queues, rings, offloads, limits."""

from typing import Any
from xml.etree.ElementTree import Element

from vmodel.ingest.ethtool_facts import switch
from vmodel.ingest.given import count, number, words
from vmodel.ingest.hardware import (
    EMULATED,
    UNKNOWN_SWITCH,
    USER_SPACE_NETWORKS,
    emulated,
    offloads,
    queue_remarks,
    virtio,
)
from vmodel.ingest.result import refusal
from vmodel.units import BITS_PER_BYTE, BPS_PER_KBPS

VIRTIO = ("virtio", "virtio-transitional", "virtio-non-transitional")
FOREIGN = ("netfront",)
VIRTIO_BY_DEFAULT = ("aarch64", "s390x", "riscv64", "armv7l", "loongarch64")


def pci(address: Element) -> str:
    """A PCI address as lspci writes it; empty if the element has none."""
    parts = []
    for name in ("domain", "bus", "slot", "function"):
        text = words(address.get(name), 10)
        try:
            parts.append(int(text or "0", 16))
        except ValueError:
            return ""
    if address.get("bus") is None:
        return ""
    return f"{parts[0]:04x}:{parts[1]:02x}:{parts[2]:02x}.{parts[3]:x}"


def _attribute(interface: Element, path: str, name: str) -> str:
    found = interface.find(path)
    return "" if found is None else words(found.get(name), 120)


def names(interface: Element) -> list[str]:
    """What a user may call the interface."""
    source = interface.find("source/address")
    found = [
        _attribute(interface, "mac", "address"), _attribute(interface, "target", "dev"),
        _attribute(interface, "alias", "name"), "" if source is None else pci(source),
    ]  # fmt: skip
    return [name.casefold() for name in found if name]


def label(interface: Element) -> str:
    """The interface in an error line."""
    kind = "SR-IOV VF" if interface.get("type") == "hostdev" else _attribute(interface, "model", "type") or "no model"
    return f"{kind} {_attribute(interface, 'mac', 'address') or 'no MAC'}"


def read(interface: Element, machine: tuple[str, str], vcpus: int | None) -> tuple[dict[str, Any], list[str]]:
    """Configuration keys of one interface, and remarks."""
    model = _attribute(interface, "model", "type")
    kind = words(interface.get("type"), 30)
    if model in FOREIGN:
        raise refusal(f'interface model "{model}" is outside the model (KVM only)')
    found, remarks = _path(interface, kind, model, machine)
    queues = _number(interface, "driver", "queues")
    served = kind in ("bridge", "network", "ethernet", "direct", "vdpa", "vhostuser") and found.get("backend") != "vfio"
    found |= {
        "queues": queues if queues else 1 if served else None,
        "rx_ring": _number(interface, "driver", "rx_queue_size"),
        "tx_ring": _number(interface, "driver", "tx_queue_size"),
        "mtu": _number(interface, "mtu", "size"),
        "mac": _attribute(interface, "mac", "address") or None,
        "ifname": _attribute(interface, "target", "dev") or None,
        "vlan": count(_attribute(interface, "vlan/tag", "id")),
    }
    if found.get("device_model") in VIRTIO:
        found |= _virtio_switches(interface)
        remarks += queue_remarks(queues, vcpus)
    found |= _limits(interface)
    if _attribute(interface, "link", "state") == "down":
        found["link_up"] = False
        remarks.append("link state is down: the guest sees no carrier")
    return found, remarks


def _number(interface: Element, path: str, name: str) -> int | None:
    text = _attribute(interface, path, name)
    value = count(text) if text else None
    if text and value is None:
        raise refusal(f'interface: {name} = "{words(text, 40)}": expected a whole number')
    return value


def _path(interface: Element, kind: str, model: str, machine: tuple[str, str]) -> tuple[dict[str, Any], list[str]]:
    """What serves the interface."""
    source = interface.find("source")
    if kind == "hostdev":
        address = interface.find("source/address")
        at = "" if address is None else pci(address)
        text = f"SR-IOV VF by vfio at {at}".removesuffix(" at ")
        return {"path": "vf", "path_text": text, "backend": "vfio", "host_bus_info": at or None}, []
    if not model and machine[0] in VIRTIO_BY_DEFAULT:
        model = "virtio"
    if kind in USER_SPACE_NETWORKS:
        text = f"{model or 'default NIC'} over a user-space network ({kind})"
        remark = (
            f'interface type "{kind}": a user-space network is none of the paths of the model, and far slower than tap'
        )
        return {"path": None, "path_text": text, "backend": kind, "device_model": model or None}, [remark]
    if not model:
        assumed = "e1000e" if "q35" in machine[1] else "rtl8139"
        out, remarks = emulated(assumed)
        why = "no <model>: the hypervisor default (rtl8139 or e1000e by machine type) is an emulated NIC, not virtio"
        return {**out, "backend": "qemu", "model_is_default": True}, [f"{why}; {assumed} is assumed", *remarks]
    if model in VIRTIO:
        out, remarks = _virtio_path(interface, kind, source)
        return {**out, "device_model": model}, remarks
    if model in EMULATED:
        out, remarks = emulated(model)
        return {**out, "backend": "qemu"}, remarks
    return {"path": None, "path_text": f"model {model}", "device_model": model}, [
        f'interface model "{model}" is not known'
    ]


def _virtio_path(interface: Element, kind: str, source: Element | None) -> tuple[dict[str, Any], list[str]]:
    driver = _attribute(interface, "driver", "name")
    if kind == "vhostuser":
        return virtio("vhost-user"), [UNKNOWN_SWITCH]
    if kind == "vdpa":
        return virtio("vhost-vdpa"), []
    where, remarks, facts = _where(kind, source)
    if kind == "direct" and driver != "qemu":
        dev = "" if source is None else words(source.get("dev"), 60)
        mode = "" if source is None else words(source.get("mode"), 20)
        facts |= {"macvtap_mode": mode or "vepa", "lower_device": dev or None}
        out = virtio("macvtap-vhost", f"({mode or 'vepa'}) on {dev}" if dev else "")
    elif driver == "qemu":
        out = virtio("qemu", where)
        if kind == "direct":
            remarks.append("macvtap with vhost off is modelled as tap with vhost off")
    else:
        out = virtio("vhost", where)
    if not driver:
        out["backend_assumed"] = True
        remarks.append(
            "no <driver name>: vhost-net is assumed, which libvirt takes if /dev/vhost-net exists on the host"
        )
    if driver and driver not in ("vhost", "qemu"):
        raise refusal(f'interface: driver name = "{words(driver, 40)}": expected vhost or qemu')
    return {**out, **facts}, remarks


def _where(kind: str, source: Element | None) -> tuple[str, list[str], dict[str, Any]]:
    """Where the tap leads."""
    bridge = "" if source is None else words(source.get("bridge"), 60)
    network = "" if source is None else words(source.get("network"), 60)
    if kind == "network" and not bridge:
        remark = f'network "{network}": whether it is bridged, routed or NAT stands in virsh net-dumpxml'
        return f"to network {network}", [remark], {"network": network or None, "bridge": None}
    if kind == "ethernet":
        return (
            "on a tap that something else made",
            ["interface type ethernet: what the tap leads to is unknown"],
            {"bridge": None},
        )
    return (
        (f"over bridge {bridge}" if bridge else ""),
        [],
        {"bridge": True if bridge else None, "master": bridge or None},
    )


def _virtio_switches(interface: Element) -> dict[str, Any]:
    driver = interface.find("driver")
    given: dict[str, bool | None] = {}
    if driver is not None:
        for name in ("event_idx", "packed", "iommu", "ats"):
            given[name] = switch(driver.get(name))
        host, guest = driver.find("host"), driver.find("guest")
        for name in ("csum", "gso", "mrg_rxbuf"):
            given[name] = None if host is None else switch(host.get(name))
        for name in ("tso4", "tso6"):
            given[f"host_{name}"] = None if host is None else switch(host.get(name))
            given[f"guest_{name}"] = None if guest is None else switch(guest.get(name))
        given["guest_csum"] = None if guest is None else switch(guest.get("csum"))
    found = offloads(given)
    if given.get("iommu") is not None:
        found["iommu_platform"] = given["iommu"]
    return found


def _limits(interface: Element) -> dict[str, Any]:
    """Rate limits: average and peak are kilobytes per second, burst is kilobytes."""
    found: dict[str, Any] = {}
    for side, key in (("inbound", "rate_limit_in_bps"), ("outbound", "rate_limit_out_bps")):
        average = number(_attribute(interface, f"bandwidth/{side}", "average"))
        if average:
            found[key] = average * BPS_PER_KBPS * BITS_PER_BYTE
    frames = number(_attribute(interface, "coalesce/rx/frames", "max"))
    if frames is not None:
        found["tap_rx_frames"] = int(frames)
    return found
