"""`python -m benchmarks` runs every benchmark and writes what each printed, as one page.

    PYTHONPATH=. python -m benchmarks -o benchmarks/results.md
    PYTHONPATH=. python -m benchmarks startup growth

Fuzzing and mutation testing run as long as they are told and are not among them.
"""

import argparse
import os
import platform
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
OTHERS = {"__init__", "__main__", "fleets", "fuzz_commands", "fuzz_ingest", "mutation"}
TIMEOUT_S = 900
NOISE = "HighsMipSolverData"  # what the solver prints by itself


def names():
    """The benchmarks there are."""
    return tuple(sorted(path.stem for path in HERE.glob("*.py") if path.stem not in OTHERS))


def ran(name):
    """What one benchmark says, and whether it keeps its promise."""
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent), "OPENBLAS_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            [sys.executable, str(HERE / f"{name}.py")], cwd=HERE.parent, env=environment, capture_output=True,
            text=True, timeout=TIMEOUT_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"longer than {TIMEOUT_S} s", "not finished"
    if done.returncode not in (0, 1):
        return (done.stderr.strip().splitlines() or ["no word"])[-1], "failed"
    lines = [line for line in done.stdout.splitlines() if not line.startswith(NOISE)]
    return "\n".join(lines).rstrip(), "missed" if done.returncode else "kept"


def page(found):
    """The page: one table, then what each program printed."""
    lines = [
        "# Benchmarks", "",
        "Written by `python -m benchmarks`; take the ratios as they are and the times with a grain of salt.",
        f"Python {platform.python_version()} on {platform.system()} {platform.machine()}, {os.cpu_count()} processors, "
        f"load {os.getloadavg()[0]:.1f}.", "", "| program | promise |", "|---|---|",
        *(f"| `benchmarks/{name}.py` | {state} |" for name, (_, state) in found.items()),
    ]  # fmt: skip
    for name, (text, _) in found.items():
        lines += ["", f"## {name}", "", "```text", text, "```"]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="*", help=f"which of {', '.join(names())} [default: all]")
    parser.add_argument("-o", "--output", type=Path, help="file for the page [default: print it]")
    chosen = parser.parse_args()
    unknown = sorted(set(chosen.name) - set(names()))
    if unknown:
        parser.error(f"no such benchmark: {', '.join(unknown)}")
    found = {}
    for name in chosen.name or names():
        found[name] = ran(name)
        print(f"{name}: {found[name][1]}", file=sys.stderr)
    if chosen.output is None:
        print(page(found), end="")
    else:
        chosen.output.write_text(page(found), encoding="utf-8")
    return int(any(state != "kept" for _, state in found.values()))


if __name__ == "__main__":
    sys.exit(main())
