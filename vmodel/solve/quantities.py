"""What can be asked for by name: every quantity of an answer, for one prediction or for arrays of configurations.

`tune`, `lint` and whoever else takes an objective read names and units here, so that a name means the same everywhere.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from vmodel.core.records import Outcome, Prediction, Scenario
from vmodel.errors import UnitError, UnknownName, nearest
from vmodel.solve import ask, compose, evaluate, solver
from vmodel.solve.processors import processors, use
from vmodel.solve.tails import CONSTANT
from vmodel.units import (
    BITS_PER_BYTE,
    DECIMAL,
    PERCENT_PER_ONE,
    format_bitrate,
    format_rate,
    format_seconds,
    format_share,
    parse_bitrate,
    parse_packet_rate,
    parse_seconds,
)

LOWEST_SHAPE, HIGHEST_SHAPE, KNOTS = 0.02, 1e4, 801  # of the gamma law, evenly spaced in the logarithm
SMALLEST = 1e-300
STEP = 1e-4  # of a logarithm, for derivatives by differences
STENCIL = 4  # points of the interpolation between the knots: error below 1e-6 of the quantile


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """One figure of an answer: how it is read, written and taken from a prediction; SI units."""

    name: str
    title: str
    lower_is_better: bool
    read: Callable[[str], float]
    write: Callable[..., str]
    of: Callable[[Prediction], float | None]
    percentile: float | None = None


def _plain(text: str) -> float:
    """A number with a decimal prefix: 0.8, 5k."""
    body = text.strip().removesuffix("cores").removesuffix("core").strip()
    prefix = body[-1:] if body[-1:] in DECIMAL and body[-1:] else ""
    try:
        number = float(body.removesuffix(prefix) if prefix else body)
    except ValueError:
        raise UnitError(text, 'a number, such as "0.8"') from None
    return number * DECIMAL[prefix]


def _share(text: str) -> float:
    body = text.strip()
    return _plain(body[:-1]) / PERCENT_PER_ONE if body.endswith("%") else _plain(body)


def _per_second(text: str) -> float:
    return _plain(text.strip().removesuffix("/s"))


def _write_cores(value: float | None, error: float | None = None) -> str:
    return "-" if value is None else f"{value:.3g} cores"


def _write_per_second(value: float | None, error: float | None = None) -> str:
    return format_rate(value, error, unit="/s")


def _latency(name: str, title: str, percentile: float | None) -> Quantity:
    def of(p: Prediction) -> float | None:
        return p.latency_s if percentile is None else p.percentiles_s[percentile]

    return Quantity(
        name=name,
        title=title,
        lower_is_better=True,
        read=parse_seconds,
        write=format_seconds,
        of=of,
        percentile=percentile,
    )


def _other(
    name: str, title: str, lower: bool, how: tuple[Callable[[str], float], Callable[..., str]], of: Any
) -> Quantity:
    return Quantity(name=name, title=title, lower_is_better=lower, read=how[0], write=how[1], of=of)


_CORES, _FRACTION = (_plain, _write_cores), (_share, format_share)
_FREQUENCY = (_per_second, _write_per_second)
QUANTITIES: Mapping[str, Quantity] = {
    q.name: q
    for q in (
        _latency("mean", "mean latency", None),
        _latency("p50", "median latency", 0.5),
        _latency("p90", "90th percentile of the latency", 0.9),
        _latency("p99", "99th percentile of the latency", 0.99),
        _latency("p999", "99.9th percentile of the latency", 0.999),
        _latency("p9999", "99.99th percentile of the latency", 0.9999),
        _other("throughput", "throughput", False, (parse_bitrate, format_bitrate), lambda p: p.throughput_bps),
        _other("rate", "packet rate", False, (parse_packet_rate, format_rate), lambda p: p.rate_pps),
        _other("transactions", "transactions", False, _FREQUENCY, lambda p: p.transactions_per_s),
        _other("interrupts", "interrupts", True, _FREQUENCY, lambda p: p.interrupts_per_s),
        _other("host_cpu", "processors of the host", True, _CORES, lambda p: p.cpu_host),
        _other("guest_cpu", "processors of the guest", True, _CORES, lambda p: p.cpu_guest),
        _other("cpu", "processors of host and guest", True, _CORES, lambda p: p.cpu_host + p.cpu_guest),
        _other("busy", "busy share of the busiest resource", True, _FRACTION, lambda p: max(p.busy.values())),
        _other("loss", "share of packets lost", True, _FRACTION, lambda p: p.loss),
    )
}
OTHER_SPELLINGS = {
    "latency": "mean",
    "p99.9": "p999",
    "p99.99": "p9999",
    "cpu_host": "host_cpu",
    "cpu_guest": "guest_cpu",
    "pps": "rate",
    "rate_pps": "rate",
    "throughput_bps": "throughput",
    "transactions_per_s": "transactions",
    "interrupts_per_s": "interrupts",
}


def quantity(name: str) -> Quantity:
    """Look a quantity up by a name as people write it; raises UnknownName with the nearest one."""
    key = name.strip().lower().replace("-", "_")
    found = QUANTITIES.get(OTHER_SPELLINGS.get(key, key))
    if found is None:
        raise UnknownName("quantity", name.strip(), nearest(key, (*QUANTITIES, *OTHER_SPELLINGS)))
    return found


def applies(q: Quantity, s: Scenario) -> bool:
    """Whether an answer to a scenario has this quantity at all."""
    return q.name != "transactions" or s.workload == "rr"


def evaluated(s: Scenario, knobs: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Quantities of many configurations at once.

    s: the scenario that everything else is taken from.  knobs: arrays of one length.  names: of quantities [SI].
    Returns arrays of that length.
    """
    wanted = tuple(dict.fromkeys(names))
    import numpy  # the knobs are arrays

    length = len(next(iter(knobs.values())))
    asked = replace(s, knobs={**s.knobs, **knobs})
    found = ask.answer_arrays(asked, lambda block: _columns(block, wanted))
    return {name: numpy.broadcast_to(found[name], (length,)) for name in wanted}


