"""Search over the settings of one scenario: every combination of the short ones, closing in on the long ones.

All configurations are answered as arrays. A pool keeps those that nothing beats in the objective and every constraint
at once, so that other bounds can be answered without a new enumeration.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy

from vmodel.core.records import Scenario
from vmodel.errors import ConfigError, Fault
from vmodel.plan.space import Axis
from vmodel.solve.goal import MET, Constraint, Objective
from vmodel.solve.quantities import evaluated

BUDGET, SLOW_BUDGET = 10**6, 30_000  # configurations of the first look; where rings or populations iterate
SAMPLES = 512  # random configurations among which a value must never be worse to be settled beforehand
CHUNK = 131_072
FINEST, COARSEST = 17, 3  # values of a long setting in the first enumeration
SEEDS = 24  # combinations around which the search closes in
WIDE_ZOOM, NARROW_ZOOM, FEW_AXES = 5, 3, 4  # points of a zoom per long setting, and up to how many settings
SWEEPS = 8
FRONT_POINTS, FRONT_BETWEEN, FEW_POINTS, FRONT_ROUNDS = 64, 17, 8, 3  # of the front, where its gaps are filled
THOROUGH, AGAIN = 6, 2  # combinations that are moved to the end: for the answer, and for each question after it
NEAR, NEAR_SLOWLY = 32, 4  # places each way in which pairs of long settings are tried
TIES = ("throughput", "cpu")  # what decides between equals: more of the first, then less of the second
ROOM = 0.6  # of a bound, beyond which more room is worth nothing
FINEST_BOX, COARSEST_BOX = 5, 2  # digits to which points of a front are told apart
MOST_KEPT, MOST_COMPARED = 600, 20_000  # points of a front, and candidates for it
SAME_DIGITS = 10  # answers that agree to so many digits are the same


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A scenario, the settings to search, what is wanted of it, and the quantities of the front [lower is better]."""

    scenario: Scenario
    axes: tuple[Axis, ...]
    objective: Objective
    constraints: tuple[Constraint, ...]
    front: tuple[tuple[str, bool], ...]  # quantity, lower is better

    @property
    def names(self) -> tuple[str, ...]:
        """Every quantity that must be answered."""
        asked = [self.objective.quantity.name, *(c.quantity.name for c in self.constraints)]
        return tuple(dict.fromkeys([*asked, *(name for name, _ in self.front), *TIES]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Points:
    """Configurations by the places of their values on the axes, with their answers by quantity."""

    places: Any  # one row each, one column for each axis
    answers: dict[str, Any]

    def __len__(self) -> int:
        return len(self.places)

    def take(self, rows: Any) -> "Points":
        """Some of them."""
        return Points(places=self.places[rows], answers={k: v[rows] for k, v in self.answers.items()})


def joined(parts: Sequence[Points]) -> Points:
    """Several sets as one."""
    return Points(
        places=numpy.concatenate([p.places for p in parts]),
        answers={k: numpy.concatenate([p.answers[k] for p in parts]) for k in parts[0].answers},
    )


def settings_at(problem: Problem, places: Any) -> dict[str, float]:
    """The settings of one configuration."""
    return {axis.knob: axis.values[int(i)] for axis, i in zip(problem.axes, places, strict=True)}


def answer(problem: Problem, places: Any) -> Points:
    """Answer configurations; what cannot be (receive without copies on a shared NIC) has no numbers for answers."""
    columns = [numpy.asarray(axis.values)[places[:, i]] for i, axis in enumerate(problem.axes)]
    knobs = {axis.knob: column for axis, column in zip(problem.axes, columns, strict=True)}
    if not knobs:
        knobs = {"size": numpy.full(len(places), float(problem.scenario.knobs["size"]))}
    found = evaluated(problem.scenario, knobs, problem.names)
    if "zero_copy_rx" in knobs:
        allowed = knobs["zero_copy_rx"] <= knobs.get("dedicated_nic", problem.scenario.knobs["dedicated_nic"])
        found = {name: numpy.where(allowed, values, numpy.nan) for name, values in found.items()}
    return Points(places=places, answers=found)


def cost(problem: Problem, points: Points) -> Any:
    """The objective, less is better, to so many digits that equal answers are equal."""
    values = problem.objective.cost(points.answers[problem.objective.quantity.name])
    return rounded(numpy.where(numpy.isfinite(values), values, math.inf))


def rounded(values: Any, digits: int = SAME_DIGITS) -> Any:
    """Values to so many significant digits."""
    finite = numpy.isfinite(values) & (values != 0)
    size = numpy.floor(numpy.log10(numpy.abs(numpy.where(finite, values, 1.0))))
    unit = 10.0 ** (size - digits + 1)
    return numpy.where(finite, numpy.round(numpy.where(finite, values, 0.0) / unit) * unit, values)


def excesses(problem: Problem, points: Points) -> Any:
    """How far each constraint is exceeded, one column each; negative is room."""
    found = [c.excess(points.answers[c.quantity.name]) for c in problem.constraints]
    if not found:
        return numpy.zeros((len(points), 0))
    stacked = numpy.stack(found, axis=1)
    return numpy.where(numpy.isfinite(stacked), stacked, math.inf)


def violation(problem: Problem, points: Points) -> Any:
    """Sum of all excesses; zero where every constraint is met."""
    over = excesses(problem, points)
    return numpy.where(over > MET, over, 0.0).sum(axis=1)


def changes(problem: Problem, points: Points) -> Any:
    """How many settings differ from what they are today."""
    now = [axis.values.index(axis.now) if axis.now in axis.values else -1 for axis in problem.axes]
    return (points.places != numpy.asarray(now, dtype=int)).sum(axis=1)


def order(problem: Problem, points: Points) -> Any:
    """Rows, best first: constraints met, then the objective, the fewest changes, the most throughput, the least CPU."""
    work, cpu = (points.answers[name] for name in TIES)
    keys = (cpu, -rounded(work), changes(problem, points), cost(problem, points), violation(problem, points))
    return numpy.lexsort(keys)


def criteria(problem: Problem, points: Points) -> tuple[Any, Any]:
    """What a pool compares, less is better: columns by significant digits, and columns by absolute steps.

    Room beyond ROOM of a bound is as good as ROOM: no bound is asked for that is tighter than that.
    """
    return cost(problem, points)[:, None], numpy.maximum(excesses(problem, points), -ROOM)


def front_criteria(problem: Problem, points: Points) -> tuple[Any, Any]:
    """What the Pareto front compares, less is better."""
    columns = [points.answers[n] if low else -points.answers[n] for n, low in problem.front]
    return numpy.column_stack(columns), numpy.zeros((len(points), 0))


def boxed(table: tuple[Any, Any], digits: int) -> Any:
    """A table whose differences below so many digits do not count, so that a front stays of a size to look at."""
    relative, absolute = table
    return numpy.column_stack([rounded(relative, digits), numpy.round(absolute, digits - 1)])


def unbeaten(table: tuple[Any, Any]) -> Any:
    """Rows that no other row beats: nowhere worse and somewhere better, in boxes as fine as MOST_KEPT rows allow.

    table: one row each, less is better, no NaN; of rows in one box the first stays.  No kept row beats another one,
    since two boxes neither of which beats the other differ both ways.  Returns row numbers.
    """
    for digits in range(FINEST_BOX, COARSEST_BOX - 1, -1):
        boxes = boxed(table, digits)
        _, first = numpy.unique(boxes, axis=0, return_index=True)
        if len(first) > MOST_COMPARED and digits > COARSEST_BOX:
            continue
        kept = numpy.sort(first)
        rows = _front_of(boxes[kept], MOST_KEPT if digits > COARSEST_BOX else len(kept))
        if rows is not None:
            break
    return kept[rows]


def _front_of(values: Any, most: int) -> Any:
    """Rows of distinct values that no other row beats; None where there are more of them than asked for."""
    low, high = values.min(axis=0), values.max(axis=0)
    span = numpy.where(high > low, high - low, 1.0)
    rows = numpy.argsort(((values - low) / span).sum(axis=1), kind="stable")
    values = values[rows]
    i = 0
    while i < len(values):
        alive = (values < values[i]).any(axis=1)
        alive[i] = True
        rows, values = rows[alive], values[alive]
        i = int(alive[:i].sum()) + 1
        if i > most:
            return None
    return numpy.sort(rows)


@dataclass(slots=True, kw_only=True)
class Pool:
    """The configurations worth keeping of all that were answered: for other bounds, and for the front."""

    problem: Problem
    bounds: Points | None = None
    leading: Points | None = None  # the best, exactly
    front: Points | None = None
    answered: int = 0

    def add(self, points: Points) -> None:
        """Take what is not beaten."""
        self.answered += len(points)
        known = numpy.all([numpy.isfinite(v) for v in points.answers.values()], axis=0)
        points = points.take(numpy.flatnonzero(known))
        if not len(points):
            return
        points = points.take(numpy.argsort(changes(self.problem, points), kind="stable"))  # of equals the least changed
        self.bounds = self._merged(self.bounds, points, criteria)
        leading = points.take(order(self.problem, points)[:SEEDS])
        self.leading = leading if self.leading is None else joined([self.leading, leading])
        self.leading = self.leading.take(order(self.problem, self.leading)[:SEEDS])
        met = points.take(numpy.flatnonzero(violation(self.problem, points) == 0))
        self.front = self._merged(self.front, met, front_criteria) if len(met) else self.front

    def _merged(self, old: Points | None, new: Points, by: Any) -> Points:
        new = new.take(unbeaten(by(self.problem, new)))
        both = new if old is None else joined([old, new])
        return both.take(unbeaten(by(self.problem, both)))

    def kept(self) -> Points:
        """What the pool holds for other bounds."""
        if self.bounds is None or self.leading is None:
            return answer(self.problem, numpy.zeros((1, len(self.problem.axes)), int))
        return joined([self.leading, self.bounds])


def _grid(axis: Axis, count: int) -> list[int]:
    """Places of a first look at an axis: all of a short one; of a long one the ends, modes, today, and some between."""
    last = len(axis.values) - 1
    if not axis.long:
        return list(range(last + 1))
    fixed = [axis.values.index(v) for v in (*axis.modes, *(() if axis.now is None else (axis.now,)))]
    ordinary = [i for i, v in enumerate(axis.values) if v not in axis.modes]
    low, high = max(axis.values[ordinary[0]], 1.0), axis.values[-1]
    spread = numpy.searchsorted(axis.values, numpy.geomspace(low, high, count))
    return sorted({*fixed, ordinary[0], last, *(min(int(i), last) for i in spread)})


def _iterates(s: Scenario) -> bool:
    """Whether an answer needs iterations and so much more time: rings at an offered load, several in flight."""
    return s.load.kind != "max" if s.workload == "packets" else s.knobs["in_flight"] > 1


def first_look(problem: Problem) -> list[list[int]] | None:
    """The places tried on each axis, as fine as the budget allows: all where those are few, None where too many."""
    budget = SLOW_BUDGET if _iterates(problem.scenario) else BUDGET
    whole = [list(range(len(axis.values))) for axis in problem.axes]
    if math.prod(len(g) for g in whole) <= budget:
        return whole
    for count in range(FINEST, COARSEST - 1, -2):
        grids = [_grid(axis, count) for axis in problem.axes]
        if math.prod(len(g) for g in grids) <= budget:
            return grids
    return None


def settled(problem: Problem, rng: Any) -> tuple[Problem, dict[str, float]]:
    """The problem with few enough combinations for a first look, and the settings fixed for that.

    Where there are too many, short settings are fixed one by one at the value that is never worse, in the objective and
    in every constraint, than any other among many random configurations.  Raises ConfigError where that is too little.
    """
    fixed: dict[str, float] = {}
    while first_look(problem) is None:
        found = _dominant(problem, [a for a in problem.axes if not a.long and a.knob not in fixed], rng)
        if found is None:
            expected = "fewer settings at once: there are more combinations than can be tried"
            raise ConfigError([Fault(file="", key="--over", expected=expected)])
        axis, value = found
        fixed[axis.knob] = value
        alone = replace(axis, values=(value,))
        problem = replace(problem, axes=tuple(alone if a is axis else a for a in problem.axes))
    return problem, fixed


def _dominant(problem: Problem, axes: Sequence[Axis], rng: Any) -> tuple[Axis, float] | None:
    """The first of the axes with a value that no other value of it beats anywhere."""
    for axis in axes:
        i = problem.axes.index(axis)
        others = numpy.column_stack([rng.integers(0, len(a.values), SAMPLES) for a in problem.axes])
        tables = []
        for place in range(len(axis.values)):
            rows = others.copy()
            rows[:, i] = place
            points = answer(problem, rows)
            tables.append(numpy.column_stack([cost(problem, points), rounded(excesses(problem, points))]))
        stacked = numpy.stack(tables)
        never_worse = (stacked <= stacked.min(axis=0) + 0.0).all(axis=(1, 2))
        if never_worse.any():
            return axis, axis.values[int(numpy.argmax(never_worse))]
    return None


def chunks(grids: Sequence[Sequence[int]]) -> Iterator[Any]:
    """All combinations of the places, some at a time."""
    shape = tuple(len(g) for g in grids)
    arrays = [numpy.asarray(g) for g in grids]
    for start in range(0, math.prod(shape), CHUNK):
        rows = numpy.arange(start, min(start + CHUNK, math.prod(shape)))
        where = numpy.unravel_index(rows, shape) if shape else ()
        columns = [a[w] for a, w in zip(arrays, where, strict=True)]
        yield numpy.column_stack(columns) if columns else numpy.zeros((len(rows), 0), dtype=int)


def enumerate_all(problem: Problem, tell: Any = None) -> Pool:
    """Answer every combination of the first look.  tell: called with the share done."""
    pool = Pool(problem=problem)
    grids = first_look(problem) or []
    size = math.prod(len(g) for g in grids)
    for places in chunks(grids):
        pool.add(answer(problem, places))
        if tell is not None:
            tell(min(1.0, pool.answered / size))
    return pool


def refine_front(pool: Pool) -> None:
    """Fill the gaps that the first look left in the front: between the places it tried, around points of the front."""
    problem = pool.problem
    long = [i for i, axis in enumerate(problem.axes) if axis.long]
    points, width = (FEW_POINTS, NARROW_ZOOM) if _iterates(problem.scenario) else (FRONT_POINTS, FRONT_BETWEEN)
    for _ in range(FRONT_ROUNDS if long else 0):
        if pool.front is None:
            return
        ranked = numpy.argsort(pool.front.answers["cpu"], kind="stable")
        chosen = ranked[numpy.unique(numpy.linspace(0, len(ranked) - 1, points).astype(int))]
        rows = []
        for i in long:
            grid = numpy.asarray(_grid(problem.axes[i], COARSEST if _iterates(problem.scenario) else FINEST))
            for place in pool.front.places[chosen]:
                at = int(numpy.searchsorted(grid, place[i]))
                low, high = grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)]
                block = numpy.repeat(place[None], width, axis=0)
                block[:, i] = numpy.rint(numpy.linspace(low, high, width))
                rows.append(block)
        pool.add(answer(problem, numpy.unique(numpy.concatenate(rows), axis=0)))


