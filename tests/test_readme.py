"""README.md tells the truth: its blocks run and print what it says, its tables are those of the program.

`python -m tests.test_readme` renders tables and printed answers again; look at the difference before committing it.
"""

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

import vmodel
from tests.blocks import BLOCK, HOME, NUMBER, check, matched, refreshed, run, words
from vmodel.library import tables
from vmodel.library.profile import profile, shipped
from vmodel.units import format_bytes

README = HOME / "README.md"


def sections():
    """Heading -> its text, for headings that hold blocks."""
    parts = re.split(r"^## (.*)$", README.read_text("utf-8"), flags=re.MULTILINE)
    return {head: text for head, text in zip(parts[1::2], parts[2::2], strict=True) if BLOCK.search(text)}


@pytest.mark.slow  # some twenty commands; `make test` runs them
@pytest.mark.parametrize("heading", sections())
def test_the_blocks_run_and_print_what_is_shown(heading, tmp_path):
    check(sections()[heading], tmp_path)


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


def validity(path):
    """What shipped profiles were compared with on a path, in a few words."""
    found = []
    for name in shipped():
        seen = {key.partition("/")[2]: s for key, s in profile(name).seen.items() if key.partition("/")[0] == path}
        told = []
        for workload, s in seen.items():
            low, high = (format_bytes(x) for x in s.size_bytes)
            told.append(f"{workload} {s.rows} ({low if low == high else f'{low} to {high}'})")
        found += [f"`{name}`: {', '.join(told)}"] if told else []
    return "; ".join(found) or "none"


def path_table():
    heads = ("path", "what it is", "topologies", "since", "best known on", "compared with measurements")
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for name in tables.path_names():
        e = tables.endpoint(name)
        topologies = ", ".join(f"`{t}`" for t in e.topologies)
        lines.append(f"| `{name}` | {e.title} | {topologies} | {e.since or ''} | `{e.best}` | {validity(name)} |")
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
    text = refreshed(text, folder)
    README.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    work = Path(os.environ.get("TMPDIR", "/tmp")) / f"readme-{os.getpid()}"
    work.mkdir()
    try:
        refresh(work)
    finally:
        shutil.rmtree(work)
