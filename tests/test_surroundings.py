"""The command in odd surroundings: full disks, closed streams, locales, widths, no network, no home."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from vmodel.config import scenario
from vmodel.errors import ConfigError
from vmodel.sweep import store
from vmodel.sweep.axis import faults_of
from vmodel.sweep.engine import here, to_file
from vmodel.sweep.grid import grid, table
from vmodel.sweep.store import Folder

HOME = Path(__file__).resolve().parents[1]
VF = "predict --path vf --rx-usecs 10"


def bash(command, cwd=HOME, **environment):
    """Run a shell command in which `vmodel` is this checkout: exit code, output, errors."""
    start = f'vmodel() {{ "{sys.executable}" -m vmodel "$@"; }}; '
    known = {"PATH": os.environ["PATH"], "PYTHONPATH": str(HOME), "HOME": str(cwd), "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        ["bash", "-c", start + command], cwd=cwd, env={**known, **environment}, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("command", [VF, f"{VF} --json", "paths", "--help", "explain --path vf"])
def test_a_full_disk_behind_standard_output_is_one_line(command):
    assert bash(f"vmodel {command} > /dev/full") == (2, "", "vmodel: standard output: No space left on device\n")


def test_closed_streams_change_no_exit_code(tmp_path):
    assert bash(f"vmodel {VF} >&-") == (0, "", "")
    assert bash(f"vmodel {VF} >&- 2>&- <&-") == (0, "", "")
    assert bash("vmodel paths >&-") == (0, "", "")
    assert bash("vmodel predict --path nothing 2>&-") == (2, "", "")
    assert bash(f"vmodel {VF} -o a.json >&- 2>&- <&-", tmp_path) == (0, "", "")
    assert (tmp_path / "a.json").read_text().startswith("{")  # and nothing else went into it
    code, _, err = bash("vmodel ingest - <&-")
    assert code == 2 and err.count("\n") == 1


@pytest.mark.parametrize("command", ["knobs", "profiles --json", "--help", "sweep --path vf --vary rx_usecs=0:200:1"])
def test_a_reader_that_leaves_early_is_no_fault(command):
    code, out, err = bash(f"vmodel {command} | head -1")
    assert (code, out.count("\n"), err) == (0, 1, "")


def test_locales_change_nothing():
    first = bash(f"vmodel {VF}", LC_ALL="C.UTF-8")
    assert first[0] == 0
    for name in ("C", "POSIX", "tr_TR.UTF-8", "de_DE.UTF-8", "xx_XX"):
        # bash itself complains of a locale that it lacks
        assert bash(f"vmodel {VF}", LC_ALL=name, LANG=name)[:2] == first[:2]
    assert bash("vmodel explain --path vf", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")[0] == 0


def test_every_width_has_an_answer():
    script = "import sys; from vmodel.cli.main import main\nfor line in sys.argv[1:]: assert main(line.split()) == 0"
    for columns in ("-3", "0", "1", "8", "40", "400", "x"):
        done = subprocess.run(
            [sys.executable, "-c", script, "--help", "predict --help", "paths", VF, "compare --path vf --path pf"],
            cwd=HOME, env={**os.environ, "COLUMNS": columns}, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")


def test_a_terminal_gets_no_colour_that_it_refused():
    for variables in ({"NO_COLOR": "1", "TERM": "xterm"}, {"TERM": "dumb"}):
        for command in (VF, "compare --path vf --path pf"):
            inner = f"{sys.executable} -m vmodel {command}"
            code, out, _ = bash(f'script -qec "{inner}" /dev/null', **variables)
            if code == 127:
                pytest.skip("no `script` to make a terminal")
            assert code == 0 and "latency" in out and not re.search(r"\x1b\[[0-9;]*m", out)


def test_nothing_needs_a_network_or_a_home(tmp_path):
    if bash("unshare -rn true")[0] != 0:
        pytest.skip("this kernel lends no network namespace")
    code, out, err = bash(f"unshare -rn {sys.executable} -m vmodel {VF}", HOME="/nowhere")
    assert (code, err) == (0, "") and "latency" in out
    code, _, err = bash(f"unshare -rn {sys.executable} -m vmodel explore --path vf -o e.html", tmp_path)
    assert code == 0 and err == "wrote e.html\n"


@pytest.fixture
def small(tmp_path):
    """A file system with no room left; skipped where none may be mounted."""
    place = tmp_path / "small"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", place], capture_output=True).returncode:
        pytest.skip("no file system may be mounted here")
    (place / "fill").write_bytes(bytes(62 << 10))
    yield place
    subprocess.run(["umount", place], check=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "left"),
    [
        (f"{VF} -o small/a.json", []), (f"{VF} --plot small/a.png", []),
        ("explore --path vf -o small/a.html", []),
        ("fit rows.csv -o small/a.toml", []), ("sweep --path vf --vary size=1:5000:1 -o small/a.csv", None),
    ],
)  # fmt: skip
def test_a_full_disk_leaves_nothing_half_written(small, command, left):
    (small.parent / "rows.csv").write_text(
        "path,topology,workload,direction,metric,value,rx_usecs\nvf,cross-host-vm,rr,to-vm,latency_us,55,10\n"
    )
    code, _, err = bash(f"vmodel {command}", small.parent)
    assert code == 2 and err.count("\n") == 1 and "No space left on device" in err
    found = [name.name for name in small.iterdir() if name.name != "fill"]
    if left is not None:
        assert found == left
    else:  # a sweep keeps its folder of chunks, and goes on there once there is room
        assert [name.endswith(".chunks") for name in found] == [True] and not list(small.rglob("*.part"))
        (small / "fill").unlink()
        assert bash(f"vmodel {command.replace('5000', '100')}", small.parent)[0] == 0


def test_an_output_that_may_not_be_written_is_one_line(tmp_path):
    if os.geteuid() == 0:
        places = ("/proc/a.json", "/sys/a.json")
    else:
        (tmp_path / "closed").mkdir(mode=0o500)
        places = (str(tmp_path / "closed" / "a.json"),)
    for place in places:
        code, out, err = bash(f"vmodel {VF} -o {place}", tmp_path)
        assert (code, out, err.count("\n")) == (2, "", 1) and place in err


def a_grid():
    axes, faults = faults_of(("rx_usecs=0:200:1",))
    assert not faults
    return grid({"path": "vf"}, axes, ("latency_us",), resolve=lambda settings: scenario(**settings))


@pytest.mark.parametrize("content", [b"", b"ARROW1\0\0", b"x" * 4096, None])
def test_a_spoilt_chunk_is_computed_again(tmp_path, content):
    g, output = a_grid(), tmp_path / "a.parquet"
    to_file(g, tmp_path / "good.parquet", here)
    folder = Folder.beside(output, g)
    folder.create()
    if content is None:
        other = grid({"path": "pf"}, faults_of(("rx_usecs=0:20:1",))[0], ("rate_pps",), resolve=lambda s: scenario(**s))
        content = store.as_bytes(other, table(other, 0, 21))
    folder.path(0).write_bytes(content)
    assert to_file(g, output, here).computed == 1
    assert output.read_bytes() == (tmp_path / "good.parquet").read_bytes() and not folder.place.exists()


def test_a_folder_of_chunks_that_is_a_link_is_refused(tmp_path):
    g, output = a_grid(), tmp_path / "a.parquet"
    (tmp_path / "elsewhere").mkdir()
    Folder.beside(output, g).place.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigError, match="no link"):
        to_file(g, output, here)
    assert list((tmp_path / "elsewhere").iterdir()) == [] and not output.exists()


def test_a_rival_that_takes_the_chunks_away_costs_a_second_round(tmp_path, monkeypatch):
    g, output = a_grid(), tmp_path / "a.parquet"
    true, taken = store.Folder.tables, []

    def tables(self, firsts):
        if not taken:
            taken.append(1)
            self.remove()
        return true(self, firsts)

    monkeypatch.setattr(store.Folder, "tables", tables)
    assert to_file(g, output, here).computed == 1
    assert taken and output.is_file()


@pytest.mark.slow
def test_many_runs_of_one_sweep_at_once_end_in_one_table(tmp_path):
    command = "vmodel sweep --path vf --vary size=1:3000:1 --vary rx_usecs=0:90:10 -o a.parquet"
    code, _, err = bash(
        f"for i in 1 2 3 4; do {command} & pids+=($!); done; for p in ${{pids[@]}}; do wait $p || exit 9; done",
        tmp_path,
    )
    assert code == 0, err
    assert [name.name for name in tmp_path.iterdir()] == ["a.parquet"]
    import pyarrow.parquet as pq

    assert pq.read_table(tmp_path / "a.parquet").num_rows == 30_000


@pytest.mark.slow
def test_a_run_that_is_killed_leaves_no_output(tmp_path):
    for delay in ("0.3", "0.8", "1.5"):
        bash(f"timeout -s KILL {delay} {sys.executable} -m vmodel report --path vf -o r.html", tmp_path)
        if (tmp_path / "r.html").exists():
            assert (tmp_path / "r.html").read_text("utf-8").rstrip().endswith("</html>")
