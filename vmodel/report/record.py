"""A prediction as the JSON record that people script against: microseconds, bits and packets per second."""

import math
from typing import Any

from vmodel.core.records import Interval, Prediction, Scenario
from vmodel.units import US_PER_S

KEPT_DIGITS = 12


def _number(x: float | None, scale: float = 1.0) -> float | None:
    if x is None or not math.isfinite(x):
        return None
    return float(f"{x * scale:.{KEPT_DIGITS}g}")


def _pair(interval: Interval | None, scale: float = 1.0) -> list[float | None] | None:
    return None if interval is None else [_number(interval.low, scale), _number(interval.high, scale)]


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
            "mean": _number(p.latency_s, US_PER_S),
            "p50": _number(p.percentiles_s[0.5], US_PER_S),
            "p90": _number(p.percentiles_s[0.9], US_PER_S),
            "p99": _number(p.percentiles_s[0.99], US_PER_S),
            "p999": _number(p.percentiles_s[0.999], US_PER_S),
            "p9999": _number(p.percentiles_s.get(0.9999), US_PER_S),
            "p99999": _number(p.percentiles_s.get(0.99999), US_PER_S),
            "percentile_method": p.percentile_method or None,
            "interval90": _pair(p.latency_interval_s, US_PER_S),
            "lower_bound": _number(p.lower_bound_s, US_PER_S),
        },
        "throughput_bps": {
            "value": _number(p.throughput_bps),
            "interval90": _pair(p.throughput_interval_bps),
            "upper_bound": _number(p.throughput_bound_bps),
        },
        "rate_pps": {"value": _number(p.rate_pps), "interval90": _pair(p.rate_interval_pps)},
        "transactions_per_s": _number(p.transactions_per_s),
        "messages_per_s": _number(p.messages_per_s),
        "interrupts_per_s": _number(p.interrupts_per_s),
        "kicks_per_s": _number(p.kicks_per_s),
        "batch_taken": _number(p.batch_taken),
        "ring": {"mean": _number(p.ring_mean), "full": _number(p.ring_full)},
        "loss": _number(p.loss),
        "cpu": {"host": _number(p.cpu_host), "guest": _number(p.cpu_guest)},
        "cores_per_gbps": _number(p.cores_per_gbps),
        "cores_per_mpps": _number(p.cores_per_mpps),
        "energy": {
            "watts": _number(p.watts),
            "uj_per_message": _number(_per_message(p), US_PER_S),
        },
        "busy": {k: _number(v) for k, v in p.busy.items()},
        "memory_bus_bytes_s": _number(p.bus_bytes_s),
        "bottleneck": p.bottleneck,
        "slack": _number(p.slack),
        "saturated": p.saturated,
        "breakdown": [
            {
                "stage": r.stage,
                "resource": r.resource,
                "us": _number(r.seconds, US_PER_S),
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
