"""What a user would do without a model: the nearest measured row, a line through the series, a Gaussian process."""

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from vmodel.core.records import Observation

Array = NDArray[np.float64]
Fold = tuple[tuple[int, ...], tuple[int, ...]]  # rows left out and rows learned from
SCALES = (0.1, 100.0)  # length scales that are tried, in standard deviations of a feature
FIRST_NOISE = 0.001  # variance of log(value) from which the search for the noise starts
FEWEST = 6  # rows of one metric below which a Gaussian process cannot be tuned


def features(rows: Sequence[Observation]) -> tuple[Array, Array]:
    """Numeric settings as base-2 logarithms, and everything else as 0/1 columns; columns that vary only."""
    numeric = sorted({k for r in rows for k, v in r.knobs.items() if v not in (0.0, 1.0)})
    columns = [[np.log2(1.0 + float(r.knobs.get(k, 0.0))) for r in rows] for k in numeric]
    labels = []
    for r in rows:
        switches = {f"{k}={r.knobs[k]}" for k in r.knobs if k not in numeric}
        unset = {f"{k} unset" for k in numeric if k not in r.knobs}
        labels.append({r.path, r.peer, r.topology, r.workload, r.direction, *switches, *unset} - {""})
    for label in sorted(set().union(*labels)):
        column = [1.0 if label in own else 0.0 for own in labels]
        columns.append(column)
    table = np.array(columns, dtype=float).T
    table = table[:, np.ptp(table, axis=0) > 0]
    metric = np.array([r.metric for r in rows])
    return table, metric


def nearest_row(rows: Sequence[Observation], folds: Sequence[Fold]) -> Array:
    """Log prediction of each row left out: the value of the closest row of the same metric."""
    table, metric = features(rows)
    spread = np.where(table.std(axis=0) > 0, table.std(axis=0), 1.0) if table.size else np.ones(0)
    scaled = table / spread
    logs = np.log([r.value for r in rows])
    out = np.full(len(rows), np.nan)
    for left, kept in folds:
        for i in left if kept else ():
            same = [j for j in kept if metric[j] == metric[i]] or list(kept)
            distance = np.abs(scaled[same] - scaled[i]).sum(axis=1)
            out[i] = logs[same[int(np.argmin(distance))]]
    return out


def _varied(rows: Sequence[Observation], places: Sequence[int]) -> str | None:
    """The numeric knob that a series varies most."""
    best, most = None, 1
    for name in sorted({k for j in places for k in rows[j].knobs}):
        count = len({rows[j].knobs.get(name) for j in places})
        if count > most and rows[places[0]].knobs.get(name) not in (True, False):
            best, most = name, count
    return best


def _cost(row: Observation) -> float:
    """Time for one unit: what an affine law is a law of."""
    if row.metric == "latency_us":
        return row.value
    if row.metric == "throughput_mbps":
        return float(row.knobs.get("size", 1.0)) / row.value
    return 1.0 / row.value


def _value(row: Observation, cost: float) -> float:
    if row.metric == "latency_us":
        return cost
    if row.metric == "throughput_mbps":
        return float(row.knobs.get("size", 1.0)) / cost
    return 1.0 / cost


def series_affine(rows: Sequence[Observation], folds: Sequence[Fold]) -> Array:
    """Log prediction of each row left out: time = a + b x through the rest of its series, relative least squares.

    Where the series is left out as a whole, the nearest row stands in.
    """
    out = nearest_row(rows, folds)
    for left, kept in folds:
        for i in left:
            own = [j for j in kept if rows[j].series == rows[i].series and rows[j].metric == rows[i].metric]
            if not own:
                continue
            name = _varied(rows, [*own, i])
            costs = np.array([_cost(rows[j]) for j in own])
            guess = float(np.exp(np.mean(np.log(costs))))
            if name is not None and len(own) > 1:
                x = np.array([float(rows[j].knobs.get(name, 0.0)) for j in own])
                design = np.stack([np.ones_like(x), x], axis=1) / costs[:, None]
                a, b = np.linalg.lstsq(design, np.ones_like(x), rcond=None)[0]
                line = a + b * float(rows[i].knobs.get(name, 0.0))
                guess = float(line) if line > 0 else guess
            out[i] = np.log(_value(rows[i], guess))
    return out


def gaussian_process(rows: Sequence[Observation], folds: Sequence[Fold]) -> Array:
    """Log prediction of each row left out by a Gaussian process on the same features, one per metric.

    Its hyperparameters see all rows, which favours it; its weights see only the rows that a fold keeps.
    """
    table, metric = features(rows)
    logs = np.log([r.value for r in rows])
    out = nearest_row(rows, folds)
    for kind in sorted(set(metric)):
        places = np.flatnonzero(metric == kind)
        if len(places) < FEWEST:
            continue
        x = table[places]
        x = x[:, np.ptp(x, axis=0) > 0] if x.size else x
        if x.shape[1] == 0:
            continue
        x = (x - x.mean(axis=0)) / x.std(axis=0)
        kernel = ConstantKernel() * RBF(np.ones(x.shape[1]), SCALES) + WhiteKernel(FIRST_NOISE)
        process = GaussianProcessRegressor(kernel=kernel, normalize_y=True, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            process.fit(x, logs[places])
        covariance = process.kernel_(x)
        index = {int(place): k for k, place in enumerate(places)}
        for left, kept in folds:
            test = [index[i] for i in left if i in index]
            train = [index[j] for j in kept if j in index]
            if not test or len(train) < 2:
                continue
            y = logs[places[train]]
            weights = np.linalg.solve(covariance[np.ix_(train, train)], y - y.mean())
            out[places[test]] = y.mean() + covariance[np.ix_(test, train)] @ weights
    return out


BASELINES = {"nearest_row": nearest_row, "series_affine": series_affine, "gaussian_process": gaussian_process}
