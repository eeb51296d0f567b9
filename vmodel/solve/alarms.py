"""The alarms on a way: which stages are paid when a resource that has nothing to do is told of a frame, and by whom."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vmodel.core.records import StageShare
from vmodel.library.moderation import Moderation
from vmodel.solve.dual import is_float, plain
from vmodel.solve.elementwise import choose, exp, least, most, over, sqrt
from vmodel.solve.stations import positive
from vmodel.solve.tails import StageTime, scaled
from vmodel.solve.vacation import (
    NO_PAUSE,
    SINGLES,
    Gathering,
    Moments,
    Wake,
    added_moments,
    alarm_share,
    capped_wait,
    gamma_moments,
    gathered_wait,
    overflow,
    throttle_pause,
    together,
    train_moments,
    wake_moments,
)
from vmodel.solve.workloads import Leg

SMALLEST = 1e-300
BUSY = 1 - 1e-9  # a resource without spare time never sleeps
MOST_FRAMES = 4096  # a frame cap beyond it ends no timer that matters, or fills at the arrival rate
WIDE, FEW = 12.0, 30.0  # a cap so many deviations and packets above the mean is never reached
ARRIVAL_STAGE = "idle_exit"  # with it, or with the interrupt itself, the receiver's side of an interrupt begins
NONE: Moments = (0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extra:
    """What each stage costs more than at saturation when every frame is notified, or taken alone [s]."""

    kicks: Sequence[Any]
    interrupts: Sequence[Any]
    turns: Sequence[Any]
    notices: frozenset[int]  # the stages that kick or interrupt, by place


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """A resource that is told of frames, and the stages of a leg that are paid for it, by place."""

    resource: str
    stages: tuple[int, ...]
    timer: Moderation | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """An alarm at a rate: what frames wait for it, alarms per frame, and how the wait is shared out."""

    time: StageTime
    share: Any  # alarms per frame
    leaving: Moments  # frames that leave in a row, factorial moments
    loss: Any  # share of the frames that find the ring full before the resource serves
    bunched: Any  # half the frames that stand before one of them, beyond those of a busy period without alarm
    costs_s: Sequence[Any]  # of each stage, in one alarm
    timer_part: Any  # of the wait that is owed to the timer


def alarms(leg: Leg, extra: Extra) -> list[Alarm]:
    """Who is told on a leg: wake-ups, kicks and interrupts belong to the resource that works next."""
    found: list[Alarm] = []
    waiting: list[int] = []
    gate = _gate(leg) if leg.timer is not None and leg.timer.kind != "none" and leg.timer_s is not None else None
    timed = False
    for index, (n, s, when) in enumerate(zip(leg.nodes, leg.seconds, leg.when, strict=True)):
        timed = timed or index == gate
        if when == "blocked":
            continue
        if when == "idle" or index in extra.notices:
            waiting.append(index)
        elif n.resource is not None and waiting and (positive(plain(s)) or positive(plain(extra.turns[index]))):
            if found and found[-1].resource == n.resource:
                last = found.pop()
                waiting = [*last.stages, *waiting]
                timed = timed or last.timer is not None
            found.append(Alarm(resource=n.resource, stages=tuple(waiting), timer=leg.timer if timed else None))
            waiting, timed, gate = [], False, None if timed else gate
    return found


def _gate(leg: Leg) -> int:
    """Where the receiver's NIC interrupts: before the processor leaves its idle state, or before the handler."""
    names = (n.stage for n in leg.nodes)
    found = (i for i, name in enumerate(names) if name == ARRIVAL_STAGE or name.endswith("interrupt"))
    return next(found, len(leg.nodes) - 1)


