"""How much of a full enumeration `tune` needs, and whether it finds the same optimum.

Two polls share a budget of host CPU: 1001 x 1001 configurations. Compared with answering all of them as arrays, and
with a loop of single predictions (timed on a few and scaled). Ends with exit code 1 when the optimum differs or nothing
is won.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is loaded: one core is measured

import sys
import time

import numpy as np

import vmodel

SETTINGS = {"path": "virtio-vhost", "topology": "host-vm"}
OVER = ("halt_poll", "worker_poll")
VALUES = np.arange(1001.0)
BOUND = 0.3  # processors of the host
SINGLE = 200  # predictions timed one by one
SAME = 1e-9


def main() -> int:
    """Time three ways to the same optimum."""
    vmodel.predict(**SETTINGS, halt_poll=VALUES[:10])
    vmodel.tune(**SETTINGS, minimise="mean", over=["event_idx"])
    start = time.process_time()
    found = vmodel.tune(**SETTINGS, minimise="mean", subject=[f"host_cpu <= {BOUND}"], over=OVER, worth=0)
    tuned = time.process_time() - start
    start = time.process_time()
    halt, worker = np.meshgrid(VALUES, VALUES, indexing="ij")
    all_of_them = vmodel.predict(**SETTINGS, halt_poll=halt, worker_poll=worker)
    best = np.where(all_of_them["cpu_host"] <= BOUND, all_of_them["latency_s"], np.inf).min()
    arrays = time.process_time() - start
    start = time.process_time()
    for value in VALUES[:SINGLE]:
        vmodel.predict(**SETTINGS, halt_poll=float(value))
    loop = (time.process_time() - start) / SINGLE * len(VALUES) ** 2
    print(f"{'way':34s} {'CPU s':>10s} {'times tune':>11s}")
    rows = (("tune", tuned), ("all as arrays", arrays), ("all one by one (scaled)", loop))
    for name, seconds in rows:
        print(f"{name:34s} {seconds:10.2f} {seconds / tuned:11.1f}")
    same = abs(found.optimum / best - 1) <= SAME
    print(f"optimum {found.optimum * 1e6:.4f} us, by enumeration {best * 1e6:.4f} us{'' if same else ': differs'}")
    return int(not same or loop <= tuned)


if __name__ == "__main__":
    sys.exit(main())
