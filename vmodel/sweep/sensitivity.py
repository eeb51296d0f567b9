"""Global sensitivity: which uncertain costs and which varied settings the spread of an answer comes from (Sobol).

First order: the share of the variance that goes when an input becomes known. Total: the share that stays when all
others do. Costs are drawn from their profile one by one, as if they did not depend on each other; settings evenly
from their range.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vmodel.core.records import Scenario
from vmodel.errors import ConfigError, Fault
from vmodel.library.profile import value_of
from vmodel.solve import answers, compose, meeting
from vmodel.solve.ask import SINGLE
from vmodel.solve.dual import plain
from vmodel.sweep.axis import Axis, is_whole
from vmodel.sweep.draws import timers

LEAST_SAMPLES, MOST_SAMPLES = 64, 1 << 17
RESAMPLES = 100  # of the bootstrap behind the intervals
CONFIDENCE = 0.9
BLOCK = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What one input contributes to the variance of an answer, with 90 % intervals of the estimate."""

    name: str
    kind: str
    first: float
    first_interval: tuple[float, float]
    total: float
    total_interval: tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """Shares of the variance of the logarithm of an answer, the largest total first."""

    scenario: Scenario
    answer: str
    settings: tuple[str, ...]
    evaluations: int
    log_sd: float
    shares: tuple[Share, ...]


def sobol(s: Scenario, axes: Sequence[Axis], samples: int, seed: int = 0) -> Sensitivity:
    """Sobol indices of the latency of rr, else of the rate, over uncertain costs and the ranges of settings.

    samples: a power of two; (inputs + 2) times as many configurations are answered.  Raises ConfigError.
    Source: Saltelli2010, with the estimators of SciPy.
    """
    from scipy.stats import norm, sobol_indices, uniform

    if not LEAST_SAMPLES <= samples <= MOST_SAMPLES or samples & (samples - 1):
        expected = f"a power of two from {LEAST_SAMPLES} to {MOST_SAMPLES}"
        raise ConfigError([Fault(file="", key="--sobol", value=samples, expected=expected)])
    for a in axes:
        if a.kind not in ("knob", "cost") or a.name in SINGLE or min(a.values) == max(a.values):
            expected = "a range of a plain setting or cost, which --sobol draws from"
            raise ConfigError([Fault(file="", key=f"--vary {a.name}", expected=expected)])
    costs = _uncertain(s, [a.name for a in axes])
    laws = [norm(loc=np.log(known.value), scale=known.log_error) for known in costs.values()]
    laws += [uniform(loc=min(a.values), scale=max(a.values) - min(a.values)) for a in axes]
    spread = []

    def answer(points: Any) -> Any:
        found = np.log(_answers(s, list(costs), axes, points))
        spread.append(found)
        return found[None, :]

    found = sobol_indices(func=answer, n=samples, dists=laws, rng=np.random.default_rng(seed))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # an input that does nothing has no interval, which NaN says already
        sure = found.bootstrap(confidence_level=CONFIDENCE, n_resamples=RESAMPLES)
    names = [*((name, "cost") for name in costs), *((a.name, "setting") for a in axes)]
    shares = [
        Share(
            name=name, kind=kind, first=_of(found.first_order, i), total=_of(found.total_order, i),
            first_interval=_span(sure.first_order, i), total_interval=_span(sure.total_order, i),
        )
        for i, (name, kind) in enumerate(names)
    ]  # fmt: skip
    together = np.concatenate(spread[:2])
    return Sensitivity(
        scenario=s,
        answer="latency" if s.workload == "rr" else "rate",
        settings=tuple(a.name for a in axes),
        evaluations=samples * (len(names) + 2),
        log_sd=float(together.std()),
        shares=tuple(sorted(shares, key=lambda share: (-share.total, share.name))),
    )


def _uncertain(s: Scenario, varied: Sequence[str]) -> dict[str, Any]:
    """The costs that the answer depends on and nobody set, with what is known of them."""
    ways = compose.scenario_ways(s)
    used = compose.used_parameters(ways.forward) | timers(s) | {meeting.BUS_PARAMETER}
    if s.workload == "rr":
        used |= compose.used_parameters(ways.reverse)
    return {name: value_of(s.profile, name) for name in sorted(used - set(s.parameters) - set(varied))}


def _answers(s: Scenario, costs: Sequence[str], axes: Sequence[Axis], points: Any) -> Any:
    """The answer at each column of a matrix whose rows are logarithms of costs, then settings."""
    count = points.shape[1]
    out = np.empty(count)
    for first in range(0, count, BLOCK):
        rows = slice(first, min(first + BLOCK, count))
        values = {name: np.exp(points[i, rows]) for i, name in enumerate(costs)}
        knobs: dict[str, Any] = {}
        for i, a in enumerate(axes, start=len(costs)):
            drawn = np.rint(points[i, rows]) if is_whole(a.name) else points[i, rows]
            (knobs if a.kind == "knob" else values)[a.name] = drawn
        asked = replace(s, knobs={**s.knobs, **knobs}, parameters={**s.parameters, **values})
        solved = answers.solve_block(asked, rows.stop - first).outcome
        out[rows] = plain(solved.latency_s if s.workload == "rr" else solved.rate_per_s)
    return out


def _of(indices: Any, place: int) -> float:
    return float(np.ravel(indices)[place])


def _span(indices: Any, place: int) -> tuple[float, float]:
    interval = indices.confidence_interval
    return _of(interval.low, place), _of(interval.high, place)
