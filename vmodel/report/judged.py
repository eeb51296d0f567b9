"""Figures about evidence: measured against predicted, costs before and after a fit, which costs an answer hangs on."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from vmodel.core.records import Prediction
from vmodel.report.style import COLOURS, HATCHES, MARKERS, SERIES, SMALL, TINY, WIDTH, finish, plain_logarithm
from vmodel.report.swept import title_of
from vmodel.solve.explain import parameters
from vmodel.solve.solver import NORMAL_90
from vmodel.units import PERCENT_PER_ONE, PPS_PER_KPPS

ACROSS = 3  # panels side by side
PANEL = 2.7  # inches
ROW, FRAME = 0.24, 1.3  # inches of a bar, and of what stands around bars
FEW_DECADES = 1.6  # from which a small panel labels only powers of ten
BAND = 0.1  # relative error that is shaded around the diagonal
MOST_BARS = 15
LEAST_SEEN = 5e-4  # elasticity that is worth a bar
HALF = 0.36  # of the height of a row
METRICS = {  # metric of a row -> its label on an axis, and what it is divided by
    "latency_us": ("latency [us]", 1.0),
    "transactions_per_s": ("transactions [1/s]", 1.0),
    "throughput_mbps": ("throughput [Mbit/s]", 1.0),
    "rate_pps": ("packet rate [kpps]", PPS_PER_KPPS),
    "cpu_cores": ("CPU [cores]", 1.0),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """Measured and predicted values of one metric of one data set, with what tells the rows apart."""

    study: str
    metric: str
    groups: Sequence[str]
    measured: Sequence[float]
    predicted: Sequence[float]
    sd: Sequence[float | None]
    log_sd: Sequence[float]


def measured_figure(panels: Sequence[Judged]) -> Figure:
    """Predicted over measured, a panel for each metric of each data set, with 90 % intervals and the diagonal."""
    rows = -(-len(panels) // ACROSS)
    across = min(ACROSS, len(panels))
    made = Figure(figsize=(max(PANEL * across, WIDTH / 2), PANEL * rows + 0.3), layout="constrained")
    for number, panel in enumerate(panels):
        axes = made.add_subplot(rows, across, number + 1)
        _judge(axes, panel)
    return made


def _judge(axes: Any, panel: Judged) -> None:
    label, scale = METRICS[panel.metric]
    measured, predicted = np.asarray(panel.measured, float) / scale, np.asarray(panel.predicted, float) / scale
    low = min(measured.min(), predicted.min()) / 1.3
    high = max(measured.max(), predicted.max()) * 1.3
    ends = np.array([low, high])
    axes.fill_between(
        ends, ends / (1 + BAND), ends * (1 + BAND), color="#dddddd", linewidth=0, label=f"within {BAND:.0%}"
    )
    axes.plot(ends, ends, color="black", linewidth=0.7)
    factor = np.exp(NORMAL_90 * np.asarray(panel.log_sd, float))
    for number, group in enumerate(dict.fromkeys(panel.groups)):
        here = np.array([g == group for g in panel.groups])
        spread = [NORMAL_90 * (sd or 0.0) / scale for sd, inside in zip(panel.sd, here, strict=True) if inside]
        axes.errorbar(
            measured[here], predicted[here], xerr=spread if any(spread) else None,
            yerr=[(predicted - predicted / factor)[here], (predicted * factor - predicted)[here]],
            fmt=MARKERS[number % SERIES], markersize=3.5, color=COLOURS[number % SERIES], markeredgecolor="black",
            markeredgewidth=0.3, elinewidth=0.5, label=group,
        )  # fmt: skip
    for scale, limits, axis in (
        (axes.set_xscale, axes.set_xlim, axes.xaxis), (axes.set_yscale, axes.set_ylim, axes.yaxis),
    ):  # fmt: skip
        scale("log")
        limits(low, high)
        plain_logarithm(axis, FEW_DECADES)
    off = np.median(np.abs(predicted / measured - 1))
    finish(
        axes, f"measured {label}", f"predicted {label}", f"{panel.study}\n{len(measured)} rows, median error {off:.1%}"
    )
    axes.tick_params(labelsize=TINY, axis="both")
    axes.tick_params(axis="x", rotation=30)
    axes.xaxis.label.set_fontsize(TINY)
    axes.yaxis.label.set_fontsize(TINY)
    axes.title.set_fontsize(TINY)
    axes.legend(fontsize=5.5, loc="upper left", handletextpad=0.3, borderpad=0.3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """One cost before and after a fit: values, and standard errors of their logarithms."""

    name: str
    prior: float
    prior_log_sd: float
    value: float
    log_sd: float


def posterior_figure(costs: Sequence[Learned], title: str) -> Figure:
    """90 % intervals of costs before (hatched) and after (solid) a fit, as factors of the prior median."""
    shown = sorted(costs, key=lambda c: c.log_sd / c.prior_log_sd)[:MOST_BARS]
    made = Figure(figsize=(WIDTH, FRAME + 1.4 * ROW * len(shown)), layout="constrained")
    axes = made.add_subplot()
    for i, c in enumerate(shown):
        at = c.value / c.prior
        before, after = (math.exp(NORMAL_90 * sd) for sd in (c.prior_log_sd, c.log_sd))
        axes.barh(
            i - HALF / 2, before - 1 / before, left=1 / before, height=HALF, color="#e6e6e6", hatch="////",
            edgecolor="#777777", linewidth=0.5, label=None if i else "before (prior)",
        )  # fmt: skip
        axes.barh(
            i + HALF / 2, at * after - at / after, left=at / after, height=HALF, color=COLOURS[0], edgecolor="black",
            linewidth=0.5, label=None if i else "after (posterior)",
        )  # fmt: skip
        axes.plot([1.0], [i - HALF / 2], marker="|", color="black", markersize=6)
        axes.plot([at], [i + HALF / 2], marker="D", color="white", markeredgecolor="black", markersize=3.5)
    axes.axvline(1.0, color="#444444", linewidth=0.6, linestyle=":")
    axes.set_xscale("log")
    axes.use_sticky_edges = False
    axes.margins(x=0.03, y=0.01)
    plain_logarithm(axes.xaxis)
    axes.set_yticks(range(len(shown)), [c.name for c in shown], fontsize=SMALL)
    axes.invert_yaxis()
    finish(axes, "value, as a factor of the prior median [-] (90 % intervals)", "cost, most learned first", title)
    axes.legend(fontsize=SMALL, loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=2)
    return made


def tornado_figure(p: Prediction) -> Figure:
    """Which costs an answer hangs on: its elasticity to each, and what one standard error of the cost changes."""
    used = [u for u in parameters(p) if abs(u.elasticity) >= LEAST_SEEN]
    shown = used[:MOST_BARS]
    made = Figure(figsize=(WIDTH + 1, FRAME + ROW * len(shown)), layout="constrained")
    left, right = made.subplots(1, 2, sharey=True)
    places = range(len(shown))
    left.barh(places, [u.elasticity for u in shown], color=COLOURS[0], edgecolor="black", linewidth=0.4)
    for sign, colour, hatch, name in (
        (-1, COLOURS[1], HATCHES[1], "cost one standard error lower"), (1, COLOURS[0], "", "one standard error higher"),
    ):  # fmt: skip
        change = [PERCENT_PER_ONE * math.expm1(sign * u.elasticity * u.log_error) for u in shown]
        right.barh(places, change, color=colour, hatch=hatch, edgecolor="black", linewidth=0.4, label=name)
    left.set_yticks(places, [u.name for u in shown], fontsize=SMALL)
    left.invert_yaxis()
    answer = "latency" if p.scenario.workload == "rr" else "rate"
    finish(left, f"elasticity of the {answer} [% per %]", "cost")
    finish(right, f"change of the {answer} [%]", "")
    right.legend(fontsize=TINY, loc="lower right")
    for axes in (left, right):
        axes.axvline(0, color="black", linewidth=0.8)
    made.suptitle(title_of(p.scenario), fontsize=SMALL + 1)
    return made


def explanation_figure(e: Any) -> Figure:
    """The tornado of an Explanation."""
    return tornado_figure(e.prediction)


def fit_figure(f: Any) -> Figure:
    """The costs of a Fit before and after."""
    return posterior_figure(learned_of(f.estimates), f"{f.profile.name}: {len(f.rows)} rows")


def learned_of(estimates: Sequence[Any]) -> list[Learned]:
    """The estimates of a fit as rows of `posterior_figure`."""
    return [
        Learned(name=e.name, prior=e.prior, prior_log_sd=e.prior_log_sd, value=e.value, log_sd=e.log_error)
        for e in estimates
    ]


def judged_of(study: str, rows: Sequence[Any], logs: Any, sds: Any) -> list[Judged]:
    """Compared rows of one data set as panels, one for each metric. logs, sds: of the natural logarithms."""
    panels = []
    for metric in dict.fromkeys(row.metric for row in rows):
        here = [i for i, row in enumerate(rows) if row.metric == metric]
        panels.append(
            Judged(
                study=study,
                metric=metric,
                groups=[_group(rows[i]) for i in here],
                measured=[rows[i].value for i in here],
                predicted=[math.exp(logs[i]) for i in here],
                sd=[rows[i].sd for i in here],
                log_sd=[float(sds[i]) for i in here],
            )
        )
    return panels


def _group(row: Any) -> str:
    return f"{row.path}{', ' + row.direction if row.direction else ''}"
