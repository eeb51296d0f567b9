"""Chains of stations: how irregular the traffic is that one station hands to the next, and what each then waits.

Two-moment decomposition: every flow is a rate and a squared coefficient of variation of its gaps.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from vmodel.solve.elementwise import Number, least, most, over, sqrt
from vmodel.solve.queues import ggc_wait, mg1_wait, two_moment_wait
from vmodel.solve.tails import path_percentile

SERVICE_FLOOR = 0.2  # Whitt1983, equation 39
MERGE_WEIGHT = 4.0  # Whitt1983, equation 29


@dataclass(frozen=True, slots=True, kw_only=True)
class Station:
    """One station of a chain."""

    service_s: Number
    scv: Number  # of the service time
    servers: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One station of a chain under load."""

    busy: Number  # share of time per server, may exceed 1
    scv_arrivals: Number
    wait_s: Number
    response_s: Number


def departure_scv(rho: Number, scv_arrivals: Number, scv_service: Number, servers: int) -> Number:
    """How irregular the departures of a station are.

    c_d^2 = 1 + (1 - rho^2)(ca2 - 1) + rho^2 (max(cs2, 0.2) - 1) / sqrt(m);  for one server  rho^2 cs2 + (1 - rho^2)
    ca2.

    rho: busy share, taken as one at most [-].  scv_arrivals, scv_service: ca2, cs2 [-].  servers: m [-].  Returns an
    scv [-]. Exact for M/M/m; approximate otherwise. The floor of 0.2 is used for several servers only.

    >>> departure_scv(0.5, 1.0, 1.0, 1)
    1.0

    Source: Whitt1983, equations 38-39.
    """
    rho = least(rho, 1.0)
    square = rho * rho
    service = most(scv_service, SERVICE_FLOOR) if servers > 1 else scv_service
    return 1 + (1 - square) * (scv_arrivals - 1) + square * (service - 1) / sqrt(float(servers))


def split_scv(scv: Number, share: Number) -> Number:
    """How irregular a flow is of which only a share is taken at random.

    c^2 = p scv + 1 - p.

    scv: of the whole flow [-].  share: p [-].  Returns an scv [-].  Exact for renewal flows.

    >>> split_scv(4.0, 0.5)
    2.5

    Source: Whitt1983, equation 36.
    """
    return share * scv + 1 - share


def merged_scv(rates: Sequence[Number], scvs: Sequence[Number], rho: Number) -> Number:
    """How irregular several flows together are, seen by a station of a given load.

    c^2 = w sum(p_i c_i^2) + 1 - w,  w = 1 / (1 + 4 (1-rho)^2 (v - 1)),  v = 1 / sum p_i^2,  p_i the share of flow i.

    rates: of each flow [1/s].  scvs: of each flow [-].  rho: load of the station they meet at [-].  Returns an scv [-].
    Exact for one flow and for Poisson flows.

    >>> merged_scv([1.0], [3.0], 0.5)
    3.0

    Source: Whitt1983, equations 29-33.
    """
    total = sum(rates[1:], rates[0])
    shares = [rate / total for rate in rates]
    flows = 1 / sum(share * share for share in shares)
    idle = 1 - least(rho, 1.0)
    weight = 1 / (1 + MERGE_WEIGHT * idle * idle * (flows - 1))
    return weight * sum(share * scv for share, scv in zip(shares, scvs, strict=True)) + 1 - weight


def tandem(lam: Number, scv_arrivals: Number, stations: Sequence[Station]) -> list[Passage]:
    """Waits along a chain of stations, each fed by the departures of the one before.

    ca2 of station k: c_j+1 = c_j + h (departure_scv(j) - c_j) over the stations j before it, h = min(1, (1-rho_k) /
    (1-rho_j)); W by `two_moment_wait`, for several servers by `ggc_wait`.

    lam: arrivals [1/s].  scv_arrivals: of the gaps at the first station [-].  stations: in order.
    Exact for Poisson arrivals and exponential service (any number of servers). h is ours: without it (h = 1) a busy
    station behind lighter ones is taken for too quiet by a third. Mean response against simulation, Poisson arrivals,
    scv 0 to 4, loads 0.2 to 0.9: within 6 %, rows of equal loads within 15 %. An overloaded station waits for ever
    and hands on its capacity.

    Ten exponential stations loaded 0.5 to 0.9 are ten M/M/1 queues, the sum of rho / (1 - rho) customers:

    >>> chain = [Station(service_s=0.5 + 0.4 * i / 9, scv=1.0) for i in range(10)]
    >>> round(sum(stage.response_s for stage in tandem(1.0, 1.0, chain)), 3)
    32.561

    Source: Whitt1983; SureshWhitt1990 for the effect that h corrects.
    """
    passages: list[Passage] = []
    before: list[tuple[Number, Station]] = []
    for station in stations:
        busy = lam * station.service_s / station.servers
        scv = scv_arrivals
        for load, earlier in before:
            change = departure_scv(load, scv, earlier.scv, earlier.servers) - scv
            scv = scv + change * least(over(most(1 - busy, 0.0), 1 - load), 1.0)
        if station.servers == 1:
            wait = two_moment_wait(lam, station.service_s, scv, station.scv)
        else:
            wait = ggc_wait(lam, station.service_s, station.servers, scv, station.scv)
        passages.append(Passage(busy=busy, scv_arrivals=scv, wait_s=wait, response_s=wait + station.service_s))
        before.append((busy, station))
        lam = least(lam, station.servers / station.service_s)
    return passages


def tandem_percentile(lam: float, stations: Sequence[Station], constant_s: float, p: float) -> float:
    """The latency that a share p stays below on a chain of single servers, irregular traffic between them included.

    Waits of M/G/1 stretched to the means of `tandem`, services and constants, added as independent by inversion.

    lam: Poisson arrivals [1/s].  stations: one server each.  constant_s: delays [s].  p: share [-].  Returns a time
    [s]; infinite when a station is overloaded.  Exact for exponential service. p99 against simulation, scv 0 to 4,
    loads 0.3 to 0.9: within 21 %, 34 % too short for constant services that rise along the chain (their waits go
    together).

    >>> round(tandem_percentile(0.8, [Station(service_s=1.0, scv=1.0)], 2.0, 0.99), 3)
    25.026

    Source: as `tandem`; AbateWhitt1995.
    """
    rows = [(station.service_s, station.scv) for station in stations]
    plain = [mg1_wait(lam, service, scv) for service, scv in rows]
    stages = tandem(lam, 1.0, stations)
    stretch = [stage.wait_s / wait if 0 < wait < math.inf else 1.0 for stage, wait in zip(stages, plain, strict=True)]
    return path_percentile(lam, rows, constant_s, p, stretch=stretch)
