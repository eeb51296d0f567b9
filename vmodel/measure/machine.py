"""What the machine says of itself, for the head of a study."""

import os
import platform
from pathlib import Path

from vmodel.units import BYTES_PER_GIB, BYTES_PER_KIB

MHZ_PER_GHZ = 1e-3
NO_MITIGATION = "none in force"
UNKNOWN_CLOCK_GHZ = 2.4  # the clock at which the priors hold


def _fields(path: str) -> dict[str, str]:
    """The first value of each `name : value` line."""
    try:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    out: dict[str, str] = {}
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if colon:
            out.setdefault(name.strip(), value.strip())
    return out


def _first(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def clock_ghz() -> float:
    """The highest clock the kernel tells of the first processor, or the one it runs at."""
    most = _first("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq")  # kHz
    now = _fields("/proc/cpuinfo").get("cpu MHz", "")
    try:
        return float(most) * MHZ_PER_GHZ * MHZ_PER_GHZ if most else float(now) * MHZ_PER_GHZ
    except ValueError:
        return UNKNOWN_CLOCK_GHZ


def processors() -> tuple[int, ...]:
    """Processors this process may use."""
    return tuple(sorted(os.sched_getaffinity(0)))


def apart() -> tuple[int, int] | None:
    """Two processors on different cores; None where there is only one."""
    own = processors()
    for other in own[1:]:
        siblings = _first(f"/sys/devices/system/cpu/cpu{own[0]}/topology/core_cpus_list")
        if str(other) not in siblings.replace("-", ",").split(","):
            return own[0], other
    return (own[0], own[1]) if len(own) > 1 else None


def facts() -> dict[str, str | int | float]:
    """Processor, memory, kernel, hypervisor and mitigations."""
    cpu = _fields("/proc/cpuinfo")
    memory = _fields("/proc/meminfo").get("MemTotal", "").split()
    found: dict[str, str | int | float] = {
        "cpu": cpu.get("model name", platform.processor() or "unknown"),
        "cpus": len(processors()),
        "clock_ghz": round(clock_ghz(), 3),
        "kernel": platform.release(),
        "guest": "hypervisor" in cpu.get("flags", "").split(),
        "load_average": round(os.getloadavg()[0], 2),
    }
    if memory and memory[0].isdigit():
        found["memory_gib"] = round(int(memory[0]) * BYTES_PER_KIB / BYTES_PER_GIB, 1)
    weak = sorted(p.name for p in Path("/sys/devices/system/cpu/vulnerabilities").glob("*") if _mitigated(p))
    found["mitigations"] = ", ".join(weak) or NO_MITIGATION
    return found


def _mitigated(place: Path) -> bool:
    return _first(str(place)).startswith("Mitigation")
