"""A path of the user's own: stages that are here, in an order that is not. One endpoint in a TOML file."""

import tomllib
from collections.abc import Mapping
from functools import cache
from typing import Any

from vmodel.errors import ConfigError, Fault, nearest
from vmodel.files import content, format_fault, is_later
from vmodel.library import tables

FORMAT = 1
LARGEST_FILE_BYTES = 1 << 18
PLACES = ("guest", "host")
ATTACHMENTS = ("kernel", "macvtap", "nic", "switch", "vsock", "loopback")
DEVICES = ("vf", "pf", "none")
KEYS = ("format", "title", "place", "attach", "device", "merges", "tx", "rx", "path")
PATH_KEYS = ("topologies", "topology", "host_peer", "workload", "best", "defaults", "fixed", "since", "cites")


@cache
def read(name: str) -> tables.Endpoint:
    """Read one endpoint from a file; raises ConfigError with every fault."""
    data = content(name, LARGEST_FILE_BYTES, "a path")
    try:
        body = tomllib.loads(data.decode("utf-8"))
    except RecursionError:
        raise ConfigError([Fault(file=name, key="", expected="TOML that is not nested so deep")]) from None
    except ValueError as error:
        raise ConfigError([Fault(file=name, key="", expected=f"a TOML file ({error})")]) from None
    found = _faults(body, name)
    if found:
        raise ConfigError(found)
    return tables.endpoint_of(name, {**body, "path": {"topologies": _topologies(body), **body.get("path", {})}})


def _topologies(body: Mapping[str, Any]) -> list[str]:
    """Where an end makes sense if the file does not say."""
    if body["place"] == "guest":
        return ["host-vm"] if body["attach"] in ("vsock", "loopback") else list(tables.GUEST_TOPOLOGIES)
    return ["loopback"] if body["attach"] == "loopback" else ["cross-host-host"]


def _faults(body: Mapping[str, Any], file: str) -> list[Fault]:
    other = format_fault(body, FORMAT, file)
    if other is not None and is_later(body, FORMAT):
        return [other]  # what else is in it follows other rules
    out = [] if other is None else [other]
    out += [
        Fault(file=file, key=key, expected="a known key", nearest=nearest(key, KEYS)) for key in body if key not in KEYS
    ]
    for key, choices in (("place", PLACES), ("attach", ATTACHMENTS), ("device", DEVICES)):
        value = body.get(key, "none" if key == "device" else None)
        if value not in choices:
            told = value if isinstance(value, (str, int, float)) else None if value is None else str(value)
            near = nearest(value, choices) if isinstance(value, str) else None
            out.append(Fault(file=file, key=key, value=told, expected=f"one of {', '.join(choices)}", nearest=near))
    if not isinstance(body.get("title"), str):
        out.append(Fault(file=file, key="title", expected="a text"))
    if not isinstance(body.get("merges", False), bool):
        out.append(Fault(file=file, key="merges", value=str(body["merges"]), expected="true or false"))
    out += [fault for key in ("tx", "rx") for fault in _stages(body.get(key), key, file)]
    path = body.get("path", {})
    if not isinstance(path, dict):
        return [*out, Fault(file=file, key="path", value=str(path), expected="a table")]
    return [*out, *_path_faults(path, file)]


@cache
def stage_names() -> frozenset[str]:
    """Every stage that a path of ours has; there are no others."""
    ends = [stage for e in tables.endpoints().values() for stage in (*e.tx, *e.rx)]
    return frozenset(ends).union(*tables.links().values())


def _stages(names: Any, key: str, file: str) -> list[Fault]:
    known = stage_names()
    if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
        return [Fault(file=file, key=key, expected="a list of stage names")]
    return [
        Fault(file=file, key=key, value=n, expected="a known stage", nearest=nearest(n, known))
        for n in names
        if n not in known
    ]


def _path_faults(path: Mapping[str, Any], file: str) -> list[Fault]:
    out = [
        Fault(file=file, key=f"path.{k}", expected="a known key", nearest=nearest(k, PATH_KEYS))
        for k in path
        if k not in PATH_KEYS
    ]
    lists = {"topologies": tables.TOPOLOGIES}
    for key, choices in lists.items():
        value = path.get(key, [])
        if not isinstance(value, list) or any(v not in choices for v in value):
            out.append(
                Fault(file=file, key=f"path.{key}", value=str(value), expected=f"a list of {', '.join(choices)}")
            )
    singles: dict[str, tuple[str, ...]] = {
        "topology": tables.TOPOLOGIES,
        "workload": tables.WORKLOADS,
        "host_peer": tuple(tables.endpoints()),
    }
    for key, known in singles.items():
        value = path.get(key, known[0])
        if value not in known:
            near = nearest(value, known) if isinstance(value, str) else None
            out.append(Fault(file=file, key=f"path.{key}", value=str(value), expected=f"a known {key}", nearest=near))
    if not isinstance(path.get("migrates", True), bool):
        out.append(Fault(file=file, key="path.migrates", value=str(path["migrates"]), expected="true or false"))
    for key in ("defaults", "fixed"):
        table = path.get(key, {})
        wrong = [table] if not isinstance(table, dict) else [k for k in table if k not in tables.knobs()]
        out += [Fault(file=file, key=f"path.{key}", value=str(k), expected="known knobs") for k in wrong]
    return out
