"""How long a fit takes: the product's own, the exact Jacobian against finite differences, and lmfit and iminuit.

Two problems. The rows that are fit for comparison in calibration/, machine by machine: searches with the exact Jacobian
and with differences start from the priors, with the same noise, and must end at the same cost. And one problem of 500
rows and 60 costs, on which lmfit (least squares) and iminuit (MIGRAD) minimise the same sum of squares from the same
start; each is given the model as a function of the costs, as a user of theirs would.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is loaded: one core is measured

import sys
import time
from dataclasses import replace

import numpy as np
from scipy.optimize import least_squares

from vmodel.calibrate.design import evaluate
from vmodel.calibrate.evidence import load
from vmodel.calibrate.fit import fit
from vmodel.calibrate.noise import START_NOISE
from vmodel.calibrate.problem import BOUND_SD, problem
from vmodel.core.records import Observation
from vmodel.library.profile import profile

EVALUATIONS = 40
SAME_COST = 0.01  # relative: the searches ended at the same place
ROWS, COSTS = 500, 60
PATHS = ("virtio-vhost", "virtio-qemu", "vf", "vsock", "macvtap-vhost", "vhost-user", "xen-pv")
NOISE = 0.03
MOST_CALLS = 6000  # of iminuit, which may then not have ended


class Sum:
    """The sum of squares of one problem, its residuals, gradient and Jacobian over the log costs."""

    def __init__(self, p) -> None:
        self.p, self.n = p, len(p.rows)
        self.calls = 0

    def _at(self, theta):
        self.calls += 1
        values = dict(zip(self.p.names, np.exp(theta).tolist(), strict=True))
        return evaluate(self.p.groups, values, self.p.names, self.n)

    def residual(self, theta):
        logs = self._at(theta)[0]
        return np.concatenate([(logs - self.p.measured) / START_NOISE, (theta - self.p.centre) / self.p.spread])

    def jacobian(self, theta):
        return np.vstack([self._at(theta)[1] / START_NOISE, np.diag(1 / self.p.spread)])

    def cost(self, theta):
        return 0.5 * float(np.sum(self.residual(np.asarray(theta)) ** 2))


def search(p, exact: bool):
    """One search from the priors; returns its CPU seconds and its end."""
    s = Sum(p)
    bounds = (p.centre - BOUND_SD * p.spread, p.centre + BOUND_SD * p.spread)
    start = time.process_time()
    found = least_squares(
        s.residual,
        p.centre,
        jac=s.jacobian if exact else "2-point",
        bounds=bounds,
        x_scale=p.spread,
        ftol=1e-8,
        max_nfev=EVALUATIONS,
    )
    return time.process_time() - start, found.cost


def with_lmfit(p):
    """The same by lmfit, with its own finite differences; CPU seconds and cost, or None where it is not installed."""
    try:
        import lmfit
    except ImportError:
        return None
    s, parameters = Sum(p), lmfit.Parameters()
    for name, centre, spread in zip(p.names, p.centre, p.spread, strict=True):
        parameters.add(name, value=centre, min=centre - BOUND_SD * spread, max=centre + BOUND_SD * spread)
    start = time.process_time()
    found = lmfit.minimize(
        lambda q: s.residual(np.array([q[n].value for n in p.names])), parameters, method="least_squares",
        max_nfev=EVALUATIONS * (len(p.names) + 1), calc_covar=False,
    )  # fmt: skip
    return time.process_time() - start, 0.5 * float(np.sum(found.residual**2))


def with_iminuit(p):
    """The same by iminuit's MIGRAD, with its own gradient; CPU seconds and cost, or None where it is not installed."""
    try:
        from iminuit import Minuit
    except ImportError:
        return None
    s = Sum(p)
    m = Minuit(s.cost, p.centre, name=p.names)
    m.errordef = Minuit.LIKELIHOOD
    m.limits = list(zip(p.centre - BOUND_SD * p.spread, p.centre + BOUND_SD * p.spread, strict=True))
    start = time.process_time()
    m.strategy = 0
    m.migrad(ncall=MOST_CALLS)
    return time.process_time() - start, float(m.fval)


