"""A study that nobody has seen: predicted from all others, then with a few rows of its own."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vmodel.calibrate.belief import Belief, belief
from vmodel.calibrate.design import evaluate
from vmodel.calibrate.evidence import Study
from vmodel.calibrate.fit import fit
from vmodel.calibrate.generic import alike, machine_of, profile_of, summary
from vmodel.calibrate.population import Machine, assumed, learn
from vmodel.calibrate.problem import Problem, carried, problem
from vmodel.core.records import Observation, Profile, Seen
from vmodel.library.tables import WORKLOADS, endpoint, path_names
from vmodel.solve.doubt import UNSEEN_LOG_SD
from vmodel.units import BYTES_PER_GB

Array = NDArray[np.float64]
GIVEN = 5
STARTS = (0.5, 0.25, 0.75)  # where in its stretch of the study each given row stands: three draws, told together
ROUNDS = 2  # of linearising the studies near what the population learned from them
NORMAL_90 = 1.6448536269514722
WANTED = 0.9
LEAST_ERROR = 0.04  # no study is told to be met better than good measurements repeat
ENOUGH = 30  # rows of a kind from which its own errors tell its spread


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """Rows given, and what was then predicted of the others: log predictions, what the costs leave open of them."""

    given: tuple[int, ...]
    rest: tuple[int, ...]
    logs: Array
    sd: Array
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """One study predicted from the others: with nothing of its own, and with a few rows."""

    study: Study
    measured: Array
    logs: Array  # nothing given [n]
    sd: Array
    draws: tuple[Draw, ...]

    @property
    def rows(self) -> tuple[Observation, ...]:
        """The compared rows."""
        return self.study.compared


def spread_over(count: int, few: int, start: float = STARTS[0]) -> tuple[int, ...]:
    """Places of a few rows spread over a study in the order of its file, one in each of so many equal stretches."""
    few = min(few, count)
    return tuple(sorted({min(count - 1, int((i + start) * count / few)) for i in range(few)}))


def blank() -> dict[str, Seen]:
    """What is known of the model's error before any study was left out: the same for every path and workload."""
    known = Seen(topologies=(), directions=(), size_bytes=(1.0, BYTES_PER_GB), rows=0, log_sd=UNSEEN_LOG_SD)
    return {f"{path}/{workload}": known for path in path_names() for workload in WORKLOADS}


def summaries(studies: Sequence[Study], base: Profile) -> tuple[Machine, ...]:
    """Each study's likelihood, linearised near the costs that its rows and the population make most probable."""
    before = profile_of(assumed(), blank(), base, ())
    found: tuple[Machine, ...] = ()
    for _ in range(ROUNDS):
        found = tuple(summary(study, before) for study in studies)
        before = profile_of(learn(found, assumed()), blank(), base, found)
    return found


def assumptions(base: Profile) -> Callable[[Study], Profile]:
    """What is assumed of any machine as the prior of a study: parameters.toml, with the facts of the study's folder."""
    return lambda study: machine_of(base, study.seed)


def population(machines: Sequence[Machine], base: Profile) -> Callable[[Study], Profile]:
    """What all other studies tell of any machine as the prior of a study."""

    def prior(study: Study) -> Profile:
        others = [m for m in machines if m.name != study.name]
        return machine_of(profile_of(learn(others, assumed()), blank(), base, others), study.seed)

    return prior


def transfer(
    studies: Sequence[Study], prior: Callable[[Study], Profile], told: Callable[[], None] = lambda: None
) -> tuple[Transfer, ...]:
    """Predict every study from a prior that has not seen its rows."""
    out = []
    for study in studies:
        out.append(_one(study, prior(study)))
        told()
    return tuple(out)


def _one(study: Study, prior: Profile) -> Transfer:
    rows = study.compared
    p = problem(rows, prior)
    logs, sd = _answer(p, belief(prior, p.names))
    prior = alike(prior)  # as whoever fits a file begins
    before = belief(prior, p.names)
    draws = []
    for start in STARTS:
        given = spread_over(len(rows), GIVEN, start)
        f = fit([rows[i] for i in given], prior)
        guess, open_sd = _answer(p, carried(f, before))
        rest = tuple(i for i in range(len(rows)) if i not in given)
        draws.append(Draw(given=given, rest=rest, logs=guess, sd=open_sd, outcome=f.outcome))
    return Transfer(study=study, measured=p.measured, logs=logs, sd=sd, draws=tuple(draws))


def _answer(p: Problem, known: Belief) -> tuple[Array, Array]:
    values = dict(zip(known.names, np.exp(known.mean).tolist(), strict=True))
    logs, jacobian = evaluate(p.groups, values, known.names, len(p.rows))
    return logs, np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", jacobian, known.covariance, jacobian), 0.0))


def enough_spread(errors: Array, sd: Array) -> float:
    """The smallest model error with which intervals cover nine errors of ten: split-conformal, as a variance.

    errors: log(predicted / measured) of rows that were left out [n].  sd: what the costs leave open of each [n].
    """
    beyond = np.sort(np.maximum((errors / NORMAL_90) ** 2 - sd**2, 0.0))
    place = min(len(beyond) - 1, math.ceil((len(beyond) + 1) * WANTED) - 1)
    return float(np.sqrt(beyond[place]))


def model_errors(found: Sequence[Transfer], without: str = "") -> Mapping[str, float]:
    """The model error of each path and workload from studies left out, and of all together under the empty name."""
    errors: dict[str, list[float]] = {"": []}
    sds: dict[str, list[float]] = {"": []}
    for t in found:
        if t.study.name == without:
            continue
        for draw in t.draws:
            for i in draw.rest:
                row = t.rows[i]
                for key in ("", f"{row.path}/{row.workload}"):
                    errors.setdefault(key, []).append(float(draw.logs[i] - t.measured[i]))
                    sds.setdefault(key, []).append(float(draw.sd[i]))
    whole = enough_spread(np.array(errors[""]), np.array(sds[""])) if errors[""] else UNSEEN_LOG_SD
    out = {"": whole}
    for key in sorted(set(errors) - {""}):
        count = len(errors[key]) / len(STARTS)
        own = enough_spread(np.array(errors[key]), np.array(sds[key]))
        out[key] = math.sqrt((count * own**2 + ENOUGH * whole**2) / (count + ENOUGH))
    return {key: max(error, LEAST_ERROR) for key, error in out.items()}


def generic(studies: Sequence[Study], base: Profile, told: Callable[[], None] = lambda: None) -> Profile:
    """What all studies together say of a machine that nobody has measured, and how far that was off where one was."""
    machines = summaries(studies, base)
    found = transfer(studies, population(machines, base), told)
    return profile_of(learn(machines, assumed()), seen_by(found), base, machines)


def seen_by(found: Sequence[Transfer]) -> dict[str, Seen]:
    """What the studies have seen of each path and workload, and the model's error there with a study left out."""
    errors = model_errors(found)
    out = {}
    for path in path_names():
        for workload in WORKLOADS:
            name = f"{path}/{workload}"
            rows = [r for t in found for r in t.rows if (r.path, r.workload) == (path, workload)]
            if not rows:
                continue
            sizes = [float(r.knobs["size"]) for r in rows if r.knobs.get("size")]
            out[name] = Seen(
                topologies=tuple(sorted({r.topology or endpoint(path).topology for r in rows})),
                directions=tuple(sorted({r.direction for r in rows if r.direction})),
                size_bytes=(min(sizes, default=1.0), max(sizes, default=BYTES_PER_GB)),
                rows=len(rows),
                log_sd=errors.get(name, errors[""]),
            )
    return out
