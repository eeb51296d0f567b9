"""The nearest change of a fleet file that lets a class take a path: found by arithmetic, and tried before it is told.

Of the requirements that can give way the one that needs least is taken, as a ratio, and the fleet with the change in
force is asked as any other would be. Where no single one is enough several give way together.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from vmodel.library import tables
from vmodel.plan.change import Change, changed, gbps
from vmodel.plan.fleet import Fleet
from vmodel.plan.options import QUIET, accepts, needs_of
from vmodel.plan.respond import respond
from vmodel.plan.room import MEMORY, VFS
from vmodel.plan.trial import (
    CONFIDENCE,
    FUNCTIONS,
    IDLE_PER_S,
    LATENCY,
    LOSS,
    MEMORY_SIZE,
    RATE,
    SETTINGS,
    VCPUS,
    Trial,
    subsets,
    without,
)
from vmodel.solve.gamma_law import normal_cdf
from vmodel.units import BYTES_PER_GIB, BYTES_PER_MIB, US_PER_S

LEAST_SHARE, STEPS = 1 / 256, 25  # of the rate, at which a smaller one is sought; and as often between two of them
LEVEL_DIGITS = 3
CONFIDENCE_STEP, HALVINGS, EVEN = 0.005, 12, 0.5
GIVEN_AWAY = 1.0  # added to the distance of what is bought, or left to the planner
ROUNDS = 5
LADDER, RATE_HALVINGS = (1.0, 0.5, 0.25, 0.1, 0.03, 0.01, 0.003), 3  # of the rate that would do with today's errors
FIRST = (SETTINGS, RATE, VCPUS, MEMORY_SIZE, FUNCTIONS, LOSS, CONFIDENCE, LATENCY)  # the last make up for all others
MOST_LOSS = 0.499  # what a file may ask for
LEAST_NIC_BPS = 10e9
NIC_STEPS_BPS = (10e9, 25e9, 100e9, 400e9)
TOPOLOGIES = ("cross-host-vm", "host-vm", "cross-vm-vm", "vm-vm")


@dataclass(frozen=True, slots=True, order=True)
class Offer:
    """A change and how far it goes: the ratio of what is asked to what could be had, as a logarithm."""

    distance: float
    text: str
    change: Change


def mend(fleet: Fleet, place: int, path: str, first: Trial | None = None) -> tuple[Change, ...]:
    """The changes that together let a class take a path; empty where none was found.

    first: what is known of the class on this path already.
    """
    changes: list[Change] = []
    for _ in range(ROUNDS):
        there = changed(fleet, changes)
        if changes and accepts(there, place, path):
            return tuple(changes)
        step = _ends(there, place, path)
        if step is None:
            trial = Trial.of(there, place, path) if changes or first is None else first
            step = _nearest(there, place, path, trial)
        if step is None or step in changes:
            return ()
        changes.append(step)
    return tuple(changes) if accepts(changed(fleet, changes), place, path) else ()


def _ends(fleet: Fleet, place: int, path: str) -> Change | None:
    """What the path itself asks for: that nobody has to migrate, and other ends."""
    vm, end = fleet.vm[place], tables.endpoint(path)
    if vm.must_migrate and not end.migrates:
        return Change(table="vm", name=vm.name, key="must_migrate", value=False)
    if vm.topology not in end.topologies:
        other = next((t for t in TOPOLOGIES if t in end.topologies), None)
        return None if other is None else Change(table="vm", name=vm.name, key="topology", value=other)
    return None


def _nearest(fleet: Fleet, place: int, path: str, trial: Trial) -> Change | None:
    """The change that goes least far of those that do; where one alone does not, the first of those that must."""
    everything = trial.requirements
    able = [r for r in sorted(everything) if trial.feasible(everything - {r})]
    offers = [o for r in able if r != RATE for o in _offers(trial, everything, r)]
    offers += _lower_rate(fleet, trial) if RATE in able else []
    for offer in sorted(offers):
        if accepts(changed(fleet, [offer.change]), place, path):
            return offer.change
    for given in subsets(everything):  # several must give way: one of them now, the others after it
        if len(given) > 1 and trial.feasible(everything - given):
            for requirement in sorted(given, key=FIRST.index):
                for offer in sorted(_offers(trial, everything - given | {requirement}, requirement)):
                    return offer.change
    return next((o.change for o in _bought(trial) if _stands(changed(fleet, [o.change]), place, path)), None)


def _lower_rate(fleet: Fleet, trial: Trial) -> list[Offer]:
    """The largest rate that is accepted, by trying: the model's errors depend on the load."""
    share = _least_rate(trial, trial.requirements)

    def does(part: float) -> bool:
        offer = _offer(0.0, trial, "rate", _rate(trial, part))
        return accepts(changed(fleet, [offer.change]), trial.case.place, trial.case.path)

    low = next((share * part for part in LADDER if share and does(share * part)), 0.0)
    if low in (0.0, share):
        return [] if not low else [_offer(-math.log(low), trial, "rate", _rate(trial, low))]
    high = next(share * a for a, b in pairwise(LADDER) if share * b == low)
    for _ in range(RATE_HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if does(middle) else (low, middle)
    return [_offer(-math.log(low), trial, "rate", _rate(trial, low))]


def _stands(fleet: Fleet, place: int, path: str) -> bool:
    """Whether there is a host type for a path at all."""
    return Trial.of(fleet, place, path).feasible(frozenset())


def _offer(distance: float, trial: Trial, key: str, value: object) -> Offer:
    change = Change(table="vm", name=trial.vm.name, key=key, value=value)
    return Offer(distance, change.text(trial.vm.name), change)


def _offers(trial: Trial, kept: frozenset[str], requirement: str) -> Iterator[Offer]:
    """How far one requirement must give way while the others that are kept stay."""
    trial = trial.under(kept)
    vm = trial.vm
    if requirement == LATENCY and vm.latency:
        needed = trial.least_latency(kept)[0]
        if math.isfinite(needed):
            yield _offer(math.log(max(needed / vm.latency, 1.0)), trial, "latency", f"{_up(needed * US_PER_S)}us")
    elif requirement == RATE:
        share = _least_rate(trial, kept)
        if share > 0:
            yield _offer(-math.log(share), trial, "rate", _rate(trial, share))
    elif requirement == LOSS:
        lost = _loss(trial, kept)
        if lost is not None:
            yield _offer(math.log(max(lost / vm.loss, 1.0)), trial, "loss", lost)
    elif requirement == CONFIDENCE:
        given = _confidence(trial, kept)
        if given is not None:
            change = Change(table="rules", name="", key="confidence", value=given)
            yield Offer(-math.log(given), change.text(), change)
    elif requirement == SETTINGS:
        yield _offer(GIVEN_AWAY, trial, "settings", {})
    else:
        yield from _sizes(trial, kept, requirement)


def _sizes(trial: Trial, kept: frozenset[str], requirement: str) -> Iterator[Offer]:
    """A smaller VM, or a larger host."""
    vm = trial.vm
    limits, needs, others = trial.limits(kept), trial.needs(kept), trial.needs(kept - {requirement})
    rows = [(s, h, room) for s, h, room in trial.places() if room.fits(others[s, h], limits[s, h])]
    if requirement == VCPUS:
        used = [(room.cores_needed(needs[s, h], limits[s, h]), h, room) for s, h, room in rows]
        most = max((int((room.cores - n) * trial.case.overcommit + vm.vcpus) for n, _, room in used), default=0)
        if 0 < most < vm.vcpus:
            yield _offer(math.log(vm.vcpus / most), trial, "vcpus", most)
        for n, h, room in sorted(used, key=lambda row: row[0] - row[2].cores)[:1]:
            more = math.ceil(n - room.cores - 1e-9)
            host = trial.case.hosts[h]
            yield _bigger(trial, h, "cores", host.cores + more, math.log((room.cores + more) / max(room.cores, 1.0)))
    elif requirement == MEMORY_SIZE and rows:
        most_memory = max(room.capacity[MEMORY] for _, _, room in rows)
        yield _offer(math.log(vm.memory / most_memory), trial, "memory", f"{int(most_memory / BYTES_PER_MIB)}MiB")
        h = max(rows, key=lambda row: row[2].capacity[MEMORY])[1]
        size = f"{math.ceil(vm.memory / BYTES_PER_GIB)}GiB"
        yield _bigger(trial, h, "memory", size, math.log(vm.memory / most_memory))
    elif requirement == FUNCTIONS:
        yield from _functions(trial)


def _bigger(trial: Trial, h: int, key: str, value: object, distance: float) -> Offer:
    change = Change(table="host", name=trial.case.hosts[h].name, key=key, value=value)
    return Offer(distance + GIVEN_AWAY, change.text(), change)


def _functions(trial: Trial) -> Iterator[Offer]:
    """Host types with functions, or with one more adapter to give away."""
    wants_function = bool(trial.case.needs(1.0)[:, :, VFS].any())
    for h, host in enumerate(trial.case.hosts):
        nics = [nic.model_dump(exclude_none=True) for nic in host.nics]
        for nic in nics:
            nic["rate"] = gbps(nic["rate"])
        if not nics:
            continue
        nics[0] |= {"vfs": max(1, nics[0]["vfs"])} if wants_function else {"count": nics[0]["count"] + 1}
        yield _bigger(trial, h, "nics", nics, 0.0)


def _bought(trial: Trial) -> Iterator[Offer]:
    """Where no requirement that gives way helps: a host type with a faster adapter, one function on it."""
    for bps in NIC_STEPS_BPS:
        for h, host in enumerate(trial.case.hosts):
            if bps > max((nic.rate for nic in host.nics), default=0.0):
                nics = [{"rate": gbps(bps), "vfs": max((n.vfs for n in host.nics), default=0) or 1}]
                yield _bigger(trial, h, "nics", nics, math.log(bps / LEAST_NIC_BPS))


def _up(value: float) -> str:
    """A number that is enough, with few digits."""
    unit = 10.0 ** (math.floor(math.log10(value)) - LEVEL_DIGITS + 1)
    return f"{float(f'{math.ceil(value / unit * (1 - 1e-12)) * unit:.{LEVEL_DIGITS + 1}g}'):.12g}"


def _down(value: float) -> float:
    unit = 10.0 ** (math.floor(math.log10(value)) - LEVEL_DIGITS + 1)
    return float(f"{math.floor(value / unit * (1 + 1e-12)) * unit:.{LEVEL_DIGITS + 1}g}")


def _rate(trial: Trial, share: float) -> str:
    """A share of the rate as the file has it: of today's traffic, in bits where it was asked in bits."""
    kind, value = trial.vm.rate
    if kind == "throughput_bps":
        return gbps(_down(share * value))
    return f"{_down(share * value):.12g}{'pps' if trial.vm.workload == 'packets' else '/s'}"


def _least_rate(trial: Trial, kept: frozenset[str]) -> float:
    """The largest share of the rate that could be had; zero where not even the smallest tried can."""
    least = min(LEAST_SHARE, IDLE_PER_S / float(trial.case.answers.rate_per_s.max()))
    shares = tuple(float(x) for x in np.geomspace(least, 1.0, STEPS))
    good = _carried(trial, kept, shares)
    if good in (0.0, shares[-1]):
        return good
    closer = np.geomspace(good, shares[shares.index(good) + 1], STEPS)
    return max(good, _carried(trial, kept, (*(x for x in shares if x < good), *map(float, closer))))


def _carried(trial: Trial, kept: frozenset[str], shares: tuple[float, ...]) -> float:
    case = trial.case
    hosts, loads = len(case.hosts), len(QUIET)
    asked = [
        replace(case.asked[(s * hosts + h) * loads + loads - 1], factor=case.asked[loads - 1].factor * x)
        for s in range(len(case.settings))
        for h in range(hosts)
        for x in shares
    ]
    wide = replace(case, answers=respond(asked), asked=tuple(asked))
    there = replace(trial, case=wide)
    limits = wide.limits_by_load(there.goal(kept))
    work = wide.rows(trial.factors(kept)[1])
    needs = without(needs_of(wide.answers, asked, work, case.overcommit), kept).reshape(*limits.shape, -1)
    good = [
        x
        for k, x in enumerate(shares)
        if any(room.fits(needs[s, h, k], limits[s, h, : k + 1].min()) for s, h, room in trial.places())
    ]
    return max(good, default=0.0)


def _loss(trial: Trial, kept: frozenset[str]) -> float | None:
    """The least loss that must be allowed, by halving; None where half of all is not enough."""

    def able(loss: float) -> bool:
        vm = trial.vm.model_copy(update={"loss": loss})
        return replace(trial, case=replace(trial.case, vm=vm)).feasible(kept)

    low, high = math.log(trial.vm.loss), math.log(MOST_LOSS)
    if not able(math.exp(high)):
        return None
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if able(math.exp(middle)) else (middle, high)
    return min(float(_up(math.exp(high))), MOST_LOSS)


def _confidence(trial: Trial, kept: frozenset[str]) -> float | None:
    """The confidence with which it could be had, by halving; None below an even chance."""

    def able(z: float) -> bool:
        return replace(trial, case=replace(trial.case, z=z)).feasible(kept)

    low, high = 0.0, trial.case.z
    if not able(0.0):
        return None
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if able(middle) else (low, middle)
    return max(EVEN, round(math.floor(float(normal_cdf(low)) / CONFIDENCE_STEP) * CONFIDENCE_STEP, LEVEL_DIGITS))
