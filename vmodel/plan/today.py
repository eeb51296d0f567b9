"""From today's state: hosts that run already, with what was measured on them; VMs that leave are moves."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vmodel.plan.fleet import Fleet, Running
from vmodel.plan.pricing import Kind
from vmodel.plan.records import Catalogue
from vmodel.plan.respond import Array
from vmodel.plan.room import BANDWIDTH, COLUMNS, MEMORY, NIC_IN, NIC_OUT, VCPU, WORK, Room


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What was measured on running hosts beside what their VMs account for, as shares of the host."""

    name: str
    resource: str
    measured: float
    explained: float

    @property
    def kept(self) -> float:
        """The share that is kept free for what no VM of the fleet accounts for."""
        return max(0.0, self.measured - self.explained)


def running_kinds(known: Catalogue, rooms: Sequence[Room]) -> tuple[list[Kind], list[Measured]]:
    """Hosts that run already as kinds of their own, and what was measured on them."""
    fleet = known.fleet
    types = {h.name: i for i, h in enumerate(fleet.host)}
    classes = {vm.name: i for i, vm in enumerate(fleet.vm)}
    kinds, told = [], []
    for r in fleet.running:
        room = rooms[types[r.host]]
        today = np.zeros(len(fleet.vm))
        for name, n in r.vms.items():
            today[classes[name]] = n
        measured = _measured(known, r, room, today)
        told += measured
        taken = np.zeros(COLUMNS)
        for m in measured:
            for column in _COLUMNS_OF[m.resource]:
                whole = room.cores if column == VCPU else room.capacity[column]
                taken[column] = m.kept * whole
        kinds.append(
            Kind(
                room=replace(room, name=f"{r.name} ({r.host})", taken=taken, count=r.count),
                cost={"price": 0.0, "hosts": 1.0, "watts": room.watts}[fleet.rules.minimise],
                most=r.count,
                today=today,
                move=fleet.rules.move_price,
            )
        )
    return kinds, told


_COLUMNS_OF = {
    "cores": (VCPU,), "memory": (MEMORY,), "memory_bandwidth": (BANDWIDTH,), "nic": (NIC_IN, NIC_OUT),
}  # fmt: skip


def _measured(known: Catalogue, r: Running, room: Room, today: Array) -> list[Measured]:
    """Measured shares against those that the VMs on a host can account for at most, at today's load."""
    use = np.zeros(COLUMNS)
    for c, n in enumerate(today):
        options = np.flatnonzero((known.wants.vm == c) & (known.wants.limits[:, room.type] > 0))
        if n and options.size:
            use += n * known.wants.needs[options, room.type].max(axis=0)
    shares = {
        "cores": (use[VCPU] + use[WORK] / known.factor) / max(room.cores, 1.0),
        "memory": use[MEMORY] / room.capacity[MEMORY],
        "memory_bandwidth": use[BANDWIDTH] / known.factor / room.capacity[BANDWIDTH],
        "nic": max(use[NIC_IN], use[NIC_OUT]) / known.factor / max(room.capacity[NIC_IN], 1.0),
    }
    return [
        Measured(name=r.name, resource=name, measured=value, explained=float(explained))
        for name, explained in shares.items()
        if (value := getattr(r, name)) is not None
    ]


def used_up(fleet: Fleet, rooms: Sequence[Room]) -> list[Room]:
    """Host types of which some run already: only the rest can be bought."""
    there = {h.name: sum(r.count for r in fleet.running if r.host == h.name) for h in fleet.host}
    return [
        room if room.count is None else replace(room, count=max(0, room.count - there[room.name])) for room in rooms
    ]
