"""What a person wants of an answer: a quantity to minimise or maximise, and bounds, read from short texts.

The grammar is `NAME <= VALUE` or `NAME >= VALUE`, names and units of quantities.py. Nothing is evaluated.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from vmodel.core.records import Prediction, Scenario
from vmodel.errors import ConfigError, Fault, UnitError, UnknownName
from vmodel.solve.quantities import QUANTITIES, Quantity, applies, quantity

MET = 1e-9  # relative distance from a bound within which it is met
_CONSTRAINT = re.compile(r"\s*([A-Za-z][A-Za-z0-9_.\- ]*?)\s*(<=|>=|=<|=>|<|>|\u2264|\u2265)\s*(\S.*?)\s*")
_UPPER = ("<=", "=<", "<", "\u2264")
LONGEST = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """A bound on a quantity [SI]; `upper` means at most."""

    quantity: Quantity
    upper: bool
    bound: float

    @property
    def text(self) -> str:
        """The constraint as people write it."""
        return f"{self.quantity.name} {'<=' if self.upper else '>='} {self.quantity.write(self.bound)}"

    @property
    def scale(self) -> float:
        """What distances from the bound are measured by."""
        return abs(self.bound) or 1.0

    def excess(self, value: Any) -> Any:
        """How far a value is beyond the bound, relative to it; zero or less where it is met.  Floats and arrays."""
        distance = value - self.bound if self.upper else self.bound - value
        return distance / self.scale

    def met(self, value: float | None) -> bool:
        """Whether a value keeps within the bound; what does not apply does not."""
        return value is not None and math.isfinite(value) and bool(self.excess(value) <= MET)

    def at(self, bound: float) -> "Constraint":
        """The same with another bound."""
        return replace(self, bound=bound)


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """What to make small or large."""

    quantity: Quantity
    minimise: bool

    @property
    def text(self) -> str:
        """The objective as people write it."""
        return f"{'minimise' if self.minimise else 'maximise'} {self.quantity.name}"

    def cost(self, value: Any) -> Any:
        """The value with the sign that makes less better."""
        return value if self.minimise else -value


def read_objective(minimise: str | None, maximise: str | None, s: Scenario | None = None) -> Objective:
    """Read which quantity is wanted small or large, of this scenario; raises ConfigError."""
    if (minimise is None) == (maximise is None):
        raise ConfigError([Fault(file="", key="--minimise", expected="one objective: --minimise or --maximise NAME")])
    flag, name = ("--minimise", minimise) if minimise is not None else ("--maximise", maximise)
    found = _quantity(str(name), s, flag)
    return Objective(quantity=found, minimise=minimise is not None)


def read_constraint(text: str, s: Scenario | None, flag: str = "--subject") -> Constraint:
    """Read one bound; raises ConfigError with what was expected and the nearest name or unit."""
    match = _CONSTRAINT.fullmatch(text[: LONGEST + 1])
    if match is None:
        expected = 'NAME <= VALUE or NAME >= VALUE, such as "throughput >= 5Gbit/s"'
        raise ConfigError([Fault(file="", key=flag, value=text, expected=expected)])
    found = _quantity(match[1], s, flag)
    try:
        bound = found.read(match[3])
    except UnitError as error:
        key = f"{flag} {found.name}"
        fault = Fault(file="", key=key, value=error.text, expected=error.wanted, nearest=error.nearest)
        raise ConfigError([fault]) from None
    if not (math.isfinite(bound) and bound >= 0):
        expected = "a finite number of zero or more"
        raise ConfigError([Fault(file="", key=f"{flag} {found.name}", value=match[3], expected=expected)])
    return Constraint(quantity=found, upper=match[2] in _UPPER, bound=bound)


def read_constraints(texts: Iterable[str], s: Scenario | None, flag: str = "--subject") -> tuple[Constraint, ...]:
    """Read several bounds; raises ConfigError with the faults of all."""
    faults: list[Fault] = []
    out: list[Constraint] = []
    for text in texts:
        try:
            out.append(read_constraint(text, s, flag))
        except ConfigError as error:
            faults += error.faults
    if faults:
        raise ConfigError(faults)
    return tuple(out)


def _quantity(name: str, s: Scenario | None, flag: str) -> Quantity:
    try:
        found = quantity(name)
    except UnknownName as error:
        expected = f"one of {', '.join(QUANTITIES)}"
        fault = Fault(file="", key=flag, value=error.name, expected=expected, nearest=error.nearest)
        raise ConfigError([fault]) from None
    if s is not None and not applies(found, s):
        raise ConfigError([Fault(file="", key=flag, value=name, expected=f"a quantity that {s.workload} has")])
    return found


def values_of(p: Prediction, quantities: Iterable[Quantity]) -> dict[str, float]:
    """Quantities of a prediction by name [SI]; what does not apply is NaN."""
    found = {q.name: q.of(p) for q in quantities}
    return {name: math.nan if value is None else float(value) for name, value in found.items()}
