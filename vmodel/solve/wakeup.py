"""A server that falls asleep when it is idle: what waking it adds, and what polling instead costs.

Arrivals are Poisson. Batches of a worker are in `batch`.
"""

from vmodel.solve.elementwise import Number, exp, least, most, over
from vmodel.solve.tails import StageTime

SMALLEST = 1e-300


def setup_response(lam: Number, service_s: Number, scv: Number, setup_s: Number, setup_scv: Number) -> Number:
    """Mean response of a station that must wake up first whenever it was idle.

    T = S + lam E[S^2] / (2 (1 - rho)) + (2 E[D] + lam E[D^2]) / (2 (1 + lam E[D])); infinite for rho >= 1.

    lam: arrivals [1/s].  service_s, scv: mean and scv of the service [s, -].  setup_s, setup_scv: of the set-up D [s,
    -]. Returns a time [s].  Exact for Poisson arrivals. Tends to S + D at vanishing load, and to half a D more than
    M/G/1 at full.

    >>> setup_response(0.0, 1.0, 1.0, 4.0, 0.0)
    5.0

    Source: Welch1964; Takagi1991, section 2.2.
    """
    wait = over(lam * service_s * service_s * (1 + scv), 2 * (1 - lam * service_s))
    second = setup_s * setup_s * (1 + setup_scv)
    return service_s + wait + (2 * setup_s + lam * second) / (2 * (1 + lam * setup_s))


def setup_time(lam: Number, setup_s: Number, setup_scv: Number, window_s: Number) -> StageTime:
    """What a polling, sleeping server adds to the M/G/1 response, as a distribution: the two are independent.

    E[V^n] = ((n+1) E[D'^n] + lam E[D'^(n+1)]) / ((n+1) (1 + lam E[D'])), E[D'^n] = exp(-lam w) E[D^n].

    lam: arrivals [1/s].  setup_s, setup_scv: of the set-up D, taken as gamma [s, -].  window_s: polling window w [s].
    Exact for Poisson arrivals.

    >>> setup_time(0.0, 4.0, 0.0, 0.0).mean_s
    4.0

    Source: Takagi1991, section 2.2 (decomposition).
    """
    moments = [wake_share(lam, window_s) * setup_s]
    for n in (1, 2, 3):
        moments.append(moments[-1] * setup_s * (1 + n * setup_scv))
    first, second, third = (
        ((n + 1) * moments[n - 1] + lam * moments[n]) / ((n + 1) * (1 + lam * moments[0])) for n in (1, 2, 3)
    )
    return StageTime(
        least_s=first * 0.0,
        mean_s=first,
        variance_s2=most(second - first * first, 0.0),
        third_s3=third - 3 * first * second + 2 * first * first * first,
    )


def wake_share(lam: Number, window_s: Number) -> Number:
    """The share of idle periods that outlast a polling window, so that a wake-up is due.

    q = exp(-lam w).

    lam: arrivals [1/s].  window_s: w [s].  Returns a share [-].  Exact for Poisson arrivals.

    >>> wake_share(1000.0, 0.0)
    1.0

    Source: exponential gaps, Ross1996, section 2.2.
    """
    return exp(-lam * window_s)


def polled_setup(lam: Number, setup_s: Number, setup_scv: Number, window_s: Number) -> tuple[Number, Number]:
    """Mean and scv of the set-up of a worker that polls for a while before it sleeps, for `setup_response`.

    D' = D with probability q = exp(-lam w), else zero:  E[D'] = q E[D],  scv' = (1 + scv) / q - 1.

    lam: arrivals [1/s].  setup_s, setup_scv: of the wake-up D [s, -].  window_s: polling window w [s].  Exact.

    >>> polled_setup(1000.0, 5e-6, 0.0, 0.0)
    (5e-06, 0.0)

    Source: mixture of D and zero; `wake_share`.
    """
    share = most(wake_share(lam, window_s), SMALLEST)
    return share * setup_s, (1 + setup_scv) / share - 1


def polling_share(gap_s: Number, window_s: Number) -> Number:
    """The share of an idle gap that a polling worker burns before it gives up.

    f = min(g, w) / g.

    gap_s: g > 0 [s].  window_s: polling window w [s].  Returns a share [-].  Exact for a constant gap.

    >>> polling_share(100.0, 25.0)
    0.25

    Source: the definition of the window.
    """
    return least(gap_s, window_s) / gap_s


def random_polling_share(lam: Number, window_s: Number) -> Number:
    """The share of idle time that a polling worker burns when gaps are random.

    f = E[min(G, w)] / E[G] = 1 - exp(-lam w).

    lam: arrivals [1/s].  window_s: polling window w [s].  Returns a share [-].  Exact for Poisson arrivals.

    >>> random_polling_share(1000.0, 0.0)
    0.0

    Source: as `wake_share`.
    """
    return 1 - wake_share(lam, window_s)
