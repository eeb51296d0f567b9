"""What to measure next, and what a measurement brought, as lines for a person and as JSON records."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from vmodel.calibrate.suggest import Achieved, Pick, Standing, Suggestion
from vmodel.core.records import Scenario
from vmodel.report.record import asked_json
from vmodel.report.text import question
from vmodel.units import BPS_PER_MBPS, PERCENT_PER_ONE, US_PER_S, format_bitrate, format_rate, format_seconds

KEPT_DIGITS = 6
SECONDS_PER_MINUTE = 60
UNDECIDED = 0.005
WRITE: Mapping[str, Callable[[float, float], str]] = {
    "latency_us": lambda x, e: format_seconds(x / US_PER_S, e / US_PER_S),
    "throughput_mbps": lambda x, e: format_bitrate(x * BPS_PER_MBPS, e * BPS_PER_MBPS),
    "rate_pps": lambda x, e: format_rate(x, e),
}
NAMES = {"latency_us": "latency", "throughput_mbps": "throughput", "rate_pps": "packet rate"}


def _number(x: float | None) -> float | None:
    return None if x is None or not math.isfinite(x) else float(f"{x:.{KEPT_DIGITS}g}")


def _percent(x: float) -> str:
    return f"{x * PERCENT_PER_ONE:.1f} %"


def _value(x: Any) -> str:
    return "default" if x is None else f"{x:g}"


def _names(targets: tuple[Scenario, ...]) -> list[str]:
    """The two sides of a decision by what differs between them."""
    one, other = targets
    if one.path != other.path:
        return [one.path, other.path]
    differing = [name for name in one.knobs if one.knobs[name] != other.knobs[name]]
    if not differing:
        return ["the first", "the second"]
    return [", ".join(f"{name} {_value(t.knobs[name])}" for name in differing) for t in targets]


def standing_text(s: Standing, targets: tuple[Scenario, ...], metric: str) -> str:
    """A target as it stands, on one line."""
    low, high = s.interval
    if len(targets) == 1:
        write = WRITE[metric]
        error = s.value * s.log_sd
        return f"{write(s.value, error)} (90 %: {write(low, error)} to {write(high, error)})"
    names = _names(targets)
    better = 0.5 if s.better is None else s.better
    ratio = f"{NAMES[metric]} of {names[0]} over {names[1]} {s.value:.2f} (90 %: {low:.2f} to {high:.2f})"
    if abs(better - 0.5) < UNDECIDED:
        return f"nothing is known that speaks for either; {ratio}"
    return f"{names[better < 0.5]} is better with probability {_percent(max(better, 1 - better))}; {ratio}"


def _effort(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < SECONDS_PER_MINUTE * 2 else f"{seconds / SECONDS_PER_MINUTE:.0f} min"


def _width(s: Standing) -> str:
    low, high = s.interval
    return f"a factor of {high / low:.2f}"


def _expected(p: Pick, f: Suggestion) -> str:
    told = f"interval {_width(f.now)} wide -> {_width(p.after)} wide"
    if p.after.wrong is None or f.now.wrong is None or p.flips is None:
        return told
    wrong = f"chance of the wrong choice {_percent(f.now.wrong)} -> {_percent(p.after.wrong)}"
    return f"{told}; {wrong}; the choice flips with probability {_percent(p.flips)}"


def suggestion_lines(f: Suggestion) -> list[str]:
    """The plain answer."""
    lines = [question(s) for s in f.targets]
    lines += [f"now: {standing_text(f.now, f.targets, f.metric)}", ""]
    if not f.picks:
        return [*lines, f"none of {f.tried} measurements would narrow this by as much as 2 %"]
    before = 0
    for number, p in enumerate(f.picks, start=1):
        if p.instead:
            order = "instead of the above" if before else "instead"
        else:
            order = "after the above" if before else "first"
            before += 1
        lines.append(f"{number}. {p.candidate.label} ({order}; about {_effort(p.candidate.seconds)})")
        lines += [f"     {command}" for command in p.candidate.commands]
        lines.append(f"   expected: {_expected(p, f)}")
    read = "then: vmodel ingest FILES... --path PATH -o rows.csv, and this command again with --after rows.csv"
    return [*lines, "", f"chosen from {f.tried} measurements by information per second", read]


def _standing_json(s: Standing) -> dict[str, Any]:
    low, high = s.interval
    return {
        "value": _number(s.value), "interval90": [_number(low), _number(high)], "log_sd": _number(s.log_sd),
        "first_is_better": _number(s.better), "wrong_choice": _number(s.wrong),
    }  # fmt: skip


def _pick_json(p: Pick) -> dict[str, Any]:
    s = p.candidate.scenario
    return {
        "measurement": p.candidate.label,
        "commands": list(p.candidate.commands),
        "seconds": p.candidate.seconds,
        "question": {**asked_json(s), "message_bytes": _number(float(s.knobs["size"]))},
        "metric": p.candidate.metric,
        "predicted": _number(p.predicted),
        "instead": p.instead,
        "expected": _standing_json(p.after),
        "expected_alone_log_sd": _number(p.alone),
        "flips": _number(p.flips),
    }


def suggestion_json(f: Suggestion) -> dict[str, Any]:
    """The record of `suggest --json`; for a decision, values are the ratio of the first to the second."""
    return {
        "targets": [asked_json(s) for s in f.targets],
        "metric": f.metric,
        "now": _standing_json(f.now),
        "suggestions": [_pick_json(p) for p in f.picks],
        "tried": f.tried,
    }


def achieved_lines(f: Achieved, targets: tuple[Scenario, ...], metric: str) -> list[str]:
    """What rows brought, beside what was expected of them."""
    gains = [math.log(f.before.log_sd / s.log_sd) for s in (f.expected, f.achieved)]
    lines = [
        *(question(s) for s in targets),
        f"before:   {standing_text(f.before, targets, metric)}",
        f"expected: interval {_width(f.before)} wide -> {_width(f.expected)} wide by {f.rows} rows",
        f"achieved: {standing_text(f.achieved, targets, metric)}",
        f"          interval {_width(f.before)} wide -> {_width(f.achieved)} wide;"
        f" gain {gains[1]:.2f} nats, expected {gains[0]:.2f}",
        f"fit: {f.fitted.outcome}: {f.fitted.because}",
    ]
    return [*lines, "the choice has flipped"] if f.flipped else lines


def achieved_json(f: Achieved, targets: tuple[Scenario, ...], metric: str) -> dict[str, Any]:
    """The record of `suggest --after --json`."""
    return {
        "targets": [asked_json(s) for s in targets],
        "metric": metric,
        "rows": f.rows,
        "before": _standing_json(f.before),
        "expected": _standing_json(f.expected),
        "achieved": _standing_json(f.achieved),
        "flipped": f.flipped,
        "fit": {"outcome": f.fitted.outcome, "because": f.fitted.because},
    }
