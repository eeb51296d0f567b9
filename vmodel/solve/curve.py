"""Latency, loss and CPU over the whole range of offered loads, and the knees of the curve."""

import math
from dataclasses import dataclass, replace
from typing import Any

from vmodel.core.records import Load, Scenario
from vmodel.solve import compose, solver
from vmodel.solve.dual import plain
from vmodel.solve.gamma_law import gamma_quantile, normal_quantile
from vmodel.solve.tails import StageTime

HIGHEST = 1.2  # the last load, as a multiple of the capacity
KNOTS = 52  # loads at which the law is evaluated; in between the answers are smooth
CLOSEST = 1e-3  # distance of the knots nearest to the capacity
LOWEST, LIGHT = 1e-4, 0.3
PATIENCE = 3.0  # p99 at the knee over p99 of an idle path
SHARES = (0.5, 0.99, 0.999)


NORMAL_FROM = 50.0  # shapes from here on by the cube of Wilson and Hilferty: error below 1e-3 of the quantile


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Answers over offered load, all arrays of one length; SI units."""

    offered_per_s: Any
    mean_s: Any
    p50_s: Any
    p99_s: Any
    p999_s: Any
    loss: Any
    carried_per_s: Any
    cpu_host: Any
    cpu_guest: Any
    capacity_per_s: float
    knee_per_s: float  # largest load with a p99 below three times that of an idle path
    power_knee_per_s: float  # where carried rate over mean latency is largest (Kleinrock1979)


def load_curve(s: Scenario, points: int) -> Curve:
    """The curve of a packets scenario from almost idle to a fifth above capacity.

    points: offered loads, evenly spaced.  The law is evaluated at KNOTS loads that crowd at the capacity and
    interpolated between them (monotone in the logarithm); the tests state the error.
    """
    import numpy  # a curve is made of arrays

    s = replace(s, workload="packets", load=Load())
    parameters = compose.parameter_values(s)
    capacity = float(plain(solver.solve(s, parameters).outcome.rate_per_s))
    below = 1 - numpy.geomspace(CLOSEST, 1 - LOWEST, KNOTS // 2)
    above = 1 + numpy.geomspace(CLOSEST, HIGHEST - 1, KNOTS // 4)
    light = numpy.geomspace(LOWEST, LIGHT, KNOTS // 4)
    knots = numpy.unique(numpy.concatenate([light, below, [1.0], above]))
    offers: Any = knots * capacity
    asked = replace(s, load=Load(kind="rate_pps", value=offers))
    out = solver.solve(asked, parameters).outcome
    shares = numpy.linspace(HIGHEST / points, HIGHEST, points)

    def drawn(values: Any) -> Any:
        return numpy.exp(numpy.interp(shares, knots, numpy.log(numpy.maximum(values, math.ulp(0.0)))))

    offered = shares * capacity
    loss = numpy.interp(shares, knots, numpy.broadcast_to(out.loss, knots.shape))
    mean = drawn(out.latency_s)
    percentiles = [drawn(skewed_columns(out.time, p)) for p in SHARES]
    cpu = solver.cpu(solver.Solved(outcome=out, words={}, bus_bytes=0.0, chains=(compose.scenario_ways(s).forward,)))
    carried = offered * (1 - loss)
    patient = percentiles[1] <= PATIENCE * percentiles[1][0]
    quick = offered[patient & (offered <= capacity)]
    return Curve(
        offered_per_s=offered,
        mean_s=mean,
        p50_s=percentiles[0],
        p99_s=percentiles[1],
        p999_s=percentiles[2],
        loss=loss,
        carried_per_s=carried,
        cpu_host=numpy.interp(shares, knots, numpy.broadcast_to(cpu[0], knots.shape)),
        cpu_guest=numpy.interp(shares, knots, numpy.broadcast_to(cpu[1], knots.shape)),
        capacity_per_s=capacity,
        knee_per_s=float(quick[-1]) if quick.size else float(offered[0]),
        power_knee_per_s=float(offered[numpy.argmax(carried / mean)]),
    )


def skewed_columns(time: StageTime, p: float) -> Any:
    """`skewed_percentile` for many loads, the nearly normal ones without iteration."""
    import numpy

    variance, third = numpy.asarray(time.variance_s2), numpy.asarray(time.third_s3)
    known = third != 0
    shape = numpy.where(known, 4 * variance**3 / numpy.where(known, third * third, 1.0), 1.0)
    quantile = shape.copy()
    for side, share in ((third > 0, p), (third < 0, 1 - p)):
        far, near = side & (shape > NORMAL_FROM), side & (shape <= NORMAL_FROM)
        root = 1 - 1 / (9 * shape[far]) + normal_quantile(share) / (3 * numpy.sqrt(shape[far]))
        quantile[far] = shape[far] * root**3
        if near.any():
            quantile[near] = gamma_quantile(shape[near], share)
    return numpy.maximum(time.mean_s + (quantile - shape) * third / (2 * variance), time.least_s)
