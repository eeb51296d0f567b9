"""Which paths a VM class can take, with which settings, on which host types; the others are refused with reasons."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vmodel.core.records import Load, Prediction, Profile
from vmodel.library import tables
from vmodel.library.profile import profile as read_profile
from vmodel.library.profile import value_of
from vmodel.plan.fleet import Fleet, HostType, VmClass
from vmodel.plan.limits import Objective, busy_limit
from vmodel.plan.records import Catalogue, Option, Refusal
from vmodel.plan.respond import BUS, ENGINES, POLLED, POOL, SHARED, WIRE_IN, WIRE_OUT, Answers, Array, Asked, respond
from vmodel.plan.room import (
    BANDWIDTH,
    COLUMNS,
    FIRST_ENGINE,
    MEMORY,
    NIC_IN,
    NIC_OUT,
    POLL,
    PORTS,
    VCPU,
    VFS,
    WORK,
    Room,
    Wants,
    room_of,
)
from vmodel.plan.settings import Settings, candidates
from vmodel.solve import solver
from vmodel.solve.gamma_law import normal_quantile
from vmodel.solve.solver import NORMAL_90
from vmodel.units import BPS_PER_GBPS, PERCENT_PER_ONE

QUIET = (1 / 256, 1 / 16, 1 / 4, 1.0)  # an objective is kept at every load up to the planned one
CERTAIN = (BUS, WIRE_IN, WIRE_OUT)  # counted in bytes, which no model error touches
UNCERTAIN = np.array([[0.0 if kind in CERTAIN else 1.0] for kind in SHARED])
POOL_ROWS = [SHARED.index(kind) for kind in POOL]
Errors = tuple[Any, Any]  # of the logarithms of latency and of work, for each of the settings or for all of them


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A class on a path with all settings that could be tried, on all host types, at all loads up to the planned one.

    Rows of the answers run over settings, host types and loads, in this order.
    """

    vm: VmClass
    place: int
    path: str
    settings: tuple[Settings, ...]
    hosts: tuple[HostType, ...]
    rooms: tuple[Room, ...]
    answers: Answers
    asked: tuple[Asked, ...]
    z: float  # standard deviations on the safe side
    overcommit: float

    @property
    def shape(self) -> tuple[int, int, int]:
        """Settings, host types, loads."""
        kinds = len(self.settings) * len(self.hosts)
        return len(self.settings), len(self.hosts), len(self.asked) // kinds

    def factors(self, errors: Errors) -> Errors:
        """What latency and work are multiplied with on the safe side, from their errors."""
        return np.exp(self.z * errors[0]), np.exp(self.z * errors[1])

    def rows(self, values: Any) -> Array:
        """One value for each of the settings, or for all of them, at every row."""
        settings, hosts, loads = self.shape
        return np.repeat(np.broadcast_to(values, (settings,)), hosts * loads)

    def goal(self, factors: Errors) -> Objective:
        """The objective of every row."""
        n = len(self.asked)
        vm = self.vm
        return Objective(
            latency_s=np.full(n, math.inf if vm.latency is None else vm.latency),
            share=np.full(n, vm.percentile / PERCENT_PER_ONE),
            loss=np.full(n, vm.loss),
            latency_factor=self.rows(factors[0]),
            load_factor=1 + UNCERTAIN * (self.rows(factors[1]) - 1),
        )

    def limits_by_load(self, goal: Objective) -> Array:
        """How busy things may be at each load: (settings, types, loads)."""
        found = busy_limit(self.answers, goal)
        own = self.answers.capacity_per_s / np.where(self.vm.workload == "rr", goal.latency_factor, 1.0)
        guest = self.answers.guest_busy * goal.load_factor[POOL_ROWS[0]] <= self.vm.vcpus
        return np.where((own >= self.answers.rate_per_s) & guest, found, 0.0).reshape(self.shape)

    def limits(self, goal: Objective) -> Array:
        """How busy things may be at every load up to the planned one: (settings, types)."""
        found: Array = self.limits_by_load(goal).min(axis=2)
        return found

    def needs(self, load_factor: Any) -> Array:
        """What one VM takes: (settings, types, COLUMNS), the most over all loads."""
        per_row = needs_of(self.answers, self.asked, self.rows(load_factor), self.overcommit)
        found: Array = per_row.reshape(*self.shape, COLUMNS).max(axis=2)
        return found


