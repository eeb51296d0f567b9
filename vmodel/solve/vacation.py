"""A resource that serves until nobody is left, and is told of the next frame by an alarm: timer, interrupt, wake-up.

Frames that come before it serves again wait together. How many they are, Q0, decides everything: the wait is that of a
station that never sleeps, plus an independent X whose moments are those of Q0 (decomposition of queues with vacations).
Arrivals are Poisson; every argument is a float or an array.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from vmodel.solve.elementwise import Number, choose, exp, least, most, over, scalar
from vmodel.solve.gamma_law import gamma_cdf
from vmodel.solve.tails import StageTime, scaled

BINOMIALS = ((1.0,), (1.0, 1.0), (1.0, 2.0, 1.0), (1.0, 3.0, 3.0, 1.0), (1.0, 4.0, 6.0, 4.0, 1.0))
ORDERS = 4  # moments that are followed: the third of X needs the fourth of Q0
ROUNDS = 8  # a throttle's pause depends on the busy period before it
NEGLIGIBLE = 1e-9  # squared coefficient of variation of a number that does not vary
LEAST_SPARE = 1e-6  # a station without spare time is busy for ever
# Gauss and Legendre's places and weights on (0, 1), eight of them: AbramowitzStegun1964, table 25.4.
_HALVES = (
    (0.1834346424956498, 0.3626837833783620),
    (0.5255324099163290, 0.3137066458778873),
    (0.7966664774136267, 0.2223810344533745),
    (0.9602898564975363, 0.1012285362903763),
)
NODES = tuple(((1 + side * x) / 2, w / 2) for x, w in _HALVES for side in (-1, 1))
SMALLEST = 1e-300
SLOWEST_PPS = 1e-30
Moments = tuple[Number, ...]  # of orders 1 to ORDERS
SINGLES: Moments = (1.0, 0.0, 0.0, 0.0)  # frames that come one by one
NOTHING: Moments = (0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wake:
    """One cost of the alarm: its mean and scv, and how long the resource polls before it is due (0: always due)."""

    mean_s: Number
    scv: float
    window_s: Number = 0.0


def gamma_moments(mean_s: Number, scv: float) -> Moments:
    """Raw moments of a gamma distributed time.

    E[D^n] = m^n (1 + c) (1 + 2c) ... (1 + (n-1) c).

    mean_s: m [s].  scv: c [-].  Returns ORDERS moments [s^n].  Exact.

    >>> gamma_moments(2.0, 0.0)
    (2.0, 4.0, 8.0, 16.0)

    Source: AbramowitzStegun1964, 26.1.32.
    """
    found = [mean_s]
    for n in range(1, ORDERS):
        found.append(found[-1] * mean_s * (1 + n * scv))
    return tuple(found)


def added_moments(a: Moments, b: Moments) -> Moments:
    """Moments of a sum of two independent numbers: raw ones of raw ones, factorial ones of factorial ones.

    M_n = sum_j C(n, j) a_j b_{n-j}.

    >>> added_moments((1.0, 1.0, 1.0, 1.0), (1.0, 1.0, 1.0, 1.0))
    (2.0, 4.0, 8.0, 16.0)

    Source: binomial theorem; Vandermonde's identity for factorial moments.
    """
    left, right = (1.0, *a), (1.0, *b)
    return tuple(
        sum((BINOMIALS[n][j] * left[j] * right[n - j] for j in range(1, n + 1)), right[n]) for n in range(1, ORDERS + 1)
    )


def wake_moments(lam: Number, wakes: Sequence[Wake], held_s: Number) -> Moments:
    """Raw moments of all the costs of an alarm together.

    A cost is due when the resource was idle for longer than its polling window:  q = exp(-lam (w - held)+); costs with
    longer windows are due less often, and only together with those of shorter ones.

    lam: arrivals [1/s].  wakes: costs [s].  held_s: time that frames wait for the timer, in which nobody polls in vain
    [s].  Returns ORDERS moments [s^n].  Exact for gamma costs and exponential idle times.

    >>> wake_moments(1.0, [Wake(mean_s=4.0, scv=0.0)], 0.0)[0]
    4.0

    Source: exponential gaps, Ross1996, section 2.2.
    """
    always: Moments = NOTHING
    parts: list[tuple[Number, Moments]] = []
    for wake in wakes:
        moments = gamma_moments(wake.mean_s, wake.scv)
        if scalar(wake.window_s) and wake.window_s == 0:
            always = added_moments(always, moments)
        else:
            parts.append((exp(-lam * most(wake.window_s - held_s, 0.0)), moments))
    groups = [(1.0, always), *parts]
    found: list[Number] = []
    for n in range(1, ORDERS + 1):
        total: Number = 0.0
        for code in range(len(groups) ** n):  # every ordered choice of n groups
            times, rest = [0] * len(groups), code
            for _ in range(n):
                times[rest % len(groups)] = times[rest % len(groups)] + 1
                rest = rest // len(groups)
            product: Number = 1.0
            share: Number = 1.0
            for g in range(len(groups)):
                if times[g] > 0:
                    product = product * groups[g][1][times[g] - 1]
                    share = least(share, groups[g][0])
            total = total + product * share
        found.append(total)
    return tuple(found)


def counted(rate: Number, trains: Moments, time: Moments) -> Moments:
    """Factorial moments of the frames that come in a random time, when they come in trains.

    f1 = v1 t1;  f2 = v1^2 t2 + v2 t1;  f3 = v1^3 t3 + 3 v1 v2 t2 + v3 t1;  f4 = v1^4 t4 + 6 v1^2 v2 t3 +
    (3 v2^2 + 4 v1 v3) t2 + v4 t1,  v_k = rate n_k, rate that of the trains.

    rate: trains [1/s].  trains: factorial moments n_k of their frames [-].  time: raw moments t_k [s^k].  Exact for
    Poisson trains.

    >>> counted(2.0, SINGLES, (3.0, 9.0, 27.0, 81.0))[:2]
    (6.0, 36.0)

    Source: Ross1996, section 2.5 (compound Poisson); factorial cumulants.
    """
    v1, v2, v3, v4 = (rate * n for n in trains)
    t1, t2, t3, t4 = time
    return (
        v1 * t1,
        v1 * v1 * t2 + v2 * t1,
        v1 * v1 * v1 * t3 + 3 * v1 * v2 * t2 + v3 * t1,
        v1 * v1 * v1 * v1 * t4 + 6 * v1 * v1 * v2 * t3 + (3 * v2 * v2 + 4 * v1 * v3) * t2 + v4 * t1,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """How long the interrupt is held back after the resource has run empty, and the share of pauses without a frame."""

    time: Moments  # raw moments of R [s^n]
    empty: Number


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathering:
    """What frames wait for an alarm beyond the wait of a station that never sleeps, and how many wait together."""

    time: StageTime
    waiting: tuple[Number, Number]  # first two factorial moments of Q0


NO_PAUSE = Pause(time=(0.0, 0.0, 0.0, 0.0), empty=1.0)


def _pause(rate: Number, timer_s: Number, busy_s: Number, busy_s2: Number) -> Pause:
    """R = (tau - Y)+ with Y gamma distributed of this mean and variance.

    E[f(R)] = f(0) + integral of f'(r) P(Y < tau - r) over (0, tau), by Gauss and Legendre.
    """
    shape = most(busy_s * busy_s / most(busy_s2, SMALLEST), SMALLEST)
    per_s = busy_s / most(busy_s2, SMALLEST)
    raw: list[Number] = [0.0] * ORDERS
    empty: Number = 1.0
    for place, weight in NODES:
        r = timer_s * place
        left = weight * timer_s * choose(busy_s2 > 0, gamma_cdf(shape, (timer_s - r) * per_s), busy_s < timer_s - r)
        empty = empty - rate * exp(-rate * r) * left
        for n in range(ORDERS):
            raw[n] = raw[n] + (n + 1) * r**n * left
    return Pause(time=tuple(raw), empty=empty)


def throttle_pause(
    lam: Number, service_s: Number, scv: Number, *, timer_s: Number, wake: Moments, trains: Moments = SINGLES
) -> Pause:
    """How long a throttle still holds the interrupt back after a busy period.

    After an interrupt come the wake-up D and the busy period of all that wait; what is left of the interval is the
    pause R = (tau - Y)+, Y = D + busy. Who waits then is Q0, and the busy period has mean and variance of that of Q0
    frames, so that R and Q0 are found together; in the limit of many frames R = tau (1 - rho) - D.

    lam: frames [1/s].  service_s, scv: of the service [s, -].  timer_s: tau [s].  wake: moments of D [s^n].  trains:
    see `counted`.  Exact without service and wake-ups; Y is taken as gamma distributed.

    >>> round(throttle_pause(1000.0, 0.0, 0.0, timer_s=1e-3, wake=(0.0,) * 4).time[0], 12)
    0.001

    Source: renewal argument, Ross1996, section 3.4; busy period, Kleinrock1975, section 5.8.
    """
    rho = lam * service_s
    spare = most(1 - rho, LEAST_SPARE)
    each_s = service_s / spare
    each_s2 = service_s * service_s * (scv + least(rho, 1.0)) / (spare * spare * spare)
    wake_s2 = most(wake[1] - wake[0] * wake[0], 0.0)
    rate = lam / trains[0]
    mean = trains[0] + lam * most(timer_s * (1 - least(rho, 1.0)), wake[0])
    variance = mean
    for _ in range(ROUNDS):
        busy_s2 = mean * each_s2 + variance * each_s * each_s + wake_s2
        pause = _pause(rate, timer_s, wake[0] + mean * each_s, busy_s2)
        first, second = _waiting(rate, pause, wake, trains)
        mean = (mean + first) / 2
        variance = (variance + most(second + first - first * first, 0.0)) / 2
    return pause


def _waiting(rate: Number, pause: Pause, wake: Moments, trains: Moments) -> tuple[Number, Number]:
    """First two factorial moments of Q0: what comes in the pause, or else the first train after it, and in D."""
    came = counted(rate, trains, pause.time)
    first, second = (f + pause.empty * n for f, n in zip(came[:2], trains[:2], strict=True))
    more, pairs = counted(rate, trains, wake)[:2]
    return first + more, second + 2 * first * more + pairs


def gathered_wait(lam: Number, pause: Pause, wake: Moments, trains: Moments = SINGLES) -> Gathering:
    """The wait X for an alarm, and Q0, the frames that wait for it together.

    Frames that come in the pause R wait for its rest and D, those that come in D for its rest, and the first train
    after an empty pause for D:  E[X^k] E[Q0] = lam E[int_0^R (u + D)^k du] + lam E[D^{k+1}] / (k+1) + P0 n_1 E[D^k].

    lam: frames [1/s].  pause: R and P0.  wake: moments of D [s^n]; a hold-off timer is part of D.  trains: see
    `counted`.  Exact for Poisson arrivals of single frames, any service, and R and D that do not depend on who comes.

    A set-up of 4 s at one arrival in ten thousand seconds adds 4 s:

    >>> round(gathered_wait(1e-4, NO_PAUSE, (4.0, 16.0, 64.0, 256.0)).time.mean_s, 2)
    4.0

    Source: FuhrmannCooper1985, section 3; KeilsonServi1988 for the distribution.
    """
    d, r = (1.0, *wake), (1.0, *pause.time)
    alone = pause.empty * trains[0]
    waiting = lam * (r[1] + d[1]) + alone
    raw = []
    for k in range(1, ORDERS):
        paused = sum(BINOMIALS[k][j] * d[k - j] * r[j + 1] / (j + 1) for j in range(k + 1))
        raw.append((lam * (paused + d[k + 1] / (k + 1)) + alone * d[k]) / waiting)
    return Gathering(time=_time(*raw), waiting=_waiting(lam / trains[0], pause, wake, trains))


def _time(first: Number, second: Number, third: Number) -> StageTime:
    """A time with these raw moments."""
    return StageTime(
        least_s=0.0 * first,
        mean_s=first,
        variance_s2=most(second - first * first, 0.0),
        third_s3=third - 3 * first * second + 2 * first * first * first,
    )


def capped_gathered(lam: Number, timer_s: Number, frames: int) -> tuple[Number, Number]:
    """First two factorial moments of the frames that a hold-off timer gathers which enough frames end early.

    A = min(1 + Pois(a), k), a = lam tau:  E[A(A-1)..] = a^n F(k-2-n) + n a^(n-1) F(k-1-n) + k(k-1).. (1 - F(k-2)),
    F the distribution of Pois(a).

    lam: frames [1/s].  timer_s: tau [s].  frames: k [-].  Exact for Poisson arrivals.

    >>> capped_gathered(1.0, 5.0, 1)
    (1.0, 0.0)

    Source: Ross1996, section 3.4; factorial moments of the Poisson law.
    """
    a = lam * timer_s

    def below(m: int) -> Number:
        return 1 - gamma_cdf(m + 1.0, a) if m >= 0 else a * 0.0

    k, full = float(frames), 1 - below(frames - 2)
    first = a * below(frames - 3) + below(frames - 2) + k * full
    return first, a * a * below(frames - 4) + 2 * a * below(frames - 3) + k * (k - 1) * full


def capped_wait(lam: Number, timer_s: Number, frames: int, wake: Moments) -> Gathering:
    """The wait X for a hold-off timer that enough frames end early, and Q0 = A + Pois(lam D).

    E[X] = E[Q0 (Q0-1)] / (2 lam E[Q0]); spread as that of a set-up min(tau, T) + D, T the time in which the other
    k - 1 frames come.

    lam: frames [1/s].  timer_s: tau [s].  frames: k >= 1 [-].  wake: moments of D [s^n].  The mean is exact for Poisson
    arrivals and any service; the distribution takes the end of the timer as independent of frames to come.

    >>> round(capped_wait(1e-4, 5.0, 1, (4.0, 16.0, 64.0, 256.0)).time.mean_s, 2)
    4.0

    Source: FuhrmannCooper1985, section 3.
    """
    lam = most(lam, SLOWEST_PPS)
    first, second = capped_gathered(lam, timer_s, frames)
    more, pairs = lam * wake[0], lam * lam * wake[1]
    waiting = (first + more, second + 2 * first * more + pairs)
    raw: list[Number] = [0.0] * ORDERS
    for place, weight in NODES:
        t = timer_s * place
        still = 1 - gamma_cdf(frames - 1.0, lam * t) if frames > 1 else 0.0 * t
        for n in range(ORDERS):
            raw[n] = raw[n] + (n + 1) * t**n * weight * timer_s * still
    shape = gathered_wait(lam, NO_PAUSE, added_moments(wake, tuple(raw))).time
    mean = waiting[1] / (2 * lam * waiting[0])
    stretch = choose(shape.mean_s > 0, mean / most(shape.mean_s, SMALLEST), 0.0 * mean)
    return Gathering(time=replace(scaled(shape, stretch), mean_s=mean), waiting=waiting)


def train_moments(lam: Number, service_s: Number, scv: Number, waiting: tuple[Number, Number]) -> Moments:
    """Factorial moments of the frames that leave in a row, of one busy period that Q0 frames begin.

    E[N] = E[Q0] / (1 - rho),  Var N = Var Q0 / (1 - rho)^2 + E[Q0] (rho (1 - rho) + lam^2 E[S^2]) / (1 - rho)^3; the
    higher ones as of a gamma mixture of Poisson laws.

    lam: frames [1/s].  service_s, scv: of the service [s, -].  waiting: factorial moments of Q0 [-].
    Mean and variance are exact for Poisson arrivals.

    >>> train_moments(0.5, 1.0, 0.0, (1.0, 0.0))[0]
    2.0

    Source: Kleinrock1975, section 5.9.
    """
    rho = least(lam * service_s, 1 - LEAST_SPARE)
    spare = 1 - rho
    mean = waiting[0] / spare
    variance = most(waiting[1] + waiting[0] - waiting[0] * waiting[0], 0.0) / (spare * spare)
    variance = variance + waiting[0] * (rho * spare + rho * rho * (1 + scv)) / (spare * spare * spare)
    second = most(variance + mean * mean - mean, 0.0)
    bunched = second / (mean * mean) - 1
    third = most(second * mean * (1 + 2 * bunched), 0.0)
    return mean, second, third, most(third * mean * (1 + 3 * bunched), 0.0)


def together(trains: Moments, lasts_s: Number, spaced_s: Number) -> Moments:
    """Of trains, the frames that come while an alarm lasts: the first, a share of the others, and no more than fit in.

    f = (1 + (n_1 - 1) T / (T + n_1 s)) / n_1;  m_1 = n_1 f,  m_{k+1} = min(n_{k+1} f^{k+1}, m_k T / s).

    trains: factorial moments n_k of the frames that come in a row [-].  lasts_s: T [s].  spaced_s: s, how far apart
    they come [s].  Returns factorial moments.  Exact for trains of one frame and for T without end.

    >>> together((3.0, 6.0, 6.0, 0.0), 0.0, 1.0)
    (1.0, 0.0, 0.0, 0.0)

    Source: binomial thinning, Ross1996, section 2.5; E[N (N-1)] <= E[N] max N.
    """
    others = over(lasts_s, lasts_s + trains[0] * spaced_s)
    kept = (1 + (trains[0] - 1) * least(others, 1.0)) / trains[0]
    fit = over(lasts_s, spaced_s)
    found: list[Number] = [trains[0] * kept]
    for k in range(1, ORDERS):
        found.append(least(trains[k] * kept ** (k + 1), found[-1] * fit))
    return tuple(found)


def overflow(
    lam: Number, service_s: Number, waiting: tuple[Number, Number], places: float, most_waiting: Number = math.inf
) -> tuple[Number, Number]:
    """What a ring of so many places loses while its resource is being told, and the part of Q0 that it keeps.

    L = min(E[(Q0 - K)+], (M - K)+);  loss = L / (L + (E[Q0] - L) / (1 - rho)), rho = lam S: those that are kept begin a
    busy period.

    lam: frames [1/s].  service_s: S [s].  waiting: factorial moments of Q0 [-].  places: K [-].  most_waiting: M, as
    many as can come meanwhile [-].  Returns a loss [-] and a share of Q0 [-].  Q0 is taken as gamma distributed; exact
    where it never reaches K.

    >>> overflow(0.5, 1.0, (1.0, 0.0), 256.0)
    (0.0, 1.0)

    Source: balance of one cycle; AbramowitzStegun1964, 26.1.32.
    """
    mean = waiting[0]
    variance = most(waiting[1] + mean - mean * mean, SMALLEST)
    shape, scale = mean * mean / variance, variance / mean
    certain = variance < NEGLIGIBLE * mean * mean
    shape = choose(certain, 1.0, shape)
    beyond = mean * (1 - gamma_cdf(shape + 1, places / scale)) - places * (1 - gamma_cdf(shape, places / scale))
    lost = choose(certain, most(mean - places, 0.0), most(beyond, 0.0))
    lost = least(lost, most(most_waiting - places, 0.0))
    kept = (mean - lost) / most(1 - lam * service_s, LEAST_SPARE)
    return lost / (lost + kept), 1 - lost / mean


def alarm_share(lam: Number, service_s: Number, waiting: Number) -> Number:
    """Alarms per frame: one for each busy period.

    g = (1 - rho) / E[Q0], rho = lam S; zero from rho = 1 on.

    lam: arrivals [1/s].  service_s: S [s].  waiting: E[Q0] [-].  Returns a share [-].  Exact.

    >>> alarm_share(0.5, 1.0, 1.0)
    0.5

    Source: mean busy period, Kleinrock1975, section 5.8.
    """
    return most(1 - lam * service_s, 0.0) / waiting
