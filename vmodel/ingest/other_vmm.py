"""Configurations of virtual machine monitors that are not QEMU: recognised so that they are refused with the reason."""

import re
from typing import Any

from vmodel.ingest.given import Given, count, mapping, objects
from vmodel.ingest.result import Ingested, refusal

CLOUD_HYPERVISOR = re.compile(r"(?:^|\s|/|\0)cloud-hypervisor(?:-static)?(?:[\s\\\0]|$)")
FIRECRACKER = re.compile(r"(?:^|\s|/|\0)firecracker[\s\0]{1,4}--")
OTHERS = re.compile(r"(?:^|/)(?P<name>crosvm|lkvm|bhyve|xl|VBoxManage|stratovirt)(?:\s|\0)", re.M)
QUEUES = re.compile(r"\bnum_queues=(\d{1,5})")
ADVICE = "describe it with --path virtio-qemu and its own numbers"


def is_other(given: Given) -> bool:
    """Whether this is a configuration of another monitor."""
    return _json(given) != "" or _command(given) != ""


def _json(given: Given) -> str:
    found = given.json
    body: dict[str, Any] = mapping(found.values[0]) if found is not None and found.values else {}
    body = mapping(body.get("config")) or body  # as the running monitor answers
    if "machine-config" in body or "network-interfaces" in body or "boot-source" in body:
        return "Firecracker"
    if "boot_vcpus" in mapping(body.get("cpus")) or ("payload" in body and "net" in body):
        return "cloud-hypervisor"
    return ""


def _command(given: Given) -> str:
    head = given.head
    if CLOUD_HYPERVISOR.search(head) is not None and "--" in head:
        return "cloud-hypervisor"
    if FIRECRACKER.search(head) is not None:
        return "Firecracker"
    found = OTHERS.search(head[:2000])
    return "" if found is None or not re.search(r"\s--?\w", head) else found["name"]


def read(given: Given) -> Ingested:
    """Refuse, with the reason."""
    name = _json(given)
    if name == "Firecracker":
        raise refusal(
            f"this is a Firecracker configuration, not QEMU/libvirt (user-space virtio-mmio, one queue pair): {ADVICE}"
        )
    if name == "cloud-hypervisor":
        whole = mapping(given.json.values[0]) if given.json is not None else {}
        body = mapping(whole.get("config")) or whole
        queues = next((count(net.get("num_queues")) for net in objects(body.get("net"))), None)
        raise refusal(f"this is a cloud-hypervisor configuration, not QEMU/libvirt{_pairs(queues)}: {ADVICE}")
    name = _command(given)
    if name == "cloud-hypervisor":
        found = QUEUES.search(given.head)
        queues = int(found[1]) if found else None
        raise refusal(f"this is a cloud-hypervisor command line, not QEMU{_pairs(queues)}: {ADVICE}")
    raise refusal(f"this is a {name or 'foreign'} command line, not QEMU: {ADVICE}")


def _pairs(queues: int | None) -> str:
    return "" if queues is None else f" (its num_queues={queues} means {max(queues // 2, 1)} queue pairs)"