def needs_of(answers: Answers, asked: Sequence[Asked], load_factor: Any, overcommit: float) -> Array:
    """What one VM of each row takes of its host: (rows, COLUMNS), work on the safe side."""
    out = np.zeros((len(asked), COLUMNS))
    load = answers.load
    safe = load * (1 + UNCERTAIN * (load_factor - 1))
    link = np.array([max((nic.rate for nic in q.host.nics), default=BPS_PER_GBPS) for q in asked])
    role = [_function_of(q.path) for q in asked]
    out[:, VCPU] = [q.vm.vcpus / overcommit for q in asked]
    out[:, WORK] = safe[POOL_ROWS].sum(axis=0)
    out[:, POLL] = safe[SHARED.index(POLLED)]
    out[:, MEMORY] = [q.vm.memory for q in asked]
    out[:, BANDWIDTH] = answers.bus_bytes * answers.rate_per_s
    out[:, NIC_IN] = load[SHARED.index(WIRE_IN)] * link
    out[:, NIC_OUT] = load[SHARED.index(WIRE_OUT)] * link
    for i, kind in enumerate(ENGINES):
        out[:, FIRST_ENGINE + i] = safe[SHARED.index(kind)]
    out[:, VFS] = [float(r == "vf") for r in role]
    out[:, PORTS] = [float(r == "pf") for r in role]
    for column in (NIC_IN, NIC_OUT, *range(FIRST_ENGINE, VFS)):
        out[out[:, PORTS] > 0, column] = 0.0  # the adapter is its own
    return out


def _function_of(path: str) -> str:
    """Which function of an adapter a guest on this path is given: vf, pf or none."""
    end = tables.endpoint(path)
    return end.device if end.attach == "nic" else "none"


def planned_factor(fleet: Fleet) -> float:
    """Load at the horizon over today's."""
    return float((1 + fleet.rules.growth_per_year) ** fleet.rules.horizon_years)


