"""README.md tells the truth: its blocks run and print what it says, its tables are those of the program.

`python -m tests.test_readme` renders tables and printed answers again; look at the difference before committing it.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import vmodel
from vmodel.library import tables
from vmodel.library.profile import profile, shipped

HOME = Path(__file__).resolve().parents[1]
README = HOME / "README.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"\d+(?:\.\d+)?")
FIGURE = re.compile(rf"({NUMBER.pattern})( %)?")
FILL = re.compile(r"[-─█|]{2,}|\s+")  # lines, bars and gaps of any length
TOLERANCE = 0.15  # a refit moves answers a little; what the text says stays true
POINTS = 5.0  # shares are compared in points of a per cent
TIMEOUT_S = 600


def sections():
    """Heading -> its text, for headings that hold blocks."""
    parts = re.split(r"^## (.*)$", README.read_text("utf-8"), flags=re.MULTILINE)
    return {head: text for head, text in zip(parts[1::2], parts[2::2], strict=True) if BLOCK.search(text)}


def environment(folder):
    """Where `vmodel` is that of this interpreter and this checkout."""
    bin_folder = folder / "bin"
    bin_folder.mkdir(exist_ok=True)
    command = bin_folder / "vmodel"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m vmodel "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    paths = (str(HOME), os.environ.get("PYTHONPATH", ""))
    return {
        **os.environ,
        "PATH": os.pathsep.join((str(bin_folder), os.environ.get("PATH", os.defpath))),
        "PYTHONPATH": os.pathsep.join(p for p in paths if p),
        "MPLCONFIGDIR": str(folder / "matplotlib"),
        "PYTHONIOENCODING": "utf-8",
        "OPENBLAS_NUM_THREADS": "1",
    }


def run(arguments, folder):
    place = folder / "work"
    place.mkdir(exist_ok=True)
    ran = subprocess.run(
        arguments, cwd=place, env=environment(folder), capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    assert ran.returncode == 0, f"{arguments[-1]}\n{ran.stdout}\n{ran.stderr}"
    return ran.stdout


def commands(text):
    """Command -> the lines printed after it, in order."""
    found = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def words(line):
    """A line without its numbers, bars and gaps."""
    return FILL.sub(" ", NUMBER.sub("0", line)).strip()


def agrees(expected, line, tolerance):
    if words(expected) != words(line):
        return False
    pairs = zip(FIGURE.findall(expected), FIGURE.findall(line), strict=True)
    return all(
        abs(float(a) - float(b)) <= max(tolerance * float(a), POINTS if percent else 0.0)
        for (a, percent), (b, _) in pairs
    )


def matched(expected, printed, tolerance=TOLERANCE):
    """The printed line for each expected one, in order; None for those that are not there."""
    out, start = [], 0
    for line in expected:
        places = [i for i, p in enumerate(printed) if i >= start and agrees(line, p, tolerance)]
        if line == "..." or not line:
            out.append(line)
        elif places:
            out.append(printed[places[0]])
            start = places[0] + 1
        else:
            out.append(None)
    return out


@pytest.mark.parametrize("heading", sections())
def test_the_blocks_run_and_print_what_is_shown(heading, tmp_path):
    for kind, text in BLOCK.findall(sections()[heading]):
        if kind == "sh":
            run(["sh", "-euc", text], tmp_path)
        elif kind == "python":
            run([sys.executable, "-W", "error", "-c", text], tmp_path)
        elif kind == "toml":
            tomllib.loads(text)
        elif kind == "console":
            for command, expected in commands(text):
                printed = run(["sh", "-euc", command], tmp_path).splitlines()
                missing = [e for e, m in zip(expected, matched(expected, printed), strict=True) if m is None]
                assert missing == [], "\n".join([command, *printed])
        else:
            assert kind == "text"


def test_the_line_search_finds_what_it_must_and_nothing_else():
    printed = ["head", "a   1.00 us |██  | x", "b 2 us", "---- --", "tail"]
    assert matched(["a 1.05 us |█ | x", "...", "-- ----"], printed) == [printed[1], "...", printed[3]]
    assert matched(["a 2 us |█ | x"], printed) == [None]
    assert matched(["b 2 us", "head"], printed) == [printed[2], None]


def between(name):
    found = re.search(rf"<!-- {name}: [^\n]*-->\n(.*?)<!-- end -->", README.read_text("utf-8"), re.DOTALL)
    return found.group(1)


def test_the_first_command_is_that_of_the_makefile():
    assert "make predict" in README.read_text("utf-8")
    assert "vmodel predict --path vf --rx-usecs 10" in (HOME / "Makefile").read_text("utf-8")


def test_the_public_names_are_those_of_the_package():
    assert sorted(re.findall(r"^- `(\w+)", between("public"), re.MULTILINE)) == vmodel.__all__


def path_table():
    lines = ["| path | what it is | topologies | since | best known on |", "|---|---|---|---|---|"]
    for name in tables.path_names():
        e = tables.endpoint(name)
        topologies = ", ".join(f"`{t}`" for t in e.topologies)
        lines.append(f"| `{name}` | {e.title} | {topologies} | {e.since or ''} | `{e.best}` |")
    return "\n".join(lines) + "\n"


def test_the_path_table_is_that_of_the_catalogue():
    assert between("paths") == path_table()


def test_the_profile_table_names_what_each_profile_has_seen():
    rows = dict(re.findall(r"^\| `([\w-]+)` \| [^|]* \| ([^|]*) \|$", README.read_text("utf-8"), re.MULTILINE))
    assert set(rows) >= set(shipped())
    for name in shipped():
        assert set(re.findall(r"`([\w-]+)`", rows[name])) == {key.partition("/")[0] for key in profile(name).seen}


def accuracy_table(record):
    def percent(x):
        return "-" if x is None else f"{100 * x:.1f} %"

    lines = [
        "| study | rows | median | 95th | row out | series out | covered | best baseline |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, d in [*record["datasets"].items(), ("all", record["all"])]:
        shown = (d["median_ape"], d["p95_ape"], d["loo_median_ape"], d["loso_median_ape"], d["loo_coverage90"])
        best = percent(min(d["baselines"].values()))
        lines.append(f"| {name} | {d['rows']} | {' | '.join(percent(x) for x in shown)} | {best} |")
    return "\n".join(lines) + "\n"


def fresh_accuracy(folder):
    return accuracy_table(
        json.loads(run([*PROGRAM, "validate", "--calibration", str(HOME / "calibration"), "--json"], folder))
    )


PROGRAM = (sys.executable, "-m", "vmodel")
ROUNDING = 0.1001  # percent: the last digit shown


@pytest.mark.slow
def test_the_accuracy_table_is_what_validate_finds(tmp_path):
    shown, fresh = between("accuracy"), fresh_accuracy(tmp_path)
    assert words(shown) == words(fresh)
    pairs = zip(NUMBER.findall(shown), NUMBER.findall(fresh), strict=True)
    assert [(a, b) for a, b in pairs if abs(float(a) - float(b)) > ROUNDING] == []


def refresh(folder):
    """Render everything again that this file compares."""
    text = README.read_text("utf-8")
    for name, body in (("paths", path_table()), ("accuracy", fresh_accuracy(folder))):
        text = re.sub(
            rf"(<!-- {name}: [^\n]*-->\n).*?(<!-- end -->)", lambda m, b=body: m[1] + b + m[2], text, flags=re.DOTALL
        )
    for kind, block in BLOCK.findall(text):
        if kind == "sh":
            run(["sh", "-euc", block], folder)
        elif kind == "console":
            lines = []
            for command, expected in commands(block):
                printed = run(["sh", "-euc", command], folder).splitlines()
                found = matched(expected, printed, tolerance=1e9)
                gone = [e for e, m in zip(expected, found, strict=True) if m is None]
                if gone:
                    sys.stderr.write(f"{command}\n  no longer prints: {gone}\n  printed:\n" + "\n".join(printed) + "\n")
                lines += [f"$ {command}", *(e if m is None else m for e, m in zip(expected, found, strict=True))]
            text = text.replace(block, "\n".join(lines) + "\n")
    README.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    work = Path(os.environ.get("TMPDIR", "/tmp")) / f"readme-{os.getpid()}"
    work.mkdir()
    try:
        refresh(work)
    finally:
        shutil.rmtree(work)
