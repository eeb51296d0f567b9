"""The Pareto front of many configurations: what can only be improved in one answer by giving up another."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from vmodel.report.style import COLOURS, LINES, MARKERS, TINY, by_factors, figure, finish, plain_logarithm

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
    stride = max(1, -(-len(order) // MOST_NAMED))
    for i in order[::stride] if names else ():
        axes.annotate(names[i], (xs[i], ys[i]), xytext=(5, -9), textcoords="offset points", fontsize=TINY - 1, zorder=4)
    for values, scale, axis in ((xs, axes.set_xscale, axes.xaxis), (ys, axes.set_yscale, axes.yaxis)):
        known = values[np.isfinite(values)]
        if known.size and known.min() > 0 and (known.max() > 30 * known.min() or by_factors(np.unique(known).tolist())):
            scale("log")
            plain_logarithm(axis)
    better = f"better: {'left' if x_less else 'right'} and {'down' if y_less else 'up'}"
    finish(axes, labels[0], labels[1], labels[2])
    axes.legend(fontsize=TINY, title=better, title_fontsize=TINY)
    return made
