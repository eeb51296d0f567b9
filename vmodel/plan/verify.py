"""Measurements after deployment against what the plan predicted: inside the interval, better, or worse."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from vmodel.core.records import Interval, Observation, Prediction, Profile, Scenario
from vmodel.plan.options import latency_error
from vmodel.plan.plan import Plan
from vmodel.plan.records import Option
from vmodel.solve import solver
from vmodel.solve.solver import NORMAL_90
from vmodel.units import BPS_PER_MBPS, PERCENT_PER_ONE, US_PER_S

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


@dataclass(frozen=True, kw_only=True)
class Tail:
    """A measured percentile of a class's latency: what a share of its messages stayed below."""

    id: str
    vm: str
    percent: float
    value_us: float

    @property
    def metric(self) -> str:
        """As tools say it: p99."""
        return f"p{self.percent:g}_us"


def tail_verdict(p: Plan, tail: Tail) -> Verdict:
    """What to think of a measured percentile.

    Below the interval of one VM alone: better; above that of the class among its neighbours in the plan: worse.  The
    percentile of the objective itself must not exceed the objective either.
    """
    option = next((o for o in chosen(p) if o.vm.name == tail.vm), None)
    share = tail.percent / PERCENT_PER_ONE
    alone = None if option is None else solver.predict(next(iter(option.asked.values())).scenario())
    value = None if alone is None else alone.percentiles_s.get(share)
    if option is None or alone is None or value is None:
        because = "no VM class of the plan by this name" if option is None else f"p{tail.percent:g} is not predicted"
        return Verdict(
            id=tail.id, vm=None if option is None else tail.vm, metric=tail.metric, measured=tail.value_us,
            predicted=None, interval=None, verdict=UNKNOWN, because=because,
        )  # fmt: skip
    vm, spread = option.vm, math.exp(NORMAL_90 * latency_error(alone))
    is_goal = vm.latency is not None and tail.percent == vm.percentile
    among = [s.latency_s / option.latency_factor for s in p.standings if p.known.options[s.option] is option]
    highest = max([value, *among]) if is_goal else value
    interval = Interval(low=value / spread * US_PER_S, high=highest * spread * US_PER_S)
    broken = is_goal and tail.value_us > (vm.latency or 0.0) * US_PER_S
    worse = tail.value_us > interval.high
    return Verdict(
        id=tail.id, vm=vm.name, metric=tail.metric, measured=tail.value_us, predicted=value * US_PER_S,
        interval=interval, verdict=FAIL if worse or broken else BETTER if tail.value_us < interval.low else PASS,
        because=f"above the objective of {(vm.latency or 0.0) * US_PER_S:.4g} us" if broken else "",
    )  # fmt: skip


def with_profile(p: Plan, profile: Profile) -> Plan:
    """The same plan judged by another profile: what was learned after deployment."""
    options = tuple(
        replace(o, asked={t: replace(asked, profile=profile) for t, asked in o.asked.items()}) for o in p.known.options
    )
    return replace(p, known=replace(p.known, options=options), standings=())


def chosen(p: Plan) -> list[Option]:
    """The option of each class of a plan."""
    return [] if p.placement is None else [p.known.options[o] for o in p.placement.chosen]


def option_for(p: Plan, row: Observation) -> Option | None:
    """The class that a measurement belongs to: named by its series or id, else the only one with its traffic."""
    options = chosen(p)
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