def catalogue(fleet: Fleet) -> Catalogue:
    """Every class on every path it may take: what it wants, or why not."""
    from vmodel.plan.refuse import refuse, refuse_path  # reasons are built from the same cases

    ask = asking(fleet)
    refusals: list[Refusal] = []
    wanted: list[tuple[int, str]] = []
    for place, vm in enumerate(fleet.vm):
        for path in vm.paths:
            if vm.topology in tables.endpoint(path).topologies:
                wanted.append((place, path))
            else:
                refusals.append(refuse_path(fleet, place, path))
    options: list[Option] = []
    needs, limits = [], []
    for case in cases(ask, wanted):
        known = Told(case)
        found = _choose(case, known)
        if ends_forbid(case.vm, case.path):  # asked all the same: would it do if nobody had to migrate?
            refusals.append(refuse_path(fleet, case.place, case.path, freed=found is not None))
            continue
        if found is None:
            refusals.append(refuse(ask, case, known.errors()))
            continue
        option, need, limit = found
        options.append(option)
        needs.append(need)
        limits.append(limit)
    order = {name: i for i, name in enumerate(vm.name for vm in fleet.vm)}
    refusals.sort(key=lambda r: (order[r.what], fleet.vm[order[r.what]].paths.index(r.path or "")))
    wants = Wants(
        needs=np.array(needs).reshape(len(options), len(ask.rooms), COLUMNS),
        limits=np.array(limits).reshape(len(options), len(ask.rooms)),
        vm=np.array([o.place for o in options], dtype=int),
    )
    return Catalogue(
        fleet=fleet,
        options=tuple(options),
        wants=wants,
        rooms=ask.rooms,
        refusals=tuple(refusals),
        factor=planned_factor(fleet),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """A fleet with what its questions are asked of: empty hosts and profiles."""

    fleet: Fleet
    rooms: tuple[Room, ...]
    profiles: dict[str, Profile]


def asking(fleet: Fleet) -> Asking:
    """Read the profiles of a fleet, and make its empty hosts."""
    profiles = {h.profile: read_profile(h.profile) for h in fleet.host}
    rooms = tuple(
        room_of(h, i, value_of(profiles[h.profile], "memory_bus_bytes_s").value) for i, h in enumerate(fleet.host)
    )
    return Asking(fleet=fleet, rooms=rooms, profiles=profiles)


def ends_forbid(vm: VmClass, path: str) -> bool:
    """Whether a path is ruled out before any number is looked at: it cannot migrate, or joins other ends."""
    end = tables.endpoint(path)
    return (vm.must_migrate and not end.migrates) or vm.topology not in end.topologies


def accepts(fleet: Fleet, place: int, path: str) -> bool:
    """Whether a class can take a path in a fleet, as `catalogue` decides it."""
    if ends_forbid(fleet.vm[place], path):
        return False
    (case,) = cases(asking(fleet), [(place, path)])
    return _choose(case, Told(case)) is not None


def cases(ask: Asking, wanted: Sequence[tuple[int, str]]) -> list[Case]:
    """The cases of some classes and paths; all their questions are asked at once."""
    fleet, profiles = ask.fleet, ask.profiles
    factor, z = planned_factor(fleet), float(normal_quantile(fleet.rules.confidence))
    questions: list[Asked] = []
    bodies: list[tuple[int, str, tuple[Settings, ...], int, int]] = []
    for place, path in wanted:
        vm = fleet.vm[place]
        first = Asked(vm=vm, path=path, settings=(), host=fleet.host[0], profile=profiles[fleet.host[0].profile])
        tried = tuple(candidates(first.shape(), vm))
        start = len(questions)
        questions += [
            replace(first, settings=s, host=h, profile=profiles[h.profile], factor=factor * quiet)
            for s in tried
            for h in fleet.host
            for quiet in QUIET
        ]
        bodies.append((place, path, tried, start, len(questions)))
    if not questions:
        return []
    answers = respond(questions)
    return [
        Case(
            vm=fleet.vm[place],
            place=place,
            path=path,
            settings=tried,
            hosts=fleet.host,
            rooms=ask.rooms,
            answers=answers.pick(slice(start, stop)),
            asked=tuple(questions[start:stop]),
            z=z,
            overcommit=fleet.rules.overcommit,
        )
        for place, path, tried, start, stop in bodies
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The model's answer for one VM alone, with the standard errors of log latency and of log work per message."""

    prediction: Prediction
    errors: tuple[float, float]


def known_of(asked: Asked) -> Known:
    """Ask the model about one VM alone."""
    s = asked.scenario()
    p = solver.predict(s)
    busy = p if s.workload != "packets" else solver.predict(replace(s, load=Load()))
    return Known(prediction=p, errors=(latency_error(p), busy.log_sd))


def latency_error(p: Prediction) -> float:
    """The standard error of the logarithm of a predicted latency."""
    if p.latency_interval_s is None or not p.latency_s:
        return p.log_sd
    return math.log(p.latency_interval_s.high / p.latency_s) / NORMAL_90


class Told:
    """What the model says of each of the settings of a case, asked when it is first wanted."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._rows = len(case.hosts) * len(QUIET)
        self._found: dict[int, Known] = {}

    def __getitem__(self, setting: int) -> Known:
        if setting not in self._found:
            self._found[setting] = known_of(self._case.asked[setting * self._rows + len(QUIET) - 1])
        return self._found[setting]

    def errors(self) -> Errors:
        """The errors of all of them."""
        pairs = [self[s].errors for s in range(len(self._case.settings))]
        return np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])


def _choose(case: Case, known: Told) -> tuple[Option, Array, Array] | None:
    """The settings that keep the objective and take least of the cheapest host; None where none do.

    The model's errors are those of the default settings first, then those of the settings chosen.
    """
    limits, needs = case.limits(case.goal((1.0, 1.0))), case.needs(1.0)
    able = [s for s in range(len(case.settings)) if not math.isinf(_score(case, needs[s], limits[s]))]
    if not able:  # not even when the model is taken at its word
        return None
    factors = case.factors(known[0].errors)
    limits, needs = case.limits(case.goal(factors)), case.needs(factors[1])
    scores = {s: _score(case, needs[s], limits[s]) for s in able}
    # those that fail under the errors of the default may pass under their own
    for s in sorted(scores, key=lambda s: (scores[s], s)):
        factors = case.factors(known[s].errors)
        limit, need = case.limits(case.goal(factors))[s], case.needs(factors[1])[s]
        if not math.isinf(_score(case, need, limit)):
            return _option(case, s, factors, known[s].prediction), need, _standing(case, need, limit)
    return None


def _standing(case: Case, need: Array, limit: Array) -> Array:
    """The limits with zero for host types that do not hold a single VM."""
    return np.array(
        [u if r.fits(n, u) else 0.0 for r, n, u in zip(case.rooms, need, limit, strict=True)],
    )


def _score(case: Case, need: Array, limit: Array) -> float:
    """The share of a host that one VM takes, on the host type where it takes least; infinite where it fits nowhere."""
    found = math.inf
    for room, n, u in zip(case.rooms, need, limit, strict=True):
        if room.fits(n, u):
            found = min(found, share_of(room, n, u))
    return found


def share_of(room: Room, need: Array, level: float) -> float:
    """The largest share of a resource that one VM takes of an empty host, and a little of all the others."""
    cores = (need[VCPU] + (need[WORK] + need[POLL]) / level) / max(room.cores, 1.0)
    there = np.where(room.capacity > 0, room.capacity, 1.0)
    shares = need / there
    shares[[VCPU, WORK, POLL]] = 0.0
    shares[[BANDWIDTH, NIC_IN, NIC_OUT, *range(FIRST_ENGINE, VFS)]] /= level
    return float(max(cores, shares.max()) + (cores + shares.sum()) / COLUMNS / COLUMNS)


def _option(case: Case, best: int, factors: Errors, prediction: Prediction) -> Option:
    hosts, loads = len(case.hosts), len(QUIET)
    asked = {h: case.asked[(best * hosts + h) * loads + loads - 1] for h in range(hosts)}
    return Option(
        vm=case.vm,
        place=case.place,
        path=case.path,
        settings=case.settings[best],
        asked=asked,
        prediction=prediction,
        latency_factor=float(factors[0]),
        load_factor=float(factors[1]),
    )
