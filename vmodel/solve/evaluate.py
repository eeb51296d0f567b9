"""Stage formulas at work: words and parameters in, seconds per stage out; floats, arrays or duals."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any

from vmodel.core.path import Node
from vmodel.solve.dual import Dual, is_float

Row = tuple[Any, ...]  # function, gradient, bus, words, parameters, occupies, when, variability, cites, about, spins


@cache
def module(arrays: bool) -> Any:
    """The generated formulas: on floats without NumPy, or on arrays."""
    return import_module("vmodel.compiled.arrays" if arrays else "vmodel.compiled.floats")


def stage_rows() -> Mapping[str, Row]:
    """Stage name -> its generated functions and facts."""
    return module(False).STAGES  # type: ignore[no-any-return]


def occupies(stage: str) -> str | None:
    """The class of resource a stage occupies."""
    return stage_rows()[stage][5]  # type: ignore[no-any-return]


def has_arrays(values: Mapping[str, Any]) -> bool:
    """Whether any of the values is an array."""
    return any(not is_float(v) for v in values.values())


def traffic(workload: str, words: Mapping[str, Any], nodes: Sequence[Node]) -> dict[str, Any]:
    """The counts of one message in a workload that the nodes ask for, beside the knob words they were made from."""
    table = module(has_arrays(words)).TRAFFIC
    needed = {word for node in nodes for word in stage_rows()[node.stage][3]}
    out = dict(words)
    for part in (workload, f"{workload}_vsock"):
        function, names, gives, _ = table[part]
        if part == workload or not needed.isdisjoint(gives):
            out.update(function(*[words[name] for name in names]))
    return out


def seconds(
    nodes: Sequence[Node],
    words: Mapping[str, Any],
    parameters: Mapping[str, float],
    *,
    gradient: bool,
    known: dict[str, Any] | None = None,
) -> list[Any]:
    """Seconds per message of each node; with `gradient` as duals over the parameters.

    known: costs by stage that were found with the same words, and take what is found here.
    """
    rows = module(has_arrays(words) or has_arrays(parameters)).STAGES
    known = {} if known is None else known
    out = []
    for node in nodes:
        if node.stage not in known:
            known[node.stage] = _cost(rows[node.stage], words, parameters, gradient=gradient)
        out.append(known[node.stage])
    return out


def _cost(row: Row, words: Mapping[str, Any], parameters: Mapping[str, float], *, gradient: bool) -> Any:
    arguments = [words[w] for w in row[3]] + [parameters[p] for p in row[4]]
    value = row[0](*arguments)
    if not gradient:
        return value
    return Dual(value, dict(zip(row[4], row[1](*arguments), strict=True)))


def bus_bytes(nodes: Sequence[Node], words: Mapping[str, Any]) -> Any:
    """Bytes that one message moves over the memory bus."""
    rows: Mapping[str, Row] = module(has_arrays(words)).STAGES
    total: Any = 0.0
    for node in nodes:
        bus: Callable[..., Any] | None = rows[node.stage][2]
        if bus is not None:
            total = total + bus(*[words[w] for w in rows[node.stage][3]])
    return total
