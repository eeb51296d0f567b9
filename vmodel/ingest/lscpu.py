"""lscpu in text and JSON (flat and nested), in English: processors, cores, sockets, NUMA nodes, clock, caches."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from vmodel.ingest.given import Given, count, mapping, number, objects, words
from vmodel.ingest.result import Ingested, refusal
from vmodel.units import BINARY

TOOL = "lscpu"
ARCHITECTURES = "x86_64|i[3-6]86|aarch64|armv[78]l|ppc64(?:le)?|s390x|riscv64|loongarch64|mips64"
FIRST = re.compile(rf"^[^:\uff1a\n]{{2,60}}[:\uff1a]\s{{1,60}}(?:{ARCHITECTURES})\s*$", re.M)
FIELD = re.compile(r"^\s{0,12}(?P<name>[^:\uff1a\n]{1,80}?)\s{0,40}[:\uff1a]\s{0,80}(?P<value>[^\n]{0,20000})$")
ENGLISH = ("Architecture", "CPU(s)", "Thread(s) per core", "Socket(s)", "Model name", "Vendor ID")
NEEDED = ("Thread(s) per core", "Core(s) per socket", "Core(s) per cluster", "Socket(s)", "CPU(s)")
PARSABLE = ("# The following is the parsable format", "CPU,Core,Socket", "CPU NODE SOCKET")
SIZE = re.compile(r"(?P<number>\d{1,15}(?:\.\d{1,6})?)\s?(?P<prefix>[KMG]?)i?B?\b")
CACHES = {"l1d_bytes": "L1d", "l1i_bytes": "L1i", "l2_bytes": "L2", "l3_bytes": "L3"}
MOST_FIELDS = 100_000
MOST_CPUS = 100_000
MOST_DEPTH = 50


def is_lscpu(given: Given) -> bool:
    """Whether the text or the JSON has the fields of lscpu, in whatever language."""
    found = given.json
    if found is not None and found.values:
        return "lscpu" in mapping(found.values[0])
    if found is not None and '"lscpu"' in given.head[:200]:
        return True
    head = given.head
    return FIRST.search(head) is not None or "Thread(s) per core:" in head or head.startswith(PARSABLE)


def read(given: Given) -> Ingested:
    """Read the fields; raises DatasetError for another language, other forms of lscpu, or damage."""
    if given.head.startswith(PARSABLE):
        raise refusal("this is lscpu -p or -e, a list of CPUs: run lscpu without it")
    found = given.json
    if found is not None and (found.values or found.fault):
        if not found.values:
            raise refusal(f"the JSON of lscpu is cut off or damaged: {found.fault}")
        fields = dict(_json_fields(mapping(found.values[0]).get("lscpu")))
    else:
        fields = _text_fields(given)
    _in_english(fields)
    return _made(fields)


def _json_fields(rows: Any) -> Iterator[tuple[str, str]]:
    """Every field of the list and of its children; an explicit stack, since depth is the file's choice."""
    stack = [(row, 0) for row in reversed(list(objects(rows)))]
    while stack:
        row, depth = stack.pop()
        name = words(row.get("field"), 80).rstrip(":\uff1a").strip()
        value = row.get("data")
        if name:
            yield name, value.strip() if isinstance(value, str) else "" if value is None else str(value)[:100]
        if depth < MOST_DEPTH:
            stack.extend((child, depth + 1) for child in reversed(list(objects(row.get("children")))))


def _text_fields(given: Given) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in given.lines:
        match = FIELD.match(line)
        if match is not None and len(found) < MOST_FIELDS:
            found.setdefault(match["name"].strip(), match["value"].strip())
    return found


def _in_english(fields: Mapping[str, str]) -> None:
    if ("Architecture" in fields and "CPU(s)" in fields) or sum(name in fields for name in NEEDED) >= 2:
        return
    if all(name in ENGLISH for name in fields):
        raise refusal("lscpu output without CPU(s): no processors in this file")
    example = next((name for name in fields if name not in ENGLISH and "CPU" not in name), next(iter(fields), ""))
    raise refusal(f'lscpu output is not in English (field "{words(example, 40)}"): run LC_ALL=C lscpu')


