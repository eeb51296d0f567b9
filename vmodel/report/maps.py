"""A map over two settings: which law holds and who is the bottleneck where, with lines of equal latency or rate."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.colors import ListedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke

from vmodel.report.style import (
    COLOURS,
    HATCHES,
    LETTERS,
    SERIES,
    TINY,
    WIDTH,
    by_factors,
    figure,
    finish,
    plain_logarithm,
)

PALE = 0.45  # how much of a colour is left on an area
LEVELS = (0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95)  # shares of the map that lie below each line of equal answer
HATCHED = "#707070"
LEAST_LABELLED = 0.004  # share of the map below which a region gets no letter on it
BASE, LINE = 4.4, 0.17  # inches: the map, and each line of its legend


def regime_figure(xs: Any, ys: Any, regions: Any, heights: Any, labels: tuple[str, str, str, str]) -> Figure:
    """Regions by colour, hatch and letter, with lines of equal answer.

    xs, ys: values of the two settings, ascending.  regions: their names, len(ys) x len(xs).  heights: an answer of
    the same shape, or None.  labels: of the x axis, the y axis, the answer with its unit, and the title.
    """
    names = [str(n) for n in dict.fromkeys(np.asarray(regions).ravel().tolist())]
    codes = np.vectorize(names.index)(regions)
    shown, common = _distinct(names)
    made, axes = figure(width=WIDTH, height=BASE + LINE * len(names))
    x, y = (np.asarray(v, float) for v in (xs, ys))
    colours = [_pale(COLOURS[i % SERIES]) for i in range(len(names))]
    axes.pcolormesh(
        _edges(x), _edges(y), codes, cmap=ListedColormap(colours), vmin=-0.5, vmax=len(names) - 0.5, rasterized=True
    )
    handles = []
    for i, name in enumerate(shown):
        hatch = HATCHES[i % len(HATCHES)]
        if hatch:
            _hatch(axes, x, y, codes == i, hatch)
        letter = LETTERS[i % len(LETTERS)]
        _letter(axes, x, y, codes == i, letter)
        handles.append(Patch(facecolor=colours[i], hatch=hatch, edgecolor="#666666", label=f"{letter}  {name}"))
    if heights is not None:
        _contours(axes, x, y, np.asarray(heights, float))
    for v, scale, limits, axis in (
        (x, axes.set_xscale, axes.set_xlim, axes.xaxis), (y, axes.set_yscale, axes.set_ylim, axes.yaxis),
    ):  # fmt: skip
        grown = by_factors(v.tolist())
        scale("log" if grown else "linear")
        limits(_edges(v)[0], _edges(v)[-1])
        if grown:
            plain_logarithm(axis)
    finish(axes, labels[0], labels[1], labels[3])
    axes.grid(visible=False)
    named = "regime and bottleneck" + (f"; everywhere: {common}" if common else "")
    if heights is not None:
        named = f"lines: {labels[2]}.  Areas: {named}"
    made.legend(
        handles=handles, fontsize=TINY, loc="outside lower left", title=named, title_fontsize=TINY, alignment="left",
        frameon=False,
    )  # fmt: skip
    return made


def _distinct(names: Sequence[str]) -> tuple[list[str], str]:
    """Names without the parts that all of them share, and those parts."""
    parts = [name.split("; ") for name in names]
    common = [part for part in parts[0] if len(names) > 1 and all(part in other for other in parts)]
    return ["; ".join(part for part in row if part not in common) for row in parts], "; ".join(common)


def _pale(colour: str) -> tuple[float, float, float]:
    red, green, blue = (1 - PALE * (1 - channel) for channel in to_rgb(colour))
    return red, green, blue


def _edges(values: Any) -> Any:
    """Borders of the cells around values, half-way between neighbours; by factors where the axis is."""
    if len(values) == 1:
        return np.array([values[0] * 0.9 - 0.5, values[0] * 1.1 + 0.5])
    grown = by_factors(values.tolist())
    v = np.log(values) if grown else values
    middles = (v[1:] + v[:-1]) / 2
    edges = np.concatenate([[v[0]], middles, [v[-1]]])
    return np.exp(edges) if grown else edges


def _hatch(axes: Any, x: Any, y: Any, inside: Any, hatch: str) -> None:
    """Hatch a region over its colour; a map of one line has no area to hatch."""
    if min(inside.shape) < 2:
        return
    area = axes.contourf(x, y, inside.astype(float), levels=[0.5, 1.5], colors="none", hatches=[hatch])
    area.set_edgecolor(HATCHED)
    area.set_linewidth(0.0)


def _letter(axes: Any, x: Any, y: Any, inside: Any, letter: str) -> None:
    """The letter of a region at its cell furthest from any other region."""
    if inside.mean() < LEAST_LABELLED:
        return
    depth = inside.astype(int)
    grown = inside
    while grown.any():
        shrunk = grown.copy()
        for axis in (0, 1):
            for step in (1, -1):
                shrunk &= np.roll(grown, step, axis)
        shrunk[[0, -1], :] = False
        shrunk[:, [0, -1]] = False
        depth = depth + shrunk
        if not shrunk.any() or (shrunk == grown).all():
            break
        grown = shrunk
    best = np.argwhere(depth == depth.max())
    row, column = best[len(best) // 2]
    axes.text(
        x[column], y[row], letter, fontsize=11, fontweight="bold", ha="center", va="center",
        bbox={"boxstyle": "circle,pad=0.2", "facecolor": "white", "edgecolor": "#444444", "linewidth": 0.6},
    )  # fmt: skip


def _contours(axes: Any, x: Any, y: Any, heights: Any) -> None:
    known = heights[np.isfinite(heights)]
    if not known.size or known.min() == known.max() or min(heights.shape) < 2:
        return
    levels = np.unique([float(f"{level:.2g}") for level in np.quantile(known, LEVELS)])
    drawn = axes.contour(x, y, heights, levels=levels, colors="black", linewidths=0.7)
    for text in axes.clabel(drawn, fontsize=TINY, fmt=lambda level: f"{level:,.6g}"):
        text.set_path_effects([withStroke(linewidth=2, foreground="white")])
