"""Answers of many scenarios at once, element by element: what `predict` says of one, as arrays, and only what is asked.

A scenario here holds arrays among its knobs, costs or offered loads. What changes the law itself (a count in flight, a
frame cap) is one number; `ask.SINGLE` lists these knobs.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vmodel.core.path import resource_titles
from vmodel.core.records import Load, Outcome, Scenario
from vmodel.library.profile import value_of
from vmodel.solve import compose, doubt, evaluate, meeting, solver
from vmodel.solve.dual import Dual, is_float, plain
from vmodel.solve.tails import StageTime, add_times, constant_time, gamma_percentile, gamma_time, skewed_percentile

FIGURE = re.compile(r": \S+ kicks per frame$")
TIE = 1 + 1e-9  # twins on both sides differ by rounding: the first one is named
QUANTILES = {"p50_s": 0.5, "p90_s": 0.9, "p99_s": 0.99, "p999_s": 0.999}
BUS, WINDOW, MODERATION = "memory bus", "window", "interrupt moderation"  # bottlenecks that are no stage's resource
INTERVALS = ("latency_low_s", "latency_high_s", "throughput_low_bps", "throughput_high_bps")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One solved block of scenarios; rows of every column are the elements of the arrays that were asked."""

    scenario: Scenario
    parameters: Mapping[str, Any]
    solved: solver.Solved
    rows: int

    @property
    def outcome(self) -> Outcome:
        """What the law made of it."""
        return self.solved.outcome


def solve_block(s: Scenario, rows: int, *, gradient: bool = False) -> Answer:
    """Solve a scenario whose arrays have this many elements; with derivatives where intervals are wanted."""
    parameters = compose.parameter_values(s)
    return Answer(scenario=s, parameters=parameters, solved=solver.solve(s, parameters, gradient=gradient), rows=rows)


def column(a: Answer, name: str) -> Any:
    """One column of answers, bottlenecks aside; None where it does not apply."""
    return COLUMNS[name](a)


def _rate(a: Answer) -> Any:
    return plain(a.outcome.rate_per_s)


def _throughput(a: Answer) -> Any:
    return _rate(a) * meeting.message_bits(a.scenario)


def _packets(a: Answer) -> Any:
    both = 2 if a.scenario.workload == "rr" else 1
    return _rate(a) * plain(solver.packet_count(a.scenario, a.solved.words)) * both


def _locked(out: Outcome) -> Any:
    """Where a throttle holds the round trip: its wait is the last row of the breakdown."""
    if not any("throttle" in r for r in out.regime):
        return False
    return plain(out.shares[-1].seconds) > 0


def _windowed(a: Answer) -> Any:
    if a.scenario.workload != "stream" or a.scenario.knobs["socket_buffer_bytes"] is None:
        return False
    return _rate(a) < plain(a.outcome.upper_rate_per_s)


def _saturated(a: Answer) -> Any:
    s, out = a.scenario, a.outcome
    if s.workload != "packets" or s.load.kind == "max":
        return out.saturated
    return offered_per_s(s) >= plain(out.upper_rate_per_s)


def offered_per_s(s: Scenario) -> Any:
    """The offered load of packets [1/s]."""
    bits = meeting.message_bits(s) if s.load.kind == "throughput_bps" else 1.0
    return s.load.value / bits


def bottlenecks(a: Answer) -> tuple[Any, tuple[str, ...]]:
    """The busiest resource of each row as an index into names; in a ping-pong what takes longest of the cycle."""
    out = a.outcome
    keys = [n.resource for c in a.solved.chains for n in c.nodes if n.resource is not None]
    titles = resource_titles(keys)
    names = [titles.get(k, k) for k in out.demands_s]
    demands = [plain(v) for v in out.demands_s.values()]
    top = demands[0]
    place: Any = np.zeros(a.rows, np.uint8)
    for i, demand in enumerate(demands[1:], start=1):
        above = demand > top * TIE
        np.copyto(place, i, where=above)
        if i + 1 < len(demands):
            top = np.maximum(top, demand)
    for name, where in ((WINDOW, _windowed(a)), (MODERATION, _locked(out))):
        if where is not False:
            place = np.where(where, len(names), place)
            names.append(name)
    return place, tuple(names)


def _onward(s: Scenario) -> bool:
    """Whether frames go on from their receiver."""
    forwards = s.knobs["forwards"]
    return s.workload == "packets" and bool(forwards if is_float(forwards) else forwards.any())


def resource_names(s: Scenario) -> tuple[str, ...]:
    """Every name that the bottleneck of a scenario can have."""
    ways = compose.scenario_ways(s)
    chains = (ways.forward, ways.reverse) if s.workload == "rr" or _onward(s) else (ways.forward,)
    titles = resource_titles([n.resource for c in chains for n in c.nodes if n.resource is not None])
    return (*titles.values(), BUS, WINDOW, MODERATION)


