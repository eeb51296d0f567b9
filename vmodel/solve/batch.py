"""A worker that takes what waits as one batch: packets per batch, wait, notifications.

Packets arrive at random (Poisson). A batch of n takes fixed_s + n each_s; what arrives meanwhile is the next batch,
all of it or up to a limit. The longer the queue the cheaper a packet: that is what raises capacity under load.
"""

import math

from vmodel.solve.elementwise import Number, choose, exp, expm1, least, log1p, most, settled, sqrt
from vmodel.solve.gamma_law import normal_cdf

HALLEY_STEPS = 50
PRECISION = 1e-15
SMALLEST = 1e-300
SERIES_STEPS, SERIES_PRECISION = 2000, 1e-6
FAR = 12.0  # standard deviations above the mean batch, from where on a limit does not matter
NARROWEST = 1e-9


def lambert_w(x: Number) -> Number:
    """The number whose product with its own exponential is x (Lambert's W, upper branch).

    w exp(w) = x, by Halley's iteration from ln(1 + x) (1 - ln(1 + ln(1 + x)) / (2 + ln(1 + x))).

    x: >= 0 [-].  Returns w [-].  Relative error below 1e-14.

    >>> round(lambert_w(1.0), 10)
    0.5671432904

    Source: Corless1996, section 1 (omega constant) and equation 5.9.
    """
    ln = log1p(x)
    w = ln * (1 - log1p(ln) / (2 + ln))
    for _ in range(HALLEY_STEPS):
        excess = w - x * exp(-w)
        step = excess / (w + 1 - (w + 2) * excess / (2 * w + 2))
        w = w - step
        if settled(step / most(w, 1.0), PRECISION):
            break
    return w


def batch_capacity(fixed_s: Number, each_s: Number, most_packets: Number) -> Number:
    """The rate at which a worker saturates that takes at most so many packets at a time.

    X = 1 / (t1 + t0 / Bmax).

    fixed_s: t0 per batch [s].  each_s: t1 per packet [s].  most_packets: Bmax [-].  Returns a rate [1/s].  Exact.

    >>> batch_capacity(1.0, 0.5, 2)
    1.0

    Source: Bailey1954 (bulk service).
    """
    return 1 / (each_s + fixed_s / most_packets)


def lambert_batch_mean(lam: Number, fixed_s: Number, each_s: Number) -> Number:
    """Mean batch of a worker that takes all that waits, with the batch time taken as its mean: the one-line form.

    B = y + exp(-y), y = c + W(d exp(-c)), c = lam t0 / (1 - lam t1), d = lam t1 / (1 - lam t1), W Lambert's.

    lam: arrivals [1/s].  fixed_s: t0 per batch [s].  each_s: t1 per packet [s].  Returns packets [-]; infinite for
    lam t1 >= 1.  Exact for t1 = 0; within 6 % of `batch_mean` for t0 >= t1, half of it for t0 = t1 / 10 near
    saturation.

    >>> lambert_batch_mean(0.0, 1.0, 1.0)
    1.0

    Source: Corless1996, section 2, for the equation y = lam (t0 + t1 (y + exp(-y))).
    """
    room = most(1 - lam * each_s, PRECISION)
    c, d = lam * fixed_s / room, lam * each_s / room
    y = c + lambert_w(d * exp(-c))
    return choose(lam * each_s < 1, y + exp(-y), y * 0 + math.inf)


def empty_share(lam: Number, fixed_s: Number, each_s: Number) -> Number:
    """The share of batches after which nothing waits, so that the worker falls asleep, when it takes all that waits.

    p0 = prod_j e_j / sum_k (1 - z_k) prod_{j<k} e_j,  z_0 = 0, z_{k+1} = exp(lam t1 (z_k - 1)), e_j = exp(lam t0 (z_j
    - 1)).

    lam: arrivals [1/s].  fixed_s: t0 [s].  each_s: t1 [s].  Returns a share [-]; zero for lam t1 >= 1.
    Exact (functional equation of the batch's generating function); error below 1e-5 for lam t1 <= 0.99.

    >>> round(empty_share(1.0, 1.0, 0.0), 12) == round(math.exp(-1.0), 12)
    True

    Source: Bailey1954 for the method; derived here.
    """
    a, c = least(lam * each_s, 1 - PRECISION), lam * fixed_s
    gap: Number = a * 0 + 1.0
    product, total = gap, gap * 0
    for _ in range(SERIES_STEPS):
        total = total + product * gap
        product = product * exp(-c * gap)
        gap = -expm1(-a * gap)
        if settled(gap, SERIES_PRECISION):
            break
    rest = 2 * log1p(gap / (2 * (1 - a)))  # sum of the gaps that follow
    share = product * exp(-c * rest) / (total + product * rest)
    return choose(lam * each_s < 1, share, share * 0.0)


