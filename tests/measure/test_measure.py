"""The command as a whole: the real tools in short form, where they are installed and the kernel allows namespaces."""

import json
import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.measure.test_ground import WHY, named, wait_until
from vmodel.calibrate.evidence import load
from vmodel.cli.main import main
from vmodel.library.profile import profile
from vmodel.measure.tools import TOOLS, installed
from vmodel.solve.ask import predict

HOME = Path(__file__).resolve().parents[2]
THERE = {tool.name for tool in installed(list(TOOLS))[0]}


def needs(tool):
    """Skip, with the reason, where a tool or the kernel's leave is missing: real iperf3, sockperf, netperf run here.

    CI installs them all; a stranger's machine may have none, and a stand-in would prove nothing.
    """
    why = WHY or ("" if tool in THERE else f"{tool} is not installed")
    return pytest.mark.skipif(bool(why), reason=why or "present")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tool", "path", "workload"),
    [
        pytest.param("iperf3", "bridge", "stream", marks=needs("iperf3")),
        pytest.param("sockperf", "loopback", "rr", marks=needs("sockperf")),
        pytest.param("netperf", "veth", "rr", marks=needs("netperf")),
    ],
)
def test_a_short_session_leaves_a_study_that_fits_and_validates(tool, path, workload, tmp_path, capsys):
    folder = tmp_path / "studies" / "mine"
    folder.parent.mkdir()
    code = main(
        ["measure", "--path", path, "--tool", tool, "--budget", "13", "--rounds", "2", "--seed", "3", "-o", str(folder),
         "--json"]
    )  # fmt: skip
    record = json.loads(capsys.readouterr().out)
    assert code == 0
    assert record["failed"] == {}, "every run of an installed tool gives a result"
    assert record["seed"] == 3 and record["seconds"] < 25
    study = load(folder.parent)[0]
    assert len(study.rows) == record["runs"] == len(list((folder / "raw").iterdir()))
    assert {row.workload for row in study.rows} == {workload}
    assert all(row.value > 0 and (folder / row.source).is_file() for row in study.rows)
    source = tomllib.loads((folder / "source.toml").read_text())
    assert source["tools"][tool] and source["machine"]["kernel"] == os.uname().release
    mine = profile(str(folder / "fitted.toml"))
    assert predict(study.rows[0].path, workload=workload, profile=mine).rate_pps > 0


@pytest.mark.slow
@needs("iperf3")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM], ids=lambda s: s.name)
def test_an_interrupt_leaves_no_process_and_no_folder(how, tmp_path):
    seconds = str(40 + how)  # a time of its own tells this session's clients from all others
    options = ["--path", "veth", "--tool", "iperf3", "--run", seconds, "--budget", "3000", "-o", str(tmp_path / "x")]
    child = subprocess.Popen(
        [sys.executable, "-m", "vmodel", "measure", *options],
        cwd=HOME, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    client = f"5201\0-t\0{seconds}\0"
    wait_until(lambda: named(client))
    child.send_signal(how)
    out, err = child.communicate(timeout=20)
    assert (child.returncode, out, err.strip()) == (130, "", "")
    assert list(tmp_path.iterdir()) == []
    wait_until(lambda: not named(client))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--address", "192.0.2.1"], "an address of this host: measure sends to no other machine"),
        (["--address", "example.org"], "an IP address of this host"),
        (["--path", "vethh"], 'did you mean "veth"'),
        (["--tool", "iperf"], 'did you mean "iperf3"'),
        (["--budget", "3"], "--budget"),
        (["-o", "."], "does not exist yet"),
    ],
)
def test_what_it_cannot_do_is_told_in_one_line_before_anything_runs(arguments, said, tmp_path, monkeypatch, capsys):
    if not THERE:
        pytest.skip("none of the tools is installed")
    monkeypatch.chdir(tmp_path)
    code = main(["measure", *arguments])
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert err.count("\n") == 1 and said in err
    assert list(tmp_path.iterdir()) == []


def test_without_any_tool_it_names_what_to_install(monkeypatch, capsys):
    monkeypatch.setenv("PATH", "")
    code = main(["measure"])
    assert code == 2
    assert "iperf3" in capsys.readouterr().err
