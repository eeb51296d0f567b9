"""Observations -> predictions and exact Jacobian, vectorised over rows that share path, topology and workload."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vmodel.config import scenario
from vmodel.core.records import Observation, Profile, Scenario
from vmodel.solve import compose
from vmodel.solve.dual import Dual, total
from vmodel.solve.processors import GUEST_CPU, HOST_KINDS
from vmodel.solve.solver import solve
from vmodel.units import BITS_PER_BYTE, BPS_PER_MBPS, US_PER_S

Array = NDArray[np.float64]
SCALAR_KNOBS = (
    "rx_usecs",
    "rx_frames",
    "adaptive_rx",
    "pf_rx_usecs",
    "in_flight",
    "socket_buffer_bytes",
    "ring_size",
    "overlap",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Rows that one array scenario answers: their places in the data set, their metric, the scenario."""

    rows: Array
    metric: str
    scenario: Scenario


def question(row: Observation, profile: Profile) -> Scenario:
    """The scenario that a row answers; what the row leaves open is the profile's default."""
    return scenario(
        path=row.path,
        peer=row.peer or None,
        topology=row.topology or None,
        workload=row.workload,
        direction=row.direction or None,
        profile=profile,
        **row.knobs,
    )


def design(rows: Sequence[Observation], profile: Profile) -> tuple[Group, ...]:
    """Group rows by structure and by the knobs that must be scalars; the others become arrays."""
    asked = [question(row, profile) for row in rows]
    groups: dict[tuple[Any, ...], list[int]] = {}
    for i, (row, s) in enumerate(zip(rows, asked, strict=True)):
        key = (s.path, s.peer, s.topology, s.workload, s.direction, row.metric, *(s.knobs[k] for k in SCALAR_KNOBS))
        groups.setdefault(key, []).append(i)
    out = []
    for places in groups.values():
        first = asked[places[0]]
        knobs: dict[str, Any] = {}
        for name in first.knobs:
            column = [_given(asked[i], name) for i in places]
            if name in SCALAR_KNOBS or all(v == column[0] for v in column):
                knobs[name] = column[0]
            else:
                knobs[name] = np.asarray(column, dtype=float)
        out.append(
            Group(
                rows=np.asarray(places, dtype=int),
                metric=rows[places[0]].metric,
                scenario=replace(first, knobs=_with_array(knobs, len(places))),
            )
        )
    return tuple(out)


def _given(s: Scenario, name: str) -> Any:
    """A knob of one row; the descriptor batch follows the packet batch where it is not set."""
    value = s.knobs[name]
    return s.knobs["batch"] if name == "descriptor_batch" and value is None else value


def _with_array(knobs: Mapping[str, Any], n: int) -> dict[str, Any]:
    """At least one knob must be an array, so that all results are."""
    return {**knobs, "size": np.broadcast_to(np.asarray(knobs["size"], dtype=float), (n,))}


def _latency(outcome: Any, s: Scenario, words: Mapping[str, Any]) -> Any:
    return outcome.latency_s * US_PER_S


def _transactions(outcome: Any, s: Scenario, words: Mapping[str, Any]) -> Any:
    return outcome.rate_per_s


def _throughput(outcome: Any, s: Scenario, words: Mapping[str, Any]) -> Any:
    return outcome.rate_per_s * (s.knobs["size"] * BITS_PER_BYTE / BPS_PER_MBPS)


def _packets(outcome: Any, s: Scenario, words: Mapping[str, Any]) -> Any:
    return outcome.rate_per_s * words["vsock_packets" if "vsock_packets" in words else "packets"]


def _cores(outcome: Any, s: Scenario, words: Mapping[str, Any]) -> Any:
    demands = [v for k, v in outcome.demands_s.items() if k.startswith((GUEST_CPU, *HOST_KINDS))]
    return total(demands) * outcome.rate_per_s


METRIC: Mapping[str, Callable[[Any, Scenario, Mapping[str, Any]], Any]] = {
    "latency_us": _latency,
    "transactions_per_s": _transactions,
    "throughput_mbps": _throughput,
    "rate_pps": _packets,
    "cpu_cores": _cores,
}


def evaluate(groups: Sequence[Group], values: Mapping[str, float], names: Sequence[str], n: int) -> tuple[Array, Array]:
    """log(prediction) per row and its exact Jacobian over the logarithms of the named parameters.

    Returns arrays of shape (n,) and (n, len(names)).
    """
    logs = np.zeros(n)
    jacobian = np.zeros((n, len(names)))
    column = {name: j for j, name in enumerate(names)}
    for group in groups:
        parameters = {**compose.parameter_values(group.scenario), **values}
        solved = solve(group.scenario, parameters, gradient=True)
        answer = METRIC[group.metric](solved.outcome, group.scenario, solved.words)
        value = answer.value if isinstance(answer, Dual) else answer
        logs[group.rows] = np.log(value)
        if isinstance(answer, Dual):
            for name, d in answer.gradient.items():
                if name in column:
                    jacobian[group.rows, column[name]] = d * parameters[name] / value
    return logs, jacobian


def moved_by(groups: Sequence[Group]) -> tuple[str, ...]:
    """Names of the parameters that some row could depend on, sorted."""
    names = {"memory_bus_bytes_s"}
    for group in groups:
        way = compose.scenario_ways(group.scenario)
        chains = (way.forward, way.reverse) if group.scenario.workload == "rr" else (way.forward,)
        for chain in chains:
            names |= compose.used_parameters(chain)
            found = compose.timer(group.scenario, chain)
            if found is not None and found.parameter is not None:
                names.add(found.parameter)
    return tuple(sorted(names))
