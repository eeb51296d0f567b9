"""Latency over offered load, and any answer over one varied setting with what was measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from vmodel.report.style import (
    COLOURS,
    LINES,
    MARKERS,
    SERIES,
    SMALL,
    TINY,
    by_factors,
    figure,
    finish,
    plain_logarithm,
)
from vmodel.solve.curve import Curve
from vmodel.units import PERCENT_PER_ONE, PPS_PER_KPPS, US_PER_S, format_rate

TALL = 5.6  # inches of a figure with two panels
BAND = 0.16
NAMED = 0.01  # loss that is worth an area


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One line of a figure with its band; arrays of one length, or None where there is no band."""

    label: str
    x: Any
    y: Any
    low: Any = None
    high: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Points:
    """Measured points of one line."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    sd: Sequence[float | None]


def load_figure(curves: Mapping[str, Curve], title: str, lowest: float = 0.0, highest: float = 1.2) -> Figure:
    """Latency and carried rate over offered load: percentile bands for one curve, mean and p99 for several.

    lowest, highest: ends of the load axis, as shares of the capacity.
    """
    made, (above, below) = figure(2, height=TALL, sharex=True, height_ratios=(3, 1.3))
    if len(curves) == 1:
        _bands(above, next(iter(curves.values())), lowest, highest)
    else:
        _several(above, curves, lowest, highest)
    for number, (name, c) in enumerate(curves.items()):
        part = _part(c, lowest, highest)
        x = c.offered_per_s[part] / PPS_PER_KPPS
        colour, dashes = COLOURS[number % SERIES], LINES[number % SERIES]
        label = "carried" if len(curves) == 1 else name
        below.plot(x, c.carried_per_s[part] / PPS_PER_KPPS, color=colour, linestyle=dashes, label=label)
        lost = np.flatnonzero(c.loss[part] > NAMED)
        if len(curves) == 1 and lost.size:
            below.fill_between(
                x, c.carried_per_s[part] / PPS_PER_KPPS, x, color="#888888", alpha=0.35, hatch="//", linewidth=0,
                label=f"lost: {c.loss[part][-1]:.0%} at the right end",
            )  # fmt: skip
    top = max(c.offered_per_s[_part(c, lowest, highest)][-1] for c in curves.values()) / PPS_PER_KPPS
    below.plot([0, top], [0, top], color="#444444", linewidth=0.6, linestyle=":", label="offered")
    above.set_yscale("log")
    above.set_xlim(0, top)
    plain_logarithm(above.yaxis)
    finish(above, "", "one-way latency [us]", title)
    finish(below, "offered load [kpps]", "rate [kpps]")
    above.legend(fontsize=TINY, loc="upper left")
    below.legend(fontsize=TINY, loc="upper left")
    below.set_ylim(0, None)
    return made


def _part(c: Curve, lowest: float, highest: float) -> Any:
    shares = c.offered_per_s / c.capacity_per_s
    return (shares >= lowest - 1e-9) & (shares <= highest + 1e-9)


def _bands(axes: Any, c: Curve, lowest: float, highest: float) -> None:
    """Mean and percentiles of one curve; the knee and the capacity as named lines."""
    part = _part(c, lowest, highest)
    x = c.offered_per_s[part] / PPS_PER_KPPS
    p50, p99, p999 = (v[part] * US_PER_S for v in (c.p50_s, c.p99_s, c.p999_s))
    axes.fill_between(x, p50, p99, color=COLOURS[0], alpha=2 * BAND, linewidth=0, label="p50 to p99")
    axes.fill_between(
        x, p99, p999, facecolor=COLOURS[0], alpha=BAND, hatch="..", edgecolor=COLOURS[0], linewidth=0,
        label="p99 to p99.9",
    )  # fmt: skip
    axes.plot(x, p99, color=COLOURS[0], linestyle="-.", linewidth=1.0, label="p99")
    axes.plot(x, c.mean_s[part] * US_PER_S, color="black", linewidth=1.6, label="mean")
    for where, name, marker in (
        (c.knee_per_s, f"knee: p99 below three times idle up to {format_rate(c.knee_per_s)}", MARKERS[0]),
        (c.power_knee_per_s, f"rate over latency is largest at {format_rate(c.power_knee_per_s)}", MARKERS[1]),
    ):
        if not x[0] <= where / PPS_PER_KPPS <= x[-1]:
            continue
        y = np.interp(where, c.offered_per_s, c.mean_s) * US_PER_S
        axes.axvline(where / PPS_PER_KPPS, color="#444444", linewidth=0.8, linestyle="--")
        axes.plot(
            [where / PPS_PER_KPPS], [y], marker=marker, color=COLOURS[5], markeredgecolor="black", markersize=7,
            linestyle="none", label=name, zorder=5,
        )  # fmt: skip
    if c.capacity_per_s / PPS_PER_KPPS <= x[-1]:
        axes.axvline(
            c.capacity_per_s / PPS_PER_KPPS, color="black", linewidth=1.0, linestyle=":",
            label=f"capacity {format_rate(c.capacity_per_s)}",
        )  # fmt: skip


def _several(axes: Any, curves: Mapping[str, Curve], lowest: float, highest: float) -> None:
    """Mean (thick) and p99 (thin) of several curves, each knee marked on its mean."""
    for number, (name, c) in enumerate(curves.items()):
        part = _part(c, lowest, highest)
        x = c.offered_per_s[part] / PPS_PER_KPPS
        colour, dashes = COLOURS[number % SERIES], LINES[number % SERIES]
        axes.plot(x, c.mean_s[part] * US_PER_S, color=colour, linestyle=dashes, linewidth=1.8, label=f"{name}, mean")
        axes.plot(x, c.p99_s[part] * US_PER_S, color=colour, linestyle=dashes, linewidth=0.8, label=f"{name}, p99")
        if lowest <= c.knee_per_s / c.capacity_per_s <= highest:
            y = np.interp(c.knee_per_s, c.offered_per_s, c.mean_s) * US_PER_S
            axes.plot(
                [c.knee_per_s / PPS_PER_KPPS], [y], marker=MARKERS[number % SERIES], color=colour,
                markeredgecolor="black", markersize=7, linestyle="none", zorder=5,
                label=f"{name}, knee at {format_rate(c.knee_per_s)}",
            )  # fmt: skip


def sweep_figure(lines: Sequence[Series], x: str, y: str, title: str, measured: Sequence[Points] = ()) -> Figure:
    """An answer over one setting: a line and its 90 % band for each case, measured points on top."""
    made, axes = figure()
    several = len(lines) > 1
    for number, line in enumerate(lines):
        colour, dashes = COLOURS[number % SERIES], LINES[number % SERIES]
        if line.low is not None:
            axes.fill_between(
                line.x, line.low, line.high, color=colour, alpha=BAND, linewidth=0,
                label=None if several else "90 % interval",
            )  # fmt: skip
            for edge in (line.low, line.high):
                axes.plot(line.x, edge, color=colour, linestyle=dashes, linewidth=0.4)
        few = len(line.x) <= 2 * SERIES
        axes.plot(
            line.x, line.y, color=colour, linestyle=dashes, linewidth=1.6, marker="." if few else None,
            label=line.label if several else "predicted",
        )  # fmt: skip
    labels = [line.label for line in lines]
    for points in measured:
        number = labels.index(points.label) if points.label in labels else 0
        bars = [1.0 * (sd or 0.0) for sd in points.sd]
        axes.errorbar(
            points.x, points.y, yerr=bars if any(bars) else None, fmt=MARKERS[number % SERIES], markersize=5,
            color=COLOURS[number % SERIES], markeredgecolor="black", ecolor="black", elinewidth=0.8, capsize=2,
            zorder=5, label=f"measured, {points.label}" if several else "measured",
        )  # fmt: skip
    everything = np.concatenate([np.asarray(line.x, float) for line in lines])
    if by_factors(list(dict.fromkeys(everything.tolist()))):
        axes.set_xscale("log")
        plain_logarithm(axes.xaxis)
    heights = np.concatenate([np.asarray(line.y, float) for line in lines])
    heights = heights[np.isfinite(heights)]
    if heights.size and heights.min() > 0 and heights.max() > PERCENT_PER_ONE / 5 * heights.min():
        axes.set_yscale("log")
        plain_logarithm(axes.yaxis)
    else:
        axes.set_ylim(0, None)
    finish(axes, x, y, title)
    axes.legend(fontsize=TINY if several else SMALL)
    return made
