"""How long a short command takes to answer, as a multiple of what `python -c "import numpy"` takes here.

Runs alternate, so that other work on the machine slows all of them alike; the median of each is compared.
Ends with exit code 1 when a ratio is above its limit.
"""

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

RUNS = 15
HOME = Path(__file__).resolve().parents[1]
YARDSTICK = "import numpy"
COMMANDS = {
    YARDSTICK: ["-c", "import numpy"],
    "vmodel --help": ["-m", "vmodel", "--help"],
    "vmodel predict": ["-m", "vmodel", "predict", "--path", "vf", "--rx-usecs", "10"],
}
LIMITS = {"vmodel --help": 2.2, "vmodel predict": 3.0}


def seconds(arguments: list[str]) -> float:
    """Wall time of one fresh interpreter."""
    environment = {**os.environ, "PYTHONPATH": str(HOME), "OPENBLAS_NUM_THREADS": "1"}
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], env=environment, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def main() -> int:
    """Measure, print a table, judge."""
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for run in range(RUNS + 1):
        for name, arguments in COMMANDS.items():
            took = seconds(arguments)
            if run > 0:  # the first run fills the caches
                times[name].append(took)
    medians = {name: statistics.median(found) for name, found in times.items()}
    print(f"{'command':16s} {'median':>9s} {'fastest':>9s} {'ratio':>6s} {'limit':>6s}")
    slow = False
    for name, median in medians.items():
        ratio = median / medians[YARDSTICK]
        limit = LIMITS.get(name)
        slow = slow or (limit is not None and ratio > limit)
        fastest = min(times[name])
        shown = "-" if limit is None else f"{limit:.1f}"
        print(f"{name:16s} {median * 1e3:6.0f} ms {fastest * 1e3:6.0f} ms {ratio:6.2f} {shown:>6s}")
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
