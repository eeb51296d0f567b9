"""A session as a study folder: rows of observations, what the source says of itself, raw outputs beside."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median, stdev
from typing import Any

from vmodel.measure.machine import NO_MITIGATION
from vmodel.measure.session import Limits, Placement, Run

OPEN = (
    "what else ran on the host at the time",
    "power states and frequency scaling",
    "socket buffers, which the kernel tunes",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What a study is made of, beside its rows."""

    name: str
    started: datetime
    seconds: float
    facts: Mapping[str, str | int | float]
    versions: Mapping[str, str]
    limits: Limits
    placement: Placement | None
    left_out: Mapping[str, str]  # what was not measured, and why
    failed: Mapping[str, str]  # tool and path -> what became of its runs


def raw_name(run: Run) -> str:
    """The file that keeps what a run printed."""
    c = run.configuration
    ending = "json" if run.output.lstrip().startswith("{") else "txt"
    return f"raw/{run.number:04d}-{c.tool.name}-{c.course.path}-{c.size}-{run.round}.{ending}"


def _cell(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def known(run: Run, name: str) -> dict[str, str]:
    """What we know of a run's row beside what its output tells: how it was laid, and where the output is kept."""
    c = run.configuration
    knobs = {**c.course.knobs, **(c.tool.knobs or {})}
    return {
        "id": f"{name}-{run.number:04d}", "path": c.course.path, "topology": "loopback", "workload": c.tool.workload,
        "direction": "", "message_bytes": str(c.size), "session": f"{name}/{run.round}",
        "series": f"{c.course.path}/{c.tool.workload}/{c.tool.name}", "profile": name, "source": raw_name(run),
        **{knob: _cell(value) for knob, value in knobs.items()},
    }  # fmt: skip


def with_spread(runs: Sequence[Run], rows: Mapping[int, dict[str, str]]) -> list[dict[str, str]]:
    """The rows in the order of the runs, each with the spread of its configuration's repeats as sd.

    Never below the median spread of all: few repeats agree by chance.
    """
    spread = spreads(runs, rows)
    usual = median(spread.values()) if spread else 0.0
    out = []
    for run in runs:
        if run.number in rows:
            row = rows[run.number]
            noise = max(spread.get(place(run), 0.0), usual) * float(row["value"])
            out.append({**row, "sd": f"{noise:.6g}" if noise else ""})
    return out


def place(run: Run) -> tuple[str, str, int]:
    """What repeats of a run have in common."""
    c = run.configuration
    return c.course.path, c.tool.name, c.size


def spreads(runs: Sequence[Run], rows: Mapping[int, Mapping[str, str]]) -> dict[tuple[str, str, int], float]:
    """Standard deviation of the logarithm over the repeats of each configuration that has any."""
    found: dict[tuple[str, str, int], list[float]] = {}
    for run in runs:
        if run.number in rows:
            found.setdefault(place(run), []).append(math.log(float(rows[run.number]["value"])))
    return {key: stdev(logs) for key, logs in found.items() if len(logs) > 1}


def failures(runs: Sequence[Run], rows: Mapping[int, Mapping[str, str]]) -> dict[str, str]:
    """Tool and path of runs that measured nothing -> how many, and the last words of the first."""
    out: dict[str, str] = {}
    bad = [run for run in runs if run.number not in rows]
    for run in bad:
        c = run.configuration
        name = f"{c.tool.name} on {c.course.path}"
        if name in out:
            continue
        alike = [r for r in runs if place(r)[:2] == place(run)[:2]]
        count = sum(r in bad for r in alike)
        said = (run.complaint.strip() or run.output.strip()).splitlines()
        out[name] = f"{count} of {len(alike)} runs gave nothing: {said[-1] if said else f'exit code {run.code}'}"
    return out


def _toml(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml(v) for v in value) + "]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (str, bool, int)) else f"{value:.9g}"


def _lines(body: Mapping[str, Any]) -> list[str]:
    return [f"{key} = {_toml(value)}" for key, value in body.items()]


def _quoted(body: Mapping[str, str]) -> dict[str, str]:
    return {json.dumps(key): value for key, value in body.items()}


def source_toml(s: Session, noise: float) -> str:
    """The text of source.toml. noise: relative, of one run, from the repeats."""
    pinned = "left to the scheduler" if s.placement is None else f"CPU {s.placement.client}, CPU {s.placement.server}"
    head = {
        "format": 1, "key": s.name, "title": "Measured on this host by vmodel measure",
        "venue": "own measurement", "profile": s.name, "unknown": [*OPEN],
    }  # fmt: skip
    session = {
        "seconds": s.seconds, "seed": s.limits.seed, "run_seconds": s.limits.run_s, "budget_seconds": s.limits.budget_s,
        "client_and_server": pinned,
    }  # fmt: skip
    absent = _quoted({**s.left_out, **s.failed})
    basis = "median spread of the repeats of one configuration"
    return "\n".join(
        [
            *_lines(head), f"date = {s.started:%Y-%m-%d}", "", "[machine]", *_lines(s.facts), "", "[tools]",
            *_lines(s.versions), "", "[session]", *_lines(session), "", "[not_measured]", *_lines(absent), "",
            "[noise]", f"relative = {noise:.3g}", f"basis = {_toml(basis)}", "",
        ]
    )  # fmt: skip


def title(s: Session) -> str:
    """The machine and the day, on one line."""
    return f"{s.facts['cpu']}, Linux {s.facts['kernel']}, measured {s.started:%Y-%m-%d}"


def seed_toml(s: Session) -> str:
    """The text of profile.toml: what a fit is told about this machine."""
    facts = s.facts
    head = {"name": s.name, "title": title(s), "clock_ghz": float(facts["clock_ghz"])}
    machine = {
        "cpu": facts["cpu"], "kernel": facts["kernel"], "year": s.started.year,
        "mitigations": facts["mitigations"] != NO_MITIGATION,
    }  # fmt: skip
    return "\n".join([*_lines(head), "", "[machine]", *_lines(machine), ""])
