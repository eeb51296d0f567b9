"""Stations with a finite ring: what is lost, what is carried, how long the accepted wait, and where loss begins.

Places count everybody inside, the one in service too. An overloaded ring has a plain answer: it carries its capacity,
loses the rest and is full. Nothing here is ever negative, infinite or undefined for positive service times.
"""

import math
from dataclasses import dataclass

from vmodel.solve.elementwise import Number, choose, exp, expm1, least, log, log1p, most
from vmodel.solve.gamma_law import gamma_cdf
from vmodel.solve.tails import StageTime

EXACT_PLACES = 24  # up to here the chain is solved state by state
BLEND = 0.01  # relative to 1 / places: half width around load one where two singularities coincide
SMALL_EXPONENT = 0.05  # below it the series of 1 / (exp(-x) - 1) is used
BISECTIONS = 60
NARROWINGS, NEWTON_STEPS = 24, 4  # bisect until Newton's steps converge
PERCENTILE_STEPS = 24
AT_THE_POLE = 1e-15  # the root is the pole of A itself to all digits: loss vanishes
SMALLEST_SCV = 1e-9  # below it a service is constant
SMALLEST_LOAD = 2.0**-26  # below it a response is one service to eight digits
KNEE_LOADS = (2.0**-20, 2.0)  # the knee is looked for between these loads


@dataclass(frozen=True, slots=True, kw_only=True)
class Ring:
    """What a station with a finite ring does with the load it is offered."""

    loss: Number  # share of arrivals turned away
    throughput_pps: Number
    number: Number  # mean number inside
    response_s: Number  # mean, of those accepted


def _ring(lam: Number, service_s: Number, loss: Number, number: Number) -> Ring:
    """The answer at a load of at least SMALLEST_LOAD; below, nobody waits and loss vanishes with it."""
    rho = lam * service_s
    solved = most(rho, SMALLEST_LOAD)
    response = service_s * most(number / (solved * (1 - loss)), 1.0)
    loss = loss * (rho / solved)
    carried = lam * (1 - loss)
    return Ring(loss=loss, throughput_pps=carried, number=carried * response, response_s=response)


def _curve(x: Number) -> Number:
    """1 / (4 sinh^2(x/2)) - 1/x^2, smooth through zero."""
    near = abs(x) < SMALL_EXPONENT
    series = -1 / 12 + x * x / 240 - x * x * x * x / 6048  # AbramowitzStegun1964, 23.1.1, differentiated
    safe = choose(near, 1.0, abs(x))
    return choose(near, series, exp(-safe) / (expm1(-safe) * expm1(-safe)) - 1 / (safe * safe))


def _excess(x: Number) -> Number:
    """1 / (exp(-x) - 1) + 1/x + 1/2, smooth through zero."""
    near = abs(x) < SMALL_EXPONENT
    series = -x / 12 + x * x * x / 720 - x * x * x * x * x / 30240  # AbramowitzStegun1964, 23.1.1
    safe = choose(near, 1.0, x)
    return choose(near, series, 1 / expm1(-safe) + 1 / safe + 1 / 2)


def mm1k(lam: Number, service_s: Number, places: Number) -> Ring:
    """Loss and delay of a ring with exponential service and Poisson arrivals.

    loss = (1-rho) rho^K / (1-rho^(K+1));  L = rho/(1-rho) - (K+1) rho^(K+1) / (1-rho^(K+1));  T = L / (lam (1-loss)).

    lam: arrivals [1/s].  service_s: mean service time [s].  places: K >= 1 [-].  Exact for every load, also one and
    above.

    At load one all states are equally likely:

    >>> ring = mm1k(1.0, 1.0, 3)
    >>> ring.loss, ring.number, ring.response_s
    (0.25, 1.5, 2.0)

    Source: GrossHarris1998, section 2.5.
    """
    x = log(most(lam * service_s, SMALLEST_LOAD))
    down = -abs(x)
    flat = down == 0
    safe = choose(flat, -1.0, down)
    share = expm1(safe) / expm1((places + 1) * safe)
    share = choose(flat, 1 / (places + 1), share)  # of the likeliest end state
    loss = choose(x > 0, share, share * exp(least(places * x, 0.0)))
    number = places / 2 + _excess(x) - (places + 1) * _excess((places + 1) * x)
    return _ring(lam, service_s, loss, number)


