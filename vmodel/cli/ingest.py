"""`vmodel ingest`."""

from collections.abc import Mapping
from typing import Any

import click

from vmodel.cli.options import complete, json_option, path_option
from vmodel.cli.output import as_json_text, ending, say, say_json, write
from vmodel.errors import ConfigError, Fault, nearest, one_line
from vmodel.ingest.read import READERS, read
from vmodel.ingest.result import Ingested
from vmodel.ingest.rows import as_rows, as_text
from vmodel.library import tables

SAID = ("path", "peer", "topology", "workload", "direction", "profile")  # what only the user knows of a run


def interface_option(function: Any) -> Any:
    """The --interface flag."""
    about = "device to take from a file that holds several (name, MAC, address, or number); repeatable"
    return click.option("--interface", "interfaces", metavar="NAME", multiple=True, help=about)(function)


@click.command("ingest")
@click.argument("files", metavar="FILE...", nargs=-1)
@click.option("--tool", metavar="TOOL", help="read as the output of this tool, as iperf3 or netperf:TCP_RR")
@interface_option
@path_option("data path that was measured, for -o (see `vmodel paths`)")
@click.option("--peer", metavar="PATH", help="path of the other end, where it differs", shell_complete=complete("peer"))
@click.option("--topology", metavar="WHERE", help="where the ends stand", shell_complete=complete("topology"))
@click.option("--workload", metavar="KIND", help="rr, stream or packets, where the output does not tell")
@click.option("--direction", metavar="WAY", help="to-vm or from-vm", shell_complete=complete("direction"))
@click.option("--size", metavar="BYTES", help="bytes per message, where the output does not tell")
@click.option("--profile", metavar="NAME", help="name of the machine", shell_complete=complete("profile"))
@click.option("--series", metavar="NAME", help="name of rows that vary one thing")
@click.option("--set", "set_", metavar="NAME=VALUE", multiple=True, help="a knob that held during the run; repeatable")
@click.option("--tools", "list_tools", is_flag=True, help="list the tools whose output is read")
@json_option
@click.option("-o", "--output", metavar="FILE", help="write observations (csv) or the record (json)")
def ingest_command(files: tuple[str, ...], list_tools: bool, as_json: bool, output: str | None, **said: Any) -> None:
    """Read the outputs of measuring and configuration tools.

    The tool is recognised from what a file says; `-` reads standard input. A file without a result is an error.
    -o out.csv writes observations that `vmodel fit` reads; a path must then be named.
    """
    if list_tools:
        if as_json:
            say_json([{"tool": reader.tool, "form": reader.form} for reader in READERS])
            return
        say("\n".join(f"{reader.tool.ljust(10)} {reader.form}" for reader in READERS))
        return
    if not files:
        raise click.UsageError("name a file, or - for standard input")
    kind = ending(output, ("csv", "json"))
    found = {file: read(file, tool=said["tool"], pick=said["interfaces"]) for file in files}
    if kind == "csv" and output is not None:
        known = known_of(said)
        write(output, as_text([row for file, one in found.items() for row in as_rows(one, file, known)]))
    records = [record_of(one) for one in found.values()]
    answer = records[0] if len(records) == 1 else [{"file": f, **r} for f, r in zip(found, records, strict=True)]
    if kind == "json" and output is not None:
        write(output, as_json_text(answer))
    if as_json:
        say_json(answer)
    elif output is None:
        for file, one in found.items():
            say("\n".join(lines_of(file, one)))


def record_of(found: Ingested) -> dict[str, Any]:
    """The JSON record of one input."""
    return {
        "tool": found.tool,
        "version": found.version,
        "kind": found.kind,
        "observations": [dict(row) for row in found.observations],
        "configuration": dict(found.configuration),
        "warnings": list(found.warnings),
    }


def known_of(said: Mapping[str, Any]) -> dict[str, str]:
    """What the user says of every row; raises ConfigError for names that do not exist."""
    known = {name: said[name] for name in (*SAID, "series") if said.get(name)}
    if said.get("size"):
        known["message_bytes"] = said["size"]
    faults = []
    for pair in said["set_"]:
        name, equals, value = pair.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or name not in tables.knobs():
            guess = nearest(name, tables.knobs())
            faults.append(Fault(file="", key=f"--set {pair}", expected="a knob and its value", nearest=guess))
        known[name] = value.strip()
    choices = {"path": tables.path_names(), "peer": tuple(tables.endpoints()), "topology": tables.TOPOLOGIES,
               "workload": tables.WORKLOADS, "direction": tables.DIRECTIONS}  # fmt: skip
    for name, values in choices.items():
        if known.get(name) and known[name] not in values:
            guess = nearest(known[name], values)
            faults.append(Fault(file="", key=f"--{name}", value=known[name], expected=f"a known {name}", nearest=guess))
    if faults:
        raise ConfigError(faults)
    return known


def lines_of(file: str, found: Ingested) -> list[str]:
    """One input for a person: what it is, its values, its warnings."""
    version = f" {found.version}" if found.version else ""
    lines = [f"{file}: {found.tool}{version}, {found.kind}"]
    for row in found.observations:
        lines += [f"  {name.ljust(24)} {_text(value)}" for name, value in row.items() if value is not None] + [""]
    lines += [f"  {k.ljust(24)} {_text(v)}" for k, v in found.configuration.items() if v is not None and k != "devices"]
    devices = found.configuration.get("devices", ())
    lines += [
        f"  {_text(device.get('ifname') or device.get('bus_info')).ljust(24)} {_text(device)}" for device in devices
    ]
    lines += [f"  warning: {warning}" for warning in found.warnings]
    return [one_line(line) for line in lines]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict):
        return ", ".join(f"{k} {_text(v)}" for k, v in value.items() if v is not None)
    if isinstance(value, list):
        return ", ".join(_text(item) for item in value)
    return str(value)
