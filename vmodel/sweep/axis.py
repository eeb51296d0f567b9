"""One thing that a sweep varies: its name and values, and how people write them.

rx_usecs=0,10,50          a list
rx_usecs=0:200:10         from 0 to 200 in steps of 10, the end included where a step meets it
size=64..64KiB/11         11 values evenly spaced, both ends included; @log spaces them by equal factors
load=10%..98%/50          a load as a share of what the configuration can carry
path=vf,virtio-vhost      a word: path, peer, topology, workload, direction, profile or device
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from vmodel.config import READERS, knob_value, load_of
from vmodel.errors import ConfigError, Fault, UnitError, VmodelError, nearest
from vmodel.library import tables
from vmodel.library.moderation import devices
from vmodel.library.profile import shipped
from vmodel.solve.ask import SINGLE
from vmodel.units import PERCENT_PER_ONE

WORDS = ("path", "peer", "topology", "workload", "direction", "profile", "device")
GRAMMAR = "a list a,b,c, a range a:b:step, or a..b/n with n values (a..b/n@log by equal factors)"
EVEN = re.compile(r"(?P<first>[^.].*?|)\.\.(?P<last>.+?)/(?P<count>[0-9]+)(?P<log>@log)?")
FILED = ("path", "profile")  # words that may also be a file
MOST_VALUES = 1 << 20
CAPACITY, RATE_PPS, THROUGHPUT_BPS, MAX = "capacity", "rate_pps", "throughput_bps", "max"
MOST_CAPACITY = 10.0  # the largest share of the capacity that is an offered load and not a slip
ROUNDED = ("count", "size")  # kinds of knob whose ranges are whole numbers
STEP_SLACK = 1e-9  # of a step: what rounding may take from the last value
ALIASES = {"link": "link_gbps"}


@dataclass(frozen=True, kw_only=True)
class Axis:
    """A name with the values it takes; `kind` says whether the name is a word, a knob, a cost or the load."""

    name: str
    kind: str
    values: tuple[Any, ...]
    unit: str = ""

    @cached_property
    def array(self) -> Any:
        """The values of numbers as an array."""
        return np.array(self.values, float)

    @property
    def slow(self) -> bool:
        """Whether each value is a law of its own, so that rows go through it slowly."""
        return self.kind == "word" or self.name in SINGLE


def known_names() -> tuple[str, ...]:
    """Everything that a sweep can vary."""
    return (*WORDS, "load", *tables.knobs(), *tables.priors())


def read_axis(text: str) -> Axis:
    """Read NAME=VALUES; raises ConfigError."""
    name, equals, values = text.partition("=")
    name = name.strip().replace("-", "_")
    name = ALIASES.get(name, name)
    if not equals or not name or not values.strip():
        raise ConfigError([Fault(file="", key="--vary", value=text, expected=f"NAME=VALUES, the values {GRAMMAR}")])
    return axis(name, values.strip())


def axis(name: str, values: Any) -> Axis:
    """An axis from text in the grammar above, or from a list or array of values. Raises ConfigError."""
    if name not in known_names():
        raise ConfigError(
            [Fault(file="", key=f"--vary {name}", expected="a setting, a cost or load", nearest=_near(name))]
        )
    try:
        found = _AXES[_kind(name)](name, values if isinstance(values, str) else list(values))
    except UnitError as error:
        raise _fault(name, error.text, error.wanted, error.nearest) from None
    except ConfigError as error:
        raise ConfigError(
            [Fault(file="", key=f"--vary {name}", value=f.value, expected=f.expected, nearest=f.nearest)
             for f in error.faults]
        ) from None  # fmt: skip
    repeated = sorted({str(v) for v in found.values if found.values.count(v) > 1}) if found.kind == "word" else []
    if repeated:
        raise _fault(name, repeated[0], "each value once")
    return found


def _near(name: str) -> str | None:
    return nearest(name, known_names())


def _kind(name: str) -> str:
    if name in WORDS or name == "load":
        return "word" if name in WORDS else "load"
    return "knob" if name in tables.knobs() else "cost"


def _fault(name: str, value: object, expected: str, near: str | None = None) -> ConfigError:
    return ConfigError([Fault(file="", key=f"--vary {name}", value=value, expected=expected, nearest=near)])


def _word_axis(name: str, values: Any) -> Axis:
    listed = [v.strip() for v in values.split(",")] if isinstance(values, str) else values
    if not listed or not all(isinstance(v, str) and v for v in listed):
        raise _fault(name, str(values), "one or more names, separated by commas")
    known = _known(name)
    for value in listed:
        if value not in known and not (name in FILED and value.endswith(".toml")):
            raise _fault(name, value, f"one of {', '.join(known)}", nearest(value, known))
    return Axis(name=name, kind="word", values=tuple(listed))


def _known(name: str) -> tuple[str, ...]:
    """The values that a word can have."""
    if name == "profile":
        return shipped()
    if name == "device":
        return tuple(devices())
    fixed = {"topology": tables.TOPOLOGIES, "workload": tables.WORKLOADS, "direction": tables.DIRECTIONS}
    return fixed.get(name) or (tables.path_names() if name == "path" else tuple(tables.endpoints()))


def is_whole(name: str) -> bool:
    """Whether a range of this setting goes through whole numbers."""
    knob = tables.knobs().get(name)
    return knob is not None and (knob.kind in ROUNDED or (knob.kind == "number" and bool(knob.unit)))


def _knob_axis(name: str, values: Any) -> Axis:
    knob = tables.knob(name)
    read = READERS[knob.kind]  # a step may be smaller than the setting itself can be; the values are checked below
    numbers = _numbers(name, values, read, whole=is_whole(name))
    try:
        checked = knob_value(name, np.array(numbers))
    except ConfigError:
        checked = [float(knob_value(name, v)) for v in numbers]  # again one by one, to name the one at fault
    return Axis(name=name, kind="knob", values=tuple(float(v) for v in checked), unit=knob.unit)


def _cost_axis(name: str, values: Any) -> Axis:
    prior = tables.priors()[name]

    def read(text: str) -> float:
        try:
            return float(text)
        except ValueError:
            raise UnitError(text, f"a positive number [{prior.unit or '-'}]: {prior.about}") from None

    numbers = _numbers(name, values, read)
    for number in numbers:
        if not (math.isfinite(number) and number > 0):
            raise _fault(name, number, f"a positive number [{prior.unit or '-'}]: {prior.about}")
    return Axis(name=name, kind="cost", values=tuple(numbers), unit=prior.unit)


def _load_axis(name: str, values: Any) -> Axis:
    kinds: dict[str, None] = {}

    def read(text: str) -> float:
        kind, value = _offered(text)
        kinds[kind] = None
        return value

    numbers = _numbers(name, values, read)
    if not isinstance(values, str):
        kinds = dict.fromkeys((CAPACITY,)) if max(numbers) <= MOST_CAPACITY else dict.fromkeys((RATE_PPS,))
    if len(kinds) > 1:
        raise _fault(name, str(values), "loads of one kind: shares of the capacity, packet rates, or bit rates")
    kind = next(iter(kinds))
    for number in numbers:
        if not number > 0 or (kind == CAPACITY and number > MOST_CAPACITY):
            raise _fault(name, number, f"a load above zero; a share of the capacity is at most {MOST_CAPACITY:g}")
    units = {CAPACITY: "of capacity", RATE_PPS: "pps", THROUGHPUT_BPS: "bit/s", MAX: ""}
    return Axis(name=name, kind=kind, values=tuple(numbers), unit=units[kind])


def _offered(text: str) -> tuple[str, float]:
    """A load: a share of the capacity (`50%`, `0.5`), or a rate with its unit."""
    share = text.strip().removesuffix("%")
    try:
        number = float(share)
    except ValueError:
        found = load_of(text)
        return found.kind, found.value
    return CAPACITY, number / PERCENT_PER_ONE if share != text.strip() else number


_AXES: Mapping[str, Callable[[str, Any], Axis]] = {
    "word": _word_axis, "knob": _knob_axis, "cost": _cost_axis, "load": _load_axis,
}  # fmt: skip
LOADS = (CAPACITY, RATE_PPS, THROUGHPUT_BPS, MAX)


def _numbers(name: str, values: Any, read: Callable[[str], float], *, whole: bool = False) -> list[float]:
    """The numbers of a list or a range."""
    if not isinstance(values, str):
        return [float(v) if not isinstance(v, str) else read(v) for v in values] or _none(name)
    even = EVEN.fullmatch(values)
    if even is not None:
        first, last, count = read(even["first"]), read(even["last"]), int(even["count"])
        return _spaced(name, values, (first, last, count), log=even["log"] is not None, whole=whole)
    if ".." in values:
        raise _fault(name, values, "a..b/n: how many values, as in 64..1500/10")
    parts = values.split(":")
    if len(parts) == 3:
        return _stepped(name, values, *(read(part) for part in parts))
    if len(parts) == 2:
        raise _fault(name, values, GRAMMAR)
    return [read(part) for part in values.split(",")]


def _none(name: str) -> list[float]:
    raise _fault(name, "", "at least one value")


def _spaced(name: str, text: str, span: tuple[float, float, int], *, log: bool, whole: bool) -> list[float]:
    first, last, count = span
    if not 2 <= count <= MOST_VALUES:
        raise _fault(name, text, f"2 to {MOST_VALUES} values")
    if not (math.isfinite(first) and math.isfinite(last)) or (log and min(first, last) <= 0):
        raise _fault(name, text, "two finite ends" + (", both above zero for @log" if log else ""))
    numbers: Any = (np.geomspace if log else np.linspace)(first, last, count)
    if whole:
        numbers = np.unique(np.rint(numbers)) if last >= first else np.unique(np.rint(numbers))[::-1]
    return [float(x) for x in numbers]


def _stepped(name: str, text: str, first: float, last: float, step: float) -> list[float]:
    if not (step > 0 and math.isfinite(first) and math.isfinite(last) and math.isfinite(step)):
        raise _fault(name, text, "a:b:step, with a step above zero")
    step = step if last >= first else -step
    count = math.floor((last - first) / step + STEP_SLACK) + 1
    if count > MOST_VALUES:
        raise _fault(name, text, f"at most {MOST_VALUES} values")
    return [first + i * step for i in range(count)]


def settled(axes: Iterable[Axis]) -> tuple[Axis, ...]:
    """Axes in the order in which rows go through them, the first slowest: words and laws before plain numbers.

    Raises ConfigError where a name comes twice.
    """
    listed = tuple(axes)
    names = [a.name for a in listed]
    for name in names:
        if names.count(name) > 1:
            raise _fault(name, None, "one --vary for each name")
    return (*(a for a in listed if a.slow), *(a for a in listed if not a.slow))


def faults_of(texts: Iterable[str]) -> tuple[tuple[Axis, ...], list[Fault]]:
    """Read several axes; returns them in order with the faults of all."""
    found: list[Axis] = []
    faults: list[Fault] = []
    for text in texts:
        try:
            found.append(read_axis(text))
        except VmodelError as error:
            faults.extend(getattr(error, "faults", ()))
    if not faults:
        try:
            return settled(found), faults
        except ConfigError as error:
            faults.extend(error.faults)
    return tuple(found), faults
