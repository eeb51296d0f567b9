"""How far a row may be off: repeats, the spread a row states, residuals of its like, and what the model is off by."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vmodel.calibrate.problem import Weighing
from vmodel.core.records import Observation, Profile

Array = NDArray[np.float64]
LEAST_NOISE, MOST_NOISE = 0.004, 0.08  # relative noise is estimated between these where the prior knows no model error
START_NOISE = 0.05
CUT = 3.0  # residuals beyond this many standard deviations lose weight (Cauchy law)
NORMAL_MAD = 1.4826  # median absolute deviation of the normal law
CONTRADICTION = 2.0  # factor between answers to the same question that no noise explains
MOST_MODEL = 0.4  # a larger error is no noise: the rows or the model are wrong
LEAST_RATIO = 0.1  # no row weighs more than a hundred times its neighbours
LEAST_FREE = 0.2  # share of degrees of freedom below which residuals are not scaled up further
BELIEVED_ROWS = 8  # rows of a kind against which the residuals must speak before they are believed
SHARED = 0.5  # part of the model's error (variance) that rows of one set have in common
FIRST_ERROR = 0.06  # with this five rows of a study left out told most of the rest (see docs/accuracy.md)


def noise_groups(rows: Sequence[Observation]) -> list[str]:
    """Rows share one noise by path and workload, and by direction where the rate is of frames."""
    return [f"{r.path}/{r.workload}" + (f"/{r.direction}" if r.workload == "packets" else "") for r in rows]


def sets(rows: Sequence[Observation]) -> list[tuple[str, ...]]:
    """Rows that the model may miss together: one path between the same places, one way, one kind of figure."""
    return [(r.path, r.peer, r.topology, r.workload, r.direction, r.metric) for r in rows]


def configuration(row: Observation) -> tuple[object, ...]:
    """What makes two rows repeats of each other: the same question, whoever measured it and when."""
    knobs = tuple(sorted(row.knobs.items()))
    return (row.path, row.peer, row.topology, row.workload, row.direction, row.metric, knobs)


def repeat_noise(rows: Sequence[Observation]) -> dict[str, float]:
    """Relative noise of each group from rows that repeat each other, pooled over their degrees of freedom.

    Rows that differ by a factor which no noise explains contradict each other; they tell nothing of noise.
    """
    groups = noise_groups(rows)
    places: dict[tuple[object, ...], list[int]] = {}
    for i, row in enumerate(rows):
        places.setdefault(configuration(row), []).append(i)
    squares: dict[str, list[float]] = {}
    for repeats in places.values():
        logs = np.log([rows[i].value for i in repeats])
        if len(repeats) > 1 and float(np.ptp(logs)) <= math.log(CONTRADICTION):
            found = squares.setdefault(groups[repeats[0]], [0.0, 0.0])
            found[0] += float(np.sum((logs - logs.mean()) ** 2))
            found[1] += len(repeats) - 1
    return {group: math.sqrt(total / free) for group, (total, free) in sorted(squares.items())}


def repeats(rows: Sequence[Observation]) -> Array:
    """How often each row's configuration was measured [n]."""
    number = Counter(kinds := [configuration(row) for row in rows])
    return np.array([float(number[k]) for k in kinds])


def told(rows: Sequence[Observation]) -> Array:
    """Relative spread that each row states, nan where it states none [n]."""
    return np.array([math.nan if r.sd is None else r.sd / r.value for r in rows])


def stated(rows: Sequence[Observation]) -> tuple[Array, Array]:
    """Least relative noise of each row from the spread that it states, and its noise against others of its group.

    Studies tell spreads as extremes: a third is a standard deviation, and that much noise there is at least.
    Among rows of a group that state different spreads, each weighs by its own.
    """
    own = told(rows)
    floor = np.where(np.isnan(own), LEAST_NOISE, np.maximum(LEAST_NOISE, np.nan_to_num(own) / 3))
    ratio = np.ones(len(rows))
    groups = np.array(noise_groups(rows))
    for name in sorted(set(groups)):
        mask = (groups == name) & ~np.isnan(own)
        if mask.any():
            ratio[mask] = np.maximum(np.round(own[mask] / np.median(own[mask]), 2), LEAST_RATIO)
    return floor, ratio


