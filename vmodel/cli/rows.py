"""Measurements for a command that compares: an observation file, or the output of any tool that `ingest` reads."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from vmodel.calibrate.dataset import METRICS, parse_rows, read_rows
from vmodel.core.records import Observation
from vmodel.errors import ConfigError, Fault
from vmodel.ingest.read import read
from vmodel.ingest.rows import as_rows, as_text

HEAD_BYTES = 1 << 12
NEEDED = {"path", "workload", "metric", "value"}


def is_observations(path: Path) -> bool:
    """Whether a file begins like an observation CSV. What cannot be read is one: its reader says best what is wrong."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError:
        return True
    names = {name.strip(' \t"') for name in head.decode("utf-8", "replace").lstrip("\ufeff").split("\n")[0].split(",")}
    return path.suffix == ".csv" and bool(names & set(METRICS) or len(names & NEEDED) > 1)


def compared(path: Path, known: Mapping[str, str]) -> tuple[Observation, ...]:
    """Every row of a file that is fit for comparison.

    known: what only the user knows of a tool's output, the path first. Raises ConfigError or DatasetError.
    """
    if is_observations(path):
        rows: Sequence[Observation] = read_rows(path)
    else:
        rows = parse_rows(as_text(as_rows(read(path), str(path), known)), str(path))
    kept = tuple(row for row in rows if not row.excluded)
    if not kept:
        raise ConfigError([Fault(file=str(path), key="", expected="at least one row that is not excluded")])
    return kept
