"""Stage formulas at work: words and parameters in, seconds per stage out; floats, arrays or duals."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from vmodel.core.path import Node
from vmodel.solve.dual import Dual, is_float

ROOMS = ("guest", "transport", "vsock", "host", "device")  # of the library, one generated module each


class Row(NamedTuple):
    """What is generated of one stage: its functions, their arguments, and the facts of its declaration."""

    function: Callable[..., Any]
    gradient: Callable[..., tuple[Any, ...]]
    bus: Callable[..., Any] | None
    words: tuple[str, ...]
    parameters: tuple[str, ...]
    occupies: str | None
    when: str
    variability: float
    cites: tuple[str, ...]
    about: str
    spins: bool


class Formulas(NamedTuple):
    """What is generated of the library: rows by stage, and the laws that count a message's packets and notices."""

    STAGES: Mapping[str, tuple[Any, ...]]
    TRAFFIC: Mapping[str, tuple[Any, ...]]


def _larger(a: float, b: float) -> float:
    return a if a >= b else b


def _smaller(a: float, b: float) -> float:
    return a if a <= b else b


def elementary(arrays: bool) -> tuple[Callable[..., Any], ...]:
    """Ceiling, floor, maximum, minimum and square root: of floats without NumPy, or of arrays."""
    if not arrays:
        return math.ceil, math.floor, _larger, _smaller, math.sqrt
    import numpy  # only arrays ask for it

    return numpy.ceil, numpy.floor, numpy.maximum, numpy.minimum, numpy.sqrt


@cache
def module(arrays: bool) -> Formulas:
    """The generated formulas: on floats without NumPy, or on arrays."""
    functions = elementary(arrays)
    rooms = [import_module(f"vmodel.compiled.{room}").formulas(*functions) for room in ROOMS]
    stages = {name: row for room in rooms for name, row in room.items()}
    return Formulas(STAGES=stages, TRAFFIC=import_module("vmodel.compiled.traffic").formulas(*functions))


@cache
def table(arrays: bool) -> Mapping[str, Row]:
    """Stage name -> what is generated of it."""
    return {name: Row(*row) for name, row in module(arrays).STAGES.items()}


def stage_rows() -> Mapping[str, Row]:
    """Stage name -> what is generated of it, on floats."""
    return table(False)


def occupies(stage: str) -> str | None:
    """The class of resource a stage occupies."""
    return stage_rows()[stage].occupies


def has_arrays(values: Mapping[str, Any]) -> bool:
    """Whether any of the values is an array."""
    return any(not is_float(v) for v in values.values())


def traffic(workload: str, words: Mapping[str, Any], nodes: Sequence[Node]) -> dict[str, Any]:
    """The counts of one message in a workload that the nodes ask for, beside the knob words they were made from."""
    laws = module(has_arrays(words)).TRAFFIC
    needed = {word for node in nodes for word in stage_rows()[node.stage].words}
    out = dict(words)
    for part in (workload, f"{workload}_vsock"):
        function, names, gives, _ = laws[part]
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
    rows = table(has_arrays(words) or has_arrays(parameters))
    known = {} if known is None else known
    out = []
    for node in nodes:
        if node.stage not in known:
            known[node.stage] = _cost(rows[node.stage], words, parameters, gradient=gradient)
        out.append(known[node.stage])
    return out


def _cost(row: Row, words: Mapping[str, Any], parameters: Mapping[str, float], *, gradient: bool) -> Any:
    arguments = [words[w] for w in row.words] + [parameters[p] for p in row.parameters]
    value = row.function(*arguments)
    if not gradient:
        return value
    return Dual(value, dict(zip(row.parameters, row.gradient(*arguments), strict=True)))


def bus_bytes(nodes: Sequence[Node], words: Mapping[str, Any]) -> Any:
    """Bytes that one message moves over the memory bus."""
    rows = table(has_arrays(words))
    total: Any = 0.0
    for node in nodes:
        bus = rows[node.stage].bus
        if bus is not None:
            total = total + bus(*[words[w] for w in rows[node.stage].words])
    return total
