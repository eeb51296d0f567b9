"""Requests in a closed loop: so many in flight, each end busy with some of them while others are on their way."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from vmodel.core.records import Outcome, StageShare
from vmodel.solve.alarms import Alarm, alarms, cost_of
from vmodel.solve.dual import larger, largest, plain, smaller, total
from vmodel.solve.elementwise import least, most
from vmodel.solve.load import BUS, Traffic, notices, per_resource, stage_time, told_seconds
from vmodel.solve.mva import exact_mva
from vmodel.solve.tails import add_times, constant_time, gamma_time
from vmodel.solve.workloads import Leg, demands, everywhere, overlapped, paid_shares

NOTHING_S = 1e-15
LEAST_SCV = 1e-12  # stands for work that does not vary


def requests(way: Traffic, in_flight: int, think_s: Any) -> Outcome:
    """A closed loop of n requests.

    R = max(n D_max, R_1 + B, tau) + v (R_mva - max(n D_max, R_1 + B)):  R_1 the trip of one request, alarms paid;  B
    what it waits for those that an alarm gathers with it, and half of what a throttle still holds them back;  tau a
    throttle, which gathers all;  R_mva the cycle of exponential work (exact analysis), v how irregular the work is: its
    scv at the slowest resource, one at most.

    An alarm of length A gathers g = min(n - 1, A / s) others, s the slowest work on the way, since so far apart they
    come. All are taken in before an answer is sent (g times the work of taking one in, where the same resource sends
    the answer). A throttle holds (n - 1) / n of them back for (tau - A) / 2 on average.

    in_flight: n > 1 [-].  think_s: pause Z between an answer and the next request [s]; n D_max and tau are less by it.
    Little's law holds, X = n / (R + Z); R and X never fall with n. Exact for work without variability and alarms, and
    for exponential work without alarms.

    Source: ReiserLavenberg1980; Lazowska1984, section 5.2 (asymptotic bounds).
    """
    base = demands(way.legs)
    pace = larger(largest(list(base.values())), way.bus_s)
    slowest = plain(pace)
    shares = [row for leg in way.legs for row in paid_shares(overlapped(leg), ("always",))]
    times = [stage_time(row, way.stage_scv) for row in shares]
    work = total([row.seconds for row in shares])
    behind: Any = 0.0
    told: list[tuple[int, Alarm, Any, Any]] = []
    for number, (leg, extra) in enumerate(zip(way.legs, way.extras, strict=True)):
        for a in alarms(leg, extra):
            costs = [cost_of(leg, extra, index) for index in a.stages]
            rows = [_paid(leg, index, cost) for index, cost in zip(a.stages, costs, strict=True)]
            shares += rows
            times += [stage_time(row, way.stage_scv) for row in rows]
            length = plain(total(costs))
            together = least(length / most(slowest, NOTHING_S), in_flight - 1.0)
            behind = behind + together * _taken_in(way, number, a)
            if a.timer is not None and leg.timer_s is not None:
                behind = behind + _held(a, plain(leg.timer_s), length) * (in_flight - 1) / in_flight
                if a.timer.kind == "holdoff":
                    shares.append(_row("moderation_wait", leg.timer_s, "idle"))
                    times.append(constant_time(plain(leg.timer_s)))
            told.append((number, a, length, together))
    trip = total([row.seconds for row in shares])
    steady = larger(in_flight * pace - think_s, trip + behind)
    busiest = max(base, key=lambda k: _last(plain(base[k])))
    varied = least(way.variability.get(busiest, 0.0), 1.0)
    longer = _exponential(in_flight, way, trip + think_s) - think_s - plain(steady)
    queueing = steady - trip + varied * larger(longer, 0.0 * longer)
    shares.append(_row("queueing", queueing, "always"))
    waited = plain(queueing)
    times.append(gamma_time(waited, most(varied / in_flight, LEAST_SCV)))
    cycle = trip + queueing
    regime = [f"closed loop of {in_flight} requests"]
    if everywhere(plain(steady) > plain(trip) + behind):
        regime.append("the slowest resource is never idle")
    timers = [leg.timer_s for leg in way.legs if leg.timer is not None and leg.timer.kind == "throttle"]
    if timers:
        locked = larger(cycle, largest(timers) - think_s)
        held = locked - cycle
        shares.append(_row("moderation_wait", held, "idle"))
        times.append(constant_time(plain(held)))
        if everywhere(plain(held) > 0):
            regime.append("locked to the interrupt throttle")
        cycle = locked
    carried = in_flight / (cycle + think_s)
    often = _often(way, told, in_flight, plain(cycle + think_s))
    turned = [list(leg.seconds) for leg in way.legs]
    d = demands([replace(leg, seconds=s) for leg, s in zip(way.legs, told_seconds(way, turned, often), strict=True)])
    kicks, interrupts = notices(way, often, plain(carried))
    return Outcome(
        latency_s=cycle,
        rate_per_s=carried,
        upper_rate_per_s=1 / larger(pace, work / in_flight),
        demands_s={**{k: smaller(x, 1 / plain(carried)) for k, x in d.items()}, BUS: way.bus_s},
        shares=tuple(shares),
        regime=tuple(regime),
        saturated=False,
        interrupts_per_s=interrupts * plain(carried),
        kicks_per_s=None if kicks is None else kicks * plain(carried),
        time=add_times(times),
    )


def _row(name: str, seconds: Any, when: str) -> StageShare:
    return StageShare(stage=name, resource=None, seconds=seconds, owner="", direction="", when=when)


def _paid(leg: Leg, index: int, seconds: Any) -> StageShare:
    n = leg.nodes[index]
    resource = None if leg.when[index] == "idle" else n.resource
    return StageShare(
        stage=n.stage, resource=resource, seconds=seconds, owner=n.owner, direction=leg.direction, when="idle"
    )


def _taken_in(way: Traffic, number: int, a: Alarm) -> Any:
    """The work of taking one request in, where the resource that does it also sends the answer [s]."""
    if all(n.resource != a.resource for n in way.legs[1 - number].nodes):
        return 0.0
    return per_resource([way.legs[number]], [way.legs[number].seconds])[a.resource]


def _held(a: Alarm, timer_s: Any, length: Any) -> Any:
    """What a throttle holds requests back beside the rest of the alarm, half of what it leaves on average [s]."""
    if a.timer is not None and a.timer.kind == "throttle":
        return most(timer_s - length, 0.0) / 2
    return 0.0 * timer_s


def _often(way: Traffic, told: Sequence[tuple[int, Alarm, Any, Any]], in_flight: int, cycle: Any) -> list[list[Any]]:
    """Alarms per request, by stage: one for each group, and no more than the idle time of the resource has room for."""
    none: Any = 0.0
    found = [[none] * len(leg.nodes) for leg in way.legs]
    work = per_resource(way.legs, [leg.seconds for leg in way.legs])
    for number, a, length, together in told:
        spare = most(cycle - in_flight * work[a.resource], 0.0)
        share = least(1 / (1 + together), spare / most(in_flight * length, NOTHING_S))
        for index in a.stages:
            found[number][index] = share
    return found


def _exponential(in_flight: int, way: Traffic, trip: Any) -> Any:
    """The cycle if all work were exponential, by exact mean value analysis."""
    d = demands(way.legs)
    keys = sorted(d)
    delay = plain(trip) - sum(plain(d[k]) for k in keys)
    delay = larger(delay, 0.0 * delay)
    return in_flight / exact_mva([plain(d[k]) for k in keys], delay, in_flight).throughput_pps


def _last(x: Any) -> float:
    return float(x) if isinstance(x, float | int) else float(x.flat[-1])