def best(pool: Pool, problem: Problem | None = None, tries: int = AGAIN) -> Points:
    """The best configuration of a problem with the pool's axes, perhaps with other bounds or another objective.

    Starts from the pool, closes in on the long settings, then moves each of the `tries` best combinations of short
    settings along every setting, and along every pair of long ones nearby, until nothing improves.  Returns one point;
    its constraints are met unless none was found that meets them.
    """
    problem = problem or pool.problem
    kept = pool.kept()
    if problem.names != pool.problem.names:
        kept = answer(problem, kept.places)
    found = [kept.take(order(problem, kept)[:SEEDS])]
    if any(axis.long for axis in problem.axes):
        found.append(_zoomed(problem, _seeds(problem, kept)))
    both = joined(found)
    ends = [_improved(problem, both.take([i])) for i in _distinct(problem, both, order(problem, both), tries)]
    for part in (*found[1:], *ends):
        pool.add(_as_asked(pool.problem, problem, part))
    last = joined(ends)
    return last.take(order(problem, last)[:1])


def _distinct(problem: Problem, points: Points, ranked: Any, count: int) -> list[int]:
    """The first rows of so many combinations of the short settings."""
    short = [i for i, axis in enumerate(problem.axes) if not axis.long]
    rows: dict[tuple[int, ...], int] = {}
    for i in ranked:
        rows.setdefault(tuple(points.places[i, short].tolist()), int(i))
        if len(rows) == count:
            break
    return list(rows.values())


