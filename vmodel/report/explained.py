"""An explanation and a comparison as JSON records, plain text and Markdown."""

from typing import Any

from vmodel.core.records import Interval, Prediction
from vmodel.report.record import as_json
from vmodel.report.tables import aligned, markdown
from vmodel.report.text import (
    breakdown_rows,
    chosen_lines,
    cores,
    knob_text,
    per_second,
    prediction_markdown,
    question,
    with_interval,
)
from vmodel.solve.compare import Comparison, Figure
from vmodel.solve.explain import Effect, Explanation, ParameterUse
from vmodel.units import US_PER_S, format_bitrate, format_rate, format_seconds, format_share

BAR = 40  # characters of the longest bar
ZERO = 1e-9
MOST_PARAMETERS = 60
WRITERS = {"s": format_seconds, "bit/s": format_bitrate, "pps": format_rate, "/s": per_second}
SCALES = {"s": ("us", US_PER_S)}


def explanation_json(e: Explanation) -> dict[str, Any]:
    """Everything `explain` knows, as one object."""
    form = e.closed_form
    return {
        "prediction": as_json(e.prediction),
        "closed_form": {
            "answer": form.answer,
            "unit": form.unit,
            "equations": [{"name": q.name, "text": q.text, "latex": q.latex, "about": q.about} for q in form.equations],
            "latex": form.latex,
            "python": form.python,
            "inputs": dict(form.inputs),
        },
        "formulas": [
            {
                "stage": f.stage, "resource": f.resource or None, "when": f.when, "seconds": f.text, "latex": f.latex,
                "about": f.about, "cites": list(f.cites),
            }
            for f in e.formulas
        ],
        "parameters": [
            {
                "name": p.name, "value": p.value, "log_error": p.log_error, "unit": p.unit, "standing": p.standing,
                "sources": list(p.sources), "elasticity": p.elasticity, "about": p.about,
            }
            for p in e.parameters
        ],
        "knobs_that_matter": [_effect_json(x) for x in e.mattering],
        "knobs_without_effect": [_effect_json(x) for x in e.idle],
    }  # fmt: skip


def _effect_json(x: Effect) -> dict[str, Any]:
    return {
        "knob": x.knob,
        "value": x.value,
        "unit": x.unit,
        "trials": [{"value": t.value, "relative_change": t.change} for t in x.trials],
        "reason": x.reason or None,
        "begins_at": list(x.begins_at),
    }


def waterfall_lines(p: Prediction) -> list[str]:
    """The breakdown as bars of text, each beginning where the one before ends."""
    total = p.latency_s or 1.0
    rows = breakdown_rows(p)
    lines, start = [], 0.0
    width = max(len(row[0]) for row in rows)
    for name, resource, us, share in rows[:-1]:
        length = float(us) / US_PER_S / total * BAR
        first, last = round(start), max(round(start + length), round(start) + 1)
        bar = " " * first + "█" * (last - first)
        lines.append(f"{name.ljust(width)} {us.rjust(9)} us {share.rjust(8)} |{bar.ljust(BAR + 1)}| {resource}")
        start += length
    lines.append(f"{'sum'.ljust(width)} {rows[-1][2].rjust(9)} us")
    return lines


def _percent(x: float) -> str:
    return "0 %" if abs(x) < ZERO else f"{'+' if x > 0 else ''}{format_share(x)}"


def trials_text(x: Effect) -> str:
    """What other values of a setting would change."""
    return ", ".join(f"{knob_text(x.knob, t.value)}: {_percent(t.change)}" for t in x.trials)


def reason_text(x: Effect) -> str:
    """Why a setting does nothing, and where it would begin to."""
    if not x.begins_at:
        return x.reason
    return f"{x.reason}; begins to matter at {' and at '.join(knob_text(x.knob, _short(v)) for v in x.begins_at)}"


def _short(value: float) -> float:
    return float(f"{value:.4g}")


def _parameter_rows(e: Explanation) -> list[tuple[str, ...]]:
    return [
        (p.name, _cost(p), f"{p.elasticity:+.3f}", p.standing, " ".join(p.sources) or "-", p.about)
        for p in e.parameters[:MOST_PARAMETERS]
    ]


def _cost(p: ParameterUse) -> str:
    """Value and error in the parameter's unit; the digits follow the error."""
    error = p.value * p.log_error
    if p.unit == "s":
        return (
            f"{format_seconds(p.value, error)} ± {format_share(p.log_error, p.log_error / 2)}"
            if error
            else format_seconds(p.value)
        )
    text = f"{p.value:.4g} {p.unit}".rstrip()
    return f"{text} ± {format_share(p.log_error, p.log_error / 2)}" if error else text


PARAMETER_HEADS = ("cost", "value ± error", "elasticity", "standing", "sources", "what it is")
EFFECT_HEADS, IDLE_HEADS = ("knob", "now", "answer changes to"), ("knob", "now", "why")
SHEET_HEADS = ("stage", "seconds per message", "what happens")


