"""Load on every resource of every kind of host of a plan, as a figure."""

import numpy as np
from matplotlib.figure import Figure

from vmodel.plan.plan import Plan
from vmodel.report.planned import loads, resources
from vmodel.units import PERCENT_PER_ONE

WIDTH, ROW, FRAME = 9.0, 0.32, 2.2  # inches
MOST_GROUPS = 30
PALE = 0.6  # share above which a cell's figure is written in white


def load_figure(p: Plan) -> Figure:
    """A table of cells: kinds of host down, resources across; darker is fuller, and the per cent stand in each cell."""
    groups = sorted((g for g in p.groups if g.counts.any()), key=lambda g: (g.room.name, -g.hosts))[:MOST_GROUPS]
    names = sorted(loads(p), key=lambda name: -loads(p)[name][0])
    figure = Figure(figsize=(WIDTH, FRAME + ROW * max(len(groups), 1)), layout="constrained")
    axes = figure.add_subplot()
    if not groups or not names:
        axes.set_axis_off()
        axes.set_title("infeasible: nothing stands anywhere")
        return figure
    cells = np.zeros((len(groups), len(names)))
    for i, g in enumerate(groups):
        found = resources(p, g)
        for j, name in enumerate(names):
            used, usable, _ = found.get(name, (0.0, 0.0, 0.0))
            cells[i, j] = used / usable if usable > 0 else 0.0
    image = axes.imshow(cells, aspect="auto", cmap="Blues", vmin=0.0, vmax=1.0)
    for i in range(len(groups)):
        for j in range(len(names)):
            axes.text(
                j, i, f"{cells[i, j] * PERCENT_PER_ONE:.0f}", ha="center", va="center", fontsize=7,
                color="white" if cells[i, j] > PALE else "black",
            )  # fmt: skip
    axes.set_xticks(range(len(names)), names, rotation=35, ha="right", fontsize=8)
    axes.set_yticks(range(len(groups)), [f"{g.hosts} x {g.room.name}" for g in groups], fontsize=8)
    axes.set_xlabel("resource, the fullest on the left")
    axes.set_ylabel("hosts with equal VMs")
    axes.set_title("load on every resource, % of what the objectives allow", fontsize=10)
    bar = figure.colorbar(image, ax=axes, fraction=0.03)
    bar.set_label("share of what is usable")
    return figure