def batch_mean(lam: Number, fixed_s: Number, each_s: Number) -> Number:
    """Mean batch of a worker that takes all that waits.

    B = (lam t0 + p0) / (1 - lam t1), p0 = empty_share.

    lam: arrivals [1/s].  fixed_s: t0 per batch [s].  each_s: t1 per packet [s].  Returns packets [-]; one at
    vanishing load, infinite for lam t1 >= 1.  Exact.

    Without a cost per packet a batch is what comes in one batch time, at least one:

    >>> round(batch_mean(1.0, 2.0, 0.0) - math.exp(-2.0), 9)
    2.0

    Source: balance of flow.
    """
    room = 1 - lam * each_s
    safe = choose(room > 0, room, 1.0)
    return choose(room > 0, (lam * fixed_s + empty_share(lam, fixed_s, each_s)) / safe, room * 0 + math.inf)


def kick_share(lam: Number, fixed_s: Number, each_s: Number) -> Number:
    """Notifications per packet when a worker is only notified while it sleeps and takes all that waits.

    k = p0 / B.

    lam: arrivals [1/s].  fixed_s: t0 [s].  each_s: t1 [s].  Returns notifications per packet [-]; one at vanishing
    load. Exact.

    >>> kick_share(0.0, 1.0, 1.0)
    1.0

    Source: as `batch_mean`.
    """
    return empty_share(lam, fixed_s, each_s) / batch_mean(lam, fixed_s, each_s)


def _second_moment(lam: Number, fixed_s: Number, each_s: Number, batch: Number) -> Number:
    """Mean square of the batch, without a limit."""
    a, c = lam * each_s, lam * fixed_s
    return (c * c + 2 * c * a * batch + a * a * batch) / most(1 - a * a, PRECISION) + batch


def batch_wait(lam: Number, fixed_s: Number, each_s: Number) -> Number:
    """Mean wait until the worker takes the packet, when it takes all that waits.

    W = lam E[T^2] / (2 B),  E[T^2] = t0^2 + 2 t0 t1 B + t1^2 E[n^2],
    E[n^2] = B + (c^2 + 2 c a B + a^2 B) / (1 - a^2), a = lam t1, c = lam t0.

    lam: arrivals [1/s].  fixed_s: t0 [s].  each_s: t1 [s].  Returns a time [s]; infinite for lam t1 >= 1.  Exact.
    The packet is finished t0 + n t1 later, or earlier when finished ones are handed on one by one.

    >>> batch_wait(0.0, 1.0, 1.0)
    0.0

    Source: residual life, Kleinrock1975, equation 5.16; batch as `batch_mean`.
    """
    stable = lam * each_s < 1
    lam_safe = choose(stable, lam, lam * 0.0)
    batch = batch_mean(lam_safe, fixed_s, each_s)
    square = _second_moment(lam_safe, fixed_s, each_s, batch)
    time = fixed_s * fixed_s + 2 * fixed_s * each_s * batch + each_s * each_s * square
    return choose(stable, lam * time / (2 * batch), time * 0 + math.inf)


def _capped(lam: Number, fixed_s: Number, each_s: Number, cap: Number) -> tuple[Number, Number, Number, Number]:
    """Mean batch, its mean square, packets left behind and share of empty batches, below saturation."""
    a, c = lam * each_s, lam * fixed_s
    load = a + c / cap
    empty = empty_share(lam, fixed_s, each_s)
    free = batch_mean(lam, fixed_s, each_s)
    free_square = _second_moment(lam, fixed_s, each_s, free)
    deviation = most(sqrt(most(free_square - free * free, 0.0)), NARROWEST)
    z = least((cap - free) / deviation, FAR)
    below, density = normal_cdf(z), exp(-z * z / 2) / math.sqrt(2 * math.pi)
    mean_room = most(z * below + density, SMALLEST)
    unused = most(deviation * ((1 + z * z) * below + z * density) / mean_room, 1.0)  # E[Y^2] / E[Y], Y = cap - batch
    ratio = empty / (deviation * mean_room)
    room = (cap - a * cap - c) / (1 - a)
    stop = choose(cap > 1, ratio * room / (1 + ratio / (1 - a)), 1 - load)
    batch = most(least((c + stop) / (1 - a), cap), 1.0)
    square = cap * cap - 2 * cap * (cap - batch) + unused * (cap - batch)
    left = c + a * batch + stop + c * c + 2 * c * a * batch - (1 - a * a) * square
    left = most(left, 0.0) / (2 * cap * (1 - load))
    far = (z >= FAR) & (cap > 1)
    return (
        choose(far, free, batch),
        choose(far, free_square, square),
        choose(far, 0.0 * left, left),
        choose(far, empty, stop),
    )


