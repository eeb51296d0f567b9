"""The questions a program asks: predict a scalar scenario, or many at once as arrays."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from vmodel.config import scenario
from vmodel.core.records import Prediction, Scenario
from vmodel.solve import evaluate, solver
from vmodel.solve.dual import is_float

# knobs that change the law itself, so that each of their values is answered by itself
SINGLE = ("in_flight", "imix", "rx_frames", "adaptive_rx", "ring_size", "burst", "dedicated_nic", "zero_copy_rx")
BLOCK = 8192  # configurations at once: temporaries of 64 KiB are reused from cache and never mapped afresh


def predict(path: str, **settings: Any) -> Prediction | dict[str, Any]:
    """Predict one configuration, or many: knobs given as arrays give a dict of arrays under the same names.

    path and settings: as on the command line (`topology`, `workload`, `size`, `rx_usecs`, ...); text with units is
    read, plain numbers are in the knob's own unit.  Returns a Prediction [SI units]; for arrays latency_s, rate_pps,
    throughput_bps, transactions_per_s, interrupts_per_s and busy shares, each of the broadcast shape.
    Raises ConfigError naming every fault.
    """
    asked = scenario(path=path, **settings)
    return answer_arrays(asked) if evaluate.has_arrays(numbers(asked)) else solver.predict(asked)


def numbers(asked: Scenario) -> dict[str, Any]:
    """The knobs of a scenario that hold a value."""
    return {k: v for k, v in asked.knobs.items() if v is not None}


def answer_arrays(asked: Scenario, columns: Callable[[Scenario], dict[str, Any]] = solver.columns) -> dict[str, Any]:
    """Answer a scenario whose knobs hold arrays, block by block, so that all intermediate values stay in cache.

    columns: what to answer for one block, arrays by name.
    """
    import numpy  # the settings are arrays

    given = {k: v for k, v in numbers(asked).items() if not is_float(v)}
    shape = numpy.broadcast_shapes(*(v.shape for v in given.values()))
    flat = {k: numpy.broadcast_to(v, shape).reshape(-1) for k, v in given.items()}
    count = math.prod(shape)
    out: dict[str, Any] = {}
    single = [k for k in SINGLE if k in flat]
    if single:
        kinds, where = numpy.unique(numpy.stack([flat[k] for k in single]), axis=1, return_inverse=True)
        for number in range(kinds.shape[1]):
            fixed = {k: float(x) for k, x in zip(single, kinds[:, number], strict=True)}
            places = numpy.flatnonzero(where.reshape(-1) == number)
            part = {k: v[places] for k, v in flat.items() if k not in fixed}
            part["size"] = numpy.broadcast_to(part.get("size", asked.knobs["size"]), places.shape)
            _blocks(out, replace(asked, knobs={**asked.knobs, **fixed}), part, (places, count), columns)
    else:
        _blocks(out, asked, flat, (None, count), columns)
    return {k: _shaped(v, shape) for k, v in out.items()}


def _blocks(
    out: dict[str, Any],
    asked: Scenario,
    part: dict[str, Any],
    target: tuple[Any, int],
    columns: Callable[[Scenario], dict[str, Any]],
) -> None:
    """Answer columns of equal length in blocks, and put the answers at their places; None: one after the other."""
    places, count = target
    for start in range(0, count if places is None else len(places), BLOCK):
        block = slice(start, start + BLOCK)
        found = columns(replace(asked, knobs={**asked.knobs, **{k: v[block] for k, v in part.items()}}))
        _store(out, found, block if places is None else places[block], count)


def _store(out: dict[str, Any], found: dict[str, Any], place: Any, count: int) -> None:
    import numpy

    for name, values in found.items():
        if isinstance(values, dict):
            _store(out.setdefault(name, {}), values, place, count)
        elif values is None:
            out[name] = None
        else:
            if name not in out:
                out[name] = numpy.empty(count)
            out[name][place] = values


def _shaped(values: Any, shape: tuple[int, ...]) -> Any:
    if isinstance(values, dict):
        return {k: _shaped(v, shape) for k, v in values.items()}
    return None if values is None else values.reshape(shape)
