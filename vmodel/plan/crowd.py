"""Whether a fleet can stand at all, by arithmetic before any solver: what all VMs take against what all hosts have."""

from collections.abc import Sequence

import numpy as np

from vmodel.plan.records import Catalogue, Refusal
from vmodel.plan.refuse import unit_of
from vmodel.plan.respond import Array
from vmodel.plan.room import CAPPED, CORES, LEVELLED, TITLES, VCPU, Room, Wants
from vmodel.units import format_bytes

KEPT_DIGITS = 4


def crowded(known: Catalogue, rooms: Sequence[Room], wants: Wants) -> Refusal | None:
    """The resource of which all hosts together have too little, with the nearest change; None where none is short.

    Every class takes the least of any of its options on any host type, so that a shortage is certain.
    """
    if any(room.count is None for room in rooms):
        return None
    demand = np.array([vm.count for vm in known.fleet.vm], dtype=float)
    found: list[tuple[float, str, float, float]] = []
    for column in (VCPU, *CAPPED, *LEVELLED):
        needed = sum(n * least(wants, c, column) for c, n in enumerate(demand))
        there = sum((room.count or 0) * _there(room, column) for room in rooms)
        if needed > there * (1 + 1e-9):
            name = CORES if column == VCPU else TITLES[column]
            found.append((needed / there if there > 0 else np.inf, name, float(needed), float(there)))
    if not found:
        return None
    _, name, needed, there = max(found, key=lambda short: short[0])
    return _refusal(known, rooms, name, needed, there)


def least(wants: Wants, cls: int, column: int) -> float:
    """The least that any option of a class takes of a resource on any host type."""
    options = np.flatnonzero(wants.vm == cls)
    possible = wants.limits[options] > 0
    values = np.where(possible, wants.needs[options][:, :, column], np.inf)
    return float(values.min(initial=np.inf))


def _there(room: Room, column: int) -> float:
    return room.cores - room.taken[VCPU] if column == VCPU else float(room.capacity[column] - room.taken[column])


def _refusal(known: Catalogue, rooms: Sequence[Room], name: str, needed: float, there: float) -> Refusal:
    column = VCPU if name == CORES else TITLES.index(name)
    best = max(rooms, key=lambda room: _there(room, column))
    more = int(np.ceil((needed - there) / max(_there(best, column), 1e-12))) if _there(best, column) > 0 else 0
    users = sorted(
        ((vm.count * least(known.wants, c, column), vm.name) for c, vm in enumerate(known.fleet.vm)), reverse=True
    )
    return Refusal(
        what="the fleet",
        path=None,
        resource=name,
        needed=needed,
        available=there,
        unit=unit_of(name),
        conflict=("host counts", *(f"count of {n}" for v, n in users if v > 0)),
        change=f"{more} more hosts of type {best.name}" if more else f"a host type with {name}",
        because=f"all VMs take at least {_text(name, needed)} of {name}, all hosts have {_text(name, there)}",
    )


def _text(name: str, value: float) -> str:
    return format_bytes(value) if unit_of(name) == "B" else f"{value:.{KEPT_DIGITS}g}"


def squeezed(known: Catalogue, missing: Array, rooms: Sequence[Room]) -> Refusal:
    """A fleet that has enough of everything in all, and still cannot be packed: what the programme leaves outside."""
    names = [vm.name for vm, m in zip(known.fleet.vm, missing, strict=True) if m > 1e-6]
    outside = float(missing.sum())
    limited = [room for room in rooms if room.count is not None]
    largest = max(limited or list(rooms), key=lambda room: room.cores)
    return Refusal(
        what="the fleet",
        path=None,
        resource="hosts",
        needed=float(np.ceil(outside)),
        available=0.0,
        unit="VMs",
        conflict=("host counts", *(f"count of {name}" for name in names)),
        change=f"more hosts of type {largest.name}",
        because=(
            f"at least {int(np.ceil(outside - 1e-6))} VMs ({', '.join(names[:5])}) find no place however the others "
            "are put: proven by the programme over fractions of hosts"
        ),
    )
