"""How long a fit takes, and what the exact Jacobian is worth against finite differences of the same problem.

The rows are all that are fit for comparison in calibration/, machine by machine. Both searches start from the priors,
with the same noise, and must end at the same cost.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is loaded: one core is measured

import sys
import time

import numpy as np
from scipy.optimize import least_squares

from vmodel.calibrate.design import evaluate
from vmodel.calibrate.evidence import load
from vmodel.calibrate.fit import fit
from vmodel.calibrate.noise import START_NOISE
from vmodel.calibrate.problem import BOUND_SD, problem

EVALUATIONS = 40
SAME_COST = 0.01  # relative: the two searches ended at the same place


def search(p, exact: bool):
    """One search from the priors; returns its CPU seconds and its end."""
    n = len(p.rows)

    def values(theta):
        return dict(zip(p.names, np.exp(theta).tolist(), strict=True))

    def residual(theta):
        logs = evaluate(p.groups, values(theta), p.names, n)[0]
        return np.concatenate([(logs - p.measured) / START_NOISE, (theta - p.centre) / p.spread])

    def jacobian(theta):
        return np.vstack([evaluate(p.groups, values(theta), p.names, n)[1] / START_NOISE, np.diag(1 / p.spread)])

    bounds = (p.centre - BOUND_SD * p.spread, p.centre + BOUND_SD * p.spread)
    start = time.process_time()
    found = least_squares(
        residual,
        p.centre,
        jac=jacobian if exact else "2-point",
        bounds=bounds,
        x_scale=p.spread,
        ftol=1e-8,
        max_nfev=EVALUATIONS,
    )
    return time.process_time() - start, found


def main() -> int:
    """Fit every machine once for the total, then search both ways for the ratio."""
    studies = load(None)
    rows = sum(len(s.compared) for s in studies)
    start = time.process_time()
    for study in studies:
        fit(study.compared, study.seed)
    print(f"whole fit of {rows} rows, {len(studies)} machines: {time.process_time() - start:.1f} s of CPU time")
    print(f"{'study':16s} {'rows':>5s} {'costs':>6s} {'exact':>8s} {'differences':>12s} {'ratio':>6s} {'cost':>16s}")
    different = False
    totals = np.zeros(2)
    for study in studies:
        p = problem(study.compared, study.seed)
        (quick, a), (slow, b) = search(p, True), search(p, False)
        totals += quick, slow
        different = different or a.cost > b.cost * (1 + SAME_COST)
        costs = f"{a.cost:.1f} / {b.cost:.1f}"
        print(
            f"{study.name:16s} {len(p.rows):5d} {len(p.names):6d} {quick:6.2f} s {slow:10.2f} s"
            f" {slow / quick:6.1f} {costs:>16s}"
        )
    print(f"all: {totals[1] / totals[0]:.1f} times faster with the exact Jacobian")
    return int(different)


if __name__ == "__main__":
    sys.exit(main())
