"""Bounds beside the means: the least latency, the largest rate, and the longest wait of any message of a shaped source.

The first two hold for any arrivals. The worst case is network calculus: every hop as a rate and a latency, the source
as a token bucket. Each bound carries what it assumes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from vmodel.core.records import Load, Outcome, Scenario
from vmodel.solve import compose, solver
from vmodel.solve.dual import plain
from vmodel.solve.workloads import lower_bound

LIMIT_ASSUMPTIONS = (
    "Work and transit of a message cost what the profile says; waits, wake-ups and timers cost nothing.",
    "No resource works more than all the time; its cost per message is the one of the busy state, shared by batches.",
)
WORST_ASSUMPTIONS = (
    "No more than burst + rate t messages arrive in any span t.",
    "Each resource serves in order of arrival, for this source alone, all its work on a message in one visit.",
    "A message takes at each resource no longer than the profile's mean times the stated factor.",
    "In a busy period batches share costs as at saturation; its first message shares with none.",
    "Every wake-up and the whole moderation timer are waited for.",
    "No ring overflows: there is room for the backlog.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The least latency and the largest rate that a scenario can have, whatever its load."""

    latency_s: float
    rate_per_s: float
    bottleneck: str
    assumptions: tuple[str, ...] = LIMIT_ASSUMPTIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """A rate-latency service curve: at least rate (t - latency) messages in the first t seconds of a busy period."""

    name: str
    rate_per_s: float
    latency_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstCase:
    """What no message of a token-bucket source exceeds; None where there is no bound, and the reason."""

    delay_s: float | None
    backlog: float | None  # messages
    hops: tuple[Hop, ...]
    reason: str
    assumptions: tuple[str, ...] = WORST_ASSUMPTIONS


def asymptotic(out: Outcome) -> Limits:
    """Hard bounds of an outcome from its work alone.

    R >= sum of work and transit;  X <= 1 / max_r D_r.

    Returns a latency [s] and a rate [1/s].  Hold for any arrivals and any law of the service times.

    Source: Lazowska1984, section 5.2.
    """
    demands = {r: float(plain(d)) for r, d in out.demands_s.items()}
    return Limits(
        latency_s=min(lower_bound(out), float(plain(out.latency_s))),
        rate_per_s=max(float(plain(out.upper_rate_per_s)), float(plain(out.rate_per_s))),
        bottleneck=max(demands, key=lambda r: demands[r]),
    )


def convolve(hops: Sequence[Hop]) -> Hop:
    """One hop that serves as well as a row of them: the slowest rate, and all latencies.

    beta = beta_1 * ... * beta_n = min R_k (t - sum T_k)+.

    Exact for rate-latency curves.

    >>> convolve([Hop(name="a", rate_per_s=3.0, latency_s=1.0), Hop(name="b", rate_per_s=2.0, latency_s=0.5)])
    Hop(name='b', rate_per_s=2.0, latency_s=1.5)

    Source: LeBoudecThiran2001, section 1.4.3.
    """
    slowest = min(hops, key=lambda hop: hop.rate_per_s)
    return replace(slowest, latency_s=sum(hop.latency_s for hop in hops))


def delay_bound(burst: float, rate_per_s: float, hops: Sequence[Hop]) -> float | None:
    """The longest delay through a row of hops; the burst is paid once, at the slowest.

    h = sum T_k + sigma / min R_k.

    burst: sigma [messages].  rate_per_s: rho [1/s].  Returns a delay [s]; None for rho > min R_k, where it grows
    without end.

    >>> row = [Hop(name="a", rate_per_s=3.0, latency_s=1.0), Hop(name="b", rate_per_s=2.0, latency_s=0.5)]
    >>> delay_bound(4.0, 1.0, row)
    3.5

    Source: LeBoudecThiran2001, section 1.4.3.
    """
    whole = convolve(hops)
    return None if rate_per_s > whole.rate_per_s else whole.latency_s + burst / whole.rate_per_s


