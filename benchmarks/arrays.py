"""How many configurations a second one core answers, when a knob is given as an array.

CPU time, not wall time, so that other work on the machine counts less; the best of a few rounds. Ends with exit code 1
when a path stays below the target.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is loaded: one core is measured

import sys
import time

import numpy as np

import vmodel

COUNT = 1_000_000
ROUNDS = 5
TARGET = 5e6  # configurations a second
CASES = {
    "vf, rr": {"path": "vf", "rx_usecs": 10},
    "virtio-vhost, rr": {"path": "virtio-vhost"},
    "virtio-vhost, stream": {"path": "virtio-vhost", "workload": "stream"},
    "vsock, stream": {"path": "vsock", "workload": "stream"},
    "xen-pv, stream": {"path": "xen-pv", "workload": "stream"},
    "virtio-user, packets": {"path": "virtio-user"},
    "dpdk, packets": {"path": "dpdk"},
}


def rate(settings: dict[str, object], knob: str, values: np.ndarray) -> float:
    """Configurations a second of CPU time."""
    vmodel.predict(**settings, **{knob: values[:1000]})
    best = np.inf
    for _ in range(ROUNDS):
        start = time.process_time()
        vmodel.predict(**settings, **{knob: values})
        best = min(best, time.process_time() - start)
    return len(values) / best


def main() -> int:
    """Measure each case over message sizes, or over the batch where it is frames."""
    sizes = np.linspace(1, 65536, COUNT).round()
    batches = np.linspace(1, 1024, COUNT)
    slow = False
    print(f"{'case':22s} {'varied':8s} {'million/s':>10s}")
    for name, settings in CASES.items():
        knob, values = ("batch", batches) if name.endswith("packets") else ("size", sizes)
        found = rate(settings, knob, values)
        slow = slow or found < TARGET
        print(f"{name:22s} {knob:8s} {found / 1e6:10.1f}{'  below the target' if found < TARGET else ''}")
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
