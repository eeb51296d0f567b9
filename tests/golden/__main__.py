"""`python -m tests.golden` shows what the model says now against what it said when last looked at, point by point.

Nothing is written until the difference is accepted: `python -m tests.golden --accept`, or `--accept PART` for the
points whose name holds PART. Without differences exit code 0, with differences that are not accepted 1.
"""

import argparse
import json
import sys
from pathlib import Path

from tests.golden.cases import answers

FILE = Path(__file__).with_name("predictions.json")
SAME = 1e-6  # relative; what the test allows
SHOWN = 400  # lines


def differs(then, now):
    """Whether two values of a point are not the same; words as they are, numbers within rounding."""
    if isinstance(then, str) or isinstance(now, str) or then is None or now is None:
        return then != now
    return abs(now - then) > SAME * abs(then)


def changes(old, new):
    """Every point that is new, gone or different: (name, key, then, now)."""
    for name in [*old, *(name for name in new if name not in old)]:
        then, now = old.get(name), new.get(name)
        if then is None or now is None:
            yield name, "", None if then is None else "there", None if now is None else "there"
            continue
        for key in [*then, *(key for key in now if key not in then)]:
            if differs(then.get(key), now.get(key)):
                yield name, key, then.get(key), now.get(key)


def line(name, key, then, now):
    """One difference as text, with the ratio where there is one."""
    if not key:
        return f"{name}: {'new' if then is None else 'gone'}"
    ratio = f"  ({now / then:.6g} times)" if isinstance(then, float) and isinstance(now, float) and then else ""
    return f"{name}: {key} {then} -> {now}{ratio}"


def accepted(old, new, part):
    """The points as they shall be frozen: new ones where the name holds the part, old ones elsewhere."""
    chosen = {
        name: new.get(name) if part in name else old.get(name) for name in [*new, *(n for n in old if n not in new)]
    }
    return {name: row for name, row in chosen.items() if row is not None}


def main(arguments=None, file=FILE, new=None):
    """Compare, tell, and write what was accepted; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--accept", nargs="?", const="", metavar="PART", help="freeze what the model says now")
    chosen = parser.parse_args(arguments)
    old = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    new = answers() if new is None else new
    found = list(changes(old, new))
    for difference in found[:SHOWN]:
        print(line(*difference))
    if len(found) > SHOWN:
        print(f"... and {len(found) - SHOWN} more")
    points = len({name for name, *_ in found})
    print(f"{points} of {len(new)} points differ" if found else f"all {len(new)} points are what they were")
    if not found:
        return 0
    if chosen.accept is None:
        print("accept them with `python -m tests.golden --accept`, or only those that hold PART with `--accept PART`")
        return 1
    rows = ",\n".join(f"{json.dumps(n)}: {json.dumps(row)}" for n, row in accepted(old, new, chosen.accept).items())
    file.write_text("{\n" + rows + "\n}\n", encoding="utf-8")
    print(f"accepted: {sum(chosen.accept in name for name in {n for n, *_ in found})} points")
    return 0


if __name__ == "__main__":
    sys.exit(main())
