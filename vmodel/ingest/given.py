"""An input as a reader sees it: text and JSON documents, decoded once, within limits of size, lines and depth.

Opening files belongs to `source.py`. Nothing here knows a tool.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from vmodel.ingest.result import refusal
from vmodel.units import BYTES_PER_KIB, BYTES_PER_MIB

MOST_BYTES = 32 * BYTES_PER_MIB
MOST_JSON_BYTES = 16 * BYTES_PER_MIB
MOST_LINES = BYTES_PER_MIB  # a count, not a size: a million lines
HEAD_BYTES = 64 * BYTES_PER_KIB  # what recognition looks at
MOST_DOCUMENTS = 100_000  # a long JSON stream has one for each interval
LONGEST_NUMBER = 40

UTF16 = (b"\xff\xfe", b"\xfe\xff")
UTF8_MARK = b"\xef\xbb\xbf"
ESCAPES = re.compile(r"\x1b\[[0-9;?]{0,32}[ -/]?[@-~]")
BLANK = re.compile(r"\s*")
JSON_START = re.compile(r"^[ \t]{0,80}(?:\{|\[\s{0,80}[{\]])", re.MULTILINE)
NOT_A_NUMBER = re.compile(r"(:\s{0,16})[-+]?(?:nan|inf)\b", re.IGNORECASE)
NUMBER = re.compile(r"[-+]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][-+]?\d{1,3})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Documents:
    """The JSON documents of a text, what stands around them, and why reading ended early, if it did."""

    before: str
    values: tuple[Any, ...]
    after: str
    fault: str = ""
    fault_line: int | None = None
    cut: bool = False  # the text ended inside a document


@dataclass(frozen=True, kw_only=True)
class Given:
    """The bytes of one input, its name, and what the user said about it."""

    data: bytes
    file: str = ""
    pick: tuple[str, ...] = ()
    hint: str = ""  # what the user said of the content beyond the tool, such as the test of netperf

    @cached_property
    def text(self) -> str:
        """The text without byte-order mark, carriage returns and terminal escapes; bad bytes are replaced."""
        return ESCAPES.sub("", self.raw)

    @cached_property
    def raw(self) -> str:
        """The text with its terminal escapes."""
        data = self.data.removeprefix(UTF8_MARK)
        if data.startswith(UTF16) or _looks_utf16(data):
            raise refusal("UTF-16 (or UTF-32) text, expected UTF-8: convert it, as iconv -f UTF-16 -t UTF-8 does")
        if data.count(b"\n") > MOST_LINES:
            raise refusal(f"more than {MOST_LINES} lines, expected the output of one run")
        return data.decode("utf-8", errors="replace").replace("\r\n", "\n").replace("\r", "\n")

    @cached_property
    def head(self) -> str:
        """The beginning of the text, for recognition."""
        return self.text[:HEAD_BYTES]

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines of the text."""
        return tuple(self.text.split("\n"))

    @cached_property
    def json(self) -> Documents | None:
        """The JSON documents of the text; None where no line begins one."""
        found = JSON_START.search(self.raw)
        return None if found is None else _documents(self.raw, found.end() - len(found[0].lstrip(" \t")))


def _looks_utf16(data: bytes) -> bool:
    """Whether every other byte of the beginning is zero, as in Latin text without a mark."""
    head = data[:64]
    return len(head) >= 4 and (not any(head[1::2]) or not any(head[::2])) and any(head)


def _documents(text: str, start: int) -> Documents:
    if len(text) - start > MOST_JSON_BYTES:
        raise refusal(f"JSON of {len(text) - start} characters, expected at most {MOST_JSON_BYTES}")
    if NOT_A_NUMBER.search(text, start) is not None:  # what C prints for 0/0, which is no JSON
        text = NOT_A_NUMBER.sub(r"\1null", text)
    decoder = json.JSONDecoder(parse_constant=lambda _: None)
    values: list[Any] = []
    at, before = start, text[:start].strip()
    while at < len(text) and text[at] in "{[":
        try:
            value, end = decoder.raw_decode(text, at)
        except RecursionError:
            return Documents(before=before, values=tuple(values), after="", fault="JSON nested too deeply")
        except json.JSONDecodeError as error:
            rest = text[error.pos :].strip()
            cut = not rest or error.msg.startswith("Unterminated string")
            line = text.count("\n", 0, error.pos) + 1
            return Documents(before=before, values=tuple(values), after="", fault=error.msg, fault_line=line, cut=cut)
        except ValueError:  # a whole number with thousands of digits
            return Documents(before=before, values=tuple(values), after="", fault="a number with too many digits")
        values.append(value)
        if len(values) > MOST_DOCUMENTS:
            raise refusal(f"more than {MOST_DOCUMENTS} JSON documents, expected the output of one run")
        blank = BLANK.match(text, end)
        at = end if blank is None else blank.end()
    return Documents(before=before, values=tuple(values), after=text[at:].strip())


def number(value: Any) -> float | None:
    """A finite number from JSON or text, None for anything else: text such as `n/a`, a truth value, -nan."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        value = value.strip()
        if len(value) > LONGEST_NUMBER or NUMBER.fullmatch(value) is None:
            return None
    elif not isinstance(value, (int, float)):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if found - found == 0 else None


def count(value: Any) -> int | None:
    """A whole number from zero up, or None."""
    found = number(value)
    return int(found) if found is not None and found >= 0 and found == int(found) else None


def mapping(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def objects(value: Any) -> Iterator[dict[str, Any]]:
    """The objects in a list; anything else gives none."""
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def words(value: Any, most: int = 200) -> str:
    """A text value on one line, cut to a length; empty for anything else."""
    return " ".join(value.split())[:most] if isinstance(value, str) else ""
