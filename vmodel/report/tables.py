"""Rows -> aligned plain text or Markdown. The last column may be long: it is wrapped to the width that is left."""

import textwrap
from collections.abc import Sequence

GAP = "  "
NARROWEST = 24  # characters that a wrapped last column always gets


def aligned(
    rows: Sequence[Sequence[str]], heads: Sequence[str], right: str = "", width: int | None = None
) -> list[str]:
    """Lines of a table; `right` has an `r` at the place of each column of numbers, `width` wraps the last column."""
    table = [list(heads), *(list(row) for row in rows)]
    widths = [max(len(row[i]) for row in table) for i in range(len(heads))]
    before = sum(widths[:-1]) + len(GAP) * (len(heads) - 1)
    last = max(NARROWEST, width - before) if width else widths[-1]
    lines = []
    for row in table:
        cells = [
            cell.rjust(w) if i < len(right) and right[i] == "r" else cell.ljust(w)
            for i, (cell, w) in enumerate(zip(row[:-1], widths[:-1], strict=True))
        ]
        numbers = len(right) == len(heads) and right[-1] == "r"
        pieces = [row[-1].rjust(widths[-1])] if numbers else textwrap.wrap(row[-1], last) or [""]
        lines.append(GAP.join([*cells, pieces[0]]).rstrip())
        lines.extend(" " * before + piece for piece in pieces[1:])
    rule = GAP.join("-" * min(w, last) if i == len(widths) - 1 else "-" * w for i, w in enumerate(widths))
    return [lines[0], rule, *lines[1:]]


def markdown(rows: Sequence[Sequence[str]], heads: Sequence[str], right: str = "") -> list[str]:
    """Lines of the same table in Markdown."""
    marks = ["--:" if i < len(right) and right[i] == "r" else "---" for i in range(len(heads))]
    return [f"| {' | '.join(_cell(c) for c in row)} |" for row in (heads, marks, *rows)]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
