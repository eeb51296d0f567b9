"""Closed forms for one station with room for everybody: M/M/1, M/M/c, M/D/1, M/G/1, G/G/1, G/G/c and processor sharing.

A wait is the time before service begins, a response is wait plus service. Stations with a finite ring are in `rings`,
chains of stations in `tandem`. Every argument is a float or an array; an overloaded station waits for ever (infinity).
scv is a squared coefficient of variation: variance over squared mean, 0 constant, 1 exponential.
"""

from vmodel.solve.elementwise import Number, choose, exp, least, log1p, most, over, sqrt

KLB_EXPONENT = 2 / 3  # KraemerLangenbachBelz1976


def mm1_wait(lam: Number, service_s: Number) -> Number:
    """Mean wait before service when both arrivals and service times are random (exponential).

    W = rho S / (1 - rho), rho = lam S; infinite for rho >= 1.

    lam: arrivals [1/s].  service_s: mean service time S [s].  Returns the wait [s].  Exact.

    A barber with five customers an hour and ten minutes for each keeps them waiting 50 minutes:

    >>> round(mm1_wait(5 / 60, 10.0), 9)
    50.0

    Source: GrossHarris1998, example 2.1.
    """
    return mg1_wait(lam, service_s, 1.0)


def mm1_response_percentile(lam: Number, service_s: Number, p: Number) -> Number:
    """The response time that a share p of the customers of an M/M/1 station stays below.

    t = -S ln(1 - p) / (1 - rho); infinite for rho >= 1.

    lam: arrivals [1/s].  service_s: mean service time S [s].  p: share, 0 <= p < 1 [-].  Returns a time [s].  Exact.

    >>> round(mm1_response_percentile(0.0, 1.0, 0.9), 3)
    2.303

    Source: Kleinrock1975, section 5.8 (the response time is exponential).
    """
    return over(-service_s * log1p(-p), 1 - lam * service_s)


def erlang_b(servers: int, load: Number) -> Number:
    """Share of calls that find all servers taken when nobody may wait.

    B(0) = 1;  B(c) = a B(c-1) / (c + a B(c-1)).

    servers: c >= 0 [-].  load: offered load a = lam S >= 0 [-].  Returns a share [-].  Exact, for any service times.

    Ten servers offered 4.4612 erlang lose one call in a hundred:

    >>> round(erlang_b(10, 4.4612), 5)
    0.01

    Source: Cooper1981, appendix A (Erlang loss tables).
    """
    blocked: Number = load * 0 + 1.0
    for busy in range(1, servers + 1):
        blocked = load * blocked / (busy + load * blocked)
    return blocked


def erlang_c(servers: int, load: Number) -> Number:
    """Share of customers who must wait when all who find no free server queue up.

    C = B / (1 - rho (1 - B)), rho = a / c, B = erlang_b(c, a); one for rho >= 1.

    servers: c >= 1 [-].  load: offered load a = lam S >= 0 [-].  Returns a share [-].  Exact.

    Three servers, offered load two: four customers in nine wait.

    >>> round(erlang_c(3, 2.0) * 9, 9)
    4.0

    Source: GrossHarris1998, example 2.2.
    """
    blocked = erlang_b(servers, load)
    rho = least(load / servers, 1.0)
    return blocked / (1 - rho * (1 - blocked))


def mmc_wait(lam: Number, service_s: Number, servers: int) -> Number:
    """Mean wait in one queue that feeds several equal servers, arrivals and services exponential.

    W = C(c, a) S / (c - a), a = lam S; infinite for a >= c.

    lam: arrivals [1/s].  service_s: mean service time [s].  servers: c >= 1 [-].  Returns the wait [s].  Exact.

    An eye clinic with three doctors, six patients an hour and twenty minutes for each: 26/54 h in the clinic.

    >>> round((mmc_wait(6.0, 1 / 3, 3) + 1 / 3) * 54, 9)
    26.0

    Source: GrossHarris1998, example 2.2.
    """
    load = lam * service_s
    return over(erlang_c(servers, load) * service_s, servers - load)


