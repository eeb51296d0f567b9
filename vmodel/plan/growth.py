"""What grows tight next: the model asked again at higher and lower loads, with the placement as it stands."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vmodel.plan.limits import Objective, busy_limit
from vmodel.plan.options import POOL_ROWS, UNCERTAIN, needs_of
from vmodel.plan.records import Catalogue, Group
from vmodel.plan.respond import Array, respond
from vmodel.plan.room import COLUMNS
from vmodel.units import PERCENT_PER_ONE

WIDEST = 8  # times the planned load, and as much below it
FACTORS = np.geomspace(1 / WIDEST, WIDEST, 49)  # loads around the planned one at which the model is asked
HALVINGS = 40
DIGITS = 9  # of a place between knots: rounding must not turn a knot into what lies behind it


@dataclass(frozen=True, kw_only=True)
class Curves:
    """Needs and limits of each option on each host type over the load: at FACTORS times the planned one."""

    needs: Array  # (loads, options, types, COLUMNS)
    limits: Array  # (loads, options, types)

    def at(self, factors: Array, options: Array, types: int) -> tuple[Array, Array]:
        """Needs and limits of options on a host type, each at its own load, between the knots: straight lines."""
        place = np.clip(np.interp(np.log(factors), np.log(FACTORS), np.arange(len(FACTORS))), 0, len(FACTORS) - 1)
        place = np.round(place, DIGITS)
        low = np.minimum(np.floor(place).astype(int), len(FACTORS) - 2)
        part = place - low
        needs = (
            self.needs[low, options, types] * (1 - part)[..., None]
            + self.needs[low + 1, options, types] * part[..., None]
        )
        # a level is a step: the stricter of the two knots holds between them
        limits = np.where(
            part > 0,
            np.minimum(self.limits[low, options, types], self.limits[low + 1, options, types]),
            self.limits[low, options, types],
        )
        return needs, limits


@dataclass(frozen=True, kw_only=True)
class Bottleneck:
    """What is overfull first when all traffic grows, on which kind of host, at how many times the planned load."""

    resource: str
    host: str
    factor: float  # of the planned load; infinite where nothing grows tight within what was asked
    years: float | None  # from the horizon on; None without growth


def curves(known: Catalogue, chosen: Sequence[int]) -> Curves:
    """Ask the model for the chosen options over the load."""
    fleet, options = known.fleet, [known.options[o] for o in chosen]
    types = len(known.rooms)
    asked = [
        replace(o.asked[t], factor=o.asked[t].factor * float(f)) for f in FACTORS for o in options for t in range(types)
    ]
    answers = respond(asked)
    repeated = np.array([i for _ in FACTORS for i in range(len(options)) for _ in range(types)])

    def column(values: Sequence[float]) -> Array:
        return np.array(values)[repeated]

    work = column([o.load_factor for o in options])
    latency_factor = column([o.latency_factor for o in options])
    goal = Objective(
        latency_s=column([math.inf if o.vm.latency is None else o.vm.latency for o in options]),
        share=column([o.vm.percentile / PERCENT_PER_ONE for o in options]),
        loss=column([o.vm.loss for o in options]),
        latency_factor=latency_factor,
        load_factor=1 + UNCERTAIN * (work - 1),
    )
    limits = busy_limit(answers, goal)
    own = answers.capacity_per_s / np.where(column([o.vm.workload == "rr" for o in options]), latency_factor, 1.0)
    guest = answers.guest_busy * goal.load_factor[POOL_ROWS[0]] <= column([o.vm.vcpus for o in options])
    limits = np.where((own >= answers.rate_per_s) & guest, limits, 0.0)
    needs = needs_of(answers, asked, work, fleet.rules.overcommit)
    shape = (len(FACTORS), len(options), types)
    stand = known.wants.limits[list(chosen)] > 0
    limits = np.where(stand[None], limits.reshape(shape), 0.0)
    # what is kept at a load is kept at every load below it
    return Curves(
        needs=np.maximum.accumulate(needs.reshape(*shape, COLUMNS), axis=0),
        limits=np.minimum.accumulate(limits, axis=0),
    )


def next_bottleneck(known: Catalogue, chosen: Sequence[int], groups: Sequence[Group], found: Curves) -> Bottleneck:
    """Where growth hits first, when all VMs' traffic grows alike and nothing is moved."""
    rate = known.fleet.rules.growth_per_year
    best = Bottleneck(resource="", host="", factor=math.inf, years=None)
    for g in groups:
        counts = g.counts[list(chosen)]
        present = np.flatnonzero(counts)
        if not present.size:
            continue
        low, high = math.log(float(FACTORS[0])), math.log(float(FACTORS[-1]))
        if _pressure(found, g, present, counts, math.exp(high))[0] <= 1:
            continue
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (
                (low, middle) if _pressure(found, g, present, counts, math.exp(middle))[0] > 1 else (middle, high)
            )
        factor = math.exp(low)
        if factor < best.factor:
            _, resource = _pressure(found, g, present, counts, math.exp(high))
            lost = _broken(found, g, present, math.exp(high))
            if lost is not None:
                resource = f"the objective of {known.options[chosen[lost]].vm.name}"
            years = math.log(factor) / math.log(1 + rate) if rate > 0 else None
            best = Bottleneck(resource=resource, host=g.room.name, factor=factor, years=years)
    return best


def _broken(found: Curves, group: Group, present: Array, factor: float) -> int | None:
    """The option whose objective does not hold at this load even on an idle host."""
    _, limits = found.at(np.full(len(present), factor), present, group.room.type)
    gone = np.flatnonzero(limits <= 0)
    return int(present[gone[0]]) if gone.size else None


def _pressure(found: Curves, group: Group, present: Array, counts: Array, factor: float) -> tuple[float, str]:
    needs, limits = found.at(np.full(len(present), factor), present, group.room.type)
    level = float(limits.min())
    use = counts[present] @ needs
    if level <= 0:
        return math.inf, "the objective"
    pressure, name = group.room.pressure(use, level)
    return (pressure, name) if pressure > 1 + 1e-9 else (min(pressure, 1.0), name)
