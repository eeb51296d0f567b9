"""Measurements after deployment against what the plan predicted: inside the interval, better, or worse."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from vmodel.core.records import Interval, Observation, Prediction, Scenario
from vmodel.plan.plan import Plan
from vmodel.plan.records import Option
from vmodel.solve import solver
from vmodel.units import BPS_PER_MBPS, US_PER_S

PASS, BETTER, FAIL, UNKNOWN = "pass", "better than predicted", "fail", "not compared"
SMALLER_IS_BETTER = ("latency_us", "cpu_cores")


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """One measurement and what to think of it."""

    id: str
    vm: str | None  # class
    metric: str
    measured: float
    predicted: float | None
    interval: Interval | None  # 90 %
    verdict: str
    because: str = ""


def option_for(p: Plan, row: Observation) -> Option | None:
    """The class that a measurement belongs to: named by its series or id, else the only one with its traffic."""
    if p.placement is None:
        return None
    options = [p.known.options[o] for o in p.placement.chosen]
    for o in options:
        if o.vm.name in (row.series, row.id, row.id.partition("#")[0], row.id.partition(".")[0]):
            return o
    alike = [
        o
        for o in options
        if o.path == row.path
        and o.vm.workload == row.workload
        and (not row.direction or row.direction == o.vm.direction)
        and ("size" not in row.knobs or row.knobs["size"] == o.vm.size)
    ]
    return alike[0] if len(alike) == 1 else None


def scenario_of(option: Option, row: Observation) -> Scenario:
    """The class's own scenario with what the measurement says of its run."""
    asked = next(iter(option.asked.values()))
    s = replace(asked, factor=1.0).scenario()
    return replace(
        s,
        knobs={**s.knobs, **row.knobs},
        topology=row.topology or s.topology,
        direction=row.direction or s.direction,
    )


def verdict(p: Plan, row: Observation) -> Verdict:
    """What to think of one measurement."""
    option = option_for(p, row)
    if option is None:
        return Verdict(
            id=row.id, vm=None, metric=row.metric, measured=row.value, predicted=None, interval=None, verdict=UNKNOWN,
            because="no VM class of the plan by this name, nor a single one with this path and traffic",
        )  # fmt: skip
    if row.path and row.path != option.path:
        return Verdict(
            id=row.id, vm=option.vm.name, metric=row.metric, measured=row.value, predicted=None, interval=None,
            verdict=FAIL, because=f"measured on {row.path}, planned on {option.path}",
        )  # fmt: skip
    predicted, interval = expected(solver.predict(scenario_of(option, row)), row.metric)
    if predicted is None or interval is None:
        return Verdict(
            id=row.id, vm=option.vm.name, metric=row.metric, measured=row.value, predicted=None, interval=None,
            verdict=UNKNOWN, because=f"{row.metric} is not predicted of {option.vm.workload}",
        )  # fmt: skip
    small = row.metric in SMALLER_IS_BETTER
    worse = row.value > interval.high if small else row.value < interval.low
    better = row.value < interval.low if small else row.value > interval.high
    goal = option.vm.latency
    broken = goal is not None and row.metric == "latency_us" and row.value > goal * US_PER_S
    because = "mean latency above the objective itself" if broken else ""
    return Verdict(
        id=row.id, vm=option.vm.name, metric=row.metric, measured=row.value, predicted=predicted, interval=interval,
        verdict=FAIL if worse or broken else BETTER if better else PASS, because=because,
    )  # fmt: skip


def expected(p: Prediction, metric: str) -> tuple[float | None, Interval | None]:
    """The predicted value of a metric in its unit, with its 90 % interval."""
    if metric == "latency_us" and p.latency_s is not None and p.latency_interval_s is not None:
        return _scaled(p.latency_s, p.latency_interval_s, US_PER_S)
    if metric == "transactions_per_s" and p.transactions_per_s is not None and p.transactions_interval_per_s:
        return _scaled(p.transactions_per_s, p.transactions_interval_per_s, 1.0)
    if metric == "throughput_mbps":
        return _scaled(p.throughput_bps, p.throughput_interval_bps, 1 / BPS_PER_MBPS)
    if metric == "rate_pps":
        return _scaled(p.rate_pps, p.rate_interval_pps, 1.0)
    return None, None


def _scaled(value: float, interval: Interval, scale: float) -> tuple[float, Interval]:
    return value * scale, Interval(low=interval.low * scale, high=interval.high * scale)


def verdicts(p: Plan, rows: Sequence[Observation]) -> list[Verdict]:
    """All of them, in the order of the measurements."""
    return [verdict(p, row) for row in rows]
