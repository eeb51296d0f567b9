"""Whether a fleet can stand at all, by arithmetic before any solver: what all VMs take against what all hosts have."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from vmodel.plan.change import Change, texts
from vmodel.plan.failure import Failure, with_spares
from vmodel.plan.firstfit import Shelf, first_fit
from vmodel.plan.placement import Problem
from vmodel.plan.records import Catalogue, Group, Refusal
from vmodel.plan.refuse import column_of, unit_of
from vmodel.plan.respond import Array
from vmodel.plan.room import CAPPED, CORES, LEVELLED, POLL, TITLES, VCPU, WORK, Room, Wants, keep
from vmodel.units import format_bytes

KEPT_DIGITS = 4
OUTSIDE = 1e-6  # VMs that a programme over fractions leaves outside
NOTHING = 1e-12
SIFTED = 24  # classes up to which each is left out in turn


def crowded(known: Catalogue, problem: Problem) -> Refusal | None:
    """The resource of which all hosts together have too little, with the nearest change; None where none is short.

    Every class takes the least of any of its options on any host type, so that a shortage is certain.
    """
    rooms, wants = [kind.room for kind in problem.kinds], problem.wants
    if any(room.count is None for room in rooms):
        return None
    found: list[tuple[float, str, float, float]] = []
    for column in (VCPU, *CAPPED, *LEVELLED):
        needed = float(sum(n * least(wants, c, column) for c, n in enumerate(problem.demand)))
        there = float(sum((room.count or 0) * _there(room, column) for room in rooms))
        if needed > there * (1 + 1e-9):
            name = CORES if column == VCPU else TITLES[column]
            found.append((needed / there if there > 0 else np.inf, name, needed, there))
    if not found:
        return None
    _, name, needed, there = max(found, key=lambda short: short[0])
    column = column_of(name)
    users = sorted(
        (
            (n * least(wants, c, column), vm.name)
            for c, (n, vm) in enumerate(zip(problem.demand, known.fleet.vm, strict=True))
        ),
        reverse=True,
    )
    sums = np.cumsum([taken for taken, _ in users])
    guilty = users[: int(np.searchsorted(sums, there * (1 + 1e-9), side="right")) + 1]
    return _refusal(
        known,
        problem,
        resource=name,
        needed=needed,
        available=there,
        guilty=[name for _, name in guilty],
        because=f"all VMs take at least {_text(name, needed)} of {name}, all hosts have {_text(name, there)}",
    )


def _text(name: str, value: float) -> str:
    return format_bytes(value) if unit_of(name) == "B" else f"{value:.{KEPT_DIGITS}g}"


def least(wants: Wants, cls: int, column: int) -> float:
    """The least that any option of a class takes of a resource on any host type."""
    options = np.flatnonzero(wants.vm == cls)
    possible = wants.limits[options] > 0
    values = np.where(possible, wants.needs[options][:, :, column], np.inf)
    return float(values.min(initial=np.inf))


def _there(room: Room, column: int) -> float:
    return room.cores - room.taken[VCPU] if column == VCPU else float(room.capacity[column] - room.taken[column])


def _refusal(
    known: Catalogue,
    problem: Problem,
    *,
    resource: str,
    needed: float,
    available: float,
    guilty: Sequence[str],
    because: str,
) -> Refusal:
    changes = more_hosts(known, problem)
    return Refusal(
        what="the fleet",
        path=None,
        resource=resource,
        needed=needed,
        available=available,
        unit=unit_of(resource) or ("VMs" if resource == "hosts" else ""),
        conflict=("host counts", *(f"count of {name}" for name in guilty)),
        change=_said(known, changes),
        mend=changes,
        because=because,
    )


def unspared(known: Catalogue, problem: Problem, failed: Sequence[Failure], spares: int) -> list[Refusal]:
    """What a placement is refused for: fewer spare hosts than asked for, failures that it does not survive."""
    rules = known.fleet.rules
    lost = max((f for f in failed if not f.holds), key=lambda f: sum(f.left.values()), default=None)
    found: list[tuple[str, str, float, float, str, str]] = []
    if spares < rules.spare_hosts:
        because = f"{rules.spare_hosts} hosts are to be kept empty, {spares} are left"
        found.append(("rules.spare_hosts", "hosts", rules.spare_hosts, spares, "hosts", because))
    if lost is not None:
        left = sum(lost.left.values())
        moving = max(lost.displaced, left)
        because = f"when one {lost.what} of {lost.host} fails, {left} of {moving} VMs have no place: {lost.resource}"
        found.append(("rules.n_minus_1", lost.resource, moving, moving - left, "VMs", because))
    changes = more_hosts(known, problem) if found else ()
    return [
        Refusal(
            what="the fleet",
            path=None,
            resource=resource,
            needed=float(needed),
            available=float(available),
            unit=unit,
            conflict=(rule, "host counts"),
            change=_said(known, changes),
            mend=changes,
            because=because,
        )
        for rule, resource, needed, available, unit, because in found
    ]


def _said(known: Catalogue, changes: Sequence[Change]) -> str:
    if not changes:
        return f"more hosts, or a host type with more {TITLES[VCPU]}"
    (change,) = changes
    now = next(h.count for h in known.fleet.host if h.name == change.name) or 0
    return f"{change.value - now} more hosts of type {change.name} ({texts(changes)})"


def more_hosts(known: Catalogue, problem: Problem) -> tuple[Change, ...]:
    """How many hosts of one type there would have to be: the fewest more by first-fit decreasing, spares included.

    By arithmetic; a programme could do with fewer, but what first-fit places can be placed.
    """
    fleet, best = known.fleet, (0, "", 0)
    others_fail = [what for what in fleet.rules.n_minus_1 if what != "nic"]  # hosts of the problem have lost theirs
    rules = fleet.rules.model_copy(update={"n_minus_1": tuple(others_fail)})
    fleet = fleet.model_copy(update={"rules": rules})
    for k, kind in enumerate(problem.kinds):
        if kind.today is not None or kind.most is None:
            continue
        kinds = tuple(
            replace(other, most=None, room=replace(other.room, count=None)) if i == k else other
            for i, other in enumerate(problem.kinds)
        )
        found = _by_hand(replace(problem, kinds=kinds))
        if found is None:
            continue
        rooms = [other.room for other in kinds if other.today is None]
        groups = [Group(room=kinds[s.kind].room, hosts=s.hosts, counts=s.counts) for s in found[0] if s.hosts > 0]
        _, failed, spares = with_spares(fleet, found[1], groups, rooms, [kinds[k].cost] * len(rooms))
        if not all(f.holds for f in failed):
            continue
        used = sum(s.hosts for s in found[0] if s.kind == k)
        used += sum(n for room, n in zip(rooms, spares, strict=True) if room.name == kind.room.name)
        more = used - kind.most
        host = next(h for h in fleet.host if h.name == kind.room.name)
        if more > 0 and (not best[0] or more < best[0]):
            best = (more, host.name, (host.count or 0) + more)
    return (Change(table="host", name=best[1], key="count", value=best[2]),) if best[0] else ()


def _by_hand(problem: Problem) -> tuple[list[Shelf], Wants] | None:
    """First-fit decreasing with the option of each class that takes least of the hosts; None where it leaves VMs."""
    wants = problem.wants
    chosen = []
    for c in range(len(problem.demand)):
        options = np.flatnonzero(wants.vm == c)
        needs, limits = wants.needs[options], wants.limits[options]
        cores = needs[:, :, VCPU] + (needs[:, :, WORK] + needs[:, :, POLL]) / np.maximum(limits, NOTHING)
        chosen.append(int(options[int(np.argmin(np.where(limits > 0, cores, np.inf).min(axis=1)))]))
    some = keep(wants, chosen)
    start = [Shelf(kind=s.kind, hosts=s.hosts, counts=np.zeros(len(chosen), dtype=int)) for s in problem.start]
    _, shelves, left = first_fit(some, problem.kinds, [int(n) for n in problem.demand], start)
    return None if left else (shelves, some)


def squeezed(known: Catalogue, problem: Problem, missing: Array, fits: Callable[[Problem], bool]) -> Refusal:
    """A fleet that has enough of everything in all, and still cannot be packed.

    missing: VMs of each class that the programme over fractions of hosts leaves outside; none where it is only whole
    hosts that are not found.  fits: whether a smaller fleet has a placement.
    """
    outside = float(missing.sum())
    guilty = _sifted(problem, fits)
    names = [known.fleet.vm[c].name for c in guilty]
    told = ", ".join(names[:5])
    if outside > OUTSIDE:
        because = (
            f"at least {int(np.ceil(outside - OUTSIDE))} VMs (of {told}) find no place however the others are put: "
            "proven by the programme over fractions of hosts"
        )
    else:
        because = f"the hosts hold everything in fractions, but no placement of whole VMs was found ({told})"
    return _refusal(
        known,
        problem,
        resource="hosts",
        needed=max(1.0, float(np.ceil(outside - OUTSIDE))),
        available=0.0,
        guilty=names,
        because=because,
    )


def _sifted(problem: Problem, fits: Callable[[Problem], bool]) -> list[int]:
    """Classes that cannot be placed together, while any fewer of them can: each is left out in turn."""
    classes = [c for c, n in enumerate(problem.demand) if n > 0]
    if len(classes) > SIFTED:
        return classes
    for c in list(classes):
        rest = [other for other in classes if other != c]
        smaller = _only(problem, rest)
        if rest and _by_hand(smaller) is None and not fits(smaller):
            classes = rest
    return classes


def _only(problem: Problem, classes: Sequence[int]) -> Problem:
    """The same hosts for some of the classes."""
    demand = np.zeros_like(problem.demand)
    demand[list(classes)] = problem.demand[list(classes)]
    return replace(problem, demand=demand)
