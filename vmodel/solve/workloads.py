"""Two workloads as laws over stage times: ping-pong and bulk stream. Floats, arrays and duals alike; frames: `load`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vmodel.core.path import Node
from vmodel.core.records import Outcome, StageShare
from vmodel.library.moderation import Moderation
from vmodel.solve.dual import larger, largest, plain, smaller, total
from vmodel.solve.mva import exact_mva

SHORTEST_TIMER_S = 1e-12  # stands for a timer that is off
WAITS = ("queueing", "full_ring")


@dataclass(frozen=True, slots=True, kw_only=True)
class Leg:
    """One direction of a path: stages, what each costs a message, when it is paid, how the receiver is interrupted."""

    nodes: Sequence[Node]
    seconds: Sequence[Any]
    when: Sequence[str]
    direction: str
    timer: Moderation | None
    timer_s: Any
    interrupts: Any
    busy_share: Any = 1.0


def paid_shares(leg: Leg, paid: Sequence[str]) -> tuple[StageShare, ...]:
    """The stages of a leg that are paid at such times, as rows of a breakdown."""
    return tuple(
        StageShare(stage=n.stage, resource=n.resource, seconds=s, owner=n.owner, direction=leg.direction, when=w)
        for n, s, w in zip(leg.nodes, leg.seconds, leg.when, strict=True)
        if w in paid
    )


def demands(legs: Sequence[Leg], paid: Sequence[str] = ("always",)) -> dict[str, Any]:
    """Seconds per message that each resource is busy: D_r = sum over its stages."""
    found: dict[str, list[Any]] = {}
    for leg in legs:
        for n, s, w in zip(leg.nodes, leg.seconds, leg.when, strict=True):
            if n.resource is not None and w in paid:
                found.setdefault(n.resource, []).append(s)
    return {resource: total(parts) for resource, parts in found.items()}


def _wait(leg: Leg, seconds: Any) -> StageShare:
    return StageShare(
        stage="moderation_wait", resource=None, seconds=seconds, owner="", direction=leg.direction, when="idle"
    )


def lower_bound(out: Outcome) -> float:
    """Latency that no message undercuts: work and transit alone, without queueing, wake-ups and timers [s]."""
    rows = (row for row in out.shares if row.when == "always" and row.stage not in WAITS)
    return float(sum(plain(row.seconds) for row in rows))


def _throttled(leg: Leg) -> bool:
    return leg.timer is not None and leg.timer.kind == "throttle"


def _held_off(leg: Leg) -> bool:
    return leg.timer is not None and leg.timer.kind == "holdoff"


def rr(legs: Sequence[Leg], in_flight: int, bus_s: Any) -> Outcome:
    """Ping-pong: R0 = sum of all stages both ways; a throttle locks, R = max(R0, tau); a hold-off adds its timer.

    With n in flight R0 is n / X of exact MVA over the demands, with the delays as thinking time. Little's law holds.
    """
    paid = ("always", "idle")
    shares = [row for leg in legs for row in paid_shares(leg, paid)]
    alone = total([row.seconds for row in shares])
    work = total([row.seconds for row in shares if row.when == "always"])
    d = demands(legs)
    held = [leg for leg in legs if _held_off(leg)]
    for leg in held:
        shares.append(_wait(leg, leg.timer_s))
    cycle = alone if not held else alone + total([leg.timer_s for leg in held])
    queueing = 0.0
    if in_flight > 1:
        keys = sorted(d)
        delay = cycle - total([d[k] for k in keys])
        closed = exact_mva([plain(d[k]) for k in keys], plain(delay), in_flight)
        queueing = in_flight / closed.throughput_pps - plain(cycle)
        shares.append(
            StageShare(stage="queueing", resource=None, seconds=queueing, owner="", direction="", when="always")
        )
        cycle = cycle + queueing
    throttled = [leg for leg in legs if _throttled(leg)]
    regime = ["ping-pong, ends idle between messages" if in_flight == 1 else f"closed loop of {in_flight} requests"]
    locked = cycle
    if throttled:
        timer = largest([leg.timer_s for leg in throttled])
        locked = larger(cycle, timer)
        shares.append(_wait(throttled[-1], locked - cycle))
        regime.append(
            "locked to the interrupt throttle"
            if everywhere(plain(timer) > plain(cycle))
            else "interrupt throttle shorter than the round trip"
        )
    if held:
        regime.append("hold-off timers add up")
    rate = in_flight / locked
    return Outcome(
        latency_s=locked,
        rate_per_s=rate,
        upper_rate_per_s=1 / larger(largest(list(d.values())), work / in_flight),
        demands_s={**d, "memory bus": bus_s},
        shares=tuple(shares),
        regime=tuple(regime),
        saturated=False,
        interrupts_per_s=total([moderated(leg, leg.interrupts * rate) for leg in legs]),
    )


def everywhere(x: Any) -> bool:
    """Whether a condition holds, for all elements of an array."""
    return bool(x) if isinstance(x, bool) or not hasattr(x, "all") or getattr(x, "ndim", 0) == 0 else bool(x.all())


def stream(leg: Leg, back: Leg, sender_cpu: str | None, *, window: float | None, size: Any, bus_s: Any) -> Outcome:
    """Bulk transfer: time per message is the largest demand, or the window's share of a round trip.

    T = max(D_r);  a sender faster than the rest blocks for the share phi = 1 - D_sender / D_rest of the time, and
    stages paid only then add phi times their cost.  With a window W: T >= size R / W, R the round trip of a message
    and its acknowledgement, with the moderation timer of either end.
    """
    d = demands([leg])
    blocked = demands([leg], ("blocked",))
    regime = []
    if blocked and sender_cpu in d:
        rest = largest([v for k, v in d.items() if k != sender_cpu])
        share = larger(0.0 * rest, 1 - d[sender_cpu] / rest)
        for k, v in blocked.items():
            d[k] = d[k] + v * share
        if everywhere(plain(share) > 0):
            regime.append("sender waits for credit")
    pace = larger(largest(list(d.values())), bus_s)
    shares = paid_shares(leg, ("always",))
    transit = total([row.seconds for row in shares])
    upper = 1 / pace
    if window is not None:
        trip = transit + total([row.seconds for row in paid_shares(back, ("always",))])
        for timer in (leg.timer_s, back.timer_s):
            trip = trip if timer is None else trip + timer
        limited = larger(pace, size * trip / window)
        if everywhere(plain(limited) > plain(pace)):
            regime.append("limited by the window")
        pace = limited
    rate = 1 / pace
    regime.append(_notification_regime(d, sender_cpu))
    return Outcome(
        latency_s=transit,
        rate_per_s=rate,
        upper_rate_per_s=upper,
        demands_s={**d, "memory bus": bus_s},
        shares=shares,
        regime=tuple(regime),
        saturated=True,
        interrupts_per_s=moderated(leg, leg.interrupts * rate),
    )


def _notification_regime(d: Mapping[str, Any], sender_cpu: str | None) -> str:
    """Name the producer/consumer regime: who waits for whom decides who pays for notifications."""
    if sender_cpu is None or sender_cpu not in d:
        return "pipeline"
    others = [plain(v) for k, v in d.items() if k != sender_cpu]
    if not others or everywhere(plain(d[sender_cpu]) >= largest(others)):
        return "slow producer: the back end sleeps between messages, each is notified"
    return "slow consumer: the back end never sleeps, notifications are suppressed"


def moderated(leg: Leg, unlimited: Any) -> Any:
    """Interrupts per second: one per notification, never more than the moderation timer lets through."""
    if leg.timer is None or leg.timer_s is None:
        return unlimited
    return smaller(unlimited, 1 / larger(leg.timer_s, SHORTEST_TIMER_S))
