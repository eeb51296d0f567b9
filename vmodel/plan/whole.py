"""From continuous to whole numbers of hosts: a dive through the programme, and surplus VMs taken out again."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from vmodel.plan.columns import COPIES, MISSING, Found, Pattern, Pool, Prices, add_greedy, programme
from vmodel.plan.pricing import Market
from vmodel.plan.records import Group
from vmodel.plan.respond import Array

TINY = 1e-9
REFRESHES = 3  # rounds of new patterns for what is left, after each step down
FEW = 2.0  # hosts that are left to the integer programme at the end
ENOUGH = 1.5  # times FEW: so many, and they are left to it at once
POLISHES, FRESH, GOOD, SEED = 6, 24, 1.9e-3, 1  # rounds, hosts placed anew in each, gap that is good enough
LAST_NODES, LAST_GAP, LAST_PATTERNS = 1, 2e-3, 40  # of the last integer programme; patterns for each kind

Answer = tuple[float, tuple[Group, ...], Sequence[int]]


def dive(market: Market, found: Found) -> Answer | None:
    """Whole hosts: round down, then round one up at a time, with new patterns for what is left each time.

    Effort does not depend on the clock, so that the same fleet always gets the same plan.  None where kinds that are
    limited run out.
    """
    hosts: dict[int, int] = {}
    patterns: list[Pattern] = []
    rest = market.demand.copy()
    most = [kind.most for kind in market.kinds]
    unit = max((kind.cost for kind in market.kinds), default=1.0) or 1.0
    known: Sequence[Pattern] = found.patterns
    while rest.any() or any(m for m, kind in zip(most, market.kinds, strict=True) if kind.today is not None):
        kinds = tuple(replace(kind, most=m) for kind, m in zip(market.kinds, most, strict=True))
        left = Market(kinds, market.wants, rest)
        pool = Pool(left)
        for pattern in known:
            counts = pattern.counts
            pool.add(pattern.kind, counts)
        prices = programme(left, pool.patterns, unit * MISSING)
        for draw in range(REFRESHES):
            if not left.rows or not add_greedy(pool, prices, unit, draw):
                break
            prices = programme(left, pool.patterns, unit * MISSING)
        if prices.missing.sum() > TINY * max(1.0, float(rest.sum())):
            return None
        known = tuple(pool.patterns)
        if prices.hosts.sum() <= FEW * ENOUGH:
            few = _nearly_paying(pool, prices)
            last = _integer(left, few)
            if last is not None:
                for pattern, n in zip(few, last, strict=True):
                    if n:
                        hosts[len(patterns)] = int(n)
                        patterns.append(pattern)
                break
        total = float(prices.hosts.sum())
        step = np.floor(prices.hosts * max(0.0, 1 - FEW / total) + TINY).astype(int)
        if not step.any():
            step = np.floor(prices.hosts + TINY).astype(int)
        if not step.any():
            if not prices.hosts.any():
                return None
            step[int(np.argmax(prices.hosts))] = 1
        for pattern, n in zip(known, step, strict=True):
            if n:
                hosts[len(patterns)] = int(n)
                patterns.append(pattern)
                rest = np.maximum(rest - n * pattern.per_class, 0.0)
                m = most[pattern.kind]
                most[pattern.kind] = None if m is None else m - int(n)
    return _trimmed(market, patterns, np.array([hosts[i] for i in range(len(patterns))], dtype=int))


def _nearly_paying(pool: Pool, prices: Prices) -> list[Pattern]:
    """The patterns that could be of use to the last hosts: those in use, and for each kind the best of all the others.

    Whole numbers need fillings that do not pay in fractions, of smaller hosts above all.
    """
    market = pool.market
    for row, counts in market.greedy(prices.vm, draw=0, copies=COPIES):
        if counts.any():
            pool.add(market.rows[row].kind, counts)
    hosts = np.concatenate([prices.hosts, np.zeros(len(pool.patterns) - len(prices.hosts))])
    lost: dict[int, list[tuple[float, int]]] = {}
    for i, p in enumerate(pool.patterns):
        worth = float(prices.vm @ p.per_class + prices.kind[p.kind])
        lost.setdefault(p.kind, []).append((0.0 if hosts[i] > TINY else p.cost - worth, i))
    kept = sorted(i for some in lost.values() for _, i in sorted(some)[:LAST_PATTERNS])
    return [pool.patterns[i] for i in kept]


def good(market: Market, cost: float, bound: float) -> bool:
    """Whether an answer is so close to the bound that no more effort is spent."""
    return cost - bound <= _allowed(market, cost)


def _allowed(market: Market, cost: float) -> float:
    """What an answer may cost above its bound: a share, but of a few hundred hosts one is all that can be asked."""
    unit = max((kind.cost for kind in market.kinds), default=0.0)
    return max(unit if unit > 2 * GOOD * cost else 0.0, GOOD * cost)


def polish(market: Market, found: Found, answer: Answer) -> Answer:
    """Place the most wasteful hosts anew, together with some others, while that is worth it.

    What a host wastes is its cost less the worth of its VMs at the prices of the programme: all waste together is what
    the answer costs above the bound.  Hosts that run already are left as they are.
    """
    if any(kind.today is not None or kind.most is not None for kind in market.kinds):
        return answer
    unit = max(kind.cost for kind in market.kinds)
    prices = programme(market, found.patterns, unit * MISSING)
    kind_of = {id(kind.room): kind for kind in market.kinds}
    random = np.random.default_rng(SEED)
    for _ in range(POLISHES):
        cost, groups, chosen = answer
        if good(market, cost, found.bound) or cost - found.value <= _allowed(market, cost) / 2:
            break  # in the second case it is the bound that is loose
        hosts = [(g.room, g.counts) for g in groups for _ in range(g.hosts)]
        waste = np.array(
            [kind_of[id(r)].cost - float(prices.vm @ market.per_class(c)) for r, c in hosts]
        ) + random.normal(0.0, TINY * unit, len(hosts))
        order = np.argsort(-waste)
        worst, rest = order[: FRESH // 2], order[FRESH // 2 :]
        taken = {int(i) for i in (*worst, *random.choice(rest, min(FRESH // 2, len(rest)), replace=False))}
        some = np.zeros(market.classes)
        for i in taken:
            some += market.per_class(hosts[i][1])
        before = sum(kind_of[id(hosts[i][0])].cost for i in taken)
        again = dive(Market(market.kinds, market.wants, some), found)
        if again is not None and again[0] < before - TINY * unit:
            kept = [Group(room=r, hosts=1, counts=c) for i, (r, c) in enumerate(hosts) if i not in taken]
            answer = (cost - before + again[0], _merged([*kept, *again[1]]), chosen)
    return answer


def _merged(groups: Sequence[Group]) -> tuple[Group, ...]:
    """Equal hosts as one group."""
    found: dict[tuple[int, bytes], Group] = {}
    for g in groups:
        key = (id(g.room), g.counts.tobytes())
        known = found.get(key)
        found[key] = g if known is None else replace(known, hosts=known.hosts + g.hosts)
    return tuple(found.values())


def _integer(market: Market, patterns: Sequence[Pattern]) -> Array | None:
    """The last hosts by an integer programme; its effort is bounded by nodes, not by time."""
    cost = np.array([p.cost for p in patterns])
    where = np.array([p.kind for p in patterns])
    lines = [LinearConstraint(np.array([p.per_class for p in patterns]).T, market.demand, np.inf)]
    for k, kind in enumerate(market.kinds):
        if kind.most is not None:
            least = float(kind.most) if kind.today is not None else 0.0
            lines.append(LinearConstraint((where == k).astype(float)[None, :], least, float(kind.most)))
    solved = milp(
        cost,
        constraints=lines,
        integrality=np.ones(len(patterns)),
        bounds=Bounds(0, np.inf),
        options={"mip_rel_gap": LAST_GAP, "node_limit": LAST_NODES},
    )
    return None if solved.x is None else np.rint(solved.x).astype(int)


def _trimmed(market: Market, patterns: Sequence[Pattern], hosts: Array) -> Answer:
    """Take out the VMs that cover a class more than once, from new hosts first, and hosts that become empty."""
    groups = [[p, int(h), p.counts.copy()] for p, h in zip(patterns, hosts, strict=True) if h > 0]
    over = -market.demand.astype(int)
    for _, h, counts in groups:
        over = over + h * market.per_class(counts).astype(int)
    out: list[tuple[int, int, Array]] = []
    # hosts that run already keep their VMs: what leaves them is a move
    order = sorted(range(len(groups)), key=lambda i: (market.kinds[groups[i][0].kind].today is not None, i))
    for i in order:
        pattern, h, counts = groups[i]
        pieces = [(h, counts)]
        if market.kinds[pattern.kind].today is not None:
            pieces = _eased(market, pattern.kind, h, counts, over)
        for n, some in pieces:
            out.extend((pattern.kind, m, c) for m, c in _thin(market, pattern.kind, n, some, over))
    found: dict[tuple[int, bytes], int] = {}
    kept: dict[tuple[int, bytes], Array] = {}
    for kind, n, counts in out:
        if counts.any() or market.kinds[kind].today is not None:
            key = (kind, counts.tobytes())
            found[key] = found.get(key, 0) + n
            kept[key] = counts
    made = tuple(Group(room=market.kinds[k].room, hosts=n, counts=kept[k, b]) for (k, b), n in found.items())
    cost = sum(n * market.kinds[k].cost_of(market.per_class(kept[k, b])) for (k, b), n in found.items())
    live = np.flatnonzero(market.wants.limits.max(axis=1) > 0)
    chosen = [int(next(o for o in live if market.wants.vm[o] == c)) for c in range(market.classes)]
    return float(cost), made, chosen


def _eased(market: Market, kind: int, hosts: int, counts: Array, over: Array) -> list[tuple[int, Array]]:
    """Take surplus VMs out of running hosts as long as nothing that runs there has to leave."""
    today = market.kinds[kind].today
    if today is None:
        return [(hosts, counts)]
    out: list[tuple[int, Array]] = []
    for done in range(hosts):
        spare = np.maximum(market.per_class(counts) - today, 0).astype(int)
        less = np.minimum(spare, np.maximum(over, 0))
        if not less.any():
            return [*out, (hosts - done, counts)]
        thinner = counts.copy()
        for option in np.flatnonzero(thinner):
            k = int(min(thinner[option], less[market.wants.vm[option]]))
            thinner[option] -= k
            less[market.wants.vm[option]] -= k
            over[market.wants.vm[option]] -= k
        out.append((1, thinner))
    return out


def _thin(market: Market, kind: int, hosts: int, counts: Array, over: Array) -> list[tuple[int, Array]]:
    """Take surplus VMs out of a group, host by host, emptying whole hosts first; `over` is counted down."""
    per_class = market.per_class(counts).astype(int)
    present = per_class > 0
    out: list[tuple[int, Array]] = []
    whole_hosts = int(min(hosts, (over[present] // per_class[present]).min())) if present.any() else 0
    if whole_hosts > 0:
        over -= whole_hosts * per_class
        hosts -= whole_hosts
        out.append((whole_hosts, np.zeros_like(counts)))
    while hosts > 0 and (over[present] > 0).any():
        thinner = counts.copy()
        for option in np.flatnonzero(thinner):
            less = int(min(thinner[option], max(over[market.wants.vm[option]], 0)))
            thinner[option] -= less
            over[market.wants.vm[option]] -= less
        hosts -= 1
        out.append((1, thinner))
    if hosts > 0:
        out.append((hosts, counts))
    return out
