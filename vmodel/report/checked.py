"""A check as lines for a person and as the JSON record."""

from typing import Any

from vmodel.report.record import asked_json
from vmodel.report.tables import aligned
from vmodel.report.text import question
from vmodel.simulate.check import OFF, Check, Figure
from vmodel.units import US_PER_S, format_rate, format_seconds, format_share

HEADS, RIGHT = ("figure", "simulated", "95 %", "predicted", "gap", "verdict"), "lrrrrl"
GAP_ERROR = 1e-3  # gaps are shown to a tenth of a per cent
KEPT_DIGITS = 12


def _shown(figure: Figure, value: float | None) -> str:
    if value is None:
        return "-"
    error = max(figure.half_width, GAP_ERROR * abs(value)) / 2
    if figure.unit == "s":
        return format_seconds(value, error)
    return format_rate(value, error, unit="/s") if figure.unit == "1/s" else format_share(value, error)


def _half_width(figure: Figure) -> str:
    if figure.simulated == 0:
        return "-"
    return f"± {format_share(figure.half_width / figure.simulated, GAP_ERROR)}"


def _gap(figure: Figure) -> str:
    return "-" if figure.gap is None else f"{'+' if figure.gap > 0 else ''}{format_share(figure.gap, GAP_ERROR)}"


def rows(found: Check) -> list[tuple[str, ...]]:
    """One row for each figure."""
    return [
        (f.name, _shown(f, f.simulated), _half_width(f), _shown(f, f.predicted), _gap(f), f.verdict)
        for f in found.figures
    ]


def check_lines(found: Check) -> list[str]:
    """The plain answer."""
    lines = [
        question(found.scenario),
        f"  {found.messages} messages through {len(found.stations)} stations, seed {found.seed}",
        "",
        *aligned(rows(found), HEADS, RIGHT),
        "",
    ]
    stated: dict[str, list[Figure]] = {}
    for figure in found.figures:
        if figure.reason and figure.predicted is not None:
            stated.setdefault(figure.reason, []).append(figure)
    for reason, figures in stated.items():
        shares = ", ".join(f"{f.name} {format_share(f.allowed)}" for f in figures)
        lines.append(f"stated error: {shares}: {reason}")
    lines += [f"note: {note}" for note in found.notes]
    off = [figure.name for figure in found.figures if figure.verdict == OFF]
    lines.append(f"off: {', '.join(off)}" if off else "model and simulation agree")
    return lines


def _number(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{KEPT_DIGITS}g}")


def _figure_json(figure: Figure) -> dict[str, Any]:
    scale, unit = {"s": (US_PER_S, "us"), "1/s": (1.0, "1/s")}.get(figure.unit, (1.0, "1"))
    return {
        "figure": figure.name,
        "unit": unit,
        "simulated": _number(figure.simulated * scale),
        "half_width95": _number(figure.half_width * scale),
        "predicted": None if figure.predicted is None else _number(figure.predicted * scale),
        "gap": _number(figure.gap),
        "allowed": figure.allowed,
        "reason": figure.reason,
        "verdict": figure.verdict,
    }


def check_json(found: Check) -> dict[str, Any]:
    """The record of `check --json`."""
    s = found.scenario
    return {
        **asked_json(s),
        "messages": found.messages,
        "seed": found.seed,
        "stations_us": {name: _number(seconds * US_PER_S) for name, seconds in found.stations.items()},
        "figures": [_figure_json(figure) for figure in found.figures],
        "lost_at": dict(found.lost_at),
        "agrees": found.agrees,
        "notes": list(found.notes),
    }
