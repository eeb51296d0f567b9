"""Several VMs or flows on one pair of hosts: who gets how much of what they share, who suffers, from which resource.

Here are fair shares and the waiting they cause. What one tenant alone achieves is the solver's affair; tenants on other
hosts are another question, since they share nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from vmodel.core.path import OF_GUEST, PER_HOST
from vmodel.core.records import Load, Outcome, Scenario
from vmodel.solve import compose, solver
from vmodel.solve.dual import plain
from vmodel.solve.workloads import lower_bound
from vmodel.units import BITS_PER_BYTE

BUS, WIRE = "memory bus", "wire"
IN_BATCHES = ("poll-mode core", *OF_GUEST)  # who takes a batch of one tenant before it turns to the next
STEPS = 2000
PRECISION = 1e-13
ROUNDING = 1e-12  # of a capacity: what is left of it after rounding is nothing
SUFFERS = 1e-6  # a smaller relative loss of rate is no suffering

ASSUMPTIONS = (
    "All tenants stand on the same pair of hosts; guest processors and applications' own processors are private.",
    "Each VM has a vhost worker or I/O thread of its own unless one worker is said to serve all.",
    "A shared resource goes round the tenants that have something for it, in proportion to their weights.",
    "At a contended resource a message costs what it costs at saturation; who is backlogged is served in full batches.",
    "The memory bus is one, also where a path crosses two hosts.",
    "Several queues of one tenant divide its softirq work over as many processors, which the others have as well.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """A VM or a flow: a scenario, and its weight where a shared resource is contended."""

    name: str
    scenario: Scenario
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What one tenant gets; rates are messages per second."""

    name: str
    rate_per_s: float
    alone_per_s: float
    latency_s: float
    alone_latency_s: float
    loss: float
    limited_by: str | None  # shared resource that is full; None where the tenant's own limit or load comes first
    waits_s: Mapping[str, float]  # shared resource -> what the others add there to the tenant's latency

    @property
    def kept(self) -> float:
        """The part of its own rate that a tenant keeps among the others."""
        return self.rate_per_s / self.alone_per_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharing:
    """All tenants side by side, and how busy the shared resources are."""

    shares: tuple[Share, ...]
    busy: Mapping[str, float]  # of resources that more than one tenant uses, as a part of their capacity
    suffering: Mapping[str, str]  # tenant -> the shared resource it suffers from
    assumptions: tuple[str, ...] = ASSUMPTIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """An allocation by progressive filling: a rate per tenant, and the resource that stopped it (None: its ceiling)."""

    rates: tuple[float, ...]
    limits: tuple[str | None, ...]


def max_min(
    demands_s: Sequence[Mapping[str, float]],
    ceilings: Sequence[float],
    speeds: Sequence[float],
    capacity: Mapping[str, float],
) -> Filled:
    """Weighted max-min fair rates by progressive filling: all grow together until a resource is full.

    x_i = min(ceiling_i, g_i level_i), with sum_i x_i D_ir <= C_r; nobody can have more unless one with less, in units
    of its g_i, gets still less.

    demands_s: D_ir per tenant and resource [s].  ceilings: most a tenant can use [1/s].  speeds: g_i, how fast it grows
    [1/s].  capacity: C_r per resource, 1 where not named [-].  Returns rates [1/s] and what stopped each.
    Exact.  With one shared resource a newcomer takes from everybody; with several it can also set another free.

    Three flows on two links, the first crosses both:

    >>> max_min([{"a": 1, "b": 1}, {"a": 1}, {"b": 0.5}], [9, 9, 9], [1, 1, 1], {}).rates
    (0.5, 0.5, 1.0)

    Source: BertsekasGallager1992, section 6.5.2.
    """
    count = len(demands_s)
    rates, limits = [0.0] * count, [None] * count  # type: tuple[list[float], list[str | None]]
    spare = {r: capacity.get(r, 1.0) for own in demands_s for r, d in own.items() if d > 0}
    whole = dict(spare)
    active = set(range(count))
    level = 0.0
    while active:
        slopes = {r: sum(speeds[i] * demands_s[i].get(r, 0.0) for i in active) for r in spare}
        rises = {r: max(spare[r], 0.0) / slope for r, slope in slopes.items() if slope > 0}
        own = {i: ceilings[i] / speeds[i] - level for i in active}
        rise = max(min([*rises.values(), *own.values()]), 0.0)
        level += rise
        for r, slope in slopes.items():
            spare[r] -= slope * rise
        full = {r for r, slope in slopes.items() if slope > 0 and spare[r] <= ROUNDING * whole[r]}
        done = {i for i in active if own[i] <= rise}
        for i in active:
            rates[i] = ceilings[i] if i in done else min(ceilings[i], speeds[i] * level)
            stop = next((r for r in sorted(full) if demands_s[i].get(r, 0.0) > 0), None)
            if i not in done and stop is not None:
                limits[i] = stop
                done.add(i)
        active -= done
    return Filled(rates=tuple(rates), limits=tuple(limits))


