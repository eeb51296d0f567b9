"""How many rows are enough: the error of the rest, against the number of rows that a fit was given."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vmodel.calibrate.belief import belief
from vmodel.calibrate.fit import fit
from vmodel.calibrate.problem import carried, problem
from vmodel.calibrate.profile_file import NORMAL_90, as_profile
from vmodel.calibrate.transfer import STARTS, spread_over
from vmodel.calibrate.validate import answers
from vmodel.core.records import Observation, Profile

Array = NDArray[np.float64]
COUNTS = (0, 1, 2, 3, 5, 8, 13, 21, 34, 55)
FEWEST_LEFT = 3  # rows that must be left to be predicted


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """Rows given, and how far off the rest then were, over several draws."""

    given: int
    median_ape: float
    p95_ape: float
    coverage90: float
    width90: float  # factor between the ends of the median interval


def curve(rows: Sequence[Observation], prior: Profile, told: Callable[[], None] = lambda: None) -> tuple[Point, ...]:
    """Fit more and more rows, spread over the file, and predict the others; three draws for each number."""
    p = problem(rows, prior)
    before = belief(prior, p.names)
    out = []
    for count in COUNTS:
        if count and len(rows) - count < FEWEST_LEFT:
            break
        errors, spreads = [], []
        for start in STARTS if count else STARTS[:1]:
            given = spread_over(len(rows), count, start) if count else ()
            rest = [i for i in range(len(rows)) if i not in given]
            known, profile = before, prior
            if given:
                f = fit([rows[i] for i in given], prior)
                known, profile = carried(f, before), as_profile(f, "given")
            guess = answers(p, known, profile)
            errors.append((guess.logs - p.measured)[rest])
            spreads.append(guess.sd[rest])
        off, sd = np.concatenate(errors), np.concatenate(spreads)
        ape = np.abs(np.exp(off) - 1)
        out.append(
            Point(
                given=count,
                median_ape=float(np.median(ape)),
                p95_ape=float(np.quantile(ape, 0.95)),
                coverage90=float(np.mean(np.abs(off) <= NORMAL_90 * sd)),
                width90=float(np.exp(2 * NORMAL_90 * np.median(sd))),
            )
        )
        told()
    return tuple(out)
