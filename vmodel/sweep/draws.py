"""Monte Carlo over what is not known: costs drawn from a profile, and the 90 % intervals that they make.

The linear intervals of `predict` follow derivatives; draws follow the law itself, over borders of regimes too. Costs
are log-normal with the profile's covariance; the model's own error is one factor per draw. Every row sees the same
draws.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vmodel.core.records import Scenario
from vmodel.library import tables
from vmodel.library.profile import value_of
from vmodel.solve import answers, compose, doubt, meeting
from vmodel.solve.dual import plain

Array = NDArray[Any]
LOW, HIGH = 0.05, 0.95  # ends of a 90 % interval
MOST_DRAWS = 100_000


def cost_draws(s: Scenario, count: int, seed: int, given: Iterable[str] = ()) -> tuple[dict[str, Array], Array]:
    """Draws of every cost that a scenario uses and nobody set, and standard normal numbers for the model's error.

    given: costs that the sweep itself varies.  The draws depend on profile and seed alone.
    """
    generator = np.random.default_rng(seed)
    names = tuple(tables.priors())
    normal = generator.standard_normal((len(names) + 1, count))
    own = dict(zip(names, normal[:-1], strict=True))
    order = s.profile.correlated
    if order:
        lower = [[s.profile.covariance[max(i, j)][min(i, j)] for j in range(len(order))] for i in range(len(order))]
        values, vectors = np.linalg.eigh(np.array(lower))
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        together = root @ np.stack([own[name] for name in order])
    ways = compose.scenario_ways(s)
    used = compose.used_parameters(ways.forward) | compose.used_parameters(ways.reverse) | {meeting.BUS_PARAMETER}
    out = {}
    for name in sorted((used | timers(s)) - set(s.parameters) - set(given)):
        known = value_of(s.profile, name)
        logs = together[order.index(name)] if name in order else own[name] * known.log_error
        out[name] = known.value * np.exp(logs)
    return out, normal[-1]


def timers(s: Scenario) -> set[str]:
    """Costs that stand for an adaptive driver's interval."""
    ways = compose.scenario_ways(s)
    found = (compose.timer(s, way) for way in (ways.forward, ways.reverse))
    return {t.parameter for t in found if t is not None and t.parameter is not None}


def intervals(s: Scenario, rows: int, drawn: tuple[Mapping[str, Array], Array]) -> dict[str, Array]:
    """Ends of the 90 % intervals of latency and throughput of a block of rows, by the draws."""
    costs, normal = drawn
    count = len(normal)

    def spread(values: Any) -> Any:
        return np.repeat(values, count) if isinstance(values, np.ndarray) else values

    many = replace(
        s,
        knobs={k: spread(v) for k, v in s.knobs.items()},
        parameters={k: spread(v) for k, v in s.parameters.items()} | {k: np.tile(v, rows) for k, v in costs.items()},
        load=replace(s.load, value=spread(s.load.value)),
    )  # fmt: skip
    solved = answers.solve_block(many, rows * count)
    out = solved.outcome
    error = np.exp(np.sqrt(doubt.model_variance(many)) * np.tile(normal, rows))
    carried = plain(out.rate_per_s) / error
    if s.workload == "packets" and s.load.kind != "max":  # nobody carries more than is offered, nor than there is room
        room = plain(out.upper_rate_per_s) / error
        carried = np.minimum(np.where(answers.column(solved, "saturated"), np.inf, plain(out.rate_per_s)), room)
        carried = np.minimum(carried, answers.offered_per_s(many))
    latency = np.broadcast_to(plain(out.latency_s) * error, rows * count).reshape(rows, count)
    bits = np.broadcast_to(carried * meeting.message_bits(many), rows * count).reshape(rows, count)
    low, high = np.quantile(latency, (LOW, HIGH), axis=1)
    slow, fast = np.quantile(bits, (LOW, HIGH), axis=1)
    return {"latency_low_s": low, "latency_high_s": high, "throughput_low_bps": slow, "throughput_high_bps": fast}
