"""Uncertain demand: many draws of it at once, the chance that a plan keeps its objectives, which plan regrets least.

Nothing is asked of the model again for each draw: needs, limits and latencies are known over the load and read off.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from vmodel.plan.fleet import Fleet
from vmodel.plan.growth import Curves
from vmodel.plan.limits import latency
from vmodel.plan.records import Group
from vmodel.plan.respond import Array, Asked, respond
from vmodel.plan.room import CAPPED, LEVELLED, POLL, VCPU, WORK
from vmodel.units import PERCENT_PER_ONE

SEED = 1
KNOTS = 24  # loads at which a configuration is asked; between them latency is read off, monotone in the logarithm
TINY = 1e-12
NEVER_S = 1e12  # stands for a latency without end, in a logarithm
QUANTILES = (0.5, 0.8, 0.95)  # demands that the candidate plans are made for


@dataclass(frozen=True, kw_only=True)
class Chance:
    """What becomes of a plan when demand is drawn at random."""

    draws: int
    plan: float  # share of draws in which every objective is kept
    per_class: Mapping[str, float]
    short: float  # hosts' worth of overload, mean over the draws
    short_price: float  # the same in what is minimised


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A plan made for some quantile of demand, and what it is regretted by."""

    quantile: float
    hosts: int
    cost: float
    chance: float
    mean_regret: float
    worst_regret: float  # 95 % of draws are regretted less


def demand_factors(fleet: Fleet, draws: int) -> Array:
    """Demand of each class over the planned one: (draws, classes); log-normal with median one, one common part.

    sigma = ln(1 + uncertainty);  z = sqrt(r) common + sqrt(1 - r) own, r the correlation.  The same for each run.
    """
    random = np.random.default_rng(SEED)
    sigma = np.log1p(np.array([vm.uncertainty for vm in fleet.vm]))
    r = fleet.rules.correlation
    common, own = random.standard_normal((draws, 1)), random.standard_normal((draws, len(fleet.vm)))
    return np.exp(sigma * (np.sqrt(r) * common + np.sqrt(1 - r) * own))


def chance_of(
    fleet: Fleet,
    groups: Sequence[Group],
    chosen: Sequence[int],
    found: Curves,
    *,
    factors: Array,
    cost: Mapping[str, float],
) -> Chance:
    """The chance that a plan keeps its objectives, over draws of demand relative to what the curves were made for."""
    draws = len(factors)
    good = np.ones(draws, dtype=bool)
    by_class = np.ones((draws, len(chosen)), dtype=bool)
    short, priced = np.zeros(draws), np.zeros(draws)
    for g in groups:
        counts = g.counts[list(chosen)]
        present = np.flatnonzero(counts)
        if not present.size:
            continue
        options = np.broadcast_to(present, (draws, len(present)))
        needs, limits = found.at(factors[:, present], options, g.room.type)
        use = np.einsum("dpc,p->dc", needs, counts[present]) + g.room.taken
        level = limits.min(axis=1)
        over = pressures(g, use, level)
        kept = over <= 1 + 1e-9
        good &= kept
        by_class[:, present] &= kept[:, None]
        excess = np.minimum(np.maximum(over - 1, 0.0), 1.0) * g.hosts
        short += excess
        priced += excess * cost[g.room.name]
    names = [vm.name for vm in fleet.vm]
    return Chance(
        draws=draws,
        plan=float(good.mean()),
        per_class={name: float(by_class[:, i].mean()) for i, name in enumerate(names)},
        short=float(short.mean()),
        short_price=float(priced.mean()),
    )


def pressures(group: Group, use: Array, level: Array) -> Array:
    """How far the fullest resource of a host is used in each draw; infinite where no level keeps an objective."""
    room = group.room
    safe = np.maximum(level, TINY)
    cores = use[:, VCPU] + use[:, WORK] / safe + np.ceil(use[:, POLL] / safe - 1e-9)
    over = cores / max(room.cores, TINY)
    for column in (*LEVELLED, *CAPPED):
        if use[:, column].any():
            limit = room.capacity[column] * (safe if column in LEVELLED else 1.0)
            over = np.maximum(over, use[:, column] / np.maximum(limit, TINY))
    return np.where(level > 0, over, np.inf)


def regrets(costs: Array) -> tuple[Array, Array]:
    """Mean and 95th percentile of regret of each plan from their costs in each draw: (plans, draws)."""
    regret = costs - costs.min(axis=0)
    return regret.mean(axis=1), np.quantile(regret, 0.95, axis=1)


def draw_costs(
    groups: Sequence[Group],
    chosen: Sequence[int],
    found: Curves,
    *,
    factors: Array,
    cost: Mapping[str, float],
    late: float,
) -> Array:
    """What a plan costs in each draw: its hosts, and those that are bought late for what they do not carry."""
    total = np.zeros(len(factors)) + sum(g.hosts * cost[g.room.name] for g in groups)
    for g in groups:
        counts = g.counts[list(chosen)]
        present = np.flatnonzero(counts)
        if present.size:
            options = np.broadcast_to(present, (len(factors), len(present)))
            needs, limits = found.at(factors[:, present], options, g.room.type)
            use = np.einsum("dpc,p->dc", needs, counts[present]) + g.room.taken
            over = pressures(g, use, limits.min(axis=1))
            total += late * cost[g.room.name] * g.hosts * np.minimum(np.maximum(over - 1, 0.0), 1.0)
    return total


def with_demand(fleet: Fleet, quantile: float) -> Fleet:
    """The fleet with every uncertain class at a quantile of its demand."""
    from vmodel.solve.gamma_law import normal_quantile

    z = float(normal_quantile(quantile))
    vms = tuple(
        vm.model_copy(update={"rate": (vm.rate[0], vm.rate[1] * float((1 + vm.uncertainty) ** z))}) for vm in fleet.vm
    )
    return fleet.model_copy(update={"vm": vms})


def configuration_chances(questions: Sequence[Asked], limits_s: Array, factors: Array) -> Array:
    """The chance that each configuration keeps its latency alone on its host, over draws of its load.

    questions: configurations at their planned load.  limits_s: objectives [s].  factors: load over the planned one,
    (configurations, draws).  Each is asked at KNOTS loads; latency between them is read off.
    """
    low, high = factors.min(), factors.max()
    knots = np.geomspace(low, max(high, low * (1 + TINY)), KNOTS)
    answers = respond([replace(q, factor=q.factor * float(k)) for q in questions for k in knots])
    shares = np.repeat([q.vm.percentile / PERCENT_PER_ONE for q in questions], KNOTS)
    times = latency(answers, np.zeros_like(answers.demands_s), shares)
    bad = (answers.capacity_per_s < answers.rate_per_s) | (
        answers.loss > np.repeat([q.vm.loss for q in questions], KNOTS)
    )
    times = np.log(np.where(bad, NEVER_S, np.maximum(times, TINY))).reshape(len(questions), KNOTS)
    places = np.log(factors)
    log_knots = np.log(knots)
    met = [np.interp(p, log_knots, t) <= np.log(limit) for p, t, limit in zip(places, times, limits_s, strict=True)]
    return np.array([m.mean() for m in met])
