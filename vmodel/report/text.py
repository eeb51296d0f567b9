"""A prediction as a few lines for a person: what was asked, the answer with its interval, where the time goes."""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from vmodel.core.records import Interval, Prediction, Scenario
from vmodel.library import tables
from vmodel.report.tables import aligned, markdown
from vmodel.solve.solver import NORMAL_90
from vmodel.units import (
    US_PER_S,
    format_bitrate,
    format_bytes,
    format_joules,
    format_rate,
    format_seconds,
    format_share,
)

SMALL = 0.01  # share of the latency below which stages are shown together
NEGLIGIBLE = 1e-9  # loss that is not worth a line
LABEL = 14
Formatter = Callable[[float | None, float | None], str]


def per_second(value: float | None, error: float | None = None) -> str:
    """A frequency as text."""
    return format_rate(value, error, unit="/s")


def cores(value: float | None) -> str:
    """Busy processors as text."""
    return "-" if value is None else f"{value:.3f}" if value < 1 else f"{value:.2f}"


def knob_text(name: str, value: Any) -> str:
    """A knob's value with its unit."""
    knob = tables.knobs().get(name)
    if value is None:
        return "default"
    if knob is None or not isinstance(value, (int, float)):
        return str(value)
    if knob.kind == "switch":
        return "on" if value else "off"
    if knob.kind == "size":
        return format_bytes(value)
    return f"{value:.6g} {knob.unit}".rstrip()


def with_interval(value: float, interval: Interval | None, log_sd: float, write: Formatter) -> str:
    """A value whose digits follow its error, with its 90 % interval."""
    text = write(value, value * log_sd)
    if interval is None:
        return text
    low, high = write(interval.low, value * log_sd), write(interval.high, value * log_sd)
    return f"{text} (90 %: {low} to {high})"


def _messages(s: Scenario) -> str:
    if s.workload == "rr":
        at = "" if s.load.kind == "max" else f" at {load_text(s)}"
        return f"round trips of {format_bytes(s.knobs['size'])}{at}"
    if s.workload == "stream":
        return f"a stream of {format_bytes(s.knobs['size'])} messages"
    return f"packets of {format_bytes(s.knobs['size'])}"


def chosen_lines(s: Scenario) -> list[str]:
    """What was set, with the file or flag it came from where files were read."""
    named = {"path": s.path, "device": s.device} if s.origins else {"device": s.device}
    found = {name: f"{name} {value}" for name, value in named.items() if value is not None}
    found |= {name: f"{name} {knob_text(name, s.knobs[name])}" for name in s.chosen if name != "size" or s.origins}
    return [f"{line} ({s.origins[name]})" if name in s.origins else line for name, line in found.items()]


def load_text(s: Scenario) -> str:
    """The offered load as text."""
    if s.load.kind == "max":
        return "max"
    if s.load.kind == "throughput_bps":
        return format_bitrate(s.load.value)
    return format_rate(s.load.value, unit="rps" if s.workload == "rr" else "pps")


def question(s: Scenario) -> str:
    """What was asked, on one line."""
    parts = [f"{s.path} ({tables.endpoint(s.path).title})", s.topology, f"{s.workload}: {_messages(s)}"]
    if s.workload == "packets":
        parts.append(f"load {load_text(s)}")
    if s.workload != "rr" and s.topology in ("host-vm", "cross-host-vm"):
        parts.append(s.direction)
    if s.peer not in (tables.endpoint(s.path).host_peer, s.path):
        parts.append(f"peer {s.peer}")
    parts.append(f"on {s.profile.name}")
    return ", ".join(parts)


