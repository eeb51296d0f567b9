"""The exceptions of vmodel and how one error line is composed; physical refusals are records and do not live here.

Every exception keeps its facts as fields, is also the built-in exception that a caller would expect, and travels
between processes.
"""

from collections.abc import Iterable
from dataclasses import dataclass

LONGEST_VALUE = 80  # characters of a user's value that an error line repeats
LONGEST_LINE = 600  # characters of a part of an error line; what is longer loses its middle
LONGEST_NAME = 100  # a longer name is not a slip of the pen, and comparing it takes time
CLOSE_ENOUGH = 0.6  # share of agreeing characters from which a name is offered instead


def one_line(text: str) -> str:
    """Return the text with everything that is not printable written as an escape, so that it stays on one line."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def shortened(text: str) -> str:
    """Return the text, or its beginning and its end where it is longer than a line should be."""
    half = LONGEST_LINE // 2
    return text if len(text) <= LONGEST_LINE else f"{text[:half]}…{text[-half:]}"


def shown(value: object) -> str:
    """Return a value as an error line repeats it: text in double quotes, truth values as in TOML, long ones cut."""
    if isinstance(value, bool):
        text = str(value).lower()
    elif isinstance(value, float):
        text = repr(float(value))  # also when it is a NumPy scalar
    else:
        text = one_line(value if isinstance(value, str) else repr(value))
    if len(text) > LONGEST_VALUE:
        text = text[: LONGEST_VALUE - 1] + "…"
    return f'"{text}"' if isinstance(value, str) else text


def nearest(name: str, choices: Iterable[str]) -> str | None:
    """Return the choice that the name most resembles, or None; case, hyphens and underscores do not count."""
    if len(name) > LONGEST_NAME:
        return None
    from difflib import get_close_matches  # only a mistake pays for loading it

    spellings: dict[str, str] = {}
    for choice in sorted(choices):
        spellings.setdefault(_folded(choice), choice)
    found = get_close_matches(_folded(name), spellings, n=1, cutoff=CLOSE_ENOUGH)
    return spellings[found[0]] if found else None


def _folded(name: str) -> str:
    return name.casefold().replace("_", "-")


def _composed(where: str, problem: str, hint: str | None = None) -> str:
    line = f"{shortened(where)}: {shortened(problem)}" if where else shortened(problem)
    return one_line(line if hint is None else f"{line}; did you mean {shown(hint)}?")


class VmodelError(Exception):
    """Something that the user can mend; the root of all exceptions raised on purpose."""

    def lines(self) -> tuple[str, ...]:
        """Return one printable line per fault, most errors have one."""
        return (_composed("", "; ".join(str(fact) for fact in self.args)),)

    def __str__(self) -> str:
        return "\n".join(self.lines())


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing wrong in a file or among options; a value of None stands for a key that is missing or not known."""

    file: str
    key: str
    value: object = None
    expected: str
    nearest: str | None = None

    @property
    def line(self) -> str:
        """The fault as one line: where, what was found, what was expected, the nearest valid spelling."""
        what = self.key if self.value is None else f"{self.key} = {shown(self.value)}"
        where = ": ".join(part for part in (self.file, what) if part)
        return _composed(where, f"expected {self.expected}", self.nearest)


class ConfigError(VmodelError, ValueError):
    """A file or a set of options does not make a configuration; holds all its faults, one line each."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__(self.faults)

    def lines(self) -> tuple[str, ...]:
        return tuple(fault.line for fault in self.faults)


class UnitError(VmodelError, ValueError):
    """A text is not the quantity that was wanted."""

    def __init__(self, text: str, wanted: str, nearest: str | None = None) -> None:
        self.text, self.wanted, self.nearest = text, wanted, nearest
        super().__init__(text, wanted, nearest)

    def lines(self) -> tuple[str, ...]:
        return (_composed(shown(self.text), f"expected {self.wanted}", self.nearest),)


class UnknownName(VmodelError, KeyError):
    """Nothing of this kind has this name."""

    def __init__(self, kind: str, name: str, nearest: str | None = None) -> None:
        self.kind, self.name, self.nearest = kind, name, nearest
        super().__init__(kind, name, nearest)

    def lines(self) -> tuple[str, ...]:
        return (_composed(f"{self.kind} {shown(self.name)}", f"no such {self.kind}", self.nearest),)


class ScenarioError(VmodelError, ValueError):
    """A scenario makes no sense: a field has a value that no such machine or workload can have."""

    def __init__(self, field: str, value: object, expected: str, nearest: str | None = None) -> None:
        self.field, self.value, self.expected, self.nearest = field, value, expected, nearest
        super().__init__(field, value, expected, nearest)

    def lines(self) -> tuple[str, ...]:
        return (_composed(f"{self.field} = {shown(self.value)}", f"expected {self.expected}", self.nearest),)


class DatasetError(VmodelError, ValueError):
    """A study or a tool's output cannot be read; the line is None when the whole file is at fault."""

    def __init__(self, study: str, file: str, line: int | None, fault: str) -> None:
        self.study, self.file, self.line, self.fault = study, file, line, fault
        super().__init__(study, file, line, fault)

    def lines(self) -> tuple[str, ...]:
        place = "/".join(part for part in (self.study, self.file) if part)
        return (_composed(place if self.line is None else f"{place}:{self.line}", self.fault),)


class StageError(VmodelError, TypeError):
    """A stage is declared wrongly."""

    def __init__(self, stage: str, fault: str) -> None:
        self.stage, self.fault = stage, fault
        super().__init__(stage, fault)

    def lines(self) -> tuple[str, ...]:
        return (_composed(f"stage {shown(self.stage)}", self.fault),)


class FitError(VmodelError, RuntimeError):
    """A fit could not be carried out; the parameter is None when no single one is to blame."""

    def __init__(self, study: str, parameter: str | None, reason: str) -> None:
        self.study, self.parameter, self.reason = study, parameter, reason
        super().__init__(study, parameter, reason)

    def lines(self) -> tuple[str, ...]:
        return (_composed(": ".join(part for part in (self.study, self.parameter) if part), self.reason),)


class EngineError(VmodelError, RuntimeError):
    """A chunk of a sweep failed on a worker."""

    def __init__(self, worker: str, chunk: str, reason: str) -> None:
        self.worker, self.chunk, self.reason = worker, chunk, reason
        super().__init__(worker, chunk, reason)

    def lines(self) -> tuple[str, ...]:
        return (_composed(f"worker {self.worker}, chunk {self.chunk}", self.reason),)
