"""How busy may what VMs share become before an objective breaks: the load model turned round.

Each VM's latency grows with the share of time that others keep its vhost worker's core, its poll-mode core, its
adapter or the memory bus busy. The busiest level at which the objective still holds, on the safe side of the model's
interval, is the limit of that VM. There is no rule of thumb.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from vmodel.plan.respond import Answers, Array, quantile
from vmodel.solve.rings import loss_knee

STEPS = 25  # levels are steps of four per cent, rounded down: never optimistic, and few enough to look at each
LEVELS = np.arange(1, STEPS) / STEPS
FULL = float(LEVELS[-1])  # what is held back and loses nothing is filled to the last step
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """What must be kept: a latency (inf: none) at a share of messages, and a largest loss; and how far to trust."""

    latency_s: Array
    share: Array
    loss: Array
    latency_factor: Array  # what the model's latency is multiplied with to be on the safe side
    load_factor: Array  # the same for the work that a message makes: (kinds of SHARED, n)


def added_wait(demand_s: Array, own: Array, level: Array, closed: Array) -> Array:
    """What neighbours add to the time at a resource that is busy for a share u in all [s].

    a = (u - rho)(1 + rho);  s = 1 / (1 - a): the fixed point of `shared` for many small neighbours, the worst case at
    a given u. Open: D s / (1 - rho s) - D / (1 - rho), M/G/1-PS with its service stretched. Closed: D (s - 1).

    demand_s: D [s].  own: rho of the VM itself [-].  level: u [-].  closed: true where answers are waited for.
    Nothing at u = rho; infinite where the stretched service fills the resource.

    Source: Kleinrock1976, section 4.4; BertsekasGallager1992, section 6.5.2.
    """
    a = np.maximum(level - own, 0.0) * (1 + own)
    room = 1 - a
    stretch = 1 / np.maximum(room, ROUNDING)
    left = 1 - own * stretch
    open_wait = np.where(
        (room > ROUNDING) & (left > ROUNDING),
        demand_s * stretch / np.maximum(left, ROUNDING) - demand_s / np.maximum(1 - own, ROUNDING),
        np.inf,
    )
    waits = np.where(closed, np.where(room > ROUNDING, demand_s * (stretch - 1), np.inf), open_wait)
    return np.where(demand_s > 0, waits, 0.0)


def with_waits(times: Array, waits: Array) -> Array:
    """Moments of a latency with waits added that vary like exponential times.

    times: least, mean, variance, third moment (4, n).  waits: (resources, n) [s].
    """
    out = times.copy()
    out[1] += waits.sum(axis=0)
    out[2] += (waits * waits).sum(axis=0)
    out[3] += 2 * (waits * waits * waits).sum(axis=0)
    return out


def latency(answers: Answers, waits: Array, share: Array) -> Array:
    """The latency that a share of messages stays below when these waits are added [s]."""
    finite = np.isfinite(waits).all(axis=0)
    whole = with_waits(answers.times, np.where(finite, waits, 0.0))
    return np.where(finite, np.maximum(answers.floor_s, quantile(whole, share)), np.inf)


def latency_at(answers: Answers, level: Array, share: Array) -> Array:
    """The same when everything on a VM's way that it shares is busy for a share `level` of the time."""
    own = np.minimum(answers.rate_per_s * answers.demands_s, 1.0)
    return latency(answers, added_wait(answers.demands_s, own, level, answers.closed), share)


def busy_limit(answers: Answers, goal: Objective) -> Array:
    """The busiest level of LEVELS at which each row keeps its objective; zero where none does.

    The largest u with latency(u) x factor <= objective, own share <= u, and a loss below the objective at the fullest
    ring. Latency grows with u, so the level is found by halving.
    """
    heaviest = (answers.rate_per_s * answers.demands_s * goal.load_factor).max(axis=0)
    able = answers.loss <= goal.loss
    bound = np.where(answers.closed, FULL, np.minimum(FULL, _loss_level(answers, goal)))

    def keeps(index: Array) -> Any:
        level = np.where(index >= 0, LEVELS[np.maximum(index, 0)], 0.0)
        slow = latency_at(answers, level, goal.share) * goal.latency_factor > goal.latency_s
        return (index < 0) | (able & ~slow & (level <= bound + ROUNDING) & (level >= heaviest))

    # the least level that the VM's own work leaves room for; below it nothing can be kept
    low = np.searchsorted(LEVELS, heaviest - ROUNDING)
    high = np.full(low.shape, STEPS - 2)
    low = np.minimum(low, STEPS - 2)
    found = np.where(keeps(low), low, -1)
    for _ in range(STEPS.bit_length()):
        middle = (low + high + 1) // 2
        good = keeps(middle) & (found >= 0)
        found = np.where(good, np.maximum(found, middle), found)
        low = np.where(good, middle, low)
        high = np.where(good, high, np.maximum(middle - 1, low))
    return np.where(found >= 0, LEVELS[np.maximum(found, 0)], 0.0)


def _loss_level(answers: Answers, goal: Objective) -> Array:
    """How busy a resource may be before its ring loses more than allowed, service times exponential."""
    keys = np.stack([answers.ring, goal.loss])
    kinds, where = np.unique(keys, axis=1, return_inverse=True)
    levels = np.array([_knee(max(1, int(places)), float(loss)) for places, loss in kinds.T])
    return levels[where.reshape(-1)]


@cache
def _knee(places: int, loss: float) -> float:
    return float(loss_knee(1.0, 1.0, places, loss))
