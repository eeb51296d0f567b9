"""What the what-if page knows: tables, profiles, defaults, peers and measured points, as one JSON object."""

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from importlib.resources import files
from typing import Any

from vmodel.config import scenario
from vmodel.core.records import Observation, Profile, Scenario
from vmodel.errors import VmodelError
from vmodel.library import tables
from vmodel.library.profile import profile as read_profile
from vmodel.library.profile import shipped
from vmodel.solve import compose

PATHS = "paths.toml"
TABLES = (PATHS, "knobs.toml", "parameters.toml", "references.toml")
DEVICES = "devices.toml"


def facts(extra: Sequence[Profile], rows: Iterable[Observation], start: Scenario) -> dict[str, Any]:
    """Everything that the page reads instead of files. extra: profiles of the user's own beside the shipped ones."""
    shown = {p.name: p for p in (*(read_profile(name) for name in shipped()), *extra)}
    paths = dict.fromkeys((*tables.path_names(), start.path))
    known = {name: _table(name) for name in TABLES}
    if start.path not in tables.path_names():
        known[PATHS]["endpoints"][start.path] = _body(tables.endpoint(start.path))
    return {
        "tables": known,
        "devices": _table(DEVICES),
        "shown": tuple(shown.values()),
        "profiles": [asdict(p) for p in shown.values()],
        "defaults": {path: _defaults(path, shown.values()) for path in paths},
        "peers": {path: _peers(path) for path in paths},
        "topologies": list(tables.TOPOLOGIES),
        "workloads": list(tables.WORKLOADS),
        "rows": [row for o in rows if (row := _row(o)) is not None],
        "start": asked(start),
    }


def _table(name: str) -> dict[str, Any]:
    return tomllib.loads(files("vmodel.library").joinpath(name).read_text(encoding="utf-8"))


def _body(e: tables.Endpoint) -> dict[str, Any]:
    """A path of the user's own as it would stand in the table of paths."""
    body = asdict(e)
    here = ("title", "place", "attach", "device", "merges", "tx", "rx")
    inner = ("topologies", "topology", "host_peer", "workload", "best", "defaults", "fixed", "since", "cites")
    return {**{key: body[key] for key in here}, "path": {key: body[key] for key in inner}}


def _defaults(path: str, profiles: Iterable[Profile]) -> dict[str, dict[str, float | None]]:
    """What each setting is worth on a machine unless it is set, where that differs from the table of settings."""
    plain = {name: _as_number(knob.default) for name, knob in tables.knobs().items()}
    found = {}
    for p in profiles:
        knobs = scenario(path=path, profile=p).knobs
        found[p.name] = {name: value for name, value in knobs.items() if value != plain[name]}
    return found


def _as_number(value: float | bool | None) -> float | None:
    return None if value is None else float(value)


def _peers(path: str) -> dict[str, list[str]]:
    """The other ends that a path can have in each topology, the usual one first."""
    found: dict[str, list[str]] = {}
    for topology in tables.endpoint(path).topologies:
        usual = scenario(path=path, topology=topology).peer
        others = [name for name in tables.endpoints() if name != usual and _meets(path, topology, name)]
        found[topology] = [usual, *others]
    return found


def _meets(path: str, topology: str, peer: str) -> bool:
    try:
        compose.scenario_ways(scenario(path=path, topology=topology, peer=peer))
    except VmodelError:
        return False
    return True


def asked(s: Scenario) -> dict[str, Any]:
    """A question as the page keeps it: words, and only the settings that were chosen."""
    return {
        "path": s.path,
        "peer": s.peer,
        "topology": s.topology,
        "workload": s.workload,
        "direction": s.direction,
        "profile": s.profile.name,
        "device": s.device,
        "load": None if s.load.kind == "max" else {"kind": s.load.kind, "value": s.load.value},
        "knobs": {name: s.knobs[name] for name in s.chosen},
        "parameters": dict(s.parameters),
    }


def _row(o: Observation) -> dict[str, Any] | None:
    """A measured point with the question that it answers; None where it is not fit for comparison."""
    if o.excluded or o.profile not in shipped():
        return None
    s = scenario(
        path=o.path, peer=o.peer or None, topology=o.topology or None, workload=o.workload,
        direction=o.direction or None, profile=read_profile(o.profile), **o.knobs,
    )  # fmt: skip
    return {
        **asked(s), "id": o.id, "metric": o.metric, "value": o.value, "sd": o.sd, "series": o.series,
        "source": o.source, "note": o.note,
    }  # fmt: skip
