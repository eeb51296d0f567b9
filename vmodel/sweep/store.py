"""Chunks of a sweep as files beside the output, and the one table that they become.

A chunk is written beside its name and renamed, so that what is there is whole. The folder is named by a hash of all
that the rows depend on, the code included: a chunk of another question or version is never taken for this one.
"""

import dataclasses
import hashlib
import json
import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from vmodel.errors import ConfigError, Fault
from vmodel.library import tables
from vmodel.sweep.grid import Column, Grid

PACKAGE = Path(__file__).resolve().parents[1]
SOURCES = ("*.py", "*.toml")
DIGEST = 16  # hexadecimal digits of a sweep's name
KEY, UNITS, ASKED = b"vmodel.sweep", b"vmodel.units", b"vmodel.settings"
TABLES = ("parquet", "csv")
TRIES = 8  # to write a chunk while other runs of the same sweep end


@cache
def _code() -> str:
    """A hash of the package's own text and of NumPy's version: what the figures depend on beside the question."""
    found = hashlib.sha256(np.__version__.encode())
    for pattern in SOURCES:
        for path in sorted(PACKAGE.rglob(pattern)):
            found.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0" + path.read_bytes())
    return found.hexdigest()


def digest(g: Grid) -> str:
    """The name of a sweep: a hash of code, profiles, paths, settings, axes and columns."""
    profiles: dict[str, Any] = {}
    cells = []
    for cell in g.cells:
        s = cell.scenario
        profiles.setdefault(s.profile.name, dataclasses.asdict(s.profile))
        ends = [dataclasses.asdict(tables.endpoint(name)) for name in (s.path, s.peer)]
        fields = {f.name: getattr(s, f.name) for f in dataclasses.fields(s) if f.name not in ("profile", "load")}
        cells.append([cell.words, fields, dataclasses.asdict(s.load), s.profile.name, ends])
    asked = [_code(), profiles, cells, [dataclasses.asdict(a) for a in g.axes], g.columns, g.draws, g.seed]
    text = json.dumps(asked, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST]


def as_bytes(g: Grid, columns: dict[str, Column]) -> bytes:
    """A chunk as an Arrow file in memory."""
    import pyarrow as pa

    arrays = []
    for name, values in columns.items():
        vocabulary = g.vocabulary(name)
        if vocabulary is not None:
            arrays.append(pa.DictionaryArray.from_arrays(pa.array(values), pa.array(vocabulary, pa.string())))
        else:
            arrays.append(pa.array(values))
    made = pa.table(arrays, names=list(columns))
    stream = pa.BufferOutputStream()
    with pa.ipc.new_file(stream, made.schema) as writer:
        writer.write_table(made)
    return bytes(stream.getvalue())


