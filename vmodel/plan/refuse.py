"""Why a class cannot take a path: what binds, needed against available, the smallest conflict, the nearest change."""

from collections.abc import Sequence

import numpy as np

from vmodel.library import tables
from vmodel.plan.change import Change, distance, gbps, texts
from vmodel.plan.fleet import USUAL_PATHS, Fleet
from vmodel.plan.mend import mend
from vmodel.plan.options import Asking, Case, Errors, accepts
from vmodel.plan.records import Catalogue, Refusal
from vmodel.plan.room import CORES, MEMORY, NIC_IN, NIC_OUT, TITLES, VCPU
from vmodel.plan.trial import CONFIDENCE, LATENCY, ORDER, Trial, smallest_conflict
from vmodel.solve import solver
from vmodel.units import format_bytes, format_rate, format_seconds

MIGRATION, MUST_MIGRATE = "live migration", "must_migrate"
OTHERS = (*USUAL_PATHS, "macvtap-vhost", "vdpa", "pf", "virtio-qemu")  # paths that are offered to a class without one
OFFERS, TWO = 3, 2  # changes that are told of a class; adapters of a host that may lose one
KEPT_DIGITS = 4
HINTS = {CONFIDENCE: ", or measurements of your own (vmodel fit)"}  # what does the same without a change of the file


def refuse_path(fleet: Fleet, place: int, path: str, *, freed: bool = False) -> Refusal:
    """What rules a path out before any number is looked at.

    freed: the class could take it if it did not have to migrate, which is known already.
    """
    vm, end = fleet.vm[place], tables.endpoint(path)
    if vm.must_migrate and not end.migrates:
        resource, requirement = MIGRATION, MUST_MIGRATE
        because = "a guest that drives a NIC function itself cannot move while it runs"
    else:
        resource, requirement = "topology", "topology"
        because = f"{path} does not join the ends of {vm.topology}"
    changes: tuple[Change, ...] = (Change(table="vm", name=vm.name, key=MUST_MIGRATE, value=False),)
    changes = changes if freed else mend(fleet, place, path)
    return Refusal(
        what=vm.name,
        path=path,
        resource=resource,
        needed=1.0,
        available=0.0,
        unit="",
        conflict=(requirement, f"path {path}"),
        change=told(changes, vm.name),
        mend=changes,
        because=because,
    )


def told(changes: Sequence[Change], about: str) -> str:
    """Changes in words."""
    hints = "".join(HINTS.get(change.key, "") for change in changes)
    return texts(changes, about) + hints if changes else "another path"


def refuse(ask: Asking, case: Case, errors: Errors) -> Refusal:
    """The reason why no settings of a case do."""
    trial = Trial(ask=ask, case=case, errors=errors)
    conflict = trial.conflict()
    changes = mend(ask.fleet, case.place, case.path, trial)
    trial = trial.under(conflict)
    named = tuple(r for r in ORDER if r in conflict) or ("host types",)
    if LATENCY in conflict:
        resource, needed, available, unit, because = _late(trial, conflict)
    elif not (trial.limits(conflict) > 0).any():
        resource, needed, available, unit, because = _overrun(trial, conflict)
    else:
        resource, needed, available, unit, because = _full(trial, conflict)
    return Refusal(
        what=case.vm.name,
        path=case.path,
        resource=resource,
        needed=needed,
        available=available,
        unit=unit,
        conflict=named,
        change=told(changes, case.vm.name),
        mend=changes,
        because=because,
    )


def refuse_class(known: Catalogue, place: int) -> Refusal:
    """Why a class can take none of its paths: the fewest requirements that rule all of them out, the nearest change."""
    fleet, vm = known.fleet, known.fleet.vm[place]
    reasons = [r for r in known.refusals if r.what == vm.name]
    trials = {p: Trial.of(fleet, place, p) for p in vm.paths if vm.topology in tables.endpoint(p).topologies}
    asked = frozenset[str]().union(*(trial.requirements for trial in trials.values()))
    asked |= {MUST_MIGRATE} if vm.must_migrate else frozenset()

    def possible(kept: frozenset[str]) -> bool:
        return any(
            trial.feasible(kept) for path, trial in trials.items()
            if MUST_MIGRATE not in kept or tables.endpoint(path).migrates
        )  # fmt: skip

    conflict = smallest_conflict(asked, possible)
    named = [r for r in (*ORDER, MUST_MIGRATE) if r in conflict]
    other = next((p for p in OTHERS if p not in vm.paths and accepts(fleet, place, p)), None)
    offers = [(distance(fleet, r.mend), r.mend, r.change, r.path) for r in reasons if r.mend]
    if other is not None:
        change = Change(table="vm", name=vm.name, key="paths", value=(*vm.paths, other))
        offers.append((1.0, (change,), change.text(vm.name), None))
    offers.sort(key=lambda offer: offer[0])
    said = [f"{text}, which leaves {path}" if path else text for _, _, text, path in offers[:OFFERS]]
    nearest = min((r for r in reasons if r.resource != MIGRATION), key=lambda r: len(r.conflict), default=reasons[0])
    return Refusal(
        what=vm.name,
        path=None,
        resource=nearest.resource,
        needed=nearest.needed,
        available=nearest.available,
        unit=nearest.unit,
        conflict=(*(named or ["host types"]), "paths"),
        change="; or ".join(said) or "another host type",
        mend=offers[0][1] if offers else (),
        because="none of its paths is left",
    )


