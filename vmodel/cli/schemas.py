"""`vmodel schema`: the JSON Schema of every file that people write, made of the tables that its reader goes by.

The same texts ship beside the tables, as `vmodel/library/schemas/*.schema.json` (`python -m tests.schemas` writes them)
and, for fleets, beside the reader as `vmodel/plan/fleet.schema.json`.
"""

from collections.abc import Callable, Mapping
from typing import Any

import click

from vmodel.cli.options import ALIASES, TEXT_ONLY, WORDS
from vmodel.cli.output import say, say_json
from vmodel.errors import ConfigError, Fault, nearest
from vmodel.library import path_file, tables
from vmodel.library.profile import CLOCKS_GHZ, FORMAT, LEAST_COST, MOST_COST
from vmodel.sources import STANDINGS

DRAFT = "https://json-schema.org/draft/2020-12/schema"
POSITIVE = {"type": "number", "exclusiveMinimum": 0}
COST = {"type": "number", "minimum": LEAST_COST, "maximum": MOST_COST}
TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}


def _table(properties: Mapping[str, Any], required: tuple[str, ...] = (), *, closed: bool = True) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "object", "properties": dict(properties), "required": list(required)}
    return found | {"additionalProperties": False} if closed else found


def _knob(k: tables.Knob) -> dict[str, Any]:
    """What a knob may be in a file of numbers."""
    if k.kind == "switch":
        return {"type": ["boolean", "number"], "description": k.about}
    return {"type": "number", "minimum": k.least, "maximum": k.most, "description": k.about}


def _knobs() -> dict[str, Any]:
    return {name: _knob(k) for name, k in tables.knobs().items()}


def profile_schema() -> dict[str, Any]:
    """A profile: the costs of one machine, with what is known of their errors."""
    cost = _table({
        "value": COST, "log_error": POSITIVE, "standing": {"enum": list(STANDINGS)}, "sources": TEXTS,
        "unit": TEXT,
    }, ("value", "log_error", "standing"), closed=False)  # fmt: skip
    costs = {
        name: {"description": f"{p.about} [{p.unit or '-'}]", "$ref": "#/$defs/cost"}
        for name, p in tables.priors().items()
    }
    seen = _table({
        "topologies": TEXTS, "directions": TEXTS, "rows": {"type": "integer", "minimum": 0},
        "size_bytes": {"type": "array", "items": POSITIVE, "minItems": 2, "maxItems": 2},
        "log_sd": {"type": "number", "minimum": 0},
    }, ("topologies", "directions", "size_bytes", "rows", "log_sd"), closed=False)  # fmt: skip
    row = {"anyOf": [{"type": "array", "items": {"type": "number"}}, TEXT]}
    settings = {"$ref": "#/$defs/settings"}
    machine = _table(
        {"core_watts": POSITIVE, "path_defaults": {"type": "object", "additionalProperties": settings}}, closed=False
    )
    whole = _table({
        "format": {"const": FORMAT, "description": "version of this format"}, "name": {}, "title": {},
        "clock_ghz": {"type": "number", "minimum": CLOCKS_GHZ[0], "maximum": CLOCKS_GHZ[1]},
        "note": {}, "sources": TEXTS, "machine": machine,
        "drivers": {"type": "object", "additionalProperties": TEXT}, "defaults": settings, "fit": {},
        "parameters": _table(costs),
        "covariance": _table({"names": TEXTS, "lower": {"type": "array", "items": row}}, closed=False),
        "seen": {"type": "object", "additionalProperties": seen},
    }, ("name", "title", "format", "clock_ghz"))  # fmt: skip
    return {**whole, "$defs": {"cost": cost, "settings": _table(_knobs())}}


