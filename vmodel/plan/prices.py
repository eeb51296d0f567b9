"""What a constraint costs: the derivative of the best answer by its bound, checked by solving again."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy

from vmodel.plan.search import Points, Pool, Problem, answer, best, narrowed, violation
from vmodel.solve.goal import Constraint

NUDGES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)  # relative changes of a bound that are tried until the best answer moves
CHECKED = 0.1  # of the bound, over which the slope is checked: several steps of the device
REACH = 0.01  # share of a setting's value over which its slope is taken
MOVED = 1e-7  # relative change of the best answer that counts
IN_FORCE = 0.02  # relative distance from the bound within which a constraint is in force at device steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What one constraint costs the objective; SI units.

    without: the best answer if it were not there; slope: d objective / d bound by the settings that are free to move,
    None where only whole choices are left; checked: the same from solving again with another bound; next_bound and
    next_value: the first looser bound at which the answer is better, and that answer.
    """

    constraint: Constraint
    value: float
    binding: bool
    without: float | None
    slope: float | None
    checked: float | None
    next_bound: float | None
    next_value: float | None


def prices(pool: Pool, problem: Problem, point: Points) -> tuple[Price, ...]:
    """The price of every constraint at the best configuration found."""
    objective = problem.objective.quantity.name
    now = float(point.answers[objective][0])
    loose = [best(pool, _without(problem, c)) for c in problem.constraints]
    free = [float(p.answers[objective][0]) for p in loose]
    binding = [_better(problem, value, now) for value in free]
    tight = [c for c, b in zip(problem.constraints, binding, strict=True) if b and _in_force(c, point)]
    slopes = _slopes(problem, point, tight)
    out = []
    for c, b, value in zip(problem.constraints, binding, free, strict=True):
        checked, next_bound, next_value = _again(pool, problem, c, now) if b else (None, None, None)
        out.append(
            Price(
                constraint=c,
                value=float(point.answers[c.quantity.name][0]),
                binding=b,
                without=value if b else None,
                slope=slopes.get(c.text) if b else None,
                checked=checked,
                next_bound=next_bound,
                next_value=next_value,
            )
        )
    return tuple(out)


def _without(problem: Problem, constraint: Constraint) -> Problem:
    return narrowed(problem, [c for c in problem.constraints if c is not constraint])


def with_bound(problem: Problem, constraint: Constraint, bound: float) -> Problem:
    """The same problem with another bound on one of its constraints."""
    return narrowed(problem, [c.at(bound) if c is constraint else c for c in problem.constraints])


def _better(problem: Problem, new: float, old: float) -> bool:
    return bool(problem.objective.cost(new) < problem.objective.cost(old) - MOVED * abs(old))


def _in_force(c: Constraint, point: Points) -> bool:
    return abs(float(c.excess(point.answers[c.quantity.name][0]))) <= IN_FORCE


def _slopes(problem: Problem, point: Points, tight: Sequence[Constraint]) -> dict[str, float]:
    """How the best answer moves with each bound that is in force, by the settings that are free to move.

    d f / d b_j = min f' d over directions d with g_j' d = 1 and no other constraint in force exceeded: a linear
    programme over one-sided secants of the long settings, a few steps of the device each way.  Empty where it has no
    bounded answer, which is so at kinks.
    """
    names = [problem.objective.quantity.name, *(c.quantity.name for c in tight)]
    signs = numpy.asarray([1.0 if problem.objective.minimise else -1.0, *(1.0 if c.upper else -1.0 for c in tight)])
    base = numpy.asarray([float(point.answers[n][0]) for n in names])
    rows = []
    for i, axis in enumerate(problem.axes):
        here = int(point.places[0, i])
        reach = max(1, round(REACH * here))
        for there in (here - reach, here + reach):
            inside = axis.long and 0 <= there < len(axis.values)
            if inside and not any(axis.values[j] in axis.modes for j in (here, there)):
                moved = point.places.copy()
                moved[0, i] = there
                found = answer(problem, moved).answers
                rows.append((numpy.asarray([float(found[n][0]) for n in names]) - base) * signs)
    if not rows or not tight:
        return {}
    table = numpy.asarray(rows)
    sizes = numpy.asarray([abs(base[0]) or 1.0, *(c.scale for c in tight)])
    table = table / sizes
    out = {}
    for j, c in enumerate(tight):
        gain = _steepest(table[:, 0], table[:, 1:], j)
        if gain is not None:
            out[c.text] = float(gain * signs[0] * sizes[0] / (signs[j + 1] * sizes[j + 1]))
    return out


