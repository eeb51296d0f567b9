"""The figure that suits a sweep: a load curve, lines with bands and measured points, or a map of regimes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from vmodel.core.records import Observation, Scenario
from vmodel.errors import ConfigError, Fault
from vmodel.report.choices import on_front, pareto_figure
from vmodel.report.curves import Points, Series, load_figure, sweep_figure
from vmodel.report.maps import regime_figure
from vmodel.report.style import SERIES
from vmodel.report.swept import SHOWN, curves, only_load, title, unit_of
from vmodel.solve.ask import SINGLE
from vmodel.sweep.axis import CAPACITY, THROUGHPUT_BPS, Axis
from vmodel.sweep.engine import Sweep
from vmodel.sweep.grid import REGIME, Grid
from vmodel.units import BITS_PER_BYTE, BPS_PER_MBPS, US_PER_S

ANSWER = {"rr": "latency_us", "stream": "throughput_bps", "packets": "rate_pps"}
ENDS = ("_low", "_high")
CPU = ("cpu_host", "cpu_guest")
MORE = ("throughput", "rate", "transactions")  # answers of which more is better
MAP_LEAST = 3  # values of each of two settings from which there is a map
MOST_ROWS = 200_000  # that a figure is drawn from
METRICS: Mapping[tuple[str, str], Callable[[float], float]] = {  # metric of a row, answer -> how it becomes that
    ("latency_us", "latency_us"): lambda v: v,
    ("transactions_per_s", "latency_us"): lambda v: US_PER_S / v,  # one in flight
    ("transactions_per_s", "transactions_per_s"): lambda v: v,
    ("latency_us", "transactions_per_s"): lambda v: US_PER_S / v,
    ("throughput_mbps", "throughput_bps"): lambda v: v * BPS_PER_MBPS,
    ("rate_pps", "rate_pps"): lambda v: v,
}


def default_answer(g: Grid) -> str:
    """The answer that is drawn unless another is named: latency of rr and of offered loads, else what is carried."""
    if any(a.name == "load" for a in g.axes):
        return "latency_us"
    return ANSWER[g.cells[0].scenario.workload]


def needed_columns(g: Grid, answer: str) -> tuple[str, ...]:
    """The columns that the figure of a sweep is drawn from."""
    if only_load(g) and answer == "latency_us":
        return (answer,)
    if is_map(g):
        return (answer, "bottleneck", REGIME)
    if is_crowd(g):
        return (answer, *CPU)
    return (answer, *(f"{answer}{end}" for end in ENDS if answer in ("latency_us", "throughput_bps")))


def _wide(g: Grid) -> list[Axis]:
    """Axes of numbers with more than one value, the longest first."""
    return sorted((a for a in g.axes if a.kind != "word" and len(a.values) > 1), key=lambda a: -len(a.values))


def is_map(g: Grid) -> bool:
    """Whether two settings vary over enough values for a map, and nothing else does."""
    varied = [a for a in g.axes if len(a.values) > 1]
    wide = _wide(g)
    return len(varied) == len(wide) == 2 and all(len(a.values) >= MAP_LEAST for a in wide) and not g.left_out


def is_crowd(g: Grid) -> bool:
    """Whether more varies than lines can show, so that only the best of all configurations are named."""
    longest = max((len(a.values) for a in _wide(g)), default=1)
    return g.rows > SERIES * longest


def sweep_picture(s: Sweep, answer: str, measured: Sequence[Observation] = ()) -> Figure:
    """The figure of a sweep. Raises ConfigError where more varies than a figure can show."""
    g = s.grid
    if g.rows > MOST_ROWS:
        raise _too_many(f"at most {MOST_ROWS:,} configurations in a figure; these are {g.rows:,}")
    if only_load(g) and len(g.cells) <= SERIES and answer == "latency_us":
        return _load(g)
    if is_map(g):
        return _map(s, answer)
    return _front(s, answer) if is_crowd(g) else _lines(s, answer, measured)


def _load(g: Grid) -> Figure:
    axis = g.plain[0]
    found = curves(g)
    low, high = min(axis.values), max(axis.values)
    if axis.kind != CAPACITY:
        bits = g.cells[0].scenario.knobs["size"] * BITS_PER_BYTE if axis.kind == THROUGHPUT_BPS else 1.0
        low, high = (
            end / bits / c
            for end, c in zip((low, high), _ends([c.capacity_per_s for c in found.values()]), strict=True)
        )
    return load_figure(found, title(g), low, high)


def _ends(capacities: Sequence[float]) -> tuple[float, float]:
    return max(capacities), min(capacities)


def _map(s: Sweep, answer: str) -> Figure:
    g = s.grid
    down, across = (a for a in g.axes if len(a.values) > 1)
    shape = (len(down.values), len(across.values))
    together = zip(s.columns[REGIME], s.columns["bottleneck"], strict=True)
    regions = np.array([f"{regime}; {busy}" for regime, busy in together], object).reshape(shape)
    named, scale = drawn(g, answer)
    heights = np.asarray(s.columns[answer], float).reshape(shape) / scale
    rows, columns = np.argsort(down.values), np.argsort(across.values)
    labels = (unit_of(g.units, across.name), unit_of(g.units, down.name), named, title(g))
    return regime_figure(
        np.asarray(across.values)[columns], np.asarray(down.values)[rows],
        regions[np.ix_(rows, columns)], heights[np.ix_(rows, columns)], labels,
    )  # fmt: skip


def _lines(s: Sweep, answer: str, measured: Sequence[Observation]) -> Figure:
    """A line for each combination of words and of the settings that take fewer values than the longest."""
    g = s.grid
    wide = _wide(g)
    if not wide:
        raise _too_many("one setting that takes more than one value")
    x, others = wide[0], [a for a in g.axes if a is not wide[0] and len(a.values) > 1]
    groups: dict[tuple[Any, ...], list[int]] = {}
    for i, key in enumerate(zip(*(s.columns[a.name].tolist() for a in others), strict=True) if others else []):
        groups.setdefault(key, []).append(i)
    groups = groups or {(): list(range(g.rows))}
    named, scale = drawn(g, answer)
    series, points = [], []
    alone = all(a.kind == "word" or a.name in SINGLE for a in others)
    for key, places in groups.items():
        order = np.array(places)[np.argsort(s.columns[x.name][places], kind="stable")]
        y, low, high = (
            s.columns[n][order] / scale if n in s.columns else None for n in (answer, *(f"{answer}{e}" for e in ENDS))
        )
        label = ", ".join(_valued(a, v) for a, v in zip(others, key, strict=True)) or "predicted"
        series.append(Series(label=label, x=s.columns[x.name][order], y=y, low=low, high=high))
        home = g.cells[places[0] // g.cell_rows].scenario
        found = measured_points(measured, home, x, answer, label) if alone else None
        if found is not None:
            points.append(found)
    scaled = [Points(label=p.label, x=p.x, y=[v / scale for v in p.y],
                     sd=[None if v is None else v / scale for v in p.sd]) for p in points]  # fmt: skip
    if measured and not points:
        expected = f"rows of the same path, workload, place and settings, with a value of {x.name}; there are none"
        raise ConfigError([Fault(file="", key="--measured", expected=expected)])
    return sweep_figure(series, unit_of(g.units, x.name), named, title(g), scaled)


def _front(s: Sweep, answer: str) -> Figure:
    """The answer over the processors that it takes, all configurations; those that no other beats in both are named."""
    g = s.grid
    named, scale = drawn(g, answer)
    cores = sum(np.asarray(s.columns[name], float) for name in CPU)
    values = np.asarray(s.columns[answer], float) / scale
    varied = [a for a in g.axes if len(a.values) > 1]
    less = not answer.startswith(MORE)
    front = on_front(cores, values, y_less=less)
    names = [", ".join(_valued(a, s.columns[a.name][i]) for a in varied) if front[i] else "" for i in range(g.rows)]
    labels = ("processors of host and guest [cores]", named, title(g))
    return pareto_figure(cores, values, labels, front=front, names=names, y_less=less)


def _valued(a: Axis, value: Any) -> str:
    return str(value) if a.kind == "word" else f"{a.name} {value:g} {a.unit}".strip()


def _too_many(expected: str) -> ConfigError:
    return ConfigError([Fault(file="", key="--plot", expected=expected)])


def drawn(g: Grid, answer: str) -> tuple[str, float]:
    """How an answer is labelled on an axis, and what it is divided by."""
    return SHOWN.get(answer, (unit_of(g.units, answer), 1.0))


def measured_points(rows: Sequence[Observation], s: Scenario, axis: Axis, answer: str, label: str) -> Points | None:
    """The observations that a line predicts: same path, workload, place and settings, at any value of the axis."""
    found: list[tuple[float, float, float | None]] = []
    for row in rows:
        x, become = row.knobs.get(axis.name), METRICS.get((row.metric, answer))
        if x is None or become is None or not _speaks_of(row, s, axis.name):
            continue
        if min(axis.values) <= x <= max(axis.values):
            y = become(row.value)
            found.append((float(x), y, None if row.sd is None else y * row.sd / row.value))
    if not found:
        return None
    xs, ys, spreads = zip(*sorted(found, key=lambda point: point[0]), strict=True)
    return Points(label=label, x=xs, y=ys, sd=spreads)


def _speaks_of(row: Observation, s: Scenario, varied: str) -> bool:
    words = (
        (row.path, s.path), (row.peer, s.peer), (row.topology, s.topology), (row.workload, s.workload),
        (row.profile, s.profile.name),
    )  # fmt: skip
    if any(told and told != asked for told, asked in words):
        return False
    if row.metric == "transactions_per_s" and s.knobs["in_flight"] != 1:
        return False
    if s.workload != "rr" and row.direction and row.direction != s.direction:
        return False
    return all(name == varied or s.knobs.get(name) == value for name, value in row.knobs.items())
