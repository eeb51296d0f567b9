"""The best settings of one scenario under constraints: what they bring, what each bound costs, or why there is none."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy

from vmodel.config import scenario
from vmodel.core import show
from vmodel.core.records import Interval, Prediction, Scenario
from vmodel.library import commands, tables
from vmodel.plan.prices import Conflict, Price, conflict, prices
from vmodel.plan.search import (
    THOROUGH,
    Points,
    Pool,
    Problem,
    best,
    effective,
    enumerate_all,
    narrowed,
    refine_front,
    settings_at,
    settled,
    violation,
)
from vmodel.plan.space import space, with_knobs
from vmodel.solve import solver
from vmodel.solve.apply import apply_settings
from vmodel.solve.explain import SAME, effects
from vmodel.solve.goal import MET, Constraint, Objective, read_constraints, read_objective
from vmodel.solve.quantities import QUANTITIES, ratio_log_sd
from vmodel.solve.solver import NORMAL_90

TRIALS = 96  # random configurations on which a setting must move something to be searched
SEED = 20260501  # of those random configurations
WORTH = 0.005  # share of the objective that all settings left as they are may cost together
TIGHTENED = 2.0  # an interpolated percentile that misses its bound is asked for this much more of what it missed
ATTEMPTS = 4
MOST_FRONT = 400  # points of the front that are kept, evenly spaced
FRONT = (("throughput", False), ("cpu", True))  # beside the latency


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One setting of the answer: before, after, what the objective would be if it stayed, and how sure that is.

    ratio: objective with the setting as it was over the objective of the answer; None where it would break a bound.
    """

    knob: str
    before: float | None
    after: float
    value_if_kept: float
    ratio: float
    ratio_interval: Interval | None
    breaks: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerUp:
    """The best choice that differs in one setting: its objective, and the ratio to the answer with 90 % interval."""

    settings: Mapping[str, float | None]
    value: float
    ratio: float
    ratio_interval: Interval | None
    certain: bool  # the interval of the ratio excludes one
    inside: bool  # the answer's objective lies within the 90 % interval of the runner-up's


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontPoint:
    """One configuration that nothing beats in latency, throughput and CPU at once."""

    settings: Mapping[str, float]
    values: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """The outcome of a search; `answer` is None where nothing meets the constraints.

    optimum: the best value of the objective; the answer is within `worth` of it and leaves as it is what brings less.
    """

    scenario: Scenario
    objective: Objective
    constraints: tuple[Constraint, ...]
    today: Prediction
    answer: Prediction | None
    optimum: float | None
    nearest: Prediction  # the answer, or where the constraints are exceeded least
    changes: tuple[Change, ...]
    runner_up: RunnerUp | None
    prices: tuple[Price, ...]
    conflict: Conflict | None
    front: tuple[FrontPoint, ...]
    front_latency: str
    fixed: Mapping[str, float]  # never worse than any other value in many random configurations, so not varied
    searched: Mapping[str, tuple[float, float, int]]  # setting -> lowest, highest, number of values
    idle: Mapping[str, str]
    held: Mapping[str, str]
    answered: int
    hands: commands.Hands | None

    @property
    def feasible(self) -> bool:
        """Whether the constraints can be met."""
        return self.answer is not None

    def __repr__(self) -> str:
        if self.answer is None:
            return f"Tuning({self.objective.text}: infeasible)"
        q = self.objective.quantity
        return f"Tuning({self.objective.text}: {q.write(q.of(self.answer))}, was {q.write(q.of(self.today))})"

    def _repr_html_(self) -> str:
        """The changes as a table for notebooks, or what is out of reach."""
        q = self.objective.quantity
        if self.conflict is not None:
            heads: tuple[str, ...] = ("bound", "best alone", "best with the others kept")
            rows: list[tuple[str, ...]] = [
                (r.constraint.text, r.constraint.quantity.write(r.alone), r.constraint.quantity.write(r.with_others))
                for r in self.conflict.reaches
            ]
        else:
            heads = ("setting", "now", "best", f"{q.name} without it")
            rows = [(c.knob, _shown(c.before), _shown(c.after), q.write(c.value_if_kept)) for c in self.changes]
        return show.table(repr(self), heads, rows)


def _shown(value: float | None) -> str:
    return "default" if value is None else f"{value:g}"


def tune(
    path: str,
    *,
    minimise: str | None = None,
    maximise: str | None = None,
    subject: Iterable[str] = (),
    over: Iterable[str] = (),
    worth: float = WORTH,
    **settings: Any,
) -> Tuning:
    """Find the best settings of one scenario.

    minimise or maximise: a quantity (`p99`, `throughput`, `host_cpu`, ...).  subject: bounds such as
    "throughput >= 5Gbit/s".  over: the settings to search; without, all that a command sets and that are not given.
    worth: share of the objective below which changes are not proposed; 0 for the exact optimum.
    settings: as for `predict`.  Raises ConfigError naming every fault.
    """
    s = scenario(path=path, **settings)
    objective = read_objective(minimise, maximise, s)
    return tune_scenario(s, objective, read_constraints(subject, s), over=tuple(over), given=s.chosen, worth=worth)