def told(
    alarm: Alarm,
    leg: Leg,
    extra: Extra,
    rate: Any,
    *,
    timer_s: Any,
    service_s: Any,
    service_scv: float,
    windows_s: Mapping[str, Any],
    stage_scv: Mapping[str, float],
    places: float,
    trains: Moments = SINGLES,
    spaced_s: Any = 0.0,
) -> Told:
    """An alarm at a rate of Poisson arrivals, of single frames or of trains.

    timer_s: interval in force [s].  service_s, service_scv: of a frame at the resource, without the alarm [s, -].
    windows_s: how long the resource polls before a wake-up stage is due, by stage [s].  trains: factorial moments of
    the frames that come in a row [-], spaced_s apart [s]; who comes after the alarm is over did not wait for it.
    places: of the ring in which they wait; the first to come are kept, and wait the longest.
    """
    wakes = []
    costs = []
    for index in alarm.stages:
        cost, name = plain(cost_of(leg, extra, index)), leg.nodes[index].stage
        costs.append(cost)
        wakes.append(Wake(mean_s=cost, scv=stage_scv.get(name, 0.0), window_s=windows_s.get(name, 0.0)))
    held = 0.0 * rate if alarm.timer is None else timer_s
    due = wake_moments(rate, wakes, held)
    lasts = due[0] + held
    trains = together(trains, lasts, spaced_s)

    def gathering(timer: Moderation | None, wake: Moments) -> Gathering:
        return _gathering(timer, rate, timer_s, service_s, service_scv, wake=wake, trains=trains)

    found = gathering(alarm.timer, due)
    part: Any = 0.0
    if alarm.timer is not None:
        timer_alone = gathering(alarm.timer, NONE).time.mean_s
        wake_alone = gathering(None, due).time.mean_s
        part = over(timer_alone, most(timer_alone + wake_alone, SMALLEST))
    apart = most(spaced_s, SMALLEST)  # what one station hands over comes one by one
    loss, kept = overflow(rate, service_s, found.waiting, places, 1 + lasts / apart)
    leaving = train_moments(rate, service_s, service_scv, found.waiting)
    alone = train_moments(rate, service_s, service_scv, SINGLES[:2])
    return Told(
        time=scaled(found.time, 2 - kept),
        loss=loss,
        share=alarm_share(rate, service_s, found.waiting[0]),
        leaving=leaving,
        bunched=most(over(leaving[1], 2 * leaving[0]) - over(alone[1], 2 * alone[0]), 0.0),
        costs_s=costs,
        timer_part=part,
    )


def _gathering(
    timer: Moderation | None, rate: Any, timer_s: Any, service_s: Any, scv: float, *, wake: Moments, trains: Moments
) -> Gathering:
    if timer is None or timer.kind == "none":
        return gathered_wait(rate, NO_PAUSE, wake, trains)
    if timer.kind == "throttle":
        timer_s = least(timer_s, filled_s(timer, rate, service_s, wake[0]))
        pause = throttle_pause(rate, service_s, scv, timer_s=timer_s, wake=wake, trains=trains)
        return gathered_wait(rate, pause, wake, trains)
    frames = frames_reached(timer, rate * timer_s)
    if frames is None:  # the timer starts with the first frame, as a wake-up does
        return gathered_wait(rate, NO_PAUSE, added_moments(wake, gamma_moments(timer_s, 0.0)), trains)
    return capped_wait(rate, timer_s, frames, wake)


def filled_s(timer: Moderation, rate: Any, service_s: Any, wake_s: Any) -> Any:
    """The interval of a throttle in whose pause as many frames come as end it early; infinite without a cap [s].

    tau (1 - rho) - D = k / lam.
    """
    if not timer.frames:
        return math.inf
    return over(timer.frames / most(rate, SMALLEST) + wake_s, 1 - rate * service_s)


def frames_reached(timer: Moderation, a: Any) -> int | None:
    """The frame cap of a hold-off timer if it can matter when so many frames come in an interval."""
    if timer.kind != "holdoff" or not timer.frames or timer.frames > MOST_FRAMES:
        return None
    top = a if is_float(a) else float(a.max())
    return None if timer.frames > top + WIDE * sqrt(top) + FEW else timer.frames


def cost_of(leg: Leg, extra: Extra, index: int) -> Any:
    """What a stage costs in one alarm."""
    return leg.seconds[index] if leg.when[index] == "idle" else extra.kicks[index] + extra.interrupts[index]


