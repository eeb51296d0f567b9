"""The way of a message as a graph: nodes and edges, Mermaid text, and a figure with its own layered layout."""

from collections.abc import Sequence
from typing import Any

import networkx
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from vmodel.core.records import Prediction, StageShare
from vmodel.report.text import question
from vmodel.units import PERCENT_PER_ONE, US_PER_S

LINK = ("wire", "propagation", "embedded_switch", "bridge")
NOT_A_STAGE = ("queueing", "full_ring", "moderation_wait")
TALLEST = 7  # stages in one column
BOX, GAP, STEP, SPACE = 2.3, 0.55, 1.0, 0.62  # width, between columns, from row to row, between ends
SHADES = ("#dbe9f6", "#f1f1f1", "#fde8cf")
PLAIN, BUSY = "#ffffff", "#0072b2"
INCHES = 0.82
DARK = 0.6  # busy share from which the writing in a box is white
SCALE = ScalarMappable(Normalize(0, PERCENT_PER_ONE), "Blues")  # one hue: darkness alone tells the share


def stages(p: Prediction, leg: str) -> list[StageShare]:
    """The stages of one way in order."""
    return [r for r in p.shares if r.direction == leg and r.stage not in NOT_A_STAGE and r.when != "blocked"]


def legs(p: Prediction) -> tuple[str, ...]:
    """The ways that a prediction knows."""
    return ("there", "back") if p.scenario.workload == "rr" else ("there",)


def digraph(p: Prediction, leg: str) -> networkx.DiGraph:
    """One way as a directed graph: id -> stage, end, resource, microseconds."""
    graph = networkx.DiGraph()
    rows = stages(p, leg)
    owners = [r.owner for r in rows]
    for i, r in enumerate(rows):
        group = "link" if r.stage in LINK and owners[0] != owners[-1] and _between(rows, i) else r.owner
        graph.add_node(
            f"{leg}{i}", stage=r.stage, end=group, resource=r.resource, us=r.seconds * US_PER_S, leg=leg,
            busy=p.busy.get(r.resource) if r.resource else None,
        )  # fmt: skip
        if i:
            graph.add_edge(f"{leg}{i - 1}", f"{leg}{i}")
    return graph


def _between(rows: Sequence[StageShare], i: int) -> bool:
    """Whether a stage lies where the way passes from one end to the other."""
    last = max(k for k, r in enumerate(rows) if r.owner == rows[0].owner)
    first = min(k for k, r in enumerate(rows) if r.owner == rows[-1].owner)
    near = [k for k, r in enumerate(rows) if r.stage in LINK and (k in (last, last - 1, first))]
    return i in near


def graph_json(p: Prediction) -> dict[str, Any]:
    """Nodes and edges of all ways."""
    graphs = [digraph(p, leg) for leg in legs(p)]
    return {
        "nodes": [{"id": name, **data} for g in graphs for name, data in g.nodes(data=True)],
        "edges": [{"from": a, "to": b} for g in graphs for a, b in g.edges],
    }


def _groups(graph: networkx.DiGraph) -> list[tuple[str, list[str]]]:
    """Neighbouring nodes of one end together, in order."""
    out: list[tuple[str, list[str]]] = []
    for name, data in graph.nodes(data=True):
        if not out or out[-1][0] != data["end"]:
            out.append((data["end"], []))
        out[-1][1].append(name)
    return out


def mermaid(p: Prediction, leg: str = "there") -> str:
    """One way as a Mermaid flow chart; a stage that keeps nobody busy has round ends."""
    graph = digraph(p, leg)
    lines = ["flowchart LR"]
    for number, (end, names) in enumerate(_groups(graph)):
        lines.append(f'  subgraph g{number}["{end}"]')
        for name in names:
            data = graph.nodes[name]
            label = f"{data['stage']}<br/>{data['resource'] or 'delay'}<br/>{data['us']:.2f} us"
            lines.append(f'    {name}["{label}"]' if data["resource"] else f'    {name}(["{label}"])')
        lines.append("  end")
    lines += [f"  {a} --> {b}" for a, b in graph.edges]
    return "\n".join(lines) + "\n"


