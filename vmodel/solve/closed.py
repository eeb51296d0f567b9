"""Requests in a closed loop: so many in flight, each end busy with some of them while others are on their way."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from vmodel.core.records import Outcome, StageShare
from vmodel.solve.alarms import alarm_rows
from vmodel.solve.dual import larger, largest, plain, total
from vmodel.solve.elementwise import least, most
from vmodel.solve.load import (
    BUS,
    Loop,
    Rung,
    Traffic,
    notices,
    per_resource,
    stage_time,
    told_along,
    told_seconds,
    told_shares,
    workers_along,
)
from vmodel.solve.mva import exact_mva
from vmodel.solve.tails import add_times, constant_time, gamma_time
from vmodel.solve.vacation import SINGLES
from vmodel.solve.workloads import demands, everywhere, overlapped, paid_shares

ROUNDS = 30  # of the fixed point of rate and alarms, by halved steps
SLOWEST_PPS = 1e-9
NOTHING_S = 1e-15
SPREADS = 0.25  # spare share of a round trip below which the slowest resource spreads requests evenly


def requests(way: Traffic, in_flight: int, think_s: Any) -> Outcome:
    """A closed loop of n requests.

    R = max(n D_max, R_1, tau) + v (R_mva - max(n D_max, R_1)):  R_1 the work and delays of one request with what it
    waits for alarms and for those that were told with it;  tau a throttle, which gathers all n;  R_mva the cycle of
    exponential work (exact analysis), v how irregular the work is: its scv at the slowest resource, one at most. A
    resource is told in its idle time only: what its alarms cost each request is no more than R - n D_r.

    in_flight: n > 1 [-].  think_s: pause Z between an answer and the next request [s]; n D_max and tau are less by it.
    Little's law holds, X = n / (R + Z). Exact for work without variability and alarms, and for exponential work without
    alarms.

    Source: ReiserLavenberg1980; Lazowska1984, section 5.2 (asymptotic bounds); alarms as in `vacation`.
    """
    at = _settled(way, in_flight, think_s)
    often = told_shares(way, at.rate, at.rung, at.working)
    for a, awake in zip(at.rung, at.idle, strict=True):
        for index in a.alarm.stages:
            often[a.leg][index] = often[a.leg][index] * awake
    told = told_seconds(way, at.turned, often)
    d = demands([replace(leg, seconds=s) for leg, s in zip(way.legs, told, strict=True)])
    shares = [row for leg in way.legs for row in paid_shares(overlapped(leg), ("always",))]
    times = [stage_time(row, way.stage_scv) for row in shares]
    work = total([row.seconds for row in shares])
    behind: Any = 0.0
    for a, awake in zip(at.rung, at.idle, strict=True):
        rows, time = alarm_rows(a.alarm, way.legs[a.leg], way.extras[a.leg], a.told, awake)
        shares += rows
        times.append(time)
        behind = behind + awake * at.bunched * _behind(way, a, in_flight)
    trip = total([row.seconds for row in shares])
    steady = larger(in_flight * largest(list(d.values())), trip + behind)
    slowest = max(at.working, key=lambda k: _last(at.working[k]))
    varied = min(way.variability.get(slowest, 0.0), 1.0)
    longer = _exponential(in_flight, way, trip) - plain(steady)
    queueing = steady - trip + varied * larger(longer, 0.0 * longer)
    shares.append(_row("queueing", queueing, "always"))
    waited = plain(queueing)
    times.append(gamma_time(waited, varied / in_flight) if varied > 0 else constant_time(waited))
    cycle = trip + queueing
    timers = [leg.timer_s for leg in way.legs if leg.timer is not None and leg.timer.kind == "throttle"]
    regime = [f"closed loop of {in_flight} requests"]
    if everywhere(plain(steady) > plain(trip + behind)):
        regime.append("the slowest resource is never idle")
    if timers:
        locked = larger(cycle, largest(timers) - think_s)
        held = locked - cycle
        shares.append(_row("moderation_wait", held, "idle"))
        times.append(constant_time(plain(held)))
        if everywhere(plain(held) > 0):
            regime.append("locked to the interrupt throttle")
        cycle = locked
    carried = in_flight / (cycle + think_s)
    kicks, interrupts = notices(way, often, plain(carried))
    return Outcome(
        latency_s=cycle,
        rate_per_s=carried,
        upper_rate_per_s=1 / larger(largest(list(demands(way.legs).values())), work / in_flight),
        demands_s={**d, BUS: way.bus_s},
        shares=tuple(shares),
        regime=tuple(regime),
        saturated=False,
        interrupts_per_s=interrupts * plain(carried),
        kicks_per_s=None if kicks is None else kicks * plain(carried),
        time=add_times(times),
    )


def _row(name: str, seconds: Any, when: str) -> StageShare:
    return StageShare(stage=name, resource=None, seconds=seconds, owner="", direction="", when=when)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Settled:
    """A closed loop at the rate that it reaches."""

    rate: Any
    rung: Sequence[Rung]
    idle: Sequence[Any]  # share of the wait for each alarm that there is idle time for
    bunched: Any  # one where requests come back together, zero where a busy resource has spread them evenly
    turned: Sequence[Sequence[Any]]
    working: Mapping[str, Any]


def _settled(way: Traffic, in_flight: int, think_s: Any) -> _Settled:
    """The rate at which n requests go round, and what is told to whom at it."""
    once = [row.seconds for leg in way.legs for row in paid_shares(overlapped(leg), ("always",))]
    base = plain(total(once)) + think_s
    rate = 0.0 * base + SLOWEST_PPS
    trains = SINGLES
    for _ in range(ROUNDS):
        _, turned = workers_along(way, rate)
        working = per_resource(way.legs, turned)
        rung, _, trains = told_along(way, rate, working, Loop(customers=in_flight, trains=trains))
        peak = in_flight * largest(list(working.values()))
        alone = base + sum((sum(a.told.costs_s, 0.0) for a in rung), 0.0 * base)
        bunched = least(most(alone - peak, 0.0) / (SPREADS * alone), 1.0)
        costs = [a.told.time.mean_s + bunched * _behind(way, a, in_flight) for a in rung]
        cycle = larger(peak, base + sum(costs, 0.0 * base))
        for _ in range(ROUNDS):
            idle = [_idle(cycle - in_flight * working[a.alarm.resource], a, rung) for a in rung]
            cycle = larger(peak, base + sum((x * c for x, c in zip(idle, costs, strict=True)), 0.0 * base))
        rate = (rate + in_flight / cycle) / 2
    return _Settled(rate=rate, rung=rung, idle=idle, turned=turned, working=working, bunched=bunched)


def _idle(spare_s: Any, a: Rung, rung: Sequence[Rung]) -> Any:
    """The share of the waits for alarms that the idle time of their resource in one cycle has room for."""
    waits = sum(other.told.time.mean_s for other in rung if other.alarm.resource == a.alarm.resource)
    return least(most(spare_s, 0.0) / most(waits, NOTHING_S), 1.0)


def _behind(way: Traffic, a: Rung, in_flight: int) -> Any:
    """What an answer waits for the other requests that came with its own: they are taken in first.

    E[N (N-1)] / E[N] of those that an alarm gathers, n - 1 at most, times the work of taking one in; only where the
    same resource sends the answer.
    """
    other = way.legs[1 - a.leg]
    if all(n.resource != a.alarm.resource for n in other.nodes):
        return 0.0
    taken = per_resource([way.legs[a.leg]], [way.legs[a.leg].seconds])[a.alarm.resource]
    others = least(a.told.together, in_flight - 1.0)
    return others * taken


def _exponential(in_flight: int, way: Traffic, trip: Any) -> Any:
    """The cycle if all work were exponential, by exact mean value analysis."""
    d = demands(way.legs)
    keys = sorted(d)
    delay = plain(trip) - sum(plain(d[k]) for k in keys)
    delay = larger(delay, 0.0 * delay)
    return in_flight / exact_mva([plain(d[k]) for k in keys], delay, in_flight).throughput_pps


def _last(x: Any) -> float:
    return float(x) if isinstance(x, float | int) else float(x.flat[-1])
