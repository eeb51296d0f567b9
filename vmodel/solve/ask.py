"""The questions a program asks: predict a scalar scenario, or many at once as arrays."""

from typing import Any

from vmodel.config import scenario
from vmodel.core.records import Prediction, Scenario
from vmodel.solve import evaluate, solver


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
    """Answer a scenario whose knobs hold arrays."""
    return solver.columns(asked)
