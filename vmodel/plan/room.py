"""What a host has room for, by plain arithmetic: every answer of a solver is checked here.

A host keeps some cores for the threads that move packets and for poll-mode cores, whole ones, and no busier than the
level that the most delicate VM on it allows; the rest of its cores runs vCPUs. Memory, bus, adapters and virtual
functions are counted beside them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vmodel.plan.fleet import HostType
from vmodel.plan.limits import FULL
from vmodel.plan.respond import ENGINES, Array

VCPU, WORK, POLL, MEMORY, BANDWIDTH, NIC_IN, NIC_OUT = range(7)
FIRST_ENGINE = 7
VFS = FIRST_ENGINE + len(ENGINES)
PORTS = VFS + 1
COLUMNS = PORTS + 1
TITLES = (
    "vCPU cores", "I/O worker cores", "poll-mode cores", "memory", "memory bandwidth", "NIC in", "NIC out",
    *ENGINES, "VF slots", "whole adapters",
)  # fmt: skip
CORES = "cores"
LEVELLED = (BANDWIDTH, NIC_IN, NIC_OUT, *range(FIRST_ENGINE, VFS))  # may only be busy up to the level
CAPPED = (MEMORY, VFS, PORTS)
COUNTED = np.array([*LEVELLED, *CAPPED])
IS_LEVELLED = np.array([True] * len(LEVELLED) + [False] * len(CAPPED))
SLACK = 1e-9  # relative: rounding of sums
SMALLEST, MOST = 1e-100, 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """One kind of host: what there is of each resource, what is taken already, what it costs."""

    name: str
    type: int  # place among the host types, whose needs and limits hold here
    cores: float  # without those kept for the host itself
    capacity: Array  # by column; the three kinds of cores stand in `cores`
    adapters: int
    taken: Array  # by column: measured load that belongs to no VM of the fleet
    price: float
    watts: float
    watts_idle: float
    count: int | None  # most there can be

    def pressure(self, use: Array, level: float) -> tuple[float, str]:
        """How far the fullest resource is used at this level (above one: too far), and which it is."""
        total = self._total(use, level)
        cores = self.cores_needed(total, level)
        worst, name = (cores / self.cores if self.cores > 0 else np.inf if cores > 0 else 0.0), CORES
        for column in (*LEVELLED, *CAPPED):
            limit = self.capacity[column] * (level if column in LEVELLED else 1.0)
            share = total[column] / limit if limit > 0 else (np.inf if total[column] > 0 else 0.0)
            if share > worst * (1 + SLACK):
                worst, name = share, TITLES[column]
        return float(worst), name

    def _total(self, use: Array, level: float) -> Array:
        """Use with what is taken already, and with the whole of adapters that are given away."""
        total = use + self.taken
        if total[PORTS] > 0 and self.adapters:
            share = total[PORTS] / self.adapters
            total = total.copy()
            for column in LEVELLED[1:]:
                total[column] += level * share * self.capacity[column]
            total[VFS] += share * self.capacity[VFS]
        return total

    @staticmethod
    def cores_needed(total: Array, level: float) -> float:
        """vCPU cores, those that workers need at this level, and whole cores for polling.

        What vCPUs and polling leave is whole anyway where no core runs more than one vCPU.
        """
        return float(total[VCPU] + total[WORK] / level + whole(total[POLL] / level))

    def fits(self, use: Array, level: float) -> bool:
        """Whether nothing is used beyond what there is."""
        if level <= 0:
            return False
        total = self._total(use, level)
        if self.cores_needed(total, level) > self.cores * (1 + SLACK):
            return False
        return bool((total[COUNTED] <= self._usable(level) * (1 + SLACK)).all())

    def _usable(self, level: float) -> Array:
        """What may be used of the counted columns at a level."""
        return self.capacity[COUNTED] * np.where(IS_LEVELLED, level, 1.0)

    def upper_bound(self, use: Array, one: Array, level: float) -> int:
        """No more than so many of a VM find room, fractions of cores allowed."""
        total = self._total(use, level)
        wanted = one[COUNTED]
        spare = self._usable(level) * (1 + SLACK) - total[COUNTED]
        cores = one[VCPU] + (one[WORK] + one[POLL]) / level
        left = self.cores * (1 + SLACK) - total[VCPU] - (total[WORK] + total[POLL]) / level
        bound = float(np.where(wanted > 0, np.maximum(spare, 0.0) / np.maximum(wanted, SMALLEST), np.inf).min())
        return max(0, int(min(bound, left / cores if cores > 0 else np.inf, MOST)))

    def shares(self, use: Array, level: float) -> dict[str, tuple[float, float, float]]:
        """Resource -> used, usable at this level, there; cores with the whole ones that workers need."""
        total = self._total(use, level)
        out = {CORES: (self.cores_needed(total, level), self.cores, self.cores)}
        for column in (*LEVELLED, *CAPPED):
            if self.capacity[column] > 0:
                usable = self.capacity[column] * (level if column in LEVELLED else 1.0)
                out[TITLES[column]] = (float(total[column]), float(usable), float(self.capacity[column]))
        return out


def whole(x: float) -> float:
    """The next whole number, rounding errors aside."""
    return float(math.ceil(x - SLACK * max(1.0, x)))


def room_of(host: HostType, type_: int, bus_bytes_s: float) -> Room:
    """The room of an empty host; a bandwidth that is not given is the profile's."""
    rate = sum(nic.rate * nic.count for nic in host.nics)
    adapters = sum(nic.count for nic in host.nics)
    capacity = np.zeros(COLUMNS)
    capacity[MEMORY] = host.memory
    capacity[BANDWIDTH] = host.memory_bandwidth or bus_bytes_s
    capacity[NIC_IN] = capacity[NIC_OUT] = rate
    capacity[FIRST_ENGINE:VFS] = adapters
    capacity[VFS] = sum(nic.vfs * nic.count for nic in host.nics)
    capacity[PORTS] = adapters
    return Room(
        name=host.name,
        type=type_,
        cores=float(host.cores - host.reserved_cores),
        capacity=capacity,
        adapters=adapters,
        taken=np.zeros(COLUMNS),
        price=host.price or 0.0,
        watts=host.watts or 0.0,
        watts_idle=host.watts_idle if host.watts_idle is not None else (host.watts or 0.0),
        count=host.count,
    )


