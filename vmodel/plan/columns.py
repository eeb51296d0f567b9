"""Patterns by column generation: which fillings of a host are worth having, and what no plan can undercut.

A pattern is a filling of one host; the programme says how many hosts of each pattern there are. It does not grow with
the number of VMs. Each round asks `pricing` for patterns that would pay at the current prices; when none is left, or
the proven bound is close enough, the patterns suffice.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import linprog

from vmodel.plan.pricing import Market, Row
from vmodel.plan.respond import Array

ROUNDS = 400
COPIES = 12  # disturbed fillings for each kind and level
PAYS = 1e-7  # relative to the price of a host
SLACKEN = 0.25  # of the gap, by which the worth of a host may be overstated on the way
SMOOTH = 0.5  # weight of the prices of the best bound
NODES, MORE, MOST_NODES = 300, 4, 4800  # effort for one filling, raised where it is what keeps the gap open
LESS = 0.2  # share by which the gap has to fall in so many rounds as are granted, or the rest is left open
WORTH = 3e-4  # a pattern that pays less than this share of a host is left out, and counted in the bound
MISSING = 4096.0  # price of a VM that has no place, in hosts
NEW_PER_KIND = 6


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """A filling of one host of a kind."""

    kind: int
    counts: Array  # by option
    per_class: Array
    cost: float


@dataclass(frozen=True, slots=True)
class Near:
    """The gap between programme and bound at which the patterns suffice: a share of the value, or of a host.

    rounds: so many may gain little.
    """

    share: float
    hosts: float
    rounds: int


ROUGH, FINE = Near(7.5e-4, 0.5, 4), Near(3e-4, 0.2, 8)


@dataclass(frozen=True, kw_only=True)
class Found:
    """The programme in continuous numbers of hosts: patterns, how many of each, and the proven bound."""

    patterns: tuple[Pattern, ...]
    hosts: Array
    value: float
    bound: float
    missing: Array  # VMs of each class that have no place
    complete: bool  # not cut off by time


class Pool:
    """The patterns known so far, each once, in the order they were found."""

    def __init__(self, market: Market) -> None:
        self.market = market
        self.patterns: list[Pattern] = []
        self._known: set[tuple[int, bytes]] = set()

    def add(self, kind: int, counts: Array) -> bool:
        """Take a pattern if it is new."""
        counts = np.asarray(counts, dtype=int)
        key = (kind, counts.tobytes())
        if key in self._known:
            return False
        self._known.add(key)
        per_class = self.market.per_class(counts)
        cost = self.market.kinds[kind].cost_of(per_class)
        self.patterns.append(Pattern(kind=kind, counts=counts, per_class=per_class, cost=cost))
        return True


@dataclass(frozen=True, kw_only=True)
class Prices:
    """What a VM of each class and a host of each kind are worth at the optimum of the programme."""

    vm: Array
    kind: Array
    value: float
    hosts: Array
    missing: Array


def programme(market: Market, patterns: Sequence[Pattern], dear: float) -> Prices:
    """The continuous programme over known patterns; VMs without a place cost dearly, so that there is an answer."""
    demand, kinds = market.demand, market.kinds
    n, classes = len(patterns), market.classes
    cost = np.concatenate([[p.cost for p in patterns], np.full(classes, dear)])
    cover = np.hstack([np.array([p.per_class for p in patterns]).T.reshape(classes, n), np.eye(classes)])
    bounded = [k for k, kind in enumerate(kinds) if kind.most is not None and kind.today is None]
    exact = [k for k, kind in enumerate(kinds) if kind.today is not None]
    where = np.array([p.kind for p in patterns])

    def lines(which: Sequence[int]) -> Array:
        found = np.zeros((len(which), n + classes))
        for i, k in enumerate(which):
            found[i, :n] = where == k
        return found

    found = linprog(
        cost,
        A_ub=np.vstack([-cover, lines(bounded)]),
        b_ub=np.concatenate([-demand, [float(kinds[k].most or 0) for k in bounded]]),
        A_eq=lines(exact) if exact else None,
        b_eq=np.array([float(kinds[k].most or 0) for k in exact]) if exact else None,
        method="highs",
    )
    kind = np.zeros(len(kinds))
    kind[bounded] = found.ineqlin.marginals[classes:]
    if exact:
        kind[exact] = found.eqlin.marginals
    return Prices(
        vm=np.maximum(-found.ineqlin.marginals[:classes], 0.0),
        kind=kind,
        value=float(found.fun),
        hosts=found.x[:n],
        missing=found.x[n:],
    )


def generate(
    pool: Pool, *, until: float, near: Near, step: float | None = None, prove: bool = True, bound: float = 0.0
) -> Found:
    """Find patterns until none pays any more, the bound is near, rounds gain little, or the time is over.

    step: every cost is a whole multiple of it, so that the bound may be rounded up.  prove: false where another
    programme bounds this one already; then greedy search and fractions alone look for patterns, and there is no bound.
    bound: one that is proven already.
    """
    market = pool.market
    unit = max((kind.cost for kind in market.kinds), default=1.0) or 1.0
    dear = unit * MISSING
    complete = True
    gaps: list[float] = []
    nodes = NODES
    prices = programme(market, pool.patterns, dear)
    centre: Prices | None = None  # the prices of the best bound
    sharp = False
    for draw in range(ROUNDS):
        if time.monotonic() > until:
            complete = False
            bound = max(bound, _bound(market, prices, _loosest(market, prices)))
            break
        if add_greedy(pool, prices, unit, draw):
            prices = programme(market, pool.patterns, dear)
            continue
        asked = prices if centre is None or sharp else _between(centre, prices)
        slack = 0.0 if sharp else SLACKEN * (1 - bound / max(prices.value, unit))
        added, best = _add_exact(pool, asked, prices, unit, prove=prove, slack=slack, nodes=nodes)
        better = _bound(market, asked, best) if prove else 0.0
        if better > bound:
            centre = asked
        bound = max(bound, better)
        gaps.append(prices.value - bound)
        if (not added and not prove) or (prove and _closed(bound, prices.value, step, unit, near)):
            break
        if not added and sharp:
            if nodes >= MOST_NODES:
                break
            nodes *= MORE
            continue
        if len(gaps) > near.rounds and gaps[-1] > (1 - LESS) * gaps[-1 - near.rounds] and not prices.missing.any():
            break
        sharp = not added and (asked is prices or better < bound)  # the way between, or the slack, misled
        if added:
            prices = programme(market, pool.patterns, dear)
    bound = min(bound, prices.value)
    bound = _rounded_up(bound, step)
    return Found(
        patterns=tuple(pool.patterns[: len(prices.hosts)]),  # those found since are not priced
        hosts=prices.hosts,
        value=prices.value,
        bound=bound,
        missing=prices.missing,
        complete=complete,
    )


def _between(centre: Prices, prices: Prices) -> Prices:
    """Prices on the way from those of the best bound to those of the programme, which jump about.

    Source: Wentges1997, smoothing of the prices in column generation.
    """
    return replace(
        prices,
        vm=SMOOTH * centre.vm + (1 - SMOOTH) * prices.vm,
        kind=SMOOTH * centre.kind + (1 - SMOOTH) * prices.kind,
    )


def _closed(bound: float, value: float, step: float | None, unit: float, near: Near) -> bool:
    if step is not None and _rounded_up(bound, step) >= _rounded_up(value, step):
        return True
    return value - bound <= max(near.share * value, near.hosts * unit)


def _rounded_up(value: float, step: float | None) -> float:
    return value if not step else float(np.ceil(value / step - PAYS * max(1.0, value / step)) * step)


def _gain(market: Market, row: Row, counts: Array, prices: Prices) -> float:
    """What a pattern is worth beyond its cost at these prices."""
    per_class = market.per_class(counts)
    return float(prices.vm @ per_class + prices.kind[row.kind] - market.kinds[row.kind].cost_of(per_class))


def add_greedy(pool: Pool, prices: Prices, unit: float, draw: int) -> bool:
    """Patterns that pay, by greedy search with a little chance in the order; whether any was new."""
    market = pool.market
    added = False
    for copies in (2, COPIES):
        gains: dict[int, list[tuple[float, int]]] = {}
        found = market.greedy(prices.vm, draw=draw, copies=copies)
        for i, (row, counts) in enumerate(found):
            gain = _gain(market, market.rows[row], counts, prices)
            if gain > WORTH * unit:
                gains.setdefault(market.rows[row].kind, []).append((-gain, i))
        for kind, some in gains.items():
            taken = 0
            for _, i in sorted(some):
                taken += pool.add(kind, found[i][1])
                if taken == NEW_PER_KIND:
                    break
            added = added or taken > 0
        if added:
            break
    return added


def _add_exact(
    pool: Pool, asked: Prices, prices: Prices, unit: float, *, prove: bool, slack: float, nodes: int
) -> tuple[bool, list[float]]:
    """Patterns that pay at the prices asked, and an upper bound of what one host of each kind is worth at them.

    Continuous fillings bound all rows, and rounded down they are tried first. Then the rows are asked one by one, the
    most promising first, for the best whole pattern, until no row that is left can exceed what was found.
    added: whether any of the patterns pays at the prices of the programme as well.  slack: share of a host's worth by
    which the bound may be loose, since far from the end a sharper one is of no use.  nodes: effort for one filling.
    """
    market = pool.market
    loose = [0.0] * len(market.rows)
    added = False
    for i, row in enumerate(market.rows):
        loose[i] = market.at_most(row, asked.vm)
        if loose[i] <= _pays(market, row, asked):
            continue
        fractions, loose[i] = market.continuous(row, asked.vm)
        if loose[i] > _pays(market, row, asked):
            counts = market.rounded(row, asked.vm, fractions)
            if _gain(market, row, counts, prices) > WORTH * unit and pool.add(row.kind, counts):
                added = True
    if not prove:
        return added, []
    if added:
        return added, _tops(market, loose)
    least = [max(_pays(market, row, asked), PAYS * unit) for row in market.rows]
    top = 1.0
    for i in sorted(range(len(loose)), key=lambda i: -loose[i] / least[i]):
        wanted = top * (1 + slack) * least[i]
        if loose[i] <= wanted:
            break
        row = market.rows[i]
        counts, loose[i] = market.paying(row, asked.vm, wanted, loose[i], nodes)
        if counts is not None:
            top = max(top, _worth(market, row, counts, asked) / least[i])
            if _gain(market, row, counts, prices) > PAYS * unit:
                added = pool.add(row.kind, counts) or added
    return added, _tops(market, loose)


def _tops(market: Market, worth: Sequence[float]) -> list[float]:
    """What one host of each kind can be worth, from its rows."""
    best = [0.0] * len(market.kinds)
    for row, value in zip(market.rows, worth, strict=True):
        best[row.kind] = max(best[row.kind], value)
    return best


def _worth(market: Market, row: Row, counts: Array, prices: Prices) -> float:
    """What the VMs of a pattern are worth, its moves paid."""
    kind, per_class = market.kinds[row.kind], market.per_class(counts)
    return float(prices.vm @ per_class) - (kind.cost_of(per_class) - (kind.cost if per_class.any() else 0.0))


def _loosest(market: Market, prices: Prices) -> list[float]:
    """What one host of each kind is worth at most, from fractions of VMs alone: a weak bound, but soon had."""
    return _tops(market, [market.continuous(row, prices.vm)[1] for row in market.rows])


def _pays(market: Market, row: Row, prices: Prices) -> float:
    """What a host of a row must be worth to pay; a little more, since the bound forgives it."""
    kind = market.kinds[row.kind]
    return (kind.cost - float(prices.kind[row.kind])) + WORTH * kind.cost


def _bound(market: Market, prices: Prices, best: Sequence[float]) -> float:
    """A bound from prices and the most valuable patterns: Farley's scaling where hosts are without number.

    theta = min over unlimited kinds of min(1, cost / best);  bound = theta prices N + sum over the others of their
    number times min(0, cost - theta best).

    Source: Farley1990; Lagrangian duality for kinds of which there are only so many.
    """
    theta = 1.0
    for kind, v in zip(market.kinds, best, strict=True):
        if kind.most is None and v > 0:
            theta = min(theta, kind.cost / v)
    total = theta * float(prices.vm @ market.demand)
    for kind, v in zip(market.kinds, best, strict=True):
        if kind.most is None:
            continue
        if kind.today is None:
            total += kind.most * min(0.0, kind.cost - theta * v)
        else:
            empty = kind.cost_of(np.zeros(market.classes))
            total += kind.most * min(empty, kind.cost - v)  # moves are not scaled, and lower prices are worth less
    return max(0.0, total)


def counted(patterns: Sequence[Pattern], hosts: Sequence[int]) -> list[tuple[Pattern, int]]:
    """Patterns that are used, with how many hosts."""
    return [(p, int(h)) for p, h in zip(patterns, hosts, strict=True) if h > 0]