def tables_of(e: Explanation) -> list[tuple[str, list[tuple[str, ...]], tuple[str, ...], str]]:
    mattering = [(x.knob, knob_text(x.knob, x.value), trials_text(x)) for x in e.mattering]
    idle = [(x.knob, knob_text(x.knob, x.value), reason_text(x)) for x in e.idle]
    sheet = [(f.stage, f.text, f"{f.about} [{', '.join(f.cites)}]") for f in e.formulas]
    return [
        ("Formula sheet", list(sheet), SHEET_HEADS, ""),
        (
            "Costs behind the answer (elasticity: % of the answer per % of the cost)",
            _parameter_rows(e),
            PARAMETER_HEADS,
            "llr",
        ),
        ("Settings that matter (relative change of the answer)", list(mattering), EFFECT_HEADS, ""),
        ("Settings that do not change the answer", list(idle), IDLE_HEADS, ""),
    ]


def explanation_lines(e: Explanation, width: int) -> list[str]:
    """The explanation for a terminal."""
    p = e.prediction
    lines = [question(p.scenario), *(f"  {note}" for note in p.scenario.notes)]
    if p.scenario.origins:
        lines += [f"  {line}" for line in chosen_lines(p.scenario)]
    lines += [f"regime: {p.regime}", ""]
    lines += ["Where the time of a message goes", "", *waterfall_lines(p), ""]
    lines += [f"Closed form of {e.closed_form.answer} [{e.closed_form.unit}]", ""]
    lines += [f"  {line}" for line in e.closed_form.text.split("\n")]
    for title, rows, heads, right in tables_of(e):
        lines += ["", title, "", *(f"  {line}" for line in aligned(rows, heads, right, max(width - 2, 0)))]
    return lines


def explanation_markdown(e: Explanation) -> str:
    """The explanation as Markdown; the closed form is a block of LaTeX."""
    lines = [prediction_markdown(e.prediction, {}), "## Closed form", "", "$$", e.closed_form.latex, "$$"]
    for title, rows, heads, right in tables_of(e):
        lines += ["", f"## {title}", "", *markdown(rows, heads, right)]
    return "\n".join(lines) + "\n"


def comparison_json(c: Comparison) -> dict[str, Any]:
    """A comparison as one object."""
    return {
        "cases": list(c.labels),
        "differing": {name: list(values) for name, values in c.differing.items()},
        "answers": [_figure_json(f) for f in c.figures],
        "bottlenecks": [p.bottleneck for p in c.predictions],
        "predictions": [as_json(p) for p in c.predictions],
    }


def _figure_json(f: Figure) -> dict[str, Any]:
    unit, scale = SCALES.get(f.unit, (f.unit, 1.0))
    return {
        "name": f.name,
        "unit": unit,
        "values": [None if v is None else v * scale for v in f.values],
        "interval90": [None if i is None else [i.low * scale, i.high * scale] for i in f.intervals],
        "ratio_to_first": list(f.ratios),
        "verdict": list(f.verdicts),
    }


def _answer_cell(value: float | None, interval: Interval | None, log_sd: float, unit: str) -> str:
    if value is None:
        return "-"
    write = WRITERS.get(unit)
    return cores(value) if write is None else with_interval(value, interval, log_sd, write)


def comparison_rows(c: Comparison) -> list[tuple[str, ...]]:
    """One row for each answer and case: value with interval, ratio to the first, verdict."""
    rows: list[tuple[str, ...]] = []
    for f in c.figures:
        if all(v is None for v in f.values):
            continue
        for i, label in enumerate(c.labels):
            ratio = f.ratios[i]
            cell = _answer_cell(f.values[i], f.intervals[i], c.predictions[i].log_sd, f.unit)
            rows.append(
                (f.name if i == 0 else "", label, cell, "-" if ratio is None else f"{ratio:.3g}", f.verdicts[i])
            )
    for i, label in enumerate(c.labels):
        rows.append(("bottleneck" if i == 0 else "", label, c.predictions[i].bottleneck, "", ""))
    return rows


ANSWER_HEADS = ("answer", "case", "value", "ratio", "against the first")


def differing_rows(c: Comparison) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
    rows = [(name, *(knob_text(name, v) for v in values)) for name, values in c.differing.items()]
    return rows, ("input", *c.labels)


def comparison_lines(c: Comparison) -> list[str]:
    """A comparison for a terminal."""
    rows, heads = differing_rows(c)
    lines = ["What differs", "", *(f"  {line}" for line in aligned(rows, heads))] if rows else ["Nothing differs."]
    table = aligned(comparison_rows(c), ANSWER_HEADS, "lllrl")
    return [*lines, "", "Answers", "", *(f"  {line}" for line in table)]


def comparison_markdown(c: Comparison) -> str:
    """A comparison as Markdown."""
    rows, heads = differing_rows(c)
    parts = ["## What differs", "", *markdown(rows, heads), "", "## Answers", ""]
    return "\n".join([*parts, *markdown(comparison_rows(c), ANSWER_HEADS, "lllr")]) + "\n"
