"""A fit as a profile file: the same bytes for the same evidence; written beside and renamed, so never half."""

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vmodel.calibrate.fit import Fit
from vmodel.core.records import Profile
from vmodel.library.profile import FORMAT, from_tables
from vmodel.library.tables import endpoint, knob, priors
from vmodel.sources import FITTED

Array = NDArray[np.float64]
LEARNED = 0.005  # a parameter that the rows told less of stays with its prior
MOVED_SD = 0.05
NORMAL_90 = 1.6448536269514722
COVERED = 0.92  # share of rows a spread must cover in sample, so that rows left out are covered at 90 %
FEW = 8  # with fewer rows of a kind the pooled noise speaks


def _number(x: float) -> str:
    return f"{x:.5g}"


def _value(x: Any) -> str:
    if isinstance(x, bool):
        return "true" if x else "false"
    if isinstance(x, (list, tuple)):
        return "[" + ", ".join(_value(v) for v in x) + "]"
    if isinstance(x, float):
        return _number(x)
    return json.dumps(x, ensure_ascii=False) if isinstance(x, str) else str(x)


def _table(name: str, body: Mapping[str, Any]) -> list[str]:
    lines = [f"[{name}]"] + [f"{k} = {_value(v)}" for k, v in body.items() if not isinstance(v, Mapping)]
    for key, inner in body.items():
        if isinstance(inner, Mapping):
            lines += ["", *_table(f"{name}.{key}", inner)]
    return lines


def kept(fit: Fit) -> tuple[int, ...]:
    """Places of the parameters that the evidence said something about."""
    return tuple(j for j, e in enumerate(fit.estimates) if e.learned >= LEARNED or abs(e.moved_sd) >= MOVED_SD)


def spreads(fit: Fit) -> Array:
    """Standard deviation of log(measured / predicted) of each row's path and workload, from the fit's residuals."""
    table = seen(fit)
    return np.array([table[f"{r.path}/{r.workload}"]["log_sd"] for r in fit.rows])


def seen(fit: Fit) -> dict[str, dict[str, Any]]:
    """What the fit has seen of each path and workload, and how far it was off there."""
    out: dict[str, dict[str, Any]] = {}
    kinds = [f"{r.path}/{r.workload}" for r in fit.rows]
    for kind in sorted(set(kinds)):
        places = [i for i, k in enumerate(kinds) if k == kind]
        rows = [fit.rows[i] for i in places]
        errors = np.abs(fit.residuals[places])
        pooled = max(v for k, v in fit.noise.items() if k.startswith(kind))
        spread = float(np.quantile(errors, COVERED)) / NORMAL_90 if len(places) >= FEW else pooled
        sizes = [float(r.knobs.get("size", 0)) or _default_size(fit.profile, r.path) for r in rows]
        out[kind] = {
            "topologies": sorted({r.topology or endpoint(r.path).topology for r in rows}),
            "directions": sorted({r.direction for r in rows if r.direction}),
            "size_bytes": [int(min(sizes)), int(max(sizes))],
            "rows": len(rows),
            "log_sd": max(spread, 0.5 * pooled),
        }
    return out


def _default_size(profile: Profile, path: str) -> float:
    return float(profile.machine.get("path_defaults", {}).get(path, {}).get("size", knob("size").default))


def tables_of(fit: Fit, study: str) -> dict[str, Any]:
    """The profile as nested tables, ready to be written or read back."""
    places = kept(fit)
    names = [fit.names[j] for j in places]
    p = fit.profile
    parameters = {}
    for j in places:
        e = fit.estimates[j]
        parameters[e.name] = {
            "value": e.value,
            "log_error": e.log_error,
            "unit": priors()[e.name].unit,
            "standing": FITTED,
            "sources": [study],
            "prior": e.prior,
            "prior_log_error": e.prior_log_sd,
            "learned": round(e.learned, 3),
            "at_bound": e.at_bound,
        }
    for name, value in sorted(p.values.items()):
        if name not in parameters:
            parameters[name] = {
                "value": value.value,
                "log_error": value.log_error,
                "unit": value.unit,
                "standing": value.standing,
                "sources": list(value.sources),
            }
    lower = [[float(fit.covariance[places[i], places[k]]) for k in range(i + 1)] for i in range(len(places))]
    return {
        "format": FORMAT,
        "name": p.name,
        "title": p.title,
        "clock_ghz": p.clock_ghz,
        "note": p.note,
        "sources": [study],
        "machine": dict(p.machine),
        "drivers": dict(p.drivers),
        "defaults": dict(p.defaults),
        "fit": {
            "rows": len(fit.rows),
            "effective_parameters": round(fit.effective, 2),
            "outcome": fit.outcome,
            "noise": {k.replace("/", "-"): v for k, v in fit.noise.items()},
        },
        "seen": seen(fit),
        "parameters": dict(sorted(parameters.items())),
        "covariance": {"names": names, "lower": lower},
    }


def text_of(tables: Mapping[str, Any]) -> str:
    """The TOML text of a profile."""
    head = [f"{k} = {_value(v)}" for k, v in tables.items() if not isinstance(v, Mapping)]
    lines = ["# Written by `vmodel fit`; do not edit.", *head]
    for name in ("machine", "drivers", "defaults", "fit"):
        lines += ["", *_table(name, tables[name])]
    for kind, body in tables["seen"].items():
        lines += ["", *_table(f'seen."{kind}"', body)]
    for name, body in tables["parameters"].items():
        lines += ["", *_table(f"parameters.{name}", body)]
    lines += ["", "[covariance]", f"names = {_value(tables['covariance']['names'])}", "lower = ["]
    lines += [f"  {_value([_round(x) for x in row])}," for row in tables["covariance"]["lower"]]
    return "\n".join([*lines, "]", ""])


def _round(x: float) -> float:
    return float(f"{x:.4g}") if math.isfinite(x) else 0.0


def as_profile(fit: Fit, study: str) -> Profile:
    """The fitted profile as a record, without a file."""
    tables = tables_of(fit, study)
    for body in tables["parameters"].values():
        body.pop("prior", None)
    return from_tables(tables, tables["name"])


def write(path: Path, text: str) -> None:
    """Write a file beside its place and rename it, so that nobody ever reads half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(text, encoding="utf-8")
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