def _improved(problem: Problem, point: Points) -> Points:
    """A point moved until no setting alone, and no pair of long ones nearby, improves it."""
    for _ in range(SWEEPS):
        better = _nearby(problem, _swept(problem, point))
        if (better.places == point.places).all():
            break
        point = better
    return point


def _as_asked(original: Problem, problem: Problem, points: Points) -> Points:
    return points if original.names == problem.names else answer(original, points.places)


def _seeds(problem: Problem, kept: Points) -> Points:
    """Where to close in: the best that meet the constraints, and those that nearly do and promise more."""
    ranked = order(problem, kept)
    promising = numpy.lexsort((cost(problem, kept), rounded(violation(problem, kept))))
    value, over = cost(problem, kept), violation(problem, kept)
    better = [i for i in promising if over[i] > 0 and value[i] < value[ranked[0]]]
    short = [i for i, axis in enumerate(problem.axes) if not axis.long]
    chosen: dict[tuple[int, ...], int] = {}
    for i in [*ranked[: 2 * SEEDS], *better]:
        chosen.setdefault((*kept.places[i, short].tolist(), len(chosen) % 2), int(i))
        if len(chosen) >= SEEDS:
            break
    return kept.take(sorted(set(chosen.values())))


def _zoomed(problem: Problem, seeds: Points) -> Points:
    """The best found around each seed on the long axes, all seeds at once."""
    long = [i for i, axis in enumerate(problem.axes) if axis.long]
    count = WIDE_ZOOM if len(long) <= FEW_AXES else NARROW_ZOOM
    grids = {i: numpy.asarray(_grid(problem.axes[i], COARSEST)) for i in long}
    here = seeds.places.copy()
    low, high = here.copy(), here.copy()
    for i in long:
        at = numpy.searchsorted(grids[i], here[:, i])
        low[:, i] = grids[i][numpy.maximum(at - 1, 0)]
        high[:, i] = grids[i][numpy.minimum(at + 1, len(grids[i]) - 1)]
    steps = numpy.stack(numpy.meshgrid(*[numpy.linspace(0, 1, count)] * len(long), indexing="ij"), axis=-1)
    steps = steps.reshape(-1, len(long))
    best_points = seeds
    while True:
        width = (high - low)[:, long]
        tried = numpy.repeat(best_points.places[:, None, :], len(steps) + 1, axis=1)
        tried[:, 1:, long] = numpy.rint(low[:, None, long] + steps[None] * width[:, None, :]).astype(int)
        flat = tried.reshape(-1, tried.shape[-1])
        points = answer(problem, flat)
        owner = numpy.repeat(numpy.arange(len(tried)), len(steps) + 1)
        ranked = order(problem, points)
        _, first = numpy.unique(owner[ranked], return_index=True)
        best_points = points.take(ranked[first])
        if (width <= 1).all():
            return best_points
        reach = numpy.maximum(1, numpy.ceil(width / (count - 1))).astype(int)
        reach = numpy.where(width <= 2, 0, reach)
        low[:, long] = numpy.maximum(low[:, long], best_points.places[:, long] - reach)
        high[:, long] = numpy.minimum(high[:, long], best_points.places[:, long] + reach)


