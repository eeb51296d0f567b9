"""Interrupt moderation: packets per interrupt and the wait for it, when packets arrive at random.

A throttle enforces a minimum spacing between interrupts; a hold-off timer starts with the first packet, perhaps with
a cap on the frames it collects. Which of them a device has, and what it makes of a setting, is the device table's
business.
"""

from collections.abc import Iterable

from vmodel.solve.elementwise import Number, choose, exp, lgamma, log, most
from vmodel.solve.gamma_law import gamma_cdf
from vmodel.solve.tails import StageTime, uniform_time

SMALLEST = 1e-300


def throttle_batch(lam: Number, timer_s: Number) -> Number:
    """Packets per interrupt when interrupts keep a minimum distance.

    n = a + exp(-a), a = lam tau.

    lam: arrivals [1/s].  timer_s: spacing tau [s].  Returns packets [-].  Exact for Poisson arrivals; one without
    moderation.

    >>> throttle_batch(1000.0, 0.0)
    1.0

    Source: renewal argument, Ross1996, section 3.4: one cycle is tau, plus 1/lam when nothing came in it.
    """
    a = lam * timer_s
    return a + exp(-a)


def throttle_wait(lam: Number, timer_s: Number) -> Number:
    """Mean wait for the interrupt under a throttle, over all packets.

    W = (lam tau^2 / 2) / (a + exp(-a)), a = lam tau.

    lam: arrivals [1/s].  timer_s: spacing tau [s].  Returns a time [s].  Exact for Poisson arrivals; tends to tau / 2.

    >>> round(throttle_wait(1e9, 1e-3) / 1e-3, 6)
    0.5

    Source: Ross1996, section 3.4.
    """
    return lam * timer_s * timer_s / 2 / throttle_batch(lam, timer_s)


def throttle_time(lam: Number, timer_s: Number) -> StageTime:
    """The wait for the interrupt under a throttle as a distribution: none for some, uniform over the spacing for the
    rest.

    P(wait) = a / (a + exp(-a)), then uniform on (0, tau).

    lam: arrivals [1/s].  timer_s: spacing tau [s].  Exact for Poisson arrivals.

    >>> throttle_time(1e9, 1e-3).mean_s == throttle_wait(1e9, 1e-3)
    True

    Source: Ross1996, section 3.4.
    """
    return uniform_time(timer_s, lam * timer_s / throttle_batch(lam, timer_s))


def throttle_percentile(lam: Number, timer_s: Number, p: Number) -> Number:
    """The wait for the interrupt that a share p of the packets stays below, under a throttle.

    t = tau max(0, 1 - (1 - p) / q), q = a / (a + exp(-a)).

    lam: arrivals [1/s].  timer_s: spacing tau [s].  p: share [-].  Returns a time [s].  Exact for Poisson arrivals.

    >>> round(throttle_percentile(1e9, 1e-3, 0.99) / 1e-3, 6)
    0.99

    Source: Ross1996, section 3.4.
    """
    waiting = most(lam * timer_s, SMALLEST) / throttle_batch(lam, timer_s)
    return timer_s * most(1 - (1 - p) / waiting, 0.0)


def holdoff_batch(lam: Number, timer_s: Number) -> Number:
    """Packets per interrupt when a timer starts with the first packet and the interrupt comes at its end.

    n = 1 + a, a = lam tau.

    lam: arrivals [1/s].  timer_s: tau [s].  Returns packets [-].  Exact for Poisson arrivals.

    >>> holdoff_batch(1e6, 50e-6)
    51.0

    Source: Ross1996, section 3.4.
    """
    return 1 + lam * timer_s


def holdoff_wait(lam: Number, timer_s: Number) -> Number:
    """Mean wait for the interrupt under a hold-off timer: the first packet waits all of it, the others the rest.

    W = (tau + lam tau^2 / 2) / (1 + a), a = lam tau.

    lam: arrivals [1/s].  timer_s: tau [s].  Returns a time [s].  Exact for Poisson arrivals; falls from tau to tau / 2.

    >>> holdoff_wait(0.0, 50e-6)
    5e-05

    Source: Ross1996, section 3.4.
    """
    return timer_s * (1 + lam * timer_s / 2) / holdoff_batch(lam, timer_s)


def holdoff_percentile(lam: Number, timer_s: Number, p: Number) -> Number:
    """The wait for the interrupt that a share p of the packets stays below, under a hold-off timer.

    t = min(tau, tau p (1 + a) / a): uniform for a / (1 + a) of the packets, tau for the first of each interrupt.

    lam: arrivals [1/s].  timer_s: tau [s].  p: share [-].  Returns a time [s].  Exact for Poisson arrivals.

    >>> holdoff_percentile(1e6, 50e-6, 0.99)
    5e-05

    Source: Ross1996, section 3.4.
    """
    followers = lam * timer_s / holdoff_batch(lam, timer_s)
    return choose(p >= followers, timer_s, timer_s * p / most(followers, SMALLEST))