def _steepest(objective: Any, limits: Any, j: int) -> float | None:
    """The lowest change of the objective while limit j gives way by one and the others do not, moving along rows."""
    if limits.shape[1] == 1:
        uses = limits[:, 0] > 0
        return float((objective[uses] / limits[uses, 0]).min()) if uses.any() else None
    from scipy.optimize import linprog  # half a second to load; one constraint in force does without

    room = numpy.zeros(limits.shape[1])
    room[j] = 1.0
    found = linprog(objective, A_ub=limits.T, b_ub=room, bounds=(0, None), method="highs")
    return float(found.fun) if found.status == 0 else None


def _again(pool: Pool, problem: Problem, c: Constraint, now: float) -> tuple[float | None, float | None, float | None]:
    """Solve with looser bounds: slope over CHECKED of the bound, and the first bound that moves the answer, with it."""
    for nudge in NUDGES:
        bound, value = _loosened(pool, problem, c, nudge)
        if value is not None and _better(problem, value, now):
            far = _loosened(pool, problem, c, CHECKED) if nudge < CHECKED else (bound, value)
            slope = None if far[1] is None else (far[1] - now) / (far[0] - c.bound)
            return slope, bound, value
    return None, None, None


def _loosened(pool: Pool, problem: Problem, c: Constraint, nudge: float) -> tuple[float, float | None]:
    """A looser bound and the best answer under it, None where that is no bound."""
    bound = c.bound + (c.scale if c.upper else -c.scale) * nudge
    if bound < 0:
        return bound, None
    asked = with_bound(problem, c, bound)
    point = best(pool, asked)
    return bound, float(point.answers[problem.objective.quantity.name][0]) if violation(asked, point)[0] == 0 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How far one bound is out of reach: the best value with no other constraint, and with all others kept [SI].

    with_others is None where the others cannot be met either; distance is relative to the bound.
    """

    constraint: Constraint
    alone: float
    with_others: float | None
    distance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Why nothing meets the constraints."""

    binding: Constraint  # exceeded most where all are exceeded least
    smallest_set: tuple[Constraint, ...]  # cannot be met together; any fewer of them can
    reaches: tuple[Reach, ...]  # one for each constraint
    nearest: Reach | None  # the least change of one bound that makes it feasible


def conflict(pool: Pool, problem: Problem, point: Points) -> Conflict:
    """Explain an infeasible problem, `point` being where the constraints are exceeded least."""
    over = [float(c.excess(point.answers[c.quantity.name][0])) for c in problem.constraints]
    binding = problem.constraints[max(range(len(over)), key=lambda i: over[i])]
    reaches = tuple(_reach(pool, problem, c) for c in problem.constraints)
    possible = [r for r in reaches if r.with_others is not None and math.isfinite(r.distance)]
    return Conflict(
        binding=binding,
        smallest_set=_smallest(pool, problem),
        reaches=reaches,
        nearest=min(possible, key=lambda r: r.distance, default=None),
    )


def _smallest(pool: Pool, problem: Problem) -> tuple[Constraint, ...]:
    """The fewest constraints that cannot be met together."""
    from itertools import combinations

    for size in range(1, len(problem.constraints)):
        for some in combinations(problem.constraints, size):
            asked = narrowed(problem, some)
            if violation(asked, best(pool, asked))[0] > 0:
                return some
    return problem.constraints


def _reach(pool: Pool, problem: Problem, c: Constraint) -> Reach:
    """The best value of one constrained quantity, without the others and with them."""
    wanted = replace(problem.objective, quantity=c.quantity, minimise=c.upper)
    others = [other for other in problem.constraints if other is not c]
    alone = best(pool, replace(problem, objective=wanted, constraints=()))
    asked = replace(problem, objective=wanted, constraints=tuple(others))
    kept = best(pool, asked)
    value: Any = float(kept.answers[c.quantity.name][0]) if violation(asked, kept)[0] == 0 else None
    return Reach(
        constraint=c,
        alone=float(alone.answers[c.quantity.name][0]),
        with_others=value,
        distance=math.inf if value is None else max(0.0, float(c.excess(value))),
    )
