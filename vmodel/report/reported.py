"""The report of one scenario or several: inputs, machine, answers, figures, formulas, costs, sources, versions."""

import platform
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.metadata import version as version_of
from typing import Any

from vmodel.core.records import Prediction, Profile, Scenario
from vmodel.library import tables
from vmodel.library.profile import digest
from vmodel.report.curves import load_figure
from vmodel.report.document import Block, Code, Heading, Items, Paragraph, Picture, Table
from vmodel.report.explained import ANSWER_HEADS, comparison_rows, differing_rows, tables_of
from vmodel.report.figures import picture, prediction_waterfall
from vmodel.report.judged import LEAST_SEEN, tornado_figure
from vmodel.report.text import HEADS, RIGHT, answers, breakdown_rows, knob_text, load_text, question, standing_text
from vmodel.solve.compare import Comparison, compare
from vmodel.solve.curve import Curve, load_curve
from vmodel.solve.explain import Explanation, bibliography, explain_scenario
from vmodel.sources import format_citation
from vmodel.units import format_rate, format_seconds

LIBRARIES = ("matplotlib", "numpy", "scipy", "sympy")
POINTS = 200  # of a load curve


def blocks(asked: Sequence[Scenario], command: str, version: str) -> list[Block]:
    """Everything of the report. command: what makes it again.  version: of this package."""
    explained = [explain_scenario(s) for s in asked]
    several = len(asked) > 1
    compared = compare(list(asked)) if several else None
    labels = compared.labels if compared is not None else (asked[0].path,)
    title = "Comparison of " + " and ".join(labels) if several else f"{labels[0]}: what it costs"
    out: list[Block] = [Heading(level=1, text=title)]
    if compared is not None:
        out += _comparison(compared)
    for label, e in zip(labels, explained, strict=True):
        if several:
            out.append(Heading(level=2, text=label))
        out += _scenario(e, label)
    out += _loads(asked, labels)
    out += _machines([s.profile for s in asked])
    out += _sources([e.prediction for e in explained])
    out += _making(command, version)
    return out


def _comparison(c: Comparison) -> list[Block]:
    rows, heads = differing_rows(c)
    return [
        Table(caption="What differs", heads=heads, rows=tuple(tuple(r) for r in rows)),
        Table(caption="Answers, with 90 % intervals", heads=ANSWER_HEADS, rows=tuple(comparison_rows(c)), right="lllr"),
    ]


def _scenario(e: Explanation, label: str) -> list[Block]:
    p = e.prediction
    found: list[tuple[str, str]] = []
    for name, text in answers(p):
        found.append((name or "percentiles", text))
    mean = format_seconds(p.latency_s)
    waterfall = Picture(
        drawn=partial(picture, prediction_waterfall(p)),
        words=f"Waterfall of {label}: {mean} in all; the table below has every stage.",
        caption=f"Where the {mean} of a message go. Each bar begins where the one above ends.",
    )
    return [
        Paragraph(text=question(p.scenario)),
        Items(texts=(f"standing: {standing_text(p)}", f"regime: {p.regime}", *p.scenario.notes)),
        *(Paragraph(text=text, warning=True) for text in p.warnings),
        Heading(level=3, text="Answer"),
        Table(caption="Figures, with 90 % intervals", heads=("answer", "value"), rows=tuple(found)),
        Heading(level=3, text="Where the time of a message goes"),
        waterfall,
        Table(caption="Mean times", heads=HEADS, rows=tuple(breakdown_rows(p)), right=RIGHT),
        Heading(level=3, text="Inputs"),
        Table(caption="The question, and the settings chosen", heads=("input", "value"), rows=_inputs(p.scenario)),
        Paragraph(text=f"Left as it is on the path and the machine: {_defaults(p.scenario)}."),
        Heading(level=3, text="What the answer hangs on"),
        *_tornado(p, label),
        Heading(level=3, text="Closed form"),
        Paragraph(text=f"{e.closed_form.answer} [{e.closed_form.unit}], from the answer down"),
        Code(text=e.closed_form.text),
        *(
            Table(caption=caption, heads=heads, rows=tuple(tuple(row) for row in rows), right=right)
            for caption, rows, heads, right in tables_of(e)
            if rows
        ),
    ]


def _inputs(s: Scenario) -> tuple[tuple[str, str], ...]:
    words = {
        "path": s.path, "other end": s.peer, "topology": s.topology, "workload": s.workload, "direction": s.direction,
        "load": load_text(s), "profile": s.profile.name, "device": s.device or "as on the machine",
    }  # fmt: skip
    rows = [*words.items(), *((name, knob_text(name, s.knobs[name])) for name in s.chosen)]
    for name, value in s.parameters.items():
        rows.append((name, f"{value:.6g} {tables.priors()[name].unit}".rstrip() + ", in place of the profile's"))
    return tuple(rows)


def _defaults(s: Scenario) -> str:
    return ", ".join(f"{name} {knob_text(name, value)}" for name, value in s.knobs.items() if name not in s.chosen)


def _tornado(p: Prediction, label: str) -> list[Block]:
    """How much the answer follows each cost, where it follows any."""
    if all(abs(e) < LEAST_SEEN for e in p.elasticities.values()):
        return [Paragraph(text="No cost changes this answer.")]
    words = f"What {label} hangs on: elasticities and one standard error of each cost, as in the table of costs below."
    caption = "How much the answer follows each cost, and what one standard error of the cost changes."
    return [Picture(drawn=partial(picture, tornado_figure(p)), words=words, caption=caption)]


def _loads(asked: Sequence[Scenario], labels: Sequence[str]) -> list[Block]:
    """Latency over offered load, of all scenarios in one figure."""
    found: dict[str, Curve] = {label: load_curve(s, POINTS) for label, s in zip(labels, asked, strict=True)}
    capacities = "; ".join(
        f"{label}: capacity {format_rate(c.capacity_per_s)}, knee at {format_rate(c.knee_per_s)}"
        for label, c in found.items()
    )
    drawn = Picture(
        drawn=partial(picture, load_figure(found, "frames at random times")),
        words=f"Latency over offered load. {capacities}.",
        caption=f"Frames of the same size at random times, whatever the workload above. {capacities}.",
    )
    return [Heading(level=2, text="Latency over offered load"), drawn]


def _machines(profiles: Sequence[Profile]) -> list[Block]:
    rows = []
    for p in {profile.name: profile for profile in profiles}.values():
        facts = [p.title, *(f"{k}: {v}" for k, v in p.machine.items() if not isinstance(v, Mapping)), p.note]
        rows.append((p.name, digest(p), "; ".join(str(fact) for fact in facts if fact)))
    heads = ("profile", "digest", "machine")
    return [Heading(level=2, text="Machine"), Table(caption="Profiles used", heads=heads, rows=tuple(rows))]


def _sources(predictions: Sequence[Prediction]) -> list[Block]:
    known = {source.key: source for p in predictions for source in bibliography(p)}
    texts = tuple(format_citation(known[key]) for key in sorted(known))
    return [Heading(level=2, text="Sources"), Items(texts=texts)]


def _making(command: str, version: str) -> list[Block]:
    libraries: dict[str, Any] = {name: version_of(name) for name in LIBRARIES}
    rows = {"vmodel": version, "Python": platform.python_version(), **libraries}
    return [
        Heading(level=2, text="How it was made"),
        Paragraph(text="This command gives the same numbers; with the versions below, the same bytes."),
        Code(text=command),
        Table(caption="Versions", heads=("part", "version"), rows=tuple(rows.items())),
    ]