def _swept(problem: Problem, point: Points) -> Points:
    """The best of a point and all that differ from it in one setting."""
    rows = [point.places]
    for i, axis in enumerate(problem.axes):
        line = numpy.repeat(point.places, len(axis.values), axis=0)
        line[:, i] = numpy.arange(len(axis.values))
        rows.append(line)
    points = answer(problem, numpy.concatenate(rows))
    return points.take(order(problem, points)[:1])


def _nearby(problem: Problem, point: Points) -> Points:
    """The best of a point and those around it in each pair of long settings, which a bound may tie together."""
    long = [i for i, axis in enumerate(problem.axes) if axis.long]
    width = NEAR if not _iterates(problem.scenario) else NEAR_SLOWLY
    rows = [point.places]
    for i, j in combinations(long, 2):
        around = [_around(problem.axes[k], int(point.places[0, k]), width) for k in (i, j)]
        pairs = numpy.stack(numpy.meshgrid(*around, indexing="ij"), axis=-1).reshape(-1, 2)
        block = numpy.repeat(point.places, len(pairs), axis=0)
        block[:, [i, j]] = pairs
        rows.append(block)
    if len(rows) == 1:
        return point
    points = answer(problem, numpy.concatenate(rows))
    return points.take(order(problem, points)[:1])