def large() -> object:
    """500 rows of several paths, made from costs that differ from the priors, with noise; 60 costs are free."""
    generic = replace(profile("generic"), correlated=(), covariance=(), seen={})
    rows = []
    sizes = [int(x) for x in np.geomspace(1, 65536, 24)]
    for path in PATHS:
        for workload, metric in (("rr", "latency_us"), ("stream", "throughput_mbps"), ("packets", "rate_pps")):
            for size in sizes:
                rows.append(
                    Observation(
                        id=f"{path}/{workload}/{size}", path=path, peer="", topology="", workload=workload,
                        direction="to-vm", metric=metric, value=1.0, sd=None, knobs={"size": float(size)}, session="",
                        series=f"{path}/{workload}", profile="", source="", excluded="", note="",
                    )
                )  # fmt: skip
    rows = rows[:ROWS]
    p = problem(rows, generic)
    free = p.names[:COSTS]
    chance = np.random.default_rng(7)
    truth = {
        n: float(np.exp(c + 0.5 * s * chance.standard_normal()))
        for n, c, s in zip(p.names, p.centre, p.spread, strict=True)
    }
    logs, _ = evaluate(p.groups, truth, p.names, len(rows))
    noisy = np.exp(logs + NOISE * chance.standard_normal(len(rows)))
    made = [replace(r, value=float(v)) for r, v in zip(rows, noisy, strict=True)]
    keep = [j for j, n in enumerate(p.names) if n in free]
    whole = problem(made, generic)
    known = {n: truth[n] for n in p.names if n not in free}
    return made, replace(
        whole, names=free, centre=whole.centre[keep], spread=whole.spread[keep],
        root=np.diag(1 / whole.spread[keep]),
        groups=tuple(replace(g, scenario=replace(g.scenario, parameters=known)) for g in whole.groups),
    )  # fmt: skip


def main() -> int:
    """Fit every machine once for the total, then search both ways for the ratio, then beside other libraries."""
    studies = load(None)
    rows = sum(len(s.compared) for s in studies)
    start = time.process_time()
    for study in studies:
        fit(study.compared, study.seed)
    print(f"whole fit of {rows} rows, {len(studies)} machines: {time.process_time() - start:.1f} s of CPU time")
    print(f"{'study':18s} {'rows':>5s} {'costs':>6s} {'exact':>8s} {'differences':>12s} {'ratio':>6s} {'cost':>16s}")
    different = False
    totals = np.zeros(2)
    made, p = large()
    problems = [(s.name, problem(s.compared, s.seed)) for s in studies]
    for name, q in [*problems, ("made", p)]:
        (quick, a), (slow, b) = search(q, True), search(q, False)
        totals += quick, slow
        different = different or a > b * (1 + SAME_COST)
        print(
            f"{name:18s} {len(q.rows):5d} {len(q.names):6d} {quick:6.2f} s {slow:10.2f} s"
            f" {slow / quick:6.1f} {f'{a:.1f} / {b:.1f}':>16s}"
        )
    print(f"all: {totals[1] / totals[0]:.1f} times faster with the exact Jacobian")
    quick, cost = search(p, True)
    print(f"\n{len(p.rows)} rows, {len(p.names)} costs:\n{'':24s} {'CPU':>8s} {'ratio':>7s} {'cost':>10s}")
    print(f"{'vmodel, one search':24s} {quick:6.2f} s {1.0:7.1f} {cost:10.1f}")
    for name, law in (("lmfit, least_squares", with_lmfit), ("iminuit, MIGRAD", with_iminuit)):
        found = law(p)
        if found is None:
            print(f"{name:24s} not installed: pip install lmfit iminuit")
        else:
            print(f"{name:24s} {found[0]:6.2f} s {found[0] / quick:7.1f} {found[1]:10.1f}")
            different = different or cost > found[1] * (1 + SAME_COST)
    start = time.process_time()
    f = fit(made, profile("generic"))
    seconds = time.process_time() - start
    print(f"whole `vmodel fit` of these rows ({len(f.names)} costs, noise and weights found): {seconds:.2f} s")
    return int(different)


if __name__ == "__main__":
    sys.exit(main())