def percentile(a: Answer, p: float) -> Any:
    """The latency that a share p stays below, as `predict` finds it [s]."""
    out = a.outcome
    if out.time is not None:
        return skewed_percentile(_spread_out(out.time, a.rows), p)
    rows = evaluate.stage_rows()
    throttled = any("throttle" in r for r in out.regime)
    times = []
    for i, r in enumerate(out.shares):
        if throttled and i == len(out.shares) - 1:
            continue  # a throttle that locks lets nothing through before its time
        seconds = plain(r.seconds)
        scv = rows[r.stage].variability if r.stage in rows else solver.QUEUE_SCV if r.stage == "queueing" else 0.0
        times.append(gamma_time(seconds, scv) if scv > 0 else constant_time(seconds))
    found = gamma_percentile(_spread_out(add_times(times), a.rows), p)
    return np.maximum(found, np.where(_locked(out), plain(out.latency_s), 0.0))


def _spread_out(time: StageTime, rows: int) -> StageTime:
    return StageTime(
        least_s=np.broadcast_to(time.least_s, rows),
        mean_s=np.broadcast_to(time.mean_s, rows),
        variance_s2=np.broadcast_to(time.variance_s2, rows),
        third_s3=np.broadcast_to(time.third_s3, rows),
    )


def log_sd(a: Answer, target: Any) -> Any:
    """Standard error of the logarithm of an answer: uncertain costs through exact derivatives, and the model's own."""
    return np.sqrt(parameter_variance(a, target) + doubt.model_variance(a.scenario))


def parameter_variance(a: Answer, target: Any) -> Any:
    """Variance of the logarithm of an answer from what is not known of the costs: g C g, priors where not fitted."""
    if not isinstance(target, Dual):
        return 0.0
    s = a.scenario
    known = {p: d * a.parameters[p] / target.value for p, d in target.gradient.items() if p not in s.parameters}
    order = {name: i for i, name in enumerate(s.profile.correlated)}
    fitted = [p for p in known if p in order]
    variance: Any = 0.0
    for p in known.keys() - order.keys():
        variance = variance + (known[p] * value_of(s.profile, p).log_error) ** 2
    if fitted:
        places = [order[p] for p in fitted]
        covariance = np.array([[s.profile.covariance[max(i, j)][min(i, j)] for j in places] for i in places])
        slopes = np.stack([np.broadcast_to(known[p], a.rows) for p in fitted])
        variance = variance + np.einsum("ir,ir->r", slopes, covariance @ slopes)
    return np.maximum(variance, 0.0)


def _target(a: Answer) -> Any:
    return a.outcome.latency_s if a.scenario.workload == "rr" else a.outcome.rate_per_s


def _latency_factor(a: Answer) -> Any:
    return np.exp(solver.NORMAL_90 * log_sd(a, a.outcome.latency_s))


def _rate_low(a: Answer) -> Any:
    """Factor from a rate to its lower end: what is offered is carried, unless there is less capacity than thought."""
    low = np.exp(-solver.NORMAL_90 * log_sd(a, _target(a)))
    if a.scenario.workload != "packets":
        return low
    room = plain(a.outcome.upper_rate_per_s) / _rate(a)
    return np.where(_saturated(a), low, np.minimum(1.0, room * low))


def _rate_high(a: Answer) -> Any:
    high = np.exp(solver.NORMAL_90 * log_sd(a, _target(a)))
    return high if a.scenario.workload != "packets" else np.where(_saturated(a), high, 1.0)


def _cpu(which: int) -> Callable[[Answer], Any]:
    return lambda a: solver.cpu(a.solved)[which]


def _quantile(p: float) -> Callable[[Answer], Any]:
    return lambda a: percentile(a, p)


COLUMNS: Mapping[str, Callable[[Answer], Any]] = {
    "latency_s": lambda a: plain(a.outcome.latency_s),
    "latency_low_s": lambda a: plain(a.outcome.latency_s) / _latency_factor(a),
    "latency_high_s": lambda a: plain(a.outcome.latency_s) * _latency_factor(a),
    **{name: _quantile(p) for name, p in QUANTILES.items()},
    "throughput_bps": _throughput,
    "throughput_low_bps": lambda a: _throughput(a) * _rate_low(a),
    "throughput_high_bps": lambda a: _throughput(a) * _rate_high(a),
    "rate_pps": _packets,
    "transactions_per_s": lambda a: _rate(a) if a.scenario.workload == "rr" else None,
    "interrupts_per_s": lambda a: plain(a.outcome.interrupts_per_s),
    "loss": lambda a: plain(a.outcome.loss),
    "cpu_host": _cpu(0),
    "cpu_guest": _cpu(1),
    "saturated": _saturated,
}


def regimes(s: Scenario, rows: int) -> list[str]:
    """The regime of each row, named as `predict` names it without the figures in it; row by row, and so slower."""
    found = []
    for i in range(rows):
        one = replace(
            s,
            knobs=_row(s.knobs, i),
            parameters=_row(s.parameters, i),
            load=replace(s.load, **_row({"value": s.load.value}, i)),
        )
        out = solver.solve(one, compose.parameter_values(one)).outcome
        found.append("; ".join(FIGURE.sub("", r) for r in out.regime))
    return found


def _row(values: Mapping[str, Any], place: int) -> dict[str, Any]:
    """One element of every array among values."""
    return {k: float(v[place]) if isinstance(v, np.ndarray) else v for k, v in values.items()}


def capacity_per_s(s: Scenario, rows: int) -> Any:
    """The highest rate of packets of each row [1/s]."""
    out = solve_block(replace(s, load=Load()), rows).outcome
    return np.broadcast_to(plain(out.rate_per_s), rows)
