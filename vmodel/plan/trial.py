"""A class on a path asked again without some of its requirements: which of them cannot be kept together.

A requirement is dropped by asking again without it; the smallest sets that fail are found by trying all of them, since
there are only a few. No solver is needed.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from vmodel.plan.fleet import Fleet, VmClass
from vmodel.plan.limits import LEVELS, ROUNDING, Objective, latency_at
from vmodel.plan.options import Asking, Case, Errors, Told, asking, cases
from vmodel.plan.respond import Array, Asked
from vmodel.plan.room import MEMORY, PORTS, VCPU, VFS, Room
from vmodel.units import BITS_PER_BYTE

LATENCY, RATE, CONFIDENCE, LOSS, VCPUS, MEMORY_SIZE, FUNCTIONS, SETTINGS = (
    "latency", "rate", "confidence", "loss", "vcpus", "memory", "NIC functions of the host types", "settings",
)  # fmt: skip
ORDER = (LATENCY, RATE, CONFIDENCE, LOSS, VCPUS, MEMORY_SIZE, FUNCTIONS, SETTINGS)
SIZES = ((VCPUS, (VCPU,)), (MEMORY_SIZE, (MEMORY,)), (FUNCTIONS, (VFS, PORTS)))
WORST_LOSS = 0.5
IDLE_PER_S = 1.0  # next to no traffic
ANY_LATENCY_S = float(1 << 20)  # an objective that gives way is still one: no latency without end keeps it


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A case with its errors, and the fleet that it is asked of."""

    ask: Asking
    case: Case
    errors: Errors

    @classmethod
    def of(cls, fleet: Fleet, place: int, path: str) -> "Trial":
        """Ask for a class on a path."""
        ask = asking(fleet)
        (case,) = cases(ask, [(place, path)])
        return cls(ask=ask, case=case, errors=Told(case).errors())

    @property
    def vm(self) -> VmClass:
        """The class that is asked for."""
        return self.case.vm

    @property
    def rooms(self) -> tuple[Room, ...]:
        """Empty hosts of each type."""
        return self.case.rooms

    @cached_property
    def requirements(self) -> frozenset[str]:
        """What this class asks for at all."""
        absent = {LATENCY: self.vm.latency is None, LOSS: self.vm.workload != "packets", SETTINGS: not self.vm.settings}
        return frozenset(r for r in ORDER if not absent.get(r, False))

    @cached_property
    def opened(self) -> "Trial":
        """The same when nothing is said of the settings."""
        return self._with({"settings": {}}) if self.vm.settings else self

    @cached_property
    def idle(self) -> "Trial":
        """The same with next to no traffic."""
        vm = self.vm
        messages = vm.rate[1] / (vm.size * BITS_PER_BYTE) if vm.rate[0] == "throughput_bps" else vm.rate[1]
        return self._with({"rate": ("rate_pps", min(messages, IDLE_PER_S))})

    def _with(self, update: dict[str, Any]) -> "Trial":
        fleet, place = self.ask.fleet, self.case.place
        vms = list(fleet.vm)
        vms[place] = vms[place].model_copy(update=update)
        return Trial.of(fleet.model_copy(update={"vm": tuple(vms)}), place, self.case.path)

    def under(self, kept: frozenset[str]) -> "Trial":
        """The trial whose answers these requirements are judged by."""
        trial = self if SETTINGS in kept else self.opened
        return trial if RATE in kept else trial.idle

    @cached_property
    def _limits(self) -> dict[tuple[bool, ...], Array]:
        return {}

    def limits(self, kept: frozenset[str]) -> Array:
        """How busy things may be under these requirements: (settings, types)."""
        key = tuple(r in kept for r in (LATENCY, CONFIDENCE, LOSS))
        if key not in self._limits:
            self._limits[key] = self.case.limits(self.goal(kept))
        return self._limits[key]

    def goal(self, kept: frozenset[str]) -> Objective:
        """The objective of every row under these requirements."""
        goal = self.case.goal(self.factors(kept))
        if LATENCY in self.requirements - kept:
            goal = replace(goal, latency_s=np.full_like(goal.latency_s, ANY_LATENCY_S))
        if LOSS not in kept:
            goal = replace(goal, loss=np.full_like(goal.loss, WORST_LOSS))
        return goal

    def factors(self, kept: frozenset[str]) -> Errors:
        """What latency and work are multiplied with."""
        none = np.zeros(len(self.case.settings))
        return self.case.factors(self.errors if CONFIDENCE in kept else (none, none))

    def needs(self, kept: frozenset[str]) -> Array:
        """What one VM takes under these requirements: (settings, types, COLUMNS)."""
        return without(self.case.needs(self.factors(kept)[1]), kept)

    def feasible(self, kept: frozenset[str]) -> bool:
        """Whether any settings keep these requirements on any host type."""
        asked = self.under(kept)
        limits, needs = asked.limits(kept), asked.needs(kept)
        return any(room.fits(needs[s, h], limits[s, h]) for s, h, room in asked.places())

    def places(self) -> Iterator[tuple[int, int, Room]]:
        """Every setting on every host type."""
        for s in range(len(self.case.settings)):
            for h, room in enumerate(self.rooms):
                yield s, h, room

    def conflict(self) -> frozenset[str]:
        """The smallest set of requirements that cannot be kept together; empty where no host type does at all."""
        return smallest_conflict(self.requirements, self.feasible)

    def least_latency(self, kept: frozenset[str]) -> tuple[float, Asked]:
        """The shortest latency that can be had on a host, on the safe side, and the question that it answers.

        At every level at which things may be busy: the VM's own work, its ring and its room there must allow it.
        """
        case = self.case
        goal = case.goal(self.factors(kept))
        own = (case.answers.rate_per_s * case.answers.demands_s * goal.load_factor).max(axis=0)
        least = LEVELS[np.minimum(np.searchsorted(LEVELS, own - ROUNDING), len(LEVELS) - 1)]
        most, needs = self.limits(kept - {LATENCY}), self.needs(kept)
        best, row = math.inf, 0
        for level in LEVELS:
            times = latency_at(case.answers, np.maximum(level, least), goal.share) * goal.latency_factor
            found = times.reshape(case.shape)
            worst = found.max(axis=2)
            for s, h, room in self.places():
                if level <= most[s, h] and worst[s, h] < best and room.fits(needs[s, h], level):
                    best = float(worst[s, h])
                    row = (s * case.shape[1] + h) * case.shape[2] + int(found[s, h].argmax())
        return best, case.asked[row]


def without(needs: Array, kept: frozenset[str]) -> Array:
    """What one VM takes when the sizes that are not kept count for nothing."""
    found = needs.copy()
    for requirement, columns in SIZES:
        if requirement not in kept:
            found[..., columns] = 0.0
    return found


def smallest_conflict(requirements: Iterable[str], feasible: Callable[[frozenset[str]], bool]) -> frozenset[str]:
    """The smallest set of requirements that fails; the empty set where nothing at all can be had."""
    for some in subsets(requirements):
        if not feasible(some):
            return some
    return frozenset(requirements)


def subsets(of: Iterable[str]) -> Iterator[frozenset[str]]:
    """All sets of some names, small ones first."""
    names = sorted(of, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))
    for size in range(len(names) + 1):
        for some in combinations(names, size):
            yield frozenset(some)
