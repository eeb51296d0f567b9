"""Where everything stands: one path with its settings for each class, whole hosts, proven against a bound.

First the programme chooses freely among the options of each class, which gives the bound. Then each class keeps one
option, and the numbers of hosts are made whole. First-fit decreasing is run beside it, the cheaper answer is taken,
and each answer is checked by plain arithmetic.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vmodel.plan.columns import FINE, ROUGH, Found, Pattern, Pool, generate
from vmodel.plan.firstfit import Shelf, first_fit
from vmodel.plan.pricing import Kind, Market
from vmodel.plan.records import Group, Placement
from vmodel.plan.respond import Array
from vmodel.plan.room import Wants, keep
from vmodel.plan.whole import Answer, dive, good, polish

WORSE = 1e-3  # a choice of options that costs so much more than free choice is looked at again
SWAPS = 12
SMALL = 12  # hosts up to which other options are tried in whole hosts
TINY = 1e-9


@dataclass(frozen=True, kw_only=True)
class Problem:
    """What there is to place, on what."""

    kinds: tuple[Kind, ...]
    wants: Wants  # all options
    demand: Array  # VMs of each class
    start: tuple[Shelf, ...]  # hosts that run already; counts by class
    step: float | None  # every plan costs a whole multiple of it


def solve(problem: Problem, *, time_limit_s: float) -> tuple[Placement | None, Found]:
    """The cheapest placement found, and the programme that bounds it; None where VMs are left without a place."""
    until = time.monotonic() + time_limit_s
    market = Market(problem.kinds, problem.wants, problem.demand)
    pool = _seeded(market, problem, _cheapest(problem))
    best: Answer | None = None
    first_fit_cost, bound, known = float("inf"), 0.0, 0
    for near in (ROUGH, FINE):
        free = generate(pool, until=until, near=near, step=problem.step, bound=bound)
        bound = free.bound
        if free.missing.max(initial=0.0) > TINY * max(1.0, float(problem.demand.sum())):
            return None, free
        if len(free.patterns) > known and (best is None or not good(market, best[0], bound)):
            known = len(free.patterns)
            best, by_hand = _in_whole_hosts(problem, free, until, best)
            first_fit_cost = min(first_fit_cost, by_hand)
        if best is not None and good(market, best[0], bound):
            break
    if best is not None:
        best = _swapped(problem, free, best, until)
    if best is None:
        return None, free
    cost, groups, picked = best
    placement = Placement(
        groups=groups,
        chosen=tuple(picked),
        cost=cost,
        bound=min(free.bound, cost),
        first_fit=first_fit_cost,
        proven=free.complete,
        moves=moves(problem, groups),
        note="" if free.complete and time.monotonic() <= until else "time limit reached: the best answer so far",
    )
    check(problem, placement)
    return placement, free


def _in_whole_hosts(problem: Problem, free: Found, until: float, best: Answer | None) -> tuple[Answer | None, float]:
    """The cheapest of a dive, first-fit decreasing and what is known; and the cost of first-fit decreasing."""
    chosen, fixed, kept = _fix(problem, free, until)
    by_hand = [_by_hand(problem, list(some)) for some in sorted({tuple(chosen), tuple(_cheapest(problem))})]
    answers = [a for a in (best, dive(kept, fixed), *by_hand) if a is not None]
    best = min(answers, key=_cost, default=None)
    rough = min((a for a in answers if list(a[2]) == chosen), key=_cost, default=None)
    if best is not None and rough is not None and not good(kept, best[0], free.bound):
        best = min(best, polish(kept, replace(fixed, bound=free.bound), rough), key=_cost)
    return best, min((a[0] for a in by_hand if a is not None), default=float("inf"))


def _cost(answer: Answer) -> float:
    return answer[0]


def _by_hand(problem: Problem, chosen: list[int]) -> Answer | None:
    """First-fit decreasing with these options; None where VMs are left over."""
    demand = [int(n) for n in problem.demand]
    _, shelves, left = first_fit(keep(problem.wants, chosen), problem.kinds, demand, _started(problem, chosen))
    return None if left else _from_shelves(problem, shelves, chosen)


def _swapped(problem: Problem, free: Found, best: Answer, until: float) -> Answer:
    """Small fleets, where whole hosts matter most: other options for one class at a time, while that is cheaper."""
    tries = 0
    for c in range(len(problem.demand)):
        for option in np.flatnonzero(problem.wants.vm == c):
            done = best[0] <= free.bound * (1 + TINY) or sum(g.hosts for g in best[1]) > SMALL
            if done or tries >= SWAPS or time.monotonic() > until:
                return best
            if option == best[2][c] or not (problem.wants.limits[option] > 0).any():
                continue
            tries += 1
            chosen = [int(o) for o in best[2]]
            chosen[c] = int(option)
            found, market = _narrow(problem, chosen, free.patterns, until)
            if found.value < best[0]:
                tried = dive(market, found)
                if tried is not None and tried[0] < best[0] * (1 - TINY):
                    best = tried
    return best


class WrongPlan(AssertionError):
    """A placement that breaks its own rules: a mistake of ours, never of the user's."""