def tune_scenario(
    s: Scenario,
    objective: Objective,
    constraints: Sequence[Constraint],
    *,
    over: Sequence[str] = (),
    given: Sequence[str] = (),
    worth: float = WORTH,
    names: commands.Names | None = None,
    tell: Callable[[float], None] | None = None,
) -> Tuning:
    """The same for a resolved scenario.  names: for the commands.  tell: called with the share of the work done."""
    allowed = space(s, over, given)
    latency = objective.quantity.name if objective.quantity.read is QUANTITIES["mean"].read else _asked(constraints)
    whole = Problem(
        scenario=s,
        axes=allowed.axes,
        objective=objective,
        constraints=tuple(constraints),
        front=((latency, True), *FRONT),
    )
    rng = numpy.random.default_rng(SEED)
    problem, fixed = settled(replace(whole, axes=effective(whole, TRIALS, rng)), rng)
    pool = enumerate_all(problem, tell)
    refine_front(pool)
    point = best(pool, tries=THOROUGH)
    found = _prediction(problem, point)
    if violation(problem, point)[0] == 0:
        point, found = _exact(pool, problem, point)
    feasible = all(c.met(c.quantity.of(found)) for c in constraints)
    optimum = objective.quantity.of(found) if feasible else None
    found = _spared(problem, found, worth) if feasible else found
    moved = _moved(problem, found)
    return Tuning(
        scenario=s,
        objective=objective,
        constraints=tuple(constraints),
        today=solver.predict(s),
        answer=found if feasible else None,
        optimum=optimum,
        nearest=found,
        changes=tuple(_change(problem, found, name) for name in moved) if feasible else (),
        runner_up=_runner_up(problem, found, worth) if feasible else None,
        prices=prices(pool, problem, point) if feasible else (),
        conflict=None if feasible else conflict(pool, problem, point),
        front=_front(pool),
        front_latency=latency,
        fixed=fixed,
        searched={a.knob: (a.values[0], a.values[-1], len(a.values)) for a in problem.axes},
        idle=_idle(s, whole, problem),
        held=allowed.held,
        answered=pool.answered,
        hands=apply_settings(found.scenario, moved, names) if feasible else None,
    )


def _asked(constraints: Sequence[Constraint]) -> str:
    """The latency that the constraints speak of, else the mean."""
    named = (c.quantity.name for c in constraints if c.quantity.read is QUANTITIES["mean"].read)
    return next(named, "mean")


def _tuned(problem: Problem, point: Points) -> Scenario:
    """The scenario with what differs from today set; what is as today stays as it was asked."""
    now = {axis.knob: axis.now for axis in problem.axes}
    asked = settings_at(problem, point.places[0])
    return with_knobs(problem.scenario, {k: v for k, v in asked.items() if v != now[k]})


def _prediction(problem: Problem, point: Points) -> Prediction:
    return solver.predict(_tuned(problem, point))


def _exact(pool: Pool, problem: Problem, point: Points) -> tuple[Points, Prediction]:
    """The best point whose scalar prediction meets the bounds; the arrays interpolate percentiles."""
    asked = problem
    found = _prediction(problem, point)
    for _ in range(ATTEMPTS):
        missed = {c.text: c.excess(c.quantity.of(found)) for c in problem.constraints}
        if all(miss <= MET for miss in missed.values()):
            break
        tighter = [
            now.at(now.bound - (1 if now.upper else -1) * TIGHTENED * missed[c.text] * c.scale)
            if missed[c.text] > MET
            else now
            for c, now in zip(problem.constraints, asked.constraints, strict=True)
        ]
        asked = narrowed(problem, tighter)
        point = best(pool, asked, THOROUGH)
        found = _prediction(problem, point)
    return point, found


def _moved(problem: Problem, found: Prediction) -> tuple[str, ...]:
    """The settings in which an answer differs from the question, in the order of the table."""
    before, after = problem.scenario.knobs, found.scenario.knobs
    return tuple(name for name in tables.knobs() if before[name] != after[name])


def _spared(problem: Problem, found: Prediction, worth: float) -> Prediction:
    """The answer without changes that bring next to nothing: least first, while all together cost below `worth`."""
    q = problem.objective.quantity
    least = problem.objective.cost(q.of(found))
    limit = least + worth * abs(least)
    kept = [(name, _reverted(problem, found, name)) for name in _moved(problem, found)]
    for name, _ in sorted(kept, key=lambda pair: problem.objective.cost(q.of(pair[1]))):
        trial = _left(problem, found, name)
        if trial is not None and problem.objective.cost(q.of(trial)) <= limit:
            found = trial
    return found


def _meets(problem: Problem, p: Prediction) -> bool:
    return all(c.met(c.quantity.of(p)) for c in problem.constraints)