def share(
    tenants: Sequence[Tenant],
    *,
    shared_worker: bool = False,
    peers_apart: bool = False,
    by_message: bool = False,
    batches: bool = True,
    capacity: Mapping[str, float] | None = None,
) -> Sharing:
    """Divide the shared resources among tenants: rates, latency, loss, and who suffers from which resource.

    x = max-min over the shared resources, each at most at its own rate;  a ping-pong of n: x = n / (R + sum_r w_r),
    w_r = max(D_r (s_r - 1), half a round of the others' turns);  s_r = max(1, (1 + sum of the others' presence) / C_r),
    presence q = min(1, x D_r s_r), a turn min(batch, 1 / (1 - q)) messages: a fixed point.  A stream waits for its
    share alone, w_r = D_r (s_r - 1).

    shared_worker: one vhost worker or I/O thread serves all VMs of a host.  peers_apart: the far ends stand on hosts
    of their own.  by_message: equal messages, as a core that goes round rings, instead of equal time of the most
    contended resource.  batches: False for cores that serve tenants in pieces however small.  capacity: kind of
    resource -> how many of it there are, or how much faster it is [-].
    One tenant alone gets the solver's answer.  The waits take the tenants' presences as independent; against simulated
    turns of equal tenants at loads 0.3 to 0.8 what is added lies within 30 % for exponential work and is about twice
    too long for constant work.  On one resource served in pieces a newcomer raises nobody's rate; full batches can
    drive ping-pongs back so far that others gain.

    Source: BertsekasGallager1992, section 6.5.2; Ghodsi2011, section 4.1; BergBoxma1991.
    """
    outcomes = [solver.solve(t.scenario, compose.parameter_values(t.scenario)).outcome for t in tenants]
    full = [_saturated(t.scenario) for t in tenants]
    used = [_placed(t, f.outcome, shared_worker, peers_apart) for t, f in zip(tenants, full, strict=True)]
    turns = [_turn(t.scenario, f) if batches else 0.0 for t, f in zip(tenants, full, strict=True)]
    users: dict[str, int] = {}
    for own in used:
        for r, d in own.items():
            users[r] = users.get(r, 0) + (d > 0)
    rooms = {r: (capacity or {}).get(r.partition("|")[0], 1.0) for r in users}
    contended = {r for r, n in users.items() if n > 1 or rooms[r] < 1 or (shared_worker and r.startswith(OF_GUEST))}
    demands = [{r: d for r, d in own.items() if r in contended} for own in used]
    dominant = [1.0 if by_message or not own else max(d / rooms[r] for r, d in own.items()) for own in demands]
    speeds = [t.weight / (d or 1.0) for t, d in zip(tenants, dominant, strict=True)]
    alone = [float(plain(out.rate_per_s)) for out in outcomes]
    filled, meetings = _settle(tenants, alone, demands, speeds, (rooms, turns))
    shares = tuple(
        _share(t, out, (rate, limit), own, met)
        for t, out, rate, limit, own, met in zip(
            tenants, outcomes, filled.rates, filled.limits, demands, meetings, strict=True
        )
    )
    busy = {
        r: sum(x * own.get(r, 0.0) for x, own in zip(filled.rates, demands, strict=True)) / rooms[r]
        for r in sorted(contended)
    }
    suffering = {
        s.name: s.limited_by or max(s.waits_s, key=lambda r: s.waits_s[r])
        for s, a in zip(shares, alone, strict=True)
        if s.rate_per_s < a * (1 - SUFFERS) and (s.limited_by or s.waits_s)
    }
    return Sharing(shares=shares, busy=busy, suffering=suffering)


