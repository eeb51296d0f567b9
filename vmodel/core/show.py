"""A prediction in one line, and as a small table for notebooks. Text only; every number has its unit."""

from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from vmodel.units import format_bitrate, format_rate, format_seconds

if TYPE_CHECKING:
    from vmodel.core.records import Interval, Prediction

SHOWN_STAGES = 8


def line(p: "Prediction") -> str:
    """The answer in one line."""
    s = p.scenario
    asked = f"{s.path} {s.topology} {s.workload}"
    return (
        f"<Prediction {asked} on {s.profile.name}: latency {format_seconds(p.latency_s)},"
        f" throughput {format_bitrate(p.throughput_bps)}, bottleneck {p.bottleneck}>"
    )


def html(p: "Prediction") -> str:
    """The answer as an HTML table: figures with intervals, and the longest stages."""
    s = p.scenario
    rows: list[tuple[str, float | None, Interval | None, Callable[[float | None], str]]] = [
        ("latency", p.latency_s, p.latency_interval_s, format_seconds),
        ("throughput", p.throughput_bps, p.throughput_interval_bps, format_bitrate),
        ("packet rate", p.rate_pps, p.rate_interval_pps, format_rate),
    ]
    body = ""
    for name, value, interval, show in rows:
        span = "" if interval is None else f"{show(interval.low)} to {show(interval.high)}"
        body += f"<tr><th>{name}</th><td>{escape(show(value))}</td><td>{escape(span)}</td></tr>"
    body += f"<tr><th>bottleneck</th><td>{escape(p.bottleneck)}</td><td>{escape(p.regime)}</td></tr>"
    body += f"<tr><th>standing</th><td>{escape(p.standing)}</td><td>{escape('; '.join(p.warnings))}</td></tr>"
    longest = sorted(p.shares, key=lambda r: -float(r.seconds))[:SHOWN_STAGES]
    stages = "".join(f"<tr><td>{escape(r.stage)}</td><td>{format_seconds(float(r.seconds))}</td></tr>" for r in longest)
    title = escape(f"{s.path}, {s.topology}, {s.workload}, profile {s.profile.name}")
    return (
        f"<table><caption>{title}</caption><thead><tr><th></th><th>value</th><th>90 % interval</th></tr></thead>"
        f"<tbody>{body}</tbody></table><table><caption>longest stages</caption><tbody>{stages}</tbody></table>"
    )


def table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """An HTML table; every cell is text."""
    head = "".join(f"<th>{escape(h)}</th>" for h in heads)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
