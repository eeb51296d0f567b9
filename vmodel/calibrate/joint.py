"""Before and after as one joint normal law of log figures: what both files share, and what each has alone."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vmodel.calibrate.belief import Belief, belief
from vmodel.calibrate.design import Group, design, evaluate, moved_by
from vmodel.calibrate.shifts import WORDS, Pair, Shifts, Side
from vmodel.core.records import Profile, Scenario
from vmodel.solve.doubt import UNSEEN_LOG_SD

Array = NDArray[np.float64]
SETTING_ALIKE = 0.75  # correlation of the model's error between two settings of one path
SHIFT_ERROR = 0.1  # the model misses this share of a shift itself
STEPS = 12  # Gauss-Newton
HALVINGS = 6
STILL = 1e-3  # twice the log posterior that a step must gain to be followed by another


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """Questions before, then after, with groups to evaluate, and what whitens them."""

    belief: Belief
    groups: tuple[tuple[Group, ...], tuple[Group, ...]]
    counts: tuple[int, int]
    logs: Array
    variance: Array  # of each figure for itself
    shared: Array  # of what the model is off by, of each figure
    alike: Array  # correlation of what the model is off by, of each figure after with the same question before
    partner: Array  # for each figure after: the place of the same question before, or -1


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A linearisation: whitened misfit of the prior mean, whitened Jacobian in prior standard deviations."""

    at: Array
    misfit: Array
    jacobian: Array
    log_sigma: float


def _model_variance(s: Scenario) -> float:
    seen = s.profile.seen.get(f"{s.path}/{s.workload}")
    return (UNSEEN_LOG_SD if seen is None else seen.log_sd) ** 2


def _alike(pair: Pair) -> float:
    """How far the model's error is the same before and after: wholly, mostly with another setting, on no new path."""
    if any(name in pair.differing for name in WORDS):
        return 0.0
    return SETTING_ALIKE if pair.differing else 1.0


def data_of(shifts: Shifts, profile: Profile) -> Data:
    first = [*(p.before for p in shifts.pairs), *shifts.only_before]
    second = [*(p.after for p in shifts.pairs), *shifts.only_after]
    groups = [design([side.row for side in sides], profile) for sides in (first, second)]
    names = moved_by([*groups[0], *groups[1]])
    sides: list[Side] = [*first, *second]
    own = np.array([side.log_sd**2 for side in sides])
    changed = np.array([p.change for p in shifts.pairs])
    own[len(first) : len(first) + len(changed)] += (SHIFT_ERROR * changed) ** 2
    return Data(
        belief=belief(profile, names),
        groups=(groups[0], groups[1]),
        counts=(len(first), len(second)),
        logs=np.array([side.log_mean for side in sides]),
        variance=own,
        shared=np.array([_model_variance(side.scenario) for side in sides]),
        alike=np.array([_alike(p) for p in shifts.pairs] + [0.0] * len(shifts.only_after)),
        partner=np.array([i if i < len(shifts.pairs) else -1 for i in range(len(second))], dtype=int),
    )


def whiten(d: Data, noise: float, m: Array) -> tuple[Array, float]:
    """Divide by the root of the covariance: blocks of two where a question is in both files. Also log of its root."""
    n = d.counts[0]
    variance = d.variance * noise**2 + d.shared
    first = np.sqrt(variance[:n])
    paired = d.partner >= 0
    carry = np.where(paired, d.alike * np.sqrt(d.shared[n:] * d.shared[d.partner]) / variance[d.partner], 0.0)
    second = np.sqrt(variance[n:] - carry**2 * np.where(paired, variance[d.partner], 0.0))
    shape = (-1,) + (1,) * (m.ndim - 1)
    above = m[:n] / first.reshape(shape)
    below = (m[n:] - carry.reshape(shape) * m[d.partner]) / second.reshape(shape)
    return np.concatenate([above, below]), float(np.log(first).sum() + np.log(second).sum())


class JointLaw:
    """The joint law of both files, evaluated at parameters before and after."""

    def __init__(self, d: Data) -> None:
        self.d = d
        self.root = np.linalg.cholesky(d.belief.covariance)
        self._last: tuple[bytes, tuple[Array, Array, Array]] = (b"", (np.empty(0),) * 3)

    def predict(self, x: Array, directions: Array) -> tuple[Array, Array, Array]:
        """Log figures, their Jacobian over the parameters, and over the change (after only).

        x: parameters, then changes along the directions, all in prior standard deviations.
        """
        names = self.d.belief.names
        theta = self.d.belief.mean + self.root @ x[: len(names)]
        after = theta + x[len(names) :] @ directions
        key = theta.tobytes() + after.tobytes()
        if self._last[0] != key:
            parts = []
            for groups, at, n in zip(self.d.groups, (theta, after), self.d.counts, strict=True):
                parts.append(evaluate(groups, dict(zip(names, np.exp(at).tolist(), strict=True)), names, n))
            logs = np.concatenate([parts[0][0], parts[1][0]])
            change = np.vstack([np.zeros_like(parts[0][1]), parts[1][1]])
            self._last = (key, (logs, np.vstack([parts[0][1], parts[1][1]]), change))
        return self._last[1]

    def linear(self, x: Array, directions: Array, noise: float = 1.0) -> State:
        """Linearise at x, the noise of all rows multiplied by a factor."""
        logs, jacobian, change = self.predict(x, directions)
        whole = np.hstack([jacobian @ self.root, change @ directions.T])
        white, log_sigma = whiten(self.d, noise, np.column_stack([self.d.logs - logs + whole @ x, whole]))
        return State(at=x, misfit=white[:, 0], jacobian=white[:, 1:], log_sigma=log_sigma)

    def cost(self, x: Array, directions: Array) -> float:
        """Twice the negative log posterior, up to a constant."""
        white, _ = whiten(self.d, 1.0, self.d.logs - self.predict(x, directions)[0])
        return float(white @ white + x @ x)

    def solve(self, directions: Array, start: Array) -> State:
        """The most probable parameters and changes by damped Gauss-Newton steps."""
        x, best = start, self.cost(start, directions)
        state = self.linear(x, directions)
        for _ in range(STEPS):
            b = state.jacobian
            step = np.linalg.solve(np.eye(len(x)) + b.T @ b, b.T @ state.misfit) - x
            for _ in range(HALVINGS):
                found = self.cost(x + step, directions)
                if found <= best:
                    break
                step = step / 2
            if found > best:
                break
            gained, best, x = best - found, found, x + step
            state = self.linear(x, directions)
            if gained < STILL:
                break
        return state


def log_evidence(state: State) -> float:
    """Log marginal likelihood of a linearised hypothesis, up to the constant that all share."""
    b, z = state.jacobian, state.misfit
    m = np.eye(b.shape[1]) + b.T @ b
    through = b.T @ z
    misfit = z @ z - through @ np.linalg.solve(m, through)
    return float(-0.5 * (misfit + np.linalg.slogdet(m)[1]) - state.log_sigma)
