"""Hostile values for every option of every command, as long as asked: an answer or one line for each fault.

    PYTHONPATH=. nice python benchmarks/fuzz_commands.py --minutes 60

Command lines come from tests/hostile.py. What escapes, an exit code other than 0, 1 or 2, an error that is not told in
printable lines, JSON that is none, and what takes longer than SLOW_S is written to --keep, once for each place in the
code, and ends the run with 1.
"""

import argparse
import collections
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests import hostile
from vmodel.cli.main import COMMANDS

SLOW_S = 60  # of processor time
MEMORY_BYTES = 6 << 30


class TooSlowError(Exception):
    """A command took longer than any answer may."""


def _late(*_):
    raise TooSlowError


def where(error):
    """The deepest place of a traceback, so that one fault is told once."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/vmodel/" in frame.filename] or frames
    deepest = ours[-1]
    return f"{type(error).__name__} at {Path(deepest.filename).name}:{deepest.lineno} {deepest.name}"


def short(line):
    """A command line as the report shows it."""
    return " ".join(ascii(part) if len(part) < 80 else f"({len(part)} times {part[:1]})" for part in line)


def rounds(minutes, first, commands, keep):
    """Run for a time: how many command lines were tried, how many of each command, and what was found."""
    end, tried, found = time.monotonic() + 60 * minutes, collections.Counter(), {}
    spent = collections.Counter()
    number = first

    @settings(
        max_examples=300, database=None, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
    )
    @given(hostile.command_lines(commands))
    def one(line):
        if time.monotonic() > end:
            return
        tried[line[0]] += 1
        before = time.process_time()
        text = ""
        signal.setitimer(signal.ITIMER_PROF, SLOW_S)
        try:
            problem = hostile.fault(line)
        except TooSlowError as error:
            problem = f"slow: {where(error)}"
        except Exception as error:
            problem = where(error)
            text = traceback.format_exc()
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            spent[line[0]] += time.process_time() - before
        key = problem.split(": ")[0] if not problem.startswith("slow") else problem
        if problem and key not in found:
            found[key] = line
            with keep.open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(f"{short(line)}\n{problem}\n{text}\n\n")

    while time.monotonic() < end:
        seed(number)(one)()
        number += 1
        for name in list(Path().glob("out*")):
            name.unlink()
    return tried, spent, found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, default=Path("fuzz-commands.txt"))
    parser.add_argument("--command", action="append", choices=COMMANDS)
    chosen = parser.parse_args()
    keep = chosen.keep.absolute()
    signal.signal(signal.SIGPROF, _late)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        hostile.fill(Path(folder))
        tried, spent, found = rounds(chosen.minutes, chosen.seed, tuple(chosen.command or COMMANDS), keep)
        os.chdir("/")
    print(", ".join(f"{name} {count} ({spent[name]:.0f} s)" for name, count in tried.most_common()))
    print(f"{sum(tried.values())} command lines in {chosen.minutes:g} minutes, {len(found)} faults")
    for problem, line in found.items():
        print(f"  {problem}: {short(line)}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
