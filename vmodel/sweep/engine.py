"""Runs the chunks of a sweep and puts them together in the order of their rows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from vmodel.sweep.grid import REGIME, Column, Grid, table

CHUNK = 1 << 19  # rows of a chunk: some tens of megabytes
SLOW_CHUNK = 1 << 8  # rows of a chunk whose columns are found row by row
Tell = Callable[[int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """A grid with the columns of all its rows."""

    grid: Grid
    columns: Mapping[str, Column]


def chunks(g: Grid) -> list[tuple[int, int]]:
    """First row and row after the last of each chunk."""
    size = SLOW_CHUNK if REGIME in g.columns else CHUNK
    return [(first, min(first + size, g.rows)) for first in range(0, g.rows, size)]


def _silent(rows: int) -> None:
    """Progress that nobody watches."""


def in_memory(g: Grid, tell: Tell = _silent) -> Sweep:
    """All rows at once; `tell` hears how many more rows are done."""
    pieces = []
    for first, last in chunks(g):
        pieces.append(table(g, first, last))
        tell(last - first)
    return Sweep(grid=g, columns={name: np.concatenate([p[name] for p in pieces]) for name in pieces[0]})
