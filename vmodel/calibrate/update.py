"""Drift: new rows of a machine whose profile is known already, and which of its costs moved."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vmodel.calibrate.belief import belief
from vmodel.calibrate.fit import Fit, fit
from vmodel.core.records import Observation, Profile

Array = NDArray[np.float64]
LOOSENINGS = (3.0, 10.0, 30.0)  # factors on all standard errors of the old profile, the first good enough wins
WORTH = 3.0  # log-evidence that a looser memory must gain: what is known is not given up lightly
REJECTED_COST = 4.5  # log-evidence that a rejected row costs: as much as a residual of three standard deviations
MOVED = 2.0  # standard deviations of its own change from which a cost has moved


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One cost that new rows moved: before, after, the change in standard deviations of such changes.

    effect: what the change alone does to the rows, root mean square of log(prediction).
    """

    name: str
    before: float
    after: float
    score: float
    effect: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """A profile carried on by new rows: the fit, how much the old errors were loosened, the costs that moved."""

    fit: Fit
    loosened: float
    moved: tuple[Move, ...]
    because: str


def update(rows: Sequence[Observation], known: Profile) -> Update:
    """Weigh new rows against what a profile knows; raises FitError when there is no row.

    If the rows are far from what the profile says, its standard errors are loosened by the smallest factor that
    explains them; single rows that stand alone are rejected instead.
    """
    best, factor = fit(rows, known), 1.0
    most = _evidence(best)
    for scale in LOOSENINGS:
        found = fit(rows, _loosened(known, scale))
        gain = _evidence(found)
        if gain > most + WORTH:
            best, factor, most = found, scale, gain
    moved = _moves(best)
    return Update(fit=best, loosened=factor, moved=moved, because=_sentence(moved, factor, best))


def _loosened(known: Profile, scale: float) -> Profile:
    """The profile with all errors of fitted costs larger by a factor."""
    fitted = set(known.correlated)
    return replace(
        known,
        values={
            n: replace(v, log_error=v.log_error * scale) if n in fitted else v for n, v in known.values.items()
        },
        covariance=tuple(tuple(x * scale**2 for x in row) for row in known.covariance),
    )  # fmt: skip


def _evidence(f: Fit) -> float:
    """Logarithm of the probability of the rows under the prior of a fit, linearised at its end; rejected rows cost."""
    kept = np.array([i for i, row in enumerate(f.rows) if row.id not in f.outliers], dtype=int)
    if len(kept) == 0:
        return -REJECTED_COST * len(f.rows)
    before = belief(f.profile, f.names)
    jacobian = f.jacobian[kept]
    off = f.residuals[kept] + jacobian @ (before.mean - f.log_values)
    spread = jacobian @ before.covariance @ jacobian.T + np.diag(f.row_noise.whole[kept] ** 2)
    size = float(np.linalg.slogdet(spread)[1])
    return -0.5 * float(off @ np.linalg.solve(spread, off)) - 0.5 * size - REJECTED_COST * len(f.outliers)


def _moves(f: Fit) -> tuple[Move, ...]:
    """Costs whose change is larger than the rows' own uncertainty would make it, the most telling first."""
    before = belief(f.profile, f.names)
    out = []
    for j, name in enumerate(f.names):
        gained = before.covariance[j, j] - f.covariance[j, j]
        change = float(f.log_values[j] - before.mean[j])
        score = change / math.sqrt(gained) if gained > 0 else 0.0
        if abs(score) >= MOVED:
            out.append(
                Move(
                    name=name,
                    before=float(np.exp(before.mean[j])),
                    after=float(np.exp(f.log_values[j])),
                    score=score,
                    effect=float(np.sqrt(np.mean((f.jacobian[:, j] * change) ** 2))),
                )
            )
    return tuple(sorted(out, key=lambda m: -m.effect))


def _sentence(moved: Sequence[Move], factor: float, f: Fit) -> str:
    if not moved:
        rest = f"; {', '.join(f.outliers)} rejected" if f.outliers else ""
        return f"no cost moved: the new rows are what the profile expects{rest}"
    first = moved[0]
    times = first.after / first.before
    how = f"{first.name} moved most, from {first.before:.3g} to {first.after:.3g} ({times:.2f} times)"
    also = f", and {len(moved) - 1} more with it" if len(moved) > 1 else ""
    wide = f"; what was known was loosened {factor:g} times to believe the rows" if factor > 1 else ""
    rest = f"; {', '.join(f.outliers)} rejected" if f.outliers else ""
    return how + also + wide + rest