def estimate_noise(groups: Sequence[str], residuals: Array, floor: Array) -> Array:
    """Robust relative noise of each row from the residuals of its group, shrunk towards all rows where few."""
    overall = float(np.clip(NORMAL_MAD * np.median(np.abs(residuals)), LEAST_NOISE, MOST_NOISE))
    out = np.empty(len(residuals))
    for name in sorted(set(groups)):
        mask = np.array([g == name for g in groups])
        count = int(mask.sum())
        own = NORMAL_MAD * float(np.median(np.abs(residuals[mask])))
        pooled = math.sqrt((count * own**2 + 4 * overall**2) / (count + 4))
        out[mask] = np.clip(pooled, LEAST_NOISE, MOST_NOISE)
    return np.maximum(out, floor)


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """Standard deviation of each row's residual beside what the costs explain: its own part, and what sets share."""

    own: Array
    shared: tuple[tuple[Array, float], ...] = ()

    @property
    def whole(self) -> Array:
        """Both parts together [n]."""
        variance = self.own**2
        for places, more in self.shared:
            variance[places] += more
        return np.asarray(np.sqrt(variance), dtype=np.float64)

    def weighing(self, weights: Array) -> Weighing:
        """The likelihood of residuals with this noise and these robust weights."""
        return Weighing(own=np.sqrt(weights) / self.own, shared=self.shared)


def from_residuals(rows: Sequence[Observation], residuals: Array | None) -> Noise:
    """The noise of a study that stands alone: its residuals tell it."""
    floor, ratio = stated(rows)
    if residuals is None:
        return Noise(own=np.full(len(rows), START_NOISE) * ratio)
    return Noise(own=estimate_noise(noise_groups(rows), residuals, floor) * ratio)


def from_prior(rows: Sequence[Observation], expected: float, residuals: Array | None, effective: float) -> Noise:
    """The noise of a machine of a known population: what the model is usually off by, until its own rows say better.

    expected: relative error at first.  effective: parameters that the rows have paid for.
    """
    groups = np.array(noise_groups(rows))
    known, own_noise, often = repeat_noise(rows), told(rows), repeats(rows)
    model = np.full(len(rows), expected**2)
    if residuals is not None:
        paid = effective / len(rows)
        for name in sorted(set(groups)):
            mask = groups == name
            count = float(mask.sum()) * max(1 - paid, 0.0)
            seen = (NORMAL_MAD * float(np.median(np.abs(residuals[mask])))) ** 2 / max(1 - paid, LEAST_FREE)
            grown = (count * seen + BELIEVED_ROWS * model[mask]) / (count + BELIEVED_ROWS)
            model[mask] = np.minimum(grown, MOST_MODEL**2)
    noise = np.array([known.get(g, 0.0) for g in groups])
    noise = np.where(np.isnan(own_noise), np.maximum(noise, LEAST_NOISE), np.nan_to_num(own_noise))
    own = np.sqrt((1 - SHARED) * model * often + noise**2)
    together: dict[tuple[str, ...], list[int]] = {}
    for i, key in enumerate(sets(rows)):
        together.setdefault(key, []).append(i)
    shared = tuple(
        (np.array(places), SHARED * float(np.mean(model[places]))) for places in together.values() if len(places) > 1
    )
    alone = np.array([places[0] for places in together.values() if len(places) == 1], dtype=int)
    own[alone] = np.sqrt(own[alone] ** 2 + SHARED * model[alone])
    return Noise(own=own, shared=shared)


def expected_error(profile: Profile) -> float | None:
    """What rows are at first believed to be off by, noise and model; None where no study was compared with a prior.

    Less than what intervals are made of: rows must be able to move costs that differ a lot between machines.
    """
    return FIRST_ERROR if profile.seen else None
