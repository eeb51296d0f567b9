"""Parameters from observations: maximum a posteriori with log-normal priors, robust weights, exact Jacobian."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from vmodel.calibrate.design import Group, design, evaluate, moved_by
from vmodel.core.records import Observation, Profile
from vmodel.errors import FitError
from vmodel.library.tables import priors

Array = NDArray[np.float64]
OUTCOMES = ("ok", "at bound", "not identified", "outside the model's domain")
OUTSIDE = 0.35  # relative error beyond which a row speaks against the model and not of noise
OUTSIDE_SHARE = 0.25  # share of such rows from which the data as a whole do
LITTLE = 0.2  # a fit in which no parameter learned this much has identified nothing
ROUNDS = 6  # of reweighting; weights have settled long before
CUT = 3.0  # residuals beyond this many noise standard deviations lose weight (Cauchy law)
LEAST_NOISE, MOST_NOISE = 0.004, 0.08  # relative noise is estimated between these
START_NOISE = 0.05
SHOWN = 5  # rows that a sentence names
NORMAL_MAD = 1.4826  # median absolute deviation of the normal law
STEPS = 40  # evaluations of one search
FOLD_STEPS = 8  # a fold starts where the whole fit ended
BOUND_SD = 4.0  # a parameter further from its prior than this is at its bound
NOT_IDENTIFIED = 0.95  # share of the prior's spread that is left


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a fit concluded of one parameter."""

    name: str
    value: float
    log_error: float
    prior: float
    prior_log_sd: float
    moved_sd: float  # distance from the prior, in its standard deviations
    learned: float  # 1 - (posterior / prior) spread: 0 nothing, 1 everything
    at_bound: bool
    partners: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """Outcome of a fit: estimates, covariance of the logarithms, residuals, noise, effective parameters."""

    profile: Profile
    rows: tuple[Observation, ...]
    names: tuple[str, ...]
    log_values: Array
    covariance: Array
    predicted: Array
    residuals: Array
    weights: Array
    row_noise: Array
    noise: Mapping[str, float]
    effective: float
    estimates: tuple[Estimate, ...]
    outcome: str  # one of OUTCOMES
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Data and priors of a fit, made once and used for every fold."""

    rows: tuple[Observation, ...]
    groups: tuple[Group, ...]
    names: tuple[str, ...]
    measured: Array
    centre: Array
    spread: Array


def problem(rows: Sequence[Observation], profile: Profile) -> Problem:
    """Lay out rows, groups and priors. Raises FitError when there is nothing to fit."""
    if not rows:
        raise FitError(study=profile.name, parameter=None, reason="no row to fit")
    groups = design(rows, profile)
    names = moved_by(groups)
    clock = profile.clock_ghz
    centre = np.array([_prior_log(profile, n, clock) for n in names])
    spread = np.array([profile.values[n].log_error if n in profile.values else priors()[n].log_sd for n in names])
    return Problem(
        rows=tuple(rows),
        groups=groups,
        names=names,
        measured=np.log([row.value for row in rows]),
        centre=centre,
        spread=spread,
    )


def _prior_log(profile: Profile, name: str, clock: float) -> float:
    value = profile.values[name].value if name in profile.values else priors()[name].at(clock)
    return math.log(value)


def solve_map(
    p: Problem, start: Array, noise: Array, weights: Array, *, steps: int = STEPS
) -> tuple[Array, Array, Array]:
    """Minimise sum w (residual / noise)^2 + sum ((theta - prior) / sd)^2; returns theta, log predictions, Jacobian."""
    n = len(p.rows)
    root = np.sqrt(weights) / noise
    kept: dict[bytes, tuple[Array, Array]] = {}

    def at(theta: Array) -> tuple[Array, Array]:
        key = theta.tobytes()
        if key not in kept:
            kept.clear()
            values = dict(zip(p.names, np.exp(theta).tolist(), strict=True))
            kept[key] = evaluate(p.groups, values, p.names, n)
        return kept[key]

    def residual(theta: Array) -> Array:
        return np.concatenate([root * (at(theta)[0] - p.measured), (theta - p.centre) / p.spread])

    def jacobian(theta: Array) -> Array:
        return np.vstack([root[:, None] * at(theta)[1], np.diag(1 / p.spread)])

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


def noise_groups(rows: Sequence[Observation]) -> list[str]:
    """Rows share one noise by path and workload, and by direction where the rate is of frames."""
    return [f"{r.path}/{r.workload}" + (f"/{r.direction}" if r.workload == "packets" else "") for r in rows]


def _floor(row: Observation) -> float:
    """Least relative noise of a row: a third of the spread its source states, since spreads are told as extremes."""
    return LEAST_NOISE if row.sd is None else max(LEAST_NOISE, row.sd / row.value / 3)


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


def fit(rows: Sequence[Observation], profile: Profile) -> Fit:
    """Fit the parameters that the rows can move, others keep their prior.

    Alternates MAP with robust weights and noise estimated from the residuals; deterministic.
    Raises FitError when there is nothing to fit.
    """
    p = problem(rows, profile)
    groups = noise_groups(p.rows)
    floor = np.array([_floor(row) for row in p.rows])
    noise = np.full(len(p.rows), START_NOISE)
    weights = np.ones(len(p.rows))
    theta = p.centre.copy()
    for _ in range(ROUNDS):
        theta, logs, _ = solve_map(p, theta, noise, weights)
        residuals = logs - p.measured
        noise = estimate_noise(groups, residuals, floor)
        weights = 1 / (1 + (residuals / (CUT * noise)) ** 2)
    return _conclude(p, profile, solve_map(p, theta, noise, weights), noise, weights)


def _conclude(p: Problem, profile: Profile, found: tuple[Array, Array, Array], noise: Array, weights: Array) -> Fit:
    theta, logs, jacobian = found
    root = np.sqrt(weights) / noise
    weighted = root[:, None] * jacobian
    information = weighted.T @ weighted
    covariance: Array = np.asarray(np.linalg.inv(information + np.diag(1 / p.spread**2)), dtype=np.float64)
    effective = float(np.trace(covariance @ information))
    estimates = _estimates(p, theta, covariance)
    names = noise_groups(p.rows)
    per_group = {g: float(noise[[n == g for n in names]].max()) for g in sorted(set(names))}
    outcome, because = _outcome(p, estimates, logs - p.measured)
    return Fit(
        profile=profile,
        rows=p.rows,
        names=p.names,
        log_values=theta,
        covariance=covariance,
        predicted=np.exp(logs),
        residuals=logs - p.measured,
        weights=weights,
        row_noise=noise,
        noise=per_group,
        effective=effective,
        estimates=estimates,
        outcome=outcome,
        because=because,
    )


def _outcome(p: Problem, estimates: Sequence[Estimate], residuals: Array) -> tuple[str, str]:
    """Say in one sentence what to think of a fit."""
    far = [row.id for row, r in zip(p.rows, residuals, strict=True) if abs(r) > math.log1p(OUTSIDE)]
    if len(far) > OUTSIDE_SHARE * len(p.rows):
        named = ", ".join(far[:SHOWN]) + (", ..." if len(far) > SHOWN else "")
        reason = f"{len(far)} of {len(p.rows)} rows are off by more than {OUTSIDE:.0%}: {named}"
        return "outside the model's domain", f"{reason}; check units, sizes and path, or the path lacks a stage"
    bounded = [e.name for e in estimates if e.at_bound]
    if bounded:
        return "at bound", f"{', '.join(bounded)} went as far from what is physically likely as it may"
    if max(e.learned for e in estimates) < LITTLE:
        best = max(estimates, key=lambda e: e.learned).name
        return (
            "not identified",
            f"the rows tell no cost apart; {best} is told best, measure other sizes or paths for more",
        )
    kept = sum(1 - e.learned > NOT_IDENTIFIED for e in estimates)
    return "ok", f"{len(estimates) - kept} costs were learned from, {kept} keep their prior"


def _estimates(p: Problem, theta: Array, covariance: Array) -> tuple[Estimate, ...]:
    sd = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(sd, sd)
    out = []
    for j, name in enumerate(p.names):
        others = sorted(((abs(correlation[j, k]), k) for k in range(len(p.names)) if k != j), reverse=True)
        out.append(
            Estimate(
                name=name,
                value=float(np.exp(theta[j])),
                log_error=float(sd[j]),
                prior=float(np.exp(p.centre[j])),
                prior_log_sd=float(p.spread[j]),
                moved_sd=float((theta[j] - p.centre[j]) / p.spread[j]),
                learned=float(1 - sd[j] / p.spread[j]),
                at_bound=bool(abs(theta[j] - p.centre[j]) > (BOUND_SD - 1e-3) * p.spread[j]),
                partners=tuple((p.names[k], float(correlation[j, k])) for r, k in others[:3] if r > 0.3),
            )
        )
    return tuple(out)