def check(problem: Problem, placement: Placement) -> None:
    """Plain arithmetic over a whole placement: every VM stands once, no host is overfull, no kind is used too often."""
    wants = problem.wants
    total = np.zeros(len(problem.demand))
    for g in placement.groups:
        if not wants.fits(g.room, g.counts):
            raise WrongPlan(f"a host of type {g.room.name} is overfull")
        np.add.at(total, wants.vm, g.counts * g.hosts)
    if (total != problem.demand).any():
        raise WrongPlan("a VM stands nowhere or twice")
    for kind in problem.kinds:
        used = sum(g.hosts for g in placement.groups if g.room is kind.room)
        if kind.most is not None and (used > kind.most or (kind.today is not None and used != kind.most)):
            raise WrongPlan(f"there are {kind.most} hosts of {kind.room.name}, not {used}")
    cost = sum(g.hosts * _kind_of(problem, g).cost_of(_per_class(problem, g.counts)) for g in placement.groups)
    if abs(cost - placement.cost) > TINY * max(1.0, cost):
        raise WrongPlan(f"costs add up to {cost}, not {placement.cost}")


def moves(problem: Problem, groups: Sequence[Group]) -> int:
    """VMs that run today and have to leave their host."""
    found = 0
    for g in groups:
        kind = _kind_of(problem, g)
        if kind.today is not None:
            found += g.hosts * int(np.maximum(kind.today - _per_class(problem, g.counts), 0).sum())
    return found


def _kind_of(problem: Problem, group: Group) -> Kind:
    return next(kind for kind in problem.kinds if kind.room is group.room)


def _per_class(problem: Problem, counts: Array) -> Array:
    out = np.zeros(len(problem.demand))
    np.add.at(out, problem.wants.vm, counts)
    return out


def _cheapest(problem: Problem) -> list[int]:
    """For each class the option of which most fit on a unit of cost."""
    wants, out = problem.wants, []
    for c in range(len(problem.demand)):
        options = np.flatnonzero(wants.vm == c)
        scores = {int(o): max(_per_cost(problem, int(o), kind) for kind in problem.kinds) for o in options}
        out.append(max(scores, key=lambda o: (scores[o], -o)))
    return out


def _per_cost(problem: Problem, option: int, kind: Kind) -> float:
    empty = np.zeros(len(problem.wants.vm), dtype=int)
    most = int(problem.demand[problem.wants.vm[option]])
    return problem.wants.most_more(kind.room, empty, option, most) / (kind.cost or TINY)


def _started(problem: Problem, chosen: Sequence[int]) -> list[Shelf]:
    """Hosts that run already, empty; what runs on them is placed like all the rest."""
    return [Shelf(kind=s.kind, hosts=s.hosts, counts=np.zeros(len(chosen), dtype=int)) for s in problem.start]