def _left(problem: Problem, found: Prediction, name: str) -> Prediction | None:
    """The answer with one setting as it was; where that breaks a bound, another setting gives way as little as will do.

    A change that brings next to nothing may only have made room for a step of a long setting.  None where nothing does.
    """
    trial = _reverted(problem, found, name)
    if _meets(problem, trial):
        return trial
    best: Prediction | None = None
    for axis in problem.axes:
        here = found.scenario.knobs[axis.knob]
        if not axis.long or axis.knob == name or here not in axis.values or axis.now not in axis.values:
            continue
        bad, good = axis.values.index(here), axis.values.index(axis.now)
        at = {good: solver.predict(with_knobs(trial.scenario, {axis.knob: axis.values[good]}))}
        if bad == good or not _meets(problem, at[good]):
            continue
        while abs(good - bad) > 1:
            middle = (good + bad) // 2
            at[middle] = solver.predict(with_knobs(trial.scenario, {axis.knob: axis.values[middle]}))
            good, bad = (middle, bad) if _meets(problem, at[middle]) else (good, middle)
        cost = problem.objective.cost(problem.objective.quantity.of(at[good]))
        if best is None or cost < problem.objective.cost(problem.objective.quantity.of(best)):
            best = at[good]
    return best


def _reverted(problem: Problem, found: Prediction, name: str) -> Prediction:
    return solver.predict(with_knobs(found.scenario, {name: problem.scenario.knobs[name]}))


def _ratio(problem: Problem, found: Prediction, other: Prediction) -> tuple[float, Interval | None]:
    """Objective of another choice over that of the answer, with the 90 % interval of that ratio."""
    q = problem.objective.quantity
    mine, theirs = q.of(found), q.of(other)
    if not mine or not theirs:
        return math.inf if theirs else 1.0, None
    ratio = theirs / mine
    spread = math.exp(NORMAL_90 * ratio_log_sd(found.scenario, other.scenario, q.name))
    return ratio, Interval(low=ratio / spread, high=ratio * spread)


def _change(problem: Problem, found: Prediction, name: str) -> Change:
    """What one changed setting brings: the answer predicted again with this setting as it was."""
    before = problem.scenario.knobs[name]
    kept = _reverted(problem, found, name)
    ratio, interval = _ratio(problem, found, kept)
    return Change(
        knob=name,
        before=before,
        after=found.scenario.knobs[name],
        value_if_kept=float(problem.objective.quantity.of(kept) or 0.0),
        ratio=ratio,
        ratio_interval=interval,
        breaks=tuple(c.text for c in problem.constraints if not c.met(c.quantity.of(kept))),
    )


def _runner_up(problem: Problem, found: Prediction, worth: float) -> RunnerUp | None:
    """The best choice that differs from the answer in one setting, keeps the bounds, and is worse by more than `worth`.

    Tried are every other value of a short setting, every mode of a long one, and each setting as it was.
    """
    q = problem.objective.quantity
    mine = problem.objective.cost(q.of(found))
    margin = mine + max(worth, SAME) * abs(mine)
    other = []
    for axis in problem.axes:
        here, before = found.scenario.knobs[axis.knob], problem.scenario.knobs[axis.knob]
        values = dict.fromkeys((before, *(axis.modes if axis.long else axis.values)))
        for value in values:
            if value != here:
                p = solver.predict(with_knobs(found.scenario, {axis.knob: value}))
                if problem.objective.cost(q.of(p)) > margin and all(
                    c.met(c.quantity.of(p)) for c in problem.constraints
                ):
                    other.append(p)
    if not other:
        return None
    second = min(other, key=lambda p: problem.objective.cost(q.of(p)))
    ratio, interval = _ratio(problem, found, second)
    knobs = second.scenario.knobs
    value = float(q.of(second) or 0.0)
    spread = math.exp(NORMAL_90 * second.log_sd)
    mine_value = abs(mine)
    return RunnerUp(
        settings={k: knobs[k] for k in tables.knobs() if knobs[k] != found.scenario.knobs[k]},
        value=value,
        ratio=ratio,
        ratio_interval=interval,
        certain=interval is not None and not interval.low <= 1 <= interval.high,
        inside=value / spread <= mine_value <= value * spread,
    )


def _front(pool: Pool) -> tuple[FrontPoint, ...]:
    """The front, by rising CPU; evenly thinned where it has very many points."""
    if pool.front is None:
        return ()
    problem, points = pool.problem, pool.front
    ranked = numpy.argsort(points.answers["cpu"], kind="stable")
    if len(ranked) > MOST_FRONT:
        ranked = ranked[numpy.unique(numpy.linspace(0, len(ranked) - 1, MOST_FRONT).astype(int))]
    return tuple(
        FrontPoint(
            settings=settings_at(problem, points.places[i]),
            values={name: float(points.answers[name][i]) for name in problem.names},
        )
        for i in ranked
    )


def _idle(s: Scenario, whole: Problem, problem: Problem) -> dict[str, str]:
    """Settings that were allowed and move nothing that was asked, with the reason."""
    searched = {axis.knob for axis in problem.axes}
    names = [axis.knob for axis in whole.axes if axis.knob not in searched]
    told = effects(s, names)
    return {e.knob: e.reason or "it moves none of the quantities that were asked" for e in told}
