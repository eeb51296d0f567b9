"""What a session on this host found, as lines for a person and as the JSON record."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from vmodel.calibrate.fit import Fit
from vmodel.calibrate.halves import Halves, Unseen
from vmodel.core.records import Observation
from vmodel.measure.study import Session
from vmodel.report.tables import aligned
from vmodel.units import PERCENT_PER_ONE, format_bytes

KEPT_DIGITS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A session, its rows as text and as records, what they say."""

    session: Session
    text: str
    rows: tuple[Observation, ...]
    spread: tuple[float, float, float]
    fitted: Fit
    halves: Halves | None
    runs: int


def _percent(x: float) -> str:
    return "-" if not math.isfinite(x) else f"{x * PERCENT_PER_ONE:.1f} %"


def _of(found: Measured) -> tuple[Unseen, ...]:
    return () if found.halves is None else found.halves.unseen


def _kinds(unseen: Sequence[Unseen]) -> list[tuple[str, list[Unseen]]]:
    names = dict.fromkeys(f"{u.row.path} {u.row.workload}" for u in unseen)
    return [(n, [u for u in unseen if f"{u.row.path} {u.row.workload}" == n]) for n in names] + [("all", list(unseen))]


def _figures(unseen: Sequence[Unseen]) -> tuple[float, float, float, float]:
    """Median and largest error, share covered, median error of the nearest size."""
    errors = [abs(u.error) for u in unseen]
    near = [abs(u.nearest / u.measured - 1) for u in unseen if math.isfinite(u.nearest)]
    covered = sum(u.covered for u in unseen) / len(unseen)
    return median(errors), max(errors), covered, median(near) if near else math.nan


def _head(found: Measured) -> list[str]:
    s = found.session
    facts = s.facts
    pinned = "left to the scheduler" if s.placement is None else f"on CPU {s.placement.client} and {s.placement.server}"
    tools = ", ".join(f"{name} {version}" for name, version in s.versions.items())
    guest = ", itself a virtual machine" if facts["guest"] else ""
    lines = [
        f"{facts['cpu']}, {facts['cpus']} CPUs, {facts['clock_ghz']} GHz, Linux {facts['kernel']}{guest}",
        f"{found.runs} runs of {s.limits.run_s} s in {s.seconds:.0f} s; {tools};"
        f" client and server {pinned}; seed {s.limits.seed}; load average before {facts['load_average']}",
        f"repeats of one configuration differ by {_percent(found.spread[0])} (standard deviation, median);"
        f" largest over smallest: median {found.spread[1]:.2f}, worst {found.spread[2]:.2f}",
    ]
    return lines + [f"not measured: {what}: {why}" for what, why in {**s.left_out, **s.failed}.items()]


def _unseen(found: Measured) -> list[str]:
    if found.halves is None:
        return ["too few configurations to keep a half of them unseen"]
    seen = len(found.halves.fitted.rows)
    lines = [
        f"half of the configurations fitted ({seen} rows), the other half predicted"
        f" ({sum(u.rows for u in found.halves.unseen)} rows, medians of repeats):"
    ]
    rows = []
    for name, unseen in _kinds(found.halves.unseen):
        middle, worst, covered, near = _figures(unseen)
        rows.append((name, str(len(unseen)), _percent(middle), _percent(worst), _percent(covered), _percent(near)))
    heads = ("unseen", "configurations", "median error", "largest", "in the 90 % interval", "nearest size")
    return [*lines, "", *aligned(rows, heads, "lrrrrr")]


def _points(found: Measured) -> list[str]:
    rows = [
        (
            f"{u.row.path} {u.row.workload} {format_bytes(u.row.knobs['size'])}", u.row.metric, f"{u.measured:.4g}",
            f"{u.predicted:.4g}", f"{u.error * PERCENT_PER_ONE:+.1f} %", f"{u.spread:.2f}",
        )
        for u in _of(found)
    ]  # fmt: skip
    return (
        aligned(rows, ("configuration", "metric", "measured", "predicted", "error", "spread"), "llrrrr") if rows else []
    )


def measured_lines(found: Measured, folder: str) -> list[str]:
    """The plain answer."""
    first = found.rows[0].path
    return [
        *_head(found),
        "",
        *_unseen(found),
        "",
        *_points(found),
        "",
        f"fit of all rows: {found.fitted.outcome}: {found.fitted.because}",
        f"written to {folder}; try: vmodel predict --profile {folder}/fitted.toml --path {first}",
    ]


def _number(x: float) -> float | None:
    return float(f"{x:.{KEPT_DIGITS}g}") if math.isfinite(x) else None


def measured_json(found: Measured, folder: str) -> dict[str, Any]:
    """The record of `measure --json`; errors are fractions."""
    s = found.session
    kinds = {}
    for name, unseen in _kinds(_of(found)) if found.halves else ():
        middle, worst, covered, near = _figures(unseen)
        kinds[name] = {
            "configurations": len(unseen), "median_ape": _number(middle), "max_ape": _number(worst),
            "coverage90": _number(covered), "nearest_size_median_ape": _number(near),
        }  # fmt: skip
    return {
        "folder": folder,
        "machine": dict(s.facts),
        "tools": dict(s.versions),
        "not_measured": dict(s.left_out),
        "seed": s.limits.seed,
        "seconds": _number(s.seconds),
        "runs": found.runs,
        "failed": dict(s.failed),
        "repeats": {
            "median_sd": _number(found.spread[0]), "median_factor": _number(found.spread[1]),
            "worst_factor": _number(found.spread[2]),
        },
        "unseen": kinds,
        "points": [
            {
                "path": u.row.path, "workload": u.row.workload, "metric": u.row.metric,
                "message_bytes": u.row.knobs["size"], "measured": _number(u.measured),
                "predicted": _number(u.predicted), "repeats_factor": _number(u.spread),
            }
            for u in _of(found)
        ],
        "fit": {"outcome": found.fitted.outcome, "because": found.fitted.because},
    }  # fmt: skip
