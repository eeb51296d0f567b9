"""The best single host for given prices of VMs: what column generation asks again and again.

A host type is looked at once for each level of busyness that some VM on it demands: at a level only the VMs that
tolerate it may come, and then everything is linear, with whole numbers of VMs and of cores.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from vmodel.plan.respond import Array
from vmodel.plan.room import CAPPED, LEVELLED, POLL, PORTS, SLACK, VCPU, VFS, WORK, Room, Wants, whole

KNAPSACK_GAP = 4e-3  # of a pattern that pays; that none does is proven without a gap
MOST_ON_ONE_HOST = 4096
MOST_POLLING = 6  # up to here each number of poll-mode cores is looked at by itself
TINY = 1e-12
NEVER = 1e12  # of VMs: where nothing bounds how many
NOISE = 0.15  # of the order of a greedy filling, relative
INFEASIBLE = 2  # what milp says of a programme without an answer


@dataclass(frozen=True, kw_only=True)
class Kind:
    """Hosts of one kind in a programme: bought ones, or some that run already with VMs on them."""

    room: Room
    cost: float  # of a host that is used
    most: int | None  # None: any number
    today: Array | None = None  # VMs of each class that run on each of them; None: to be bought
    move: float = 0.0  # of a VM that leaves

    def cost_of(self, per_class: Array) -> float:
        """The cost of one host with so many VMs of each class."""
        used = self.cost if per_class.any() else 0.0
        return used if self.today is None else used + self.move * float(np.maximum(self.today - per_class, 0).sum())


@dataclass(frozen=True, kw_only=True)
class Row:
    """One kind of host at one level: the options that may come, and their linear constraints."""

    kind: int
    level: float
    polling: int  # cores that poll: so many, or at least so many where `open`
    open: bool
    options: Array  # indices
    most: Array  # of each option alone


class Market:
    """All kinds of host at all their levels, and the programmes that find the best pattern for given prices."""

    def __init__(self, kinds: Sequence[Kind], wants: Wants, demand: Array) -> None:
        self.kinds, self.wants, self.demand = tuple(kinds), wants, demand
        self.classes = len(demand)
        self._made: dict[int, tuple[Array, Array]] = {}
        self._duals: dict[int, Array] = {}
        self.rows: list[Row] = []
        for k, kind in enumerate(self.kinds):
            limits = wants.limits[:, kind.room.type]
            for level in sorted(set(limits[limits > 0].tolist())):
                options = np.flatnonzero(limits >= level - SLACK)
                most = np.array([self._alone(kind.room, int(o), level) for o in options])
                self._add_rows(k, level, options[most > 0], most[most > 0])

    def _add_rows(self, k: int, level: float, options: Array, most: Array) -> None:
        """One row for each number of polling cores that could be of use, the last one for all numbers above."""
        if not options.size:
            return
        room = self.kinds[k].room
        poll = self.wants.needs[options, room.type, POLL]
        useful = int(min(np.ceil((poll * most).max() * len(options) / level), room.cores, MOST_POLLING))
        for polling in range(useful + 1):
            kept = (poll == 0) | (polling > 0)
            if kept.any() and room.taken[POLL] <= polling * level:
                self.rows.append(
                    Row(kind=k, level=level, polling=polling, open=polling == MOST_POLLING,
                        options=options[kept], most=most[kept])
                )  # fmt: skip

    def _alone(self, room: Room, option: int, level: float) -> int:
        need = self.wants.needs[option, room.type]
        low, high = 0, int(min(self.demand[self.wants.vm[option]], MOST_ON_ONE_HOST))
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if room.fits(middle * need, level) else (low, middle - 1)
        return low

    def per_class(self, counts: Array) -> Array:
        """VMs of each class from VMs of each option."""
        out = np.zeros(self.classes)
        np.add.at(out, self.wants.vm, counts)
        return out

    @cached_property
    def _stacked(self) -> dict[str, Array]:
        """The rows as arrays over all options, for the greedy search."""
        n, o = len(self.rows), len(self.wants.vm)
        allowed = np.zeros((n, o), dtype=int)
        for i, row in enumerate(self.rows):
            allowed[i, row.options] = row.most
        rooms = [self.kinds[row.kind].room for row in self.rows]
        level = np.array([row.level for row in self.rows])
        capacity = np.array([room.capacity for room in rooms])
        capacity[:, LEVELLED] *= level[:, None]
        needs = np.array([self.wants.needs[:, room.type] for room in rooms])
        adapters = np.array([max(room.adapters, 1) for room in rooms])
        for column in LEVELLED[1:]:  # an adapter that is given away takes all it could do
            needs[:, :, column] += needs[:, :, PORTS] * (capacity[:, column] / adapters)[:, None]
        needs[:, :, VFS] += needs[:, :, PORTS] * (capacity[:, VFS] / adapters)[:, None]
        taken = np.array([room.taken for room in rooms])
        polling = np.array([row.polling for row in self.rows], dtype=float)
        cores = np.array([room.cores for room in rooms]) - polling
        work = (needs[:, :, WORK] + needs[:, :, POLL]) / level[:, None] + needs[:, :, VCPU]
        there = np.where(capacity > 0, capacity, np.inf)
        shares = needs / there[:, None, :]
        shares[:, :, [VCPU, WORK, POLL]] = 0.0
        weight = np.maximum(work / np.maximum(cores, 1)[:, None], shares.max(axis=2)) + shares.sum(axis=2) / 100
        return {
            "allowed": allowed, "level": level, "capacity": capacity, "needs": needs, "taken": taken, "cores": cores,
            "poll": polling * level,
            "weight": np.maximum(weight, TINY),
        }  # fmt: skip

    def greedy(self, prices: Array, *, draw: int, copies: int) -> list[tuple[int, Array]]:
        """Good patterns for every row, by value per share of a host: (row, counts), copies for each row.

        The order in which VMs are taken is disturbed a little in every copy but the first, with the random numbers of
        this draw: near-ties fall either way, and many good patterns are found at the price of one.
        """
        s = self._stacked
        value = prices[self.wants.vm]
        n, o = s["allowed"].shape
        noise = np.random.default_rng(draw).normal(0.0, NOISE, (copies, n, o))
        noise[:2] = 0.0
        weights = np.where(np.arange(copies)[:, None, None] % 2 == 0, s["weight"], self._scarce)
        density = np.where(s["allowed"] > 0, value / weights, -1.0) * np.exp(noise)
        density = density.reshape(-1, o)
        at = np.tile(np.arange(n), copies)  # row of each line
        counts = np.zeros((len(at), o), dtype=int)
        used = s["taken"][at]
        left = np.broadcast_to(self.demand.astype(int), (len(at), self.classes)).copy()
        ranks = np.argsort(-density, axis=1, kind="stable")
        every = np.arange(len(at))
        level, cores, poll = s["level"][at], s["cores"][at], s["poll"][at]
        columns = [*LEVELLED, *CAPPED]
        capacity = s["capacity"][at][:, columns] * (1 + SLACK)
        for rank in range(o):
            option = ranks[:, rank]
            need = s["needs"][at, option]
            cls = self.wants.vm[option]
            worth = density[every, option] > TINY
            most = np.where(worth, np.minimum(s["allowed"][at, option], left[every, cls]), 0)
            if not most.any():
                continue
            free = cores - used[:, VCPU] - used[:, WORK] / level
            per = need[:, VCPU] + need[:, WORK] / level
            room = np.where(per > 0, np.maximum(free + SLACK, 0.0) / np.maximum(per, TINY), np.inf)
            free = poll + SLACK - used[:, POLL]
            per = need[:, POLL]
            room = np.minimum(room, np.where(per > 0, np.maximum(free, 0.0) / np.maximum(per, TINY), np.inf))
            spare = np.maximum(capacity - used[:, columns], 0.0)
            wanted = need[:, columns]
            room = np.minimum(room, np.where(wanted > 0, spare / np.maximum(wanted, TINY), np.inf).min(axis=1))
            k = np.minimum(most, np.floor(np.maximum(room, 0.0))).astype(int)
            counts[every, option] = k
            used += k[:, None] * need
            left[every, cls] -= k
        return list(zip(at.tolist(), counts, strict=True))

    def rounded(self, row: Row, prices: Array, continuous: Array) -> Array:
        """A pattern from a continuous one: rounded down, then filled with what is worth most of what is left."""
        room = self.kinds[row.kind].room
        counts = np.zeros(len(self.wants.vm), dtype=int)
        counts[row.options] = np.floor(continuous + SLACK).astype(int)
        counts = self.mended(row, counts)
        s = self._stacked
        weight = s["weight"][self._places[id(row)]]
        value = prices[self.wants.vm]
        left = self.demand.astype(int) - self.per_class(counts).astype(int)
        fractions = np.zeros(len(counts))
        fractions[row.options] = continuous - np.floor(continuous + SLACK)
        order = sorted(row.options.tolist(), key=lambda o: (-round(float(fractions[o]), 6), -value[o] / weight[o], o))
        for option in order:
            if value[option] > 0:
                cls = self.wants.vm[option]
                k = self.wants.most_more(room, counts, option, int(left[cls]))
                counts[option] += k
                left[cls] -= k
        return counts

    @cached_property
    def _scarce(self) -> Array:
        """What an option takes of each row's host, resources weighed by their worth when the row was last asked."""
        return np.array(self._stacked["weight"])

    @cached_property
    def _places(self) -> dict[int, int]:
        return {id(row): i for i, row in enumerate(self.rows)}

    def continuous(self, row: Row, prices: Array) -> tuple[Array, float]:
        """The most valuable filling in fractions of VMs, by the row's options, and its value: no whole one has more."""
        value, lines, most, bounds = self._knapsack(row, prices)
        n = len(row.options)
        found = linprog(-value, A_ub=lines, b_ub=most, bounds=bounds.T, method="highs")
        if found.x is None:
            return np.zeros(n), float(value[:n] @ row.most)
        duals = self._duals[id(row)] = np.maximum(-found.ineqlin.marginals, 0.0)
        own = self._stacked["weight"][self._places[id(row)], row.options]
        worth = (duals @ lines)[:n] / max(float(duals @ most), TINY)
        self._scarce[self._places[id(row)], row.options] = worth + own * NOISE
        return found.x[:n], float(-found.fun)

    def at_most(self, row: Row, prices: Array) -> float:
        """What no filling is worth more than, from the worth of resources at the prices of an earlier look.

        y b + sum of max over bounds of (value - y A) x, for any y >= 0: weak duality. Infinite before the first look.
        """
        duals = self._duals.get(id(row))
        if duals is None:
            return float("inf")
        value, lines, most, (lower, upper) = self._knapsack(row, prices)
        reduced = value - duals @ lines
        upper = np.minimum(upper, NEVER)
        return float(duals @ most + np.where(reduced > TINY, reduced * upper, reduced * lower).sum())

    def paying(
        self, row: Row, prices: Array, least: float, most_worth: float, nodes: int
    ) -> tuple[Array | None, float]:
        """The best whole pattern, its moves paid, worth at least so much, and what none is worth more than.

        most_worth: a bound known before.  No pattern where none is found with the effort allowed; the bound says if
        that is proven.
        """
        value, lines, most, bounds = self._knapsack(row, prices)
        n = len(row.options)
        integrality = np.zeros(len(value))
        integrality[: n + 1] = 1.0
        scale = max(abs(least), 1.0)
        found = milp(
            -value / scale,
            constraints=[
                LinearConstraint(lines, -np.inf, most),
                LinearConstraint(value[None, :] / scale, least / scale, np.inf),
            ],
            integrality=integrality,
            bounds=Bounds(*bounds),
            options={"mip_rel_gap": KNAPSACK_GAP, "node_limit": nodes},
        )
        if found.status == INFEASIBLE:
            return None, least
        proven = None if found.mip_dual_bound is None else -float(found.mip_dual_bound) * scale
        worth = most_worth if proven is None else min(most_worth, max(least, proven))
        if found.x is None:
            return None, worth
        counts = np.zeros(len(self.wants.vm), dtype=int)
        counts[row.options] = np.rint(found.x[:n]).astype(int)
        return self.mended(row, counts), worth

    def _knapsack(self, row: Row, prices: Array) -> tuple[Array, Array, Array, Array]:
        """Values, lines, their right sides and upper bounds of the best filling of a row's host.

        max prices n - move left,  capacity by resource,  vCPUs + work / u + P <= cores,  polling <= u P,  n, P whole.
        """
        kind = self.kinds[row.kind]
        room, n = kind.room, len(row.options)
        moving = kind.today is not None and kind.move > 0
        leaving = self.classes if moving else 0
        width = n + 1 + leaving
        value = np.zeros(width)
        value[:n] = prices[self.wants.vm[row.options]]
        fixed, right = self._lines(row)
        lines, most = list(np.pad(fixed, ((0, 0), (0, leaving)))), list(right)
        for c in range(leaving):
            line = np.zeros(width)
            line[:n] = -(self.wants.vm[row.options] == c).astype(float)
            line[n + 1 + c] = -1.0
            lines.append(line)
            most.append(-float(kind.today[c]) if kind.today is not None else 0.0)
            value[n + 1 + c] = -kind.move
        upper = np.full(width, np.inf)
        upper[:n], upper[n] = row.most, max(room.cores, 0) if row.open else row.polling
        lower = np.zeros(width)
        lower[n] = row.polling
        return value, np.array(lines), np.array(most), np.stack([lower, upper])

    def _lines(self, row: Row) -> tuple[Array, Array]:
        """The lines that do not depend on prices, made once."""
        known = self._made.get(id(row))
        if known is not None:
            return known
        room, n = self.kinds[row.kind].room, len(row.options)
        needs = self.wants.needs[row.options, room.type].copy()
        capacity = room.capacity.copy()
        capacity[list(LEVELLED)] *= row.level
        share = needs[:, PORTS] / max(room.adapters, 1)
        for column in (*LEVELLED[1:], VFS):
            needs[:, column] += share * capacity[column]
        lines = [
            np.append(needs[:, VCPU] + needs[:, WORK] / row.level, 1.0),
            np.append(needs[:, POLL], -row.level),
        ]
        most = [room.cores - room.taken[VCPU] - room.taken[WORK] / row.level, -room.taken[POLL]]
        for column in (*LEVELLED, *CAPPED):
            scale = max(capacity[column], TINY)
            line = np.append(needs[:, column] / scale, 0.0)
            limit = (capacity[column] - room.taken[column]) / scale
            if line[:n] @ row.most > limit:  # otherwise it can never bind
                lines.append(line)
                most.append(limit)
        classes = self.wants.vm[row.options]
        for c in sorted(set(classes.tolist())):
            if (classes == c).sum() > 1:
                lines.append(np.append((classes == c).astype(float), 0.0))
                most.append(float(self.demand[c]))
        self._made[id(row)] = (np.array(lines), np.array(most))
        return self._made[id(row)]

    def mended(self, row: Row, counts: Array) -> Array:
        """A solver's pattern by plain arithmetic: VMs that rounding let in are taken out again."""
        room = self.kinds[row.kind].room
        counts = counts.copy()
        while not self.wants.fits(room, counts):
            present = np.flatnonzero(counts)
            if not present.size:
                return counts
            use, level = self.wants.use(room, counts), self.wants.level(room, counts)
            column = self._worst(room, use, level)
            needs = self.wants.needs[present, room.type][:, column]
            counts[present[int(np.argmax(needs))]] -= 1
        return counts

    @staticmethod
    def _worst(room: Room, use: Array, level: float) -> int:
        shares = {
            c: (use[c] + room.taken[c]) / max(room.capacity[c] * (level if c in LEVELLED else 1.0), TINY)
            for c in (*LEVELLED, *CAPPED)
        }
        cores = use[VCPU] + use[WORK] / level + whole(use[POLL] / level)
        worst = max(shares, key=lambda c: shares[c])
        return worst if shares[worst] > cores / max(room.cores, TINY) else VCPU
