"""Why a class cannot take a path: the smallest set of requirements in conflict, and the nearest change that mends it.

A requirement is dropped by asking again without it; the smallest sets that fail are found by trying all of them, since
there are only a few. No solver is needed.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from vmodel.library import tables
from vmodel.plan.fleet import VmClass
from vmodel.plan.limits import LEVELS, latency_at
from vmodel.plan.options import QUIET, Case, needs_of
from vmodel.plan.records import Refusal
from vmodel.plan.respond import Array, respond
from vmodel.plan.room import CORES, MEMORY, NIC_IN, NIC_OUT, PORTS, TITLES, VCPU, VFS
from vmodel.solve import solver
from vmodel.solve.gamma_law import normal_cdf
from vmodel.units import format_bytes, format_rate, format_seconds

LATENCY, RATE, CONFIDENCE, VCPUS, MEMORY_SIZE, FUNCTIONS = (
    "latency", "rate", "confidence", "vcpus", "memory", "NIC functions of the host types",
)  # fmt: skip
MIGRATION = "live migration"
REQUIREMENTS = (LATENCY, RATE, CONFIDENCE, VCPUS, MEMORY_SIZE, FUNCTIONS)
SEARCH = tuple(float(x) for x in np.geomspace(1e-3, 1.0, 25))  # shares of the rate at which a smaller one is sought
KEPT_DIGITS = 4
CONFIDENCE_STEP, HALVINGS = 0.005, 12


def refuse_path(vm: VmClass, path: str) -> Refusal | None:
    """What rules a path out before any number is looked at; None where nothing does."""
    end = tables.endpoint(path)
    if vm.must_migrate and not end.migrates:
        return Refusal(
            what=vm.name,
            path=path,
            resource=MIGRATION,
            needed=1.0,
            available=0.0,
            unit="",
            conflict=("must_migrate", f"path {path}"),
            change="must_migrate = false",
            because="a guest that drives a NIC function itself cannot move while it runs",
        )
    if vm.topology not in end.topologies:
        return Refusal(
            what=vm.name,
            path=path,
            resource="topology",
            needed=1.0,
            available=0.0,
            unit="",
            conflict=("topology", f"path {path}"),
            change=f"topology = {' or '.join(end.topologies)}",
            because=f"{path} does not join the ends of {vm.topology}",
        )
    return None


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A case with its errors, asked again without some of its requirements."""

    case: Case
    errors: tuple[float, float]

    @cached_property
    def _limits(self) -> dict[tuple[bool, bool, bool], Array]:
        return {}

    def limits(self, kept: frozenset[str]) -> Array:
        """How busy things may be under these requirements: (settings, types)."""
        key = (LATENCY in kept, RATE in kept, CONFIDENCE in kept)
        if key not in self._limits:
            goal = self.case.goal(self.factors(kept))
            if LATENCY not in kept:
                goal = replace(goal, latency_s=np.full_like(goal.latency_s, math.inf))
            self._limits[key] = self.case.limits(goal, at_any_load=RATE in kept)
        return self._limits[key]

    def factors(self, kept: frozenset[str]) -> tuple[float, float]:
        """What latency and work are multiplied with."""
        return self.case.factors(self.errors) if CONFIDENCE in kept else (1.0, 1.0)

    def needs(self, kept: frozenset[str]) -> Array:
        """What one VM takes under these requirements."""
        found = self.case.needs(self.factors(kept)[1], quiet=RATE not in kept)
        for requirement, columns in ((VCPUS, (VCPU,)), (MEMORY_SIZE, (MEMORY,)), (FUNCTIONS, (VFS, PORTS))):
            if requirement not in kept:
                found[:, :, columns] = 0.0
        return found

    def feasible(self, kept: frozenset[str]) -> bool:
        """Whether any settings keep these requirements on any host type."""
        limits, needs = self.limits(kept), self.needs(kept)
        return any(
            room.fits(needs[s, h], limits[s, h])
            for s in range(limits.shape[0])
            for h, room in enumerate(self.case.rooms)
        )

    def conflict(self) -> frozenset[str]:
        """The smallest set of requirements that cannot be kept together; empty where no host type does at all."""
        for size in range(len(REQUIREMENTS) + 1):
            for some in combinations(REQUIREMENTS, size):
                if not self.feasible(frozenset(some)):
                    return frozenset(some)
        return frozenset(REQUIREMENTS)


