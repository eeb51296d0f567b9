"""Measurements that a command is given: an observation file, or what a measuring tool printed."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from vmodel.calibrate.dataset import parse_rows, read_rows
from vmodel.cli.options import complete
from vmodel.core.records import Observation
from vmodel.errors import ConfigError, Fault

F = TypeVar("F", bound=Callable[..., Any])
HEAD_BYTES = 4096
SAID = ("path", "peer", "topology", "workload", "direction", "size")


def said_options(function: F) -> F:
    """What only the user knows of a tool's output: where it was measured and which settings held."""
    about = "A setting that held during the run, for a tool's output; repeatable."
    function = click.option("--set", "set_", metavar="NAME=VALUE", multiple=True, help=about)(function)
    function = click.option("--size", metavar="BYTES", help="Bytes per message, where a tool's output does not tell.")(
        function
    )
    texts = {"direction": "to-vm or from-vm", "workload": "rr, stream or packets", "topology": "where the ends stand"}
    texts |= {"peer": "path of the other end", "path": "data path that was measured"}
    for name, text in texts.items():
        flag = click.option(
            f"--{name}", metavar=name.upper(), help=f"For a tool's output: {text}.", shell_complete=complete(name)
        )
        function = flag(function)
    return function


def measurements(file: Path, said: Mapping[str, Any]) -> tuple[Observation, ...]:
    """The rows of an observation file, or of any output that `vmodel ingest` reads. Raises ConfigError.

    said: what the user says of a tool's output, as `said_options` collects it; an observation file says it itself.
    """
    if _is_observations(file):
        given = [name for name in (*SAID, "set_") if said.get(name)]
        if given:
            flag = "--set" if given[0] == "set_" else f"--{given[0]}"
            expected = f"a column of {file} instead: only a tool's output leaves it open"
            raise ConfigError([Fault(file="", key=flag, expected=expected)])
        return read_rows(file)
    from vmodel.cli.ingest import known_of  # only who brings a tool's output pays for its readers
    from vmodel.ingest.read import read
    from vmodel.ingest.rows import as_rows, as_text

    known = known_of({"profile": None, "series": None, **said})
    return parse_rows(as_text(as_rows(read(str(file)), str(file), known)), str(file))


def _is_observations(file: Path) -> bool:
    """Whether a file is, or was meant as, an observation CSV: by its name, or by the columns of its first line."""
    if file.suffix.lower() == ".csv":
        return True
    try:
        with file.open("rb") as stream:
            head = stream.read(HEAD_BYTES)
    except OSError:
        return True  # the reader of observations says what is wrong with it
    first = head.decode("utf-8-sig", "replace").lstrip().split("\n", 1)[0]
    return {"metric", "value"} <= {name.strip().strip('"') for name in first.split(",")}
