"""First-fit decreasing: the plan that everybody could make by hand, which ours must never cost more than.

Equal hosts with equal VMs are one group, so that the effort does not grow with the number of VMs.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vmodel.plan.options import share_of
from vmodel.plan.pricing import Kind
from vmodel.plan.respond import Array
from vmodel.plan.room import CAPPED, LEVELLED, Wants


@dataclass
class Shelf:
    """Hosts with equal VMs on each."""

    kind: int
    hosts: int
    counts: Array


def place(
    shelves: list[Shelf],
    wants: Wants,
    kinds: Sequence[Kind],
    demand: dict[int, int],
    *,
    new: int | None,
    order: Sequence[int],
) -> dict[int, int]:
    """Put VMs on the first shelf with room, then on new hosts of a kind; returns what found no place, by option."""
    left = dict.fromkeys(order, 0) | demand
    for option in order:
        i = 0
        while left[option] > 0 and i < len(shelves):
            shelf = shelves[i]
            room = kinds[shelf.kind].room
            k = wants.most_more(room, shelf.counts, option, left[option])
            if k > 0:
                i = _fill(shelves, i, option, k, left)
            i += 1
        if left[option] > 0 and new is not None:
            _open(shelves, wants, kinds, left, new=new, option=option)
    return {option: n for option, n in left.items() if n > 0}


def _fill(shelves: list[Shelf], i: int, option: int, k: int, left: dict[int, int]) -> int:
    """Put k more on each host of a shelf, on as many hosts as needed; the others stay behind it. Returns the last."""
    shelf = shelves[i]
    full = min(shelf.hosts, left[option] // k)
    pieces: list[Shelf] = []
    if full:
        more = shelf.counts.copy()
        more[option] += k
        pieces.append(Shelf(kind=shelf.kind, hosts=full, counts=more))
        left[option] -= full * k
    if full < shelf.hosts and left[option] > 0:
        some = shelf.counts.copy()
        some[option] += left[option]
        pieces.append(Shelf(kind=shelf.kind, hosts=1, counts=some))
        left[option] = 0
        full += 1
    if full < shelf.hosts:
        pieces.append(Shelf(kind=shelf.kind, hosts=shelf.hosts - full, counts=shelf.counts))
    shelves[i : i + 1] = pieces
    return i + len(pieces) - 1


def _open(
    shelves: list[Shelf], wants: Wants, kinds: Sequence[Kind], left: dict[int, int], *, new: int, option: int
) -> None:
    """New hosts of a kind for what is left of an option."""
    room = kinds[new].room
    empty = np.zeros(len(wants.vm), dtype=int)
    k = wants.most_more(room, empty, option, left[option])
    if k <= 0:
        return
    there = sum(s.hosts for s in shelves if s.kind == new)
    hosts = -(-left[option] // k)
    most = kinds[new].most
    if most is not None:
        hosts = min(hosts, most - there)
    if hosts <= 0:
        return
    shelves.append(Shelf(kind=new, hosts=hosts, counts=empty))
    _fill(shelves, len(shelves) - 1, option, k, left)
    shelves[:] = [s for s in shelves if s.hosts > 0 and (s.counts.any() or kinds[s.kind].today is not None)]


def orders(wants: Wants, kind: Kind) -> list[list[int]]:
    """Options from large to small, by their largest share of a host, by their sum, and by each resource."""
    room = kind.room
    levels = np.where(wants.limits[:, room.type] > 0, wants.limits[:, room.type], 1.0)
    needs = wants.needs[:, room.type]
    there = np.where(room.capacity > 0, room.capacity, 1.0)
    keys = [[share_of(room, n, u) for n, u in zip(needs, levels, strict=True)]]
    keys.append(list((needs / there).sum(axis=1)))
    keys += [list(needs[:, c] / there[c]) for c in (*LEVELLED, *CAPPED) if needs[:, c].any()]
    return [sorted(range(len(needs)), key=lambda i: (-key[i], i)) for key in keys]


def first_fit(
    wants: Wants, kinds: Sequence[Kind], demand: Sequence[int], start: Sequence[Shelf], *, most_orders: int = 64
) -> tuple[float, list[Shelf], dict[int, int]]:
    """The best of first-fit decreasing over several orders and kinds of new hosts: cost, shelves, what has no place.

    wants: one option for each class.  start: hosts that run already.  With several kinds of new hosts each is tried
    alone first, then what it does not hold goes to the others.
    """
    best: tuple[tuple[int, float], list[Shelf], dict[int, int]] | None = None
    fresh = [k for k, kind in enumerate(kinds) if kind.today is None]
    for first in fresh or [-1]:
        for order in orders(wants, kinds[max(first, 0)])[:most_orders]:
            shelves = [Shelf(kind=s.kind, hosts=s.hosts, counts=s.counts.copy()) for s in start]
            left = {i: int(n) for i, n in enumerate(demand) if n > 0}
            for kind in (first, *(k for k in fresh if k != first)):
                if not left:
                    break
                left = place(shelves, wants, kinds, left, new=kind if kind >= 0 else None, order=order)
            used = [s for s in shelves if s.hosts > 0]
            cost = sum(s.hosts * kinds[s.kind].cost_of(_per_class(wants, s.counts)) for s in used)
            key = (sum(left.values()), cost)
            if best is None or key < best[0]:
                best = (key, used, left)
    if best is None:
        return 0.0, list(start), {i: int(n) for i, n in enumerate(demand) if n > 0}
    return best[0][1], best[1], best[2]


def _per_class(wants: Wants, counts: Array) -> Array:
    out = np.zeros(int(wants.vm.max()) + 1 if len(wants.vm) else 0)
    np.add.at(out, wants.vm, counts)
    return out
