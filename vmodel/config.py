"""From names and numbers as people write them to a Scenario with nothing left open; every fault of a call at once."""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from vmodel.core.records import Load, Profile, Scenario
from vmodel.errors import ConfigError, Fault, UnitError, UnknownName, VmodelError, nearest
from vmodel.library import tables
from vmodel.library.profile import LEAST_COST, MOST_COST, possible
from vmodel.library.profile import profile as read_profile
from vmodel.units import (
    BPS_PER_GBPS,
    US_PER_S,
    parse_bitrate,
    parse_bytes,
    parse_load,
    parse_microseconds,
)

SWITCH = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
WHERE = "scenario"
LEAST_LOAD, MOST_LOAD = 1e-9, 1e18  # messages/s or bit/s: one in thirty years, and a million terabits


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UnitError(text, "a number") from None


def _switch(text: str) -> float:
    found = SWITCH.get(text.strip().lower())
    if found is None:
        raise UnitError(text, "true or false", nearest(text, SWITCH))
    return float(found)


def _gbps(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return parse_bitrate(text) / BPS_PER_GBPS


READERS: Mapping[str, Callable[[str], float]] = {
    "number": _number,
    "count": _number,
    "switch": _switch,
    "size": parse_bytes,
    "bitrate": _gbps,
    "microseconds": lambda text: parse_microseconds(text) * US_PER_S,
}


def knob_value(name: str, value: Any) -> Any:
    """Read one knob: text with a unit, a number, a truth value, or an array of numbers. Raises a VmodelError."""
    knob = tables.knob(name)
    if isinstance(value, str):
        value = READERS[knob.kind](value)
    if isinstance(value, bool):
        if knob.kind != "switch":
            raise _refused(knob, value)
        return float(value)
    if isinstance(value, (int, float)) or getattr(value, "ndim", None) == 0:
        return _scalar(knob, value)
    return _array(knob, value)


def _refused(knob: tables.Knob, value: object) -> ConfigError:
    limits = "true or false" if knob.kind == "switch" else f"{knob.least:g} to {knob.most:g} {knob.unit}".rstrip()
    whole = "a whole number, " if knob.kind == "count" else ""
    return ConfigError([Fault(file=WHERE, key=knob.name, value=value, expected=f"{knob.about}, {whole}{limits}")])


def _scalar(knob: tables.Knob, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise _refused(knob, str(value)) from None
    if not math.isfinite(number) or not knob.least <= number <= knob.most:
        raise _refused(knob, value if isinstance(value, (int, float)) and abs(number) < math.inf else str(number))
    if (knob.kind == "switch" and number not in (0.0, 1.0)) or (knob.kind == "count" and number != round(number)):
        raise _refused(knob, value)
    return number


def _array(knob: tables.Knob, value: Any) -> Any:
    import numpy  # the caller brought an array

    try:
        array = numpy.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise _refused(knob, str(value)) from None
    good = numpy.isfinite(array) & (array >= knob.least) & (array <= knob.most)
    if knob.kind in ("switch", "count"):
        good &= array == numpy.rint(array)
    if array.size == 0 or not bool(good.all()):
        raise _refused(knob, str(value))
    return array


def _told(value: object) -> object:
    return value if isinstance(value, (str, int, float)) else str(value)


def _near(value: object, choices: Iterable[str]) -> str | None:
    return nearest(value, choices) if isinstance(value, str) else None


class _Faults:
    """Collects the faults of one call, so that all are told at once."""

    def __init__(self) -> None:
        self.found: list[Fault] = []

    def add(self, key: str, value: object, expected: str, near: str | None = None) -> None:
        self.found.append(Fault(file=WHERE, key=key, value=value, expected=expected, nearest=near))

    def one_of(self, key: str, value: Any, choices: tuple[str, ...]) -> bool:
        """Whether the value is one of the choices; if not, that is a fault."""
        known = isinstance(value, str) and value in choices
        if not known:
            self.add(key, _told(value), f"one of {', '.join(choices)}", _near(value, choices))
        return known

    def take(self, key: str, error: VmodelError) -> None:
        if isinstance(error, ConfigError):
            self.found.extend(error.faults)
        elif isinstance(error, UnknownName):
            self.found.append(
                Fault(file=WHERE, key=key, value=error.name, expected=f"a known {error.kind}", nearest=error.nearest)
            )
        else:
            wanted = error.wanted if isinstance(error, UnitError) else str(error)
            text = error.text if isinstance(error, UnitError) else ""
            self.found.append(
                Fault(file=WHERE, key=key, value=text, expected=wanted, nearest=getattr(error, "nearest", None))
            )

    def settle(self) -> None:
        if self.found:
            raise ConfigError(self.found)


def _parameters(overrides: Mapping[str, Any], faults: _Faults) -> dict[str, float]:
    out = {}
    for name, value in overrides.items():
        prior = tables.priors()[name]
        try:
            number = math.nan if isinstance(value, bool) else float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not possible(number):
            limits = f"{LEAST_COST:g} to {MOST_COST:g}"
            faults.add(name, _told(value), f"a positive number, {limits} [{prior.unit or '-'}]: {prior.about}")
        out[name] = number
    return out


def load_of(load: Any) -> Load:
    """Read an offered load: `max`, text with a unit, a Load, or messages per second."""
    if load is None or isinstance(load, Load):
        return load or Load()
    if isinstance(load, str):
        kind, value = parse_load(load)
        if kind == "max":
            return Load()
        return Load(kind=kind, value=_possible(value, load))
    try:
        number = math.nan if isinstance(load, bool) else float(load)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not (math.isfinite(number) and number > 0):
        expected = "a positive rate, as 200kpps or 3Gbit/s, or max"
        raise ConfigError([Fault(file=WHERE, key="load", value=_told(load), expected=expected)])
    return Load(kind="rate_pps", value=_possible(number, load))


def _possible(value: float, told: Any) -> float:
    """A load that some network could carry, in messages or bits per second; beyond it doubles end."""
    if not LEAST_LOAD <= value <= MOST_LOAD:
        expected = f"a load from {LEAST_LOAD:g} to {MOST_LOAD:g} per second"
        raise ConfigError([Fault(file=WHERE, key="load", value=_told(told), expected=expected)])
    return value


def scenario(
    *,
    path: str,
    peer: str | None = None,
    topology: str | None = None,
    workload: str | None = None,
    direction: str | None = None,
    load: Any = None,
    profile: str | Profile | None = None,
    device: str | None = None,
    **settings: Any,
) -> Scenario:
    """Resolve a question: defaults of the knobs, then the path's, then the profile's, then what was asked.

    settings: knobs by name, or parameters by name [SI] to override the profile's.
    Raises ConfigError with every fault: unknown names, values out of range, topologies the path cannot have.
    """
    faults = _Faults()
    notes: list[str] = []
    settings = {k: v for k, v in settings.items() if v is not None}
    own = isinstance(path, str) and path.endswith(".toml")
    if not own and not faults.one_of("path", path, tables.path_names()):
        _check_settings(settings, faults)
        faults.settle()
    end = tables.endpoint(path)
    if profile is None:
        profile = end.best
        notes.append(f"profile {profile}: the machine this path is best known on")
    if not isinstance(profile, Profile):
        profile = _profile(profile, faults)
    if topology is None:
        topology = end.topology
        notes.append(f"topology {topology}: where this path is best known")
    if faults.one_of("topology", topology, tables.TOPOLOGIES) and topology not in end.topologies:
        faults.add("topology", topology, f"one that {path} can have: {', '.join(end.topologies)}")
    workload = end.workload if workload is None else workload
    faults.one_of("workload", workload, tables.WORKLOADS)
    host_vm = topology in ("host-vm", "cross-host-vm")
    direction = "to-vm" if direction is None else direction
    faults.one_of("direction", direction, tables.DIRECTIONS)
    if peer is None:
        peer = _default_peer(end, topology)
    elif faults.one_of("peer", peer, tuple(tables.endpoints())):
        wanted = "host" if host_vm or topology in ("cross-host-host", "loopback") else "guest"
        if tables.endpoint(peer).place != wanted:
            faults.add("peer", peer, f"a {wanted} end for topology {topology}")
        elif not tables.can_meet(end, tables.endpoint(peer), apart=str(topology).startswith("cross")):
            faults.add("peer", peer, f"an end that {path} can meet in topology {topology}")
    knobs: dict[str, Any] = {name: k.default for name, k in tables.knobs().items()}
    for source in (end.defaults, profile.defaults, _path_defaults(profile, path), end.fixed):
        knobs.update(source)
    knobs = {n: knob_value(n, v) if v is not None else None for n, v in knobs.items()}
    overrides = {k: settings.pop(k) for k in list(settings) if k in tables.priors()}
    chosen = []
    for name, value in settings.items():
        try:
            knobs[name] = knob_value(name, value)
            chosen.append(name)
        except VmodelError as error:
            faults.take(name, error)
            continue
        if name in end.fixed and _anywhere(knobs[name] != knob_value(name, end.fixed[name])):
            faults.add(name, value, f"{str(end.fixed[name]).lower()}: {path} cannot change it")
    parameters = _parameters(overrides, faults)
    if not faults.found and _anywhere(knobs["zero_copy_rx"] > knobs["dedicated_nic"]):
        faults.add("zero_copy_rx", True, "dedicated_nic = true as well: the NIC must know whose buffers to fill")
    if not faults.found and workload == "packets" and _anywhere(knobs["imix"]):
        mean = sum(size * share for size, share in tables.IMIX)
        notes.append(f"imix: frames of {mean:g} B on average instead of one size")
    offered = Load()
    try:
        offered = load_of(load)
    except VmodelError as error:
        faults.take("load", error)
    if offered.kind != "max" and workload == "stream":
        notes.append("load: an offered load acts on packets and requests, not on a stream, which fills the path")
    if device is not None:
        _check_device(device, faults)
    faults.settle()
    return Scenario(
        path=path,
        peer=peer,
        topology=topology,
        workload=workload,
        direction=direction,
        knobs=knobs,
        chosen=tuple(chosen),
        load=offered,
        profile=profile,
        parameters=parameters,
        device=device,
        notes=tuple(notes),
    )


def _check_device(device: Any, faults: _Faults) -> None:
    from vmodel.library.moderation import devices  # read only where a device is named

    if not isinstance(device, str) or device not in devices():
        faults.add("device", _told(device), "a device (see `vmodel devices`)", _near(device, devices()))


def _anywhere(condition: Any) -> bool:
    return bool(condition.any()) if hasattr(condition, "any") else bool(condition)


def _profile(name: Any, faults: _Faults) -> Profile:
    """The profile of a name; an unknown one is a fault, and the generic one stands in until all are told."""
    try:
        if isinstance(name, str):
            return read_profile(name)
        faults.add("profile", _told(name), "the name of a profile, or a file ending in .toml")
    except VmodelError as error:
        faults.take("profile", error)
    return read_profile("generic")


def _check_settings(settings: Mapping[str, Any], faults: _Faults) -> None:
    """Tell what is wrong with settings whose path is not known."""
    for name, value in settings.items():
        if name in tables.priors():
            continue
        try:
            knob_value(name, value)
        except VmodelError as error:
            faults.take(name, error)


def _path_defaults(profile: Profile, path: str) -> Mapping[str, Any]:
    per_path: Mapping[str, Mapping[str, Any]] = profile.machine.get("path_defaults", {})
    return per_path.get(path, {})


def _default_peer(end: tables.Endpoint, topology: str) -> str:
    if topology == "host-vm" or end.place == "host":
        return end.host_peer
    if topology == "cross-host-vm":
        return "native"
    return end.name
