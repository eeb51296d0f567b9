"""Hostile values for every option of every command: an answer or one line for each fault, never anything else.

`benchmarks/fuzz_commands.py` runs the same for as long as one likes.
"""

import os
from pathlib import Path

import click
import pytest
from hypothesis import HealthCheck, given, settings

from tests import hostile
from vmodel.cli.main import COMMANDS


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    """A folder with the files that command lines name."""
    before = os.getcwd()
    place = tmp_path_factory.mktemp("hostile")
    hostile.fill(place)
    os.chdir(place)
    yield place
    os.chdir(before)


QUICK = [name for name in COMMANDS if name not in ("fit", "validate", "suggest", "check", "report", "explore", "plan")]


@settings(max_examples=120, suppress_health_check=list(HealthCheck))
@given(hostile.command_lines(tuple(QUICK)))
def test_no_command_line_escapes(line):
    assert hostile.fault(line) == ""


@pytest.mark.slow
@settings(max_examples=250, suppress_health_check=list(HealthCheck))
@given(hostile.command_lines())
def test_no_command_line_of_any_command_escapes(line):
    assert hostile.fault(line) == ""


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_every_command_refuses_rubbish_in_lines(name):
    made = hostile.command(name)
    arguments = ["missing.csv" for p in made.params if isinstance(p, click.Argument) for _ in range(max(p.nargs, 1))]
    for option in made.params:
        flags = hostile.flags_of(option) if isinstance(option, click.Option) and not option.is_flag else []
        for value in ("", "\x1b[2J", "nan", "x" * 5000, "\udcff", "-1e309") if flags else ():
            line = [name, *(arguments if name != "schema" else ["x"]), flags[-1], value]
            assert hostile.fault([*line, "-o", "folder"] if name == "measure" else line) == ""


@pytest.mark.parametrize(
    "line",
    [
        ["predict", "--path", "vf", "--load", "1e300pps"],
        ["compare", "--path", "vsock", "--case", "load=1e300pps"],
        ["predict", "--path", "vf", "--load", "1e-300pps"],
        ["predict", "--path", "vf", "--profile", "link.toml"],
        ["predict", "--path", "link.toml"],
        ["validate", "link.csv"],
        ["predict", "--path", "vf", "--config", "x" * 70000],
        ["sweep", "--path", "vf", "--vary", "size=64", "--sobol", "x" * 70000],
        ["plan", "fleet.toml", "-o", "x" * 300 + ".json"],
        ["measure", "-o", "x" * 300],
        ["fit", "rows.csv", "-o", "missing.csv/x.toml"],
        ["predict", "--path", "emulated-rtl8029", "--set", "copy_bytes_s=1e300"],
        ["suggest", "--path", "emulated-rtl8029", "--set", "copy_bytes_s=1e-300"],
        ["graph", "--path", "vhost-user", "--load", "1Gbit/s", "--profile", "frozen.toml"],
    ],
)
def test_what_the_fuzzing_found_stays_mended(line):
    Path("missing.csv").touch()
    Path("frozen.toml").write_text('format = 1\nname = "mine"\ntitle = "mine"\nclock_ghz = 1e-300\n', "utf-8")
    assert hostile.fault(line) == ""
    code, _, err = hostile.run(line)
    assert code == 2 and err.count("\n") == 1
    Path("missing.csv").unlink()
    Path("frozen.toml").unlink()


def test_a_folder_that_cannot_be_is_no_folder():
    line = ["datasets", "--calibration", "x" * 300]
    assert hostile.fault(line) == "" and hostile.run(line)[0] == 1


def test_a_load_at_the_end_of_what_is_possible_has_an_answer():
    for load in ("1e-9pps", "1e18pps", "1e18bit/s"):
        for path in ("vf", "virtio-vhost", "dpdk", "vsock"):
            for workload in ("rr", "packets"):
                line = ["predict", "--path", path, "--workload", workload, "--load", load, "--json"]
                assert hostile.fault(line) == "" and hostile.run(line)[0] == 0
