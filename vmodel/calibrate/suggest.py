"""Which measurement to take next: what it would narrow, before it is taken, and what it did narrow, after.

Figures that are wanted and figures that could be measured are one joint normal law of logarithms: costs as the profile
believes them, through the exact Jacobian, and what the model is off by, half of it shared by all questions of one path,
place and kind. Measuring conditions that law; the variance that is left does not depend on the value that comes out
(linear Gaussian design, Chaloner and Verdinelli 1995), so the gain is known before.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vmodel.calibrate.belief import belief
from vmodel.calibrate.candidates import METRICS, REPEATS, Candidate, candidates
from vmodel.calibrate.design import Group, evaluate, moved_by, question
from vmodel.calibrate.fit import Fit, fit
from vmodel.calibrate.profile_file import as_profile
from vmodel.core.records import Observation, Profile, Scenario
from vmodel.errors import FitError
from vmodel.solve.doubt import model_variance
from vmodel.solve.solver import NORMAL_90

Array = NDArray[np.float64]
RUN_NOISE = 0.05  # relative, of one run where nothing better is known
SHARED = 0.5  # part of the model's error (variance) that questions of one path, place and kind have in common
MOST = 3
NOISE = RUN_NOISE / math.sqrt(REPEATS)
LEAST_LEFT = 1e-12  # share of a variance that is left at least
NEGLIGIBLE = 1e-18
STEPS = np.linspace(-6.0, 6.0, 481)  # of a normal law, for a quadrature
LEAST_GAIN = 0.02  # nats of information below which a further measurement is not worth its time: 2 % of the width


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What is known of the target: its value, the standard deviation of its logarithm, the chance of a wrong choice."""

    value: float  # of a decision: the ratio of the two figures
    log_sd: float
    better: float | None  # probability that the first is better
    wrong: float | None  # probability that the choice which looks better is not

    @property
    def interval(self) -> tuple[float, float]:
        """90 % interval."""
        spread = math.exp(NORMAL_90 * self.log_sd)
        return self.value / spread, self.value * spread


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """One measurement worth taking: after the ones before it, or instead of them."""

    candidate: Candidate
    predicted: float
    instead: bool
    after: Standing  # with all picks up to this one; with this one alone where it stands instead of them
    alone: float  # log sd of the target if only this one is taken
    flips: float | None  # probability that the choice is another afterwards


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """The target as it stands and the measurements that narrow it most for their cost."""

    targets: tuple[Scenario, ...]
    metric: str
    now: Standing
    picks: tuple[Pick, ...]
    tried: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Achieved:
    """What rows did to a target: expected from their questions alone, and found by a fit with their values."""

    before: Standing
    expected: Standing
    achieved: Standing
    rows: int
    fitted: Fit
    flipped: bool


class Law:
    """The joint normal law of log figures of several questions under one profile."""

    def __init__(self, asked: Sequence[tuple[Scenario, str]], profile: Profile) -> None:
        groups: list[Group] = []
        for i, (s, metric) in enumerate(asked):
            knobs = {**s.knobs, "size": np.array([float(s.knobs["size"])])}
            groups.append(Group(rows=np.array([i]), metric=metric, scenario=replace(s, knobs=knobs)))
        known = belief(profile, moved_by(groups))
        self.logs, jacobian = evaluate(groups, {}, known.names, len(asked))
        variance = np.array([float(model_variance(s)) for s, _ in asked])
        self.covariance = jacobian @ known.covariance @ jacobian.T + _model_error(asked, variance)


def _model_error(asked: Sequence[tuple[Scenario, str]], variance: Array) -> Array:
    """Covariance of what the model is off by: shared within a set, and whole between repeats of one question."""
    sets = [(s.path, s.peer, s.topology, s.workload, s.direction, metric) for s, metric in asked]
    knobs = [tuple(sorted((n, v) for n, v in s.knobs.items() if v is not None)) for s, _ in asked]
    exact = list(zip(sets, knobs, strict=True))
    root = np.sqrt(variance)
    out = np.zeros((len(asked), len(asked)))
    for i in range(len(asked)):
        for j in range(len(asked)):
            share = 1.0 if exact[i] == exact[j] else SHARED if sets[i] == sets[j] else 0.0
            out[i, j] = share * root[i] * root[j]
    return out


def condition(covariance: Array, place: int, noise: float) -> Array:
    """The covariance of all questions after one of them was measured with a noise (standard deviation)."""
    column = covariance[:, place]
    return np.asarray(covariance - np.outer(column, column) / (column[place] + noise**2))


def _weights(targets: int, n: int) -> Array:
    """The target as a linear form of log figures: one figure, or the ratio of two."""
    out = np.zeros(n)
    out[0] = 1.0
    if targets == 2:
        out[1] = -1.0
    return out


def _normal(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2))


def _wrong(mean: float, sd: float, gained: float) -> float:
    """Expected probability of a wrong choice when the mean will have moved by a normal step of variance `gained`.

    E[Phi(-|m'| / s')], m' ~ N(mean, gained), s'^2 = sd^2 - gained; by quadrature over the step.
    """
    left = math.sqrt(max(sd**2 - gained, NEGLIGIBLE))
    if gained <= 0:
        return _normal(-abs(mean) / left)
    density = np.exp(-(STEPS**2) / 2)
    wrong = [_normal(-abs(mean + math.sqrt(gained) * x) / left) for x in STEPS.tolist()]
    return float(density @ np.array(wrong) / density.sum())


