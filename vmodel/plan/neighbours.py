"""What the VMs of one host do to each other: the fixed point of the load model, for the plan as it stands.

The same equations as `solve.shared`, for groups of equal VMs: presence q = min(1, x D s), s = 1 + the presence of the
others at the same server, waits as there. Where several cores or adapters share the work a VM meets a share of the
others at each.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vmodel.plan.limits import latency
from vmodel.plan.records import Group, Option
from vmodel.plan.respond import BATCHED, BUS, ENGINES, POLLED, POOL, SHARED, WIRE_IN, WIRE_OUT, Answers, Array, respond
from vmodel.plan.room import NIC_IN, POLL, VCPU, Wants, whole
from vmodel.units import PERCENT_PER_ONE

STEPS = 400
PRECISION = 1e-9
ROUNDING = 1e-12
POOL_ROWS = [SHARED.index(kind) for kind in POOL]
BATCHED_ROWS = [SHARED.index(kind) for kind in BATCHED]


@dataclass(frozen=True, kw_only=True)
class Standing:
    """One class on one kind of host: its latency among its neighbours, on the safe side, and where it waits most."""

    option: int
    host: str
    hosts: int
    vms: int  # on each of them
    alone_s: float
    latency_s: float  # at the objective's share of messages, safe side
    objective_s: float | None
    waits_at: str

    @property
    def keeps(self) -> bool:
        """Whether the objective holds."""
        return self.objective_s is None or self.latency_s <= self.objective_s


def fixed_point(answers: Answers, copies: Array, servers: Array) -> Array:
    """What others add to each wait: (kinds of SHARED, groups) [s].

    answers: one column for each group of equal VMs.  copies: VMs in each group.  servers: cores or adapters of each
    kind on the host; the threads of POOL share theirs.
    Iterated half way each time from nothing, as `shared` does; presence is at most one.

    Source: BertsekasGallager1992, section 6.5.2; as `vmodel.solve.shared.share`.
    """
    d, x = answers.demands_s, answers.rate_per_s
    presence = np.zeros_like(d)
    others = np.maximum(copies[None, :, None] - np.eye(len(copies))[None], 0.0)  # (1, me, other)
    per_server = 1 / np.maximum(servers, ROUNDING)
    stretch, half_round = np.ones_like(d), np.zeros_like(d)
    for _ in range(STEPS):
        met = np.einsum("kij,kj->ki", np.broadcast_to(others, (len(d), *others.shape[1:])), presence)
        # on a core of the pool also run the other threads of everybody
        together = (presence[POOL_ROWS].sum(axis=0) * copies).sum()
        met[POOL_ROWS] = np.maximum(together - presence[POOL_ROWS], 0.0)
        stretch = np.maximum(1.0, 1 + met * per_server[:, None])
        turn = np.zeros_like(d)
        turn[BATCHED_ROWS] = (presence * d * np.minimum(answers.turn, 1 / np.maximum(1 - presence, ROUNDING)))[
            BATCHED_ROWS
        ]
        rounds = np.einsum("kij,kj->ki", np.broadcast_to(others, (len(d), *others.shape[1:])), turn)
        half_round = rounds * per_server[:, None] / 2
        aim = np.minimum(1.0, x * d * stretch)
        change = float(np.abs(aim - presence).max(initial=0.0))
        presence = (presence + aim) / 2
        if change <= PRECISION:
            break
    waits = np.maximum(d * (stretch - 1), half_round)
    room, own = 1 - x * d * stretch, 1 - x * d
    queued = np.where(
        (room > ROUNDING) & (own > ROUNDING),
        d * stretch / np.maximum(room, ROUNDING) - d / np.maximum(own, ROUNDING),
        np.inf,
    )
    open_waits = np.maximum(waits, queued)
    longest = np.maximum(answers.ring / np.maximum(x, ROUNDING), 0.0)  # behind a full ring
    return np.where(d > 0, np.where(answers.closed, waits, np.minimum(open_waits, longest)), 0.0)


def servers_of(group: Group, wants: Wants, options: Sequence[Option]) -> Array:
    """Cores for workers and polling, and adapters, that a host of the group has: by kind of SHARED."""
    room, level = group.room, wants.level(group.room, group.counts)
    use = wants.use(room, group.counts) + room.taken
    polling = whole(use[POLL] / level)
    out = np.ones(len(SHARED))
    out[POOL_ROWS] = max(1.0, room.cores - use[VCPU] - polling)
    out[SHARED.index(POLLED)] = max(1.0, polling)
    for kind in ENGINES:
        out[SHARED.index(kind)] = max(1, room.adapters)
    first = int(np.flatnonzero(group.counts)[0])
    host = options[first].asked[room.type].host
    fastest = max((nic.rate for nic in host.nics), default=1.0)
    for kind in (WIRE_IN, WIRE_OUT):
        out[SHARED.index(kind)] = max(1.0, room.capacity[NIC_IN] / fastest)
    out[SHARED.index(BUS)] = 1.0
    return out


def standings(groups: Sequence[Group], wants: Wants, options: Sequence[Option]) -> list[Standing]:
    """Every class on every kind of host of a plan, among its neighbours."""
    pairs = sorted({(int(o), g.room.type) for g in groups for o in np.flatnonzero(g.counts)})
    if not pairs:
        return []
    answers = respond([options[o].asked[t] for o, t in pairs])
    place = {pair: i for i, pair in enumerate(pairs)}
    found = []
    for g in groups:
        present = [int(o) for o in np.flatnonzero(g.counts)]
        if not present:
            continue
        rows = [place[o, g.room.type] for o in present]
        own = answers.pick(rows)
        shares = np.array([options[o].vm.percentile / PERCENT_PER_ONE for o in present])
        factors = np.array([options[o].latency_factor for o in present])
        alone = latency(own, np.zeros_like(own.demands_s), shares) * factors
        waits = fixed_point(own, g.counts[present].astype(float), servers_of(g, wants, options))
        among = latency(own, waits, shares) * factors
        for j, o in enumerate(present):
            found.append(
                Standing(
                    option=o,
                    host=g.room.name,
                    hosts=g.hosts,
                    vms=int(g.counts[o]),
                    alone_s=float(alone[j]),
                    latency_s=float(among[j]),
                    objective_s=options[o].vm.latency,
                    waits_at=SHARED[int(np.argmax(waits[:, j]))] if waits[:, j].any() else "",
                )
            )
    return found