def md1_wait(lam: Number, service_s: Number) -> Number:
    """Mean wait when arrivals are random and every service takes the same time: half of M/M/1.

    W = rho S / (2 (1 - rho)); infinite for rho >= 1.

    lam: arrivals [1/s].  service_s: service time [s].  Returns the wait [s].  Exact.

    >>> round(md1_wait(0.8, 1.0), 9)
    2.0

    Source: Kleinrock1975, equation 5.75.
    """
    return mg1_wait(lam, service_s, 0.0)


def mg1_wait(lam: Number, service_s: Number, scv: Number) -> Number:
    """Mean wait when arrivals are random and service times vary in any way (Pollaczek-Khinchine).

    W = rho S (1 + scv) / (2 (1 - rho)), rho = lam S; infinite for rho >= 1.

    lam: arrivals [1/s].  service_s: mean service time S [s].  scv: of the service time [-].  Returns the wait [s].
    Exact.

    The response time at load 0.8 with scv 4 is eleven services:

    >>> round(1 + mg1_wait(0.8, 1.0, 4.0), 9)
    11.0

    Source: Kleinrock1975, equation 5.72.
    """
    rho = lam * service_s
    return over(rho * service_s * (1 + scv), 2 * (1 - rho))


def mg1ps_response(lam: Number, service_s: Number) -> Number:
    """Mean response when all present share the server equally, as transfers share a bus.

    T = S / (1 - rho); infinite for rho >= 1. A transfer of size x takes x / (1 - rho).

    lam: arrivals [1/s].  service_s: mean time alone on the server [s].  Returns a time [s].  Exact for any sizes.

    >>> round(mg1ps_response(0.8, 1.0), 9)
    5.0

    Source: Kleinrock1976, equation 4.17.
    """
    return over(service_s, 1 - lam * service_s)


def kingman_wait(lam: Number, service_s: Number, scv_arrivals: Number, scv_service: Number) -> Number:
    """Approximate mean wait from the variability of arrivals and of service.

    W = (ca2 + cs2) / 2 * rho S / (1 - rho); infinite for rho >= 1.

    lam: arrivals [1/s].  service_s: mean service time S [s].  scv_arrivals, scv_service: ca2, cs2 [-].
    Returns the wait [s].  Exact for Poisson arrivals, right as rho tends to 1; too long at low load when ca2 < 1
    (deterministic arrivals at load 0.5: twice the true wait). Prefer `two_moment_wait`.

    >>> round(kingman_wait(0.5, 1.0, 1.0, 1.0), 9)
    1.0

    Source: Kingman1961.
    """
    return mg1_wait(lam, service_s, 1.0) * (scv_arrivals + scv_service) / 2


def klb_wait(lam: Number, service_s: Number, scv_arrivals: Number, scv_service: Number) -> Number:
    """Approximate mean wait with Kraemer and Langenbach-Belz's correction for regular and bursty arrivals.

    W = Kingman's W times exp(-2 (1-rho) (1-ca2)^2 / (3 rho (ca2+cs2))) for ca2 <= 1, exp(-(1-rho) (ca2-1)/(ca2+4
    cs2)) above.

    lam: arrivals [1/s].  service_s: mean service time S [s].  scv_arrivals, scv_service: ca2, cs2 [-].
    Returns the wait [s].  Exact for ca2 = 1 and in heavy traffic. Against the exact D/M/1 within 1 % from load 0.5
    up, 2 % at 0.4. For bursty arrivals (ca2 > 1) of gamma law it is up to 41 % too short at load 0.6; prefer
    `two_moment_wait` there.

    The exact D/M/1 wait at load 0.5 is 0.2550:

    >>> round(klb_wait(0.5, 1.0, 0.0, 1.0), 4)
    0.2567

    Source: KraemerLangenbachBelz1976; Whitt1983, equations 44-45.
    """
    rho = least(lam * service_s, 1.0)
    spare = 1 - rho
    regular = over(KLB_EXPONENT * spare * (1 - scv_arrivals) * (1 - scv_arrivals), rho * (scv_arrivals + scv_service))
    bursty = over(spare * (scv_arrivals - 1), scv_arrivals + 4 * scv_service)
    regular = choose(scv_arrivals < 1, regular, 0.0)
    bursty = choose(scv_arrivals > 1, bursty, 0.0)
    wait = kingman_wait(lam, service_s, scv_arrivals, scv_service)
    return wait * exp(-regular - bursty)


