"""Baselines that also see the other studies: a Gaussian process and boosted trees, corrected by the rows given."""

import warnings
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from vmodel.calibrate.baselines import features
from vmodel.core.records import Observation

Array = NDArray[np.float64]
FIRST_SCALE = 3.0
SCALES = (0.3, 30.0)
MOST_TUNED = 250  # rows of the others that tune a process; all of them speak in its answer
OWN_WEIGHT = 20.0  # a row of the machine itself against one of another machine
TREES = 150
LEAST_LEAF = 4


def table_of(rows: Sequence[Observation]) -> Array:
    """Features of rows of any study, the metric among them; scaled to unit deviation."""
    columns, metric = features(rows)
    kinds = np.array([[float(m == k) for k in sorted(set(metric))] for m in metric])
    table = np.hstack([columns, kinds])
    deviation = table.std(axis=0)
    return np.asarray((table - table.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0), dtype=np.float64)


def _shifted(before: Array, own: Array, given: Sequence[int], metric: Sequence[str]) -> Array:
    """A guess moved by what the rows given say of it: for each metric by their median, for others by all of them."""
    off = own[list(given)] - before[list(given)]
    out = before + float(np.median(off))
    for kind in set(metric):
        mine = [o for o, i in zip(off, given, strict=True) if metric[i] == kind]
        if mine:
            mask = np.array([m == kind for m in metric])
            out[mask] = before[mask] + float(np.median(mine))
    return out


class Pool:
    """The other studies, laid out once for all draws of rows from one study."""

    def __init__(self, rows: Sequence[Observation], others: Sequence[Observation]) -> None:
        self._table = table_of([*rows, *others])
        self._count = len(rows)
        self._metric = [row.metric for row in rows]
        self._own = np.log([row.value for row in rows])
        self._theirs = np.log([row.value for row in others])
        self._process = self._tuned()

    def _tuned(self) -> GaussianProcessRegressor:
        table = self._table[self._count :]
        step = max(1, len(table) // MOST_TUNED)
        kernel = ConstantKernel() * RBF(FIRST_SCALE, SCALES) + WhiteKernel(0.01)
        tuned = GaussianProcessRegressor(kernel=kernel, normalize_y=True, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            tuned.fit(table[::step], self._theirs[::step])
            whole = GaussianProcessRegressor(kernel=tuned.kernel_, optimizer=None, normalize_y=True)
            whole.fit(table, self._theirs)
        return whole

    def guesses(self, given: Sequence[int]) -> Mapping[str, Array]:
        """Log predictions of all rows of the study by each baseline, from the others and the rows given."""
        mine = self._table[: self._count]
        before = np.asarray(self._process.predict(mine), dtype=np.float64)
        trees = HistGradientBoostingRegressor(max_iter=TREES, min_samples_leaf=LEAST_LEAF, random_state=0)
        table = np.vstack([self._table[self._count :], mine[list(given)]])
        values = np.concatenate([self._theirs, self._own[list(given)]])
        weights = np.concatenate([np.ones(len(self._theirs)), np.full(len(given), OWN_WEIGHT)])
        trees.fit(table, values, sample_weight=weights)
        return {
            "pooled_gaussian_process": _shifted(before, self._own, given, self._metric),
            "pooled_boosting": _shifted(
                np.asarray(trees.predict(mine), dtype=np.float64), self._own, given, self._metric
            ),
        }
