"""A fit as numbers: rows, groups, what was believed before, and the search for the most probable costs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from vmodel.calibrate.belief import Belief, belief
from vmodel.calibrate.design import Group, design, evaluate, moved_by
from vmodel.core.records import Observation, Profile
from vmodel.errors import FitError

Array = NDArray[np.float64]
STEPS = 40  # evaluations of one search
SMALLEST = 1e-7  # share of the largest variance below which one is rounding
BOUND_SD = 4.0  # a parameter further from its prior than this is at its bound


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Data and priors of a fit, made once and used for every fold.

    centre, spread: prior mean and standard deviation of the log costs [n].
    root: of the inverse of their covariance: the prior's part of the sum of squares is |root (theta - centre)|^2.
    """

    rows: tuple[Observation, ...]
    groups: tuple[Group, ...]
    names: tuple[str, ...]
    measured: Array
    centre: Array
    spread: Array
    root: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighing:
    """The likelihood of residuals r: |S r|^2, with an error that the rows of a set share beside their own noise.

    own: 1 / noise of each row, times the root of its robust weight [n].
    shared: sets of rows, each with the variance of the error they have in common.
    """

    own: Array
    shared: tuple[tuple[Array, float], ...] = ()

    def of(self, residuals: Array) -> Array:
        """S r, for residuals [n] or the rows of a Jacobian [n, m]."""
        column = self.own if residuals.ndim == 1 else self.own[:, None]
        out = np.asarray(column * residuals, dtype=np.float64)
        for places, variance in self.shared:
            u = self.own[places]
            size = float(u @ u)
            if size > 0 and variance > 0:
                along = u @ out[places] / size
                out[places] -= (1 - 1 / math.sqrt(1 + variance * size)) * (
                    np.outer(u, along) if out.ndim == 2 else u * along
                )
        return out


class Posterior(Protocol):
    """What a fit says of the costs that its rows touched."""

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def log_values(self) -> Array: ...
    @property
    def covariance(self) -> Array: ...


def problem(rows: Sequence[Observation], profile: Profile) -> Problem:
    """Lay out rows, groups and priors. Raises FitError when there is nothing to fit."""
    if not rows:
        raise FitError(study=profile.name, parameter=None, reason="no row to fit")
    groups = design(rows, profile)
    names = moved_by(groups)
    before = belief(profile, names)
    covariance = before.covariance
    spread = np.sqrt(np.diag(covariance))
    apart = np.count_nonzero(covariance - np.diag(np.diag(covariance))) == 0
    root = np.diag(1 / spread) if apart else _root(covariance)
    return Problem(
        rows=tuple(rows),
        groups=groups,
        names=names,
        measured=np.log([row.value for row in rows]),
        centre=before.mean,
        spread=spread,
        root=root,
    )


def _root(covariance: Array) -> Array:
    """A root of the inverse of a covariance, whose digits may have been rounded in a file."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray((vectors / np.sqrt(np.maximum(values, SMALLEST * values[-1]))).T, dtype=np.float64)


def solve_map(p: Problem, start: Array, weighing: Weighing, *, steps: int = STEPS) -> tuple[Array, Array, Array]:
    """Minimise |S (log f(theta) - log y)|^2 + |root (theta - prior)|^2; returns theta, log predictions, Jacobian."""
    n = len(p.rows)
    kept: dict[bytes, tuple[Array, Array]] = {}

    def at(theta: Array) -> tuple[Array, Array]:
        key = theta.tobytes()
        if key not in kept:
            kept.clear()
            values = dict(zip(p.names, np.exp(theta).tolist(), strict=True))
            kept[key] = evaluate(p.groups, values, p.names, n)
        return kept[key]

    def residual(theta: Array) -> Array:
        return np.concatenate([weighing.of(at(theta)[0] - p.measured), p.root @ (theta - p.centre)])

    def jacobian(theta: Array) -> Array:
        return np.vstack([weighing.of(at(theta)[1]), p.root])

    found = least_squares(
        residual,
        start,
        jac=jacobian,
        bounds=(p.centre - BOUND_SD * p.spread, p.centre + BOUND_SD * p.spread),
        x_scale=p.spread,
        xtol=1e-7,
        ftol=1e-8,
        gtol=1e-7,
        max_nfev=steps,
    )
    logs, exact = at(found.x)
    return found.x, logs, exact


def posterior(p: Problem, weighing: Weighing, jacobian: Array) -> tuple[Array, Array]:
    """Covariance of the log costs near the most probable ones, and the information that the rows brought."""
    weighted = weighing.of(jacobian)
    information = weighted.T @ weighted
    covariance: Array = np.asarray(np.linalg.inv(information + p.root.T @ p.root), dtype=np.float64)
    return covariance, information


def carried(f: Posterior, before: Belief) -> Belief:
    """What a fit says of costs that its rows did not touch: they move with those they are correlated with.

    before: prior of all the costs that are asked for.
    """
    at = np.array([before.names.index(n) for n in f.names if n in before.names], dtype=int)
    mine = np.array([j for j, n in enumerate(f.names) if n in before.names], dtype=int)
    gain = before.covariance[:, at] @ np.linalg.inv(before.covariance[np.ix_(at, at)])
    cover = before.covariance - gain @ before.covariance[at, :] + gain @ f.covariance[np.ix_(mine, mine)] @ gain.T
    return Belief(
        names=before.names,
        mean=before.mean + gain @ (f.log_values[mine] - before.mean[at]),
        covariance=(cover + cover.T) / 2,
    )
