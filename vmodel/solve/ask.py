"""The questions a program asks: predict a scalar scenario, or many at once as arrays."""

import math
from dataclasses import replace
from typing import Any

from vmodel.config import scenario
from vmodel.core.records import Prediction, Scenario
from vmodel.solve import evaluate, solver
from vmodel.solve.dual import is_float

BLOCK = 4096  # configurations at once: temporaries of 32 KiB are reused from cache and never mapped afresh


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


def answer_arrays(asked: Scenario) -> dict[str, Any]:
    """Answer a scenario whose knobs hold arrays, block by block, so that all intermediate values stay in cache."""
    import numpy  # the settings are arrays

    given = {k: v for k, v in numbers(asked).items() if not is_float(v)}
    shape = numpy.broadcast_shapes(*(v.shape for v in given.values()))
    flat = {k: numpy.broadcast_to(v, shape).reshape(-1) for k, v in given.items()}
    count = math.prod(shape)
    out: dict[str, Any] = {}
    for start in range(0, count, BLOCK):
        part = {k: v[start : start + BLOCK] for k, v in flat.items()}
        found = solver.columns(replace(asked, knobs={**asked.knobs, **part}))
        _store(out, found, slice(start, start + BLOCK), count)
    return {k: _shaped(v, shape) for k, v in out.items()}


def _store(out: dict[str, Any], found: dict[str, Any], place: slice, count: int) -> None:
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