def mmck(lam: Number, service_s: Number, servers: int, places: int) -> Ring:
    """Loss and delay when several servers empty one ring, arrivals Poisson and service exponential.

    B(k) = a B(k-1) / (min(k, c) + a B(k-1));  L(k) = (1 - B(k)) L(k-1) + k B(k);  loss = B(K).

    lam: arrivals [1/s].  service_s: mean service time [s].  servers: c [-].  places: K >= c [-].  Exact for every load.

    Cars at three inspection stalls with room for four more, one a minute, six minutes each: 6.06 cars inside.

    >>> round(mmck(1.0, 6.0, 3, 7).number, 2)
    6.06

    Source: GrossHarris1998, example 2.6.
    """
    load = most(lam * service_s, SMALLEST_LOAD)
    loss: Number = load * 0 + 1.0
    number: Number = load * 0.0
    for inside in range(1, places + 1):
        loss = load * loss / (min(inside, servers) + load * loss)
        number = (1 - loss) * number + inside * loss
    return _ring(lam, service_s, loss, number)


def _chain(rho: Number, scv: Number, places: int) -> tuple[Number, Number]:
    """Loss and mean number from the embedded chain, by balancing the flow across each level (all terms positive)."""
    arrivals = [exp(-choose(scv > 0, log1p(rho * scv) / choose(scv > 0, scv, 1.0), rho))]
    for j in range(places - 1):
        arrivals.append(arrivals[-1] * (rho + rho * scv * j) / ((j + 1) * (1 + rho * scv)))
    beyond, rest = [], 1.0
    for share in arrivals:
        rest = rest - share
        beyond.append(most(rest, 0.0))
    states: list[Number] = [rho * 0 + 1.0]
    for j in range(places - 1):
        up = states[0] * beyond[j] + sum(states[i] * beyond[j - i + 1] for i in range(1, j + 1))
        states.append(up / arrivals[0])
    total = sum(states[1:], states[0])
    scale = 1 + rho * total
    loss = most(1 - total / scale, 0.0)
    return loss, sum((j * state for j, state in enumerate(states)), rho * 0.0) / scale + places * loss


def _decay(rho: Number, scv: Number) -> Number:
    """ln(eta), eta != 1 the other root of A(z) = z, A the transform of the arrivals during one gamma service."""
    spread = rho * scv
    bottom = log((1 + spread) / (rho * (1 + scv)))  # between the two roots
    curved = choose(scv > 0, scv, 1.0)
    flat_end = least(2 * (1 - rho) / (rho + rho * spread), 2 - 2 * log(rho))  # rho (exp(t) - 1) > t at both
    pole = log1p(1 / choose(scv > 0, rho * curved, 1.0))
    above = choose(scv > 0, least(flat_end, pole), flat_end)
    below = choose(scv > 0, -log1p(spread) / curved, -rho)
    far = choose(rho < 1, above, below)
    near = bottom
    varied = scv > 0
    counted = choose(varied, spread, 0.0)
    for step in range(NARROWINGS + NEWTON_STEPS):  # ln A is convex: from beyond the root Newton's steps stay beyond
        middle = (far + near) / 2 if step < NARROWINGS else far
        rise = expm1(middle)
        gap = choose(varied, -log1p(most(-rise * counted, -1.0)) / curved, rho * rise) - middle
        if step < NARROWINGS:
            far, near = choose(gap > 0, middle, far), choose(gap > 0, near, middle)
        else:
            slide = gap / (rho * (1 + rise) / most(1 - counted * rise, AT_THE_POLE) - 1)
            far = choose(gap < math.inf, far - slide, far)  # at the pole the root is the pole
    return far


def _two_singularities(rho: Number, scv: Number, places: Number) -> tuple[Number, Number]:
    """Loss and mean number from the poles of the chain's generating function at 1 and at eta; rho is not 1."""
    t = _decay(rho, scv)
    rise = expm1(t)
    slope = rho * (1 + rise) / most(1 - rho * scv * rise, AT_THE_POLE) - 1
    idle = exp(least((places - 1) * t, 0.0))  # both scaled by the larger
    full = exp(least((1 - places) * t, 0.0))
    spare = 1 - rho
    open_number = rho + rho * rho * (1 + scv) / (2 * spare)
    states = idle / spare - full / slope
    sums = (places - 1 - open_number) * idle / spare + full * (1 + rise) / (slope * rise)
    scale = idle + rho * states
    loss = spare * full / (slope * scale)
    return loss, ((places - 1) * states - sums) / scale + places * loss


