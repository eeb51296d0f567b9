"""What machines have in common: mean and spread of every cost between machines, learned from the studies.

A two-level normal model of the logarithms. A machine's costs are drawn from N(mean + slopes x machine's facts, spread);
its rows tell of its costs what a linearised likelihood says. Mean, slopes and spread are the most probable ones
(expectation-maximisation), with the assumptions of parameters.toml as what is believed before any study.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vmodel.library.tables import priors, reference_clock_ghz

Array = NDArray[np.float64]
STUDIES_BELIEVED = 3  # studies' worth of weight that the assumed spread has against the observed one
TOGETHER = 0.5  # assumed correlation of costs of one kind between machines: they share a processor
WRONG_TOGETHER = 0.2  # assumed correlation of what is wrong with the medians that are assumed of costs of one kind
ROUNDS = 60
SETTLED = 1e-4  # largest change of a mean at which the search has ended [log]
# What later machines, and mitigations of speculative execution, are assumed to change: log factor, its standard error.
# Facts: decades after 2015 and mitigations (0 off, 1 on); kinds as in `kind`.
FIRST_YEAR = 2015.0
FACTS = ("decades", "mitigations")
SLOPES: Mapping[tuple[str, str], tuple[float, float]] = {
    ("work", "decades"): (-0.2, 0.3),
    ("wake", "decades"): (-0.2, 0.3),
    ("rate", "decades"): (0.3, 0.3),
    ("work", "mitigations"): (0.1, 0.15),
    ("wake", "mitigations"): (0.15, 0.2),
}
ALONE = "rest"  # the kind of costs that do not move together
WAKES = ("wake", "exit", "interrupt", "injection", "event", "kick", "signal")


def kind(name: str) -> str:
    """Costs that move together between machines: work of a CPU, wake-ups and exits, rates of copying, and the rest."""
    prior = priors()[name]
    if prior.unit == "B/s":
        return "rate"
    if prior.unit == "s" and any(word in name for word in WAKES):
        return "wake"
    return "work" if prior.clock else ALONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What the rows of one machine say of its costs: log-likelihood -t A t / 2 + b t, and the facts known of it.

    places: columns of the population [n].  information: A [n, n].  pull: b [n].  clock: its logarithm to the reference.
    """

    name: str
    places: Array
    information: Array
    pull: Array
    clock: float
    facts: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Population:
    """Mean and spread of the logarithms of all costs at the reference clock, and what is not known of the mean."""

    names: tuple[str, ...]
    mean: Array
    slopes: Array  # one for each of SLOPES
    spread: Array  # covariance between machines
    doubt: Array  # covariance of (mean, slopes)

    def of(self, facts: Array, clock: float) -> tuple[Array, Array]:
        """Mean and covariance of the log costs of an unseen machine, its own spread and the doubt of the mean."""
        x = _design(self.names, facts)
        flags = np.array([priors()[n].clock for n in self.names])
        centre = x @ np.concatenate([self.mean, self.slopes]) - flags * clock
        return centre, self.spread + x @ self.doubt @ x.T


def _design(names: Sequence[str], facts: Array) -> Array:
    """The matrix that makes a machine's expected costs of (mean, slopes)."""
    n = len(names)
    x = np.zeros((n, n + len(SLOPES)))
    x[:, :n] = np.eye(n)
    kinds = [kind(name) for name in names]
    for j, (group, fact) in enumerate(SLOPES):
        mask = np.array([k == group for k in kinds])
        x[mask, n + j] = facts[FACTS.index(fact)]
    return x


def log_clock(clock_ghz: float) -> float:
    """How much faster than the reference a clock is [log]."""
    return float(np.log(clock_ghz / reference_clock_ghz()))


def facts_of(year: float | None, mitigations: float | None) -> Array:
    """The facts of a machine; a year that is not told is the reference, mitigations follow the year."""
    decades = 0.0 if year is None else (year - FIRST_YEAR) / 10
    usual = 0.5 if year is None else float(year >= 2018)
    return np.array([decades, usual if mitigations is None else mitigations])


def alikeness(names: Sequence[str]) -> Array:
    """One where two different costs are of one kind and so move together between machines, else zero [n, n]."""
    kinds = [kind(n) for n in names]
    same = np.array([[a == b != ALONE for b in kinds] for a in kinds], dtype=float)
    return np.asarray(same - np.diag(np.diag(same)), dtype=np.float64)


def assumed() -> Population:
    """The population before any study: medians and spreads of parameters.toml, costs of one kind correlated."""
    table = priors()
    names = tuple(table)
    sd = np.array([table[n].log_sd for n in names])
    alike = alikeness(names)
    own = np.diag(sd**2)
    spread = own + TOGETHER * alike * np.outer(sd, sd)
    doubt = np.zeros((len(names) + len(SLOPES),) * 2)
    doubt[: len(names), : len(names)] = own + WRONG_TOGETHER * alike * np.outer(sd, sd)
    doubt[len(names) :, len(names) :] = np.diag([s**2 for _, s in SLOPES.values()])
    return Population(
        names=names,
        mean=np.log([table[n].median for n in names]),
        slopes=np.array([m for m, _ in SLOPES.values()]),
        spread=spread,
        doubt=doubt,
    )


def learn(machines: Sequence[Machine], before: Population) -> Population:
    """The most probable population given machines; deterministic.

    Mean and slopes are the generalised least squares solution for a spread, the spread is found by
    expectation-maximisation with the assumed one as its inverse-Wishart prior.
    """
    names, n = before.names, len(before.names)
    flags = np.array([priors()[name].clock for name in names])
    places = [m.places for m in machines]
    designs = [_design(names, m.facts) for m in machines]
    pulls = [m.pull + m.information @ (flags[m.places] * m.clock) for m in machines]
    first, certain = np.concatenate([before.mean, before.slopes]), np.linalg.inv(before.doubt)
    phi: Array = first
    spread, doubt = before.spread, before.doubt
    for _ in range(ROUNDS):
        shrinks = [
            np.linalg.inv(np.eye(len(at)) + m.information @ spread[np.ix_(at, at)])
            for m, at in zip(machines, places, strict=True)
        ]
        inner = [s @ m.information for s, m in zip(shrinks, machines, strict=True)]
        lhs = certain + sum((x[at].T @ a @ x[at] for a, x, at in zip(inner, designs, places, strict=True)), 0.0)
        rhs = certain @ first + sum(
            (x[at].T @ s @ b for s, b, x, at in zip(shrinks, pulls, designs, places, strict=True)), 0.0
        )
        doubt = np.asarray(np.linalg.inv((lhs + lhs.T) / 2), dtype=np.float64)
        moved = doubt @ rhs
        total = STUDIES_BELIEVED * before.spread
        for s, a, b, x, at in zip(shrinks, inner, pulls, designs, places, strict=True):
            off = spread[:, at] @ (s @ b - a @ (x[at] @ moved))
            total = total + spread - spread[:, at] @ a @ spread[at, :] + np.outer(off, off)
        spread = total / (len(machines) + STUDIES_BELIEVED)
        spread = np.asarray((spread + spread.T) / 2, dtype=np.float64)
        change = float(np.max(np.abs(moved - phi)))
        phi = moved
        if change < SETTLED:
            break
    return Population(names=names, mean=phi[:n], slopes=phi[n:], spread=spread, doubt=doubt)
