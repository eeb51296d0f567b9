"""The JSON records that people script against: every key with its unit, from a record that the program just made."""

import json
import re
from collections.abc import Iterator
from typing import Any

from docs.generate import places
from docs.generate.api import unit_of
from docs.generate.markup import block, code, link, plain, table
from vmodel.config import scenario
from vmodel.report.record import as_json
from vmodel.solve import solver

ASKED = "--path virtio-vhost --workload packets --size 256 --load 200kpps"
LONGEST = 60  # characters of a value in the table
MOST_SHOWN = 2  # items of a list in the whole record
BY_NAME = {"busy", "settings", "origins"}  # whose keys are names of resources or settings
UNITS = {
    "cpu": "cores",
    "ring": "packets",
    "full": "share",
    "loss": "share",
    "slack": "share",
    "batch_taken": "packets",
    "uj_per_message": "uJ",
}


def record() -> dict[str, Any]:
    """The record of the question that the page shows."""
    return as_json(solver.predict(scenario(path="virtio-vhost", workload="packets", size="256", load="200kpps")))


def _unit(key: str) -> str:
    """What a key, or a key above it, says of its unit."""
    for name in reversed(key.replace("[]", "").split(".")):
        unit = UNITS.get(name) or ("us" if name == "us" else unit_of(name))
        if unit:
            return unit
    return ""


def _rows(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value and key not in BY_NAME:
        for name, inner in value.items():
            yield from _rows(inner, f"{key}.{name}" if key else name)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        yield from _rows(value[0], f"{key}[]")
    else:
        yield key, value


def _brief(value: Any) -> str:
    if isinstance(value, dict):
        return ""
    text = json.dumps(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "true or false"
    names = {str: "text", int: "number", float: "number", list: "list", dict: "object", type(None): "number or null"}
    return names[type(value)]


def page() -> str:
    """The page of records."""
    here, found = places.RECORDS, record()
    rows = [
        (code(key), _kind(value), "" if isinstance(value, str | bool) else _unit(key), plain(_brief(value)))
        for key, value in _rows(found)
    ]
    short = {k: v[:MOST_SHOWN] if isinstance(v, list) else v for k, v in found.items()}
    text = re.sub(r"\[\s+([\d.]+),\s+([\d.]+)\s+\]", r"[\1, \2]", json.dumps(short, indent=2))
    return "\n".join(
        [
            "# Records\n",
            f"`--json` of every {link(here, 'command', places.COMMANDS)} prints one object. The unit is in the key, "
            "or in one above it; a value that does not apply is null. The record of a prediction is part of most "
            "others:\n",
            block(f"vmodel predict {ASKED} --json", "sh"),
            table(("key", "type", "unit", "here"), rows),
            "\n## Whole\n",
            f"Lists are cut to {MOST_SHOWN} items here.\n",
            block(text, "json"),
        ]
    )


def pages() -> dict[str, str]:
    """Address -> text."""
    return {places.RECORDS: page()}