def two_moment_wait(lam: Number, service_s: Number, scv_arrivals: Number, scv_service: Number) -> Number:
    """Approximate mean wait from the variability of arrivals and of service: the form to use.

    W = klb_wait for ca2 < 1, kingman_wait for ca2 >= 1.

    lam: arrivals [1/s].  service_s: mean service time S [s].  scv_arrivals, scv_service: ca2, cs2 [-].
    Returns the wait [s].  Exact for ca2 = 1 and in heavy traffic. Against simulated gamma arrivals, ca2 and cs2 from
    0 to 4 (largest error where both differ): 9 % at load 0.9, 31 % at load 0.6, and below that the wait is short but
    its relative error large.

    >>> round(two_moment_wait(0.5, 1.0, 0.0, 1.0), 4)
    0.2567

    Source: Whitt1983, equations 44-45.
    """
    regular = klb_wait(lam, service_s, least(scv_arrivals, 1.0), scv_service)
    return choose(scv_arrivals < 1, regular, kingman_wait(lam, service_s, scv_arrivals, scv_service))


def marchal_wait(lam: Number, service_s: Number, scv_arrivals: Number, scv_service: Number) -> Number:
    """Approximate mean wait by Marchal's scaling of Kingman's bound.

    W = rho S (1 + cs2) / (2 (1 - rho)) * (ca2 + rho^2 cs2) / (1 + rho^2 cs2).

    lam: arrivals [1/s].  service_s: mean service time S [s].  scv_arrivals, scv_service: ca2, cs2 [-].
    Returns the wait [s].  Exact for ca2 = 1.

    >>> round(marchal_wait(0.5, 1.0, 1.0, 1.0), 9)
    1.0

    Source: Marchal1976.
    """
    rho = lam * service_s
    burst = rho * rho * scv_service
    return mg1_wait(lam, service_s, scv_service) * (scv_arrivals + burst) / (1 + burst)


def ggc_wait(lam: Number, service_s: Number, servers: int, scv_arrivals: Number, scv_service: Number) -> Number:
    """Approximate mean wait at several servers from the variability of arrivals and of service (Allen and Cunneen).

    W = W(M/M/c) (ca2 + cs2) / 2; infinite when the load reaches the number of servers.

    lam: arrivals [1/s].  service_s: mean service time [s].  servers: c [-].  scv_arrivals, scv_service: ca2, cs2 [-].
    Returns the wait [s].  Exact for M/M/c and for M/G/1; Poisson arrivals, c = 4, cs2 from 0 to 4: the tests state
    the error.

    >>> round(ggc_wait(6.0, 1 / 3, 3, 1.0, 1.0) * 54, 9) == round(mmc_wait(6.0, 1 / 3, 3) * 54, 9)
    True

    Source: Allen1990, section 5.3.4.
    """
    return mmc_wait(lam, service_s, servers) * (scv_arrivals + scv_service) / 2


def power_knee(scv: Number) -> Number:
    """The load at which an M/G/1 station gives most throughput per response time: beyond it waiting outgrows work.

    rho = 1 / (1 + sqrt((1 + scv) / 2)).

    scv: of the service time [-].  Returns a load [-].  Exact maximum of rho / T.

    One half for exponential service:

    >>> power_knee(1.0)
    0.5

    Source: Kleinrock1979.
    """
    return 1 / (1 + sqrt((1 + most(scv, 0.0)) / 2))
