"""Two measurements of one machine: which change of a cost explains the shift, and how likely each explanation is.

Both files are one joint normal law of log figures: parameters as the profile believes them, noise of each row, and what
the model is off by on a question, which both files share. A hypothesis lets one cost, two, or the processor's speed
change in between, by a factor whose logarithm has standard deviation FACTOR_SD; its likelihood integrates over
parameters, factor and noise (Laplace, with the exact Jacobian; Kass and Raftery 1995). "Nothing changed" and "none of
these", where every question moves for itself, compete on the same terms, so that more freedom has its price.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vmodel.calibrate.joint import SHIFT_ERROR, STEPS, STILL, Data, JointLaw, State, data_of, log_evidence, whiten
from vmodel.calibrate.shifts import Pair, Shifts, label, lay_side_by_side
from vmodel.core.records import Observation, Profile
from vmodel.errors import FitError
from vmodel.library.tables import priors
from vmodel.solve import compose
from vmodel.solve import evaluate as formulas
from vmodel.solve.solver import NORMAL_90

Array = NDArray[np.float64]
CLOCK = "processor speed"  # every cost of executed instructions at once
FACTOR_SD = 0.7  # of the logarithm of a change: a factor of two either way
CLOCK_SD = 0.3  # a processor that throttles or boosts
FREE_SD = 0.35  # a question that moves for itself
PRIOR = {"nothing": 0.25, "one": 0.5, "two": 0.15, "none": 0.1}
VISIBLE = 1.0  # a change of FACTOR_SD must move the figures by this many standard deviations to be seen at all
SINGLES, COUPLES = 14, 6  # hypotheses that are solved exactly, the best of a linear search
HALF, HOPELESS = 0.5, 7.5  # a linear search drops what explains less than half of what the best does, and this less
ALIKE = (
    20.0  # Bayes factor below which two causes of like effect are not told apart: no strong evidence (Kass, Raftery)
)
LIKE = 0.9  # correlation of two causes' effects
CLEAR = 2.0  # standard deviations beyond which a figure has changed
SHOWN = 0.01  # posterior probability below which an explanation is not listed
LIKELY = 0.5
VERDICTS = (
    "nothing changed", "the configuration explains it", "explained", "several explanations", "not explained",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One cost that changed: by what factor, where it is paid, and what these files cannot tell it from."""

    parameter: str
    factor: float
    interval: tuple[float, float]
    stages: tuple[str, ...]
    partners: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """One hypothesis: the costs that changed, its probability, its Bayes factor against "nothing changed"."""

    changes: tuple[Change, ...]
    probability: float
    log_bayes: float
    shifts: tuple[float, ...]  # log change that it predicts for each pair


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One question that both files answer."""

    label: str
    before: float
    after: float
    change: float  # of the logarithm
    sd: float
    configured: float  # log change that the settings alone predict
    explained: float  # log change under the best explanation
    state: str  # "within noise", "explained" or "left"


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """The answer: a verdict, explanations by probability, and the figures they explain and leave."""

    profile: str
    shifts: Shifts
    verdict: str  # one of VERDICTS
    because: str
    nothing: float
    none: float
    explanations: tuple[Explanation, ...]
    figures: tuple[Figure, ...]
    blind: tuple[str, ...]


def _directions(d: Data) -> tuple[list[str], Array]:
    """Every single cause as a direction in log parameters, one row each, scaled to its prior standard deviation."""
    names = d.belief.names
    rows = list(FACTOR_SD * np.eye(len(names)))
    clock = -CLOCK_SD * np.array([float(priors()[name].clock) for name in names])
    return [*names, CLOCK], np.array([*rows, clock])


def _noise_nodes(repeats: float) -> tuple[Array, Array]:
    """Factors on the noise and their weights (three-point Gauss-Hermite): few repeats leave it uncertain."""
    sd = 1 / math.sqrt(2 * (repeats + 2.0))
    nodes, weights = np.polynomial.hermite_e.hermegauss(3)
    return np.exp(sd * nodes), weights / weights.sum()


def _mean(logs: Sequence[float], weights: Array) -> float:
    top = max(logs)
    return top + math.log(float(weights @ np.exp(np.array(logs) - top)))


class _Search:
    """Evidence of every hypothesis: all of them linear, the best of them exactly."""

    def __init__(self, model: JointLaw, shifts: Shifts) -> None:
        self.model = model
        self.names, self.directions = _directions(model.d)
        self.nodes, self.weights = _noise_nodes(shifts.repeats)
        none = np.zeros((0, len(model.d.belief.names)))
        self.still = model.solve(none, np.zeros(len(model.d.belief.names)))
        self.nothing = self.evidence(self.still.at, none)
        self._screen()

    def evidence(self, x: Array, directions: Array) -> float:
        """Log evidence at a most probable point, over the uncertainty of the noise."""
        found = [log_evidence(self.model.linear(x, directions, float(f))) for f in self.nodes]
        return _mean(found, self.weights)

    def _screen(self) -> None:
        """Each cause alone and every two of them, from the linear law of "nothing changed"."""
        n = self.model.d.counts[0]
        none = np.zeros((0, len(self.model.d.belief.names)))
        self.first = self._before_only(none)
        state = self.model.linear(self.first, none)
        _, _, change = self.model.predict(self.first, none)
        free = np.vstack([np.zeros((n, self.model.d.counts[1])), FREE_SD * np.eye(self.model.d.counts[1])])
        columns, _ = whiten(self.model.d, 1.0, np.hstack([change @ self.directions.T, free]))
        b = state.jacobian
        m = np.eye(b.shape[1]) + b.T @ b

        def through(a: Array) -> Array:
            return np.asarray(a - b @ np.linalg.solve(m, b.T @ a))

        causes = columns[:, : len(self.names)]
        base, rest = log_evidence(state), through(state.misfit)
        self.still_linear = base
        gram, pull = causes.T @ through(causes), causes.T @ rest
        self.gram = gram
        size = np.diag(gram)
        self.visible = [i for i in range(len(self.names)) if size[i] >= VISIBLE**2]
        self.single = {i: base + 0.5 * float(pull[i] ** 2 / (1 + size[i]) - math.log1p(size[i])) for i in self.visible}
        self.double: dict[tuple[int, ...], float] = {}
        for k, i in enumerate(self.visible):
            for j in self.visible[k + 1 :]:
                block = np.eye(2) + gram[np.ix_([i, j], [i, j])]
                two = pull[[i, j]]
                gain = two @ np.linalg.solve(block, two) - math.log(float(np.linalg.det(block)))
                self.double[i, j] = base + 0.5 * float(gain)
        unstructured = columns[:, len(self.names) :]
        whole = np.eye(unstructured.shape[1]) + unstructured.T @ through(unstructured)
        pulled = unstructured.T @ rest
        gain = pulled @ np.linalg.solve(whole, pulled) - np.linalg.slogdet(whole)[1]
        self.none = base + 0.5 * float(gain)

    def _before_only(self, none: Array) -> Array:
        """The most probable parameters of the first file alone."""
        n = self.model.d.counts[0]
        x = np.zeros(none.shape[1])
        for _ in range(STEPS):
            state = self.model.linear(x, none)
            b, z = state.jacobian[:n], state.misfit[:n]
            old, x = x, np.asarray(np.linalg.solve(np.eye(len(x)) + b.T @ b, b.T @ z), dtype=np.float64)
            if float((x - old) @ (x - old)) < STILL:
                break
        return x

    def exact(self, causes: tuple[int, ...]) -> tuple[State, float]:
        """One hypothesis solved: its most probable point and its log evidence."""
        directions = self.directions[list(causes)]
        state = self.model.solve(directions, np.concatenate([self.first, np.zeros(len(causes))]))
        return state, self.evidence(state.at, directions)

    def partners(self, cause: int, logs: dict[int, float]) -> tuple[str, ...]:
        """Causes with like effects that the figures favour no less."""
        out = []
        for other in self.visible:
            like = self.gram[cause, other] / math.sqrt(self.gram[cause, cause] * self.gram[other, other])
            if other != cause and abs(like) >= LIKE and abs(logs[cause] - logs[other]) <= math.log(ALIKE):
                out.append(self.names[other])
        return tuple(out)


def diagnose(before: Sequence[Observation], after: Sequence[Observation], profile: Profile) -> Diagnosis:
    """Rank what explains the shift between two sets of measurements of one machine.

    Raises FitError when a set is empty, or when no question is in both.
    """
    if not before or not after:
        raise FitError(study="diagnose", parameter=None, reason="no row to compare on one side")
    shifts = lay_side_by_side(before, after, profile)
    if not shifts.pairs:
        reason = "no question is in both files: measure the same path, workload, size and metric twice"
        raise FitError(study="diagnose", parameter=None, reason=reason)
    model = JointLaw(data_of(shifts, profile))
    search = _Search(model, shifts)
    logs: dict[tuple[int, ...], float] = {(i,): v for i, v in search.single.items()}
    logs.update(search.double)
    states: dict[tuple[int, ...], State] = {}
    for most, size in ((SINGLES, 1), (COUPLES, 2)):
        ranked = sorted((c for c in logs if len(c) == size), key=lambda c: -logs[c])[:most]
        least = search.still_linear + HALF * (logs[ranked[0]] - search.still_linear) - HOPELESS if ranked else 0.0
        for causes in [c for c in ranked if logs[c] > least]:
            states[causes], logs[causes] = search.exact(causes)
    posterior, nothing, none = _posterior(search, logs)
    explanations = [
        _explanation(search, causes, states[causes], posterior[causes], logs)
        for causes in sorted(states, key=lambda c: -posterior[c])
    ]
    kept = tuple(e for e in explanations if e.probability >= SHOWN)
    figures = _figures(shifts, search, kept[0] if kept else None)
    verdict, because = _verdict(shifts, kept, nothing, none, figures)
    hidden = tuple(n for i, n in enumerate(search.names) if i not in search.visible and n != CLOCK)
    return Diagnosis(
        profile=profile.name, shifts=shifts, verdict=verdict, because=because, nothing=nothing, none=none,
        explanations=kept, figures=figures, blind=hidden,
    )  # fmt: skip


def _posterior(
    search: _Search, logs: dict[tuple[int, ...], float]
) -> tuple[dict[tuple[int, ...], float], float, float]:
    """Probabilities of all hypotheses: the prior share of a class is divided among all its members, seen or not.

    A cost that no figure shows is, to these files, as if it had not changed: its share goes to what is left of the
    hypothesis without it.
    """
    n, hidden = len(search.names), len(search.names) - len(search.visible)
    one, two = PRIOR["one"] / n, PRIOR["two"] / math.comb(n, 2)
    shares = {1: one + two * hidden, 2: two}
    weighed = {c: v + math.log(shares[len(c)]) for c, v in logs.items()}
    nothing = PRIOR["nothing"] + one * hidden + two * math.comb(hidden, 2)
    still, free = search.nothing + math.log(nothing), search.none + math.log(PRIOR["none"])
    top = max(still, free, *weighed.values()) if weighed else max(still, free)
    whole = sum(math.exp(v - top) for v in (still, free, *weighed.values()))
    share = {c: math.exp(v - top) / whole for c, v in weighed.items()}
    return share, math.exp(still - top) / whole, math.exp(free - top) / whole


def _explanation(
    search: _Search,
    causes: tuple[int, ...],
    state: State,
    probability: float,
    logs: dict[tuple[int, ...], float],
) -> Explanation:
    model = search.model
    p = len(model.d.belief.names)
    b = state.jacobian
    covariance = np.linalg.inv(np.eye(b.shape[1]) + b.T @ b)
    alone = {i: logs[(i,)] for i in search.visible}
    changes = []
    for k, cause in enumerate(causes):
        scale = CLOCK_SD if search.names[cause] == CLOCK else FACTOR_SD
        centre, sd = scale * state.at[p + k], scale * math.sqrt(covariance[p + k, p + k])
        changes.append(
            Change(
                parameter=search.names[cause],
                factor=math.exp(centre),
                interval=(math.exp(centre - NORMAL_90 * sd), math.exp(centre + NORMAL_90 * sd)),
                stages=_stages(model.d, search.names[cause]),
                partners=search.partners(cause, alone) if len(causes) == 1 else (),
            )
        )
    directions = search.directions[list(causes)]
    logs_at, _, _ = model.predict(state.at, directions)
    n, pairs = model.d.counts[0], int((model.d.partner >= 0).sum())
    return Explanation(
        changes=tuple(changes),
        probability=probability,
        log_bayes=logs[causes] - search.nothing,
        shifts=tuple((logs_at[n : n + pairs] - logs_at[:pairs]).tolist()),
    )


def _stages(d: Data, parameter: str) -> tuple[str, ...]:
    """Stages on the measured paths that pay a cost."""
    rows = formulas.stage_rows()
    found: dict[str, None] = {}
    for group in (*d.groups[0], *d.groups[1]):
        way = compose.scenario_ways(group.scenario)
        for node in (*way.forward.nodes, *way.reverse.nodes):
            if parameter in rows[node.stage].parameters:
                found[node.stage] = None
    return tuple(found)


def _figures(shifts: Shifts, search: _Search, best: Explanation | None) -> tuple[Figure, ...]:
    logs, _, _ = search.model.predict(search.first, np.zeros((0, len(search.first))))
    n = search.model.d.counts[0]
    out = []
    for i, pair in enumerate(shifts.pairs):
        sd = math.sqrt(pair.before.log_sd**2 + pair.after.log_sd**2)
        configured = float(logs[n + i] - logs[i]) if pair.differing else 0.0
        explained = configured if best is None else best.shifts[i]
        out.append(_figure(pair, sd, configured, explained))
    return tuple(out)


def _figure(pair: Pair, sd: float, configured: float, explained: float) -> Figure:
    allowed = CLEAR * math.hypot(sd, SHIFT_ERROR * pair.change)
    state = "left" if abs(pair.change - explained) > allowed else "explained"
    if state == "explained" and abs(pair.change) <= CLEAR * sd:
        state = "within noise"
    return Figure(
        label=label(pair.after.row, pair.after.scenario), before=math.exp(pair.before.log_mean),
        after=math.exp(pair.after.log_mean), change=pair.change, sd=sd, configured=configured, explained=explained,
        state=state,
    )  # fmt: skip


def _verdict(
    shifts: Shifts, found: Sequence[Explanation], nothing: float, none: float, figures: Sequence[Figure]
) -> tuple[str, str]:
    """One of VERDICTS and a sentence."""
    moved = sum(abs(f.change) > CLEAR * f.sd for f in figures)
    if shifts.contradicting:
        named, factor = shifts.contradicting[0]
        told = f"; repeats of {named} contradict each other by a factor of {factor:.2g}, which hides smaller changes"
    else:
        told = ""
    if nothing >= LIKELY:
        if shifts.settings:
            return VERDICTS[1], f"no cost changed beside {_named(shifts)}{told}"
        return VERDICTS[
            0
        ], f"{moved} of {len(figures)} figures moved beyond their noise, no cost change is likelier{told}"
    if none >= LIKELY:
        return VERDICTS[4], f"{moved} figures moved in a way that no change of one or two costs gives{told}"
    group = found[0].probability if found else 0.0
    if found and len(found[0].changes) == 1:
        alike = set(found[0].changes[0].partners)
        group += sum(e.probability for e in found[1:] if len(e.changes) == 1 and e.changes[0].parameter in alike)
    if group >= LIKELY:
        names = " and ".join(c.parameter for c in found[0].changes)
        partners = [p for c in found[0].changes for p in c.partners]
        other = f" (or {', '.join(partners)}: these figures do not tell them apart)" if partners else ""
        left = sum(f.state == "left" for f in figures)
        return VERDICTS[2], f"{names}{other}; {left} of {len(figures)} figures are left unexplained{told}"
    return VERDICTS[3], f"no single explanation has half of the probability{told}"


def _named(shifts: Shifts) -> str:
    return ", ".join(dict.fromkeys(s.name for s in shifts.settings))
