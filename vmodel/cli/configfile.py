"""A configuration file: the names of the flags as TOML keys. Faults are collected, not raised one by one."""

import tomllib
from collections.abc import Iterable
from typing import Any

from vmodel.cli.options import ALIASES, TEXT_ONLY, Question
from vmodel.errors import ConfigError, Fault, nearest
from vmodel.files import content

LARGEST_BYTES = 1 << 20


def read_into(question: Question, file: str, known: Iterable[str]) -> None:
    """Read a file into a question: keys with hyphens or underscores, values as text, numbers or truth values."""
    body = _parsed(question, file)
    known = tuple(known)
    for key, value in body.items():
        name = key.replace("-", "_")
        name = ALIASES.get(name, name)
        if name not in known:
            guess = nearest(key, (*known, *ALIASES))
            question.faults.append(Fault(file=file, key=key, expected="a known name", nearest=guess))
        elif name in question.settings:
            question.faults.append(Fault(file=file, key=key, expected="one value only"))
        elif not isinstance(value, (str, int, float)):
            expected = "text, a number, true or false"
            question.faults.append(Fault(file=file, key=key, value=str(value), expected=expected))
        elif name in TEXT_ONLY and not isinstance(value, str):
            question.faults.append(Fault(file=file, key=key, value=value, expected="text in quotes"))
        elif isinstance(value, bool) and name in ("load", *_costs()):
            question.faults.append(Fault(file=file, key=key, value=value, expected="a number"))
        else:
            question.put(name, _number(value), file, key)


def _number(value: Any) -> Any:
    """A whole number too large for a float stays a text, which is then refused with its reason."""
    if isinstance(value, int) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            return str(value)[:40]
    return value


def _costs() -> Iterable[str]:
    from vmodel.library.tables import priors

    return priors()


def _parsed(question: Question, file: str) -> dict[str, Any]:
    try:
        return tomllib.loads(content(file, LARGEST_BYTES, "a configuration file").decode("utf-8"))
    except ConfigError as error:
        question.faults.extend(error.faults)
    except (ValueError, RecursionError) as error:
        question.faults.append(Fault(file=file, key="", expected=f"TOML ({error})"))
    return {}
