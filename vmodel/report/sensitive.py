"""A global sensitivity as JSON record, lines and figure."""

import math
from typing import Any

from matplotlib.figure import Figure

from vmodel.report.style import COLOURS, HATCHES, SMALL, TINY, WIDTH, finish
from vmodel.report.swept import title_of
from vmodel.report.tables import aligned, markdown
from vmodel.solve.solver import predict
from vmodel.sweep.sensitivity import Sensitivity
from vmodel.units import PERCENT_PER_ONE, format_share

MOST_ROWS = 15
LEAST = 0.0005  # total share that is worth a row
ROW, FRAME = 0.34, 1.3  # inches
HALF = 0.36


def sensitivity_json(s: Sensitivity) -> dict[str, Any]:
    """Everything as one object; shares are of the variance of the logarithm of the answer."""
    return {
        "answer": s.answer,
        "varied": list(s.settings),
        "evaluations": s.evaluations,
        "log_sd": _number(s.log_sd),
        "shares": [
            {
                "name": x.name, "kind": x.kind, "first": _number(x.first),
                "first_interval90": [_number(v) for v in x.first_interval], "total": _number(x.total),
                "total_interval90": [_number(v) for v in x.total_interval],
            }
            for x in s.shares
        ],
    }  # fmt: skip


def _number(x: float) -> float | None:
    return float(f"{x:.6g}") if math.isfinite(x) else None


def _title(s: Sensitivity) -> str:
    """The question, without the size where that varies."""
    varied = "".join(f", {name} varies" for name in s.settings)
    kept = [part for part in title_of(s.scenario).split(", ") if part.partition(" ")[0] not in s.settings]
    return f"{', '.join(kept)}{varied}: where the spread of the {s.answer} comes from"


def _rows(s: Sensitivity) -> list[list[str]]:
    shown = [x for x in s.shares if x.total >= LEAST][:MOST_ROWS]
    return [
        [x.name, x.kind, _share(x.total), _span(x.total_interval), _share(x.first), _span(x.first_interval)]
        for x in shown
    ]


def _share(x: float) -> str:
    return f"{x * PERCENT_PER_ONE:.1f} %"


def _span(ends: tuple[float, float]) -> str:
    return (
        f"{ends[0] * PERCENT_PER_ONE:.1f} to {ends[1] * PERCENT_PER_ONE:.1f}" if all(map(math.isfinite, ends)) else "-"
    )


HEADS = ("input", "kind", "total", "90 %", "alone", "90 %")


def _notes(s: Sensitivity) -> list[str]:
    notes = [f"{s.evaluations:,} configurations; the answer spreads by {format_share(s.log_sd)} (standard deviation)"]
    if not s.settings:
        known = predict(s.scenario)
        notes.append(
            "costs are drawn one by one; what a fit knows of them together, and what the model was off by, gives"
            f" {format_share(known.log_sd)}"
        )
    return notes


def sensitivity_lines(s: Sensitivity) -> list[str]:
    """The largest shares for a person."""
    return [_title(s), "", *aligned(_rows(s), HEADS, "llrrrr"), "", *_notes(s)]


def sensitivity_markdown(s: Sensitivity) -> str:
    """The same as Markdown."""
    lines = [f"# {_title(s)}", ""]
    return "\n".join([*lines, *markdown(_rows(s), HEADS, "llrrrr"), "", *(f"- {n}" for n in _notes(s))]) + "\n"


def sensitivity_figure(s: Sensitivity) -> Figure:
    """Total and first-order shares as bars with their intervals."""
    shown = [x for x in s.shares if x.total >= LEAST][:MOST_ROWS]
    made = Figure(figsize=(WIDTH, FRAME + ROW * len(shown)), layout="constrained")
    axes = made.add_subplot()
    for shift, colour, hatch, label, values, spans in (
        (-HALF / 2, COLOURS[0], "", "total", [x.total for x in shown], [x.total_interval for x in shown]),
        (HALF / 2, COLOURS[1], HATCHES[1], "alone", [x.first for x in shown], [x.first_interval for x in shown]),
    ):
        errors = [
            [max(0.0, v - low) * PERCENT_PER_ONE if math.isfinite(low) else 0.0
             for v, (low, _) in zip(values, spans, strict=True)],
            [max(0.0, high - v) * PERCENT_PER_ONE if math.isfinite(high) else 0.0
             for v, (_, high) in zip(values, spans, strict=True)],
        ]  # fmt: skip
        axes.barh(
            [i + shift for i in range(len(shown))], [v * PERCENT_PER_ONE for v in values], height=HALF, xerr=errors,
            color=colour, hatch=hatch, edgecolor="black", linewidth=0.4, label=label,
            error_kw={"elinewidth": 0.8, "capsize": 2},
        )  # fmt: skip
    axes.set_yticks(range(len(shown)), [x.name for x in shown], fontsize=SMALL)
    axes.invert_yaxis()
    finish(axes, f"share of the variance of the {s.answer} [%]", "input", _title(s))
    axes.legend(fontsize=TINY, loc="lower right", title="90 % intervals", title_fontsize=TINY)
    return made
