"""Where numbers come from: a publication, a number with its pedigree, how a citation is written; the list is data.

The standing of a number says how far to trust it, best first: measured here, fitted to measurements, specified by a
standard or data sheet, transferred from another machine, assumed.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from vmodel.errors import UnknownName, nearest

MEASURED: Final = "measured"
FITTED: Final = "fitted"
SPECIFIED: Final = "specified"
TRANSFERRED: Final = "transferred"
ASSUMED: Final = "assumed"
STANDINGS: Final = (MEASURED, FITTED, SPECIFIED, TRANSFERRED, ASSUMED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One publication, standard, data sheet or data set."""

    key: str
    title: str
    authors: tuple[str, ...] = ()
    venue: str = ""
    year: int | None = None
    url: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """A number with its standard error (None when unknown), unit, standing and the keys of its sources."""

    value: float
    error: float | None = None
    unit: str = ""
    standing: str = ASSUMED
    sources: tuple[str, ...] = ()


def worst_standing(standings: Iterable[str]) -> str:
    """Return the least trusted of the standings; of none at all the most trusted, since nothing is in doubt."""
    worst = 0
    for standing in standings:
        if standing not in STANDINGS:
            raise UnknownName("standing", standing, nearest(standing, STANDINGS))
        worst = max(worst, STANDINGS.index(standing))
    return STANDINGS[worst]


def format_citation(source: Source) -> str:
    """Return a source as one line of text that ends with its key in brackets."""
    *others, last = [_plain(author) for author in source.authors] or [""]
    authors = f"{', '.join(others)} and {last}" if others else last
    venue = ", ".join(part for part in (_plain(source.venue), _year(source)) if part)
    parts = (authors, _plain(source.title), venue, _plain(source.url), _plain(source.note))
    text = " ".join(part if part.endswith((".", "?", "!")) else f"{part}." for part in parts if part)
    return f"{text} [{_plain(source.key)}]".lstrip()


def format_bibtex(source: Source) -> str:
    """Return a source as one BibTeX entry; every character that LaTeX would act upon is escaped."""
    fields = {
        "author": " and ".join(_name(author) for author in source.authors),
        "title": f"{{{_latex(source.title)}}}",
        "howpublished": _latex(source.venue),
        "year": _year(source),
        "url": _address(source.url),
        "note": _latex(source.note),
    }
    key = re.sub(r"[^A-Za-z0-9:_.+-]", "", source.key) or "unnamed"
    lines = [f"  {field} = {{{text}}}," for field, text in fields.items() if text]
    return "\n".join((f"@misc{{{key},", *lines, "}"))


# Braces become commands: BibTeX counts them even behind a backslash, and a lone one would swallow the next entry.
_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\textbraceleft{}",
        "}": r"\textbraceright{}",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
    }
    | {c: "\\" + c for c in "$&#%_"}
)
_HOSTILE_IN_ADDRESS = re.compile(r"""[\s{}\\"<>^`|]|[^\x21-\x7e]""")
MOST_COMMAS = 2  # BibTeX reads "Last, Junior, First" and no more


def _plain(text: str) -> str:
    """Return the text on one line, without anything that cannot be printed."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _latex(text: str) -> str:
    return _plain(text).translate(_LATEX)


def _name(author: str) -> str:
    """Return an author so that BibTeX does not split an institution at its "and" or at its commas."""
    name = _latex(author)
    return f"{{{name}}}" if re.search(r"\band\b", name, re.IGNORECASE) or name.count(",") > MOST_COMMAS else name


def _address(url: str) -> str:
    def encoded(match: re.Match[str]) -> str:
        return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "replace"))

    return _HOSTILE_IN_ADDRESS.sub(encoded, url.strip())


def _year(source: Source) -> str:
    return "" if source.year is None else str(source.year)
