"""Many queues: how unevenly flows fall on them, and how much the queues slow each other down."""

import math

from vmodel.solve.elementwise import Number, most, sqrt

EXACT_FLOWS = 24  # up to here the sum is convolved
WINDOW = 12  # standard deviations beyond which a Poisson number does not matter
NEGLIGIBLE = 1e-12


def usl_speedup(queues: Number, contention: Number, coherency: Number) -> Number:
    """How many times the throughput of one queue several give, when they share something and must keep it coherent.

    C = N / (1 + sigma (N - 1) + kappa N (N - 1)).

    queues: N >= 1 [-].  contention: sigma [-].  coherency: kappa [-].  Returns a factor [-].  Falls beyond `usl_peak`.

    >>> usl_speedup(4, 0.0, 0.0)
    4.0

    Source: Gunther2007, equation 4.31.
    """
    return queues / (1 + contention * (queues - 1) + coherency * queues * (queues - 1))


def usl_peak(contention: Number, coherency: Number) -> Number:
    """The number of queues that gives the highest throughput.

    N* = sqrt((1 - sigma) / kappa).

    contention: sigma <= 1 [-].  coherency: kappa > 0 [-].  Returns queues [-], not rounded.

    >>> round(usl_peak(0.02, 0.0005))
    44

    Source: Gunther2007, equation 4.33.
    """
    return sqrt(most(1 - contention, 0.0) / coherency)


def largest_share(flows: int, queues: int) -> float:
    """The share of the flows that the busiest queue gets when a hash spreads them.

    E[max] / f = sum_m (1 - P(max <= m)) / f,  P(max <= m) = F(m)^q P(S = f) / Pois(f; f),  F and S from Poisson
    numbers of mean f / q, S the sum of q of them cut at m.

    flows: f >= 1, equally busy [-].  queues: q >= 1 [-].  Returns a share [-], between 1 / q and 1.
    Exact up to 24 flows; above, P(S = f) is an Edgeworth expansion: relative error below 1e-3.

    Two flows on two queues: as often together as apart.

    >>> round(largest_share(2, 2), 9)
    0.75

    Source: Levin1981.
    """
    if queues == 1:
        return 1.0
    even = flows / queues
    log_total = flows * math.log(flows) - flows - math.lgamma(flows + 1)
    reach = WINDOW * (1 + math.sqrt(even))
    first = math.ceil(even)
    expected = float(first)
    weights: list[float] = []
    sums = [0.0] * 5  # of the powers of the distance from the mean
    start = max(0, math.floor(even - reach))
    for cap in range(start, min(flows, math.ceil(even + reach))):
        weights.append(math.exp(cap * math.log(even) - even - math.lgamma(cap + 1)))
        sums = [total + weights[-1] * (cap - even) ** n for n, total in enumerate(sums)]
        if cap < first:
            continue
        if flows <= EXACT_FLOWS:
            together = _sum_mass([weight / sums[0] for weight in weights], queues, flows)
        else:
            together = _edgeworth([total / sums[0] for total in sums], queues)
        missing = 1 - min(math.exp(queues * math.log(sums[0]) - log_total) * together, 1.0)
        expected += missing
        if missing < NEGLIGIBLE:
            break
    return expected / flows


def _sum_mass(masses: list[float], count: int, total: int) -> float:
    """The chance that independent numbers of one law add up to a total, by adding one after the other."""
    sums = [1.0] + [0.0] * total
    for _ in range(count):
        sums = [sum(m * sums[n - i] for i, m in enumerate(masses[: n + 1])) for n in range(total + 1)]
    return sums[total]


def _edgeworth(raw: list[float], count: int) -> float:
    """The same from the moments about total / count: normal with skewness and kurtosis (Levin1981, equation 2)."""
    mean = raw[1]
    second = raw[2] - mean * mean
    third = raw[3] - 3 * mean * raw[2] + 2 * mean**3
    fourth = raw[4] - 4 * mean * raw[3] + 6 * mean * mean * raw[2] - 3 * mean**4
    deviation = math.sqrt(count * second)
    x = -count * mean / deviation
    skew = third / (second * math.sqrt(second * count))
    flat = (fourth / (second * second) - 3) / count
    hermite3, hermite4 = x**3 - 3 * x, x**4 - 6 * x**2 + 3
    hermite6 = x**6 - 15 * x**4 + 45 * x**2 - 15
    series = 1 + skew * hermite3 / 6 + flat * hermite4 / 24 + skew * skew * hermite6 / 72
    return max(series, 0.0) * math.exp(-x * x / 2) / (math.sqrt(2 * math.pi) * deviation)


def hot_queue_load(load: Number, queues: int, flows: int) -> Number:
    """The load of the busiest of several queues, when their loads would be equal under an even spread.

    rho_max = rho q s, s the largest share.

    load: mean load per queue rho [-].  queues: q [-].  flows: f [-].  Returns a load [-], may exceed one.
    As `largest_share`.

    >>> round(hot_queue_load(0.5, 2, 2), 9)
    0.75

    Source: Levin1981.
    """
    return load * queues * largest_share(flows, queues)
