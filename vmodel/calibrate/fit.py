"""Parameters from observations: maximum a posteriori with log-normal priors, robust weights, exact Jacobian."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vmodel.calibrate.design import evaluate
from vmodel.calibrate.noise import CUT, Noise, expected_error, from_prior, from_residuals, noise_groups, repeat_noise
from vmodel.calibrate.outcome import Evidence, conclusion
from vmodel.calibrate.problem import BOUND_SD, Problem, posterior, problem, solve_map
from vmodel.core import show
from vmodel.core.records import Observation, Profile
from vmodel.units import format_share

Array = NDArray[np.float64]
ROUNDS = 6  # of reweighting; weights have settled long before
FOLD_STEPS = 8  # a fold starts where the whole fit ended
SHOWN_COSTS = 10  # of a fit in a notebook
OUTLIER = 0.5  # a row that kept less of its weight is named


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


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Fit:
    """Outcome of a fit: estimates, covariance of the logarithms, residuals, noise, effective parameters."""

    profile: Profile
    rows: tuple[Observation, ...]
    names: tuple[str, ...]
    log_values: Array
    covariance: Array
    jacobian: Array
    predicted: Array
    residuals: Array
    weights: Array
    row_noise: Noise
    noise: Mapping[str, float]
    repeat_noise: Mapping[str, float]
    outliers: tuple[str, ...]
    effective: float
    estimates: tuple[Estimate, ...]
    outcome: str  # one of OUTCOMES
    because: str

    def __repr__(self) -> str:
        return f"<Fit of {len(self.rows)} rows on {self.profile.name}: {self.outcome}: {self.because}>"

    def _repr_html_(self) -> str:
        best = sorted(self.estimates, key=lambda e: -e.learned)[:SHOWN_COSTS]
        rows = [
            [e.name, f"{e.value:.3g}", format_share(e.log_error), f"{e.prior:.3g}", format_share(e.learned)]
            for e in best
        ]
        return show.table(repr(self)[1:-1], ["cost", "value [SI]", "error", "prior", "learned"], rows)


def fit(rows: Sequence[Observation], profile: Profile) -> Fit:
    """Fit the parameters that the rows can move, others keep their prior.

    Alternates the most probable costs with robust weights and the noise that the residuals tell; deterministic. A prior
    that knows how far the model is usually off (its `seen`) is believed until the rows say better.
    Raises FitError when there is nothing to fit.
    """
    p = problem(rows, profile)
    expected = expected_error(profile)
    weights = np.ones(len(p.rows))
    theta = p.centre.copy()
    noise = _noise(p, expected, None, 0.0)
    for _ in range(ROUNDS):
        weighing = noise.weighing(weights)
        theta, logs, jacobian = solve_map(p, theta, weighing)
        residuals = logs - p.measured
        if expected is not None:
            covariance, information = posterior(p, weighing, jacobian)
            noise = _noise(p, expected, residuals, float(np.trace(covariance @ information)))
        else:
            noise = _noise(p, expected, residuals, 0.0)
        weights = 1 / (1 + (residuals / (CUT * noise.whole)) ** 2)
    return _conclude(p, profile, solve_map(p, theta, noise.weighing(weights)), noise, weights)


def _noise(p: Problem, expected: float | None, residuals: Array | None, effective: float) -> Noise:
    return from_residuals(p.rows, residuals) if expected is None else from_prior(p.rows, expected, residuals, effective)


def _conclude(p: Problem, profile: Profile, found: tuple[Array, Array, Array], noise: Noise, weights: Array) -> Fit:
    theta, logs, jacobian = found
    covariance, information = posterior(p, noise.weighing(weights), jacobian)
    effective = float(np.trace(covariance @ information))
    estimates = _estimates(p, theta, covariance)
    names, whole = noise_groups(p.rows), noise.whole
    per_group = {g: float(whole[[n == g for n in names]].max()) for g in sorted(set(names))}
    residuals = logs - p.measured
    outliers = tuple(row.id for row, w in zip(p.rows, weights, strict=True) if w < OUTLIER)
    believed = dict(zip(p.names, np.exp(p.centre).tolist(), strict=True))
    outcome, because = conclusion(
        Evidence(
            problem=p,
            profile=profile,
            first=evaluate(p.groups, believed, p.names, len(p.rows))[0],
            theta=theta,
            residuals=residuals,
            noise=whole,
            weights=weights,
            covariance=covariance,
            information=information,
            learned=[e.learned for e in estimates],
            bounded=[e.name for e in estimates if e.at_bound],
        ),
        outliers,
    )
    return Fit(
        profile=profile,
        rows=p.rows,
        names=p.names,
        log_values=theta,
        covariance=covariance,
        jacobian=jacobian,
        predicted=np.exp(logs),
        residuals=residuals,
        weights=weights,
        row_noise=noise,
        noise=per_group,
        repeat_noise=repeat_noise(p.rows),
        outliers=outliers,
        effective=effective,
        estimates=estimates,
        outcome=outcome,
        because=because,
    )


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