def answers(p: Prediction) -> list[tuple[str, str]]:
    latency = with_interval(p.latency_s or 0.0, p.latency_interval_s, latency_log_sd(p), format_seconds)
    error = latency_log_sd(p)
    marks = [(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9")]
    loaded = p.scenario.workload != "stream" and p.scenario.load.kind != "max"
    if loaded:
        marks += [(0.9999, "p99.99"), (0.99999, "p99.999")]
    found = [f"{name} {format_seconds(p.percentiles_s[q], p.percentiles_s[q] * error)}" for q, name in marks]
    times = [("latency", latency), ("", ", ".join(found))]
    rows = times if p.scenario.workload == "rr" else []
    rows.append(("throughput", with_interval(p.throughput_bps, p.throughput_interval_bps, p.log_sd, format_bitrate)))
    rows.append(("packet rate", with_interval(p.rate_pps, p.rate_interval_pps, p.log_sd, format_rate)))
    if p.transactions_per_s is not None:
        rows.append(
            ("transactions", with_interval(p.transactions_per_s, p.transactions_interval_per_s, p.log_sd, per_second))
        )
    if p.scenario.workload != "rr":
        rows += times
    if p.loss > NEGLIGIBLE:
        rows.append(("loss", format_share(p.loss)))
    rows.append(("interrupts", per_second(p.interrupts_per_s, p.interrupts_per_s * p.log_sd)))
    if loaded:
        rows += _under_load(p)
    rows.append(("CPU", f"host {cores(p.cpu_host)}, guest {cores(p.cpu_guest)} cores"))
    if p.watts is not None and p.messages_per_s > 0:
        each = format_joules(p.watts / p.messages_per_s)
        rows.append(("energy", f"{p.watts:.3g} W of busy cores, {each} a message"))
    spare = "" if p.bottleneck == "interrupt moderation" else f", {format_share(p.slack, 0.01)} to spare"
    rows.append(("bottleneck", f"{p.bottleneck}{spare}"))
    rows.append(("regime", p.regime))
    return rows


def _under_load(p: Prediction) -> list[tuple[str, str]]:
    """What only an offered load has: kicks, batch, ring, cores for the work done."""
    rows = []
    if p.kicks_per_s is not None:
        rows.append(("kicks", per_second(p.kicks_per_s, p.kicks_per_s * p.log_sd)))
    if p.batch_taken is not None:
        rows.append(("batch taken", f"{p.batch_taken:.3g} packets a turn"))
    if p.ring_mean is not None and p.ring_full is not None:
        held = f"{p.ring_mean:.3g} packets on average, p99 {p.ring_percentiles[0.99]:.3g}"
        rows.append(("ring", f"{held}, full for {format_share(p.ring_full, 0.001)}"))
    if p.cores_per_gbps is not None and p.cores_per_mpps is not None:
        rows.append(("CPU per work", f"{p.cores_per_gbps:.3g} cores per Gbit/s, {p.cores_per_mpps:.3g} per Mpps"))
    return rows


def latency_log_sd(p: Prediction) -> float:
    """The relative error that the latency interval shows."""
    interval = p.latency_interval_s
    if interval is None or not p.latency_s:
        return 0.0
    return math.log(interval.high / interval.low) / (2 * NORMAL_90)


def breakdown_rows(p: Prediction) -> list[tuple[str, str, str, str]]:
    """Stage, resource, microseconds, share; what is small stands together, and the last row is the sum."""
    total = p.latency_s or 0.0
    times: dict[tuple[str, str, str], float] = {}
    for r in p.shares:
        key = (r.stage, r.resource or "-", r.direction if p.scenario.workload == "rr" else "")
        times[key] = times.get(key, 0.0) + r.seconds
    rows, other, count = [], 0.0, 0
    for (stage, resource, leg), seconds in times.items():
        if seconds < SMALL * total:
            other, count = other + seconds, count + (seconds > 0)
            continue
        name = f"{stage}, {leg}" if leg else stage
        rows.append((name, resource, f"{seconds * US_PER_S:.2f}", format_share(seconds / total, 0.001)))
    if count:
        rows.append((f"other ({count} stages)", "-", f"{other * US_PER_S:.2f}", format_share(other / total, 0.001)))
    rows.append(("sum", "", f"{total * US_PER_S:.2f}", "100 %"))
    return rows


HEADS, RIGHT = ("stage", "resource", "us", "share"), "llrr"


def prediction_lines(p: Prediction, idle: Mapping[str, str]) -> list[str]:
    """The plain answer. idle: settings that do nothing here -> reason."""
    lines = [question(p.scenario), *(f"  {note}" for note in p.scenario.notes)]
    lines += [f"  {line}" for line in chosen_lines(p.scenario)]
    lines += [
        f"  {name} {value:g} {tables.priors()[name].unit} (given)" for name, value in p.scenario.parameters.items()
    ]
    lines.append("")
    lines += [f"{name.ljust(LABEL)}{text}" for name, text in answers(p)]
    lines += ["", "Where the time of a message goes (mean):"]
    lines += [f"  {line}" for line in aligned(breakdown_rows(p), HEADS, RIGHT)]
    lines.append("")
    lines += [f"{name} does not change the answer: {reason}" for name, reason in idle.items()]
    lines += [f"warning: {warning}" for warning in p.warnings]
    lines.append(f"{'standing'.ljust(LABEL)}{standing_text(p)}")
    lines.append(f"{'sources'.ljust(LABEL)}{', '.join(p.sources)}")
    return lines


def standing_text(p: Prediction) -> str:
    """The worst standing among the costs that matter, in words."""
    words = {
        "measured": "every cost that matters was measured",
        "fitted": "every cost that matters was fitted to measurements or better",
        "specified": "the weakest cost that matters comes from a specification",
        "transferred": "the weakest cost that matters was carried over from another machine",
        "assumed": "at least one cost that matters is assumed",
    }
    return f"{p.standing}: {words[p.standing]}"


def prediction_markdown(p: Prediction, idle: Mapping[str, str]) -> str:
    """The same answer as Markdown."""
    lines = [f"# {p.scenario.path}", "", question(p.scenario), ""]
    lines += [f"- {note}" for note in p.scenario.notes]
    lines += [f"- {line}" for line in chosen_lines(p.scenario)]
    found: list[tuple[str, str]] = []
    for name, text in answers(p):
        found.append((name or "percentiles", text))
    lines += ["", *markdown(found, ("answer", "value")), "", "## Where the time of a message goes", ""]
    lines += [*markdown(breakdown_rows(p), HEADS, RIGHT), ""]
    lines += [f"- `{name}` does not change the answer: {reason}" for name, reason in idle.items()]
    lines += [f"- warning: {warning}" for warning in p.warnings]
    lines += [f"- standing: {standing_text(p)}", f"- sources: {', '.join(p.sources)}"]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n"
