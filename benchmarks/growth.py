"""How cost grows with the number of points, paths, rows to fit and VMs to place: slopes on log axes, processor time.

    PYTHONPATH=. python benchmarks/growth.py

A slope of one is proportional to the number; the promise is at most 1.2 for points, paths and rows. A plan does not
grow with the number of VMs, only with that of classes: at most 0.3.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is loaded: one core is measured


import contextlib
import io
import math
import sys
import time

import numpy as np
from fit import large
from fleets import KINDS, fleet

import vmodel
from vmodel.calibrate.fit import fit
from vmodel.cli.main import main as command
from vmodel.library import tables
from vmodel.library.profile import profile
from vmodel.plan.options import catalogue
from vmodel.plan.placement import solve
from vmodel.plan.plan import problem_of

MOST_SLOPE, MOST_PLAN_SLOPE = 1.2, 0.3
SEED = 10


def seconds(work, rounds):
    """Processor time of the fastest of so many runs."""
    best = math.inf
    for _ in range(rounds):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def slope(counts, times):
    """Least squares of the logarithms."""
    return float(np.polyfit(np.log(counts), np.log(times), 1)[0])


def points(count):
    return lambda: vmodel.predict(path="vf", rx_usecs=np.linspace(0.0, 200.0, count))


def paths(count):
    named = [word for path in tables.path_names()[:count] for word in ("--path", path)]

    def work():
        with contextlib.redirect_stdout(io.StringIO()):
            command(["compare", *named, "--json"])

    return work


def rows(count):
    made = large()[0]
    some = [made[i] for i in np.linspace(0, len(made) - 1, count).round().astype(int)]
    return lambda: fit(some, profile("generic"))


def vms(count):
    """Fleets of five kinds, since single ones are easier or harder by chance."""
    problems = [problem_of(catalogue(fleet(count, SEED + i, kind))) for i, kind in enumerate(list(KINDS)[::2])]
    return lambda: [solve(p, time_limit_s=60.0) for p in problems]


def main():
    failed = False
    for what, make, counts, rounds, most in (
        ("points of one setting", points, (100_000, 300_000, 1_000_000), 3, MOST_SLOPE),
        ("paths compared", paths, (4, 8, 16), 3, MOST_SLOPE),
        ("rows fitted", rows, (60, 120, 240, 480), 2, MOST_SLOPE),
        ("VMs placed, five fleets", vms, (1_000, 10_000, 100_000), 1, MOST_PLAN_SLOPE),
    ):
        if rounds > 1:
            make(counts[0])()  # imports and byte code are not what grows
        times = [seconds(make(count), rounds) for count in counts]
        found = slope(counts, times)
        failed |= found > most
        told = ", ".join(f"{count:,}: {spent * 1e3:.0f} ms" for count, spent in zip(counts, times, strict=True))
        print(f"{what}: slope {found:.2f} ({told})")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
