"""`perf kvm stat report`: how often a guest left for the hypervisor, why, and how long each exit took."""

import re
from typing import Any

from vmodel.ingest.given import Given
from vmodel.ingest.result import Ingested, refusal

TOOL = "perf kvm stat"
HEAD = re.compile(
    r"^\s*(?:VM-EXIT|MMIO Access|IO Port Access|Event name|MSR Access)\s+Samples\s+Samples%\s+Time%", re.M
)
NUMBER = r"\d{1,16}(?:\.\d{1,9})?"
ROW = re.compile(
    rf"^\s*(?P<name>[A-Za-z0-9_:.x/-]{{1,60}})\s+(?P<count>\d{{1,18}})\s+(?P<share>{NUMBER})%\s+(?P<time>{NUMBER})%"
    rf"\s+(?P<min>{NUMBER})us\s+(?P<max>{NUMBER})us\s+(?P<mean>{NUMBER})us"
    rf"\s+\(\s?\+-\s{{0,10}}(?P<spread>{NUMBER}|-?nan)%"
)
TOTAL = re.compile(r"Total Samples:\s?(?P<exits>\d{1,18}), Total events handled time:\s?(?P<us>[\d.]{1,24})us")
IDLE = ("hlt", "halt", "mwait")
INTEL = re.compile(
    r"EPT_|MSR_(?:READ|WRITE)|EXTERNAL_INTERRUPT|PREEMPTION_TIMER|APIC_|EOI_INDUCED|IO_INSTRUCTION|PAUSE_INS"
)
AMD = re.compile(r"^(?:npf|vintr|vmmcall|avic_\w+|write_cr\d|read_cr\d|interrupt|msr|hlt|io|cpuid|invlpg|pause|nmi)$")


def is_perf_kvm(given: Given) -> bool:
    """Whether the text has the table of perf kvm stat."""
    return HEAD.search(given.head) is not None or "Total events handled time:" in given.text


def read(given: Given) -> Ingested:
    """Read the table of exits; raises DatasetError where none was recorded."""
    reasons: dict[str, dict[str, Any]] = {}
    for line in given.lines:
        found = ROW.match(line[:300])
        if found is not None:
            reasons[found["name"]] = {
                "count": int(found["count"]),
                "mean_us": float(found["mean"]),
                "min_us": float(found["min"]),
                "max_us": float(found["max"]),
                "time_percent": float(found["time"]),
                "idle": found["name"].casefold() in IDLE,
            }
    total = TOTAL.search(given.text)
    exits = int(total["exits"]) if total else sum(row["count"] for row in reasons.values())
    if not exits or not reasons:
        raise refusal(f"perf kvm stat recorded no exits (Total Samples:{exits})")
    overhead = sum(row["count"] * row["mean_us"] for row in reasons.values() if not row["idle"])
    vendor = (
        "Intel"
        if any(INTEL.search(name) for name in reasons)
        else "AMD"
        if any(AMD.match(n) for n in reasons)
        else None
    )
    warnings = ["exits per second need the recording time, which is not in the output"]
    if any(row["idle"] for row in reasons.values()):
        warnings.append("HLT is idle time of the guest, not overhead: left out of the time that exits cost")
    made = {
        "metric": None, "workload": None, "vendor": vendor, "exits": exits,
        "exits_without_idle": exits - sum(row["count"] for row in reasons.values() if row["idle"]),
        "exit_time_without_idle_us": overhead, "reasons": reasons, "usable": False,
        "because": "counts of exits are no measurement of a path",
    }  # fmt: skip
    return Ingested(tool=TOOL, kind="observations", observations=(made,), warnings=tuple(warnings))