def _standing(mean: float, variance: float, sign: float | None, first: float) -> Standing:
    """sign: -1 where less is better, 1 where more is, None for a prediction; first: variance before measuring."""
    sd = math.sqrt(max(variance, 0.0))
    if sign is None:
        return Standing(value=math.exp(mean), log_sd=sd, better=None, wrong=None)
    better = _normal(sign * mean / math.sqrt(first)) if first > 0 else float(sign * mean > 0)
    return Standing(
        value=math.exp(mean), log_sd=sd, better=better, wrong=_wrong(mean, math.sqrt(first), first - variance)
    )


def _flips(mean: float, first: float, after: float) -> float:
    """Probability that the sign of the mean is another after measuring."""
    gained = first - after
    return 0.0 if gained <= 0 else _normal(-abs(mean) / math.sqrt(gained))


def _sign(targets: Sequence[Scenario], metric: str) -> float | None:
    if len(targets) == 1:
        return None
    return -1.0 if metric == "latency_us" else 1.0


def suggest(
    targets: Sequence[Scenario], profile: Profile, *, without: Sequence[str] = (), most: int = MOST
) -> Suggestion:
    """The measurements that tell most about one prediction, or about which of two is better, for their cost.

    Each is picked by information per second, given those before it. Raises FitError where nothing can be measured.
    """
    metric = METRICS[targets[0].workload]
    found = candidates(targets, without)
    if not found:
        raise FitError(study="suggest", parameter=None, reason="no measurement is left that could be taken")
    law = Law([*((s, metric) for s in targets), *((c.scenario, c.metric) for c in found)], profile)
    design_ = _Design(law=law, found=found, targets=len(targets), sign=_sign(targets, metric))
    picks = [*design_.together(most)]
    picks += design_.instead(most - len(picks), {id(p.candidate) for p in picks})
    now = _standing(design_.mean, design_.first, design_.sign, design_.first)
    return Suggestion(targets=tuple(targets), metric=metric, now=now, picks=tuple(picks), tried=len(found))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Design:
    """The candidates beside the target in one law."""

    law: Law
    found: tuple[Candidate, ...]
    targets: int
    sign: float | None

    @property
    def weights(self) -> Array:
        return _weights(self.targets, len(self.law.logs))

    @property
    def mean(self) -> float:
        return float(self.weights @ self.law.logs)

    @property
    def first(self) -> float:
        return self.variance(self.law.covariance)

    def variance(self, covariance: Array) -> float:
        """What is left of the target's variance."""
        return float(self.weights @ covariance @ self.weights)

    def gain(self, covariance: Array, i: int) -> float:
        """Information that a candidate gives about the target [nats]."""
        column = covariance[:, self.targets + i]
        told = float(self.weights @ column) ** 2 / (column[self.targets + i] + NOISE**2)
        return -0.5 * math.log(max(1 - told / self.variance(covariance), LEAST_LEFT))

    def together(self, most: int) -> Iterator[Pick]:
        """Measurements by information per second, each given those before it."""
        covariance, left = self.law.covariance, list(range(len(self.found)))
        for _ in range(most):
            gains = {i: self.gain(covariance, i) for i in left}
            worth = [i for i in left if gains[i] >= LEAST_GAIN]
            if not worth:
                return
            best = max(worth, key=lambda i: gains[i] / self.found[i].seconds)
            left.remove(best)
            covariance = condition(covariance, self.targets + best, NOISE)
            yield self.pick(best, covariance, instead=False)

    def instead(self, most: int, taken: set[int]) -> Iterator[Pick]:
        """The next best measurements alone, for whoever cannot take the others."""
        gains = {i: self.gain(self.law.covariance, i) for i, c in enumerate(self.found) if id(c) not in taken}
        worth = [i for i in gains if gains[i] >= LEAST_GAIN]
        for i in sorted(worth, key=lambda i: -gains[i] / self.found[i].seconds)[:most]:
            yield self.pick(i, condition(self.law.covariance, self.targets + i, NOISE), instead=True)

    def pick(self, i: int, covariance: Array, *, instead: bool) -> Pick:
        """One candidate with what the target would be after it."""
        after = self.variance(covariance)
        return Pick(
            candidate=self.found[i],
            predicted=math.exp(self.law.logs[self.targets + i]),
            instead=instead,
            after=_standing(self.mean, after, self.sign, self.first),
            alone=math.sqrt(self.variance(condition(self.law.covariance, self.targets + i, NOISE))),
            flips=None if self.sign is None else _flips(self.mean, self.first, after),
        )


def achieved(targets: Sequence[Scenario], profile: Profile, rows: Sequence[Observation]) -> Achieved:
    """What rows that were taken did to a target, beside what was to be expected of them."""
    metric, sign = METRICS[targets[0].workload], _sign(targets, METRICS[targets[0].workload])
    asked = [*((s, metric) for s in targets), *((question(row, profile), row.metric) for row in rows)]
    law = Law(asked, profile)
    weights = _weights(len(targets), len(asked))
    mean, first = float(weights @ law.logs), float(weights @ law.covariance @ weights)
    covariance = law.covariance
    for i, row in enumerate(rows):
        covariance = condition(covariance, len(targets) + i, RUN_NOISE if row.sd is None else row.sd / row.value)
    fitted = fit(rows, profile)
    known = as_profile(fitted, profile.name)
    after = Law([(replace(s, profile=known), metric) for s in targets], known)
    form = _weights(len(targets), len(targets))
    new_mean, new = float(form @ after.logs), float(form @ after.covariance @ form)
    return Achieved(
        before=_standing(mean, first, sign, first),
        expected=_standing(mean, float(weights @ covariance @ weights), sign, first),
        achieved=_standing(new_mean, new, sign, new),
        rows=len(rows),
        fitted=fitted,
        flipped=sign is not None and (mean > 0) != (new_mean > 0),
    )
