"""What the package knows, read from its TOML files: endpoints, links, knobs, parameters, references. No formulas."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from vmodel.errors import UnknownName, nearest
from vmodel.sources import Source

TOPOLOGIES = ("loopback", "host-vm", "vm-vm", "cross-host-host", "cross-host-vm", "cross-vm-vm")
WORKLOADS = ("rr", "stream", "packets")
DIRECTIONS = ("to-vm", "from-vm")
IMIX = ((64.0, 7 / 12), (594.0, 4 / 12), (1518.0, 1 / 12))  # simple IMIX: bytes of a frame and its share
INSIDE_ONLY = ("vsock", "loopback")  # attachments that no NIC ever sees
GUEST_TOPOLOGIES = ("host-vm", "vm-vm", "cross-host-vm", "cross-vm-vm")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One end of a path, from the application to the point where the topology takes over."""

    name: str
    title: str
    place: str
    attach: str
    device: str
    merges: bool
    tx: tuple[str, ...]
    rx: tuple[str, ...]
    public: bool
    topologies: tuple[str, ...]
    topology: str
    host_peer: str
    workload: str
    best: str
    defaults: Mapping[str, Any]
    fixed: Mapping[str, Any]
    since: str
    migrates: bool  # whether a guest on it can move to another host while it runs
    cites: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Knob:
    """A setting a person can change."""

    name: str
    word: str | None
    kind: str
    unit: str
    default: float | bool | None
    least: float
    most: float
    about: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prior:
    """What is assumed of a physical cost before any measurement: log-normal at the reference clock."""

    name: str
    unit: str
    median: float
    log_sd: float
    clock: int
    standing: str
    about: str
    cites: tuple[str, ...]

    def at(self, clock_ghz: float) -> float:
        """The median at a clock: costs of executed instructions scale with 1 / clock."""
        return self.median * (reference_clock_ghz() / clock_ghz) ** self.clock


@cache
def _read(name: str) -> Mapping[str, Any]:
    return tomllib.loads(files("vmodel.library").joinpath(name).read_text(encoding="utf-8"))


@cache
def links() -> Mapping[str, tuple[str, ...]]:
    """The pieces between two endpoints."""
    return {name: tuple(stages) for name, stages in _read("paths.toml")["links"].items()}


def endpoint_of(name: str, body: Mapping[str, Any]) -> Endpoint:
    """Make an Endpoint from one table of a paths file."""
    path = body.get("path", {})
    guest = body["place"] == "guest"
    topologies = tuple(path.get("topologies", GUEST_TOPOLOGIES if guest else ()))
    return Endpoint(
        name=name,
        title=body["title"],
        place=body["place"],
        attach=body["attach"],
        device=body.get("device", "none"),
        merges=bool(body.get("merges", False)),
        tx=tuple(body["tx"]),
        rx=tuple(body["rx"]),
        public="path" in body,
        topologies=topologies,
        topology=path.get("topology", topologies[0] if topologies else ""),
        host_peer=path.get("host_peer", "native" if guest else name),
        workload=path.get("workload", "rr"),
        best=path.get("best", "generic"),
        defaults=path.get("defaults", {}),
        fixed=path.get("fixed", {}),
        since=path.get("since", ""),
        migrates=bool(path.get("migrates", body["attach"] != "nic")),
        cites=tuple(path.get("cites", ())),
    )


@cache
def endpoints() -> Mapping[str, Endpoint]:
    """Every endpoint, by name; those with `public` are the paths a user names."""
    return {name: endpoint_of(name, body) for name, body in _read("paths.toml")["endpoints"].items()}


def path_names() -> tuple[str, ...]:
    """Names of the paths a user may ask for."""
    return tuple(name for name, e in endpoints().items() if e.public)


def endpoint(name: str) -> Endpoint:
    """Look an endpoint up by name, or read one from a file ending in .toml.

    Raises UnknownName with the nearest path, or ConfigError with every fault of the file.
    """
    found = endpoints().get(name)
    if found is not None:
        return found
    if name.endswith(".toml"):
        from vmodel.library.path_file import read  # only who writes paths of their own pays for it

        return read(name)
    raise UnknownName("path", name, nearest(name, path_names()))


def _speaks_vsock(end: Endpoint) -> bool:
    return any("vsock" in stage for stage in (*end.tx, *end.rx))


def can_meet(one: Endpoint, other: Endpoint, *, apart: bool) -> bool:
    """Whether two ends can be joined: what never leaves its host speaks only to its own kind on the same host."""
    if _speaks_vsock(one) != _speaks_vsock(other) and one.attach == other.attach == "loopback":
        return False
    inside = {one.attach, other.attach} & set(INSIDE_ONLY)
    return not inside or (one.attach == other.attach and not apart)


@cache
def knobs() -> Mapping[str, Knob]:
    """Every knob, by name."""
    return {
        name: Knob(
            name=name,
            word=body.get("word"),
            kind=body["kind"],
            unit=body.get("unit", ""),
            default=body.get("default"),
            least=float(body.get("min", 0)),
            most=float(body.get("max", 1)),
            about=body["about"],
        )
        for name, body in _read("knobs.toml").items()
    }


def knob(name: str) -> Knob:
    """Look a knob up; raises UnknownName with the nearest one."""
    found = knobs().get(name)
    if found is None:
        raise UnknownName("knob", name, nearest(name, (*knobs(), *priors())))
    return found


def reference_clock_ghz() -> float:
    """The clock at which the medians of the priors hold [GHz]."""
    return float(_read("parameters.toml")["reference_clock_ghz"])


@cache
def priors() -> Mapping[str, Prior]:
    """Every physical cost, by name."""
    return {
        name: Prior(
            name=name,
            unit=body["unit"],
            median=float(body["median"]),
            log_sd=float(body["log_sd"]),
            clock=int(body["clock"]),
            standing=body["standing"],
            about=body["about"],
            cites=tuple(body.get("cites", ())),
        )
        for name, body in _read("parameters.toml").items()
        if isinstance(body, dict)
    }


@cache
def references() -> Mapping[str, Source]:
    """Every source, by key."""
    return {
        key: Source(
            key=key,
            title=body["title"],
            authors=(body["authors"],) if body.get("authors") else (),
            venue=body.get("venue", ""),
            year=body.get("year"),
            url=body.get("url", ""),
        )
        for key, body in _read("references.toml").items()
    }
