"""How long the slow ones take: percentiles of a sum of stage times.

A stage time is described by four numbers (hard lower bound, mean, variance, third central moment), which add over
independent stages. `gamma_percentile` matches two of them and is cheap enough for sweeps, `skewed_percentile` matches
three, `inverted_percentile` inverts the transform of the sum and is exact. Stages are taken as independent.
"""

import cmath
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from vmodel.solve.elementwise import Number, choose, most, over, sqrt
from vmodel.solve.gamma_law import gamma_quantile

PERCENTILES = (0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999)
EULER_TERMS, EULER_BINOMIAL = 60, 30  # AbateWhitt1995
EULER_DISCRETISATION = 23.0  # error exp(-23) = 1e-10
SEARCH_STEPS = 80
SEARCH_PRECISION = 1e-7
SEARCH_STRIDE = 1.2
NOTHING = 1e-6  # relative to the guess
CONSTANT = 1e-9  # relative variance, or skewness, below which there is none
LEAST_GUESS = 0.01  # relative to the mean

Transform = Callable[[complex], complex]


@dataclass(frozen=True, slots=True, kw_only=True)
class StageTime:
    """What is known of the distribution of one time, or of a sum of times."""

    least_s: Number  # nobody is faster
    mean_s: Number
    variance_s2: Number
    third_s3: Number  # third central moment


def constant_time(seconds: Number) -> StageTime:
    """The time of a step that always takes the same.

    least = mean = t, variance = third moment = 0.

    seconds: t [s].  Exact.

    >>> constant_time(2.0).variance_s2
    0.0

    Source: the definition.
    """
    return StageTime(least_s=seconds, mean_s=seconds, variance_s2=seconds * 0.0, third_s3=seconds * 0.0)


def gamma_time(mean_s: Number, scv: Number) -> StageTime:
    """The time of a step whose duration varies without memory of anything: gamma distributed.

    variance = c m^2, third moment = 2 c^2 m^3.

    mean_s: m [s].  scv: c [-].  Exact for gamma times; scv 0 is a constant, and then also its own lower bound.

    >>> gamma_time(1.0, 1.0).third_s3
    2.0

    Source: AbramowitzStegun1964, 26.1.32.
    """
    least = choose(scv > 0, mean_s * 0.0, mean_s)
    return StageTime(
        least_s=least,
        mean_s=mean_s,
        variance_s2=scv * mean_s * mean_s,
        third_s3=2 * scv * scv * mean_s * mean_s * mean_s,
    )


def uniform_time(longest_s: Number, share: Number) -> StageTime:
    """A wait that only some suffer and that is then uniform, as for a timer that is already running.

    mean = q h / 2;  E[W^2] = q h^2 / 3;  E[W^3] = q h^3 / 4.

    longest_s: h [s].  share: q, those who wait at all [-].  Exact.

    >>> round(uniform_time(1.0, 1.0).variance_s2 * 12, 9)
    1.0

    Source: AbramowitzStegun1964, 26.1.34.
    """
    return _from_raw(
        share * longest_s / 2, share * longest_s * longest_s / 3, share * longest_s * longest_s * longest_s / 4
    )


def _from_raw(first: Number, second: Number, third: Number) -> StageTime:
    variance = second - first * first
    skew = third - 3 * first * second + 2 * first * first * first
    return StageTime(least_s=first * 0.0, mean_s=first, variance_s2=variance, third_s3=skew)


def mg1_time(lam: Number, service_s: Number, scv: Number) -> StageTime:
    """Waiting plus service at a station with Poisson arrivals: its mean, variance and third moment.

    b_i = lam E[S^(i+1)] / ((i+1)(1-rho));  wait: mean b1, variance b1^2 + b2, third 2 b1^3 + 3 b1 b2 + b3.

    lam: arrivals [1/s].  service_s: mean service time [s].  scv: of the service time [-].
    Exact for gamma service times; infinite for rho >= 1.

    The response time of M/M/1 at load 0.8 is exponential with mean 5, variance 25:

    >>> round(mg1_time(0.8, 1.0, 1.0).variance_s2, 9)
    25.0

    Source: Takacs1962 (recursion for the moments of the wait); Kleinrock1975, section 5.7.
    """
    service = gamma_time(service_s, scv)
    spare = 1 - lam * service_s
    second = service_s * service_s * (1 + scv)
    third = second * service_s * (1 + 2 * scv)
    fourth = third * service_s * (1 + 3 * scv)
    b1, b2, b3 = (over(lam * moment, (i + 2) * spare) for i, moment in enumerate((second, third, fourth)))
    return StageTime(
        least_s=service.least_s,
        mean_s=b1 + service_s,
        variance_s2=b1 * b1 + b2 + service.variance_s2,
        third_s3=2 * b1 * b1 * b1 + 3 * b1 * b2 + b3 + service.third_s3,
    )


def scaled(time: StageTime, factor: Number) -> StageTime:
    """A time stretched by a factor."""
    return StageTime(
        least_s=time.least_s * factor,
        mean_s=time.mean_s * factor,
        variance_s2=time.variance_s2 * factor * factor,
        third_s3=time.third_s3 * factor * factor * factor,
    )


