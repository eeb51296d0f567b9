"""The Pareto front of many configurations: what can only be improved in one answer by giving up another."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from vmodel.report.style import COLOURS, LETTERS, LINES, MARKERS, TINY, by_factors, figure, finish, plain_logarithm

LINE = 0.17  # inches of a name in the legend
MOST_NAMED = 12  # points of the front that carry their name


def on_front(x: Any, y: Any, *, x_less: bool = True, y_less: bool = False) -> Any:
    """Which points no other one beats in both answers; less is better where said, else more.

    x, y: arrays of one length; what is not finite is never on the front.
    """
    a = np.asarray(x, float) * (1 if x_less else -1)
    b = np.asarray(y, float) * (1 if y_less else -1)
    known = np.isfinite(a) & np.isfinite(b)
    order = np.lexsort((b, a))
    best, front = np.inf, np.zeros(len(a), bool)
    for i in order[known[order]]:
        if b[i] < best:
            best, front[i] = b[i], True
    return front


def _spread(order: Any, count: int) -> Any:
    """At most so many places of an order, the ends included."""
    if len(order) <= count:
        return order
    return order[np.rint(np.linspace(0, len(order) - 1, count)).astype(int)]


def pareto_figure(
    x: Any,
    y: Any,
    labels: tuple[str, str, str],
    *,
    front: Any = None,
    names: Sequence[str] = (),
    x_less: bool = True,
    y_less: bool = False,
) -> Figure:
    """All configurations as dots, the front as a stepped line with marks and names.

    x, y: answers.  labels: of the axes with their units, and the title.  front: which points are on it, found here if
    not given.  names: of the points; only those on the front are shown.
    """
    xs, ys = np.asarray(x, float), np.asarray(y, float)
    chosen = on_front(xs, ys, x_less=x_less, y_less=y_less) if front is None else np.asarray(front, bool)
    made, axes = figure()
    axes.plot(xs[~chosen], ys[~chosen], ".", color="#999999", markersize=3, label="beaten by another", zorder=1)
    order = np.flatnonzero(chosen)[np.argsort(xs[chosen], kind="stable")]
    axes.step(
        xs[order], ys[order], where="post" if x_less else "pre", color=COLOURS[0], linestyle=LINES[0], linewidth=1.2,
        marker=MARKERS[1], markersize=5, markeredgecolor="black", label="Pareto front", zorder=3,
    )  # fmt: skip
    handles = []
    for letter, i in zip(LETTERS, _spread(order, MOST_NAMED) if names else (), strict=False):
        axes.annotate(
            letter, (xs[i], ys[i]), xytext=(6, 6), textcoords="offset points", fontsize=TINY, fontweight="bold",
            bbox={"boxstyle": "circle,pad=0.15", "facecolor": "white", "edgecolor": "#444444", "linewidth": 0.5},
            zorder=4,
        )  # fmt: skip
        handles.append(Line2D([], [], linestyle="none", marker=f"${letter}$", color="black", label=names[i]))
    if handles:
        made.set_figheight(made.get_figheight() + LINE * len(handles))
        made.legend(handles=handles, fontsize=TINY, loc="outside lower left", frameon=False, alignment="left")
    for values, scale, axis in ((xs, axes.set_xscale, axes.xaxis), (ys, axes.set_yscale, axes.yaxis)):
        known = values[np.isfinite(values)]
        if known.size and known.min() > 0 and (known.max() > 30 * known.min() or by_factors(np.unique(known).tolist())):
            scale("log")
            plain_logarithm(axis)
    better = f"better: {'left' if x_less else 'right'} and {'down' if y_less else 'up'}"
    finish(axes, labels[0], labels[1], labels[2])
    axes.legend(fontsize=TINY, title=better, title_fontsize=TINY)
    return made