def capped_batch_mean(lam: Number, fixed_s: Number, each_s: Number, most_packets: Number) -> Number:
    """Mean batch of a worker that takes what waits, up to a limit.

    B = (lam t0 + p0) / (1 - lam t1), p0 = p0(no limit) E[Bmax - n] / E[(Bmax - n)+], n normal with the moments
    without limit.

    lam: arrivals [1/s].  fixed_s: t0 [s].  each_s: t1 [s].  most_packets: Bmax >= 1 [-].  Returns packets [-]; Bmax
    in overload. Exact for Bmax = 1, without a limit and at saturation; against the exact chain within 2 % for Bmax >=
    16 and within 7 % below (loads 0.05 to 0.98, t1 / t0 from 0 to 10).

    >>> capped_batch_mean(5.0, 1.0, 0.5, 16.0)
    16.0

    Source: balance of flow; the normal law is ours.
    """
    stable = lam * (each_s + fixed_s / most_packets) < 1
    batch = _capped(choose(stable, lam, lam * 0.0), fixed_s, each_s, most_packets)[0]
    return choose(stable, batch, most_packets + 0.0 * batch)


def capped_kick_share(lam: Number, fixed_s: Number, each_s: Number, most_packets: Number) -> Number:
    """Notifications per packet when a worker is only notified while it sleeps and takes a limited batch.

    k = p0 / B.

    lam: arrivals [1/s].  fixed_s: t0 [s].  each_s: t1 [s].  most_packets: Bmax [-].  Returns notifications per packet
    [-]; zero in overload.  As `capped_batch_mean`; where p0 is large. Small p0 may be off by half.

    >>> capped_kick_share(0.25, 1.0, 1.0, 1.0)
    0.5

    Source: as `capped_batch_mean`.
    """
    stable = lam * (each_s + fixed_s / most_packets) < 1
    batch, _, _, stop = _capped(choose(stable, lam, lam * 0.0), fixed_s, each_s, most_packets)
    return choose(stable, stop / batch, 0.0 * batch)


def capped_batch_wait(lam: Number, fixed_s: Number, each_s: Number, most_packets: Number) -> Number:
    """Mean wait until the worker takes the packet, when it takes at most so many.

    W = (T_B L + lam E[T^2] / 2) / B, T_B = t0 + t1 Bmax, L left behind by full batches:
    L = (c + a B + p0 + c^2 + 2 c a B - (1 - a^2) E[n^2]) / (2 (Bmax - lam T_B)), a = lam t1, c = lam t0.

    lam: arrivals [1/s].  fixed_s: t0 [s].  each_s: t1 [s].  most_packets: Bmax >= 1 [-].  Returns a time [s];
    infinite at and beyond capacity.  L is an identity, E[n^2] as in `capped_batch_mean`. Exact for Bmax = 1 (M/D/1)
    and without a limit. Against the exact chain (loads 0.05 to 0.98): within 16 % for t1 <= t0, 23 % for t1 = 10 t0,
    2 % where batches are seldom full.

    >>> round(capped_batch_wait(0.8, 0.5, 0.5, 1.0), 9)
    2.0

    Source: the second moment of the chain of Bailey1954; derived here.
    """
    stable = lam * (each_s + fixed_s / most_packets) < 1
    lam_safe = choose(stable, lam, lam * 0.0)
    batch, square, left, _ = _capped(lam_safe, fixed_s, each_s, most_packets)
    time = fixed_s * fixed_s + 2 * fixed_s * each_s * batch + each_s * each_s * square
    full = fixed_s + each_s * choose(left > 0, most_packets, 1.0)
    return choose(stable, (full * left + lam_safe * time / 2) / batch, time * 0 + math.inf)


def capped_batch_ahead(lam: Number, fixed_s: Number, each_s: Number, most_packets: Number) -> Number:
    """Packets of its own batch that are handled before a packet, on average over packets.

    a = (E[n^2] / E[n] - 1) / 2.

    lam: arrivals [1/s].  fixed_s: t0 [s].  each_s: t1 [s].  most_packets: Bmax >= 1 [-].  Returns packets [-].
    As `capped_batch_mean`; (Bmax - 1) / 2 in overload.

    >>> capped_batch_ahead(0.0, 1.0, 1.0, 16.0), capped_batch_ahead(5.0, 1.0, 0.5, 16.0)
    (0.0, 7.5)

    Source: a packet finds itself in a batch of n with n times its chance, Kleinrock1975, section 5.2.
    """
    stable = lam * (each_s + fixed_s / most_packets) < 1
    batch, square, _, _ = _capped(choose(stable, lam, lam * 0.0), fixed_s, each_s, most_packets)
    ahead = least(most(square / batch - 1, 0.0), most_packets - 1.0) / 2
    return choose(stable, ahead, (most_packets - 1.0) / 2 + 0.0 * ahead)