def add_times(times: Iterable[StageTime]) -> StageTime:
    """The sum of independent times: every one of the four numbers adds.

    least = sum least_i, mean = sum mean_i, variance = sum variance_i, third = sum third_i.

    times: at least one.  Exact for independent times.

    >>> add_times([constant_time(1.0), gamma_time(2.0, 1.0)]).mean_s
    3.0

    Source: AbramowitzStegun1964, 26.1 (cumulants add).
    """
    kept = list(times)
    first, rest = kept[0], kept[1:]
    return StageTime(
        least_s=sum((t.least_s for t in rest), first.least_s),
        mean_s=sum((t.mean_s for t in rest), first.mean_s),
        variance_s2=sum((t.variance_s2 for t in rest), first.variance_s2),
        third_s3=sum((t.third_s3 for t in rest), first.third_s3),
    )


def gamma_percentile(time: StageTime, p: Number) -> Number:
    """The time that a share p stays below, by the gamma law with the same mean and variance above the lower bound.

    t = least + G(a, p) v / m, a = m^2 / v, m = mean - least, v = variance.

    time: a sum of stage times [s].  p: share, 0 < p < 1 [-].  Returns a time [s]; infinite when the mean is.
    Exact for M/M/1. Largest error against `path_percentile` (loads 0.05 to 0.98, scv 0 to 4; worst for constant
    service at low load) at p50, p99, p99.9, p99.999: one station 15, 11, 29, 75 %; three 2, 6, 17, 42 %; ten 1, 3, 8,
    18 %.

    >>> round(gamma_percentile(mg1_time(0.8, 1.0, 1.0), 0.99), 3)
    23.026

    Source: two-moment matching, Tijms2003, appendix B.
    """
    above = time.mean_s - time.least_s
    random = (time.variance_s2 > CONSTANT * above * above) & (above > 0) & (time.variance_s2 < math.inf)
    spread = choose(random, time.variance_s2, 1.0)
    above = choose(random, above, 1.0)
    found = gamma_quantile(above * above / spread, p) * spread / above
    return choose(random, time.least_s + found, time.mean_s)


def skewed_percentile(time: StageTime, p: Number) -> Number:
    """The time that a share p stays below, by a shifted gamma law with the same mean, variance and third moment.

    t = shift + G(a, p) s, a = 4 v^3 / k^2, s = k / (2 v), shift = mean - a s, k = third moment; not below the lower
    bound.

    time: a sum of stage times [s].  p: share, 0 < p < 1 [-].  Returns a time [s]; infinite when the mean is.
    Exact for M/M/1. Largest error as in `gamma_percentile`: one station 23, 10, 12, 28 %; three 2, 2.5, 5, 14 %; ten
    2, 1, 2, 5 %. Better than two moments in the tail, worse at the median of one station.

    >>> round(skewed_percentile(mg1_time(0.8, 1.0, 1.0), 0.99), 3)
    23.026

    Source: translated gamma, Bowers1997, section 12.5.
    """
    variance, third = time.variance_s2, time.third_s3
    known = (abs(third) > CONSTANT * variance * sqrt(variance)) & (variance > 0) & (abs(third) < math.inf)
    v, k = choose(known, variance, 1.0), choose(known, third, 1.0)
    ratio = abs(k) / v
    shape, scale = 4 * v / (ratio * ratio), ratio / 2
    side = choose(k > 0, 1.0, -1.0)
    value = time.mean_s + side * (gamma_quantile(shape, choose(k > 0, p, 1 - p)) - shape) * scale
    return choose(known, most(value, time.least_s), gamma_percentile(time, p))


def gamma_transform(mean_s: float, scv: float) -> Transform:
    """The Laplace transform of a gamma distributed time.

    f(s) = (1 + scv m s)^(-1/scv).

    mean_s: m [s].  scv: > 0 [-]; a constant time has no business in an inversion, see `path_percentile`.  Exact.

    >>> abs(gamma_transform(2.0, 1.0)(1j) - 1 / (1 + 2j)) < 1e-12
    True

    Source: AbramowitzStegun1964, 26.1.32.
    """

    def service(s: complex) -> complex:
        return cmath.exp(-cmath.log(1 + scv * mean_s * s) / scv)

    return service


def wait_transform(lam: float, service_s: float, scv: float, stretch: float = 1.0) -> Transform:
    """The Laplace transform of the wait at a station with Poisson arrivals and gamma (or constant) service.

    w(s) = (1-rho) s / (s - lam + lam B(s)),  B the transform of the service time;  stretched by f it is w(f s).

    lam: arrivals [1/s].  service_s: mean service time [s].  scv: of the service time [-].  stretch: f [-].  Valid for
    rho < 1.  Exact.

    >>> abs(wait_transform(0.5, 1.0, 1.0)(1j) * gamma_transform(1.0, 1.0)(1j) - 0.5 / (0.5 + 1j)) < 1e-12
    True

    Source: Kleinrock1975, equation 5.105.
    """
    spare = 1 - lam * service_s
    gamma = gamma_transform(service_s, scv) if scv > 0 else None

    def wait(s: complex) -> complex:
        s *= stretch
        service = gamma(s) if gamma else cmath.exp(-service_s * s)
        return spare * s / (s - lam + lam * service)

    return wait


