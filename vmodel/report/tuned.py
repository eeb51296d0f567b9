"""The outcome of a search for settings as lines for a person, as the JSON record, and as a figure of the front."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from vmodel.core.records import Interval, Prediction
from vmodel.library import commands
from vmodel.plan.prices import Conflict, Price, Reach
from vmodel.plan.tune import Change, FrontPoint, Tuning
from vmodel.report.record import as_json as record_of
from vmodel.report.record import asked_json
from vmodel.report.tables import aligned
from vmodel.report.text import knob_text, question
from vmodel.solve.goal import Constraint, read_constraint
from vmodel.solve.quantities import QUANTITIES, Quantity
from vmodel.units import BPS_PER_GBPS, BPS_PER_MBPS, US_PER_S, format_share

FRONT_ROWS = 12  # points of the front that a person is shown
SHARE_ERROR = 0.001
KEPT_DIGITS = 12
ROUNDINGS = (0.0005, 0.001, 0.002, 0.005, 0.01)
WIDTH, HEIGHT = 9.0, 5.5  # inches
CHANGE_HEADS, CHANGE_RIGHT = ("setting", "now", "best", "without it", "90 %", "remark"), "lrrrrl"


def _percent(ratio: float) -> str:
    """A ratio as a signed change."""
    return f"{'+' if ratio >= 1 else ''}{format_share(ratio - 1, SHARE_ERROR)}" if math.isfinite(ratio) else "-"


def _span(interval: Interval | None) -> str:
    return "-" if interval is None else f"{_percent(interval.low)} to {_percent(interval.high)}"


def _remark(change: Change) -> str:
    """What to know of one change, in words."""
    if change.breaks:
        return f"needed for {', '.join(change.breaks)}"
    inside = change.ratio_interval is not None and change.ratio_interval.low <= 1 <= change.ratio_interval.high
    return "not certain" if inside else ""


def _change_rows(found: Tuning) -> list[tuple[str, ...]]:
    ranked = sorted(found.changes, key=lambda c: -abs(math.log(c.ratio)) if 0 < c.ratio < math.inf else 0.0)
    return [
        (
            c.knob,
            knob_text(c.knob, c.before),
            knob_text(c.knob, c.after),
            _percent(c.ratio),
            _span(c.ratio_interval),
            _remark(c),
        )
        for c in ranked
    ]


def _figures(p: Prediction, found: Tuning) -> list[tuple[str, str, str]]:
    """Every quantity of the objective, the constraints and the front: name, today, answer."""
    names = [found.objective.quantity.name, *(c.quantity.name for c in found.constraints)]
    names += [found.front_latency, "throughput", "host_cpu", "guest_cpu"]
    rows = []
    for name in dict.fromkeys(names):
        q = QUANTITIES[name]
        rows.append((q.title, _written(q, q.of(found.today)), _written(q, q.of(p))))
    return rows


def _written(q: Quantity, value: float | None) -> str:
    return q.write(value)


def tuning_lines(found: Tuning) -> list[str]:
    """The plain answer."""
    bounds = "".join(f", subject to {c.text}" for c in found.constraints)
    lines = [question(found.scenario), f"  {found.objective.text}{bounds}"]
    lines += [f"  {note}" for note in found.scenario.notes]
    span = ", ".join(f"{k} ({n} values)" for k, (_, _, n) in found.searched.items())
    lines += [f"  searched: {span or 'nothing'}", ""]
    lines += [f"{k} {knob_text(k, v)} is never worse here, and was not varied" for k, v in found.fixed.items()]
    lines += _answer_lines(found) if found.answer is not None else _refusal_lines(found)
    lines += ["", *_front_lines(found), ""]
    lines += [f"{name} moves none of this: {reason}" for name, reason in found.idle.items()]
    lines += [f"warning: {warning}" for warning in found.nearest.warnings]
    if found.hands is not None and found.changes:
        lines += ["", "To apply it:", *(f"  {line}" for line in commands.lines(found.hands))]
    return lines


def _answer_lines(found: Tuning) -> list[str]:
    answer, q = found.nearest, found.objective.quantity
    lines = aligned(_figures(answer, found), ("quantity", "now", "best"), "lrr")
    lines.append("")
    if found.changes:
        lines += aligned(_change_rows(found), CHANGE_HEADS, CHANGE_RIGHT)
        lines.append(f'  ("without it": {q.name} if this setting alone stayed as it is)')
    else:
        lines.append("Nothing to change: no setting brings more.")
    lines += ["", *_runner_lines(found)]
    lines += [_price_line(price, found) for price in found.prices]
    return lines


def _runner_lines(found: Tuning) -> list[str]:
    second, q = found.runner_up, found.objective.quantity
    if second is None:
        return ["Runner-up: none; no change of one setting meets the constraints with a worse result."]
    how = ", ".join(f"{k} {knob_text(k, v)}" for k, v in second.settings.items())
    gap = f"{_percent(second.ratio)} ({_span(second.ratio_interval)})"
    line = f"Runner-up: {how}: {q.name} {_written(q, second.value)}, {gap}"
    lines = [line]
    if not second.certain:
        lines.append("  the advantage is not certain: what is not known of the costs could turn it round")
    elif second.inside:
        lines.append(
            "  the advantage lies within the runner-up's 90 % interval, but both are off alike: the order is certain"
        )
    return lines


def _price_line(price: Price, found: Tuning) -> str:
    q, c = found.objective.quantity, price.constraint
    head = f"{c.text}: "
    if not price.binding:
        return f"{head}not binding ({_written(c.quantity, price.value)})"
    parts = [f"binding; without it {q.name} would be {_written(q, price.without)}"]
    if price.next_bound is not None and price.next_value is not None:
        parts.append(f"at {_written(c.quantity, price.next_bound)} it is {_written(q, price.next_value)}")
    slope, checked = (_per(x, q, c) for x in (price.slope, price.checked))
    if slope and checked:
        parts.append(f"price {slope} ({checked} when solved again)")
    elif checked:
        parts.append(f"price {checked} by solving again")
    return head + "; ".join(parts)


def _per(slope: float | None, q: Quantity, c: Constraint) -> str:
    """A shadow price as the change of the objective per tenth of the bound."""
    if slope is None:
        return ""
    step = c.scale / 10
    change = slope * step
    sign = "+" if change > 0 else "-"
    return f"{sign}{_written(q, abs(change))} per {_written(c.quantity, step)} more"


def _refusal_lines(found: Tuning) -> list[str]:
    why: Conflict | None = found.conflict
    lines = ["No: nothing meets the constraints.", ""]
    if why is None:
        return lines
    rows = []
    for r in why.reaches:
        q = r.constraint.quantity
        kept = "the others cannot be met" if r.with_others is None else _written(q, r.with_others)
        at_least = q.of(found.nearest)
        rows.append((r.constraint.text, _written(q, at_least), _written(q, r.alone), kept))
    lines += aligned(rows, ("constraint", "closest to all", "best alone", "best with the others kept"), "lrrr")
    if len(why.smallest_set) == 1:
        lines += ["", f"Out of reach by itself: {why.smallest_set[0].text}"]
    else:
        lines += ["", f"Cannot be met together: {' and '.join(c.text for c in why.smallest_set)}"]
    lines.append(f"Binding: {why.binding.text}")
    if why.nearest is not None:
        r = why.nearest
        off = f" ({format_share(r.distance, SHARE_ERROR)} off)" if r.constraint.bound else ""
        lines.append(f"Nearest change: {nearest_text(r)}{off}")
    else:
        lines.append("No change of a single bound helps.")
    return lines


def nearest_text(reach: Reach) -> str:
    """The nearest bound that can be met, as `--subject` takes it: rounded to what can still be met."""
    q, value = reach.constraint.quantity, float(reach.with_others or 0.0)
    sign = "<=" if reach.constraint.upper else ">="
    for digits in (0.0, *ROUNDINGS):  # what is written is read again, and must not be out of reach by its rounding
        text = q.write(value * (1 + digits if reach.constraint.upper else 1 - digits))
        read = read_constraint(f"{q.name} {sign} {text}", None)
        if read.met(value):
            return f"{q.name} {sign} {text}"
    return f"{q.name} {sign} {q.write(value)}"


def thinned(front: Sequence[FrontPoint], count: int) -> list[FrontPoint]:
    """At most so many points of a front, the ends included, evenly by rank."""
    if len(front) <= count:
        return list(front)
    return [front[round(i * (len(front) - 1) / (count - 1))] for i in range(count)]


def _front_lines(found: Tuning) -> list[str]:
    if not found.front:
        return []
    settings = [k for k in found.searched if len({p.settings[k] for p in found.front}) > 1]
    heads = (found.front_latency, "throughput", "CPU", *settings)
    rows = []
    for point in thinned(found.front, FRONT_ROWS):
        values = [QUANTITIES[n].write(point.values[n]) for n in (found.front_latency, "throughput", "cpu")]
        rows.append((*values, *(knob_text(k, point.settings[k]) for k in settings)))
    shown = f", {len(rows)} of {len(found.front)}" if len(rows) < len(found.front) else ""
    title = f"Pareto front (nothing is better in latency, throughput and CPU at once{shown}):"
    return [title, *(f"  {line}" for line in aligned(rows, heads, "r" * len(heads)))]


def _number(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(f"{value:.{KEPT_DIGITS}g}")


def _pair(interval: Interval | None) -> list[float | None] | None:
    return None if interval is None else [_number(interval.low), _number(interval.high)]


def constraint_json(c: Constraint) -> dict[str, Any]:
    """One bound as a record [SI]."""
    return {
        "quantity": c.quantity.name,
        "at": "most" if c.upper else "least",
        "bound": _number(c.bound),
        "text": c.text,
    }


def _settings(values: Mapping[str, float | None]) -> dict[str, float | None]:
    return {k: None if v is None else _number(v) for k, v in values.items()}


def tuning_json(found: Tuning) -> dict[str, Any]:
    """The record of `tune --json`; times in seconds, rates in bits and packets per second, prices in the same units."""
    q = found.objective.quantity
    second, why = found.runner_up, found.conflict
    return {
        **asked_json(found.scenario),
        "objective": {"quantity": q.name, "minimise": found.objective.minimise},
        "constraints": [constraint_json(c) for c in found.constraints],
        "feasible": found.feasible,
        "value": None if found.answer is None else _number(q.of(found.answer)),
        "optimum": _number(found.optimum),
        "value_now": _number(q.of(found.today)),
        "settings": {c.knob: _number(c.after) for c in found.changes},
        "changes": [
            {
                "setting": c.knob,
                "now": None if c.before is None else _number(c.before),
                "best": _number(c.after),
                "value_if_kept": _number(c.value_if_kept),
                "ratio": _number(c.ratio),
                "ratio_interval90": _pair(c.ratio_interval),
                "breaks": list(c.breaks),
            }
            for c in found.changes
        ],
        "runner_up": None
        if second is None
        else {
            "settings": _settings(second.settings),
            "value": _number(second.value),
            "ratio": _number(second.ratio),
            "ratio_interval90": _pair(second.ratio_interval),
            "certain": second.certain,
            "inside_interval": second.inside,
        },
        "prices": [
            {
                **constraint_json(p.constraint),
                "value": _number(p.value),
                "binding": p.binding,
                "objective_without": _number(p.without),
                "shadow_price": _number(p.slope if p.slope is not None else p.checked),
                "shadow_price_resolved": _number(p.checked),
                "next_bound": _number(p.next_bound),
                "next_value": _number(p.next_value),
            }
            for p in found.prices
        ],
        "conflict": None
        if why is None
        else {
            "binding": why.binding.text,
            "smallest_set": [c.text for c in why.smallest_set],
            "reach": [
                {
                    **constraint_json(r.constraint),
                    "best_alone": _number(r.alone),
                    "best_with_others": _number(r.with_others),
                    "distance": _number(r.distance),
                }
                for r in why.reaches
            ],
            "nearest": None
            if why.nearest is None
            else {"quantity": why.nearest.constraint.quantity.name, "bound": _number(why.nearest.with_others)},
        },
        "front": [{"settings": _settings(p.settings), **_settings(p.values)} for p in found.front],
        "searched": {k: {"least": a, "most": b, "values": n} for k, (a, b, n) in found.searched.items()},
        "fixed": dict(found.fixed),
        "without_effect": dict(found.idle),
        "held": dict(found.held),
        "configurations": found.answered,
        "answer": None if found.answer is None else record_of(found.answer),
        "now": record_of(found.today),
        "apply": None if found.hands is None else commands.hands_json(found.hands),
    }


def front_rows(found: Tuning) -> list[dict[str, Any]]:
    """The front as rows for a CSV file: quantities [SI], then settings."""
    return [{**_settings(p.values), **_settings(p.settings)} for p in found.front]


def front_figure(found: Tuning) -> Figure:
    """Latency over CPU for the front, throughput by colour; today and the answer marked, bounds drawn as lines."""
    figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
    axes = figure.add_subplot()
    q = QUANTITIES[found.front_latency]
    cpu = [p.values["cpu"] for p in found.front]
    latency = [p.values[found.front_latency] * US_PER_S for p in found.front]
    most = max((p.values["throughput"] for p in found.front), default=BPS_PER_GBPS)
    unit, bps = ("Gbit/s", BPS_PER_GBPS) if most >= BPS_PER_GBPS else ("Mbit/s", BPS_PER_MBPS)
    throughput = [p.values["throughput"] / bps for p in found.front]
    if found.front:
        dots = axes.scatter(
            cpu, latency, c=throughput, cmap="viridis", s=28, edgecolors="#444444", linewidths=0.3, zorder=3
        )
        dots.set_label("nothing is better in all three")
        figure.colorbar(dots, ax=axes, label=f"throughput [{unit}]")
    marks = [(found.today, "X", "#d55e00", "as it is today")]
    if found.answer is not None:
        marks.append((found.answer, "*", "#0072b2", f"answer: {found.objective.text}"))
    for p, marker, colour, label in marks:
        at = (p.cpu_host + p.cpu_guest, (q.of(p) or 0.0) * US_PER_S)
        axes.scatter(*at, marker=marker, s=160, color=colour, edgecolors="black", linewidths=0.6, label=label, zorder=4)
    for c in found.constraints:
        if c.quantity.name == found.front_latency:
            axes.axhline(c.bound * US_PER_S, color="#444444", linestyle="--", linewidth=1, label=c.text)
        elif c.quantity.name == "cpu":
            axes.axvline(c.bound, color="#444444", linestyle=":", linewidth=1, label=c.text)
    axes.set_xlabel("processors of host and guest [cores]")
    axes.set_ylabel(f"{q.title} [us]")
    axes.set_title(question(found.scenario), fontsize=9, wrap=True)
    axes.grid(linewidth=0.3)
    axes.set_axisbelow(True)
    axes.legend(fontsize=8)
    return figure