def mg1k(lam: Number, service_s: Number, scv: Number, places: int) -> Ring:
    """Loss and delay of a ring from the mean and the variability of the service time, arrivals Poisson.

    loss = (1-rho) g / (1 - rho g), g = (1-rho) eta^(1-K) / (A'(eta) - 1), eta = A(eta) != 1, A(z) = (1 + rho scv
    (1-z))^(-1/scv).

    lam: arrivals [1/s].  service_s: mean service time [s].  scv: of the service time [-].  places: K >= 1 [-].
    Service times are taken as gamma distributed. Up to 24 places the chain is solved exactly, above the two leading
    singularities are kept: relative difference to the exact chain below 1e-3 for K = 25 and vanishing beyond. Equal
    to `mm1k` for scv = 1. For another law with the same two moments the loss may differ by half, most at low loss.

    One place is the loss system, whatever the service times:

    >>> round(mg1k(1.0, 1.0, 4.0, 1).loss, 9)
    0.5

    Source: Takagi1993, section 5.1 (embedded chain); Tijms2003, section 9.6 (proportionality); the expansion is ours.
    """
    rho = most(lam * service_s, SMALLEST_LOAD)
    scv = choose(scv > SMALLEST_SCV, scv, scv * 0.0)
    if places <= EXACT_PLACES:
        loss, number = _chain(rho, scv, places)
    else:
        width = BLEND / places
        close = abs(rho - 1) < width
        low = _two_singularities(choose(close, 1 - width, rho), scv, places)
        high = _two_singularities(choose(close, 1 + width, rho), scv, places)
        share = choose(close, (rho - 1 + width) / (2 * width), 0.0)
        loss, number = (a + (b - a) * share for a, b in zip(low, high, strict=True))
    return _ring(lam, service_s, loss, number)


def ring_time(lam: Number, service_s: Number, scv: Number, places: int) -> StageTime:
    """The response time of those that a ring accepts, as a distribution for percentiles.

    mean = T of `mg1k`;  variance = (v + c n) S^2, v the variance of a geometric number of ratio 1 / eta cut at K - 1,
    n = T / S.

    lam: arrivals [1/s].  service_s: mean service time S [s].  scv: c [-].  places: K [-].
    The variance is exact for scv = 1, else takes the remaining service of the one in service as a whole one; the
    tests state the error of the percentiles. In overload: K services, less the part already done.

    >>> round(ring_time(0.0, 1.0, 1.0, 4).variance_s2, 6)
    1.0

    Source: GrossHarris1998, section 2.5 (waiting times of accepted customers).
    """
    return timed_ring(lam, service_s, scv, places)[1]


def timed_ring(lam: Number, service_s: Number, scv: Number, places: int) -> tuple[Ring, StageTime]:
    """Both answers of a ring at once: `mg1k` and `ring_time`.

    As there.

    lam: arrivals [1/s].  service_s: mean service time [s].  scv: [-].  places: K [-].  As `mg1k` and `ring_time`.

    >>> ring, time = timed_ring(0.5, 1.0, 1.0, 4)
    >>> ring.response_s == time.mean_s
    True

    Source: as `mg1k` and `ring_time`.
    """
    ring = mg1k(lam, service_s, scv, places)
    decay = _rate_of_fall(lam, service_s, scv, places)[1]
    found = most(_curve(decay) - places * places * _curve(places * decay), 0.0)
    inside = ring.response_s / service_s
    variance = (found + scv * inside) * service_s * service_s
    return ring, StageTime(
        least_s=choose(scv > 0, 0.0 * variance, service_s),
        mean_s=ring.response_s,
        variance_s2=variance,
        third_s3=2 * variance * variance / ring.response_s,
    )


