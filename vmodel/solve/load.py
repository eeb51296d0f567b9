"""Frames at an offered load: every resource a ring, waits by two moments, batches, notifications, timers, wake-ups.

What a frame costs depends on the load: a worker that finds many waiting shares its turn, an end that is awake is not
notified. The demands of saturation are the limit. Floats and arrays of loads alike; derivatives pass through the costs
of the stages, not through the waits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from vmodel.core.records import Outcome, StageShare
from vmodel.library.moderation import Moderation, devices
from vmodel.solve.dual import is_float, larger, largest, plain, smaller, total
from vmodel.solve.elementwise import choose, least, most, over, sqrt
from vmodel.solve.moderation_law import (
    capped_holdoff_batch,
    capped_holdoff_wait,
    holdoff_batch,
    holdoff_time,
    throttle_batch,
    throttle_time,
)
from vmodel.solve.notification import Party, notified_exchange
from vmodel.solve.stations import (
    NO_TIME_S,
    SMALLEST,
    Offer,
    Queue,
    Worker,
    one_of,
    positive,
    ring_queues,
    scaled,
    worker_at,
)
from vmodel.solve.tails import StageTime, add_times, constant_time, gamma_time
from vmodel.solve.wakeup import setup_time
from vmodel.solve.workloads import Leg, demands, everywhere, moderated, paid_shares
from vmodel.units import US_PER_S

BUS = "memory bus"
ADAPTIVE_PACKETS = 10.0  # an adaptive driver aims at about so many packets per interrupt (e1000 and its heirs)
MOST_FRAMES = 4096  # a frame cap beyond it ends no timer that matters, or fills at the arrival rate
WIDE, FEW = 12.0, 30.0  # a cap so many deviations and packets above the mean is never reached


@dataclass(frozen=True, slots=True, kw_only=True)
class Extra:
    """What each stage costs more than at saturation when every frame is notified, or taken alone [s]."""

    kicks: Sequence[Any]
    interrupts: Sequence[Any]
    turns: Sequence[Any]


def packets(
    leg: Leg,
    extra: Extra,
    offer: Offer,
    *,
    words: Mapping[str, Any],
    variability: Mapping[str, float],
    stage_scv: Mapping[str, float],
    ring: int,
    bus_s: Any,
) -> Outcome:
    """Frames: capacity 1 / D_max as fast as possible; at an offered load every resource is a ring of finite length.

    variability: scv of the work of each resource.  stage_scv: of each stage.  words: counts per frame at saturation.
    """
    full = demands([leg])
    pace = larger(largest(list(full.values())), bus_s)
    if offer.load.kind == "max":
        return _at_capacity(leg, full, pace, ring, bus_s)
    offered = offer.load.value / offer.bits if offer.load.kind == "throughput_bps" else offer.load.value
    return _at_load(
        leg,
        extra,
        offer,
        offered,
        pace,
        words=words,
        variability=variability,
        stage_scv=stage_scv,
        ring=ring,
        bus_s=bus_s,
    )


def _at_capacity(leg: Leg, d: Mapping[str, Any], pace: Any, ring: int, bus_s: Any) -> Outcome:
    capacity = 1 / pace
    sender = next((n.resource for n in leg.nodes if n.resource is not None), None)
    behind = (
        plain(d[sender]) < plain(pace) if sender is not None and sender in d else True
    )  # a ring fills only behind a faster sender
    shares = [*paid_shares(leg, ("always",)), _row("full_ring", None, ring * plain(pace) * behind, leg)]
    full = "the ring is full" if everywhere(behind) else "the sender is the slowest, no ring fills"
    return Outcome(
        latency_s=total([row.seconds for row in shares]),
        rate_per_s=capacity,
        upper_rate_per_s=capacity,
        demands_s={**d, BUS: bus_s},
        shares=tuple(shares),
        regime=(f"saturated: {full}", poll_regime(leg)),
        saturated=True,
        interrupts_per_s=moderated(leg, leg.interrupts * capacity),
    )


def _at_load(
    leg: Leg,
    extra: Extra,
    offer: Offer,
    offered: Any,
    pace: Any,
    *,
    words: Mapping[str, Any],
    variability: Mapping[str, float],
    stage_scv: Mapping[str, float],
    ring: int,
    bus_s: Any,
) -> Outcome:
    capacity = 1 / pace
    saturated = everywhere(plain(offered) >= plain(capacity))
    rate = least(plain(offered), plain(capacity))
    tau = _interval(leg, rate)
    awake, shared, workers, kicks, interrupts = _amortised(leg, extra, words, rate, tau)
    d = demands([replace(leg, seconds=shared)])
    working = demands([replace(leg, seconds=awake)])
    queues = ring_queues(
        {k: plain(v) for k, v in working.items()} | {BUS: plain(bus_s)}, variability, workers, offered, offer, ring=ring
    )
    carried_plain = least(list(queues.values())[-1].carried_pps, plain(capacity))  # rounding may say more
    loss = 1 - carried_plain / plain(offered)
    loss = choose(loss > 0, loss, 0.0 * loss)
    carried = smaller(offered * (1 - loss), capacity)
    alone = [s + k + t for s, k, t in zip(leg.seconds, extra.kicks, extra.turns, strict=True)]
    lone = replace(leg, seconds=alone)
    shares = list(paid_shares(lone, ("always",)))
    times = [_stage_time(row, stage_scv) for row in shares]
    for row, wake in _wake_ups(lone, extra.interrupts, rate, queues, stage_scv=stage_scv):
        shares.append(row)
        times.append(wake)
    shares += [_row("queueing", k if k in d else BUS, q.wait_s, leg) for k, q in queues.items()]
    times += [q.time for q in queues.values()]
    timer = moderation_time(leg.timer, rate, tau)
    if timer is not None:
        shares.append(_row("moderation_wait", None, timer.mean_s, leg, "idle"))
        times.append(timer)
    worst = max(queues, key=lambda k: one_of(queues[k].mean))
    worker = max(workers, key=lambda k: one_of(workers[k].batch)) if workers else None
    return Outcome(
        latency_s=total([row.seconds for row in shares]),
        rate_per_s=carried,
        upper_rate_per_s=capacity,
        demands_s={**d, BUS: bus_s},
        shares=tuple(shares),
        regime=(
            "saturated: the ring is full" if saturated else "below capacity",
            poll_regime(leg),
            *_notified(leg, d, kicks, rate, workers, ring=ring),
        ),
        saturated=saturated,
        interrupts_per_s=interrupts * carried_plain,
        loss=loss,
        kicks_per_s=None if kicks is None else kicks * carried_plain,
        batch_taken=workers[worker].batch if worker else None,
        ring_mean=queues[worst].mean,
        ring_full=queues[worst].loss,
        time=add_times(times),
    )


def _row(name: str, resource: str | None, seconds: Any, leg: Leg, when: str = "always") -> StageShare:
    return StageShare(stage=name, resource=resource, seconds=seconds, owner="", direction=leg.direction, when=when)


def poll_regime(leg: Leg) -> str:
    """Whether the receiver is interrupted or polls."""
    return "interrupt driven" if any(n.stage.endswith("interrupt") for n in leg.nodes) else "poll mode"


def _stage_time(row: StageShare, stage_scv: Mapping[str, float]) -> StageTime:
    scv, seconds = stage_scv.get(row.stage, 0.0), plain(row.seconds)
    return gamma_time(seconds, scv) if scv > 0 else constant_time(seconds)


def _per_resource(leg: Leg, seconds: Sequence[Any]) -> dict[str, Any]:
    return demands([replace(leg, seconds=[plain(x) for x in seconds])])


def _amortised(
    leg: Leg, extra: Extra, words: Mapping[str, Any], rate: Any, tau: Any
) -> tuple[list[Any], list[Any], dict[str, Worker], Any, Any]:
    """Stage costs without and with interrupts of idle ends, workers with batches, kicks and interrupts per frame.

    An end is notified while it is idle: the share g of frames beyond those of saturation that notify is the idle share
    1 - rho of whoever pays, rho = lam (a + b) / (1 + lam b) with a the cost at saturation and b that of notifying all.
    A kick also needs a sleeping worker (kick share of the batch server), an interrupt a timer that has run out.
    """
    base = _per_resource(leg, leg.seconds)
    kick, interrupt, turn = (_per_resource(leg, x) for x in (extra.kicks, extra.interrupts, extra.turns))
    idle = {r: most(1 - rate * a, 0.0) / (1 + rate * (kick[r] + interrupt[r])) for r, a in base.items()}  # = 1 - rho
    floor_i, floor_k, cap = plain(words["interrupts"]), plain(words["kicks"]), plain(words["taken"])
    g_i = _least_idle(idle, interrupt)
    interrupts = floor_i + (1 - floor_i) * g_i
    packed = _per_interrupt(leg.timer, rate, tau)
    sent = least(interrupts, 1 / packed)
    g_i = (
        least(g_i, over(most(sent - floor_i, 0.0), most(1 - floor_i, 0.0) + 0.0 * sent)) if packed is not None else g_i
    )
    g_k = _least_idle(idle, kick)
    workers, g_t = {}, {}
    for r, more in turn.items():
        if not positive(more):
            continue
        spare = most(1 - 1 / cap, NO_TIME_S)
        fixed = more / spare
        each = most(base[r] - fixed / cap + kick[r] * g_k + interrupt[r] * g_i, 0.0)
        workers[r] = worker_at(rate, fixed, each, cap)
        batch = workers[r].batch
        g_t[r] = least(most((1 / batch - 1 / cap) / spare, 0.0), 1.0)
    for w in list(workers.values())[:1]:
        asleep = w.asleep
        g_k = least(g_k, over(most(asleep - floor_k, 0.0), most(1 - floor_k, 0.0) + 0.0 * asleep))
    awake = [
        s + k * g_k + (t * g_t[n.resource] if n.resource in g_t else 0.0)
        for n, s, k, t in zip(leg.nodes, leg.seconds, extra.kicks, extra.turns, strict=True)
    ]
    shared = [s + i * g_i for s, i in zip(awake, extra.interrupts, strict=True)]
    kicks = floor_k + (1 - floor_k) * g_k if any(positive(x) for x in kick.values()) else None
    return awake, shared, workers, kicks, sent * _any(leg.interrupts)


def _any(interrupts: Any) -> Any:
    """One where the way has interrupts at all, else zero."""
    return 1.0 * (plain(interrupts) > 0)


def _least_idle(idle: Mapping[str, Any], paid: Mapping[str, Any]) -> Any:
    """The smallest idle share of those who pay; one where nobody does."""
    found: Any = 1.0
    for r, cost in paid.items():
        if positive(cost):
            found = least(found, idle[r])
    return found


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


def _frames_reached(timer: Moderation, a: Any) -> int | None:
    """The frame cap of a hold-off timer if it can matter."""
    if timer.kind != "holdoff" or not timer.frames or timer.frames > MOST_FRAMES:
        return None
    top = a if is_float(a) else float(a.max())
    return None if timer.frames > top + WIDE * sqrt(top) + FEW else timer.frames


def _per_interrupt(timer: Moderation | None, rate: Any, tau: Any) -> Any:
    """Frames per interrupt that the timer alone would make."""
    if timer is None or tau is None or timer.kind == "none":
        return 1.0
    if timer.kind == "throttle":
        return throttle_batch(rate, tau)
    frames = _frames_reached(timer, rate * tau)
    return holdoff_batch(rate, tau) if frames is None else capped_holdoff_batch(rate, tau, frames)


def moderation_time(timer: Moderation | None, rate: Any, tau: Any) -> StageTime | None:
    """The wait for the interrupt under random arrivals, None without a timer."""
    if timer is None or tau is None:
        return None
    if timer.kind == "throttle":
        return throttle_time(rate, tau)
    whole = holdoff_time(rate, tau)
    frames = _frames_reached(timer, rate * tau)
    if frames is None:
        return whole
    return scaled(whole, over(capped_holdoff_wait(rate, tau, frames), whole.mean_s))


def _wake_ups(
    leg: Leg, interrupts: Sequence[Any], rate: Any, queues: Mapping[str, Queue], *, stage_scv: Mapping[str, float]
) -> list[tuple[StageShare, StageTime]]:
    """What idle ends add, wake-ups and interrupts, by the set-up law; behind a full ring nobody is idle.

    An interrupt is paid before the first frame of a busy period, and those that come meanwhile wait for it too.
    """
    found = []
    full: Any = 0.0
    for q in queues.values():
        full = most(full, q.fullness)
    together = _per_resource(leg, interrupts)
    for n, s, i, w in zip(leg.nodes, leg.seconds, interrupts, leg.when, strict=True):
        cost, whole = (s, plain(s)) if w == "idle" else (i, together.get(n.resource or "", 0.0))
        if w != "idle" and not positive(whole):
            continue
        share = (1 - full) * plain(cost) / most(whole, SMALLEST)
        time = scaled(setup_time(rate, whole, stage_scv.get(n.stage, 0.0), 0.0), share)
        mean = choose(whole > 0, time.mean_s / most(plain(cost), SMALLEST), 0.0)
        row = StageShare(
            stage=n.stage,
            resource=None if w == "idle" else n.resource,
            seconds=cost * mean,
            owner=n.owner,
            direction=leg.direction,
            when="idle",
        )
        found.append((row, time))
    return found


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
