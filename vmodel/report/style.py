"""How figures look: colours told apart by the colour-blind, and for each a second mark that survives print in grey."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from matplotlib.figure import Figure

COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c8c00", "#444444")  # Okabe and Ito
DELAY = "#d0d0d0"
HATCHES = ("", "//", "..", "xx", "\\\\", "++", "--", "oo")
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)), (0, (3, 1, 1, 1)))
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
WIDTH, HEIGHT = 7.2, 4.4  # inches: a page's column
DPI = 150
SMALL, TINY = 8, 7  # points
EVEN_RATIO = 1e-3  # relative: ratios of neighbours so close to one another make an axis logarithmic
WIDE_RATIO = 30.0  # ends this far apart are shown by factors
SERIES = len(COLOURS)
MANY_DECADES = 3.5  # above, only powers of ten are labelled


def figure(rows: int = 1, *, width: float = WIDTH, height: float = HEIGHT, **layout: Any) -> tuple[Figure, Any]:
    """A figure and its axes, one below the other."""
    made = Figure(figsize=(width, height), layout="constrained")
    return made, made.subplots(rows, 1, **layout)


def finish(axes: Any, x: str, y: str, title: str = "") -> None:
    """Label axes with their units, grid behind the data."""
    axes.set_xlabel(x, fontsize=SMALL + 1)
    axes.set_ylabel(y, fontsize=SMALL + 1)
    axes.tick_params(labelsize=SMALL)
    axes.grid(linewidth=0.3, which="major")
    axes.set_axisbelow(True)
    if title:
        axes.set_title(title, fontsize=SMALL + 1, wrap=True)


def by_factors(values: Sequence[float]) -> bool:
    """Whether values are best shown on a logarithmic axis: evenly spaced by factors, or over a wide range."""
    low, high = min(values), max(values)
    if low <= 0 or high < 2 * low:
        return False
    if len(values) < 3:
        return high > WIDE_RATIO * low
    ordered = sorted(values)
    steps = [b - a for a, b in pairwise(ordered)]
    ratios = [math.log(b / a) for a, b in pairwise(ordered)]
    if max(steps) - min(steps) < EVEN_RATIO * max(steps):
        return False
    return max(ratios) - min(ratios) < 0.5 * max(ratios) or high > WIDE_RATIO * low


def plain_logarithm(axis: Any, many: float = MANY_DECADES) -> None:
    """Figures as people write them on a logarithmic axis: 1, 2 and 5 times powers of ten, without exponents.

    many: decades from which only powers of ten are labelled.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = sorted(axis.get_view_interval())
    decades = math.log10(high / low) if low > 0 else 0.0
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if decades < many else (1,)))
    axis.set_major_formatter(FuncFormatter(lambda value, place: f"{value:,.10g}"))
    axis.set_minor_formatter(NullFormatter())