def elasticities(s: Scenario, name: str) -> dict[str, float]:
    """d log(quantity) / d log(cost) for every cost that its path pays, by a small step in each, all at once.

    s: a scalar scenario.  name: of a quantity.  Returns cost -> elasticity [-]; empty where the quantity is zero.
    Central differences: error of the order of the square of the step, 1e-8.
    """
    import numpy

    values = compose.parameter_values(s)
    ways = compose.scenario_ways(s)
    used = {p for chain in (ways.forward, ways.reverse) for p in compose.used_parameters(chain)}
    timers = {t.parameter for chain in (ways.forward, ways.reverse) if (t := compose.timer(s, chain)) is not None}
    costs = sorted((used | {p for p in timers if p} | {"memory_bus_bytes_s"}) & set(values))
    step = numpy.zeros((2 * len(costs), len(costs)))
    step[: len(costs)], step[len(costs) :] = numpy.eye(len(costs)) * STEP, -numpy.eye(len(costs)) * STEP
    changed: dict[str, Any] = {cost: values[cost] * numpy.exp(step[:, i]) for i, cost in enumerate(costs)}
    found = _columns(replace(s, parameters={**s.parameters, **changed}), (name,))[name]
    found = numpy.broadcast_to(found, (2 * len(costs),))
    if not bool((found > 0).all()):
        return {}
    slope = (numpy.log(found[: len(costs)]) - numpy.log(found[len(costs) :])) / (2 * STEP)
    return {cost: float(e) for cost, e in zip(costs, slope, strict=True)}


def ratio_log_sd(one: Scenario, other: Scenario, name: str) -> float:
    """Standard error of log(quantity of one / quantity of the other) for two settings of one path on one machine.

    sqrt(d C d), d the difference of the elasticities, C the covariance of the logarithms of the costs.  Costs that both
    pay alike cancel, and so does what the model is off by on the path as a whole.
    """
    mine, theirs = elasticities(one, name), elasticities(other, name)
    difference = {p: mine.get(p, 0.0) - theirs.get(p, 0.0) for p in {*mine, *theirs}}
    return math.sqrt(solver.parameter_variance(one, difference))


