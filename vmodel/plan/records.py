"""What a plan is made of: options, refusals, hosts, and what is said of them. Fields only."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vmodel.core.records import Prediction
from vmodel.plan.change import Change
from vmodel.plan.fleet import Fleet, VmClass
from vmodel.plan.respond import Asked
from vmodel.plan.room import Room, Wants


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why something cannot be: the resource that binds, needed against available, and what would mend it."""

    what: str  # the fleet, or a VM class
    path: str | None  # None where it is not the path that is refused
    resource: str
    needed: float
    available: float
    unit: str
    conflict: tuple[str, ...]  # the smallest set of requirements that cannot be kept together
    change: str  # the nearest change that would make it feasible, in words
    because: str
    mend: tuple[Change, ...] = ()  # the same as values of the fleet file, which together do


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A class on a path with settings that keep its objective: by host type, where it can stand."""

    vm: VmClass
    place: int  # of the class in the fleet
    path: str
    settings: tuple[tuple[str, float], ...]
    asked: Mapping[int, Asked]  # host type -> the question
    prediction: Prediction  # of one VM alone, at the planned load
    latency_factor: float  # the safe side of the interval: what latency and work are multiplied with
    load_factor: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """All options that are not refused, what they want, and the rooms they can stand in."""

    fleet: Fleet
    options: tuple[Option, ...]
    wants: Wants
    rooms: tuple[Room, ...]  # one for each host type, empty
    refusals: tuple[Refusal, ...]
    factor: float  # planned load over today's: growth to the horizon


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Equal hosts with equal VMs on each: how many hosts, how many VMs of each option."""

    room: Room
    hosts: int
    counts: Any  # (options,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Where everything stands, what it costs, and what is proven of it."""

    groups: tuple[Group, ...]
    chosen: tuple[int, ...]  # option of each class
    cost: float  # what the rules minimise
    bound: float  # no plan costs less
    first_fit: float  # what first-fit decreasing costs
    proven: bool  # the bound was computed to the end, not cut off by time
    moves: int
    note: str = ""

    @property
    def gap(self) -> float:
        """How far above the bound, as a share."""
        return 0.0 if self.cost <= 0 else max(0.0, 1 - self.bound / self.cost)

    @property
    def hosts(self) -> int:
        """Hosts that are used."""
        return sum(g.hosts for g in self.groups if g.counts.any())
