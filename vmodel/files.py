"""Reading a file that may be anything: a device without end, a folder, a name that no file can have."""

from pathlib import Path

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