def _saturated(s: Scenario) -> solver.Solved:
    """The scenario as fast as possible: what its messages cost a resource that is never idle."""
    return solver.solve(replace(s, load=Load()), compose.parameter_values(s))


def _turn(s: Scenario, found: solver.Solved) -> float:
    """Most messages of a tenant that are taken in one turn: a batch of segments, a ring's worth of pages, a window."""
    segments = float(plain(found.words.get("segments", 1.0)))
    entries = max(1.0, s.knobs["size"] / max(segments, 1.0) / s.knobs["page_bytes"])
    most = min(s.knobs["batch"], s.knobs["ring_size"] / entries) / segments
    return float(max(1.0, most if s.workload != "rr" else min(most, s.knobs["in_flight"])))


def _placed(tenant: Tenant, out: Outcome, shared_worker: bool, peers_apart: bool) -> dict[str, float]:
    """The tenant's demands under names that say which instance they meet."""
    found: dict[str, float] = {}
    for key, seconds in out.demands_s.items():
        name = _instance(tenant, key, shared_worker, peers_apart)
        found[name] = found.get(name, 0.0) + float(plain(seconds))
    return found


def _instance(tenant: Tenant, key: str, shared_worker: bool, peers_apart: bool) -> str:
    """Name the instance of a resource: `here` is the host of the path's own end, `there` the peer's."""
    kind, _, label = key.partition("|")
    s = tenant.scenario
    apart = s.topology.startswith("cross")
    if kind == BUS:
        return kind
    if kind == WIRE:
        return f"{kind}|{'in' if (label == 'there') == (s.direction == 'to-vm') else 'out'}"
    mine = f"{key}|{tenant.name}"
    if kind in PER_HOST:
        here = not apart or label == "1"
    elif kind in OF_GUEST and shared_worker:
        here = not apart or label == "guest" or (label == "sender") == (s.direction == "from-vm")
    else:
        return mine
    return mine if peers_apart and not here else f"{kind}|{'here' if here else 'there'}"


def _in_flight(s: Scenario) -> float | None:
    """Requests in flight of a closed loop; None where the sender waits for no answer."""
    return float(s.knobs["in_flight"]) if s.workload == "rr" else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Meeting:
    """What a tenant meets at a resource: how its service is stretched, and half a round of the others' turns [s]."""

    stretch: float
    half_round_s: float

    def wait_s(self, demand_s: float) -> float:
        return max(demand_s * (self.stretch - 1), self.half_round_s)


def _meetings(
    tenants: Sequence[Tenant],
    demands: Sequence[Mapping[str, float]],
    presence: Sequence[Mapping[str, float]],
    given: tuple[Mapping[str, float], Sequence[float]],
) -> list[dict[str, _Meeting]]:
    """What each tenant meets at each resource, from the presence of the others."""
    rooms, turns = given
    together: dict[str, float] = {}
    rounds: dict[str, float] = {}
    each = [
        {r: q * d[r] * min(n, 1 / max(1 - q, ROUNDING)) if r.startswith(IN_BATCHES) else 0.0 for r, q in own.items()}
        for d, own, n in zip(demands, presence, turns, strict=True)
    ]
    for t, own, turn in zip(tenants, presence, each, strict=True):
        for r, q in own.items():
            together[r] = together.get(r, 0.0) + t.weight * q
            rounds[r] = rounds.get(r, 0.0) + turn[r]
    return [
        {
            r: _Meeting(
                stretch=max(1.0, (1 + max(together[r] / t.weight - q, 0.0)) / rooms[r]),
                half_round_s=max(rounds[r] - turn[r], 0.0) / rooms[r] / 2,
            )
            for r, q in own.items()
        }
        for t, own, turn in zip(tenants, presence, each, strict=True)
    ]


