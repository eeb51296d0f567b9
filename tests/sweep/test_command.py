"""`vmodel sweep` from the command line: table, record, files, figures, and one line for each fault."""

import csv
import json

import pytest

import vmodel
from vmodel.cli.main import main

LOADED = ["sweep", "--path", "virtio-vhost", "--workload", "packets", "--vary", "load=10%,60%,120%"]


def run(capsys, *arguments):
    code = main(list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


def test_the_record_holds_axes_units_knees_and_rows(capsys):
    code, out, _ = run(capsys, *LOADED, "--json")
    record = json.loads(out)
    assert code == 0 and record["rows"] == len(record["table"]) == 3
    assert record["axes"] == [{"name": "load", "unit": "of capacity", "values": [0.1, 0.6, 1.2]}]
    assert record["units"]["latency_us_p99"] == "us" and record["units"]["cpu_host"] == "cores"
    curve = record["curves"]["virtio-vhost"]
    assert 0 < curve["power_knee_pps"] <= curve["knee_pps"] <= curve["capacity_pps"]
    last = record["table"][-1]
    assert last["saturated"] is True and last["loss"] > 0.1 and last["latency_us"] > 0
    assert last["transactions_per_s"] is None


def test_rows_are_those_of_predict(capsys):
    _, out, _ = run(capsys, "sweep", "--path", "vf", "--vary", "rx_usecs=0,400", "--json")
    for row in json.loads(out)["table"]:
        p = vmodel.predict("vf", rx_usecs=row["rx_usecs"])
        assert row["latency_us"] == pytest.approx(p.latency_s * 1e6)
        assert row["latency_us_low"] == pytest.approx(p.latency_interval_s.low * 1e6)
        assert row["bottleneck"] == p.bottleneck


def test_only_the_columns_that_were_asked_for_are_there(capsys):
    _, out, _ = run(
        capsys, "sweep", "--path", "vf", "--vary", "mtu=1500,576", "--columns", "bottleneck,cpu_host", "--json"
    )
    assert list(json.loads(out)["table"][0]) == ["mtu", "bottleneck", "cpu_host"]


def test_the_table_names_what_was_left_out_and_what_is_uncertain(capsys):
    code, out, _ = run(
        capsys, "sweep", "--topology", "cross-host-vm", "--vary", "path=vf,vsock", "--vary", "size=64,128"
    )
    assert code == 0 and "left out: path vsock" in out and "latency [us]" in out
    _, out, _ = run(capsys, *LOADED)
    assert "knee" in out and "never compared with a measurement" in out


def test_long_tables_show_their_ends(capsys):
    _, out, _ = run(capsys, "sweep", "--path", "vf", "--vary", "size=64:1500:1")
    assert "1,437 configurations" in out and "..." in out and len(out.splitlines()) < 60


def test_files_are_written_by_their_ending(capsys, tmp_path):
    for ending in ("csv", "json", "md", "svg"):
        code, out, err = run(
            capsys, "sweep", "--path", "vf", "--vary", "size=64,128,256", "-o", str(tmp_path / f"a.{ending}")
        )
        assert code == 0 and out == "" and "wrote" in err
    rows = list(csv.DictReader((tmp_path / "a.csv").read_text().splitlines()))
    assert [row["size"] for row in rows] == ["64", "128", "256"]
    assert json.loads((tmp_path / "a.json").read_text())["rows"] == 3
    assert (tmp_path / "a.md").read_text().startswith("# vf")
    assert b"<svg" in (tmp_path / "a.svg").read_bytes()


def test_a_curve_and_a_map_are_drawn_from_the_command_line(capsys, tmp_path):
    assert run(capsys, *LOADED, "--plot", str(tmp_path / "curve.png"))[0] == 0
    assert run(capsys, "sweep", "--path", "vf", "--vary", "size=64,1500,9000", "--vary", "rx_usecs=0,100,300",
               "--plot", str(tmp_path / "map.png"))[0] == 0  # fmt: skip
    assert all((tmp_path / n).read_bytes().startswith(b"\x89PNG") for n in ("curve.png", "map.png"))


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--path", "vf"], ["--vary: expected something to vary"]),
        (["--vary", "size=1,2"], ["--path: expected a path"]),
        (["--path", "vf", "--vary", "sizes=1", "--vary", "mtu=0"], ['did you mean "size"', "--vary mtu"]),
        (["--path", "vf", "--size", "64", "--vary", "size=1,2"], ["--size: expected nothing"]),
        (["--path", "vf", "--vary", "size=1,2", "--columns", "latency"], ['did you mean "latency_us"']),
        (["--path", "vf", "--vary", "size=1,2", "-o", "a.xls"], ["-o"]),
        (["--path", "vf", "--vary", "size=1,2", "--plot", "a.jpg"], ["--plot"]),
        (["--path", "vf", "--vary", "size=1,2", "--plot", "a.png", "--answer", "speed"], ["--answer"]),
        (["--path", "vf", "--vary", "load=1,2"], ["packets only"]),
        (["--path", "vf", "--rx-usecs", "-3", "--vary", "size=1,2"], ["--rx-usecs"]),
    ],
)
def test_faults_are_one_line_each_and_name_their_flag(capsys, tmp_path, monkeypatch, arguments, parts):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, "sweep", *arguments)
    lines = err.splitlines()
    assert code == 2 and out == "" and len(lines) == len(parts)
    assert all(part in err for part in parts)
    assert list(tmp_path.iterdir()) == []
