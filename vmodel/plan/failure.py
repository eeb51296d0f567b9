"""What happens when something fails: its VMs are put elsewhere, by calculation, and every objective must still hold."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vmodel.plan.firstfit import Shelf, orders, place
from vmodel.plan.fleet import Fleet
from vmodel.plan.pricing import Kind
from vmodel.plan.records import Group
from vmodel.plan.respond import Array
from vmodel.plan.room import Room, Wants, without_adapter, without_node

MOST_SPARES = 64


@dataclass(frozen=True, kw_only=True)
class Failure:
    """One thing that fails, and whether everything finds a place where its objective holds."""

    what: str  # host, nic or numa
    host: str  # kind of host
    hosts: int  # how many look the same
    displaced: int  # VMs that must go elsewhere
    holds: bool
    left: dict[int, int]  # option -> VMs without a place
    resource: str  # what would be overfull


def failures(fleet: Fleet, wants: Wants, groups: Sequence[Group], kinds: Sequence[str]) -> list[Failure]:
    """Every failure of these kinds, one for each kind of equal hosts."""
    return [_fail(fleet, wants, groups, i, what) for what in kinds for i, g in enumerate(groups) if g.counts.any()]


def _fail(fleet: Fleet, wants: Wants, groups: Sequence[Group], i: int, what: str) -> Failure:
    g = groups[i]
    host = fleet.host[g.room.type]
    stays = np.zeros_like(g.counts)
    reduced: Room | None = None
    if what == "nic":
        reduced = without_adapter(host, g.room)
        fits = wants.fits(reduced, g.counts)
        _, resource = reduced.pressure(wants.use(reduced, g.counts), wants.level(reduced, g.counts))
        left = {} if fits else {int(o): int(g.counts[o]) for o in np.flatnonzero(g.counts)}
        return Failure(
            what=what, host=g.room.name, hosts=g.hosts, displaced=0, holds=fits, left=left, resource=resource
        )
    if what == "numa" and host.numa_nodes > 1:
        reduced = without_node(host, g.room)
        stays = _staying(wants, reduced, g.counts)
    displaced = g.counts - stays
    others = [replace(h, hosts=h.hosts - (j == i)) for j, h in enumerate(groups)]
    left = moved(wants, others, displaced, reduced, stays)[0]
    resource = "" if not left else _resource(wants, others, left)
    return Failure(
        what=what,
        host=g.room.name,
        hosts=g.hosts,
        displaced=int(displaced.sum()),
        holds=not left,
        left=left,
        resource=resource,
    )


def _staying(wants: Wants, room: Room, counts: Array) -> Array:
    """What the rest of a host holds of its VMs, the largest first."""
    stays = np.zeros_like(counts)
    kind = Kind(room=room, cost=1.0, most=1)
    for option in orders(wants, kind)[0]:
        if counts[option]:
            stays[option] = wants.most_more(room, stays, option, int(counts[option]))
    return stays


def moved(
    wants: Wants, others: Sequence[Group], displaced: Array, reduced: Room | None, stays: Array
) -> tuple[dict[int, int], list[tuple[Room, Shelf]]]:
    """Put VMs into the free room of other hosts: what finds no place, and how the hosts look then."""
    rooms = [g.room for g in others if g.hosts > 0]
    shelves = [
        Shelf(kind=k, hosts=g.hosts, counts=g.counts.copy()) for k, g in enumerate(g for g in others if g.hosts > 0)
    ]
    if reduced is not None and stays.any():
        rooms.append(reduced)
        shelves.append(Shelf(kind=len(rooms) - 1, hosts=1, counts=stays.copy()))
    kinds = [Kind(room=room, cost=1.0, most=None) for room in rooms]
    wanted = {int(o): int(displaced[o]) for o in np.flatnonzero(displaced)}
    best: tuple[dict[int, int], list[Shelf]] = (wanted, shelves)
    for order in orders(wants, kinds[0]) if kinds else []:
        some = [Shelf(kind=s.kind, hosts=s.hosts, counts=s.counts.copy()) for s in shelves]
        left = place(some, wants, kinds, wanted, new=None, order=order)
        if sum(left.values()) < sum(best[0].values()):
            best = (left, some)
        if not left:
            break
    return best[0], [(rooms[s.kind], s) for s in best[1]]


def _resource(wants: Wants, others: Sequence[Group], left: dict[int, int]) -> str:
    """The resource that one more of what is left would overfill on the emptiest of the other hosts."""
    option = next(iter(left))
    found = []
    for g in others:
        if g.hosts > 0 and wants.limits[option, g.room.type] > 0:
            counts = g.counts.copy()
            counts[option] += 1
            found.append(g.room.pressure(wants.use(g.room, counts), wants.level(g.room, counts)))
    return min(found)[1] if found else "hosts that hold such a VM"


def with_spares(
    fleet: Fleet, wants: Wants, groups: Sequence[Group], rooms: Sequence[Room], costs: Sequence[float]
) -> tuple[tuple[Group, ...], tuple[Failure, ...], list[int]]:
    """Add empty hosts until every failure of the rules is survived: groups, failures, spares of each host type.

    Each time the cheapest type that leaves fewest VMs without a place; one more of the largest would always do in
    the end, unless there are too few.
    """
    rules = fleet.rules
    spares = [0] * len(rooms)
    used = [sum(g.hosts for g in groups if g.room.name == room.name) for room in rooms]
    empty = np.zeros(len(wants.vm), dtype=int)

    def together() -> tuple[Group, ...]:
        return (*groups, *(Group(room=r, hosts=n, counts=empty) for r, n in zip(rooms, spares, strict=True) if n))

    def free(k: int) -> bool:
        most = rooms[k].count
        return most is None or used[k] + spares[k] < most

    for _ in range(rules.spare_hosts):
        able = [k for k in range(len(rooms)) if free(k)]
        largest = max(able, key=lambda k: (rooms[k].cores, rooms[k].capacity.sum()), default=None)
        if largest is None:
            break
        spares[largest] += 1
    kinds = list(rules.n_minus_1)
    found = failures(fleet, wants, together(), kinds)
    for _ in range(MOST_SPARES):
        lost = _lost(found)
        if not lost:
            break
        best: tuple[float, float, int, list[Failure]] | None = None
        for k in range(len(rooms)):
            if not free(k):
                continue
            spares[k] += 1
            tried = failures(fleet, wants, together(), kinds)
            spares[k] -= 1
            key = (_lost(tried), costs[k], k)
            if best is None or key < best[:3]:
                best = (*key, tried)
        if best is None or best[0] >= lost:
            break
        spares[best[2]] += 1
        found = best[3]
    return together(), tuple(found), spares


def _lost(found: Sequence[Failure]) -> float:
    """VMs that find no place, over all failures that moving can mend."""
    return float(sum(sum(f.left.values()) for f in found if f.what != "nic"))
