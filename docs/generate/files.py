"""The files people write and read: columns, keys and JSON Schemas, from the readers themselves."""

import json
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

from docs.generate import places
from docs.generate.markup import code, codes, link, plain, table
from vmodel.calibrate.dataset import FIXED, METRICS, NEEDED
from vmodel.library import path_file, profile, tables

COLUMNS = {
    "id": "name of the row; its line if empty",
    "path": "a path",
    "peer": "path of the other end, where it differs",
    "topology": "where the ends stand",
    "workload": "rr, stream or packets",
    "direction": "to-vm or from-vm, where the two differ",
    "message_bytes": "size of a message [B]",
    "metric": "what was measured, with its unit in the name",
    "value": "the figure, in that unit",
    "sd": "standard deviation, in that unit; a weight of the fit",
    "instrument": "the measuring tool",
    "session": "rows taken together, whose machine was in one state",
    "series": "rows that vary one thing; left out together in validation",
    "profile": "the machine, where a file holds several",
    "source": "author, date and line",
    "printed": "figure and unit as printed",
    "excluded": "why this row is not compared; empty if it is",
    "note": "anything else; what begins with doubtful: is compared but told",
}
PROFILE_KEYS = {
    "name": "name of the machine",
    "title": "machine and software in one line",
    "format": f"version of the format: {profile.FORMAT}",
    "clock_ghz": "clock at which the priors are taken over [GHz]",
    "machine": "anything known of the machine; core_watts and path_defaults are read",
    "drivers": "NIC driver by role: vf, pf",
    "defaults": "settings of this machine, by knob",
    "parameters": "by cost: value [SI], log_error (of its logarithm), standing, sources",
    "covariance": "of the logarithms: names, lower triangle",
    "seen": "by path/workload: topologies, directions, size_bytes, rows, log_sd",
    "sources": "keys of sources",
    "note": "text",
    "fit": "how it was fitted; not read",
}
PATH_KEYS = {
    "format": "version of the format: 1, and 1 where it is left out",
    "title": "what it is, in one line",
    "place": f"where the application runs: {', '.join(path_file.PLACES[:2])}",
    "attach": f"what the end ends at: {', '.join(path_file.ATTACHMENTS)}",
    "device": f"whose interrupt moderation the receiver waits for: {', '.join(path_file.DEVICES)}",
    "merges": "whether a busy device lets small writes fill segments",
    "tx": "stages of a sender, application first",
    "rx": "stages of a receiver, application last",
    "path": f"a table with any of {', '.join(path_file.PATH_KEYS)}",
}


def _columns() -> str:
    rows = [(code(name), "yes" if name in NEEDED else "", plain(COLUMNS[name])) for name in FIXED]
    return table(("column", "needed", ""), rows)


def schemas() -> dict[str, dict[str, Any]]:
    """Name in the package -> every JSON Schema that is shipped."""
    root = Path(str(resources("vmodel")))
    return {
        str(p.relative_to(root.parent)): json.loads(p.read_text("utf-8")) for p in sorted(root.rglob("*.schema.json"))
    }


def _kind(body: dict[str, Any]) -> str:
    if "$ref" in body:
        name = body["$ref"].rpartition("/")[2]
        return f"table {name}"
    if "enum" in body:
        return f"one of {', '.join(map(str, body['enum'][:12]))}"
    if "const" in body:
        return str(body["const"])
    choices = body.get("anyOf") or body.get("oneOf")
    if choices:
        return " or ".join(dict.fromkeys(_kind(c) for c in choices if c.get("type") != "null"))
    if body.get("type") == "array":
        return f"list of {_kind(body.get('items', {})) or 'anything'}"
    kind = body.get("type", "")
    limits = [
        f"{word} {body[key]:g}"
        for key, word in (
            ("minimum", "at least"),
            ("exclusiveMinimum", "above"),
            ("maximum", "at most"),
            ("exclusiveMaximum", "below"),
        )
        if isinstance(body.get(key), (int, float))
    ]  # fmt: skip
    named = ", ".join(kind) if isinstance(kind, list) else kind
    return ", ".join([named, *limits]) if named else ""


def _schema_rows(body: dict[str, Any]) -> list[tuple[str, ...]]:
    rows = []
    for name, field in body.get("properties", {}).items():
        needed = "yes" if name in body.get("required", ()) else ""
        default = json.dumps(field["default"]) if field.get("default") not in (None, [], {}, "") else ""
        default = default if not default.startswith("{") else ""
        rows.append(
            (
                code(name),
                plain(_kind(field)),
                needed,
                code(default) if default else "",
                plain(field.get("description", "")),
            )
        )
    return rows


def _schema(name: str, body: dict[str, Any]) -> str:
    heads = ("key", "type", "needed", "default", "")
    parts = [f"## {plain(body.get('title', Path(name).name))}\n", f"Shipped as `{name}`.\n"]
    if body.get("description"):
        parts.append(f"{plain(body['description'])}\n")
    if body.get("properties"):
        parts.append(table(heads, _schema_rows(body)))
    for kind, inner in body.get("$defs", {}).items():
        if inner.get("properties"):
            parts.append(
                f"\n### {kind} of "
                f"{plain(body.get('title', Path(name).name))}\n\n{plain(inner.get('description', ''))}\n"
            )
            parts.append(table(heads, _schema_rows(inner)))
    return "\n".join(parts)


def file_page() -> str:
    """The page of file formats."""
    here = places.FILES
    simple = ("key", "")
    return "\n".join(
        [
            "# Files\n",
            "All faults of a file are told at once, each with its place, what was expected and the nearest name. "
            "Nothing in a file is ever executed.\n",
            "## Observations (CSV)\n",
            "What `fit`, `validate`, `diagnose` and `suggest --after` read, and `ingest -o` and `measure` write. "
            "One measured figure a row. An empty cell is unknown, which is not zero; an unknown column is an "
            "error.\n",
            _columns(),
            f"\n`metric` is one of {codes(METRICS)}; topologies are {codes(tables.TOPOLOGIES)}. Any "
            f"{link(here, 'knob', places.KNOBS)} can be a column by its name.\n",
            "## Profile (TOML)\n",
            "The costs of one machine, written by `vmodel fit -o`.\n",
            table(simple, [(code(k), plain(v)) for k, v in PROFILE_KEYS.items()]),
            "\n## Path (TOML)\n",
            "One end of a path made of stages that there are: `vmodel predict --path mine.toml`.\n",
            table(simple, [(code(k), plain(v)) for k, v in PATH_KEYS.items()]),
            "\n## Question (TOML)\n",
            f"`--config` takes the long options of {link(here, 'predict', places.command_page('predict'))} and the "
            f"names of {link(here, 'knobs', places.KNOBS)} and {link(here, 'costs', places.COSTS)} as keys. Flags "
            "go first.\n",
            *(_schema(name, body) for name, body in schemas().items()),
            "\n## Outputs of tools\n",
            "Their keys and units stand on the page of [ingest](../ingest.md).\n",
        ]
    )


def pages() -> dict[str, str]:
    """Address -> text."""
    return {places.FILES: file_page()}
