"""A fit as a profile file: the same bytes for the same evidence; written beside and renamed, so never half."""

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vmodel.calibrate.belief import Belief, belief
from vmodel.calibrate.fit import Fit
from vmodel.calibrate.noise import BELIEVED_ROWS, LEAST_FREE
from vmodel.calibrate.problem import carried
from vmodel.core.records import Profile, Seen, Value
from vmodel.errors import ConfigError, Fault
from vmodel.library.profile import FORMAT, from_tables
from vmodel.library.tables import endpoint, knob, priors
from vmodel.solve.doubt import UNSEEN_LOG_SD
from vmodel.sources import FITTED

Array = NDArray[np.float64]
LEARNED = 0.005  # a parameter that the rows told less of stays with its prior
MOVED_SD = 0.05
NORMAL_90 = 1.6448536269514722
COVERED = 0.92  # share of rows a spread must cover in sample, so that rows left out are covered at 90 %
SMALLEST = 1e-8  # variance that rounding cannot turn negative
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
    """What the fit has seen of each path and workload, and how far it was off there.

    Under a prior that holds for any machine, what the model is usually off by is believed until the rows say better:
    five rows that four costs explain say little of it. What the prior knows of other paths is kept.
    """
    out: dict[str, dict[str, Any]] = {}
    before = fit.profile.seen
    kinds = [f"{r.path}/{r.workload}" for r in fit.rows]
    for kind in sorted(set(kinds)):
        places = [i for i, k in enumerate(kinds) if k == kind]
        rows = [fit.rows[i] for i in places]
        errors = np.abs(fit.residuals[places])
        pooled = max(v for k, v in fit.noise.items() if k.startswith(kind))
        spread = float(np.quantile(errors, COVERED)) / NORMAL_90 if len(places) >= FEW else pooled
        if before or fit.profile.correlated:
            spread = _with_prior(fit, errors, before[kind].log_sd if kind in before else UNSEEN_LOG_SD)
        sizes = [float(r.knobs.get("size", 0)) or _default_size(fit.profile, r.path) for r in rows]
        out[kind] = {
            "topologies": sorted({r.topology or endpoint(r.path).topology for r in rows}),
            "directions": sorted({r.direction for r in rows if r.direction}),
            "size_bytes": [int(min(sizes)), int(max(sizes))],
            "rows": len(rows),
            "log_sd": max(spread, 0.5 * pooled),
        }
        if kind in before and before[kind].rows:
            out[kind] = _joined(out[kind], before[kind])
    for kind, known in before.items():
        if kind not in out:
            out[kind] = _seen_table(known)
    return dict(sorted(out.items()))


def _with_prior(fit: Fit, errors: Array, before: float) -> float:
    """The model's error from what it usually is and from the residuals, freed of what the fit has explained away."""
    free = max(1 - fit.effective / len(fit.rows), LEAST_FREE)
    count = len(errors) * free
    own = (float(np.quantile(errors, COVERED)) / NORMAL_90) ** 2 / free
    return math.sqrt((count * own + BELIEVED_ROWS * before**2) / (count + BELIEVED_ROWS))


def _joined(new: dict[str, Any], old: Seen) -> dict[str, Any]:
    """What an updated profile has seen of a kind: by its new rows and by those before."""
    return {
        **new,
        "topologies": sorted({*new["topologies"], *old.topologies}),
        "directions": sorted({*new["directions"], *old.directions}),
        "size_bytes": [
            int(min(new["size_bytes"][0], old.size_bytes[0])), int(max(new["size_bytes"][1], old.size_bytes[1]))
        ],
        "rows": new["rows"] + old.rows,
    }  # fmt: skip


def _seen_table(known: Seen) -> dict[str, Any]:
    return {
        "topologies": list(known.topologies),
        "directions": list(known.directions),
        "size_bytes": [int(x) for x in known.size_bytes],
        "rows": known.rows,
        "log_sd": known.log_sd,
    }


def _default_size(profile: Profile, path: str) -> float:
    return float(profile.machine.get("path_defaults", {}).get(path, {}).get("size", knob("size").default))