def backlog_bound(burst: float, rate_per_s: float, hops: Sequence[Hop]) -> float | None:
    """The most messages inside a row of hops at any time.

    v = sigma + rho sum T_k.

    burst: sigma [messages].  rate_per_s: rho [1/s].  Returns messages [-]; None for rho > min R_k.

    >>> backlog_bound(4.0, 1.0, [Hop(name="a", rate_per_s=3.0, latency_s=1.5)])
    5.5

    Source: LeBoudecThiran2001, section 1.4.2.
    """
    whole = convolve(hops)
    return None if rate_per_s > whole.rate_per_s else burst + rate_per_s * whole.latency_s


def delay_bound_hop_by_hop(burst: float, rate_per_s: float, hops: Sequence[Hop]) -> float | None:
    """The same, adding the bounds of single hops: looser, since the burst is paid at each and grows on the way.

    h = sum_k (T_k + sigma_k / R_k),  sigma_1 = sigma,  sigma_{k+1} = sigma_k + rho T_k.

    burst: sigma [messages].  rate_per_s: rho [1/s].  Returns a delay [s]; None for rho > min R_k.

    >>> row = [Hop(name="a", rate_per_s=4.0, latency_s=1.0), Hop(name="b", rate_per_s=2.0, latency_s=0.5)]
    >>> delay_bound_hop_by_hop(4.0, 1.0, row)
    5.0

    Source: LeBoudecThiran2001, section 1.4.3.
    """
    delay = 0.0
    for hop in hops:
        if rate_per_s > hop.rate_per_s:
            return None
        delay += hop.latency_s + burst / hop.rate_per_s
        burst += rate_per_s * hop.latency_s
    return delay


def hops_of(s: Scenario, *, slower: float = 1.0) -> tuple[Hop, ...]:
    """The hops of a scenario's way there, for messages sent as frames: a resource each, then all pure delays in one.

    R_r = 1 / D_r,  T_r = D_r(1): a message leaves a resource as a whole and not before.  Delays: T = sum, R infinite.

    slower: longest service time over the mean [-].  D_r at saturation, D_r(1) of a message that shares no batch.
    """
    asked = replace(s, workload="packets", load=Load())
    alone = replace(asked, knobs={**s.knobs, "batch": 1.0, "interrupt_batch": 1.0})
    parameters = compose.parameter_values(asked)
    demands, single = (solver.solve(x, parameters).outcome.demands_s for x in (asked, alone))
    way = compose.scenario_ways(asked).forward
    settled = compose.settle(asked, way, "packets", dict.fromkeys(compose.POLLS, 0.0))
    leg = compose.leg(asked, way, settled, parameters, direction="there", gradient=False)
    idle = sum(
        float(plain(x))
        for n, x, when in zip(leg.nodes, leg.seconds, leg.when, strict=True)
        if n.resource is None or when == "idle"
    )
    timer = 0.0 if leg.timer_s is None else float(plain(leg.timer_s))
    served = [
        Hop(
            name=r,
            rate_per_s=1 / (slower * float(plain(d))),
            latency_s=slower * max(float(plain(d)), float(plain(single[r]))),
        )
        for r, d in demands.items()
        if plain(d) > 0
    ]
    return (*served, Hop(name="delays", rate_per_s=float("inf"), latency_s=idle + timer))


def worst_case(s: Scenario, *, burst: float, rate_per_s: float, slower: float = 1.0) -> WorstCase:
    """The longest delay and the largest backlog of a token-bucket source on a scenario's way there.

    h = sum T_k + sigma / min R_k,  v = sigma + rho sum T_k.

    burst: sigma >= 1 [messages].  rate_per_s: rho [1/s].  slower: longest service time over the mean [-].
    Returns a delay [s] and a backlog [messages]; both None for rho > min R_k, with the resource named.

    Source: LeBoudecThiran2001, sections 1.4.2 and 1.4.3.
    """
    hops = hops_of(s, slower=slower)
    slowest = convolve(hops)
    name = slowest.name.partition("|")[0]
    delay = delay_bound(burst, rate_per_s, hops)
    if delay is None:
        reason = (
            f"unbounded: {rate_per_s:.4g} messages/s arrive in the long run and the {name} serves "
            f"{slowest.rate_per_s:.4g}"
        )
    else:
        reason = f"bounded: the {name} is slowest and serves {slowest.rate_per_s:.4g} messages/s"
    return WorstCase(delay_s=delay, backlog=backlog_bound(burst, rate_per_s, hops), hops=hops, reason=reason)
