"""Figures of accuracy over all studies: in sample, out of sample, from five rows, from none, and of baselines."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vmodel.calibrate.baselines import nearest_row, series_affine
from vmodel.calibrate.noise import configuration
from vmodel.calibrate.pooled import Pool
from vmodel.calibrate.ranking import Ranking, ranking
from vmodel.calibrate.transfer import NORMAL_90, Transfer, model_errors
from vmodel.calibrate.validate import Result
from vmodel.core.records import Observation
from vmodel.library.tables import endpoint, path_names
from vmodel.units import PERCENT_PER_ONE

Array = NDArray[np.float64]
LATENCY = "latency_us"
DOUBTFUL = "doubtful:"
WORST = 4  # rows of a study that the page lists


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One compared row with every answer that was given to it; errors are log(predicted / measured)."""

    study: str
    row: Observation
    inside: float
    row_out: float
    row_out_covered: bool
    zero: float
    zero_covered: bool
    few: tuple[float, ...]  # in each draw in which the row was not given
    few_covered: tuple[bool, ...]
    baselines: dict[str, tuple[float, ...]]  # on the same draws


def points(
    results: Sequence[Result],
    found: Sequence[Transfer],
    learned: Sequence[Transfer],
    told: Callable[[], None] = lambda: None,
) -> tuple[Point, ...]:
    """Join what `validate` and `transfer` found of each row, with the baselines on the same rows given.

    learned: the same from a population that the other studies tell of, which is a baseline.
    """
    out: list[Point] = []
    for result, t, other_prior in zip(results, found, learned, strict=True):
        errors = model_errors(found, t.study.name)
        model = np.array([errors.get(f"{r.path}/{r.workload}", errors[""]) for r in t.rows])
        base = _baselines(t, [r for other in found if other is not t for r in other.rows])
        base["learned_population"] = [d.logs for d in other_prior.draws]
        out_guess = result.row_out
        if out_guess is None:
            continue
        off = out_guess.logs - result.measured
        zero = t.logs - t.measured
        for i, row in enumerate(t.rows):
            draws = [(d, k) for k, d in enumerate(t.draws) if i not in d.given]
            few = [float(d.logs[i] - t.measured[i]) for d, _ in draws]
            wide = [NORMAL_90 * math.hypot(float(d.sd[i]), float(model[i])) for d, _ in draws]
            out.append(
                Point(
                    study=t.study.name,
                    row=row,
                    inside=float(result.inside.logs[i] - result.measured[i]),
                    row_out=float(off[i]),
                    row_out_covered=bool(abs(off[i]) <= NORMAL_90 * out_guess.sd[i]),
                    zero=float(zero[i]),
                    zero_covered=bool(abs(zero[i]) <= NORMAL_90 * math.hypot(float(t.sd[i]), float(model[i]))),
                    few=tuple(few),
                    few_covered=tuple(abs(e) <= w for e, w in zip(few, wide, strict=True)),
                    baselines={
                        name: tuple(float(guess[k][i] - t.measured[i]) for _, k in draws)
                        for name, guess in base.items()
                    },
                )
            )
        told()
    return tuple(out)


def _baselines(t: Transfer, others: Sequence[Observation]) -> dict[str, list[Array]]:
    """Log predictions of every baseline for every draw: two from the rows given, two with the other studies beside."""
    pool = Pool(t.rows, others) if others else None
    out: dict[str, list[Array]] = {}
    for draw in t.draws:
        fold = [(tuple(draw.rest), tuple(draw.given))]
        found = {"nearest_row": nearest_row(t.rows, fold), "series_affine": series_affine(t.rows, fold)}
        for name, guess in {**found, **(pool.guesses(draw.given) if pool else {})}.items():
            out.setdefault(name, []).append(guess)
    return out


def ape(errors: Iterable[float]) -> Array:
    """Absolute relative errors of logarithmic ones."""
    return np.asarray(np.abs(np.exp(np.array(list(errors), dtype=np.float64)) - 1), dtype=np.float64)


def few_apes(chosen: Iterable[Point], baseline: str | None = None) -> Array:
    """Errors of rows predicted from five, all draws together; of the model or of a baseline."""
    return ape(e for p in chosen for e in (p.few if baseline is None else p.baselines[baseline]))


def few_of_studies(chosen: Sequence[Point]) -> float | None:
    """The median study's median error from five rows: a study of many rows then counts as one of few."""
    each = [few_apes(group) for group in by(chosen, "study").values()]
    return float(np.median([np.median(e) for e in each if e.size])) if any(e.size for e in each) else None


def share(flags: Iterable[bool]) -> float | None:
    """The share of true flags; None of none."""
    found = list(flags)
    return sum(found) / len(found) if found else None


