"""What a prediction is worth against a simulation of the same scenario that knows its mean latency to one per cent.

The simulation is that of `vmodel check`; it is run again, with four times as many messages each time, until the 95 %
interval of the mean is within one per cent of it. The law is what answers the same question: stage times and the
formulas of the workload. The record of `predict` costs more: derivatives, intervals, percentiles and sources come with
it. The promise is made for the law; the ratio to the record is printed beside it.
"""

import sys
import time

from vmodel.config import scenario
from vmodel.simulate.network import network
from vmodel.simulate.run import simulate
from vmodel.solve.compose import parameter_values
from vmodel.solve.solver import predict, solve

ACCURACY = 0.01
LEAST_RATIO = 1000
FIRST, GROWTH, MOST = 5_000, 4, 2_000_000
CALLS = 50
CASES = {
    "vf, round trips": {"path": "vf", "workload": "rr", "rx_usecs": 10},
    "virtio-user at half load": {"path": "virtio-user", "workload": "packets", "load": "889kpps"},
    "xen-pv at half load": {"path": "xen-pv", "workload": "packets", "load": "20kpps"},
}


def simulated(asked) -> tuple[float, float, int]:
    """CPU time, mean, messages of the run that was accurate enough."""
    net, messages = network(asked), FIRST
    while True:
        start = time.process_time()
        mean = simulate(net, messages, seed=1).mean_s
        spent = time.process_time() - start
        if mean.half_width <= ACCURACY * mean.value or messages >= MOST:
            return spent, mean.value, messages
        messages *= GROWTH


def each(call) -> float:
    """CPU time of one call."""
    call()
    start = time.process_time()
    for _ in range(CALLS):
        call()
    return (time.process_time() - start) / CALLS


def main() -> int:
    """Time all three for each case."""
    wrong = False
    heads = f"{'law':>9s} {'record':>9s} {'simulation':>11s} {'messages':>9s}"
    print(f"{'scenario':26s} {heads} {'per law':>8s} {'per record':>10s} {'gap':>7s}")
    for name, settings in CASES.items():
        asked = scenario(**settings)
        values = parameter_values(asked)
        law, record = each(lambda: solve(asked, values)), each(lambda: predict(asked))  # noqa: B023 (called at once)
        spent, mean, messages = simulated(asked)
        gap = (predict(asked).latency_s or 0.0) / mean - 1
        wrong = wrong or spent / law < LEAST_RATIO
        times = f"{law * 1e3:6.2f} ms {record * 1e3:6.2f} ms {spent:9.2f} s"
        print(f"{name:26s} {times} {messages:9d} {spent / law:8.0f} {spent / record:10.0f} {gap * 100:+6.1f}%")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
