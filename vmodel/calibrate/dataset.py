"""Observation files: reading and checking. A study is a folder with source.toml, profile.toml and observations.csv."""

import csv
import io
import math
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from vmodel.config import knob_value
from vmodel.core.records import Observation
from vmodel.errors import ConfigError, Fault, VmodelError, nearest
from vmodel.files import content
from vmodel.library import tables

METRICS = ("latency_us", "transactions_per_s", "throughput_mbps", "rate_pps", "cpu_cores")
FIXED = (
    "id", "path", "peer", "topology", "workload", "direction", "message_bytes", "metric", "value", "sd",
    "instrument", "session", "series", "profile", "source", "printed", "excluded", "note",
)  # fmt: skip
NEEDED = ("path", "workload", "metric", "value")
LARGEST_FILE_BYTES, LARGEST_TOML_BYTES = 64 << 20, 4 << 20
LARGEST_FIELD = 1 << 16


def read_rows(path: Path) -> tuple[Observation, ...]:
    """Read an observation CSV; raises ConfigError with every fault, each with its line."""
    data = content(path, LARGEST_FILE_BYTES, "observations")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError([Fault(file=str(path), key="", expected=f"UTF-8 text ({error.reason})")]) from None
    return parse_rows(text, str(path))


def parse_rows(text: str, file: str) -> tuple[Observation, ...]:
    """Parse the text of an observation CSV. Raises ConfigError with every fault."""
    csv.field_size_limit(LARGEST_FIELD)
    try:
        lines = list(csv.reader(io.StringIO(text), strict=True))
    except csv.Error as error:
        raise ConfigError([Fault(file=file, key="", expected=f"CSV ({error})")]) from None
    lines = [line for line in lines if any(cell.strip() for cell in line)]
    if not lines:
        raise ConfigError([Fault(file=file, key="", expected="a header and at least one row")])
    head = [name.strip() for name in lines[0]]
    faults = _head_faults(head, file)
    if faults:
        raise ConfigError(faults)
    if len(lines) == 1:
        raise ConfigError([Fault(file=file, key="", expected="at least one row")])
    rows = []
    for number, cells in enumerate(lines[1:], start=2):
        if len(cells) != len(head):
            faults.append(
                Fault(file=f"{file}:{number}", key="", value=f"{len(cells)} cells", expected=f"{len(head)} cells")
            )
            continue
        row = _row(dict(zip(head, (c.strip() for c in cells), strict=True)), f"{file}:{number}", number, faults)
        if row is not None:
            rows.append(row)
    _repeated(rows, file, faults)
    if faults:
        raise ConfigError(faults)
    return tuple(rows)


def _head_faults(head: list[str], file: str) -> list[Fault]:
    known = (*FIXED, *tables.knobs())
    faults = [
        Fault(file=file, key=name, expected="a known column", nearest=nearest(name, known))
        for name in head
        if name not in known
    ]
    faults += [Fault(file=file, key=name, expected="a column") for name in NEEDED if name not in head]
    faults += [
        Fault(file=file, key=name, expected="a column only once") for name in sorted(set(head)) if head.count(name) > 1
    ]
    return faults


def _repeated(rows: list[Observation], file: str, faults: list[Fault]) -> None:
    seen: set[str] = set()
    for row in rows:
        if row.id in seen:
            faults.append(Fault(file=file, key="id", value=row.id, expected="an id only once"))
        seen.add(row.id)


def _positive(cells: Mapping[str, str], key: str, where: str, faults: list[Fault]) -> float | None:
    text = cells.get(key, "")
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number > 0):
        faults.append(Fault(file=where, key=key, value=text, expected="a positive number"))
        return None
    return number


def _choice(cells: Mapping[str, str], key: str, choices: Iterable[str], where: str, faults: list[Fault]) -> str:
    text = cells.get(key, "")
    if text and text not in choices:
        faults.append(Fault(file=where, key=key, value=text, expected=f"a known {key}", nearest=nearest(text, choices)))
    return text


def _row(cells: Mapping[str, str], where: str, number: int, faults: list[Fault]) -> Observation | None:
    before = len(faults)
    for key in NEEDED:
        if not cells.get(key):
            faults.append(Fault(file=where, key=key, expected="a value"))
    value = _positive(cells, "value", where, faults)
    sd = _positive(cells, "sd", where, faults)
    path = _choice(cells, "path", tables.path_names(), where, faults)
    peer = _choice(cells, "peer", tables.endpoints(), where, faults)
    topology = _choice(cells, "topology", tables.TOPOLOGIES, where, faults)
    workload = _choice(cells, "workload", tables.WORKLOADS, where, faults)
    direction = _choice(cells, "direction", tables.DIRECTIONS, where, faults)
    metric = _choice(cells, "metric", METRICS, where, faults)
    knobs: dict[str, Any] = {}
    given = {name: cells[name] for name in tables.knobs() if cells.get(name)}
    if cells.get("message_bytes"):
        given["size"] = cells["message_bytes"]
    for name, text in given.items():
        try:
            knobs[name] = knob_value(name, text)
        except ConfigError as error:
            faults.extend(Fault(file=where, key=name, value=text, expected=f.expected) for f in error.faults)
        except VmodelError as error:
            faults.append(Fault(file=where, key=name, value=text, expected=f"a {tables.knob(name).kind} ({error})"))
    if len(faults) > before or value is None:
        return None
    return Observation(
        id=cells.get("id") or f"line {number}", path=path, peer=peer, topology=topology, workload=workload,
        direction=direction, metric=metric, value=value, sd=sd, knobs=knobs, session=cells.get("session", ""),
        series=cells.get("series", ""), profile=cells.get("profile", ""), source=cells.get("source", ""),
        excluded=cells.get("excluded", ""), note=cells.get("note", ""),
    )  # fmt: skip


def read_toml(path: Path) -> Mapping[str, Any]:
    """Read a TOML file of a study; raises ConfigError."""
    try:
        return tomllib.loads(content(path, LARGEST_TOML_BYTES, "a TOML file").decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError([Fault(file=str(path), key="", expected=f"a TOML file ({error})")]) from None


def studies(folder: Path) -> tuple[Path, ...]:
    """The study folders below a calibration folder, sorted by name; raises ConfigError if there are none."""
    found = tuple(sorted(p.parent for p in folder.glob("*/observations.csv")))
    if not found:
        raise ConfigError([Fault(file=str(folder), key="", expected="study folders with observations.csv")])
    return found
