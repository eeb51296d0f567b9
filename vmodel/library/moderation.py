"""What each NIC driver makes of its interrupt-moderation settings.

The facts stand in devices.toml; here they are applied to a wish: defaults, numbers that are really modes, limits,
steps of the hardware timer, and devices that do not listen. What the result does to latency is a closed form elsewhere.
"""

import math
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from vmodel.errors import ScenarioError, UnknownName, nearest
from vmodel.units import US_PER_S

ETHTOOL_BITS = 32  # ethtool carries every coalescing number as an unsigned integer of this width
ETHTOOL_MAX = 2**ETHTOOL_BITS - 1
ROUNDING: Mapping[str, Callable[[float], int]] = MappingProxyType({"down": math.floor, "up": math.ceil})


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier:
    """One interval an adaptive mode chooses from."""

    name: str
    usecs: float
    frames: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Special:
    """An rx-usecs value that is a mode: adaptive (then with a tier), off, or unchanged."""

    rx_usecs: float
    mode: str
    tier: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """The moderation facts of one driver; the fields are explained at the top of devices.toml."""

    name: str
    title: str
    kind: str
    default_rx_usecs: float
    min_rx_usecs: float
    max_rx_usecs: float
    step_us: float
    rounding: str
    frames: bool
    adaptive_default: bool
    adaptive_switch: bool
    adaptive_mechanism: str
    honoured: bool
    note: str
    cites: tuple[str, ...]
    default_frames: int = 0
    max_frames: int = 0
    adaptive_parameter: str | None = None
    quiet_tier: str | None = None
    special: tuple[Special, ...] = ()
    tiers: tuple[Tier, ...] = ()

    def mode(self, rx_usecs: float) -> Special | None:
        """The mode that a number stands for, None for an ordinary number."""
        return next((special for special in self.special if special.rx_usecs == rx_usecs), None)

    def tier(self, name: str | None) -> Tier:
        """The adaptive tier of a name."""
        return next(tier for tier in self.tiers if tier.name == name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moderation:
    """The moderation in force on one device."""

    device: str
    kind: str  # throttle, holdoff or none
    interval_s: float | None  # None when the profile parameter decides
    frames: int | None  # packets that end the wait early; None: no cap
    adaptive: bool
    parameter: str | None
    honoured: bool  # False when something asked for has no effect
    warnings: tuple[str, ...]


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(files("vmodel.library").joinpath("devices.toml").read_text(encoding="utf-8"))


def _record(name: str, row: Mapping[str, Any]) -> Device:
    nested = {
        "cites": tuple(row["cites"]),
        "special": tuple(Special(**special) for special in row.get("special", ())),
        "tiers": tuple(Tier(**tier) for tier in row.get("tiers", ())),
    }
    return Device(name=name, **{**row, **nested})


@cache
def devices() -> Mapping[str, Device]:
    """Every device of the table by name."""
    return MappingProxyType({name: _record(name, row) for name, row in _table()["devices"].items()})


@cache
def references() -> Mapping[str, Mapping[str, Any]]:
    """The sources of the table by key: title, venue, year."""
    return MappingProxyType(_table()["references"])


def moderate(
    device: str, rx_usecs: float | None = None, rx_frames: int | None = None, adaptive: bool | None = None
) -> Moderation:
    """The moderation in force when these settings are asked of a device; None leaves a setting at its default."""
    record = _known(device)
    _check("rx_usecs", rx_usecs)
    _check("rx_frames", rx_frames)
    if not record.honoured:
        return _deaf(record, rx_usecs, rx_frames, adaptive)
    result = _timer(record, rx_usecs, adaptive)
    return result if rx_frames is None else _with_frames(record, result, rx_frames)


def _known(name: str) -> Device:
    if name not in devices():
        raise UnknownName(kind="device", name=name, nearest=nearest(name, devices()))
    return devices()[name]


def _check(field: str, value: float | None) -> None:
    if value is not None and not 0 <= value <= ETHTOOL_MAX:  # NaN fails the comparison too
        raise ScenarioError(field=field, value=value, expected=f"a number from 0 to {ETHTOOL_MAX}")


def _deaf(record: Device, rx_usecs: float | None, rx_frames: int | None, adaptive: bool | None) -> Moderation:
    """A device that ignores or refuses numbers stays at its default."""
    wishes = {
        "rx-usecs": rx_usecs not in (None, record.default_rx_usecs),
        "rx-frames": bool(rx_frames),
        "adaptive-rx": adaptive not in (None, record.adaptive_default),
    }
    asked = (name for name, wished in wishes.items() if wished)
    warnings = tuple(f"{name} is not honoured by {record.name}: {record.title}" for name in asked)
    return replace(_timer(record, None, None), honoured=not warnings, warnings=warnings)


def _timer(record: Device, rx_usecs: float | None, adaptive: bool | None) -> Moderation:
    """The timer that a number and the adaptive switch give together."""
    if record.adaptive_switch and (record.adaptive_default if adaptive is None else adaptive):
        ignored = rx_usecs is not None
        warning = f"adaptive-rx overrides rx-usecs {rx_usecs:g} on {record.name}; turn it off first" if ignored else ""
        return _adaptive(record, record.quiet_tier, honoured=not ignored, warning=warning)
    number = record.default_rx_usecs if rx_usecs is None else rx_usecs
    special = record.mode(number)
    if special is None or special.tier is None:
        return _switchless(record, adaptive, _fixed(record, number, special))
    if rx_usecs is not None:
        warning = f"rx-usecs {number:g} selects an adaptive mode on {record.name}, it is not a time"
        return _adaptive(record, special.tier, honoured=adaptive is not False, warning=warning)
    if adaptive is False:
        lowest = record.min_rx_usecs
        warning = f"{record.name} is adaptive unless rx-usecs names a time; {lowest:g} us, its smallest, is assumed"
        return replace(_fixed(record, lowest, None), warnings=(warning,))
    return _adaptive(record, special.tier)


def _adaptive(record: Device, tier: str | None, honoured: bool = True, warning: str = "") -> Moderation:
    """The adaptive mode, seen by a quiet link unless a profile parameter carries the interval."""
    quiet = record.tier(tier)
    return Moderation(
        device=record.name,
        kind=record.kind,
        interval_s=None if record.adaptive_parameter else quiet.usecs / US_PER_S,
        frames=quiet.frames,
        adaptive=True,
        parameter=record.adaptive_parameter,
        honoured=honoured,
        warnings=(warning,) if warning else (),
    )


def _fixed(record: Device, number: float, special: Special | None) -> Moderation:
    """A fixed time: the number after limits and steps, or what a mode without tiers stands for."""
    usecs, warning, honoured = _applied(record, number), "", True
    if special is not None:
        kept = _applied(record, record.default_rx_usecs)
        usecs, honoured = {"off": (0.0, True), "unchanged": (kept, False)}[special.mode]
        warning = "" if honoured else f"rx-usecs {number:g} is ignored by {record.name}, which stays at {usecs:.0f} us"
    elif not record.min_rx_usecs <= number <= record.max_rx_usecs:
        limits = f"{record.min_rx_usecs:g} to {record.max_rx_usecs:g}"
        warning = f"rx-usecs {number:g} is outside what {record.name} takes ({limits}); taken as {usecs:g} us"
    return Moderation(
        device=record.name,
        kind=record.kind,
        interval_s=usecs / US_PER_S,
        frames=record.default_frames or None,
        adaptive=False,
        parameter=None,
        honoured=honoured,
        warnings=(warning,) if warning else (),
    )


def _applied(record: Device, number: float) -> float:
    """The time a hardware timer keeps for a number: within limits, then in whole steps."""
    clamped = min(max(number, record.min_rx_usecs), record.max_rx_usecs)
    steps = clamped / record.step_us
    whole = round(steps) if math.isclose(steps, round(steps)) else ROUNDING[record.rounding](steps)
    return whole * record.step_us


def _switchless(record: Device, adaptive: bool | None, result: Moderation) -> Moderation:
    """Adds the complaint of a device that was asked to be adaptive and has no switch for it."""
    if not adaptive or record.adaptive_switch:
        return result
    warning = f"{record.name} has no adaptive-rx switch; the time set by rx-usecs stays in force"
    return replace(result, honoured=False, warnings=(*result.warnings, warning))


def _with_frames(record: Device, result: Moderation, rx_frames: int) -> Moderation:
    """The frame cap laid over a timer."""
    if result.adaptive and record.frames:
        warning = f"adaptive-rx overrides rx-frames {rx_frames} on {record.name}; turn it off first"
    elif not record.frames:
        warning = f"rx-frames is not honoured by {record.name}: it has a timer only" if rx_frames else ""
    else:
        cap = min(rx_frames, record.max_frames)
        warning = f"rx-frames {rx_frames} is more than {record.name} takes; taken as {cap}" if cap < rx_frames else ""
        return replace(result, frames=cap or None, warnings=(*result.warnings, warning) if warning else result.warnings)
    return replace(result, honoured=False, warnings=(*result.warnings, warning)) if warning else result


def number_to_write(device: str, rx_usecs: float) -> int:
    """The whole number that `ethtool -C DEV rx-usecs` must get so that a device keeps the time that it would keep.

    A mode stays its number; a time is clamped and taken to a step, then to the whole number that the driver's own
    rounding brings back to that step.  Raises UnknownName for a device that is not in the table.
    """
    record = _known(device)
    if record.mode(rx_usecs) is not None:
        return int(rx_usecs)
    kept = _applied(record, rx_usecs)
    whole = round(kept)
    if math.isclose(kept, whole):
        return whole
    return math.ceil(kept) if record.rounding == "down" else math.floor(kept)
