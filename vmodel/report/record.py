"""A prediction as the JSON record that people script against: microseconds, bits and packets per second."""

import math
from typing import Any

from vmodel.core.records import Interval, Prediction, Scenario
from vmodel.units import US_PER_S

KEPT_DIGITS = 12
RING_MARKS = ((0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p999"))


def number(x: float | None, scale: float = 1.0) -> float | None:
    """A number of a record, in the unit that the scale makes; None for what does not apply or is not finite."""
    if x is None or not math.isfinite(x):
        return None
    return float(f"{x * scale:.{KEPT_DIGITS}g}")


def _pair(interval: Interval | None, scale: float = 1.0) -> list[float | None] | None:
    return None if interval is None else [number(interval.low, scale), number(interval.high, scale)]


def asked_json(s: Scenario) -> dict[str, Any]:
    """What was asked, as every record that answers a scenario begins."""
    return {
        "path": s.path,
        "peer": s.peer,
        "topology": s.topology,
        "workload": s.workload,
        "direction": s.direction,
        "profile": s.profile.name,
        "origins": dict(s.origins),
        "notes": list(s.notes),
    }


def _per_message(p: Prediction) -> float | None:
    return None if p.watts is None or p.messages_per_s <= 0 else p.watts / p.messages_per_s


def as_json(p: Prediction) -> dict[str, Any]:
    """The record of `predict --json`; a value that does not apply is None."""
    s = p.scenario
    return {
        **asked_json(s),
        "settings": {k: s.knobs[k] for k in sorted(s.knobs) if s.knobs[k] is not None},
        "latency_us": {
            "mean": number(p.latency_s, US_PER_S),
            "p50": number(p.percentiles_s[0.5], US_PER_S),
            "p90": number(p.percentiles_s[0.9], US_PER_S),
            "p99": number(p.percentiles_s[0.99], US_PER_S),
            "p999": number(p.percentiles_s[0.999], US_PER_S),
            "p9999": number(p.percentiles_s.get(0.9999), US_PER_S),
            "p99999": number(p.percentiles_s.get(0.99999), US_PER_S),
            "percentile_method": p.percentile_method or None,
            "interval90": _pair(p.latency_interval_s, US_PER_S),
            "lower_bound": number(p.lower_bound_s, US_PER_S),
        },
        "throughput_bps": {
            "value": number(p.throughput_bps),
            "interval90": _pair(p.throughput_interval_bps),
            "upper_bound": number(p.throughput_bound_bps),
        },
        "rate_pps": {"value": number(p.rate_pps), "interval90": _pair(p.rate_interval_pps)},
        "transactions_per_s": number(p.transactions_per_s),
        "messages_per_s": number(p.messages_per_s),
        "interrupts_per_s": number(p.interrupts_per_s),
        "kicks_per_s": number(p.kicks_per_s),
        "batch_taken": number(p.batch_taken),
        "ring": {
            "mean": number(p.ring_mean),
            "full": number(p.ring_full),
            **{name: number(p.ring_percentiles.get(q)) for q, name in RING_MARKS},
        },
        "loss": number(p.loss),
        "cpu": {"host": number(p.cpu_host), "guest": number(p.cpu_guest)},
        "cores_per_gbps": number(p.cores_per_gbps),
        "cores_per_mpps": number(p.cores_per_mpps),
        "energy": {
            "watts": number(p.watts),
            "uj_per_message": number(_per_message(p), US_PER_S),
        },
        "busy": {k: number(v) for k, v in p.busy.items()},
        "memory_bus_bytes_s": number(p.bus_bytes_s),
        "bottleneck": p.bottleneck,
        "slack": number(p.slack),
        "saturated": p.saturated,
        "breakdown": [
            {
                "stage": r.stage,
                "resource": r.resource,
                "us": number(r.seconds, US_PER_S),
                "end": r.owner,
                "leg": r.direction,
            }
            for r in p.shares
        ],
        "regime": p.regime,
        "standing": p.standing,
        "warnings": list(p.warnings),
        "sources": list(p.sources),
    }
