"""A change of a fleet file that mends a refusal, as a value: what to write where, and the fleet with it in force."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from vmodel.plan.fleet import Fleet, HostType, Rules, VmClass
from vmodel.units import BPS_PER_GBPS


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One key of a fleet file and the value to give it."""

    table: str  # vm, host or rules
    name: str  # of the class or the host type; empty for the rules
    key: str
    value: Any  # as the file has it

    def text(self, about: str = "") -> str:
        """The line of the file, with the table before it unless it is the one that is spoken of."""
        head = "rules." if self.table == "rules" else "" if self.name == about else f"{self.table} {self.name}: "
        return f"{head}{self.key} = {_toml(self.value)}"


def texts(changes: Iterable[Change], about: str = "") -> str:
    """All of them, since only together they do."""
    return " and ".join(change.text(about) for change in changes)


def _toml(value: Any) -> str:
    """A value in the syntax of the file."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {_toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml(v) for v in value) + "]"
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def gbps(bps: float) -> str:
    """A bit rate as a file has it."""
    return f"{bps / BPS_PER_GBPS:.12g}Gbit/s"


def changed(fleet: Fleet, changes: Iterable[Change]) -> Fleet:
    """The fleet with changes in force, read as the file would be; raises pydantic's ValidationError."""
    for change in changes:
        if change.table == "rules":
            rules = Rules.model_validate({**fleet.rules.model_dump(), change.key: change.value})
            fleet = fleet.model_copy(update={"rules": rules})
            continue
        rows: list[Any] = []
        for row in fleet.vm if change.table == "vm" else fleet.host:
            rows.append(_with(row, change) if row.name == change.name else row)
        fleet = fleet.model_copy(update={change.table: tuple(rows)})
    return fleet


def distance(fleet: Fleet, changes: Iterable[Change]) -> float:
    """How far changes go in all: ratios as logarithms; one for each that is no ratio."""
    total = 0.0
    for change in changes:
        before, after = (_number(f, change) for f in (fleet, changed(fleet, [change])))
        total += abs(math.log(after / before)) if before and after else 1.0
    return total


def _number(fleet: Fleet, change: Change) -> float | None:
    rows: Iterable[Any] = fleet.vm if change.table == "vm" else fleet.host
    row = fleet.rules if change.table == "rules" else next(r for r in rows if r.name == change.name)
    value = getattr(row, change.key)
    value = value[1] if change.key == "rate" else value
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _with(row: VmClass | HostType, change: Change) -> VmClass | HostType:
    body = row.model_dump()
    if isinstance(row, VmClass):
        kind, value = row.rate
        body["rate"] = value if kind == "rate_pps" else f"{value!r}bit/s"
    return type(row).model_validate({**body, change.key: change.value})