def path_schema() -> dict[str, Any]:
    """A path of one's own: the stages of its two directions, and where it stands."""
    ends = tuple(tables.endpoints())
    stages = {"type": "array", "items": {"enum": sorted(path_file.stage_names())}, "minItems": 1}
    path = _table({
        "topologies": {"type": "array", "items": {"enum": list(tables.TOPOLOGIES)}},
        "topology": {"enum": list(tables.TOPOLOGIES)}, "workload": {"enum": list(tables.WORKLOADS)},
        "host_peer": {"enum": list(ends)}, **{key: {} for key in ("best", "defaults", "fixed", "since", "cites")},
    })  # fmt: skip
    return _table({
        "format": {"const": path_file.FORMAT}, "title": TEXT, "place": {"enum": list(path_file.PLACES)},
        "attach": {"enum": list(path_file.ATTACHMENTS)},
        "device": {"enum": list(path_file.DEVICES)}, "merges": {"type": "boolean"}, "tx": stages, "rx": stages,
        "path": path,
    }, ("title", "place", "attach", "tx", "rx"))  # fmt: skip


def configuration_schema() -> dict[str, Any]:
    """What `--config` reads: the names of the flags; values as on the command line, or plain numbers."""
    told = {"type": ["string", "number", "boolean"]}
    words = {
        name: {"description": about, **(TEXT if name in TEXT_ONLY else {"type": ["string", "number"]})}
        for name, (_, about) in WORDS.items()
    }
    knobs = {name: {"description": k.about, **told} for name, k in tables.knobs().items()}
    costs = {
        name: {"description": f"{p.about} [{p.unit or '-'}]", "type": ["string", "number"]}
        for name, p in tables.priors().items()
    }
    names = {**words, **knobs, **costs, **{short: knobs[name] for short, name in ALIASES.items()}}
    hyphens = {name.replace("_", "-"): {"$ref": f"#/properties/{name}"} for name in names if "_" in name}
    return _table({**names, **hyphens})


def observations_schema() -> dict[str, Any]:
    """One row of a CSV of observations, its empty cells left out and its numbers read."""
    from vmodel.calibrate.dataset import FIXED, METRICS, NEEDED

    choices = {
        "topology": tables.TOPOLOGIES, "workload": tables.WORKLOADS, "direction": tables.DIRECTIONS, "metric": METRICS,
        "path": tables.path_names(), "peer": tuple(tables.endpoints()),
    }  # fmt: skip
    fixed = {name: {"enum": list(choices[name])} if name in choices else TEXT for name in FIXED}
    size = {"type": ["number", "string"], "description": "bytes per message, or with a unit: 64KiB"}
    knobs = {name: {"description": k.about, "type": ["string", "number"]} for name, k in tables.knobs().items()}
    return _table({**fixed, "value": POSITIVE, "sd": POSITIVE, "message_bytes": size, **knobs}, NEEDED)


def fleet_schema() -> dict[str, Any]:
    """A fleet for `vmodel plan`: host types, VM classes, what runs already, rules."""
    from vmodel.plan.fleet import schema

    return schema()


MADE: Mapping[str, Callable[[], dict[str, Any]]] = {
    "profile": profile_schema,
    "path": path_schema,
    "configuration": configuration_schema,
    "observations": observations_schema,
    "fleet": fleet_schema,
}


def schema_of(name: str) -> dict[str, Any]:
    """The JSON Schema of one kind of file, by its name in MADE."""
    return {"$schema": DRAFT, "title": f"vmodel {name}", "description": str(MADE[name].__doc__), **MADE[name]()}


@click.command("schema")
@click.argument("name", required=False, metavar="[NAME]")
def schema_command(name: str | None) -> None:
    """The JSON Schema of the files that people write; without NAME, which there are.

    \b
    vmodel schema
    vmodel schema profile
    """
    if name is None:
        say("\n".join(f"{kind.ljust(14)} {str(made.__doc__).partition(chr(10))[0]}" for kind, made in MADE.items()))
        return
    if name not in MADE:
        expected = f"one of {', '.join(MADE)}"
        raise ConfigError([Fault(file="", key="NAME", value=name, expected=expected, nearest=nearest(name, MADE))])
    say_json(schema_of(name))
