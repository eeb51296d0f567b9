"""A plan as the JSON record and as lines for a person: what goes where, what binds next, what was refused and why."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from vmodel.plan.busy import Busy
from vmodel.plan.fleet import LARGEST_COUNT
from vmodel.plan.plan import Plan
from vmodel.plan.records import Group, Option, Refusal
from vmodel.plan.room import MEMORY, NIC_IN, NIC_OUT, TITLES
from vmodel.report.tables import aligned, markdown
from vmodel.report.text import knob_text
from vmodel.units import (
    BYTES_PER_GIB,
    US_PER_S,
    format_bitrate,
    format_bytes,
    format_rate,
    format_seconds,
    format_share,
)

KEPT_DIGITS = 9
SHOWN_PATTERNS, SHOWN_REFUSALS = 12, 24
WIDTH = 118


def _number(x: float | None) -> float | None:
    return None if x is None or not math.isfinite(x) else float(f"{x:.{KEPT_DIGITS}g}")


def refusal_json(r: Refusal) -> dict[str, Any]:
    """One refusal."""
    return {
        "what": r.what,
        "path": r.path,
        "resource": r.resource,
        "needed": _number(r.needed),
        "available": _number(r.available),
        "unit": r.unit or None,
        "conflict": list(r.conflict),
        "nearest_change": r.change,
        "mend": [{"table": c.table, "name": c.name or None, "key": c.key, "value": c.value} for c in r.mend],
        "because": r.because,
    }


def chosen_options(p: Plan) -> list[Option]:
    """The option of each class, where there is a placement."""
    return [] if p.placement is None else [p.known.options[o] for o in p.placement.chosen]


def resources(p: Plan, group: Group) -> dict[str, tuple[float, float, float]]:
    """Resource of one host of a group -> used, usable at the level of its most delicate VM, there."""
    return group.room.shares(p.known.wants.use(group.room, group.counts), p.known.wants.level(group.room, group.counts))


def _classes_json(p: Plan) -> list[dict[str, Any]]:
    out = []
    for option in chosen_options(p):
        vm, index = option.vm, p.known.options.index(option)
        met = [s for s in p.standings if s.option == index]
        worst = max((s.latency_s for s in met), default=None)
        limits = p.known.wants.limits[index]
        out.append(
            {
                "name": vm.name,
                "count": vm.count,
                "path": option.path,
                "settings": dict(option.settings),
                "latency_us": {
                    "percentile": vm.percentile,
                    "objective": None if vm.latency is None else _number(vm.latency * US_PER_S),
                    "predicted": _number((worst or 0.0) / option.latency_factor * US_PER_S) if worst else None,
                    "safe_side": None if worst is None else _number(worst * US_PER_S),
                },
                "safe_side": {"latency": _number(option.latency_factor), "work": _number(option.load_factor)},
                "busy_limit": {
                    room.name: _number(float(limits[room.type])) for room in p.known.rooms if limits[room.type] > 0
                },
                "why_no_busier": next((busy_text(b) for b in p.busy if b.option is option), None),
                "standing": option.prediction.standing,
                "profile": option.prediction.scenario.profile.name,
            }
        )
    return out


def _placement_json(p: Plan) -> list[dict[str, Any]]:
    out = []
    for g in p.groups:
        out.append(
            {
                "host": g.room.name,
                "hosts": g.hosts,
                "vms": {p.known.options[o].vm.name: int(n) for o, n in enumerate(g.counts) if n},
                "resources": {
                    name: {"used": _number(used), "usable": _number(usable), "there": _number(there)}
                    for name, (used, usable, there) in resources(p, g).items()
                },
            }
        )
    return out


def plan_json(p: Plan) -> dict[str, Any]:
    """The record of `plan --json`."""
    placed = p.placement
    return {
        "title": p.fleet.title or None,
        "feasible": p.feasible,
        "minimise": p.fleet.rules.minimise,
        "confidence": p.fleet.rules.confidence,
        "planned_load_factor": _number(p.known.factor),
        "hosts": host_counts(p),
        "total_hosts": sum(g.hosts for g in p.groups if g.counts.any() or not p.ran(g)),
        "cost": None if placed is None else _number(placed.cost),
        "price": _number(p.price) if placed is not None else None,
        "watts": _number(p.watts) if placed is not None else None,
        "bound": None if placed is None else _number(placed.bound + 0.0),
        "gap": None if placed is None else _number(placed.gap),
        "first_fit_decreasing": None if placed is None else _number(placed.first_fit),
        "moves": None if placed is None else placed.moves,
        "spare_hosts": dict(p.spares),
        "classes": _classes_json(p),
        "placement": _placement_json(p),
        "load": {name: {"busiest": _number(b), "mean": _number(m)} for name, (b, m) in loads(p).items()},
        "next_bottleneck": None
        if p.bottleneck is None
        else {
            "resource": p.bottleneck.resource or None,
            "host": p.bottleneck.host or None,
            "at_load_factor": _number(p.bottleneck.factor),
            "years": _number(p.bottleneck.years),
        },
        "failures": [
            {
                "what": f.what,
                "host": f.host,
                "hosts": f.hosts,
                "displaced": f.displaced,
                "holds": f.holds,
                "without_place": {p.known.options[o].vm.name: n for o, n in f.left.items()},
                "resource": f.resource or None,
            }
            for f in p.failures
        ],
        "chance": None
        if p.chance is None
        else {
            "draws": p.chance.draws,
            "every_objective": _number(p.chance.plan),
            "classes": {name: _number(x) for name, x in p.chance.per_class.items()},
            "hosts_short": _number(p.chance.short),
        },
        "without_migration": None
        if p.unbound is None
        else {"cost": _number(p.unbound.cost), "paths": dict(p.unbound.paths)},
        "candidates": [
            {
                "demand_quantile": c.quantile,
                "hosts": c.hosts,
                "cost": _number(c.cost),
                "chance": _number(c.chance),
                "mean_regret": _number(c.mean_regret),
                "regret_95": _number(c.worst_regret),
            }
            for c in p.candidates
        ],
        "measured": [
            {"running": m.name, "resource": m.resource, "measured": m.measured, "explained": _number(m.explained),
             "kept_free": _number(m.kept)}
            for m in p.measured
        ],
        "refusals": [refusal_json(r) for r in p.refusals],
        "notes": list(p.notes),
        "warnings": warnings_of(p),
        "sources": sorted({source for o in chosen_options(p) for source in o.prediction.sources}),
    }  # fmt: skip


def host_counts(p: Plan) -> dict[str, int]:
    """Hosts of each kind, spares included."""
    out: dict[str, int] = {}
    for g in p.groups:
        out[g.room.name] = out.get(g.room.name, 0) + g.hosts
    return out


def loads(p: Plan) -> dict[str, tuple[float, float]]:
    """Resource -> share of what is usable on the busiest host, and the mean over hosts in use."""
    out: dict[str, list[tuple[float, int]]] = {}
    for g in p.groups:
        if g.counts.any():
            for name, (used, usable, _) in resources(p, g).items():
                if usable > 0:
                    out.setdefault(name, []).append((used / usable, g.hosts))
    return {
        name: (max(s for s, _ in rows), sum(s * n for s, n in rows) / sum(n for _, n in rows))
        for name, rows in out.items()
        if any(s > 0 for s, _ in rows)
    }


def warnings_of(p: Plan) -> list[str]:
    """What the model says aloud of the answers a plan rests on, once each, with the classes."""
    found: dict[str, list[str]] = {}
    for o in chosen_options(p):
        for warning in o.prediction.warnings:
            found.setdefault(warning, []).append(o.vm.name)
    return [f"{', '.join(names)}: {warning}" for warning, names in found.items()]


def busy_text(b: Busy) -> str:
    """Why cores, adapters and buses beside a class may be so busy and no busier."""
    vm, head = b.option.vm, f"{b.option.vm.name}: shared things may be {format_share(b.level)} busy"
    if vm.latency is None:
        return f"{head}: no latency objective" + ("" if b.above is None else ", its loss binds")
    here = f"p{vm.percentile:g} is at most {format_seconds(b.latency_s)} there"
    if b.above is None or b.above_s is None:
        return f"{head}, as busy as can be: {here}"
    if not b.binds:
        return f"{head}: {here}; its loss binds, or waits among neighbours"
    told = format_seconds(b.above_s) if math.isfinite(b.above_s) else "without end"
    return f"{head}: {here}, {told} at {format_share(b.above)}, beyond {format_seconds(vm.latency)}"


def settings_text(settings: Sequence[tuple[str, float]]) -> str:
    """Settings as a person writes them."""
    return ", ".join(f"{name} {knob_text(name, value)}" for name, value in settings) or "defaults"


def _amount(name: str, value: float) -> str:
    if name == TITLES[MEMORY]:
        return format_bytes(round(value / BYTES_PER_GIB) * BYTES_PER_GIB)
    if name in (TITLES[NIC_IN], TITLES[NIC_OUT]):
        return format_bitrate(value)
    if name == "memory bandwidth":
        return format_rate(value, unit="B/s")
    return f"{value:.4g}"


def _class_rows(p: Plan) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for o in chosen_options(p):
        index = p.known.options.index(o)
        met = [s.latency_s for s in p.standings if s.option == index]
        limits = [u for u in p.known.wants.limits[index] if u > 0]
        goal = "-" if o.vm.latency is None else f"p{o.vm.percentile:g} {format_seconds(o.vm.latency)}"
        rows.append(
            (
                o.vm.name,
                str(o.vm.count),
                o.path,
                settings_text(o.settings),
                goal,
                format_seconds(max(met)) if met and o.vm.latency is not None else "-",
                format_share(max(limits)),
            )
        )
    return rows


CLASS_HEADS = ("class", "VMs", "path", "settings", "objective", "safe side", "busy up to")


def _placement_rows(p: Plan) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for g in sorted(p.groups, key=lambda g: (g.room.name, -g.hosts)):
        vms = ", ".join(f"{int(n)} {p.known.options[o].vm.name}" for o, n in enumerate(g.counts) if n)
        tight = max(
            ((used / usable, name) for name, (used, usable, _) in resources(p, g).items() if usable > 0),
            default=(0.0, ""),
        )
        rows.append((g.room.name, str(g.hosts), vms or "spare", f"{tight[1]} {format_share(tight[0])}" if vms else "-"))
    return rows


PLACE_HEADS = ("host", "hosts", "on each", "fullest")


def _load_rows(p: Plan) -> list[tuple[str, ...]]:
    """Load and headroom of each resource: the busiest host, and the mean."""
    rows: list[tuple[str, ...]] = []
    for name, (busiest, mean) in sorted(loads(p).items(), key=lambda item: -item[1][0]):
        example = next(
            ((used, usable) for g in p.groups for n, (used, usable, _) in resources(p, g).items()
             if n == name and usable > 0 and abs(used / usable - busiest) < 1e-12),
            (0.0, 0.0),
        )  # fmt: skip
        rows.append(
            (
                name,
                f"{_amount(name, example[0])} of {_amount(name, example[1])}",
                format_share(busiest),
                format_share(max(0.0, 1 - busiest)),
                format_share(mean),
            )
        )
    return rows


LOAD_HEADS = ("resource", "busiest host", "load", "headroom", "mean load")


def refusal_lines(refusals: Sequence[Refusal]) -> list[str]:
    """Refusals, each with its conflict and the nearest change."""
    lines = []
    for r in refusals[:SHOWN_REFUSALS]:
        where = r.what if r.path is None else f"{r.what} on {r.path}"
        lines.append(f"  {where}: {r.because}")
        lines.append(f"    binds: {r.resource}; cannot be kept together: {', '.join(r.conflict)}")
        lines.append(f"    nearest change: {r.change}")
    if len(refusals) > SHOWN_REFUSALS:
        lines.append(f"  and {len(refusals) - SHOWN_REFUSALS} more (all with --json)")
    return lines


def plan_lines(p: Plan) -> list[str]:
    """The plain answer."""
    total = sum(vm.count for vm in p.fleet.vm)
    head = f"{total} VMs in {len(p.fleet.vm)} classes on {len(p.fleet.host)} host types"
    if p.known.factor != 1:
        head += f", planned for {p.known.factor:.3g} times today's traffic"
    lines = [p.fleet.title, head] if p.fleet.title else [head]
    if p.placement is None:
        mine = [r for r in p.refusals if r.path is None]
        lines += ["", "infeasible:", *refusal_lines(mine)]
        rest = [r for r in p.refusals if r.path is not None]
        if rest:
            lines += ["", "refused paths:", *refusal_lines(rest)]
        return [*lines, *migration_lines(p)]
    lines += ["", *_summary(p), "", *aligned(_class_rows(p), CLASS_HEADS, "lrllrrr")]
    lines += [f"  {busy_text(b)}" for b in p.busy]
    rows = _placement_rows(p)
    lines += ["", *aligned([_wide(r) for r in rows[:SHOWN_PATTERNS]], PLACE_HEADS, "lr")]
    if len(rows) > SHOWN_PATTERNS:
        lines.append(f"and {len(rows) - SHOWN_PATTERNS} more kinds of filling (all with --json or -o placement.csv)")
    lines += ["", *aligned(_load_rows(p), LOAD_HEADS, "lrrrr"), "", *_prospects(p)]
    mine = [r for r in p.refusals if r.path is None]
    if mine:
        lines += ["", "infeasible:", *refusal_lines(mine)]
    rest = [r for r in p.refusals if r.path is not None]
    if rest:
        lines += ["", "refused paths:", *refusal_lines(rest)]
    lines += [f"note: {note}" for note in p.notes] + [f"warning: {w}" for w in warnings_of(p)]
    return lines


def _wide(row: tuple[str, ...]) -> tuple[str, ...]:
    longest = WIDTH - sum(len(c) for c in row if c is not row[2])
    text = row[2] if len(row[2]) <= longest else row[2][: longest - 1] + "…"
    return (row[0], row[1], text, row[3])


def _summary(p: Plan) -> list[str]:
    placed = p.placement
    if placed is None:
        return []
    counts = ", ".join(f"{n} {name}" for name, n in sorted(host_counts(p).items()))
    rules = p.fleet.rules
    unit = {"price": "", "hosts": " hosts", "watts": " W"}[rules.minimise]
    proof = (
        "no plan costs less" if placed.gap < 1 / LARGEST_COUNT else f"no plan costs less than {placed.bound:.6g}{unit}"
    )
    by_hand = placed.first_fit / placed.cost - 1 if placed.cost > 0 and math.isfinite(placed.first_fit) else None
    told = "" if by_hand is None else f", first-fit decreasing {format_share(by_hand)} more"
    lines = [
        f"hosts         {counts}",
        f"minimised     {rules.minimise}: {placed.cost:.6g}{unit}; {proof} (gap {format_share(placed.gap)}){told}",
    ]
    if p.price:
        lines.append(f"price         {p.price:.6g}")
    if p.watts:
        lines.append(f"power         {p.watts:.4g} W")
    if p.fleet.running:
        lines.append(f"moves         {placed.moves} VMs leave the host they run on")
    lines.append(
        f"safe side     {format_share(rules.confidence)} of the model's uncertainty covered: latency and work are "
        "taken that much larger"
    )
    return lines


def _prospects(p: Plan) -> list[str]:
    lines = []
    b = p.bottleneck
    if b is not None and math.isfinite(b.factor):
        when = "" if b.years is None else f", in {b.years:.2g} years of growth after the horizon"
        lines.append(f"next bottleneck   {b.resource} on {b.host}, at {b.factor:.3g} times the planned traffic{when}")
    elif b is not None:
        lines.append("next bottleneck   none within eight times the planned traffic")
    for what in p.fleet.rules.n_minus_1:
        some = [f for f in p.failures if f.what == what]
        bad = [f for f in some if not f.holds]
        n = sum(f.hosts for f in some)
        verdict = (
            "every objective holds"
            if not bad
            else "; ".join(f"{f.host}: {sum(f.left.values())} VMs find no place ({f.resource})" for f in bad)
        )
        lines.append(f"one {what} fails{' ' * (10 - len(what))}{n} hosts looked at: {verdict}")
    if p.spares:
        lines.append("spare hosts       " + ", ".join(f"{n} {name}" for name, n in p.spares.items()))
    if p.chance is not None:
        worst = min(p.chance.per_class, key=lambda name: p.chance.per_class[name] if p.chance else 0.0)
        lines.append(
            f"demand            every objective holds in {format_share(p.chance.plan)} of {p.chance.draws} draws "
            f"(least: {worst}, {format_share(p.chance.per_class[worst])})"
        )
    lines += migration_lines(p)
    for c in p.candidates:
        lines.append(
            f"  made for {format_share(c.quantile)} of demand: {c.hosts} hosts, cost {c.cost:.6g}, holds in "
            f"{format_share(c.chance)}, mean regret {c.mean_regret:.4g} (95 %: {c.worst_regret:.4g})"
        )
    return lines


def migration_lines(p: Plan) -> list[str]:
    """What must_migrate costs."""
    if p.unbound is None:
        return []
    if p.unbound.cost is None:
        return ["migration         the fleet cannot stand without it either"]
    paths = ", ".join(f"{name} on {path}" for name, path in p.unbound.paths.items()) or "no path changes"
    if p.placement is None:
        return [f"migration         without it the fleet stands at {p.unbound.cost:.6g}: {paths}"]
    less = p.placement.cost - p.unbound.cost
    return [
        f"migration         costs {less:.6g} of {p.placement.cost:.6g} ({p.fleet.rules.minimise}); without it: {paths}"
    ]


def plan_markdown(p: Plan, hands: Mapping[str, Sequence[str]]) -> str:
    """The plan as Markdown, with the commands of each class."""
    lines = [f"# {p.fleet.title or 'Plan'}", ""]
    if p.placement is None:
        return "\n".join([*lines, "```text", *plan_lines(p), "```", ""])
    lines += ["```text", *_summary(p), "```", "", "## Classes", "", *markdown(_class_rows(p), CLASS_HEADS, "lrllrrr")]
    lines += ["", "## Placement", "", *markdown(_placement_rows(p), PLACE_HEADS, "lr")]
    lines += ["", "## Load", "", *markdown(_load_rows(p), LOAD_HEADS, "lrrrr"), "", "```text", *_prospects(p), "```"]
    if p.refusals:
        lines += ["", "## Refused", "", "```text", *refusal_lines(p.refusals), "```"]
    for name, text in hands.items():
        lines += ["", f"## Set up {name}", "", "```text", *text, "```"]
    return "\n".join([*lines, ""])


def placement_rows(p: Plan) -> list[dict[str, Any]]:
    """One row for each kind of host and class on it, for CSV."""
    out = []
    for number, g in enumerate(p.groups, start=1):
        if not g.counts.any():
            out.append({"pattern": number, "host": g.room.name, "hosts": g.hosts, "vm": None})
        for o, n in enumerate(g.counts):
            if n:
                option = p.known.options[o]
                out.append(
                    {
                        "pattern": number, "host": g.room.name, "hosts": g.hosts, "vm": option.vm.name,
                        "vms_on_each": int(n), "path": option.path, "settings": settings_text(option.settings),
                    }
                )  # fmt: skip
    return out
