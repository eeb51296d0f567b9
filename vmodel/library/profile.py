"""Profiles: parameter values of one machine, shipped by name or read from a file; all faults of a file at once."""

import math
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from vmodel.core.records import Profile, Seen, Value
from vmodel.errors import ConfigError, Fault, UnknownName, nearest
from vmodel.files import content, format_fault, is_later
from vmodel.library.tables import knobs, priors
from vmodel.sources import STANDINGS, TRANSFERRED

FORMAT = 1
LARGEST_FILE_BYTES = 4 << 20
DIGEST_DIGITS = 12
CLOCKS_GHZ = (0.1, 20.0)
LEAST_COST, MOST_COST = 1e-30, 1e30  # in SI units
NEEDED = ("name", "title", "format", "clock_ghz")


@cache
def shipped() -> tuple[str, ...]:
    """Names of the profiles in the package."""
    folder = files("vmodel.library").joinpath("profiles")
    return tuple(sorted(f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml")))


def profile(name: str) -> Profile:
    """A profile by its shipped name or by a path ending in .toml. Raises UnknownName or ConfigError."""
    if name in shipped():
        return _shipped(name)
    if name.endswith(".toml"):
        return read(Path(name))
    raise UnknownName("profile", name, nearest(name, shipped()))


@cache
def _shipped(name: str) -> Profile:
    text = files("vmodel.library").joinpath("profiles", f"{name}.toml").read_text(encoding="utf-8")
    return from_tables(tomllib.loads(text), f"{name}.toml")


def read(path: Path) -> Profile:
    """Read a profile file; every fault is named in one ConfigError."""
    data = content(path, LARGEST_FILE_BYTES, "a profile")
    try:
        body = tomllib.loads(data.decode("utf-8"))
    except ValueError as error:
        raise ConfigError([Fault(file=str(path), key="", expected=f"a TOML file ({error})")]) from None
    except RecursionError:
        raise ConfigError([Fault(file=str(path), key="", expected="TOML that is not nested so deep")]) from None
    known = from_tables(body, str(path))
    _check_drivers(known, str(path))
    return known


def _check_drivers(known: Profile, file: str) -> None:
    from vmodel.library.moderation import devices  # only a user's own file names drivers that may not exist

    faults = [
        Fault(file=file, key=f"drivers.{role}", value=name, expected="a device", nearest=nearest(name, devices()))
        for role, name in known.drivers.items()
        if name not in devices()
    ]
    if faults:
        raise ConfigError(faults)


def _positive(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value > 0


def possible(cost: float) -> bool:
    """Whether a number may be a cost in SI units: generous, and such that squares and ratios of costs stay numbers."""
    return LEAST_COST <= cost <= MOST_COST


def _values(body: Mapping[str, Any], file: str, faults: list[Fault]) -> dict[str, Value]:
    out = {}
    for name, row in body.items():
        key = f"parameters.{name}"
        prior = priors().get(name)
        if prior is None:
            faults.append(Fault(file=file, key=key, expected="a known parameter", nearest=nearest(name, priors())))
            continue
        if not isinstance(row, dict) or not _positive(row.get("value")) or not possible(row["value"]):
            expected = f"a positive number, {LEAST_COST:g} to {MOST_COST:g}"
            faults.append(Fault(file=file, key=f"{key}.value", value=_of(row, "value"), expected=expected))
            continue
        if not _positive(row.get("log_error")):
            faults.append(
                Fault(file=file, key=f"{key}.log_error", value=row.get("log_error"), expected="a positive number")
            )
            continue
        if row.get("standing") not in STANDINGS:
            faults.append(
                Fault(file=file, key=f"{key}.standing", value=row.get("standing"), expected=", ".join(STANDINGS))
            )
            continue
        if not _words(row.get("sources", [])):
            faults.append(Fault(file=file, key=f"{key}.sources", expected="a list of source keys"))
            continue
        out[name] = Value(
            value=float(row["value"]),
            log_error=float(row["log_error"]),
            unit=prior.unit,
            standing=row["standing"],
            sources=tuple(row.get("sources", ())),
        )
    return out


def _words(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(x, str) for x in value)


def _of(row: Any, key: str) -> Any:
    return row.get(key) if isinstance(row, dict) else row


def _covariance(
    body: Mapping[str, Any], file: str, faults: list[Fault]
) -> tuple[tuple[str, ...], tuple[tuple[float, ...], ...]]:
    names, rows = body.get("names", []), body.get("lower", [])
    rows = [_numbers(r) for r in rows] if isinstance(rows, list) else rows
    good = _words(names) and set(names) <= set(priors()) and isinstance(rows, list) and len(rows) == len(names)
    good = good and all(_row_of(r, i) for i, r in enumerate(rows))
    if not good:
        expected = "known names and a lower triangle of finite numbers with a positive diagonal"
        faults.append(Fault(file=file, key="covariance", expected=expected))
        return (), ()
    return tuple(names), tuple(tuple(float(x) for x in r) for r in rows)


def _numbers(row: Any) -> Any:
    """A row that is written as words, as numbers; any other as it is."""
    if not isinstance(row, str):
        return row
    try:
        return [float(word) for word in row.split()]
    except ValueError:
        return row


def _row_of(row: Any, place: int) -> bool:
    """Whether this is a row of a lower triangle of variances and covariances."""
    if not isinstance(row, list) or len(row) != place + 1:
        return False
    numbers = all(isinstance(x, (int, float)) and not isinstance(x, bool) and math.isfinite(x) for x in row)
    return numbers and row[place] > 0


def _settings(body: Mapping[str, Any], key: str, file: str, faults: list[Fault]) -> None:
    """Defaults of knobs must be knobs, with values they can have."""
    for name, value in body.items():
        knob = knobs().get(name)
        where = f"{key}.{name}"
        if knob is None:
            faults.append(Fault(file=file, key=where, expected="a known knob", nearest=nearest(name, knobs())))
        elif not isinstance(value, (bool, int, float)) or not knob.least <= value <= knob.most:
            limits = f"{knob.least:g} to {knob.most:g} {knob.unit}".rstrip()
            told = value if isinstance(value, (str, int, float)) else str(value)
            faults.append(Fault(file=file, key=where, value=told, expected=limits))


def _tables(body: Mapping[str, Any], file: str, faults: list[Fault]) -> None:
    """The parts of a profile that hold tables of settings and names."""
    _settings(body.get("defaults", {}), "defaults", file, faults)
    per_path = body.get("machine", {}).get("path_defaults", {})
    for name, table in per_path.items() if isinstance(per_path, dict) else [("path_defaults", None)]:
        if not isinstance(table, dict):
            faults.append(Fault(file=file, key=f"machine.path_defaults.{name}", expected="a table of knobs"))
        else:
            _settings(table, f"machine.path_defaults.{name}", file, faults)
    for role, driver in body.get("drivers", {}).items():
        if not isinstance(driver, str):
            faults.append(Fault(file=file, key=f"drivers.{role}", value=str(driver), expected="the name of a driver"))
    if not _words(body.get("sources", [])):
        faults.append(Fault(file=file, key="sources", expected="a list of source keys"))


def _seen(body: Mapping[str, Any], file: str, faults: list[Fault]) -> dict[str, Seen]:
    out = {}
    for key, row in body.items():
        try:
            low, high = (float(x) for x in row["size_bytes"])
            spread = float(row["log_sd"])
            if not (0 < low <= high < math.inf and 0 <= spread < math.inf):
                raise ValueError
            out[key] = Seen(
                topologies=tuple(row["topologies"]),
                directions=tuple(row["directions"]),
                size_bytes=(low, high),
                rows=int(row["rows"]),
                log_sd=spread,
            )
        except (KeyError, TypeError, ValueError):
            expected = "topologies, directions, size_bytes, rows, log_sd"
            faults.append(Fault(file=file, key=f"seen.{key}", expected=expected))
    return out


def from_tables(body: Mapping[str, Any], file: str) -> Profile:
    """Make a Profile of parsed TOML. Raises ConfigError with every fault."""
    other = format_fault(body, FORMAT, file)
    if other is not None and is_later(body, FORMAT):
        raise ConfigError([other])  # what else is in it follows other rules
    faults: list[Fault] = [] if other is None else [other]
    for key in NEEDED:
        if key not in body:
            faults.append(Fault(file=file, key=key, expected="a value"))
    if "clock_ghz" in body:
        clock, (least, most) = body["clock_ghz"], CLOCKS_GHZ
        if not _positive(clock) or not least <= clock <= most:
            faults.append(Fault(file=file, key="clock_ghz", value=clock, expected=f"{least:g} to {most:g} GHz"))
    known = {*NEEDED, "machine", "drivers", "defaults", "parameters", "covariance", "seen", "sources", "note", "fit"}
    for key in body:
        if key not in known:
            faults.append(Fault(file=file, key=key, expected="a known key", nearest=nearest(key, known)))
    for key in ("machine", "drivers", "defaults", "parameters", "covariance", "seen"):
        if not isinstance(body.get(key, {}), dict):
            faults.append(Fault(file=file, key=key, value=str(body[key]), expected="a table"))
    machine = body.get("machine", {})
    if isinstance(machine, dict) and "core_watts" in machine and not _positive(machine["core_watts"]):
        expected = "watts of a busy core, a positive number"
        faults.append(Fault(file=file, key="machine.core_watts", value=machine["core_watts"], expected=expected))
    if faults:
        raise ConfigError(faults)
    values = _values(body.get("parameters", {}), file, faults)
    names, covariance = _covariance(body.get("covariance", {}), file, faults)
    _tables(body, file, faults)
    seen = _seen(body.get("seen", {}), file, faults)
    if faults:
        raise ConfigError(faults)
    return Profile(
        name=str(body["name"]),
        title=str(body["title"]),
        clock_ghz=float(body["clock_ghz"]),
        machine=body.get("machine", {}),
        drivers=body.get("drivers", {}),
        defaults=body.get("defaults", {}),
        values=values,
        correlated=names,
        covariance=covariance,
        seen=seen,
        sources=tuple(body.get("sources", ())),
        note=str(body.get("note", "")),
    )


def digest(profile: Profile) -> str:
    """A short name for the exact contents of a profile."""
    import hashlib  # only documents name a profile by its contents
    import json
    from dataclasses import asdict

    text = json.dumps(asdict(profile), sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_DIGITS]


def value_of(profile: Profile, name: str) -> Value:
    """A physical cost on this machine: its own value, or the prior carried over by clock."""
    found = profile.values.get(name)
    if found is not None:
        return found
    prior = priors()[name]
    standing = (
        prior.standing if profile.name == "generic" else TRANSFERRED if prior.standing == "measured" else prior.standing
    )
    return Value(
        value=prior.at(profile.clock_ghz),
        log_error=prior.log_sd,
        unit=prior.unit,
        standing=standing,
        sources=prior.cites,
    )
