"""How cost grows with the number of points and of paths: slopes on log axes, one core, processor time.

    PYTHONPATH=. python benchmarks/growth.py

A slope of one is proportional to the number; the promise is at most 1.2 for points and for paths.
"""

import contextlib
import io
import math
import sys
import time

import numpy as np

import vmodel
from vmodel.cli.main import main as command
from vmodel.library import tables

MOST_SLOPE = 1.2


def seconds(work):
    """Processor time of the fastest of three runs."""
    best = math.inf
    for _ in range(3):
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


def main():
    failed = False
    for what, make, counts in (
        ("points of one setting", points, (100_000, 300_000, 1_000_000)),
        ("paths compared", paths, (4, 8, 16)),
    ):
        make(counts[0])()  # imports and byte code are not what grows
        times = [seconds(make(count)) for count in counts]
        found = slope(counts, times)
        failed |= found > MOST_SLOPE
        told = ", ".join(f"{count:,}: {spent * 1e3:.0f} ms" for count, spent in zip(counts, times, strict=True))
        print(f"{what}: slope {found:.2f} ({told})")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
