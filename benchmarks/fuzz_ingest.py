"""Fuzz every reader of `vmodel ingest` with broken real files: an answer or one VmodelError, never anything else.

    PYTHONPATH=. nice python benchmarks/fuzz_ingest.py --seconds 600
    PYTHONPATH=. nice python benchmarks/fuzz_ingest.py --seconds 600 --atheris   # with coverage; pip install atheris

Each round takes a file of tests/ingest/files, breaks it in one to six places (bits, cuts, repeats, pieces of other
files, words that mean something to some reader, large numbers) and gives it to recognition and to a reader chosen by
name. What escapes, and what takes longer than SLOW_S, is written to the folder of --keep and ends the run with 1.
`tests/ingest/test_fuzz.py` runs a short round of the same.
"""

import argparse
import json
import random
import sys
import time
import traceback
from pathlib import Path

from vmodel.errors import VmodelError
from vmodel.ingest.read import TOOLS, read
from vmodel.ingest.rows import as_rows
from vmodel.ingest.scenario import Part, combine

FILES = Path(__file__).resolve().parents[1] / "tests" / "ingest" / "files"
SLOW_S = 5.0  # of processor time for one input of some kilobytes
WORDS = [
    b"0", b"-1", b"1e999", b"nan", b"-nan", b"inf", b"n/a", b"9" * 30, b"9" * 5000, b"null", b"true", b"{}", b"[]",
    b'""', b"\0", b"\xff", b"\xe2\x80\xae", b"\x1b[2J", b"<", b"]]>", b"<domain type='kvm'>", b"</devices>", b"&amp;",
    b"{", b"}", b"[", b'"', b"'", b"\\", b"\n", b"\t", b",", b"=", b":", b"%", b"qemu-system-x86_64 ", b" -netdev ",
    b"receiver", b"sender", b"[SUM]", b"Mbits/sec", b"TEST from", b"THROUGHPUT=", b"Result: OK: ",
    b"NIC statistics for port 0",
]  # fmt: skip


def broken(data, others, rng):
    """The data with some damage."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(data) + 1)
        end = min(len(data), at + rng.choice([1, 2, 8, 40, 400]))
        kind = rng.randrange(8)
        if kind == 0 and data:
            data[min(at, len(data) - 1)] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del data[at:end]
        elif kind == 2:
            data[at:at] = data[at:end] * rng.choice([1, 2, 20])
        elif kind == 3:
            data[at:end] = rng.choice(WORDS)
        elif kind == 4:
            data[at:at] = rng.choice(WORDS)
        elif kind == 5:
            other = rng.choice(others)
            cut = rng.randrange(len(other) + 1)
            data[at:end] = other[cut : cut + rng.choice([20, 200, 2000])]
        elif kind == 6:
            del data[at:]
        else:
            digits = [n for n, byte in enumerate(data) if 48 <= byte <= 57]
            if digits:
                place = rng.choice(digits)
                data[place : place + 1] = rng.choice([b"0", b"-1", b"9" * 20, b"1e400", b"x", b"", b"4294967296"])
    return bytes(data)


def once(data, tool=None):
    """Give one input to everything that reads; only a VmodelError may come out."""
    try:
        found = read(data, tool=tool)
        json.dumps([dict(row) for row in found.observations] + [dict(found.configuration)], allow_nan=False)
        if found.kind == "configuration":
            combine([Part(file="x", found=found)])
        else:
            as_rows(found, "x", {"path": "vf", "workload": "rr"})
    except VmodelError as error:
        if any(not line.isprintable() for line in error.lines()):
            raise RuntimeError("an error line that is not one printable line") from error


def rounds(seconds, seed, keep):
    """Run for a time; returns how many inputs were tried and how many failed."""
    rng = random.Random(seed)
    others = [path.read_bytes() for path in sorted(FILES.iterdir()) if path.stat().st_size]
    end, tried, failed, slowest = time.monotonic() + seconds, 0, 0, 0.0
    while time.monotonic() < end:
        data = broken(rng.choice(others), others, rng)
        tool = rng.choice([None, None, *TOOLS, "netperf:TCP_RR"])
        before = time.process_time()
        try:
            once(data, tool)
        except Exception:
            failed += 1
            note(keep, f"crash-{failed}", data, traceback.format_exc() + f"tool {tool}")
        took = time.process_time() - before
        slowest = max(slowest, took)
        if took > SLOW_S:
            failed += 1
            note(keep, f"slow-{failed}", data, f"{took:.1f} s, tool {tool}")
        tried += 1
    return tried, failed, slowest


def note(keep, name, data, text):
    """Keep an input that failed, with what happened."""
    keep.mkdir(exist_ok=True, parents=True)
    (keep / name).write_bytes(data)
    (keep / f"{name}.txt").write_text(text, encoding="utf-8")
    print(f"{name}: {text.strip().splitlines()[-2:]}", file=sys.stderr)


def with_coverage(seconds):
    """The same under atheris, which keeps inputs that reach new branches."""
    import atheris

    others = [path.read_bytes() for path in sorted(FILES.iterdir()) if path.stat().st_size]
    corpus = Path("fuzz-corpus")
    corpus.mkdir(exist_ok=True)
    for number, data in enumerate(others):
        (corpus / str(number)).write_bytes(data)
    atheris.instrument_all()
    atheris.Setup([sys.argv[0], str(corpus), f"-max_total_time={seconds}", "-max_len=20000", "-timeout=20"], once)
    atheris.Fuzz()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, default=Path("fuzz-found"))
    parser.add_argument("--atheris", action="store_true")
    chosen = parser.parse_args()
    if chosen.atheris:
        return with_coverage(chosen.seconds)
    tried, failed, slowest = rounds(chosen.seconds, chosen.seed, chosen.keep)
    print(f"{tried} inputs, {failed} failures, slowest {slowest:.2f} s of processor time")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
