"""The profile of a machine that nobody has measured: what the population of all studies says of it."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from vmodel.calibrate.evidence import Study
from vmodel.calibrate.fit import fit
from vmodel.calibrate.noise import Noise, sets
from vmodel.calibrate.population import (
    ALONE,
    FACTS,
    SLOPES,
    TOGETHER,
    Machine,
    Population,
    alikeness,
    facts_of,
    kind,
    log_clock,
)
from vmodel.calibrate.problem import problem, solve_map
from vmodel.core.records import Profile, Seen, Value
from vmodel.library.profile import value_of
from vmodel.library.tables import priors, reference_clock_ghz
from vmodel.sources import TRANSFERRED

Array = NDArray[np.float64]
STEPS = 20
TELLING = 0.1  # relative error that is left of a row however many like it there are
CLOCK_SD = 0.25  # spread of clocks around the reference where none is told [log]
FACT_SD = {"decades": 0.4, "mitigations": 0.5}  # what is not known of a machine of which no fact is told
NORMAL_MAD = 1.4826


def facts_of_study(study: Study) -> Array:
    """The facts that a study's profile.toml tells of its machine: year of the measurement, mitigations."""
    machine = study.seed.machine
    year = machine.get("year")
    if year is None:
        found = re.search(r"(19|20)\d\d", study.name)
        year = int(found.group()) if found else None
    mitigations = machine.get("mitigations")
    return facts_of(year, None if mitigations is None else float(mitigations))


def summary(study: Study, before: Profile) -> Machine:
    """What the rows of a study say of its machine's costs, near the costs that explain them best.

    Rows of a set share the part of the model's error that their mean residual shows, so a long series that the model
    misses does not speak with the voice of all its rows.
    """
    rows = study.compared
    seed = study.seed
    prior = machine_of(before, seed)
    p = problem(rows, prior)
    f = fit(rows, prior)
    residuals, kinds = f.residuals, sets(rows)
    own = np.full(len(rows), TELLING)
    shared = []
    for key in sorted(set(kinds)):
        places = np.array([i for i, k in enumerate(kinds) if k == key])
        middle = float(np.median(residuals[places]))
        inner = NORMAL_MAD * float(np.median(np.abs(residuals[places] - middle)))
        own[places] = max(TELLING, inner)
        shared.append((places, max(middle, TELLING) ** 2))
    noise = Noise(own=own, shared=tuple(shared))
    theta, logs, jacobian = solve_map(p, f.log_values, noise.weighing(f.weights), steps=STEPS)
    weighing = noise.weighing(f.weights)
    weighted = weighing.of(jacobian)
    target = weighing.of(p.measured - logs + jacobian @ theta)
    free = [j for j, n in enumerate(p.names) if n not in seed.values]
    fixed = [j for j, n in enumerate(p.names) if n in seed.values]
    target = target - weighted[:, fixed] @ theta[fixed]
    order = {n: i for i, n in enumerate(priors())}
    kept = weighted[:, free]
    return Machine(
        name=study.name,
        places=np.array([order[p.names[j]] for j in free], dtype=int),
        information=kept.T @ kept,
        pull=kept.T @ target,
        clock=log_clock(seed.clock_ghz),
        facts=facts_of_study(study),
    )


def alike(before: Profile) -> Profile:
    """A prior of which no fit says how its costs move together: those of one kind are then assumed to, as machines do.

    C_ij = r sd_i sd_j for two costs of one kind. A few rows so tell of costs that they do not touch: whoever copies
    fast on this machine also wakes fast. A profile that a fit has written says how its costs move, and stays as it is.
    """
    if before.correlated:
        return before
    values = {n: value_of(before, n) for n in priors()}
    names = tuple(n for n in values if n not in before.values)
    sd = np.array([values[n].log_error for n in names])
    covariance = (np.eye(len(names)) + TOGETHER * alikeness(names)) * np.outer(sd, sd)
    lower = tuple(tuple(float(x) for x in row[: i + 1]) for i, row in enumerate(covariance))
    return replace(before, values=values, correlated=names, covariance=lower)


def machine_of(before: Profile, seed: Profile) -> Profile:
    """The prior profile with what a study's folder tells of its machine: settings, drivers, specified costs, clock."""
    shift = log_clock(seed.clock_ghz) - log_clock(before.clock_ghz)
    values = {
        n: Value(
            value=v.value * math.exp(-priors()[n].clock * shift),
            log_error=v.log_error,
            unit=v.unit,
            standing=v.standing,
            sources=v.sources,
        )
        for n, v in before.values.items()
    }
    keep = [j for j, n in enumerate(before.correlated) if n not in seed.values]
    return Profile(
        name=seed.name,
        title=seed.title,
        clock_ghz=seed.clock_ghz,
        machine=seed.machine,
        drivers=seed.drivers,
        defaults=seed.defaults,
        values={**values, **seed.values},
        correlated=tuple(before.correlated[j] for j in keep),
        covariance=tuple(tuple(before.covariance[j][k] for k in keep[: i + 1]) for i, j in enumerate(keep)),
        seen=before.seen,
        sources=before.sources,
    )