def ring_percentile(lam: float, service_s: float, scv: float, places: int, p: float) -> float:
    """The response time that a share p of those accepted by a ring stays below.

    P(T <= t) = sum_j q_j G(t; m_j, v_j), q_j the chance to find j inside: geometric of ratio 1 / eta, cut at K - 1;
    G gamma, m_0 = S, v_0 = c S^2, else m_j = (j + (1+c)/2) S, v_j = (j c + (1+c)(1+2c)/3 - (1+c)^2/4) S^2.

    lam: arrivals [1/s].  service_s: mean service time S [s].  scv: c [-].  places: K [-].  p: share, 0 < p < 1 [-].
    Returns a time [s].  Exact for scv = 1; p99 against simulation within 5 % for scv up to 1, 12 % for scv 4 (tests).

    One place: the service time itself.

    >>> round(ring_percentile(0.5, 1.0, 1.0, 1, 0.99), 3) == round(-math.log(0.01), 3)
    True

    Source: GrossHarris1998, section 2.5 (waiting times of accepted customers); Kleinrock1975, section 5.2 (residual
    service).
    """
    ring = mg1k(lam, service_s, scv, places)
    rho, decay = _rate_of_fall(lam, service_s, scv, places)
    idle = 1 - rho * (1 - ring.loss)
    found = [math.exp(min(-decay * j, 0.0) if decay > 0 else decay * (places - 1 - j)) for j in range(1, places)]
    scale = (1 - ring.loss - idle) / sum(found) if found else 0.0
    residual = (1 + scv) * (1 + 2 * scv) / 3 - (1 + scv) * (1 + scv) / 4
    parts = [(idle, 1.0, scv)]
    parts += [(scale * share, j + (1 + scv) / 2, j * scv + residual) for j, share in enumerate(found, start=1)]
    wanted = float(p * (1 - ring.loss))

    def excess(t: float) -> float:
        below: float = sum(q * _gamma_share(t, mean, variance) for q, mean, variance in parts if q > 0)
        return below - wanted

    low, high = 0.0, 1.0
    while excess(high) < 0:
        low, high = high, 2 * high
    for _ in range(PERCENTILE_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if excess(middle) > 0 else (middle, high)
    return service_s * (low + high) / 2


def _gamma_share(t: float, mean: float, variance: float) -> float:
    if variance <= 0:
        return float(t >= mean)
    return float(gamma_cdf(mean * mean / variance, t * mean / variance))


def _rate_of_fall(lam: Number, service_s: Number, scv: Number, places: int) -> tuple[Number, Number]:
    """The load, and ln(eta): how fast the chance to find one more inside falls, continued through load one."""
    rho = most(lam * service_s, SMALLEST_LOAD)
    scv = choose(scv > SMALLEST_SCV, scv, scv * 0.0)
    close = abs(rho - 1) < BLEND / places
    return rho, choose(close, 2 * (1 - rho) / (1 + scv), _decay(choose(close, 2.0, rho), scv))


def diffusion_loss(rho: Number, scv: Number, places: Number) -> Number:
    """Loss of a ring by the one-line two-moment formula of the literature, for comparison and for formula sheets.

    loss = rho^((r scv - r + 2K) / (2 + r scv - r)) (rho - 1) / (rho^(2 (r scv - r + K + 1) / (2 + r scv - r)) - 1), r
    = sqrt(rho).

    rho: offered load [-].  scv: of the service time [-].  places: K [-].  Returns a share [-].
    Exact for scv = 1; within a factor 1.5 of the gamma chain for scv from 0 to 4 where the loss is above 1e-4. Prefer
    `mg1k`.

    >>> round(diffusion_loss(0.5, 1.0, 3) * 15, 9)
    1.0

    Source: MacGregorSmith2004.
    """
    x = log(most(rho, math.ulp(0.0)))
    root = exp(x / 2)
    spread = root * scv - root
    top = (spread + 2 * places) / (2 + spread)
    bottom = 2 * (spread + places + 1) / (2 + spread)
    flat = x == 0
    safe = choose(flat, 1.0, x)
    grow = choose(safe > 0, safe, 0.0)
    value = exp(top * (safe - grow)) * expm1(safe) * exp((top - bottom) * grow)
    value = value / choose(safe > 0, -expm1(-bottom * safe), expm1(bottom * least(safe, 0.0) + 0.0 * safe))
    return choose(flat, 1 / bottom, value)


def loss_knee(service_s: Number, scv: Number, places: int, loss: Number) -> Number:
    """The largest rate that a ring takes without losing more than a given share.

    The lam that solves mg1k(lam, service_s, scv, places).loss = loss.

    service_s: mean service time [s].  scv: of the service time [-].  places: [-].  loss: share, 0 < loss < 0.5 [-].
    Returns a rate [1/s].  Bisection on `mg1k`, exact to nine digits.

    >>> round(loss_knee(1.0, 1.0, 3, 1 / 15), 6)
    0.5

    Source: the definition of a no-loss rate, RFC2544, section 26.1, with a share in place of none.
    """
    low, high = service_s * 0 + KNEE_LOADS[0], service_s * 0 + KNEE_LOADS[1]
    for _ in range(BISECTIONS // 2):
        middle = (low + high) / 2
        fits = mg1k(middle / service_s, service_s, scv, places).loss <= loss
        low, high = choose(fits, middle, low), choose(fits, high, middle)
    return (low + high) / (2 * service_s)
