"""How busy what a class shares may be, and why no busier: its latency there and one step above, on the safe side."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vmodel.plan.limits import FULL, STEPS, latency_at
from vmodel.plan.options import QUIET
from vmodel.plan.records import Catalogue, Option
from vmodel.plan.respond import respond
from vmodel.units import PERCENT_PER_ONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Busy:
    """The limit of a class on a host type, and what becomes of its latency there and above."""

    option: Option
    host: str
    level: float
    latency_s: float
    above: float | None  # the next level; None where things may be as busy as can be
    above_s: float | None  # the latency there

    @property
    def binds(self) -> bool:
        """Whether the latency objective is what forbids the next level."""
        goal = self.option.vm.latency
        return goal is not None and self.above_s is not None and self.above_s > goal


def busy_of(known: Catalogue, chosen: Sequence[int]) -> tuple[Busy, ...]:
    """One for each class, on the host type that it lets be busiest; the worst of the loads up to the planned one."""
    found = []
    for o in chosen:
        option, limits = known.options[o], known.wants.limits[o]
        t = int(np.argmax(limits))
        level = float(limits[t])
        asked = option.asked[t]
        answers = respond([replace(asked, factor=asked.factor * quiet) for quiet in QUIET])
        share = np.full(len(QUIET), option.vm.percentile / PERCENT_PER_ONE)
        above = level + 1 / STEPS if level < FULL - 1 / STEPS / 2 else None
        worst = [
            None
            if u is None
            else float(latency_at(answers, np.full(len(QUIET), u), share).max()) * option.latency_factor
            for u in (level, above)
        ]
        found.append(
            Busy(
                option=option,
                host=known.rooms[t].name,
                level=level,
                latency_s=worst[0] or 0.0,
                above=above,
                above_s=worst[1],
            )
        )
    return tuple(found)
