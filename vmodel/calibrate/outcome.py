"""What to think of a fit, in one sentence: ok, at bound, not identified, or outside the model's domain."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from vmodel.calibrate.design import design, evaluate
from vmodel.calibrate.noise import CONTRADICTION, configuration
from vmodel.calibrate.problem import Problem
from vmodel.core.records import Observation, Profile
from vmodel.errors import VmodelError
from vmodel.units import MS_PER_S, US_PER_S

Array = NDArray[np.float64]
OK, AT_BOUND = "ok", "at bound"
NOT_IDENTIFIED, OUTSIDE_DOMAIN = "not identified", "outside the model's domain"
OUTCOMES = (OK, AT_BOUND, NOT_IDENTIFIED, OUTSIDE_DOMAIN)
OUTSIDE = 0.35  # relative error beyond which a row speaks against the model and not of noise
OUTSIDE_SD = 2.0  # and so many standard deviations, where the model is known to be further off
OUTSIDE_SHARE = 0.25  # share of such rows from which the data as a whole do
MANY = 4  # configurations from which one and the same value cannot be chance
LITTLE = 0.2  # a cost that learned this much has learned something
KEPT = 0.95  # share of its prior's spread from which a cost has kept it
SHOWN = 5  # rows that a sentence names
UNITS: Mapping[float, str] = {
    MS_PER_S: "1000 times larger",
    1 / MS_PER_S: "1000 times smaller",
    US_PER_S: "a million times larger",
    1 / US_PER_S: "a million times smaller",
}
UNIT_SLACK = 1.4  # a unit explains values if they then lie this close to what was believed [log]
UNIT_GAIN = 3.2  # and this much closer than as they stand [log]
SIZES = (64.0, 1448.0, 65536.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a conclusion is drawn from."""

    problem: Problem
    profile: Profile
    first: Array  # log prediction before any row
    theta: Array
    residuals: Array
    noise: Array
    weights: Array
    covariance: Array
    information: Array
    learned: Sequence[float]
    bounded: Sequence[str]


def conclusion(e: Evidence, outliers: Sequence[str]) -> tuple[str, str]:
    """The outcome, one of OUTCOMES, and the sentence that says why."""
    p = e.problem
    found = _contradiction(p.rows) or _constant(e) or _outside(e)
    if found is not None:
        return OUTSIDE_DOMAIN, found
    if e.bounded:
        names = ", ".join(e.bounded)
        return AT_BOUND, f"{names} went as far from what is physically likely as it may{_rejected(outliers)}"
    kinds = len({configuration(row) for row in p.rows})
    told = _told(e)
    if told == 0 or (told == 1 and max(e.learned) < LITTLE) or (kinds == 1 and len(p.names) > 1):
        return NOT_IDENTIFIED, _unidentified(e, kinds)
    learned = sum(x >= 1 - KEPT for x in e.learned)
    kept = len(e.learned) - learned
    if max(e.learned) < LITTLE:
        return OK, f"the rows are what was expected: {learned} costs learned a little{_rejected(outliers)}"
    return OK, f"{learned} costs were learned from, {kept} keep their prior{_rejected(outliers)}"


def _told(e: Evidence) -> int:
    """How many combinations of costs the rows tell better than the prior did."""
    inverse = np.linalg.inv(e.problem.root)
    values = np.linalg.eigvalsh(inverse.T @ e.information @ inverse)
    return int(np.sum(values > 1.0))


def _named(ids: Sequence[str]) -> str:
    return ", ".join(ids[:SHOWN]) + (", ..." if len(ids) > SHOWN else "")


def _rejected(outliers: Sequence[str]) -> str:
    if not outliers:
        return ""
    return f"; {_named(outliers)} {'speaks' if len(outliers) == 1 else 'speak'} against the rest and count little"


def _contradiction(rows: Sequence[Observation]) -> str | None:
    """Two rows that ask the same question and got answers that no noise explains."""
    places: dict[tuple[object, ...], list[Observation]] = {}
    for row in rows:
        places.setdefault(configuration(row), []).append(row)
    torn = [
        (low, high)
        for repeats in places.values()
        if (high := max(repeats, key=lambda r: r.value)).value
        > CONTRADICTION * (low := min(repeats, key=lambda r: r.value)).value
        and high.value - low.value > OUTSIDE_SD * math.hypot(high.sd or 0.0, low.sd or 0.0)
    ]
    touched = sum(len(places[configuration(low)]) for low, _ in torn)
    if not torn or touched <= OUTSIDE_SHARE * len(rows):
        return None
    low, high = torn[0]
    return (
        f"{low.id} and {high.id} ask the same and differ by a factor of {high.value / low.value:.1f}: one is"
        " mislabelled, or something changed between them that no column tells"
    )


