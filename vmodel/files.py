"""Reading a file that may be anything: a device without end, a folder, a name that no file can have, a later format."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vmodel.errors import ConfigError, Fault
from vmodel.units import format_bytes


def content(name: str | Path, most: int, what: str) -> bytes:
    """The bytes of a file, of which there may be at most so many [bytes]. Raises ConfigError."""
    file = str(name)
    try:
        with Path(name).open("rb") as stream:
            data = stream.read(most + 1)
    except OSError as error:
        raise ConfigError([Fault(file=file, key="", expected=f"a readable file ({error.strerror})")]) from None
    except ValueError:
        raise ConfigError([Fault(file=file, key="", expected="the name of a file")]) from None
    if len(data) > most:
        raise ConfigError([Fault(file=file, key="", expected=f"{what} of at most {format_bytes(most)}")])
    return data


def is_later(body: Mapping[str, Any], known: int) -> bool:
    """Whether a file says that its format is later than the one that is read here."""
    value = body.get("format", known)
    return isinstance(value, (int, float)) and value > known


def format_fault(body: Mapping[str, Any], known: int, file: str) -> Fault | None:
    """The fault of a file whose `format` is not the one that is read here; a file without one has the first.

    A later format is refused as such, and its other keys are not held against it. There is no earlier one yet: the
    reader that knows a second one carries files of the first over before it looks at them.
    """
    value = body.get("format", known)
    if isinstance(value, int) and not isinstance(value, bool) and value == known:
        return None
    told = "; a later version of vmodel wrote this file" if is_later(body, known) else ""
    shown = value if isinstance(value, (str, int, float)) else str(value)
    return Fault(file=file, key="format", value=shown, expected=f"{known}, the format that this version reads{told}")
