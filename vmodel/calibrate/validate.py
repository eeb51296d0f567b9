"""How far the model is off: in sample, with a row or a series left out, its intervals, and the baselines beside it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau

from vmodel.calibrate.baselines import BASELINES, Fold
from vmodel.calibrate.belief import Belief, belief
from vmodel.calibrate.design import evaluate, question
from vmodel.calibrate.evidence import Study
from vmodel.calibrate.fit import FOLD_STEPS, Fit, fit
from vmodel.calibrate.noise import configuration
from vmodel.calibrate.problem import Problem, posterior, problem, solve_map
from vmodel.calibrate.profile_file import NORMAL_90, spreads
from vmodel.core.records import Observation, Profile
from vmodel.solve.doubt import model_variance

Array = NDArray[np.float64]
DIGITS = 6  # significant, of every figure that is printed


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    """Log predictions of rows and the standard deviation of each."""

    logs: Array
    sd: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Everything compared of one study."""

    name: str
    rows: tuple[Observation, ...]
    excluded: int
    measured: Array
    inside: Guess
    row_out: Guess | None
    series_out: Guess | None
    baselines: dict[str, Array]
    series_baselines: dict[str, Array]
    effective: float


def folds(rows: Sequence[Observation], key: Callable[[Observation], Any]) -> list[Fold]:
    """Leave out the rows of each key in turn, and learn from no repeat of any of them."""
    kinds = [configuration(row) for row in rows]
    groups: dict[Any, list[int]] = {}
    for i, row in enumerate(rows):
        groups.setdefault(key(row), []).append(i)
    out = []
    for left in groups.values():
        known = {kinds[i] for i in left}
        out.append((tuple(left), tuple(j for j in range(len(rows)) if kinds[j] not in known)))
    return out


def rows_out(p: Problem, f: Fit, parts: Iterable[Fold], told: Callable[[], None]) -> Guess:
    """Predict each fold from a fit without it, linearised where the whole fit ended: a row or two move a fit little."""
    n = len(p.rows)
    logs, sd = np.full(n, np.nan), np.full(n, np.nan)
    kind_sd, at_end = spreads(f), np.log(f.predicted)
    pull = p.root.T @ p.root
    for left, kept in parts:
        weights = np.zeros(n)
        weights[list(kept)] = f.weights[list(kept)]
        weighing = f.row_noise.weighing(weights)
        covariance, _ = posterior(p, weighing, f.jacobian)
        off = weighing.of(f.jacobian).T @ weighing.of(f.residuals) + pull @ (f.log_values - p.centre)
        step = -covariance @ off
        for i in left:
            own = f.jacobian[i] @ covariance @ f.jacobian[i]
            logs[i] = at_end[i] + f.jacobian[i] @ step
            sd[i] = float(np.sqrt(max(own, 0.0) + kind_sd[i] ** 2))
        told()
    return Guess(logs=logs, sd=sd)


def left_out(p: Problem, f: Fit, parts: Iterable[Fold], told: Callable[[], None]) -> Guess:
    """Refit without each fold and predict it."""
    n = len(p.rows)
    logs, sd = np.full(n, np.nan), np.full(n, np.nan)
    kind_sd = spreads(f)
    for left, kept in parts:
        weights = np.zeros(n)
        weights[list(kept)] = f.weights[list(kept)]
        weighing = f.row_noise.weighing(weights)
        _, guess, jacobian = solve_map(p, f.log_values, weighing, steps=FOLD_STEPS)
        covariance, _ = posterior(p, weighing, jacobian)
        for i in left:
            logs[i] = guess[i]
            own = jacobian[i] @ covariance @ jacobian[i]
            sd[i] = float(np.sqrt(max(own, 0.0) + kind_sd[i] ** 2))
        told()
    return Guess(logs=logs, sd=sd)


def rows_only(study: Study) -> Result:
    """Fit a study and compare it with itself, in sample and with each row left out."""
    return validate_study(study, series=False)


def validate_study(study: Study, told: Callable[[], None] = lambda: None, *, series: bool = True) -> Result:
    """Fit a study and compare it with itself and with every fold of itself, whole series left out too if asked."""
    rows = study.compared
    f = fit(rows, study.seed)
    p = problem(rows, study.seed)
    _, jacobian = evaluate(p.groups, dict(zip(p.names, np.exp(f.log_values).tolist(), strict=True)), p.names, len(rows))
    own = np.einsum("ij,jk,ik->i", jacobian, f.covariance, jacobian)
    inside = Guess(logs=np.log(f.predicted), sd=np.sqrt(np.maximum(own, 0) + spreads(f) ** 2))
    by_row = folds(rows, configuration)
    by_series = folds(rows, lambda row: row.series) if series else []
    return Result(
        name=study.name,
        rows=rows,
        excluded=len(study.rows) - len(rows),
        measured=p.measured,
        inside=inside,
        row_out=rows_out(p, f, by_row, told),
        series_out=left_out(p, f, by_series, told) if series else None,
        baselines={name: law(rows, by_row) for name, law in BASELINES.items()} if series else {},
        series_baselines={name: law(rows, by_series) for name, law in BASELINES.items()} if series else {},
        effective=f.effective,
    )


