"""Tenants side by side, and worst cases, as lines for a person and as records."""

from typing import Any

from vmodel.report.record import number
from vmodel.report.tables import aligned
from vmodel.solve.bounds import WorstCase
from vmodel.solve.shared import Share, Sharing
from vmodel.units import US_PER_S, format_rate, format_seconds, format_share

MOST_ROWS = 20


def _name(resource: str) -> str:
    kind, _, place = resource.partition("|")
    return f"{kind} ({place})" if place else kind


def _row(s: Share, sharing: Sharing) -> tuple[str, ...]:
    suffers = sharing.suffering.get(s.name)
    return (
        s.name,
        format_rate(s.rate_per_s, unit="/s"),
        format_share(min(s.kept, 1.0), 0.001),
        format_seconds(s.latency_s),
        format_seconds(s.alone_latency_s),
        format_share(s.loss, 0.001),
        "-" if suffers is None else _name(suffers),
    )


def sharing_lines(sharing: Sharing) -> list[str]:
    """A table of the tenants, then how busy each shared resource is, then what was assumed."""
    head = ("tenant", "messages", "kept", "latency", "alone", "loss", "suffers from")
    rows = [_row(s, sharing) for s in sharing.shares[:MOST_ROWS]]
    lines = ["Beside the others:", *(f"  {line}" for line in aligned(rows, head, "lrrrrrl"))]
    if len(sharing.shares) > MOST_ROWS:
        lines.append(f"  and {len(sharing.shares) - MOST_ROWS} more like them (--json has all)")
    busy = ", ".join(f"{_name(r)} {format_share(x, 0.001)}" for r, x in sharing.busy.items() if x > 0)
    lines.append(f"shared        {busy or 'nothing'}")
    lines += [f"assumed: {text}" for text in sharing.assumptions]
    return lines


def sharing_json(sharing: Sharing) -> dict[str, Any]:
    """The same as a record: microseconds and messages per second."""
    return {
        "tenants": [
            {
                "name": s.name,
                "messages_per_s": number(s.rate_per_s),
                "alone_messages_per_s": number(s.alone_per_s),
                "latency_us": number(s.latency_s, US_PER_S),
                "alone_latency_us": number(s.alone_latency_s, US_PER_S),
                "loss": number(s.loss),
                "limited_by": s.limited_by,
                "waits_us": {r: number(w, US_PER_S) for r, w in s.waits_s.items()},
            }
            for s in sharing.shares
        ],
        "busy": {r: number(x) for r, x in sharing.busy.items()},
        "suffering": dict(sharing.suffering),
        "assumptions": list(sharing.assumptions),
    }


def worst_lines(worst: WorstCase) -> list[str]:
    """The bound, or why there is none, and what it takes for granted."""
    if worst.delay_s is None or worst.backlog is None:
        lines = ["worst case    none"]
    else:
        lines = [f"worst case    {format_seconds(worst.delay_s)}, backlog of {worst.backlog:.3g} packets"]
    return [*lines, f"              {worst.reason}", *(f"assumed: {text}" for text in worst.assumptions)]


def worst_json(worst: WorstCase) -> dict[str, Any]:
    """The same as a record."""
    return {
        "delay_us": number(worst.delay_s, US_PER_S),
        "backlog_packets": number(worst.backlog),
        "reason": worst.reason,
        "hops": [
            {
                "resource": hop.name,
                "messages_per_s": number(hop.rate_per_s),
                "latency_us": number(hop.latency_s, US_PER_S),
            }
            for hop in worst.hops
        ],
        "assumptions": list(worst.assumptions),
    }