def _made(fields: Mapping[str, str]) -> Ingested:
    cpus = count(fields.get("CPU(s)"))
    if not cpus:
        raise refusal("lscpu output without CPU(s): no processors in this file")
    threads = count(fields.get("Thread(s) per core"))
    per_socket = count(fields.get("Core(s) per socket"))
    sockets = count(fields.get("Socket(s)"))
    per_cluster, clusters = count(fields.get("Core(s) per cluster")), count(fields.get("Cluster(s)"))
    nodes = count(fields.get("NUMA node(s)"))
    numa = {
        found[1]: cpu_numbers(value)
        for name, value in fields.items()
        if (found := re.fullmatch(r"NUMA node(\d{1,5}) CPU\(s\)", name))
    }
    guest = _guest(fields)
    cores = (
        per_socket * sockets if per_socket and sockets else per_cluster * clusters if per_cluster and clusters else None
    )
    configuration: dict[str, Any] = {
        "arch": words(fields.get("Architecture"), 30) or None,
        "cpus": cpus,
        "threads_per_core": threads,
        "cores_per_socket": per_socket,
        "sockets": sockets,
        "cores": cores or (cpus // threads if threads else None),
        "numa_nodes": nodes,
        "numa_cpus": numa or None,
        "model_name": words(fields.get("Model name"), 80) or None,
        "vendor": words(fields.get("Vendor ID"), 40) or None,
        "mhz": number(fields.get("CPU MHz")),
        "max_mhz": number(fields.get("CPU max MHz")),
        "hypervisor": words(fields.get("Hypervisor vendor"), 40) or None,
        "side": "guest" if guest else None,
        "vcpus": cpus if guest else None,
    }
    for key, name in CACHES.items():
        configuration[key] = _bytes(fields.get(f"{name} cache", fields.get(name, "")))
    warnings = []
    if guest:
        warnings.append("this is the lscpu of a guest, not of the host")
    if nodes is None:
        warnings.append("no NUMA lines: the number of nodes is unknown and treated as 1")
    if numa and _interleaved(list(numa.values())):
        warnings.append("CPU numbers alternate between NUMA nodes: a range of numbers is not a node")
    if threads and threads > 1 and configuration["cores"]:
        warnings.append(f"{cpus} logical CPUs are {configuration['cores']} physical cores")
    return Ingested(tool=TOOL, kind="configuration", configuration=configuration, warnings=tuple(warnings))


def _guest(fields: Mapping[str, str]) -> bool:
    flags = fields.get("Flags", "").split()
    made_by = " ".join(fields.get(name, "") for name in ("BIOS Vendor ID", "BIOS Model name", "Model name"))
    return bool(fields.get("Hypervisor vendor")) or "hypervisor" in flags or "QEMU" in made_by


def cpu_numbers(text: str) -> list[int]:
    """A CPU list such as 0-3,8 as numbers, up to a bound."""
    out: list[int] = []
    for part in text.split(","):
        low, dash, high = part.strip().partition("-")
        first, last = count(low), count(high) if dash else count(low)
        if first is None or last is None or last - first >= MOST_CPUS or len(out) > MOST_CPUS:
            continue
        out.extend(range(first, last + 1))
    return out


def _interleaved(nodes: list[list[int]]) -> bool:
    spans = [(min(cpus), max(cpus)) for cpus in nodes if cpus]
    return len(spans) > 1 and any(a[0] < b[0] < a[1] for a in spans for b in spans)


def _bytes(text: str) -> int | None:
    """A cache size: 32 MiB, 32768K, or plain bytes of -B."""
    found = SIZE.match(text)
    if found is None:
        return None
    factor = BINARY[f"{found['prefix']}i"] if found["prefix"] else 1.0
    return int(float(found["number"]) * factor)