def compare_rows(name: str, rows: Sequence[Observation], excluded: int, profile: Profile) -> Result:
    """Compare rows with a profile as it is; nothing is fitted, so every row is out of sample."""
    p = problem(rows, profile)
    return Result(
        name=name,
        rows=tuple(rows),
        excluded=excluded,
        measured=p.measured,
        inside=answers(p, belief(profile, p.names), profile),
        row_out=None,
        series_out=None,
        baselines={},
        series_baselines={},
        effective=0.0,
    )


def answers(p: Problem, known: Belief, profile: Profile) -> Guess:
    """What costs predict of rows: what the costs leave open, and what the model is off by there, as `predict` says."""
    values = dict(zip(known.names, np.exp(known.mean).tolist(), strict=True))
    logs, jacobian = evaluate(p.groups, values, known.names, len(p.rows))
    own = np.einsum("ij,jk,ik->i", jacobian, known.covariance, jacobian)
    model = np.array([model_variance(question(row, profile)) for row in p.rows])
    return Guess(logs=logs, sd=np.sqrt(np.maximum(own, 0) + model))


def _rounded(x: float) -> float | None:
    return float(f"{x:.{DIGITS}g}") if np.isfinite(x) else None


def _errors(prefix: str, measured: Array, guess: Guess | None, tau: float | None) -> dict[str, float | None]:
    keys = ("median_ape", "p95_ape", "max_ape", "bias", "coverage90", "kendall_tau")
    if guess is None:
        return {f"{prefix}{k}": None for k in keys}
    ratio = np.exp(guess.logs - measured) - 1
    ape = np.abs(ratio)
    inside = np.abs(guess.logs - measured) <= NORMAL_90 * guess.sd
    values = (np.median(ape), np.quantile(ape, 0.95), ape.max(), np.median(ratio), inside.mean(), tau)
    return {f"{prefix}{k}": None if v is None else _rounded(float(v)) for k, v in zip(keys, values, strict=True)}


def rank_correlation(results: Sequence[Result], pick: Callable[[Result], Guess | None]) -> float | None:
    """Kendall's tau of measured and predicted within each study, workload, metric and direction, weighted by rows."""
    total, weight = 0.0, 0
    for r in results:
        guess = pick(r)
        if guess is None:
            return None
        kinds = [(row.workload, row.metric, row.direction) for row in r.rows]
        for kind in sorted(set(kinds)):
            places = [i for i, k in enumerate(kinds) if k == kind]
            if len(places) < 3:
                continue
            tau = float(kendalltau(r.measured[places], guess.logs[places]).statistic)
            if np.isfinite(tau):
                total, weight = total + tau * len(places), weight + len(places)
    return total / weight if weight else None


def _joined(results: Sequence[Result], pick: Callable[[Result], Guess | None]) -> Guess | None:
    parts = [g for r in results if (g := pick(r)) is not None]
    if len(parts) < len(results):
        return None
    return Guess(logs=np.concatenate([g.logs for g in parts]), sd=np.concatenate([g.sd for g in parts]))


def _medians(results: Sequence[Result], pick: Callable[[Result], dict[str, Array]]) -> dict[str, float | None]:
    out: dict[str, float | None] = {}
    for name in BASELINES:
        if all(name in pick(r) for r in results):
            off = np.concatenate([np.abs(np.exp(pick(r)[name] - r.measured) - 1) for r in results])
            out[name] = _rounded(float(np.median(off)))
    return out


def summary(results: Sequence[Result]) -> dict[str, Any]:
    """The figures of one or several studies under the names of the contract; errors are fractions."""
    measured = np.concatenate([r.measured for r in results])
    pick = {
        "": lambda r: r.inside,
        "loo_": lambda r: r.row_out,
        "loso_": lambda r: r.series_out,
    }
    out: dict[str, Any] = {"rows": len(measured), "excluded": sum(r.excluded for r in results)}
    for prefix, chosen in pick.items():
        out.update(_errors(prefix, measured, _joined(results, chosen), rank_correlation(results, chosen)))
    out["baselines"] = _medians(results, lambda r: r.baselines)
    out["loso_baselines"] = _medians(results, lambda r: r.series_baselines)
    out["parameters"] = round(sum(r.effective for r in results), 2)
    return out


def residuals(result: Result) -> list[dict[str, Any]]:
    """One line per compared row, in the order of the file."""
    out = []
    for i, row in enumerate(result.rows):
        predicted = float(np.exp(result.inside.logs[i]))
        entry: dict[str, Any] = {
            "id": row.id,
            "metric": row.metric,
            "measured": row.value,
            "predicted": _rounded(predicted),
            "ape": _rounded(abs(predicted / row.value - 1)),
            "inside90": bool(abs(result.inside.logs[i] - result.measured[i]) <= NORMAL_90 * result.inside.sd[i]),
        }
        if result.row_out is not None:
            entry["loo_predicted"] = _rounded(float(np.exp(result.row_out.logs[i])))
        out.append(entry)
    return out


def report(results: Sequence[Result]) -> dict[str, Any]:
    """The record of `validate --json`."""
    return {
        "datasets": {r.name: {**summary([r]), "residuals": residuals(r)} for r in results},
        "all": summary(results),
    }