def _around(axis: Axis, here: int, width: int) -> Any:
    """Places near one of a long axis."""
    return numpy.arange(max(0, here - width), min(len(axis.values), here + width + 1))


def effective(problem: Problem, trials: int, rng: Any) -> tuple[Axis, ...]:
    """The axes that move any quantity of the problem, at today's settings or among many random ones."""
    out = []
    sizes = [len(axis.values) for axis in problem.axes]
    others = numpy.column_stack([rng.integers(0, n, trials) for n in sizes]) if sizes else numpy.zeros((0, 0), int)
    for i, axis in enumerate(problem.axes):
        tried = _grid(axis, COARSEST)
        rows = numpy.repeat(others, len(tried), axis=0)
        rows[:, i] = numpy.tile(tried, len(others))
        found = answer(replace(problem), rows)
        if any(_moves(v.reshape(trials, -1)) for v in found.answers.values()):
            out.append(axis)
    return tuple(out)


def _moves(values: Any) -> bool:
    """Whether any row holds different values."""
    values = numpy.where(numpy.isfinite(values), values, -1.0)  # what cannot be differs from what can
    low, high = values.min(axis=1), values.max(axis=1)
    return bool((high - low > 10.0 ** (1 - SAME_DIGITS) * numpy.abs(high)).any())


def narrowed(problem: Problem, constraints: Iterable[Constraint]) -> Problem:
    """The same problem under other constraints."""
    return replace(problem, constraints=tuple(constraints))
