"""Several configurations side by side: what differs in the question, then how the answers differ."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vmodel.config import scenario
from vmodel.core.records import Interval, Prediction, Scenario
from vmodel.solve import shown, solver


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One answer side by side: values [unit], intervals, ratio to the first, and whether it differs from the first."""

    name: str
    unit: str
    values: tuple[float | None, ...]
    intervals: tuple[Interval | None, ...]
    ratios: tuple[float | None, ...]
    verdicts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Comparison:
    """Several configurations side by side: what differs in the question, then the answers."""

    labels: tuple[str, ...]
    differing: Mapping[str, tuple[Any, ...]]
    figures: tuple[Figure, ...]
    predictions: tuple[Prediction, ...]

    def __repr__(self) -> str:
        return shown.comparison_line(self)

    def _repr_html_(self) -> str:
        return shown.comparison_html(self)


FIRST, DIFFERS, ALIKE, OPEN = "first", "differ", "within each other's interval", "no interval"
FIGURES: tuple[tuple[str, str, Callable[[Prediction], float | None], Callable[[Prediction], Interval | None]], ...] = (
    ("latency", "s", lambda p: p.latency_s, lambda p: p.latency_interval_s),
    ("latency p99", "s", lambda p: p.percentiles_s[0.99], lambda p: None),
    ("throughput", "bit/s", lambda p: p.throughput_bps, lambda p: p.throughput_interval_bps),
    ("packet rate", "pps", lambda p: p.rate_pps, lambda p: p.rate_interval_pps),
    ("transactions", "/s", lambda p: p.transactions_per_s, lambda p: p.transactions_interval_per_s),
    ("interrupts", "/s", lambda p: p.interrupts_per_s, lambda p: None),
    ("CPU host", "cores", lambda p: p.cpu_host, lambda p: None),
    ("CPU guest", "cores", lambda p: p.cpu_guest, lambda p: None),
)


def compare(cases: Iterable[Mapping[str, Any] | Scenario]) -> Comparison:
    """Answer several configurations side by side; each a Scenario or the arguments of `predict`. Raises ConfigError."""
    asked = [case if isinstance(case, Scenario) else scenario(**case) for case in cases]
    predictions = tuple(solver.predict(s) for s in asked)
    differing = _differing(asked)
    return Comparison(
        labels=_labels(asked, differing),
        differing=differing,
        figures=tuple(_figure(predictions, *row) for row in FIGURES),
        predictions=predictions,
    )


def _inputs(s: Scenario) -> dict[str, Any]:
    load = (
        "max" if s.load.kind == "max" else f"{s.load.value:g} {'bit/s' if s.load.kind == 'throughput_bps' else 'pps'}"
    )
    words = {"path": s.path, "peer": s.peer, "topology": s.topology, "workload": s.workload, "direction": s.direction}
    return {**words, "load": load, "profile": s.profile.name, "device": s.device, **s.knobs, **s.parameters}


def _differing(asked: Sequence[Scenario]) -> dict[str, tuple[Any, ...]]:
    rows = [_inputs(s) for s in asked]
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: tuple(row.get(name) for row in rows) for name in names}
    return {name: values for name, values in columns.items() if any(v != values[0] for v in values)}


def _labels(asked: Sequence[Scenario], differing: Mapping[str, tuple[Any, ...]]) -> tuple[str, ...]:
    """The path, and beside it what sets cases of one path apart."""
    labels: list[str] = []
    for i, s in enumerate(asked):
        twins = [j for j, other in enumerate(asked) if other.path == s.path]
        names = [
            n
            for n, values in differing.items()
            if any(values[j] != values[i] for j in twins)
            and (n not in s.knobs or any(n in asked[j].chosen for j in twins))
        ]
        label = ", ".join([s.path] + [f"{n} {_plain(differing[n][i])}" for n in names])
        labels.append(f"{label} ({i + 1})" if label in labels else label)
    return tuple(labels)


def _plain(value: Any) -> str:
    return "default" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _figure(
    predictions: Sequence[Prediction],
    name: str,
    unit: str,
    value: Callable[[Prediction], float | None],
    interval: Callable[[Prediction], Interval | None],
) -> Figure:
    values, intervals = [value(p) for p in predictions], [interval(p) for p in predictions]
    first = values[0]
    return Figure(
        name=name,
        unit=unit,
        values=tuple(values),
        intervals=tuple(intervals),
        ratios=tuple(v / first if v is not None and first else None for v in values),
        verdicts=(FIRST, *(_verdict(intervals[0], other) for other in intervals[1:])),
    )


def _verdict(a: Interval | None, b: Interval | None) -> str:
    if a is None or b is None:
        return OPEN
    return DIFFERS if a.high < b.low or b.high < a.low else ALIKE
