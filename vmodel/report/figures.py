"""Figures from records and arrays; every function returns the Figure and shows nothing."""

import io
from collections.abc import Sequence

from matplotlib.figure import Figure

from vmodel.core.records import Prediction
from vmodel.report.style import COLOURS, DELAY, DPI, HATCHES
from vmodel.report.text import breakdown_rows, question
from vmodel.units import US_PER_S

WIDTH, ROW, FRAME = 9.0, 0.26, 1.6  # inches
DATELESS = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}


def waterfall(names: Sequence[str], microseconds: Sequence[float], resources: Sequence[str], title: str) -> Figure:
    """Horizontal waterfall: each bar begins where the one above ends; colour and hatch tell the resource."""
    figure = Figure(figsize=(WIDTH, FRAME + ROW * len(names)), layout="constrained")
    axes = figure.add_subplot()
    kinds = [r for r in dict.fromkeys(resources) if r != "-"]
    start = 0.0
    total = sum(microseconds)
    shown: set[str] = set()
    for i, (length, resource) in enumerate(zip(microseconds, resources, strict=True)):
        colour, hatch = DELAY, ""
        if resource in kinds:
            number = kinds.index(resource)
            colour, hatch = COLOURS[number % len(COLOURS)], HATCHES[number % len(HATCHES)]
        label = "delay, nobody is busy" if resource == "-" else resource
        axes.barh(
            i, length, left=start, color=colour, hatch=hatch, edgecolor="white", linewidth=0.3,
            label=None if resource in shown else label,
        )  # fmt: skip
        shown.add(resource)
        late = start + length > total / 2
        axes.text(
            start - total / 100 if late else start + length + total / 100, i, f"{length:.2f}",
            va="center", ha="right" if late else "left", fontsize=7,
        )  # fmt: skip
        start += length
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.invert_yaxis()
    axes.margins(y=0.01)
    axes.set_xlim(0, total)
    axes.set_xlabel("time since the message left the application [us]")
    axes.set_ylabel("stage, in order")
    axes.set_title(title, fontsize=9, wrap=True)
    axes.grid(axis="x", linewidth=0.3)
    axes.set_axisbelow(True)
    axes.legend(fontsize=7, loc="lower left", title="resource", title_fontsize=7)
    return figure


def prediction_waterfall(p: Prediction) -> Figure:
    """The waterfall of a prediction."""
    rows = breakdown_rows(p)[:-1]
    title = f"{question(p.scenario)}: {(p.latency_s or 0.0) * US_PER_S:.1f} us"
    return waterfall([r[0] for r in rows], [float(r[2]) for r in rows], [r[1] for r in rows], title)


def picture(figure: Figure, kind: str) -> bytes:
    """A figure as the bytes of a PNG, SVG or PDF file; the same figure gives the same bytes."""
    import matplotlib

    stream = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "vmodel", "svg.fonttype": "none"}):
        figure.savefig(stream, format=kind, dpi=DPI, metadata=DATELESS.get(kind))
    return stream.getvalue()