def mean_rows(
    alarm: Alarm,
    leg: Leg,
    extra: Extra,
    rate: Any,
    *,
    timer_s: Any,
    service_s: Any,
    windows_s: Mapping[str, Any],
    stage_scv: Mapping[str, float],
) -> list[StageShare]:
    """The mean wait for an alarm as rows, in a few operations: single frames, a pause of mean length.

    The resource that is busy all the time is never told.
    """
    first: Any = 0.0
    second: Any = 0.0
    for index in alarm.stages:
        cost, name = plain(cost_of(leg, extra, index)), leg.nodes[index].stage
        due = cost * exp(-rate * windows_s.get(name, 0.0))
        second = second + due * (2 * first + cost * (1 + stage_scv.get(name, 0.0)))
        first = first + due
    pause, held = 0.0 * rate, 0.0 * rate
    if alarm.timer is not None and alarm.timer.kind == "throttle":
        interval = least(timer_s, filled_s(alarm.timer, rate, service_s, first))
        pause = most(interval * (1 - rate * service_s) - first, 0.0)
    elif alarm.timer is not None and alarm.timer.kind == "holdoff":
        held = 0.0 * rate + timer_s
    told = choose(rate * service_s < BUSY, 1.0, 0.0)
    empty = exp(-rate * pause)
    share = told / (rate * (pause + held + first) + empty)
    timer = (rate * (pause * pause + held * held) / 2 + empty * held) * share
    woken = (rate * (first * (pause + held) + second / 2) + empty * first) * share
    factor = over(woken, most(first, SMALLEST)) * (first > 0)
    rows = [_row(leg, index, cost_of(leg, extra, index) * factor) for index in alarm.stages]
    if alarm.timer is not None:
        rows.append(moderation_row(leg, timer))
    return rows


def between(leg: Leg, first: int, last: int, service_s: Mapping[str, Any]) -> Any:
    """The slowest service on the way from one stage to another: so far apart frames of a train come at best [s]."""
    found: Any = 0.0
    for n in leg.nodes[first:last]:
        if n.resource is not None:
            found = most(found, service_s.get(n.resource, 0.0))
    return found


def train_waits(leg: Leg, first: int, bunched: Any, spaced_s: Any, service_s: Mapping[str, Any]) -> dict[str, Any]:
    """What frames that leave an alarm in a row wait for each other at each slower station that follows [s]."""
    found: dict[str, Any] = {}
    for n in leg.nodes[first:]:
        if n.resource is None or n.resource in found:
            continue
        s = service_s.get(n.resource, 0.0)
        found[n.resource] = bunched * most(s - spaced_s, 0.0)
        spaced_s = most(spaced_s, s)
    return found


def alarm_rows(alarm: Alarm, leg: Leg, extra: Extra, at: Told, awake: Any) -> tuple[list[StageShare], StageTime]:
    """The wait for an alarm as rows of the breakdown, timer apart, each stage by its part of the costs.

    awake: share of the wait that remains where a full ring keeps the resource from being idle [-].
    """
    time = scaled(at.time, awake)
    paid = sum(at.costs_s[1:], at.costs_s[0])
    factor = over(time.mean_s * (1 - at.timer_part), most(paid, SMALLEST))
    factor = choose(paid > 0, factor, 0.0 * factor)
    rows = []
    for index in alarm.stages:
        rows.append(_row(leg, index, cost_of(leg, extra, index) * factor))
    if alarm.timer is not None:
        rows.append(moderation_row(leg, time.mean_s * at.timer_part))
    return rows, time


def _row(leg: Leg, index: int, seconds: Any) -> StageShare:
    n = leg.nodes[index]
    return StageShare(
        stage=n.stage,
        resource=None if leg.when[index] == "idle" else n.resource,
        seconds=seconds,
        owner=n.owner,
        direction=leg.direction,
        when="idle",
    )


def moderation_row(leg: Leg, seconds: Any) -> StageShare:
    """The wait for a moderated interrupt as a row of the breakdown."""
    return StageShare(
        stage="moderation_wait", resource=None, seconds=seconds, owner="", direction=leg.direction, when="idle"
    )