def _settle(
    tenants: Sequence[Tenant],
    alone: Sequence[float],
    demands: Sequence[Mapping[str, float]],
    speeds: Sequence[float],
    given: tuple[Mapping[str, float], Sequence[float]],
) -> tuple[Filled, list[dict[str, _Meeting]]]:
    """The fixed point of fair rates and of how much the tenants hold each other up."""
    ceilings = list(alone)
    presence = [dict.fromkeys(own, 0.0) for own in demands]
    filled = max_min(demands, ceilings, speeds, given[0])
    meetings = _meetings(tenants, demands, presence, given)
    for _ in range(STEPS):
        change = 0.0
        for i, t in enumerate(tenants):
            n = _in_flight(t.scenario)
            if n is not None:
                added = sum(met.wait_s(demands[i][r]) for r, met in meetings[i].items())
                aim = n / (n / alone[i] + added)
                change = max(change, abs(aim / ceilings[i] - 1))
                ceilings[i] = (ceilings[i] + aim) / 2
        filled = max_min(demands, ceilings, speeds, given[0])
        for own, d, x, met in zip(presence, demands, filled.rates, meetings, strict=True):
            for r in own:
                aim = min(1.0, x * d[r] * met[r].stretch)
                change = max(change, abs(aim - own[r]))
                own[r] = (own[r] + aim) / 2
        meetings = _meetings(tenants, demands, presence, given)
        if change <= PRECISION:
            break
    return filled, meetings


def _share(
    t: Tenant,
    out: Outcome,
    found: tuple[float, str | None],
    demands: Mapping[str, float],
    meetings: Mapping[str, _Meeting],
) -> Share:
    """One tenant's answer from its rate and from what it meets at the shared resources."""
    s, (rate, limit) = t.scenario, found
    alone, latency = float(plain(out.rate_per_s)), float(plain(out.latency_s))
    offered, n = rate, _in_flight(s)  # a sender as fast as possible is held back and loses nothing
    waits = {r: met.wait_s(demands[r]) for r, met in meetings.items() if met.wait_s(demands[r]) > 0}
    if n is not None:
        together = n / rate
    elif s.workload == "stream":
        waits = {r: demands[r] * (meetings[r].stretch - 1) for r in waits if meetings[r].stretch > 1}
        together = latency + sum(waits.values())
    else:
        if s.load.kind != "max":
            offered = s.load.value / (s.knobs["size"] * BITS_PER_BYTE if s.load.kind == "throughput_bps" else 1.0)
        full = max(lower_bound(out) + float(s.knobs["ring_size"]) / rate - latency, 0.0)
        waits = {
            r: min(max(w, _added(demands[r], meetings[r].stretch, rate, r == limit)), full) for r, w in waits.items()
        }
        together = latency + min(sum(waits.values()), full)
    return Share(
        name=t.name,
        rate_per_s=rate,
        alone_per_s=alone,
        latency_s=together,
        alone_latency_s=latency,
        loss=max(float(plain(out.loss)), 1 - rate / offered, 0.0) if s.workload == "packets" else 0.0,
        limited_by=limit,
        waits_s=waits,
    )


def _added(demand_s: float, stretch: float, rate: float, full: bool) -> float:
    """What sharing adds to the response of a tenant's own queue, M/G/1-PS with its service stretched [s].

    D s / (1 - x D s) - D / (1 - x D).

    Source: Kleinrock1976, section 4.4.
    """
    room, own = 1 - rate * demand_s * stretch, 1 - rate * demand_s
    if full or room <= ROUNDING or own <= ROUNDING:
        return float("inf")
    return demand_s * stretch / room - demand_s / own