class Folder:
    """The chunks of one sweep, in a folder beside its output."""

    def __init__(self, place: Path) -> None:
        self.place = place

    @classmethod
    def beside(cls, output: Path, g: Grid) -> "Folder":
        """The folder of a sweep that goes to a file."""
        return cls(output.with_name(f".{output.name}.{digest(g)}.chunks"))

    def create(self) -> None:
        """Make the folder; raises ConfigError where that is not possible."""
        try:
            self.place.mkdir(mode=0o700, exist_ok=True)
            known = self.place.lstat()
        except OSError as error:
            raise self._refused(f"a folder that can be written to ({error.strerror})") from None
        if not stat.S_ISDIR(known.st_mode) or known.st_uid != os.geteuid():
            raise self._refused("a folder of one's own, no link and nobody else's: remove it")

    def _refused(self, expected: str) -> ConfigError:
        return ConfigError([Fault(file="", key="-o", value=str(self.place), expected=expected)])

    def path(self, first: int) -> Path:
        """The file of the chunk that begins with a row."""
        return self.place / f"{first:015d}.arrow"

    def has(self, first: int, rows: int, names: Sequence[str]) -> bool:
        """Whether that chunk is there, whole, with so many rows of these columns; anything else is computed again."""
        import pyarrow as pa

        try:
            with pa.memory_map(str(self.path(first))) as source:
                table = pa.ipc.open_file(source).read_all()
                return bool(table.num_rows == rows and table.column_names == list(names))
        except (OSError, pa.ArrowException):
            return False

    def put(self, first: int, content: bytes) -> None:
        """Write a chunk, whole or not at all."""
        target = self.path(first)
        part = target.with_suffix(f".{os.getpid()}.part")
        for left in reversed(range(TRIES)):
            try:
                self.place.mkdir(mode=0o700, exist_ok=True)
                part.write_bytes(content)
                part.replace(target)
                return
            except FileNotFoundError:  # another run of the same sweep has ended meanwhile and took the folder away
                if not left:
                    raise
            finally:
                part.unlink(missing_ok=True)

    def tables(self, firsts: Iterable[int]) -> Iterator[Any]:
        """The chunks in order, as Arrow tables mapped from disk."""
        import pyarrow as pa

        for first in firsts:
            with pa.memory_map(str(self.path(first))) as source:
                yield pa.ipc.open_file(source).read_all()

    def record(self, failures: Sequence[Any]) -> None:
        """Write down which chunks failed and why; nothing where none did."""
        target = self.place / "failed.json"
        if not failures:
            target.unlink(missing_ok=True)
            return
        rows = [{"rows": f.chunk, "worker": f.worker, "reason": f.reason} for f in failures]
        try:
            target.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
        except OSError as error:  # a full disk is often why they failed
            raise self._refused(f"a folder that can be written to ({error.strerror}; {failures[0].reason})") from None

    def remove(self) -> None:
        """Delete all chunks."""
        shutil.rmtree(self.place, ignore_errors=True)


def holds(output: Path, g: Grid) -> bool:
    """Whether a Parquet file is already the whole table of this sweep."""
    if output.suffix != ".parquet" or not output.is_file():
        return False
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        found = pq.read_schema(output).metadata or {}
    except (OSError, pa.ArrowException):
        return False
    return bool(found.get(KEY) == digest(g).encode())


def assemble(g: Grid, folder: Folder, firsts: Sequence[int], output: Path) -> None:
    """One table of all chunks, a chunk at a time in memory; beside its place, then renamed."""
    import pyarrow.csv as csv
    import pyarrow.parquet as pq

    part = output.with_name(f".{output.name}.{os.getpid()}.part")
    texts = [name for name in g.units if g.vocabulary(name) is not None]
    writer: Any = None
    try:
        for table in folder.tables(firsts):
            if writer is None and output.suffix == ".parquet":
                asked = json.dumps({"settings": g.told, "axes": [a.name for a in g.axes]}, sort_keys=True, default=str)
                told = {KEY: digest(g).encode(), UNITS: json.dumps(g.units).encode(), ASKED: asked.encode()}
                schema = table.schema.with_metadata(told)
                writer = pq.ParquetWriter(part, schema, compression="lz4", use_dictionary=texts, write_statistics=False)
            elif writer is None:
                plain = _plain(table, texts)
                writer = csv.CSVWriter(str(part), plain.schema, write_options=csv.WriteOptions(quoting_style="needed"))
            writer.write_table(table if output.suffix == ".parquet" else _plain(table, texts))
        writer.close()
        part.replace(output)
    except FileNotFoundError:  # a chunk that another run took away, not a fault of the output
        raise
    except OSError as error:
        expected = f"a writable file ({error.strerror})"
        raise ConfigError([Fault(file="", key="-o", value=str(output), expected=expected)]) from None
    finally:
        part.unlink(missing_ok=True)


def _plain(table: Any, texts: Sequence[str]) -> Any:
    """A table whose texts are written out, and whose numbers that are not known are empty cells."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for i, name in enumerate(table.column_names):
        column = table.column(i)
        if name in texts:
            table = table.set_column(i, name, column.cast(pa.string()))
        elif pa.types.is_floating(column.type):
            table = table.set_column(i, name, pc.if_else(pc.is_nan(column), None, column))
    return table
