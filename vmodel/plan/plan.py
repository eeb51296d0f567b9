"""The plan of a fleet: options and refusals, placement, spares, neighbours, growth, chance, cost and watts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from vmodel.plan.busy import Busy, busy_of
from vmodel.plan.chance import (
    QUANTILES,
    Candidate,
    Chance,
    chance_of,
    demand_factors,
    draw_costs,
    regrets,
    with_demand,
)
from vmodel.plan.crowd import crowded, squeezed, unspared
from vmodel.plan.failure import Failure, with_spares
from vmodel.plan.firstfit import Shelf
from vmodel.plan.fleet import Fleet
from vmodel.plan.growth import Bottleneck, Curves, curves, next_bottleneck
from vmodel.plan.neighbours import Standing, standings
from vmodel.plan.options import catalogue
from vmodel.plan.placement import Problem, solve
from vmodel.plan.pricing import Kind
from vmodel.plan.records import Catalogue, Group, Placement, Refusal
from vmodel.plan.refuse import refuse_class, refuse_failed
from vmodel.plan.room import Room, Wants, without_adapter
from vmodel.plan.today import Measured, running_kinds, used_up

TIME_LIMIT_S = 60.0
STRICTER = 0.9  # limits of classes that miss their objective among their neighbours, per round
ROUNDS = 6


@dataclass(frozen=True, kw_only=True)
class Unbound:
    """The same fleet when no class has to be able to migrate: what migration costs, and which paths it rules out."""

    cost: float | None  # None: infeasible all the same
    paths: Mapping[str, str]  # class -> its path then, where that is another one


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The answer for a fleet: where everything stands, or why nothing can."""

    fleet: Fleet
    known: Catalogue
    refusals: tuple[Refusal, ...]  # of class and path, then of the fleet
    placement: Placement | None  # None: infeasible
    groups: tuple[Group, ...] = ()  # with spare hosts
    spares: Mapping[str, int] = field(default_factory=dict)
    failures: tuple[Failure, ...] = ()
    standings: tuple[Standing, ...] = ()
    busy: tuple[Busy, ...] = ()  # of the chosen options
    bottleneck: Bottleneck | None = None
    chance: Chance | None = None
    unbound: Unbound | None = None
    candidates: tuple[Candidate, ...] = ()
    measured: tuple[Measured, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def feasible(self) -> bool:
        """Whether everything has a place, spare hosts too, and every failure of the rules is survived."""
        spared = sum(self.spares.values()) >= self.fleet.rules.spare_hosts
        return self.placement is not None and spared and all(f.holds for f in self.failures)

    @property
    def price(self) -> float:
        """Price of all hosts, spares too; those that run already are paid."""
        return float(sum(g.hosts * g.room.price for g in self.groups if not self.ran(g)))

    @property
    def watts(self) -> float:
        """Power of all hosts: idle power, and the rest in proportion to busy cores."""
        return float(sum(g.hosts * self.watts_of(g) for g in self.groups if g.counts.any() or not self.ran(g)))

    def watts_of(self, group: Group) -> float:
        """Power of one host of a group."""
        room = group.room
        use, level = self.known.wants.use(room, group.counts), self.known.wants.level(room, group.counts)
        busy = min(1.0, room.shares(use, level)["cores"][0] / room.cores) if room.cores else 0.0
        return room.watts_idle + (room.watts - room.watts_idle) * busy

    @staticmethod
    def ran(group: Group) -> bool:
        """Whether these hosts run already."""
        return "(" in group.room.name


def problem_of(known: Catalogue, rooms: Sequence[Room] | None = None, wants: Wants | None = None) -> Problem:
    """What there is to place: host types and hosts that run already."""
    rules = known.fleet.rules
    used = used_up(known.fleet, rooms or known.rooms)
    bought = [Kind(room=r, cost=cost_of(known.fleet, r), most=r.count) for r in used]
    running, _ = running_kinds(known, rooms or known.rooms)
    kinds = (*bought, *running)
    classes = len(known.fleet.vm)
    costs = {kind.cost for kind in kinds if kind.cost > 0}
    start = tuple(
        Shelf(kind=i, hosts=int(kind.most or 0), counts=np.zeros(classes, dtype=int))
        for i, kind in enumerate(kinds)
        if kind.today is not None
    )
    return Problem(
        kinds=kinds,
        wants=wants or known.wants,
        demand=np.array([float(vm.count) for vm in known.fleet.vm]),
        start=start,
        step=costs.pop() if len(costs) == 1 and rules.move_price == 0 else None,
    )


def cost_of(fleet: Fleet, room: Room) -> float:
    """What is minimised, of one host that is bought."""
    return {"price": room.price, "hosts": 1.0, "watts": room.watts}[fleet.rules.minimise]


def plan_fleet(fleet: Fleet, *, time_limit_s: float = TIME_LIMIT_S) -> Plan:
    """Plan a fleet. An infeasible one is answered with reasons, before and without the solver where arithmetic does.

    The same fleet gives the same plan unless the time limit ends the search, which is said.
    """
    known = catalogue(fleet)
    refused = [refuse_class(known, c) for c in _without_option(known, known.wants)]
    if refused:
        return Plan(fleet=fleet, known=known, refusals=(*known.refusals, *refused), placement=None)
    rooms = known.rooms
    wants = known.wants
    if "nic" in fleet.rules.n_minus_1:
        rooms = tuple(without_adapter(h, r) for h, r in zip(fleet.host, known.rooms, strict=True))
        wants = _standing(wants, rooms)
        refused = [refuse_failed(known, c) for c in _without_option(known, wants)]
        if refused:
            return Plan(fleet=fleet, known=known, refusals=(*known.refusals, *refused), placement=None)
    problem = problem_of(known, rooms, wants)
    shortage = crowded(known, problem)
    if shortage is not None:
        return Plan(fleet=fleet, known=known, refusals=(*known.refusals, shortage), placement=None)
    placement: Placement | None = None
    met: list[Standing] = []
    notes: list[str] = []
    for _ in range(ROUNDS):
        placement, free = solve(problem, time_limit_s=time_limit_s)
        if placement is None:
            reason = squeezed(
                known, problem, free.missing, lambda some: solve(some, time_limit_s=time_limit_s)[0] is not None
            )
            return Plan(fleet=fleet, known=known, refusals=(*known.refusals, reason), placement=None)
        met = standings(placement.groups, problem.wants, known.options)
        late = sorted({s.option for s in met if not s.keeps})
        if not late:
            break
        problem = replace(problem, wants=_stricter(problem.wants, late))
        names = ", ".join(known.options[o].vm.name for o in late)
        notes.append(f"neighbours delayed {names} more than the limits said: limits made stricter by a tenth")
    return _told(known, replace(known, wants=problem.wants), problem, placement, (met, notes))


def _told(
    asked: Catalogue,
    known: Catalogue,
    problem: Problem,
    placement: Placement | None,
    found: tuple[list[Standing], list[str]],
) -> Plan:
    """A placement with all that is said of it."""
    fleet = asked.fleet
    if placement is None:
        return Plan(fleet=fleet, known=known, refusals=known.refusals, placement=None)
    met, notes = found
    groups = _at_full(known, placement.groups)
    bought = [kind.room for kind in problem.kinds if kind.today is None]
    full = _at_full_rooms(known, bought)
    groups, failed, spares = with_spares(fleet, known.wants, groups, full, [cost_of(fleet, r) for r in full])
    found_curves = curves(known, placement.chosen)
    uncertain = any(vm.uncertainty > 0 for vm in fleet.vm)
    short = unspared(known, problem, failed, sum(spares))
    return Plan(
        fleet=fleet,
        known=known,
        refusals=(*known.refusals, *short),
        placement=placement,
        groups=groups,
        spares={r.name: n for r, n in zip(full, spares, strict=True) if n},
        failures=failed,
        standings=tuple(met),
        busy=busy_of(known, placement.chosen),
        bottleneck=next_bottleneck(known, placement.chosen, groups, found_curves),
        chance=_chance(known, placement, groups, found_curves) if uncertain else None,
        measured=tuple(running_kinds(known, known.rooms)[1]),
        notes=tuple([*notes, *([placement.note] if placement.note else [])]),
    )


def _chance(known: Catalogue, placement: Placement, groups: Sequence[Group], found: Curves) -> Chance:
    factors = demand_factors(known.fleet, known.fleet.rules.draws)
    cost = {g.room.name: cost_of(known.fleet, g.room) for g in groups}
    return chance_of(known.fleet, groups, placement.chosen, found, factors=factors, cost=cost)


def least_regret(fleet: Fleet, *, time_limit_s: float = TIME_LIMIT_S) -> tuple[Candidate, ...]:
    """Plans for several quantiles of demand, over the same draws: cost, chance and regret; the least regretted first.

    The cost of a plan in a draw is that of its hosts, and late_factor times that of the hosts' worth it falls short.
    """
    drawn = demand_factors(fleet, fleet.rules.draws)
    made: list[tuple[float, int, float, Chance]] = []
    costs = []
    for quantile in QUANTILES:
        asked = with_demand(fleet, quantile)
        found = plan_fleet(asked, time_limit_s=time_limit_s)
        if found.placement is None:
            continue
        chosen, groups = found.placement.chosen, found.groups
        known_curves = curves(found.known, chosen)
        factors = drawn / np.array([b.rate[1] / a.rate[1] for a, b in zip(fleet.vm, asked.vm, strict=True)])
        price = {g.room.name: cost_of(fleet, g.room) for g in groups}
        late = fleet.rules.late_factor
        costs.append(draw_costs(groups, chosen, known_curves, factors=factors, cost=price, late=late))
        chance = chance_of(fleet, groups, chosen, known_curves, factors=factors, cost=price)
        # hosts that run already are paid, whatever is planned; late ones beside them are not
        paid = fleet.rules.minimise == "price"
        total = float(sum(g.hosts * price[g.room.name] for g in groups if not (paid and Plan.ran(g))))
        made.append((quantile, sum(g.hosts for g in groups), total, chance))
    if not made:
        return ()
    mean, worst = regrets(np.array(costs))
    out = [
        Candidate(quantile=q, hosts=n, cost=cost, chance=chance.plan, mean_regret=float(m), worst_regret=float(w))
        for (q, n, cost, chance), m, w in zip(made, mean, worst, strict=True)
    ]
    return tuple(sorted(out, key=lambda c: (c.mean_regret, c.quantile)))


def without_migration(found: Plan, *, time_limit_s: float = TIME_LIMIT_S) -> Unbound:
    """Plan the fleet of a plan again with every must_migrate dropped."""
    free = plan_fleet(_unbound(found.fleet), time_limit_s=time_limit_s)
    if free.placement is None:
        return Unbound(cost=None, paths={})
    now = {}
    if found.placement is not None:
        now = {found.known.options[o].vm.name: found.known.options[o].path for o in found.placement.chosen}
    then = {free.known.options[o].vm.name: free.known.options[o].path for o in free.placement.chosen}
    moved = {name: path for name, path in then.items() if now.get(name) != path}
    return Unbound(cost=free.placement.cost, paths=moved)


def _unbound(fleet: Fleet) -> Fleet:
    return fleet.model_copy(update={"vm": tuple(vm.model_copy(update={"must_migrate": False}) for vm in fleet.vm)})


def _standing(wants: Wants, rooms: Sequence[Room]) -> Wants:
    """Limits with zero where a reduced host does not hold a single VM."""
    limits = wants.limits.copy()
    for o in range(limits.shape[0]):
        for t, room in enumerate(rooms):
            if limits[o, t] > 0 and not room.fits(wants.needs[o, t], limits[o, t]):
                limits[o, t] = 0.0
    return replace(wants, limits=limits)


def _without_option(known: Catalogue, wants: Wants) -> list[int]:
    """Classes that no option is left for."""
    able = wants.limits.max(axis=1, initial=0.0) > 0
    return [c for c in range(len(known.fleet.vm)) if not ((wants.vm == c) & able).any()]


def _stricter(wants: Wants, late: Sequence[int]) -> Wants:
    limits = wants.limits.copy()
    limits[list(late)] *= STRICTER
    return replace(wants, limits=limits)


def _at_full(known: Catalogue, groups: Sequence[Group]) -> tuple[Group, ...]:
    """The groups on hosts as they are while nothing has failed."""
    rooms = {id(g.room): r for g, r in zip(groups, _at_full_rooms(known, [g.room for g in groups]), strict=True)}
    return tuple(replace(g, room=rooms[id(g.room)]) for g in groups)


def _at_full_rooms(known: Catalogue, rooms: Sequence[Room]) -> list[Room]:
    out: dict[int, Room] = {}
    for room in rooms:
        whole = known.rooms[room.type]
        out.setdefault(id(room), replace(room, capacity=whole.capacity, adapters=whole.adapters))
    return [out[id(room)] for room in rooms]