def holdoff_time(lam: Number, timer_s: Number) -> StageTime:
    """The wait for the interrupt under a hold-off timer as a distribution.

    E[W^n] = tau^n (1 + a / (n + 1)) / (1 + a).

    lam: arrivals [1/s].  timer_s: tau [s].  Exact for Poisson arrivals.

    >>> holdoff_time(0.0, 1.0).variance_s2
    0.0

    Source: Ross1996, section 3.4.
    """
    a = lam * timer_s
    first, second, third = ((1 + a / (n + 1)) / (1 + a) for n in (1, 2, 3))
    t2 = timer_s * timer_s
    return StageTime(
        least_s=timer_s * 0.0,
        mean_s=timer_s * first,
        variance_s2=t2 * (second - first * first),
        third_s3=t2 * timer_s * (third - 3 * first * second + 2 * first * first * first),
    )


def _poisson(a: Number, j: int) -> Number:
    return exp(j * log(most(a, SMALLEST)) - a - lgamma(j + 1.0))


def capped_holdoff_batch(lam: Number, timer_s: Number, frames: int) -> Number:
    """Packets per interrupt under a hold-off timer that also fires when enough frames have come.

    n = 1 + E[min(Pois(a), k - 1)] = 1 + sum_{m=1}^{k-1} P(m, a), a = lam tau.

    lam: arrivals [1/s].  timer_s: tau [s].  frames: cap k >= 1 [-].  Returns packets [-].  Exact for Poisson arrivals.

    >>> capped_holdoff_batch(1e6, 50e-6, 1)
    1.0

    Source: Ross1996, section 3.4.
    """
    a, last = lam * timer_s, frames - 1
    if last == 0:
        return 1.0 + a * 0
    collected = sum((j * _poisson(a, j) for j in range(1, last)), a * 0.0)
    return 1 + collected + last * gamma_cdf(float(last), a)


def capped_holdoff_wait(lam: Number, timer_s: Number, frames: int) -> Number:
    """Mean wait for the interrupt under a hold-off timer with a cap on the frames.

    W = (1/lam) sum_{m=0}^{k-2} (m+1) P(m+1, a) / n = (1/lam) E[M (M+1) / 2] / n, M = min(Pois(a), k - 1), n the batch.

    lam: arrivals [1/s].  timer_s: tau [s].  frames: cap k >= 1 [-].  Returns a time [s].  Exact for Poisson arrivals;
    zero for k = 1, `holdoff_wait` for a large cap.

    >>> capped_holdoff_wait(1e6, 50e-6, 1)
    0.0

    Source: Ross1996, section 3.4.
    """
    a, last = most(lam * timer_s, SMALLEST), frames - 1
    if last == 0:
        return a * 0.0
    pairs = sum(((j + 1) * _poisson(a, j - 1) for j in range(1, last)), a * 0.0) / 2
    pairs = pairs + last * (last + 1) / 2 * gamma_cdf(float(last), a) / a
    return timer_s * pairs / capped_holdoff_batch(lam, timer_s, frames)


def throttled_cycle(unmoderated_s: Number, timers_s: Iterable[Number]) -> Number:
    """The round trip of a ping-pong when throttles are in the way: it locks to the slowest timer.

    R = max(R0, tau_1, tau_2, ...).

    unmoderated_s: round trip without moderation R0 [s].  timers_s: one per throttled receiving end [s].  Returns a
    time [s]. Exact for one message in flight and constant R0.

    >>> throttled_cycle(181e-6, [488e-6, 488e-6])
    0.000488

    Source: the definition of a minimum spacing.
    """
    cycle = unmoderated_s
    for timer_s in timers_s:
        cycle = most(cycle, timer_s)
    return cycle


def held_off_cycle(unmoderated_s: Number, timers_s: Iterable[Number]) -> Number:
    """The round trip of a ping-pong when hold-off timers are in the way: each receiving end adds its own.

    R = R0 + tau_1 + tau_2 + ...

    unmoderated_s: round trip without moderation R0 [s].  timers_s: one per receiving end [s].  Returns a time [s].
    Exact for one message in flight and caps above one frame.

    >>> held_off_cycle(1.0, [0.5, 0.25])
    1.75

    Source: the definition of the timer.
    """
    return sum(timers_s, unmoderated_s)