def tail_share(transform: Transform, t: float) -> float:
    """The share that takes longer than t, by numerical inversion of the transform of a time.

    P(T > t) = inverse Laplace transform of (1 - f(s)) / s at t: Fourier series with Euler summation.

    transform: f.  t: > 0 [s].  Returns a share [-].  Error 1e-9 for smooth laws, 1e-4 at
    kinks; constants belong out of f, into t.

    >>> round(tail_share(lambda s: 1 / (1 + s), 3.0), 7) == round(math.exp(-3.0), 7)
    True

    Source: AbateWhitt1995.
    """
    half = EULER_DISCRETISATION / 2

    def term(k: int) -> float:
        s = complex(half, k * math.pi) / t
        return float(((1 - transform(s)) / s).real)

    total = term(0) / 2
    partial = []
    for k in range(1, EULER_TERMS + EULER_BINOMIAL + 1):
        total += -term(k) if k % 2 else term(k)
        if k >= EULER_TERMS:
            partial.append(total)
    weights = [math.comb(EULER_BINOMIAL, j) for j in range(EULER_BINOMIAL + 1)]
    mean = sum(w * x for w, x in zip(weights, partial, strict=True)) / 2**EULER_BINOMIAL
    return float(min(max(mean * math.exp(half) / t, 0.0), 1.0))


def inverted_percentile(transforms: Sequence[Transform], guess_s: float, p: float) -> float:
    """The time that a share p stays below, for a sum of independent times with known transforms.

    P(T > t) = 1 - p with the transform of T the product of the parts; regula falsi and bisection on the logarithm.

    transforms: of the random parts.  guess_s: a time of the right order [s].  p: share [-].  Returns a time [s]; zero
    when more than a share p takes no time at all.  Relative error below 1e-5 up to p = 0.99999, below 2e-3 when a
    service is constant (kinks); constant times are added after.

    >>> response = [wait_transform(0.8, 1.0, 1.0), gamma_transform(1.0, 1.0)]
    >>> round(inverted_percentile(response, 1.0, 0.99), 3)
    23.026

    Source: AbateWhitt1995.
    """

    def product(s: complex) -> complex:
        value = complex(1)
        for part in transforms:
            value *= part(s)
        return value

    def gap(t: float) -> float:
        return math.log(max(tail_share(product, t), math.ulp(0.0))) - math.log1p(-p)

    low = high = guess_s
    while (at_high := gap(high)) > 0:
        high *= SEARCH_STRIDE
    while (at_low := gap(low)) < 0:
        low /= SEARCH_STRIDE
        if low < NOTHING * guess_s:
            return 0.0
    for step in range(SEARCH_STEPS):
        if high - low <= SEARCH_PRECISION * high:
            break
        middle = low + (high - low) * at_low / (at_low - at_high) if step % 2 else (low + high) / 2
        at_middle = gap(middle)
        if at_middle > 0:
            low, at_low = middle, at_middle
        else:
            high, at_high = middle, at_middle
    return (low + high) / 2


def path_percentile(
    lam: float,
    stations: Sequence[tuple[float, float]],
    constant_s: float,
    p: float,
    *,
    stretch: Sequence[float] | None = None,
) -> float:
    """The latency that a share p stays below on a path of stations that all carry the same flow.

    Sum of waits and services of M/G/1 stations, by inversion; constant services and delays are set apart and added.

    lam: arrivals [1/s].  stations: mean service time [s] and scv [-] of each.  constant_s: delays [s].  p: share [-].
    stretch: a factor on each wait, as `tandem_percentile` derives it [-].  Returns a time [s]; infinite when a
    station is overloaded.  Exact for one station, and for exponential services; else the departures of a station are
    not quite Poisson (p99 61 % too long for three constant services of load 0.8, within 16 % for scv from 0.25):
    `tandem_percentile` corrects for that.

    >>> round(path_percentile(0.8, [(1.0, 1.0)], 2.0, 0.99), 3)
    25.026

    Source: AbateWhitt1995; Kleinrock1975, section 5.7.
    """
    if any(lam * service >= 1 for service, _ in stations):
        return math.inf
    fixed = constant_s + sum(service for service, scv in stations if scv == 0)
    factors = stretch if stretch is not None else [1.0] * len(stations)
    waits = [(service, scv, f) for (service, scv), f in zip(stations, factors, strict=True) if lam * service * f > 0]
    parts = [wait_transform(lam, service, scv, f) for service, scv, f in waits]
    parts += [gamma_transform(service, scv) for service, scv in stations if service > 0 and scv > 0]
    whole = add_times([constant_time(constant_s), *(mg1_time(lam, service, scv) for service, scv in stations)])
    guess = max(gamma_percentile(whole, p) - fixed, whole.mean_s * LEAST_GUESS)
    return fixed + (inverted_percentile(parts, guess, p) if parts else 0.0)
