"""Explanations and comparisons in one line, and as small tables for notebooks; every number has its unit."""

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING

from vmodel.core import show
from vmodel.units import PERCENT_PER_ONE, format_bitrate, format_rate, format_seconds, format_share

if TYPE_CHECKING:
    from vmodel.solve.compare import Comparison
    from vmodel.solve.explain import Explanation

MOST_COSTS, MOST_EFFECTS = 8, 6
WRITERS: dict[str, Callable[[float | None], str]] = {
    "s": format_seconds,
    "bit/s": format_bitrate,
    "pps": format_rate,
    "/s": lambda x: format_rate(x, unit="/s"),
    "cores": lambda x: "-" if x is None else f"{x:.3g}",
}


def comparison_line(c: "Comparison") -> str:
    """What is compared, in one line."""
    latency = ", ".join(format_seconds(p.latency_s) for p in c.predictions)
    return f"<Comparison of {', '.join(c.labels)}: latency {latency}>"


def comparison_html(c: "Comparison") -> str:
    """Differing questions, then answers; each with its ratio to the first and whether it differs."""
    differing = [[name, *("default" if v is None else str(v) for v in values)] for name, values in c.differing.items()]
    answers = []
    for f in c.figures:
        write = WRITERS[f.unit]
        cells = [f.name]
        for value, ratio, verdict in zip(f.values, f.ratios, f.verdicts, strict=True):
            told = "" if verdict == "first" or ratio is None else f" ({ratio:.3g} times; {verdict})"
            cells.append(f"{write(value)}{told}")
        answers.append(cells)
    heads = ["", *c.labels]
    return show.table("what differs in the question", heads, differing) + show.table("the answers", heads, answers)


def explanation_line(e: "Explanation") -> str:
    """What is explained, in one line."""
    best = ", ".join(x.knob for x in e.mattering[:3]) or "none"
    return f"<Explanation of {e.prediction!r}; settings that matter most: {best}>"


def explanation_html(e: "Explanation") -> str:
    """The answer, its closed form, the costs behind it and the settings that matter."""
    costs = [
        [p.name, f"{p.value:.3g} {p.unit}", format_share(p.log_error), f"{p.elasticity:+.3f}", p.standing]
        for p in e.parameters[:MOST_COSTS]
    ]
    effects = [
        [x.knob, ", ".join(f"{t.value:g} {x.unit}: {t.change * PERCENT_PER_ONE:+.1f} %" for t in x.trials)]
        for x in e.mattering[:MOST_EFFECTS]
    ]
    form = f"<details><summary>closed form</summary><pre>{escape(e.closed_form.text)}</pre></details>"
    return "".join(
        [
            show.html(e.prediction),
            form,
            show.table("costs it hangs on", ["cost", "value", "error", "elasticity", "standing"], costs),
            show.table("settings that matter", ["setting", "change of the answer"], effects),
        ]
    )