def _seeded(market: Market, problem: Problem, chosen: Sequence[int]) -> Pool:
    """A pool with what makes the programme solvable: single options, first-fit, running hosts as they are and empty."""
    pool = Pool(market)
    options = len(problem.wants.vm)
    for row in market.rows:
        for option, most in zip(row.options, row.most, strict=True):
            counts = np.zeros(options, dtype=int)
            counts[option] = most
            pool.add(row.kind, counts)
    for k, kind in enumerate(problem.kinds):
        if kind.today is not None:
            pool.add(k, np.zeros(options, dtype=int))
            pool.add(k, _today(problem, kind, chosen))
    wants = keep(problem.wants, chosen)
    demand = [int(n) for n in problem.demand]
    _, shelves, _ = first_fit(wants, problem.kinds, demand, _started(problem, chosen), most_orders=1)
    for shelf in shelves:
        counts = np.zeros(options, dtype=int)
        counts[list(chosen)] = shelf.counts
        pool.add(shelf.kind, counts)
    return pool


def _today(problem: Problem, kind: Kind, chosen: Sequence[int]) -> Array:
    """What runs on a host today on the chosen options, as far as it fits."""
    counts = np.zeros(len(problem.wants.vm), dtype=int)
    for c, n in enumerate(kind.today if kind.today is not None else ()):
        counts[chosen[c]] += problem.wants.most_more(kind.room, counts, chosen[c], int(n))
    return counts


def _fix(problem: Problem, free: Found, until: float) -> tuple[list[int], Found, Market]:
    """One option for each class: the one the programme uses most; classes that it splits are tried the other way.

    Returns the options, the programme with them alone, and its market.
    """
    usage = np.zeros(len(problem.wants.vm))
    for pattern, hosts in zip(free.patterns, free.hosts, strict=True):
        usage += hosts * pattern.counts
    classes = range(len(problem.demand))
    ranked = [sorted(np.flatnonzero(problem.wants.vm == c), key=lambda o: (-usage[o], o)) for c in classes]
    chosen = [int(r[0]) for r in ranked]
    found, market = _narrow(problem, chosen, free.patterns, until)
    split = [c for c in classes if len(ranked[c]) > 1 and usage[ranked[c][1]] > TINY]
    for c in sorted(split, key=lambda c: -usage[ranked[c][1]])[:SWAPS]:
        if found.value <= free.value * (1 + WORSE) or time.monotonic() > until:
            break
        other = list(chosen)
        other[c] = int(ranked[c][1])
        tried, its_market = _narrow(problem, other, free.patterns, until)
        if tried.value < found.value * (1 - TINY):
            chosen, found, market = other, tried, its_market
    return chosen, found, market


def _narrow(problem: Problem, chosen: Sequence[int], known: Sequence[Pattern], until: float) -> tuple[Found, Market]:
    """The programme with one option for each class, started from the patterns that have no other."""
    mask = np.ones(len(problem.wants.vm), dtype=bool)
    mask[list(chosen)] = False
    wants = replace(problem.wants, limits=np.where(mask[:, None], 0.0, problem.wants.limits))
    market = Market(problem.kinds, wants, problem.demand)
    pool = _seeded(market, replace(problem, wants=wants), chosen)
    for pattern in known:
        if not pattern.counts[mask].any():
            pool.add(pattern.kind, pattern.counts)
    return generate(pool, until=until, near=FINE, step=problem.step, prove=False), market


def _from_shelves(problem: Problem, shelves: Sequence[Shelf], chosen: Sequence[int]) -> Answer:
    groups, cost = [], 0.0
    for shelf in shelves:
        counts = np.zeros(len(problem.wants.vm), dtype=int)
        counts[list(chosen)] = shelf.counts
        kind = problem.kinds[shelf.kind]
        groups.append(Group(room=kind.room, hosts=shelf.hosts, counts=counts))
        cost += shelf.hosts * kind.cost_of(_per_class(problem, counts))
    return cost, tuple(groups), chosen