def _constant(e: Evidence) -> str | None:
    """One value for many questions whose answers must differ."""
    rows = e.problem.rows
    for metric in sorted({r.metric for r in rows}):
        places = [i for i, r in enumerate(rows) if r.metric == metric]
        kinds = len({configuration(rows[i]) for i in places})
        apart = float(np.exp(np.ptp(e.first[places])))
        if kinds >= MANY and len({rows[i].value for i in places}) == 1 and apart > CONTRADICTION:
            return (
                f"{kinds} configurations all have {metric} {rows[places[0]].value:g}, where a factor of {apart:.0f} is"
                f" expected between them: {_named([rows[i].id for i in places])}; a default or a cap, no measurement"
            )
    return None


def _outside(e: Evidence) -> str | None:
    """Too many rows that no choice of costs explains; with the unit that would, if one does."""
    limit = np.clip(OUTSIDE_SD * e.noise, math.log1p(OUTSIDE), math.log(CONTRADICTION))
    rows = e.problem.rows
    far = [row.id for row, r, m in zip(rows, e.residuals, limit, strict=True) if abs(r) > m]
    unit = _unit(e.problem.measured - e.first)
    if unit is not None:
        return (
            f"the values are what the model expects if they were {unit}: {_named([r.id for r in rows])};"
            " check the unit and the metric"
        )
    if len(far) <= OUTSIDE_SHARE * len(rows):
        return None
    reason = f"{len(far)} of {len(rows)} rows are off by more than {OUTSIDE:.0%}: {_named(far)}"
    return f"{reason}; check units, sizes and path, or the path lacks a stage"


def _unit(off: Array) -> str | None:
    """The change of unit that brings measured values far from any belief back to it."""
    middle = float(np.median(off))
    for factor, words in UNITS.items():
        back = abs(middle + math.log(factor))
        if back < UNIT_SLACK and abs(middle) - back > UNIT_GAIN:
            return words
    return None


def _unidentified(e: Evidence, kinds: int) -> str:
    rows = e.problem.rows
    if _told(e) == 0:
        head = "no row depends on a cost that is not known already"
    elif kinds == 1:
        head = (
            f"{'one row tells' if len(rows) == 1 else f'{len(rows)} rows of one configuration tell'} one sum of costs"
        )
    else:
        head = "the rows tell no cost apart"
    best = _next(e)
    return head + (f"; measure {best} to tell them apart" if best else "; measure another path or workload")


def _next(e: Evidence) -> str | None:
    """The measurement of the same path whose answer is least known after the fit."""
    p = e.problem
    first = p.rows[0]
    plain = {k: v for k, v in first.knobs.items() if k != "size"}
    candidates = []
    for (workload, metric), direction, size in product(
        (("rr", "latency_us"), ("stream", "throughput_mbps"), ("packets", "rate_pps")), ("to-vm", "from-vm"), SIZES
    ):
        if workload == "rr" and direction == "from-vm":
            continue
        row = replace(
            first, id="next", workload=workload, direction=direction, metric=metric, value=1.0,
            knobs={**plain, "size": size},
        )  # fmt: skip
        if configuration(row) not in {configuration(r) for r in p.rows}:
            candidates.append(row)
    values = dict(zip(p.names, np.exp(e.theta).tolist(), strict=True))
    try:
        _, jacobian = evaluate(design(candidates, e.profile), values, p.names, len(candidates))
    except VmodelError:  # a path that lacks one of the workloads
        return None
    open_variance = np.einsum("ij,jk,ik->i", jacobian, e.covariance, jacobian)
    # what the given rows cannot tell: the answer is as open as it was, and depends on what they leave open
    best = candidates[int(np.argmax(np.round(open_variance, 6)))]
    way = "" if best.workload == "rr" else f", {best.direction}"
    return f"{best.path} with {best.workload}, {best.knobs['size']:g} bytes{way}"
