"""Frames at an offered load: every resource a ring, waits by two moments, batches, notifications, timers, wake-ups.

What a frame costs depends on the load: a worker that finds many waiting shares its turn, an end that is awake is not
notified. The demands of saturation are the limit. Floats and arrays of loads alike; derivatives pass through the costs
of the stages, not through the waits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from vmodel.core.records import Outcome, StageShare
from vmodel.library.moderation import devices
from vmodel.solve.alarms import Alarm, Extra, Told, alarm_rows, alarms, between, mean_rows, told, train_waits
from vmodel.solve.dual import is_float, larger, largest, plain, smaller, total
from vmodel.solve.elementwise import choose, least, most, over
from vmodel.solve.moderation_law import holdoff_batch, throttle_batch
from vmodel.solve.notification import Party, notified_exchange
from vmodel.solve.stations import NO_TIME_S, SMALLEST, Offer, Queue, Worker, one_of, positive, ring_queues, worker_at
from vmodel.solve.tails import StageTime, add_times, constant_time, gamma_time, scaled
from vmodel.solve.vacation import SINGLES
from vmodel.solve.workloads import Leg, demands, everywhere, moderated, overlapped, paid_shares
from vmodel.units import US_PER_S

BUS = "memory bus"
ADAPTIVE_PACKETS = 10.0  # an adaptive driver aims at about so many packets per interrupt (e1000 and its heirs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """What meets the load: one leg for frames, two for requests and their replies, and how the stages behave.

    extras: of each leg.  words: counts per message at saturation.  variability: scv of the work of each resource.
    stage_scv: of each stage.  windows_s: how long a resource polls before a stage wakes it [s].
    """

    legs: Sequence[Leg]
    extras: Sequence[Extra]
    words: Mapping[str, Any]
    variability: Mapping[str, float]
    stage_scv: Mapping[str, float]
    windows_s: Mapping[str, Any]
    ring: int
    bus_s: Any

    @property
    def pace_s(self) -> Any:
        """Seconds between messages at capacity: the largest demand at saturation."""
        return larger(largest(list(demands(self.legs).values())), self.bus_s)


def packets(way: Traffic, offer: Offer) -> Outcome:
    """Frames: capacity 1 / D_max as fast as possible; at an offered load every resource is a ring of finite length."""
    return _at_capacity(way) if offer.load.kind == "max" else offered(way, offer)


def _at_capacity(way: Traffic) -> Outcome:
    """As fast as possible: a ring is full before the slowest resource, unless that is the sender; others may sleep."""
    leg, d, pace = way.legs[0], demands(way.legs), way.pace_s
    capacity = 1 / pace
    sender = next((n.resource for n in leg.nodes if n.resource is not None), None)
    behind = (
        plain(d[sender]) < plain(pace) if sender is not None and sender in d else True
    )  # a ring fills only behind a faster sender
    shares = [*paid_shares(leg, ("always",)), _row("full_ring", None, way.ring * plain(pace) * behind, leg)]
    rate = plain(capacity)
    for a in alarms(leg, way.extras[0]):
        shares += mean_rows(
            a,
            leg,
            way.extras[0],
            rate,
            timer_s=_interval(leg, rate),
            service_s=plain(d[a.resource]),
            windows_s=way.windows_s,
            stage_scv=way.stage_scv,
        )
    full = "the ring is full" if everywhere(behind) else "the sender is the slowest, no ring fills"
    return Outcome(
        latency_s=total([row.seconds for row in shares]),
        rate_per_s=capacity,
        upper_rate_per_s=capacity,
        demands_s={**d, BUS: way.bus_s},
        shares=tuple(shares),
        regime=(f"saturated: {full}", poll_regime(leg)),
        saturated=True,
        interrupts_per_s=moderated(leg, leg.interrupts * capacity),
    )


def offered(way: Traffic, offer: Offer) -> Outcome:
    """Messages at an offered load: batches, alarms and rings along the way, by decomposition into single resources."""
    asked = offer.load.value / offer.bits if offer.load.kind == "throughput_bps" else offer.load.value
    capacity = 1 / way.pace_s
    saturated = everywhere(plain(asked) >= plain(capacity))
    rate = least(plain(asked), plain(capacity))
    workers, turned = workers_along(way, rate)
    working = per_resource(way.legs, turned)
    rung, trains_s = told_along(way, rate, working)
    often = told_shares(way, rate, rung, working)
    shared = told_seconds(way, turned, often)
    d = demands([replace(leg, seconds=seconds) for leg, seconds in zip(way.legs, shared, strict=True)])
    service = {k: plain(v) for k, v in d.items()}
    for a in rung:  # the interrupt itself is part of the alarm, not of the service of those who waited for it
        service[a.alarm.resource] = working[a.alarm.resource]
    service[BUS] = plain(way.bus_s)
    queues = ring_queues(service, way.variability, workers, asked, offer, ring=way.ring, trains_s=trains_s)
    reached = list(queues.values())[-1].carried_pps
    for a in rung:
        reached = reached * (1 - a.told.loss)
    carried_plain = least(reached, plain(capacity))  # rounding may say more
    loss = 1 - carried_plain / plain(asked)
    loss = choose(loss > 0, loss, 0.0 * loss)
    carried = smaller(asked * (1 - loss), capacity)
    shares: list[StageShare] = []
    for leg, extra in zip(way.legs, way.extras, strict=True):
        lone = replace(leg, seconds=[s + t for s, t in zip(leg.seconds, extra.turns, strict=True)])
        shares += paid_shares(overlapped(lone), ("always",))
    times = [stage_time(row, way.stage_scv) for row in shares]
    for a in rung:
        awake = 1 - queues[a.alarm.resource].fullness  # behind a full ring nobody is idle
        rows, time = alarm_rows(a.alarm, way.legs[a.leg], way.extras[a.leg], a.told, awake)
        shares += rows
        times.append(time)
    shares += [_row("queueing", k if k in d else BUS, q.wait_s, way.legs[0]) for k, q in queues.items()]
    times += [q.time for q in queues.values()]
    kicks, interrupts = notices(way, often, rate)
    worst = max(queues, key=lambda k: one_of(queues[k].mean))
    worker = max(workers, key=lambda k: one_of(workers[k].batch)) if workers else None
    return Outcome(
        latency_s=total([row.seconds for row in shares]),
        rate_per_s=carried,
        upper_rate_per_s=capacity,
        demands_s={**{k: smaller(x, 1 / rate) for k, x in d.items()}, BUS: way.bus_s},
        shares=tuple(shares),
        regime=(
            "saturated: the ring is full" if saturated else "below capacity",
            poll_regime(way.legs[0]),
            *_notified(way.legs[0], d, kicks, rate, workers, ring=way.ring),
        ),
        saturated=saturated,
        interrupts_per_s=interrupts * carried_plain,
        loss=loss,
        kicks_per_s=None if kicks is None else kicks * carried_plain,
        batch_taken=workers[worker].batch if worker else None,
        ring_mean=queues[worst].mean,
        ring_full=queues[worst].loss,
        ring_spread=_occupancy(queues[worst], service[worst], carried_plain),
        time=add_times(times),
    )


def _occupancy(q: Queue, service_s: Any, rate: Any) -> StageTime:
    """How many frames a ring holds, as a distribution: those that come during the stay of one of them.

    A Poisson number of a random time:  variance lam T + lam^2 Var T, third moment lam T + 3 lam^2 Var T + lam^3 K3.

    Source: KeilsonServi1988 (distributional form of Little's law).
    """
    stay = add_times([q.time, constant_time(service_s)])
    linear, square = rate * stay.mean_s, rate * rate * stay.variance_s2
    factor = over(q.mean, most(linear, SMALLEST))
    return scaled(
        StageTime(
            least_s=0.0 * linear,
            mean_s=linear,
            variance_s2=linear + square,
            third_s3=linear + 3 * square + rate * rate * rate * stay.third_s3,
        ),
        factor,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """An alarm of one of the legs, at a rate."""

    leg: int
    alarm: Alarm
    told: Told


def told_along(way: Traffic, rate: Any, working: Mapping[str, Any]) -> tuple[list[Rung], dict[str, Any]]:
    """Every alarm along the way at a rate, each fed by the trains of the one before, and what those wait [s]."""
    found: list[Rung] = []
    trains_s: dict[str, Any] = {}
    for number, (leg, extra) in enumerate(zip(way.legs, way.extras, strict=True)):
        trains, left = SINGLES, 0
        for a in alarms(leg, extra):
            at = told(
                a,
                leg,
                extra,
                rate,
                timer_s=_interval(leg, rate),
                service_s=working[a.resource],
                service_scv=way.variability.get(a.resource, 0.0),
                windows_s=way.windows_s,
                stage_scv=way.stage_scv,
                places=float(way.ring),
                trains=trains,
                spaced_s=between(leg, left, a.stages[0], working),
            )
            found.append(Rung(leg=number, alarm=a, told=at))
            trains, left = at.leaving, a.stages[-1]
            trains_s.update(train_waits(leg, left, at.bunched, working[a.resource], working))
    return found, trains_s


def _row(name: str, resource: str | None, seconds: Any, leg: Leg, when: str = "always") -> StageShare:
    return StageShare(stage=name, resource=resource, seconds=seconds, owner="", direction=leg.direction, when=when)


def poll_regime(leg: Leg) -> str:
    """Whether the receiver is interrupted or polls."""
    return "interrupt driven" if any(n.stage.endswith("interrupt") for n in leg.nodes) else "poll mode"


def stage_time(row: StageShare, stage_scv: Mapping[str, float]) -> StageTime:
    """The time of a stage as a distribution."""
    scv, seconds = stage_scv.get(row.stage, 0.0), plain(row.seconds)
    return gamma_time(seconds, scv) if scv > 0 else constant_time(seconds)


def per_resource(legs: Sequence[Leg], seconds: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """Seconds per message at each resource, without derivatives, for these costs of each leg's stages."""
    return demands([replace(leg, seconds=[plain(x) for x in s]) for leg, s in zip(legs, seconds, strict=True)])


def workers_along(way: Traffic, rate: Any) -> tuple[dict[str, Worker], list[list[Any]]]:
    """Batches that workers find at a rate, and what each stage of each leg costs with its share of a turn."""
    cap = plain(way.words["taken"])
    base = per_resource(way.legs, [leg.seconds for leg in way.legs])
    turn = per_resource(way.legs, [extra.turns for extra in way.extras])
    workers: dict[str, Worker] = {}
    share: dict[str, Any] = {}
    for r, more in turn.items():
        if not positive(more):
            continue
        spare = most(1 - 1 / cap, NO_TIME_S)
        fixed = more / spare
        workers[r] = worker_at(rate, fixed, most(base[r] - fixed / cap, 0.0), cap)
        share[r] = least(most((1 / workers[r].batch - 1 / cap) / spare, 0.0), 1.0)
    none: Any = 0.0
    turned = [
        [s + t * share.get(n.resource or "", none) for n, s, t in zip(leg.nodes, leg.seconds, extra.turns, strict=True)]
        for leg, extra in zip(way.legs, way.extras, strict=True)
    ]
    return workers, turned


def told_shares(way: Traffic, rate: Any, rung: Sequence[Rung], working: Mapping[str, Any]) -> list[list[Any]]:
    """How often each stage of an alarm is paid per message: once a busy period.

    A sender that is busy kicks no more often than at saturation, when it hands over whole batches.
    """
    none: Any = 0.0
    found = [[none] * len(leg.nodes) for leg in way.legs]
    kicks = per_resource(way.legs, [extra.kicks for extra in way.extras])
    for a in rung:
        for index in a.alarm.stages:
            share = a.told.share
            payer = way.legs[a.leg].nodes[index].resource
            if positive(plain(way.extras[a.leg].kicks[index])) and payer is not None:
                share = least(share, most(1 - rate * working[payer], 0.0) / (1 + rate * kicks[payer]))  # its idle share
            found[a.leg][index] = share
    return found


def told_seconds(way: Traffic, turned: Sequence[Sequence[Any]], shares: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """What each stage costs a message when kicks and interrupts are paid so often."""
    return [
        [s + (k + i) * share for s, k, i, share in zip(seconds, extra.kicks, extra.interrupts, often, strict=True)]
        for seconds, extra, often in zip(turned, way.extras, shares, strict=True)
    ]


def notices(way: Traffic, often: Sequence[Sequence[Any]], rate: Any) -> tuple[Any | None, Any]:
    """Kicks and interrupts per message: those of saturation and one for each alarm, no more than a timer allows."""
    floor_k, floor_i = plain(way.words["kicks"]), plain(way.words["interrupts"])
    kicks: Any = None
    interrupts: Any = 0.0
    for leg, extra, shares in zip(way.legs, way.extras, often, strict=True):
        mine: Any = 0.0
        for index in extra.notices:
            if positive(plain(extra.kicks[index])):
                share = floor_k + (1 - floor_k) * shares[index]
                kicks = share if kicks is None else most(kicks, share)
            if positive(plain(extra.interrupts[index])):
                mine = most(mine, shares[index])
        mine = floor_i + (1 - floor_i) * mine
        tau = _interval(leg, rate)
        if leg.timer is not None and tau is not None and leg.timer.kind == "throttle":
            mine = least(mine, 1 / throttle_batch(rate, tau))
        elif leg.timer is not None and tau is not None and leg.timer.kind == "holdoff" and not leg.timer.frames:
            mine = least(mine, 1 / holdoff_batch(rate, tau))
        interrupts = interrupts + mine * (plain(leg.interrupts) > 0)
    return kicks, interrupts


def _interval(leg: Leg, rate: Any) -> Any:
    """The timer in force at a rate [s]; an adaptive one grows with the rate from its quiet tier to its longest.

    tau = tau_quiet tau_longest lam / n, held between the two: below, the longest tier would bring fewer than n frames
    an interrupt; above, the shortest one brings as many.
    """
    if leg.timer is None or leg.timer_s is None:
        return None
    quiet = plain(leg.timer_s)
    tiers = devices()[leg.timer.device].tiers if leg.timer.adaptive and leg.timer.kind != "none" else ()
    longest = max((tier.usecs for tier in tiers), default=0.0) / US_PER_S
    if not tiers:
        return quiet
    return most(quiet, least(quiet * longest * rate / ADAPTIVE_PACKETS, longest))


def _notified(
    leg: Leg, d: Mapping[str, Any], kicks: Any, rate: Any, workers: Mapping[str, Worker], *, ring: int
) -> tuple[str, ...]:
    """The producer and consumer regime between the sender at this rate and the back end that it kicks."""
    if kicks is None or not is_float(rate) or rate <= 0:
        return ()
    names = [n.resource for n in leg.nodes if n.resource is not None]
    back = next(iter(workers), None) or next((n for n in names if n != names[0]), None)
    if back is None:
        return ()
    producer = Party(work_s=1 / rate, notify_s=0.0, startup_s=0.0)
    wake = sum(plain(s) for s, w in zip(leg.seconds, leg.when, strict=True) if w == "idle")
    consumer = Party(work_s=plain(d[back]), notify_s=0.0, startup_s=wake)
    return (f"{notified_exchange(producer, consumer, max(ring, 2), 1).regime}: {kicks:.2g} kicks per frame",)
