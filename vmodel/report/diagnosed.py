"""A diagnosis as lines for a person and as the JSON record."""

import math
from typing import Any

from vmodel.calibrate.diagnose import Change, Diagnosis, Explanation, Figure
from vmodel.report.tables import aligned
from vmodel.report.text import knob_text
from vmodel.units import PERCENT_PER_ONE, format_share

EXPLANATIONS = 6  # shown to a person
NAMED = 8  # costs that one line names
LEAST_SHOWN = 1e-3
KEPT_DIGITS = 6
LARGE = 20.0  # log Bayes factors beyond this are told as a bound


def _number(x: float) -> float | None:
    return float(f"{x:.{KEPT_DIGITS}g}") if math.isfinite(x) else None


def signed(log_change: float) -> str:
    """A log change as a percentage with its sign."""
    return f"{math.expm1(log_change) * PERCENT_PER_ONE:+.1f} %"


def _cause(e: Explanation) -> str:
    return " and ".join(c.parameter for c in e.changes)


def _factor(c: Change) -> str:
    return f"{c.factor:.2f} ({c.interval[0]:.2f} to {c.interval[1]:.2f})"


def _bayes(log_bayes: float) -> str:
    return f"> 1e{math.floor(LARGE / math.log(10))}" if log_bayes > LARGE else f"{math.exp(log_bayes):.2g}"


def _likely(probability: float) -> str:
    """A probability to three decimals at most: more would claim more than the assumptions carry."""
    return "< 0.1 %" if probability < LEAST_SHOWN else f"{probability * PERCENT_PER_ONE:.1f} %"


def _settings(d: Diagnosis) -> list[str]:
    if not d.shifts.settings:
        return ["configuration: the same in both files"]
    lines = ["configuration, which differs:"]
    for s in d.shifts.settings:
        lines.append(f"  {s.name}: {knob_text(s.name, s.before)} -> {knob_text(s.name, s.after)} ({s.rows} questions)")
    moved = [f for f in d.figures if f.configured]
    if moved:
        mean = sum(f.configured for f in moved) / len(moved)
        measured = sum(f.change for f in moved) / len(moved)
        lines.append(
            f"  of itself this changes those figures by {signed(mean)} on average; measured {signed(measured)}"
        )
    return lines


def _explained(d: Diagnosis) -> list[str]:
    rows = [("nothing changed", _likely(d.nothing), "1", "", "")]
    for e in d.explanations[:EXPLANATIONS]:
        stages = "; ".join(", ".join(c.stages) or "all of the processor's" for c in e.changes)
        factors = " and ".join(_factor(c) for c in e.changes)
        rows.append((_cause(e), _likely(e.probability), _bayes(e.log_bayes), factors, stages))
    rows.append(("none of these", _likely(d.none), "", "", "every figure moves for itself"))
    return aligned(rows, ("what changed", "likely", "Bayes factor", "by a factor of (90 %)", "stages"), "lrrl", 120)


def _figures(d: Diagnosis) -> list[str]:
    rows = [
        (f.label, f"{f.before:.4g}", f"{f.after:.4g}", signed(f.change), signed(f.explained), f.state)
        for f in d.figures
    ]
    return aligned(rows, ("figure", "before", "after", "change", "explained", ""), "lrrrrl")


def diagnosis_lines(d: Diagnosis) -> list[str]:
    """The plain answer: configuration, verdict, explanations, figures."""
    noise = format_share(d.shifts.noise)
    basis = f"from {d.shifts.repeats:g} repeats" if d.shifts.repeats else "assumed, since nothing was repeated"
    alone = [f"only {word}: {len(s)} questions" for word, s in _alone(d) if s]
    verdict = f"{d.verdict}: {d.because}"
    first = [*_settings(d), "", verdict, ""] if d.shifts.settings else [verdict, "", *_settings(d)]
    return [
        *first,
        f"{len(d.figures)} questions in both files; noise of one figure {noise} ({basis}); profile {d.profile}",
        *alone,
        "",
        *_explained(d),
        "",
        *_figures(d),
        *_blind(d),
    ]


def _blind(d: Diagnosis) -> list[str]:
    if not d.blind:
        return []
    more = len(d.blind) - NAMED
    rest = f" and {more} more" if more > 0 else ""
    return [f"costs on these paths of which no figure would show a change: {', '.join(d.blind[:NAMED])}{rest}"]


def _alone(d: Diagnosis) -> tuple[tuple[str, tuple[Any, ...]], ...]:
    return (("before", d.shifts.only_before), ("after", d.shifts.only_after))


def _change_json(c: Change) -> dict[str, Any]:
    return {
        "parameter": c.parameter,
        "factor": _number(c.factor),
        "interval90": [_number(x) for x in c.interval],
        "stages": list(c.stages),
        "inseparable_from": list(c.partners),
    }


def _explanation_json(d: Diagnosis, e: Explanation) -> dict[str, Any]:
    return {
        "changes": [_change_json(c) for c in e.changes],
        "probability": _number(e.probability),
        "log_bayes_factor": _number(e.log_bayes),
        "predicted_changes": [_number(math.expm1(x)) for x in e.shifts],
    }


def _figure_json(f: Figure) -> dict[str, Any]:
    return {
        "figure": f.label,
        "before": _number(f.before),
        "after": _number(f.after),
        "change": _number(math.expm1(f.change)),
        "sd": _number(f.sd),
        "change_by_configuration": _number(math.expm1(f.configured)),
        "change_explained": _number(math.expm1(f.explained)),
        "state": f.state,
    }


def diagnosis_json(d: Diagnosis) -> dict[str, Any]:
    """The record of `diagnose --json`; changes are fractions."""
    return {
        "profile": d.profile,
        "configuration": [
            {"name": s.name, "before": s.before, "after": s.after, "questions": s.rows} for s in d.shifts.settings
        ],
        "verdict": d.verdict,
        "because": d.because,
        "noise": _number(d.shifts.noise),
        "repeats": d.shifts.repeats,
        "contradicting": [{"figure": name, "factor": _number(factor)} for name, factor in d.shifts.contradicting],
        "nothing_changed": {"probability": _number(d.nothing)},
        "none_of_these": {"probability": _number(d.none)},
        "explanations": [_explanation_json(d, e) for e in d.explanations],
        "figures": [_figure_json(f) for f in d.figures],
        "only_before": len(d.shifts.only_before),
        "only_after": len(d.shifts.only_after),
        "not_visible": list(d.blind),
    }
