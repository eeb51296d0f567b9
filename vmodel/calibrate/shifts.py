"""Two sets of measurements laid side by side: the questions of each, what was configured differently, the noise."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vmodel.calibrate.design import question
from vmodel.calibrate.noise import LEAST_NOISE, START_NOISE
from vmodel.core.records import Observation, Profile, Scenario

Array = NDArray[np.float64]
WORDS = ("path", "peer", "topology", "workload", "direction")
CHANGEABLE = ("path", "peer")  # beside the knobs: what may differ in what is still the same test
VARIED = ("size", "in_flight", "flows")  # what a test asks for; another value is another question, no other set-up
MOST_CHANGES = 4  # settings that may differ between two rows that are compared
SESSION = 0.01  # two sessions on an unchanged machine differ by this much, however often each repeats
PRIOR_ROWS = 2.0  # repeats that the assumed noise weighs as much as
MEDIAN_FROM = 3  # repeats from which the median stands for them, which one outlier does not move
CONTRADICTION = 1.5  # factor between repeats of one question in one file beyond which they contradict each other


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """The figures of one question in one file: mean logarithm, its standard deviation, rows behind it."""

    row: Observation
    scenario: Scenario
    log_mean: float
    log_sd: float
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One question as both files answer it, with the settings that differ: name -> (before, after)."""

    before: Side
    after: Side
    differing: Mapping[str, tuple[Any, Any]]

    @property
    def change(self) -> float:
        """log(after / before)."""
        return self.after.log_mean - self.before.log_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A setting that differs between the files."""

    name: str
    before: Any
    after: Any
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Shifts:
    """Everything that two files say side by side."""

    pairs: tuple[Pair, ...]
    only_before: tuple[Side, ...]
    only_after: tuple[Side, ...]
    settings: tuple[Setting, ...]
    noise: float  # relative, of one row
    repeats: float  # degrees of freedom that the noise rests on; the rest is assumed
    contradicting: tuple[tuple[str, float], ...]  # questions and the largest factor between their own repeats


def _key(row: Observation, s: Scenario) -> tuple[Any, ...]:
    """What makes two rows repeats of one another, defaults filled in."""
    knobs = tuple(sorted((k, v) for k, v in s.knobs.items() if v is not None))
    return (*(getattr(s, word) for word in WORDS), row.metric, knobs)


def label(row: Observation, s: Scenario) -> str:
    """A question in a few words."""
    parts = [s.path, s.workload]
    if s.workload != "rr" and s.topology in ("host-vm", "cross-host-vm"):
        parts.append(s.direction)
    varied = [f"{name} {s.knobs[name]:g}" for name in sorted(row.knobs) if s.knobs.get(name) is not None]
    return f"{' '.join(parts)} {row.metric}" + (f" ({', '.join(varied)})" if varied else "")


def _grouped(rows: Sequence[Observation], profile: Profile) -> dict[Any, list[tuple[Observation, Scenario]]]:
    out: dict[Any, list[tuple[Observation, Scenario]]] = {}
    for row in rows:
        s = question(row, profile)
        out.setdefault(_key(row, s), []).append((row, s))
    return out


def _noise(groups: Sequence[list[tuple[Observation, Scenario]]]) -> tuple[float, float]:
    """Relative noise of one row: the median over questions of what their repeats spread, with what is assumed.

    A sample variance of f degrees of freedom has its median at (1 - 2 / (9 f))^3 of the true one (Wilson and Hilferty
    1931); the median keeps one question whose repeats contradict each other from hiding all others.
    """
    spread = []
    for group in groups:
        logs = np.log([row.value for row, _ in group])
        freedom = len(logs) - 1
        if freedom:
            spread.append((float(logs.var(ddof=1)) / (1 - 2 / (9 * freedom)) ** 3, freedom))
    total = float(sum(freedom for _, freedom in spread))
    below, middle = 0, 0.0
    for variance, freedom in sorted(spread):
        below, middle = below + freedom, variance
        if 2 * below >= total:
            break
    pooled = (total * middle + PRIOR_ROWS * START_NOISE**2) / (total + PRIOR_ROWS)
    return max(math.sqrt(pooled), LEAST_NOISE), total


def _side(group: Sequence[tuple[Observation, Scenario]], noise: float) -> Side:
    """The middle of a question's rows; repeats that spread more than others widen its error and no other's."""
    logs = np.log([row.value for row, _ in group])
    n = len(logs)
    told = [noise if row.sd is None else max(row.sd / row.value, LEAST_NOISE) for row, _ in group]
    variance = float(np.mean(np.square(told)))
    if n > 1:
        variance = ((n - 1) * float(logs.var(ddof=1)) + PRIOR_ROWS * variance) / (n - 1 + PRIOR_ROWS)
    middle = float(np.mean(logs) if n < MEDIAN_FROM else np.median(logs))
    share = (1.0 if n < MEDIAN_FROM else math.pi / 2) / n
    row, s = group[0]
    return Side(row=row, scenario=s, log_mean=middle, log_sd=math.sqrt(variance * share + SESSION**2), rows=n)


def _settings(s: Scenario) -> dict[str, Any]:
    return {**{name: getattr(s, name) for name in CHANGEABLE}, **s.knobs}


def _differing(a: Side, b: Side) -> dict[str, tuple[Any, Any]] | None:
    """The settings in which two questions differ; None where they are not the same test."""
    one, other = a.scenario, b.scenario
    same = (one.topology, one.workload, one.direction) == (other.topology, other.workload, other.direction)
    if not same or a.row.metric != b.row.metric:
        return None
    before, after = _settings(one), _settings(other)
    found = {k: (before[k], after[k]) for k in before if before[k] != after[k]}
    if any(name in found for name in VARIED) or len(found) > MOST_CHANGES:
        return None
    return found


def _match(before: list[Side], after: list[Side]) -> list[Pair]:
    """Pair what is left over, the set-up change that explains most rows first, then the smallest."""
    possible = [(i, j, found) for i, a in enumerate(before) for j, b in enumerate(after) if (found := _differing(a, b))]
    common = Counter(tuple(sorted(found.items(), key=str)) for _, _, found in possible)
    possible.sort(key=lambda p: (-common[tuple(sorted(p[2].items(), key=str))], len(p[2]), p[0], p[1]))
    out, used_before, used_after = [], set(), set()
    for i, j, found in possible:
        if i not in used_before and j not in used_after:
            out.append(Pair(before=before[i], after=after[j], differing=found))
            used_before.add(i)
            used_after.add(j)
    return out


def lay_side_by_side(before: Sequence[Observation], after: Sequence[Observation], profile: Profile) -> Shifts:
    """Pair the questions of two files; a question that only its settings changed is paired too, and the change told."""
    one, other = _grouped(before, profile), _grouped(after, profile)
    noise, repeats = _noise([*one.values(), *other.values()])
    first = {key: _side(group, noise) for key, group in one.items()}
    second = {key: _side(group, noise) for key, group in other.items()}
    pairs = [Pair(before=first[key], after=second[key], differing={}) for key in first if key in second]
    left = [side for key, side in first.items() if key not in second]
    right = [side for key, side in second.items() if key not in first]
    matched = _match(left, right)
    pairs += matched
    taken = {id(side) for pair in matched for side in (pair.before, pair.after)}
    counted = Counter((name, *values) for pair in matched for name, values in pair.differing.items())
    return Shifts(
        pairs=tuple(pairs),
        only_before=tuple(side for side in left if id(side) not in taken),
        only_after=tuple(side for side in right if id(side) not in taken),
        settings=tuple(
            Setting(name=name, before=old, after=new, rows=rows)
            for (name, old, new), rows in sorted(counted.items(), key=str)
        ),
        noise=noise,
        repeats=repeats,
        contradicting=_contradicting([*one.values(), *other.values()]),
    )


def _contradicting(groups: Sequence[list[tuple[Observation, Scenario]]]) -> tuple[tuple[str, float], ...]:
    out = []
    for group in groups:
        values = [row.value for row, _ in group]
        factor = max(values) / min(values)
        if factor > CONTRADICTION:
            out.append((label(*group[0]), factor))
    return tuple(sorted(out, key=lambda pair: -pair[1]))