def whole(fit: Fit) -> Belief:
    """The costs that a profile holds together, after the fit.

    Those that the rows said something about; under a prior whose costs move together, all of them.
    """
    if not fit.profile.correlated:
        places = list(kept(fit))
        names = tuple(fit.names[j] for j in places)
        return Belief(names=names, mean=fit.log_values[places], covariance=fit.covariance[np.ix_(places, places)])
    told = [fit.names[j] for j in kept(fit)]
    return carried(fit, belief(fit.profile, sorted({*fit.profile.correlated, *told})))


def tables_of(fit: Fit, study: str) -> dict[str, Any]:
    """The profile as nested tables, ready to be written or read back."""
    p = fit.profile
    parameters = {}
    for j in kept(fit):
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
    after = whole(fit)
    order = {name: i for i, name in enumerate(after.names)} if p.correlated else {}
    for name, value in sorted(p.values.items()):
        if name not in parameters:
            parameters[name] = _table_of(value)
            if name in order:
                at = order[name]
                error = math.sqrt(max(float(after.covariance[at, at]), SMALLEST))
                parameters[name].update(value=float(np.exp(after.mean[at])), log_error=error)
    return {
        **_head(p, [study]),
        "fit": {
            "rows": len(fit.rows),
            "effective_parameters": round(fit.effective, 2),
            "outcome": fit.outcome,
            "noise": {k.replace("/", "-"): v for k, v in fit.noise.items()},
        },
        "seen": seen(fit),
        "parameters": dict(sorted(parameters.items())),
        "covariance": {"names": list(after.names), "lower": _lower(after.covariance, words=bool(p.correlated))},
    }


def tables_of_profile(p: Profile) -> dict[str, Any]:
    """A profile that no single fit made, as nested tables."""
    n = len(p.correlated)
    covariance = np.array([[p.covariance[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)])
    return {
        **_head(p, list(p.sources)),
        "fit": {},
        "seen": {kind: _seen_table(known) for kind, known in sorted(p.seen.items())},
        "parameters": {name: _table_of(value) for name, value in sorted(p.values.items())},
        "covariance": {"names": list(p.correlated), "lower": _lower(covariance, words=True)},
    }


def _head(p: Profile, sources: list[str]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "name": p.name,
        "title": p.title,
        "clock_ghz": p.clock_ghz,
        "note": p.note,
        "sources": sources,
        "machine": dict(p.machine),
        "drivers": dict(p.drivers),
        "defaults": dict(p.defaults),
    }


def _table_of(value: Value) -> dict[str, Any]:
    return {
        "value": value.value,
        "log_error": value.log_error,
        "unit": value.unit,
        "standing": value.standing,
        "sources": list(value.sources),
    }


def _lower(covariance: Array, *, words: bool) -> list[Any]:
    """The lower triangle row by row; a large one as words, which are read ten times faster."""
    rows = [[float(covariance[i, k]) for k in range(i + 1)] for i in range(len(covariance))]
    return [" ".join(f"{x:.6g}" for x in row) for row in rows] if words else rows


def text_of(tables: Mapping[str, Any]) -> str:
    """The TOML text of a profile."""
    head = [f"{k} = {_value(v)}" for k, v in tables.items() if not isinstance(v, Mapping)]
    lines = ["# Written by `vmodel fit`; do not edit.", *head]
    for name in ("machine", "drivers", "defaults", *(["fit"] if tables["fit"] else [])):
        lines += ["", *_table(name, tables[name])]
    for kind, body in tables["seen"].items():
        lines += ["", *_table(f'seen."{kind}"', body)]
    for name, body in tables["parameters"].items():
        lines += ["", *_table(f"parameters.{name}", body)]
    lines += ["", "[covariance]", f"names = {_value(tables['covariance']['names'])}", "lower = ["]
    lines += [
        f"  {_value(row if isinstance(row, str) else [_round(x) for x in row])},"
        for row in tables["covariance"]["lower"]
    ]
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
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            beside.write_text(text, encoding="utf-8")
            os.replace(beside, path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        expected = f"a file that can be written ({error.strerror})"
        raise ConfigError([Fault(file="", key="-o", value=str(path), expected=expected)]) from None
