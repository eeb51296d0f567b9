"""What a closed form is worth against an event simulation that knows the same mean wait to one per cent.

The simulation goes on, in rounds, until the 95 % interval of its mean wait is within one per cent of it. The closed
form must lie within the simulation's interval, give or take the same one per cent.
"""

import math
import random
import sys
import time

from vmodel.solve.queues import mg1_wait, mm1_wait

LOAD = 0.8
SERVICE_S = 1e-6
CUSTOMERS = 100_000  # in one round
ACCURACY = 0.01
NORMAL_95 = 1.96
CALLS = 20_000


def simulate(draw) -> tuple[float, float, int]:
    """Mean wait and the half width of its 95 % interval, from independent rounds of one first-come queue."""
    means: list[float] = []
    while True:
        left, total = 0.0, 0.0
        for _ in range(CUSTOMERS):
            total += left
            left = max(0.0, left + draw() - random.expovariate(LOAD / SERVICE_S))
        means.append(total / CUSTOMERS)
        if len(means) < 5:
            continue
        mean = sum(means) / len(means)
        spread = math.sqrt(sum((m - mean) ** 2 for m in means) / (len(means) - 1))
        half = NORMAL_95 * spread / math.sqrt(len(means))
        if half < ACCURACY * mean:
            return mean, half, len(means) * CUSTOMERS


def main() -> int:
    """Compare each closed form with its simulation."""
    random.seed(1)
    cases = {
        "mm1_wait": (lambda: mm1_wait(LOAD / SERVICE_S, SERVICE_S), lambda: random.expovariate(1 / SERVICE_S)),
        "mg1_wait, scv 0.5": (
            lambda: mg1_wait(LOAD / SERVICE_S, SERVICE_S, 0.5),
            lambda: random.gammavariate(2.0, SERVICE_S / 2),
        ),
        "mg1_wait, scv 4": (
            lambda: mg1_wait(LOAD / SERVICE_S, SERVICE_S, 4.0),
            lambda: random.gammavariate(0.25, SERVICE_S * 4),
        ),
    }
    wrong = False
    print(f"{'form':18s} {'closed':>10s} {'simulated':>18s} {'customers':>10s} {'times faster':>13s}")
    for name, (form, draw) in cases.items():
        start = time.process_time()
        for _ in range(CALLS):
            closed = float(form())
        one = (time.process_time() - start) / CALLS
        start = time.process_time()
        mean, half, customers = simulate(draw)
        took = time.process_time() - start
        wrong = wrong or abs(closed - mean) > half + ACCURACY * mean
        shown = f"{mean * 1e6:.3f} +- {half * 1e6:.3f} us"
        print(f"{name:18s} {closed * 1e6:7.3f} us {shown:>18s} {customers:10,d} {took / one:13,.0f}")
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
