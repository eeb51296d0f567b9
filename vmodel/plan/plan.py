"""The plan of a fleet: from the file's tables to placement, refusals, failures, growth, chance and cost."""

from vmodel.plan.placement import Problem
from vmodel.plan.pricing import Kind
from vmodel.plan.records import Catalogue
import numpy as np


def problem_of(known: Catalogue) -> Problem:
    rules = known.fleet.rules
    kinds = tuple(Kind(room=r, cost=r.price if rules.minimise=="price" else 1.0, most=r.count) for r in known.rooms)
    return Problem(kinds=kinds, wants=known.wants, demand=np.array([float(v.count) for v in known.fleet.vm]), start=(), whole_hosts=rules.minimise=="hosts")
