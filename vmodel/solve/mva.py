"""Closed networks: a fixed number of customers goes round between stations, each for ever.

Mean value analysis exact and approximate, and the bounds that need no iteration. Demands are seconds per round at each
station, one float each or one array each; the delay is time per round that nobody waits for (think time, timers,
wires).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from vmodel.solve.elementwise import Number, choose, least, most, scalar, settled

APPROXIMATION_PRECISION = 1e-12
APPROXIMATION_STEPS = 20000


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """A closed network in steady state."""

    throughput_pps: Number
    response_s: Number  # of one round, without the delay
    residence_s: tuple[Number, ...]  # per station
    queue: tuple[Number, ...]  # mean number per station
    busy: tuple[Number, ...]  # share of time per station


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What a throughput and a response time cannot leave."""

    throughput_low_pps: Number
    throughput_high_pps: Number
    response_low_s: Number
    response_high_s: Number


def _total(values: Sequence[Number]) -> Number:
    return sum(values[1:], values[0])


def _peak(values: Sequence[Number]) -> Number:
    peak = values[0]
    for value in values[1:]:
        peak = most(peak, value)
    return peak


def exact_mva(demands_s: Sequence[Number], delay_s: Number, customers: int) -> Closed:
    """Throughput and queues of a closed network, exactly, by adding one customer after the other.

    R_k(n) = D_k (1 + Q_k(n-1));  X(n) = n / (Z + sum R_k(n));  Q_k(n) = X(n) R_k(n).

    demands_s: D_k per station [s].  delay_s: Z per round [s].  customers: n >= 1 [-].
    Exact for exponential or processor-sharing stations; one customer meets only the sum of demands.

    Three customers, 15 s of thinking, a processor and two disks:

    >>> round(exact_mva([0.605, 2.1, 1.35], 15.0, 3).throughput_pps, 3)
    0.152

    Source: Lazowska1984, section 6.4.1, algorithm 6.2; ReiserLavenberg1980.
    """
    if not all(scalar(value) for value in (*demands_s, delay_s)):
        return _exact_arrays(demands_s, delay_s, customers)
    queue: list[Number] = [0.0 * demand for demand in demands_s]
    residence, throughput = queue, 0.0
    for inside in range(1, customers + 1):
        residence = [demand * (1 + waiting) for demand, waiting in zip(demands_s, queue, strict=True)]
        throughput = inside / (delay_s + _total(residence))
        queue = [throughput * time for time in residence]
    return _closed(demands_s, throughput, residence, queue)


def _exact_arrays(demands_s: Sequence[Number], delay_s: Number, customers: int) -> Closed:
    """The same recursion over blocks of configurations that stay in cache."""
    import numpy

    table = numpy.array(numpy.broadcast_arrays(*demands_s, delay_s)[:-1], float)
    shape = table.shape[1:]
    table = table.reshape(len(table), -1)
    delay = numpy.broadcast_to(numpy.asarray(delay_s, float), shape).reshape(-1)
    residence, throughput = numpy.empty_like(table), numpy.empty(table.shape[1])
    block = 2048
    for start in range(0, table.shape[1], block):
        part = slice(start, start + block)
        demand, think = numpy.ascontiguousarray(table[:, part]), delay[part]
        queue = numpy.zeros_like(demand)
        time = numpy.zeros_like(demand)
        rate = numpy.zeros_like(think)
        for inside in range(1, customers + 1):
            numpy.add(queue, 1.0, out=time)
            numpy.multiply(time, demand, out=time)
            numpy.add.reduce(time, axis=0, out=rate)
            rate += think
            numpy.divide(inside, rate, out=rate)
            numpy.multiply(time, rate, out=queue)
        residence[:, part], throughput[part] = time, rate
    rows = [row.reshape(shape) for row in residence]
    rate = throughput.reshape(shape)
    return _closed(demands_s, rate, rows, [rate * row for row in rows])


def _closed(demands_s: Sequence[Number], rate: Number, residence: Sequence[Number], queue: Sequence[Number]) -> Closed:
    return Closed(
        throughput_pps=rate,
        response_s=_total(residence),
        residence_s=tuple(residence),
        queue=tuple(queue),
        busy=tuple(rate * demand for demand in demands_s),
    )


def _fewest(customers: Number) -> float:
    """The smallest population of an array, or the population itself."""
    return float(customers) if scalar(customers) else float(customers.min())