def _columns(s: Scenario, wanted: tuple[str, ...]) -> dict[str, Any]:
    """The wanted quantities of one block."""
    import numpy

    solved = solver.solve(s, compose.parameter_values(s))
    out = solved.outcome
    simple = solver.columns_of(s, solved)
    busy = use(out.demands_s, out.rate_per_s, solved.words, solver.spinning(solved.chains))
    host, guest = processors(busy, solved.words)
    makers: Mapping[str, Callable[[], Any]] = {
        "mean": lambda: out.latency_s,
        "throughput": lambda: out.rate_per_s * s.knobs["size"] * BITS_PER_BYTE,
        "rate": lambda: simple["rate_pps"],
        "transactions": lambda: out.rate_per_s,
        "interrupts": lambda: out.interrupts_per_s,
        "host_cpu": lambda: host,
        "guest_cpu": lambda: guest,
        "cpu": lambda: host + guest,
        "busy": lambda: numpy.max(numpy.stack(numpy.broadcast_arrays(*busy.values())), axis=0),
        "loss": lambda: out.loss,
    }
    result = {}
    for name in wanted:
        share = QUANTITIES[name].percentile
        result[name] = makers[name]() if share is None else percentile_columns(out, share)
    return result


def percentile_columns(out: Outcome, share: float) -> Any:
    """A percentile of the latency for every element, by the same law as for one scenario.

    out: an outcome of arrays.  share: 0 < p < 1 [-].  Returns a time [s]; within 1e-6 of the scalar
    answer, within 1e-4 under an offered load.
    """
    if out.time is not None:
        from vmodel.solve.curve import skewed_columns

        return skewed_columns(out.time, share)
    import numpy

    rows = evaluate.stage_rows()
    throttled = any("throttle" in part for part in out.regime)
    lock = next((r for r in reversed(out.shares) if r.stage == "moderation_wait"), None) if throttled else None
    fixed: Any = 0.0
    random: Any = 0.0
    variance: Any = 0.0
    for r in out.shares:
        if r is lock:
            continue
        scv = rows[r.stage].variability if r.stage in rows else solver.QUEUE_SCV if r.stage == "queueing" else 0.0
        if scv > 0:
            random = random + r.seconds
            variance = variance + scv * r.seconds * r.seconds
        else:
            fixed = fixed + r.seconds
    known = variance > CONSTANT * random * random
    spread, mean = numpy.where(known, variance, 1.0), numpy.where(known, random, 1.0)
    times = fixed + numpy.where(known, unit_quantile(mean * mean / spread, share) * mean, random)
    return times if lock is None else numpy.where(lock.seconds > 0, numpy.maximum(out.latency_s, times), times)


@cache
def _knots(share: float) -> Any:
    """Logarithm of quantile over mean of the gamma law at evenly spaced logarithms of the shape."""
    import numpy

    from vmodel.solve.gamma_law import gamma_quantile

    shapes = numpy.geomspace(LOWEST_SHAPE, HIGHEST_SHAPE, KNOTS)
    return numpy.log(numpy.maximum(gamma_quantile(shapes, share) / shapes, SMALLEST))


def unit_quantile(shape: Any, share: float) -> Any:
    """The share quantile of a gamma law of mean one, for many shapes, by cubic interpolation between knots.

    shape: a, array [-].  share: p [-].  Returns quantile over mean [-]; relative error below 1e-6 for shapes from 0.05.

    Source: AbramowitzStegun1964, 25.2.13 (four-point Lagrange interpolation); WilsonHilferty1931.
    """
    import numpy

    from vmodel.solve.gamma_law import normal_quantile

    knots = _knots(share)
    width = numpy.log(HIGHEST_SHAPE / LOWEST_SHAPE) / (KNOTS - 1)
    place = numpy.log(numpy.clip(shape, LOWEST_SHAPE, HIGHEST_SHAPE) / LOWEST_SHAPE) / width
    first = numpy.clip(place.astype(int) - 1, 0, KNOTS - STENCIL)
    t = place - first
    a, b, c, d = (knots[first + i] for i in range(STENCIL))
    cubic = (
        -a * (t - 1) * (t - 2) * (t - 3) / 6
        + b * t * (t - 2) * (t - 3) / 2
        - c * t * (t - 1) * (t - 3) / 2
        + d * t * (t - 1) * (t - 2) / 6
    )
    normal = numpy.maximum(shape, HIGHEST_SHAPE)  # Wilson and Hilferty: error below 1e-6 from there on
    cube = (1 - 1 / (9 * normal) + normal_quantile(share) / (3 * numpy.sqrt(normal))) ** 3
    return numpy.where(shape > HIGHEST_SHAPE, cube, numpy.exp(cubic))