def refuse(case: Case, errors: tuple[float, float]) -> Refusal:
    """The reason why no settings of a case do."""
    trial = Trial(case=case, errors=errors)
    conflict = trial.conflict()
    changes = sorted(_changes(trial, conflict))
    change = changes[0][1] if changes else "another path"
    told = tuple(r for r in REQUIREMENTS if r in conflict)
    if not conflict:
        return _full(trial, conflict, ("host types",), "a host type with an adapter")
    if LATENCY in conflict:
        return _late(trial, told, change)
    if RATE in conflict and not _carried(trial, conflict):
        return _overrun(trial, told, change)
    return _full(trial, conflict, told, change)


def _late(trial: Trial, told: tuple[str, ...], change: str) -> Refusal:
    case = trial.case
    available, row = best_latency(trial, frozenset(told))
    p = solver.predict(case.asked[row].scenario())
    longest = max(p.shares, key=lambda share: share.seconds)
    name = longest.resource or longest.stage.replace("_", " ")
    safe = f" on the safe side of {case.z:.2f} standard deviations" if CONFIDENCE in told else ""
    return Refusal(
        what=case.vm.name,
        path=case.path,
        resource="interrupt moderation" if longest.stage == "moderation_wait" else name,
        needed=float(case.vm.latency or 0.0),
        available=available,
        unit="s",
        conflict=told,
        change=change,
        because=(
            f"p{case.vm.percentile:g} of one VM alone is {format_seconds(available)}{safe}, "
            f"{format_seconds(longest.seconds)} of the mean in {longest.stage}"
        ),
    )


def best_latency(trial: Trial, kept: frozenset[str]) -> tuple[float, int]:
    """The shortest latency that any settings give a VM alone on a host, on the safe side, and the row it stands in."""
    case = trial.case
    factors = trial.factors(kept)
    goal = case.goal(factors)
    own = (case.answers.rate_per_s * case.answers.demands_s * goal.load_factor).max(axis=0)
    level = LEVELS[np.minimum(np.searchsorted(LEVELS, own), len(LEVELS) - 1)]
    found = latency_at(case.answers, level, goal.share) * factors[0]
    found = np.where(own <= LEVELS[-1], found, math.inf).reshape(case.shape)
    worst = found.max(axis=2) if RATE in kept else found[:, :, 0]
    s, h = np.unravel_index(int(np.argmin(worst)), worst.shape)
    load = int(found[s, h].argmax()) if RATE in kept else 0
    return float(worst[s, h]), int((s * case.shape[1] + h) * case.shape[2] + load)


def _carried(trial: Trial, conflict: frozenset[str]) -> bool:
    """Whether the path itself carries the load."""
    return bool((trial.limits(conflict) > 0).any())


def _overrun(trial: Trial, told: tuple[str, ...], change: str) -> Refusal:
    case = trial.case
    rows = np.arange(len(case.asked)).reshape(case.shape)[:, :, -1].reshape(-1)
    capacity = case.answers.capacity_per_s[rows] / (trial.factors(frozenset(told))[1])
    row = int(rows[int(np.argmax(capacity))])
    p = solver.predict(case.asked[row].scenario())
    needed, available = float(case.answers.rate_per_s[row]), float(capacity.max())
    mending = f", {p.bottleneck} first" if p.bottleneck else ""
    return Refusal(
        what=case.vm.name,
        path=case.path,
        resource=p.bottleneck,
        needed=needed,
        available=min(available, needed),
        unit="/s",
        conflict=told,
        change=change,
        because=f"one VM carries {format_rate(available, unit='/s')} of {format_rate(needed, unit='/s')}{mending}",
    )


def _full(trial: Trial, conflict: frozenset[str], told: tuple[str, ...], change: str) -> Refusal:
    """No host type holds one VM."""
    case = trial.case
    limits, needs = trial.limits(conflict), trial.needs(conflict)
    found = []
    for s in range(limits.shape[0]):
        for h, room in enumerate(case.rooms):
            if limits[s, h] > 0:
                pressure, name = room.pressure(needs[s, h], limits[s, h])
                used, usable, _ = room.shares(needs[s, h], limits[s, h]).get(
                    name, (needs[s, h][_column(name)], 0.0, 0.0)
                )
                found.append((pressure, h, name, used, usable))
    _, h, name, used, usable = min(found)
    return Refusal(
        what=case.vm.name,
        path=case.path,
        resource=name,
        needed=float(used),
        available=float(usable),
        unit=unit_of(name),
        conflict=told,
        change=change,
        because=(
            f"one VM needs {_written(name, used)} of {name}, "
            f"host type {case.rooms[h].name} has {_written(name, usable)}"
        ),
    )


