"""What every command does with its answer: print it, or write it beside the target and rename it."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from vmodel.errors import ConfigError, Fault, nearest


def say(text: str) -> None:
    """Print text that ends with exactly one new line."""
    click.echo(text.rstrip("\n"))


def say_json(record: Any) -> None:
    """Print a record as JSON."""
    say(as_json_text(record))


def as_json_text(record: Any) -> str:
    """A record as JSON text, keys in the order of the record."""
    import json

    return json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def ending(path: str | None, known: Sequence[str], key: str = "-o") -> str | None:
    """The ending of an output file; a fault if this command cannot write it. Checked before anything is computed."""
    if path is None:
        return None
    found = Path(path).suffix.removeprefix(".").lower()
    if found not in known:
        listed = ", ".join(f".{name}" for name in known)
        guess = nearest(found, known) if found else None
        raise ConfigError(
            [Fault(file="", key=key, value=path, expected=f"a file that ends in {listed}", nearest=guess)]
        )
    target = Path(path)
    folder = target.parent
    try:
        taken, there = target.is_dir(), folder.is_dir()
        target.exists()
    except (OSError, ValueError) as error:
        told = error.strerror if isinstance(error, OSError) else error
        raise ConfigError([Fault(file="", key=key, value=path, expected=f"a file name ({told})")]) from None
    if taken or not there:
        expected = "a file, not a folder" if taken else f"a file in a folder that exists; {folder} does not"
        raise ConfigError([Fault(file="", key=key, value=path, expected=expected)])
    return found


PICTURES = ("png", "svg", "pdf")


def check_plot(path: str | None) -> None:
    """A fault if --plot names a file that no figure can be written to. Checked before anything is computed."""
    ending(path, PICTURES, "--plot")


def write_figure(path: str, figure: Any) -> None:
    """Write a matplotlib figure by the ending of its file."""
    from vmodel.report.figures import picture

    write(path, picture(figure, Path(path).suffix.removeprefix(".").lower()))


def write(path: str, content: str | bytes) -> None:
    """Write a file completely or not at all: beside its place, then renamed."""
    target = Path(path)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with part.open("xb") as file:
            file.write(content.encode("utf-8") if isinstance(content, str) else content)
        part.replace(target)
    except OSError as error:
        raise ConfigError(
            [Fault(file="", key="-o", value=path, expected=f"a writable file ({error.strerror})")]
        ) from None
    finally:
        part.unlink(missing_ok=True)
    click.echo(f"wrote {path}", err=True)


def as_csv(rows: Sequence[dict[str, Any]]) -> str:
    """Rows as CSV text; None is an empty cell."""
    import csv
    import io

    text = io.StringIO()
    writer = csv.DictWriter(text, list(dict.fromkeys(key for row in rows for key in row)), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def flat(record: Any, prefix: str = "") -> dict[str, Any]:
    """A nested record as one row: names joined by underscores, lists of texts by semicolons, tables left out."""
    out: dict[str, Any] = {}
    for key, value in record.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            out.update(flat(value, f"{name}_"))
        elif key == "interval90":
            low, high = value or (None, None)
            out[f"{name}_low"], out[f"{name}_high"] = low, high
        elif isinstance(value, list):
            if not any(isinstance(item, dict) for item in value):
                out[name] = "; ".join(str(item) for item in value)
        else:
            out[name] = value
    return out
