"""What a reader returns, and how it says that a file holds no result."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from vmodel.errors import DatasetError

Kind = Literal["observations", "configuration"]
Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    """One tool output as records; keys and units stand in `keys.py`, None is a value known to be unknown."""

    tool: str
    version: str | None = None
    kind: Kind
    observations: tuple[Record, ...] = ()
    configuration: Record = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def refusal(fault: str, line: int | None = None) -> DatasetError:
    """The error of a file that holds no result; `read` puts the name of the file in front."""
    return DatasetError("", "", line, fault)