def approximate_mva(demands_s: Sequence[Number], delay_s: Number, customers: Number) -> Closed:
    """Throughput and queues of a closed network for any population, also large or fractional (Schweitzer and Bard).

    As `exact_mva` with Q_k(n-1) = Q_k(n) (n-1) / n, iterated until it stands.

    demands_s: D_k per station [s].  delay_s: Z per round [s].  customers: n >= 1 [-].
    Exact for one customer and in the limit of many. Throughput against exact: within 7 % over random networks of 1 to
    10 stations and 1 to 100 customers (tests); always within the asymptotic bounds.

    >>> round(approximate_mva([0.605, 2.1, 1.35], 15.0, 3).throughput_pps, 3)
    0.151

    Source: Lazowska1984, section 6.4.2; Schweitzer1979; Bard1979.
    """
    queue: list[Number] = [customers / len(demands_s) + 0.0 * demand for demand in demands_s]
    residence, rate = queue, 0.0
    for _ in range(APPROXIMATION_STEPS):
        residence = [d * (1 + q * (customers - 1) / customers) for d, q in zip(demands_s, queue, strict=True)]
        rate = customers / (delay_s + _total(residence))
        old, queue = queue, [rate * time for time in residence]
        if all(settled(a - b, APPROXIMATION_PRECISION * _fewest(customers)) for a, b in zip(old, queue, strict=True)):
            break
    return _closed(demands_s, rate, residence, queue)


def asymptotic_bounds(demands_s: Sequence[Number], delay_s: Number, customers: Number) -> Bounds:
    """Bounds on throughput and response time from the sum and the largest of the demands.

    N / (N D + Z) <= X <= min(1 / Dmax, N / (D + Z));  max(D, N Dmax - Z) <= R <= N D.

    demands_s: D_k [s].  delay_s: Z [s].  customers: N [-].  Hold for any law of the service times.

    >>> round(asymptotic_bounds([0.605, 2.1, 1.35], 15.0, 20).throughput_high_pps, 3)
    0.476

    Source: Lazowska1984, table 5.2.
    """
    total, peak = _total(demands_s), _peak(demands_s)
    return Bounds(
        throughput_low_pps=customers / (customers * total + delay_s),
        throughput_high_pps=least(1 / peak, customers / (total + delay_s)),
        response_low_s=most(total, customers * peak - delay_s),
        response_high_s=customers * total,
    )


def balanced_bounds(demands_s: Sequence[Number], delay_s: Number, customers: Number) -> Bounds:
    """Tighter bounds: no network of this total beats the balanced one, none is worse than all demand at its bottleneck.

    X >= N / (D + Z + (N-1) Dmax / (1 + Z / (N D)));  X <= min(1/Dmax, N / (D + Z + (N-1) Dave / (1 + Z / D)));  R = N
    / X - Z.

    demands_s: D_k [s].  delay_s: Z [s].  customers: N >= 1 [-].  Dave = D / stations.  Hold where `exact_mva` is exact.

    >>> limits = balanced_bounds([0.605, 2.1, 1.35], 15.0, 3)
    >>> round(limits.throughput_low_pps, 3), round(limits.throughput_high_pps, 3)
    (0.143, 0.153)

    Source: Lazowska1984, table 5.4; Zahorjan1982.
    """
    total, peak = _total(demands_s), _peak(demands_s)
    mean, others = total / len(demands_s), customers - 1
    low = customers / (total + delay_s + others * peak / (1 + delay_s / (customers * total)))
    high = least(1 / peak, customers / (total + delay_s + others * mean / (1 + delay_s / total)))
    low = least(low, high)  # equal for one customer; rounding may not part them
    return Bounds(
        throughput_low_pps=low,
        throughput_high_pps=high,
        response_low_s=customers / high - delay_s,
        response_high_s=customers / low - delay_s,
    )


def saturation_population(demands_s: Sequence[Number], delay_s: Number) -> Number:
    """The number of customers at which the two upper bounds on throughput meet: beyond it they queue.

    N* = (D + Z) / Dmax.

    demands_s: D_k [s].  delay_s: Z [s].  Returns customers [-].

    >>> round(saturation_population([0.605, 2.1, 1.35], 15.0), 2)
    9.07

    Source: Lazowska1984, section 5.2.
    """
    return (_total(demands_s) + delay_s) / _peak(demands_s)


def window_throughput(cycle_s: Number, bottleneck_s: Number, window: Number) -> Number:
    """The throughput of a pipeline with a window: one window per empty round trip, or the bottleneck.

    X = min(N / R0, 1 / Dmax).

    cycle_s: round trip of an empty pipeline R0 [s].  bottleneck_s: Dmax [s].  window: N, may be fractional [-].
    Exact for constant service times; an upper bound otherwise.

    >>> window_throughput(10.0, 1.0, 4.0)
    0.4

    Source: Kleinrock1979.
    """
    return choose(
        bottleneck_s > 0, least(window / cycle_s, 1 / choose(bottleneck_s > 0, bottleneck_s, 1.0)), window / cycle_s
    )