def ranks(chosen: Sequence[Point]) -> tuple[Ranking, ...]:
    """How configurations are ranked from five rows, for each study, workload, figure and direction."""
    groups: dict[tuple[str, str, str, str], list[Point]] = {}
    for p in chosen:
        if p.few:
            groups.setdefault((p.study, p.row.workload, p.row.metric, p.row.direction), []).append(p)
    return tuple(
        ranking(
            [p.row for p in group],
            np.array([math.log(p.row.value) + float(np.median(p.few)) for p in group]),
        )
        for group in groups.values()
    )


def _middle(taus: Iterable[float | None]) -> float | None:
    found = [tau for tau in taus if tau is not None]
    return float(np.median(found)) if found else None


def figures(chosen: Sequence[Point]) -> dict[str, Any]:
    """The figures of a set of points."""
    few = few_apes(chosen)
    names = sorted({n for p in chosen for n in p.baselines})
    told_ranks = ranks(chosen)
    return {
        "rows": len(chosen),
        "studies": len({p.study for p in chosen}),
        "inside": float(np.median(ape(p.inside for p in chosen))),
        "row_out": float(np.median(ape(p.row_out for p in chosen))),
        "few": float(np.median(few)) if few.size else None,
        "few_studies": few_of_studies(chosen),
        "within_two": share(abs(p.zero) <= math.log(2) for p in chosen),
        "row_out_covered": share(p.row_out_covered for p in chosen),
        "few_covered": share(flag for p in chosen for flag in p.few_covered),
        "zero_covered": share(p.zero_covered for p in chosen),
        "rank": _middle(r.clear for r in told_ranks),
        "rank_all_pairs": _middle(r.whole for r in told_ranks),
        "baselines": {n: float(np.median(few_apes(chosen, n))) for n in names} if few.size else {},
    }


def reason(point: Point, everyone: Sequence[Point]) -> str:
    """Why a row is missed, as far as the evidence tells."""
    note = point.row.note
    if DOUBTFUL in note:
        return note[note.index(DOUBTFUL) :].split(";")[0]
    kind = configuration(point.row)
    repeats = [p.row.value for p in everyone if p.study == point.study and configuration(p.row) == kind]
    apart = max(repeats) / min(repeats) - 1
    if apart > 0.5 * (math.exp(abs(point.inside)) - 1) and len(repeats) > 1:
        return f"repeats of it differ by {apart:.0%}"
    series = [p.inside for p in everyone if p.study == point.study and p.row.series == point.row.series]
    middle = float(np.median(series))
    if len(series) >= 4 and abs(middle) > 0.5 * abs(point.inside):
        return f"its whole series is missed by {math.exp(middle) - 1:+.0%}: the model lacks what this series is about"
    if len(series) >= 4:
        return f"alone in its series, whose median is off by {math.exp(middle) - 1:+.0%}"
    return "few rows of its kind"


KEYS: Mapping[str, Callable[[Point], str]] = {
    "study": lambda p: p.study,
    "path": lambda p: p.row.path,
    "kind": lambda p: f"{p.row.path}/{p.row.workload}",
    "topology": lambda p: p.row.topology or endpoint(p.row.path).topology,
    "metric": lambda p: p.row.metric,
}


def by(everyone: Sequence[Point], key: str) -> dict[str, list[Point]]:
    """Points by one of KEYS, names sorted."""
    out: dict[str, list[Point]] = {}
    for p in everyone:
        out.setdefault(KEYS[key](p), []).append(p)
    return dict(sorted(out.items()))


def of_rate(point: Point) -> bool:
    """Whether a row is a throughput or a rate, and not a latency (a transaction rate is the inverse of one)."""
    return point.row.metric != LATENCY


def unseen(everyone: Sequence[Point]) -> list[str]:
    """Paths that no study has a row of."""
    seen = {p.row.path for p in everyone}
    return [path for path in path_names() if path not in seen]


def worst(everyone: Sequence[Point]) -> list[dict[str, str]]:
    """The worst rows of each study, one for each series, with the reason."""
    out = []
    for name, group in by(everyone, "study").items():
        taken: set[str] = set()
        for p in sorted(group, key=lambda p: (-abs(p.inside), p.row.id)):
            if p.row.series in taken:
                continue
            taken.add(p.row.series)
            out.append(
                {
                    "study": name,
                    "id": p.row.id,
                    "measured": f"{p.row.value:.4g}",
                    "predicted": f"{p.row.value * math.exp(p.inside):.4g}",
                    "error": f"{math.expm1(p.inside) * PERCENT_PER_ONE:+.0f} %",
                    "reason": reason(p, group),
                }
            )
            if len(taken) == WORST:
                break
    return out
