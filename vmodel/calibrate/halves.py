"""How well one half of a study predicts the other: split by configuration, so that no repeat is on both sides."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vmodel.calibrate.belief import belief
from vmodel.calibrate.design import design, evaluate, moved_by
from vmodel.calibrate.fit import Fit, fit
from vmodel.calibrate.profile_file import as_profile
from vmodel.core.records import Observation, Profile
from vmodel.solve.doubt import UNSEEN_LOG_SD
from vmodel.solve.solver import NORMAL_90

Array = NDArray[np.float64]
FEWEST = 4  # configurations, two for each half


@dataclass(frozen=True, slots=True, kw_only=True)
class Unseen:
    """One configuration of the half that the fit has not seen: the median of its repeats, and what was predicted."""

    row: Observation
    rows: int
    measured: float
    predicted: float
    log_sd: float
    spread: float  # largest over smallest of its repeats
    nearest: float  # the nearest size of the same series that was seen, as a user would take it without a model

    @property
    def error(self) -> float:
        """Relative error of the prediction."""
        return self.predicted / self.measured - 1

    @property
    def covered(self) -> bool:
        """Whether the measured median lies in the 90 % interval of the prediction."""
        return abs(math.log(self.predicted / self.measured)) <= NORMAL_90 * self.log_sd


@dataclass(frozen=True, slots=True, kw_only=True)
class Halves:
    """The fit of one half and the other half under it."""

    fitted: Fit
    unseen: tuple[Unseen, ...]
    seed: int


def configuration(row: Observation) -> tuple[object, ...]:
    """What repeats have in common."""
    return (row.path, row.workload, row.direction, row.metric, row.series, *sorted(row.knobs.items()))


def grouped(rows: Sequence[Observation]) -> dict[tuple[object, ...], list[Observation]]:
    """Rows by configuration, in the order of the file."""
    out: dict[tuple[object, ...], list[Observation]] = {}
    for row in rows:
        out.setdefault(configuration(row), []).append(row)
    return out


def split(rows: Sequence[Observation], seed: int) -> tuple[tuple[Observation, ...], tuple[Observation, ...]]:
    """Every second configuration of each series, in the order of size, and the others.

    Of an odd number the ends are seen, so that no half is asked far beyond what it knows; of an even one chance (the
    seed) decides with which the half begins.
    """
    series: dict[tuple[str, str], list[tuple[float, tuple[object, ...]]]] = {}
    for key, group in grouped(rows).items():
        size = float(group[0].knobs.get("size", 0.0))
        series.setdefault((group[0].series, group[0].metric), []).append((size, key))
    dice = random.Random(seed)
    seen: set[tuple[object, ...]] = set()
    for place in sorted(series):
        keys = [key for _, key in sorted(series[place], key=lambda pair: (pair[0], str(pair[1])))]
        first = 0 if len(keys) % 2 else dice.randrange(2)
        seen.update(keys[first::2])
    kept = tuple(row for row in rows if configuration(row) in seen)
    return kept, tuple(row for row in rows if configuration(row) not in seen)


def halves(rows: Sequence[Observation], seed_profile: Profile, seed: int) -> Halves | None:
    """Fit one half and predict the other; None where there are too few configurations to split."""
    if len(grouped(rows)) < FEWEST:
        return None
    seen, other = split(rows, seed)
    if not other:
        return None
    fitted = fit(seen, seed_profile)
    return Halves(fitted=fitted, unseen=predicted(other, seen, as_profile(fitted, seed_profile.name)), seed=seed)


def predicted(rows: Sequence[Observation], seen: Sequence[Observation], profile: Profile) -> tuple[Unseen, ...]:
    """Each configuration of the rows under a profile, with its standard deviation."""
    groups = list(grouped(rows).values())
    first = [group[0] for group in groups]
    asked = design(first, profile)
    known = belief(profile, moved_by(asked))
    logs, jacobian = evaluate(asked, {}, known.names, len(first))
    own = np.einsum("ij,jk,ik->i", jacobian, known.covariance, jacobian)
    out = []
    for i, group in enumerate(groups):
        row, values = group[0], [r.value for r in group]
        model = profile.seen.get(f"{row.path}/{row.workload}")
        off = UNSEEN_LOG_SD if model is None else model.log_sd
        out.append(
            Unseen(
                row=row,
                rows=len(group),
                measured=float(np.median(values)),
                predicted=float(np.exp(logs[i])),
                log_sd=math.sqrt(max(float(own[i]), 0.0) + off**2),
                spread=max(values) / min(values),
                nearest=_nearest(row, seen),
            )
        )
    return tuple(out)


def _nearest(row: Observation, seen: Sequence[Observation]) -> float:
    """The median of the closest size in the same series."""

    def far(other: Observation) -> float:
        return abs(math.log(float(other.knobs["size"]) / float(row.knobs["size"])))

    alike = [r for r in seen if (r.series, r.metric) == (row.series, row.metric) and "size" in r.knobs]
    if not alike or "size" not in row.knobs:
        return math.nan
    least = min(far(r) for r in alike)
    closest = next(configuration(r) for r in alike if far(r) == least)
    return float(np.median([r.value for r in alike if configuration(r) == closest]))


def repeat_spread(rows: Sequence[Observation]) -> tuple[float, float, float]:
    """Over all configurations with repeats: median relative standard deviation, median and largest of max over min."""
    groups = [np.array([r.value for r in group]) for group in grouped(rows).values() if len(group) > 1]
    if not groups:
        return math.nan, math.nan, math.nan
    ratios = [float(values.max() / values.min()) for values in groups]
    deviations = [float(np.log(values).std(ddof=1)) for values in groups]
    return float(np.median(deviations)), float(np.median(ratios)), max(ratios)