def profile_of(population: Population, seen: Mapping[str, Seen], base: Profile, machines: Sequence[Machine]) -> Profile:
    """The population as a profile at the reference clock, for a machine of which nothing is known.

    What a study told of a cost is transferred to it; a cost that no study told anything of stays as assumed, and one
    that moves with no other is left out then.
    """
    facts = facts_of(None, None)
    centre, covariance = population.of(facts, 0.0)
    flags, changes = _unknown(population)
    covariance = covariance + CLOCK_SD**2 * np.outer(flags, flags)
    for fact, change in changes.items():
        covariance = covariance + FACT_SD[fact] ** 2 * np.outer(change, change)
    tellers = _tellers(population, machines)
    told = [j for j, n in enumerate(population.names) if tellers[n] or kind(n) != ALONE]
    names = tuple(population.names[j] for j in told)
    centre, covariance = centre[told], covariance[np.ix_(told, told)]
    values = {
        n: Value(
            value=float(np.exp(centre[j])),
            log_error=float(np.sqrt(covariance[j, j])),
            unit=priors()[n].unit,
            standing=TRANSFERRED if tellers[n] else priors()[n].standing,
            sources=tuple(sorted({*tellers[n], *priors()[n].cites})),
        )
        for j, n in enumerate(names)
    }
    return Profile(
        name=base.name,
        title=base.title,
        clock_ghz=reference_clock_ghz(),
        machine={**base.machine, "population": {fact: _by_kind(population, fact) for fact in FACTS}},
        drivers=base.drivers,
        defaults=base.defaults,
        values=values,
        correlated=names,
        covariance=tuple(tuple(float(x) for x in row[: i + 1]) for i, row in enumerate(covariance)),
        seen=seen,
        sources=(),
        note=base.note,
    )


def _unknown(population: Population) -> tuple[Array, dict[str, Array]]:
    """What one unit of each fact, and of the logarithm of the clock, changes in the log costs [n each]."""
    flags = np.array([float(priors()[n].clock) for n in population.names])
    changes = {}
    for fact in FACTS:
        by = _by_kind(population, fact)
        changes[fact] = np.array([by.get(kind(n), 0.0) for n in population.names])
    return flags, changes


def _by_kind(population: Population, fact: str) -> dict[str, float]:
    return {k: float(b) for (k, f), b in zip(SLOPES, population.slopes, strict=True) if f == fact}


def _tellers(population: Population, machines: Sequence[Machine]) -> dict[str, list[str]]:
    """The studies that tell something of each cost: they alone would halve its assumed variance."""
    out: dict[str, list[str]] = {n: [] for n in population.names}
    for m in machines:
        sd = np.array([priors()[population.names[i]].log_sd for i in m.places])
        told = np.diag(m.information) * sd**2
        for i, t in zip(m.places, told, strict=True):
            if t > 1:
                out[population.names[i]].append(m.name)
    return out


def told_machine(before: Profile, *, clock_ghz: float | None, year: float | None, mitigations: bool | None) -> Profile:
    """The prior of a machine of which some facts are known: shifted by each, and less open by what it explains.

    A profile that is no population knows only what a clock does to it.
    """
    table: Mapping[str, Mapping[str, float]] = before.machine.get("population", {})
    names = tuple(before.correlated) or tuple(before.values)
    shift = np.zeros(len(names))
    n = len(before.correlated)
    covariance = np.array([[before.covariance[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]).reshape(n, n)
    usual = facts_of(None, None)
    known = facts_of(year, None if mitigations is None else float(mitigations))
    asked = {"decades": year is not None, "mitigations": mitigations is not None or year is not None}
    for fact, by in table.items():
        change = np.array([by.get(kind(name), 0.0) for name in names])
        place = FACTS.index(fact)
        if asked[fact]:
            shift += (known[place] - usual[place]) * change
            if n and (fact != "mitigations" or mitigations is not None):
                covariance -= FACT_SD[fact] ** 2 * np.outer(change, change)
    if clock_ghz is not None:
        flags = np.array([float(priors()[name].clock) for name in names])
        shift -= flags * math.log(clock_ghz / before.clock_ghz)
        if n and table:
            covariance -= CLOCK_SD**2 * np.outer(flags, flags)
    moved = dict(zip(names, np.exp(shift).tolist(), strict=True))
    order = {name: i for i, name in enumerate(before.correlated)}
    values = {
        name: replace(
            v,
            value=v.value * moved.get(name, 1.0),
            log_error=math.sqrt(covariance[order[name], order[name]]) if name in order else v.log_error,
        )
        for name, v in before.values.items()
    }
    return replace(
        before,
        clock_ghz=before.clock_ghz if clock_ghz is None else clock_ghz,
        values=values,
        covariance=tuple(tuple(float(x) for x in row[: i + 1]) for i, row in enumerate(covariance)),
    )
