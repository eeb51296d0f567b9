"""Two workloads as laws over stage times: ping-pong and bulk stream. Floats, arrays and duals alike; frames: `load`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from vmodel.core.path import Node
from vmodel.core.records import Outcome, StageShare
from vmodel.library.moderation import Moderation
from vmodel.solve.dual import larger, largest, plain, smaller, total

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
    first: Sequence[Any] | None = None  # the same of the first piece of a message that travels in several


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


def overlapped(leg: Leg) -> Leg:
    """What a message in pieces takes: all stages of its first piece, and the further ones at the slowest resource.

    T = sum t_i(first) + max_r (D_r - D_r(first)): while the slowest works, the others are done with what came before.
    """
    if leg.first is None:
        return leg
    more = [x - y for x, y in zip(leg.seconds, leg.first, strict=True)]
    further = {k: plain(v) for k, v in demands([replace(leg, seconds=more)]).items()}
    slowest = largest(list(further.values()))
    seconds, taken = [], 0.0
    chosen: dict[str, Any] = {}
    for key, extra in further.items():
        chosen[key] = 1.0 * (extra >= slowest) * (1 - taken)
        taken = taken + chosen[key]
    for n, x, y, rest, when in zip(leg.nodes, leg.seconds, leg.first, more, leg.when, strict=True):
        seconds.append(x if n.resource is None or when != "always" else y + chosen[n.resource] * rest)
    return replace(leg, seconds=seconds)


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


def rr(legs: Sequence[Leg], bus_s: Any, *, think_s: Any = 0.0) -> Outcome:
    """Ping-pong: R0 = sum of all stages both ways; a throttle locks, R = max(R0, tau); a hold-off adds its timer.

    Of a message in several pieces only the slowest resource's work on the further ones counts (overlapped).
    A pause Z between answer and next request lets a throttle run out: R = max(R0, tau - Z), rate 1 / (R + Z).
    """
    shares = [row for leg in legs for row in paid_shares(overlapped(leg), ("always", "idle"))]
    alone = total([row.seconds for row in shares])
    work = total([row.seconds for row in shares if row.when == "always"])
    d = demands(legs)
    held = [leg for leg in legs if _held_off(leg)]
    shares += [_wait(leg, leg.timer_s) for leg in held]
    cycle = alone if not held else alone + total([leg.timer_s for leg in held])
    throttled = [leg for leg in legs if _throttled(leg)]
    regime = ["ping-pong, ends idle between messages"]
    locked = cycle
    if throttled:
        timer = largest([leg.timer_s for leg in throttled]) - think_s
        locked = larger(cycle, timer)
        shares.append(_wait(throttled[-1], locked - cycle))
        regime.append(
            "locked to the interrupt throttle"
            if everywhere(plain(timer) > plain(cycle))
            else "interrupt throttle shorter than the round trip"
        )
    if held:
        regime.append("hold-off timers add up")
    rate = 1 / (locked + think_s)
    return Outcome(
        latency_s=locked,
        rate_per_s=rate,
        upper_rate_per_s=1 / larger(largest(list(d.values())), work),
        demands_s={**d, "memory bus": bus_s},
        shares=tuple(shares),
        regime=tuple(regime),
        saturated=False,
        interrupts_per_s=total([moderated(leg, leg.interrupts * rate) for leg in legs]),
    )


def everywhere(x: Any) -> bool:
    """Whether a condition holds, for all elements of an array."""
    return bool(x) if isinstance(x, bool) or not hasattr(x, "all") or getattr(x, "ndim", 0) == 0 else bool(x.all())


@dataclass(frozen=True, slots=True, kw_only=True)
class Trip:
    """What a window waits for: a whole message there, or a piece where the window is smaller, and an answer."""

    whole: Leg
    piece: Leg
    back: Leg
    pieces: float
    window: float
    flows: float

    def seconds(self, size: Any) -> Any:
        """Time of one window W of each of f flows, for messages of a size, divided by f.

        size <= W: R = sum of the stages of a message and of its acknowledgement.  size > W, where the sender waits
        within each message: R = sum of all stages of a piece and of the acknowledgement, wake-ups included,
        + (n - 1) max(D_r), n the pieces of a window.  Moderation timers of both ends count in either.  Flows share
        the resources: max(R / f, n max(D_r)).
        """
        paid = ("always", "idle")
        cut = 1.0 * (size > self.window)
        waits = [timer for timer in (self.whole.timer_s, self.back.timer_s) if timer is not None]
        whole = [row.seconds for leg in (self.whole, self.back) for row in paid_shares(leg, ("always",))]
        if everywhere(cut == 0):
            return total([*whole, *waits]) / self.flows
        pieces = [row.seconds for leg in (self.piece, self.back) for row in paid_shares(leg, paid)]
        longest = largest(list(demands([self.piece, self.back]).values()))
        trip = total([*pieces, *waits]) + (self.pieces - 1) * longest
        alternating = larger(trip / self.flows, self.pieces * longest)
        return (1 - cut) * total([*whole, *waits]) / self.flows + cut * alternating


def stream(leg: Leg, sender_cpu: str | None, *, trip: Trip | None, size: Any, bus_s: Any) -> Outcome:
    """Bulk transfer: time per message is the largest demand, or the window's share of a round trip.

    T = max(D_r);  a sender faster than the rest blocks for the share phi = 1 - D_sender / D_rest of the time, and
    stages paid only then add phi times their cost.  With a window W: T >= size R / W, R the time of one window (Trip).
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
    if trip is not None:
        limited = larger(pace, size * trip.seconds(size) / trip.window)
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