def _layout(graph: networkx.DiGraph) -> tuple[dict[str, tuple[float, float]], list[tuple[str, float, float, int]]]:
    """Columns from left to right, filled downwards and upwards in turn, so that the way is one line."""
    places: dict[str, tuple[float, float]] = {}
    frames = []
    groups = [(end, names, -(-len(names) // -(-len(names) // TALLEST))) for end, names in _groups(graph)]
    tallest = max(tall for _, _, tall in groups)
    x, row = 0.0, 0
    for end, names, tall in groups:
        left = x
        top = min(row, tallest - tall) if tall < len(names) or tall < tallest else 0  # begin where the last one ended
        down = row - top <= (tall - 1) / 2
        for first in range(0, len(names), tall):
            piece = names[first : first + tall]
            rows = range(top, top + len(piece)) if down else range(top + tall - 1, top + tall - 1 - len(piece), -1)
            places.update({name: (x, -STEP * r) for name, r in zip(piece, rows, strict=True)})
            row, down = rows[-1], not down
            x += BOX + GAP
        frames.append((end, left, x - GAP, tall))
        x += SPACE
    return places, frames


def path_figure(p: Prediction, leg: str = "there") -> Figure:
    """One way as a picture: a box for each stage with its resource, how busy that is, and the mean time."""
    graph = digraph(p, leg)
    places, frames = _layout(graph)
    right, tallest = max(f[2] for f in frames), max(f[3] for f in frames)
    figure = Figure(figsize=(INCHES * (right + 0.9), INCHES * (tallest * STEP + 1.1)), layout="constrained")
    axes = figure.add_subplot()
    top = STEP * 0.75
    for i, (end, left, edge, _) in enumerate(frames):
        bottom = -STEP * (tallest - 1) - STEP * 0.55
        axes.add_patch(
            FancyBboxPatch(
                (left - 0.22, bottom), edge - left + 0.44, top - bottom + 0.05,
                boxstyle="round,pad=0,rounding_size=0.2",
                facecolor=SHADES[i % len(SHADES)], edgecolor="none", zorder=0,
            )
        )  # fmt: skip
        axes.text((left + edge) / 2, top - 0.08, end, ha="center", va="center", fontsize=11, fontweight="bold")
    for name, (x, y) in places.items():
        _box(axes, graph.nodes[name], x, y)
    for a, b in graph.edges:
        _arrow(axes, places[a], places[b])
    axes.set_xlim(-0.35, right + 0.35)
    axes.set_ylim(-STEP * (tallest - 1) - 0.7, top + 0.15)
    axes.set_axis_off()
    axes.set_title(f"{question(p.scenario)}, way {leg}", fontsize=10, wrap=True)
    bar = figure.colorbar(SCALE, ax=axes, location="bottom", shrink=0.35, aspect=40, pad=0.01)
    bar.set_label("busy share of the resource [%]", fontsize=8)
    bar.ax.tick_params(labelsize=7)
    return figure


def _box(axes: Any, data: dict[str, Any], x: float, y: float) -> None:
    busy = data["resource"] is not None
    axes.add_patch(
        FancyBboxPatch(
            (x, y - 0.36), BOX, 0.72, boxstyle=f"round,pad=0,rounding_size={0.06 if busy else 0.3}",
            facecolor=_fill(data), edgecolor=BUSY if busy else "#777777", linewidth=1.2 if busy else 0.9,
            linestyle="-" if busy else "--", zorder=2,
        )
    )  # fmt: skip
    ink = "white" if busy and (data["busy"] or 0.0) > DARK else "black"
    share = f", {data['busy']:.0%}" if data["busy"] is not None else ""
    axes.text(
        x + BOX / 2, y + 0.12, data["stage"], ha="center", va="center", fontsize=8, fontweight="bold", color=ink,
        zorder=3,
    )  # fmt: skip
    under = f"{data['resource'] or 'delay'}{share}, {data['us']:.2f} us"
    axes.text(x + BOX / 2, y - 0.16, under, ha="center", va="center", fontsize=6.3, color=ink, zorder=3)


def _fill(data: dict[str, Any]) -> Any:
    """White where nobody works, else the darker the busier its resource is."""
    return PLAIN if data["busy"] is None else SCALE.to_rgba(min(data["busy"], 1.0) * PERCENT_PER_ONE)


def _arrow(axes: Any, a: tuple[float, float], b: tuple[float, float]) -> None:
    """A straight arrow within a column; between columns from side to side."""
    if a[0] == b[0]:
        sign = -1 if b[1] < a[1] else 1
        start, stop = (a[0] + BOX / 2, a[1] + sign * 0.36), (b[0] + BOX / 2, b[1] - sign * 0.36)
    else:
        start, stop = (a[0] + BOX, a[1]), (b[0], b[1])
    axes.annotate(
        "", xy=stop, xytext=start, arrowprops={"arrowstyle": "-|>", "color": "#333333", "linewidth": 1.0}, zorder=1
    )
