"""Observations as rows of the project's observation CSV, with what only the user knows of the run."""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from vmodel.errors import ConfigError, Fault
from vmodel.ingest.result import Ingested, Record
from vmodel.units import BPS_PER_MBPS

HEAD = (
    "id", "path", "peer", "topology", "workload", "direction", "message_bytes", "metric", "value", "sd",
    "session", "series", "profile", "source", "excluded", "note",
)  # fmt: skip
FACTORS = {"latency_us": 1.0, "transactions_per_s": 1.0, "throughput_bps": 1 / BPS_PER_MBPS, "rate_pps": 1.0}
NAMES = {"throughput_bps": "throughput_mbps"}
SPREADS = {"throughput_bps": "throughput_sd_bps", "rate_pps": "rate_sd_pps"}
SIZES = ("message_bytes", "request_bytes", "frame_bytes", "payload_bytes")
DATAGRAMS = {"tso": "false", "gro": "false", "nodelay": "true"}  # each write is a packet of its own
KNOBS = {"in_flight": "in_flight", "batch": "batch"}


def as_rows(found: Ingested, file: str, known: Mapping[str, str]) -> list[dict[str, str]]:
    """Rows of one file; raises ConfigError where it has no observation with a metric, or path and workload are missing.

    known: what the user says of every row: path, topology, direction, message_bytes, series, profile, source, knobs.
    """
    made = [o for o in found.observations if o.get("metric") and o.get(o["metric"])]
    if not made:
        what = "no configuration" if found.kind == "configuration" else "a rate, throughput or latency"
        raise ConfigError([Fault(file=file, key="", expected=f"{what}: this file has none to fit ({found.tool})")])
    faults = []
    rows = []
    for number, observation in enumerate(made, start=1):
        row = _row(observation, found, f"{PurePath(file).name}#{number}", known)
        for name in ("path", "workload"):
            if not row.get(name):
                faults.append(Fault(file=file, key=f"--{name}", expected="a value: the tool's output does not tell it"))
        rows.append(row)
    if faults:
        raise ConfigError(list(dict.fromkeys(faults)))
    return rows


def _row(observation: Record, found: Ingested, name: str, known: Mapping[str, str]) -> dict[str, str]:
    metric = observation["metric"]
    factor = FACTORS[metric]
    spread = observation.get(SPREADS.get(metric, ""))
    because = None if observation.get("usable", True) else observation.get("because") or "not usable"
    if metric == "latency_us" and observation.get("load_pps"):
        because = because or f"under an offered load of {observation['load_pps']:.6g} packets/s, which a row cannot say"
    row: dict[str, Any] = {
        "id": name,
        "path": observation.get("path"),
        "workload": observation.get("workload"),
        "message_bytes": _size(observation),
        "metric": NAMES.get(metric, metric),
        "value": observation[metric] * factor,
        "sd": None if not spread else spread * factor,
        "source": f"{found.tool} {found.version or ''}".strip(),
        "excluded": because,
        "note": "; ".join(_notes(observation)),
    }
    if observation.get("workload") == "stream" and (observation.get("streams") or 1) > 1:
        row["flows"] = observation["streams"]
    if observation.get("workload") == "stream" and observation.get("protocol") == "UDP":
        row |= DATAGRAMS
    for key, knob in KNOBS.items():
        if (observation.get(key) or 1) > 1:
            row[knob] = observation[key]
    row.update({key: value for key, value in known.items() if value})
    return {key: _text(value) for key, value in row.items()}


def _size(observation: Record) -> Any:
    return next((observation[key] for key in SIZES if observation.get(key)), None)


def _notes(observation: Record) -> list[str]:
    """What the columns cannot say."""
    notes = [
        f"{key} {observation[key]}"
        for key in ("protocol", "direction", "counts", "latency_kind")
        if observation.get(key)
    ]
    if observation.get("limited_by"):
        notes.append(f"limited by {observation['limited_by']}")
    if observation.get("stddev_us"):
        notes.append(f"single values spread by {observation['stddev_us']:.4g} us")
    return notes


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def as_text(rows: Sequence[Mapping[str, str]]) -> str:
    """Rows as CSV; columns in the order of the format, knobs after them."""
    extra = dict.fromkeys(key for row in rows for key in row if key not in HEAD)
    text = io.StringIO()
    writer = csv.DictWriter(text, [*HEAD[:10], *extra, *HEAD[10:]], restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
