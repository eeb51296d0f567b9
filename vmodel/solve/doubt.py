"""What a profile has not seen of a question: said aloud, and added to the spread of the answer."""

from typing import Any

from vmodel.core.records import Scenario, Seen
from vmodel.solve import compose, elementwise

UNSEEN_LOG_SD = 0.25  # model error on a path or workload the profile was never compared on
UNSEEN_TOPOLOGY_LOG_SD = 0.12
STRETCH = 0.08  # per factor e of message size beyond the calibrated range


def model_variance(s: Scenario) -> Any:
    """What the model itself was off by where it was compared, and more where it was not: variance of log(answer).

    What a profile knows of a path from other machines only (no row of its own) says how far off the model is there.
    """
    seen = s.profile.seen.get(f"{s.path}/{s.workload}")
    if seen is None or seen.rows == 0:
        return (UNSEEN_LOG_SD if seen is None else seen.log_sd) ** 2
    unseen = (s.topology not in seen.topologies) + _direction_unseen(s, seen)
    low, high = seen.size_bytes
    size = s.knobs["size"]
    far = elementwise.most(elementwise.most(low / size, size / high), 1.0)
    stretch = STRETCH * elementwise.log(far)
    return seen.log_sd**2 + unseen * UNSEEN_TOPOLOGY_LOG_SD**2 + stretch * stretch


def _direction_unseen(s: Scenario, seen: Seen) -> bool:
    """Whether only the other direction was measured, where directions differ."""
    one_guest = s.topology in ("host-vm", "cross-host-vm") and s.workload != "rr"
    return one_guest and bool(seen.directions) and s.direction not in seen.directions


def warned(s: Scenario) -> tuple[str, ...]:
    """What lies outside the calibration, said aloud."""
    seen = s.profile.seen.get(f"{s.path}/{s.workload}")
    warnings = []
    if seen is None or seen.rows == 0:
        warnings.append(
            f"profile {s.profile.name} was never compared with a measurement of {s.path} under {s.workload}"
        )
    else:
        if s.topology not in seen.topologies:
            warnings.append(f"topology {s.topology} was not measured on this path; seen: {', '.join(seen.topologies)}")
        if _direction_unseen(s, seen):
            warnings.append(f"direction {s.direction} was not measured on this path")
        low, high = seen.size_bytes
        size = s.knobs["size"]
        if not low <= size <= high:
            warnings.append(f"size {size:g} B lies outside the calibrated {low:g} to {high:g} B: extrapolated")
    way = compose.scenario_ways(s)
    for chain in (way.reverse, way.forward):
        found = compose.timer(s, chain)
        if found is not None:
            warnings.extend(w for w in found.warnings if w not in warnings)
    return tuple(warnings)