def refuse_failed(known: Catalogue, place: int) -> Refusal:
    """Why a class has no place on any host type once an adapter has failed, though it has one before."""
    vm = known.fleet.vm[place]
    hosts = [h for h in known.fleet.host if sum(nic.count for nic in h.nics) < TWO] or list(known.fleet.host)
    nics = [nic.model_dump(exclude_none=True) | {"rate": gbps(nic.rate)} for nic in hosts[0].nics]
    nics[0]["count"] += 1
    change = Change(table="host", name=hosts[0].name, key="nics", value=nics)
    return Refusal(
        what=vm.name,
        path=None,
        resource="adapters",
        needed=1.0,
        available=0.0,
        unit="",
        conflict=("rules.n_minus_1", "nics"),
        change=f"host types with one more adapter ({change.text()})",
        mend=(change,),
        because="none of its paths is left once an adapter has failed",
    )


Reason = tuple[str, float, float, str, str]  # resource, needed, available, unit, because


def _late(trial: Trial, conflict: frozenset[str]) -> Reason:
    case = trial.case
    available, asked = trial.least_latency(conflict)
    p = solver.predict(asked.scenario())
    longest = max(p.shares, key=lambda share: share.seconds)
    name = longest.resource or longest.stage.replace("_", " ")
    safe = f" on the safe side of {case.z:.2f} standard deviations" if CONFIDENCE in conflict else ""
    because = (
        f"p{case.vm.percentile:g} of one VM alone is {format_seconds(available)}{safe}, "
        f"{format_seconds(longest.seconds)} of the mean in {longest.stage}"
    )
    resource = "interrupt moderation" if longest.stage == "moderation_wait" else name
    return resource, float(case.vm.latency or 0.0), available, "s", because


def _overrun(trial: Trial, conflict: frozenset[str]) -> Reason:
    case = trial.case
    rows = np.arange(len(case.asked)).reshape(case.shape)[:, :, -1].reshape(-1)
    capacity = (case.answers.capacity_per_s / case.rows(trial.factors(conflict)[1]))[rows]
    row = int(rows[int(np.argmax(capacity))])
    p = solver.predict(case.asked[row].scenario())
    needed, available = float(case.answers.rate_per_s[row]), float(capacity.max())
    mending = f", {p.bottleneck} first" if p.bottleneck else ""
    because = f"one VM carries {format_rate(available, unit='/s')} of {format_rate(needed, unit='/s')}{mending}"
    return p.bottleneck, needed, min(available, needed), "/s", because


def _full(trial: Trial, conflict: frozenset[str]) -> Reason:
    """No host type holds one VM."""
    limits, needs = trial.limits(conflict), trial.needs(conflict)
    found = []
    for s, h, room in trial.places():
        if limits[s, h] > 0:
            pressure, name = room.pressure(needs[s, h], limits[s, h])
            missing = (needs[s, h][column_of(name)], 0.0, 0.0)
            used, usable, _ = room.shares(needs[s, h], limits[s, h]).get(name, missing)
            found.append((pressure, h, name, float(used), float(usable)))
    _, h, name, used, usable = min(found)
    because = (
        f"one VM needs {_written(name, used)} of {name}, host type {trial.rooms[h].name} has {_written(name, usable)}"
    )
    return name, used, usable, unit_of(name), because


def column_of(name: str) -> int:
    """The column of a resource by its title."""
    return VCPU if name == CORES else TITLES.index(name)


def unit_of(name: str) -> str:
    """The unit in which a resource is counted."""
    return {TITLES[MEMORY]: "B", TITLES[NIC_IN]: "bit/s", TITLES[NIC_OUT]: "bit/s"}.get(name, "")


def _written(name: str, value: float) -> str:
    return format_bytes(value) if name == TITLES[MEMORY] else f"{value:.{KEPT_DIGITS}g}"