def _column(name: str) -> int:
    return VCPU if name == CORES else TITLES.index(name)


def unit_of(name: str) -> str:
    """The unit in which a resource is counted."""
    return {TITLES[MEMORY]: "B", TITLES[NIC_IN]: "bit/s", TITLES[NIC_OUT]: "bit/s"}.get(name, "")


def _written(name: str, value: float) -> str:
    return format_bytes(value) if name == TITLES[MEMORY] else f"{value:.{KEPT_DIGITS}g}"


def _changes(trial: Trial, conflict: frozenset[str]) -> Iterator[tuple[float, str]]:
    """How far each requirement of a conflict would have to give way, as a ratio, and in words."""
    case, everything = trial.case, frozenset(REQUIREMENTS)
    vm = case.vm
    for requirement in sorted(conflict):
        if not trial.feasible(everything - {requirement}):
            continue  # giving this one up alone does not help
        if requirement == LATENCY and vm.latency:
            needed = best_latency(trial, everything)[0]
            if math.isfinite(needed):
                yield math.log(max(needed / vm.latency, 1.0)), f"latency = {_rounded_up(needed)}"
        elif requirement == RATE:
            share = _least_rate(trial)
            if share > 0:
                rate = share * float(case.answers.rate_per_s.max())
                yield -math.log(share), f"at most {format_rate(rate, unit='/s')} for one VM"
        elif requirement == CONFIDENCE:
            given = _confidence(trial)
            if given is not None:
                yield math.log(1 / given), f"rules.confidence = {given:.3f}, or measurements of your own (vmodel fit)"
        elif requirement == VCPUS:
            most = int(max(room.cores for room in case.rooms) * case.overcommit)
            yield math.log(vm.vcpus / max(most, 1)) + 1, f"vcpus = {max(most, 1)}, or a host type with more cores"
        elif requirement == MEMORY_SIZE:
            most_memory = max(room.capacity[MEMORY] for room in case.rooms)
            yield math.log(vm.memory / most_memory) + 1, f"memory = {format_bytes(most_memory)}, or a larger host type"
        elif requirement == FUNCTIONS:
            yield (
                1.0,
                "a host type with " + ("virtual functions" if _needs_function(trial) else "an adapter to give away"),
            )


def _needs_function(trial: Trial) -> bool:
    return bool(trial.case.needs(1.0)[:, :, VFS].any())


def _rounded_up(seconds: float) -> str:
    """A latency that is enough, with few digits."""
    unit = 10.0 ** (math.floor(math.log10(seconds)) - 2)
    return format_seconds(math.ceil(seconds / unit) * unit)


def _least_rate(trial: Trial) -> float:
    """The largest share of the rate that could be had, on a fine grid; zero where not even the smallest can."""
    case = trial.case
    shares = SEARCH
    hosts, loads = len(case.hosts), len(QUIET)
    asked = [
        replace(case.asked[(s * hosts + h) * loads + loads - 1], factor=case.asked[loads - 1].factor * x)
        for s in range(len(case.settings))
        for h in range(hosts)
        for x in shares
    ]
    wide = replace(case, answers=respond(asked), asked=tuple(asked))
    factors = case.factors(trial.errors)
    kept = wide.limits_by_load(wide.goal(factors))
    needs = needs_of(wide.answers, asked, factors[1], case.overcommit).reshape(*kept.shape, -1)
    good = [
        x
        for k, x in enumerate(shares)
        if any(
            room.fits(needs[s, h, k], kept[s, h, : k + 1].min())
            for s in range(kept.shape[0])
            for h, room in enumerate(case.rooms)
        )
    ]
    return max(good, default=0.0)


def _confidence(trial: Trial) -> float | None:
    """The confidence with which it could be had, by halving; None below an even chance."""
    low, high = 0.0, trial.case.z
    everything = frozenset(REQUIREMENTS)
    if not Trial(case=replace(trial.case, z=0.0), errors=trial.errors).feasible(everything):
        return None
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if Trial(case=replace(trial.case, z=middle), errors=trial.errors).feasible(everything):
            low = middle
        else:
            high = middle
    return math.floor(float(normal_cdf(low)) / CONFIDENCE_STEP) * CONFIDENCE_STEP