def without_adapter(host: HostType, room: Room) -> Room:
    """The same host after its largest adapter has failed."""
    largest = max(host.nics, key=lambda nic: (nic.rate, nic.vfs), default=None)
    if largest is None:
        return room
    capacity = room.capacity.copy()
    for column in (NIC_IN, NIC_OUT):
        capacity[column] -= largest.rate
    capacity[FIRST_ENGINE:VFS] -= 1
    capacity[VFS] -= max(nic.vfs for nic in host.nics)
    capacity[PORTS] -= 1
    return replace(room, capacity=np.maximum(capacity, 0.0), adapters=room.adapters - 1)


def without_node(host: HostType, room: Room) -> Room:
    """The same host after one of its NUMA nodes has failed, the one with most adapters."""
    left = (host.numa_nodes - 1) / host.numa_nodes
    by_node = [0] * host.numa_nodes
    rates, vfs = [0.0] * host.numa_nodes, [0] * host.numa_nodes
    place = 0
    for nic in host.nics:
        for _ in range(nic.count):
            node = nic.node if nic.node is not None else place % host.numa_nodes
            place += 1
            by_node[node] += 1
            rates[node] += nic.rate
            vfs[node] += nic.vfs
    worst = max(range(host.numa_nodes), key=lambda n: (rates[n], vfs[n]))
    capacity = room.capacity.copy()
    capacity[MEMORY] *= left
    capacity[BANDWIDTH] *= left
    for column in (NIC_IN, NIC_OUT):
        capacity[column] -= rates[worst]
    capacity[FIRST_ENGINE:VFS] -= by_node[worst]
    capacity[VFS] -= vfs[worst]
    capacity[PORTS] -= by_node[worst]
    # the cores that the host keeps for itself are kept whatever fails
    cores = max(0.0, host.cores * left - host.reserved_cores)
    return replace(
        room, capacity=np.maximum(capacity, 0.0), adapters=room.adapters - by_node[worst], cores=float(np.floor(cores))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Wants:
    """What one VM of each option takes on each host type, and how busy it lets things be.

    An option is a class on a path with settings. needs: (options, types, COLUMNS).  limits: (options, types), zero
    where it cannot stand.  vm: class of each option.
    """

    needs: Array
    limits: Array
    vm: Array

    def use(self, room: Room, counts: Array) -> Array:
        """What so many VMs of each option take."""
        return counts @ self.needs[:, room.type]

    def level(self, room: Room, counts: Array) -> float:
        """How busy the most delicate of them lets things be."""
        present = counts > 0
        return float(self.limits[present, room.type].min()) if present.any() else FULL

    def fits(self, room: Room, counts: Array) -> bool:
        """Whether a host holds so many of each option."""
        return room.fits(self.use(room, counts), self.level(room, counts))

    def most_more(self, room: Room, counts: Array, option: int, wanted: int) -> int:
        """How many more of an option a host takes, at most so many."""
        limit = float(self.limits[option, room.type])
        if wanted <= 0 or limit <= 0:
            return 0
        level = min(self.level(room, counts), limit)
        use, one = self.use(room, counts), self.needs[option, room.type]
        k = min(wanted, room.upper_bound(use, one, level))
        while k > 0 and not room.fits(use + k * one, level):
            k -= 1
        return k


def keep(wants: Wants, options: Sequence[int]) -> Wants:
    """Only these options, one for each class, in the order of the classes."""
    rows: Any = list(options)
    return Wants(needs=wants.needs[rows], limits=wants.limits[rows], vm=wants.vm[rows])
