"""`vmodel fit` and `vmodel validate` from the command line: what they write, and how they refuse."""

import json
from pathlib import Path

import pytest

from tests.calibrate.made import measured
from vmodel.cli.main import main

IPERF3 = Path(__file__).resolve().parents[1] / "ingest" / "files" / "iperf3_3.12_tcp_1stream.json"
HEAD = "id,path,topology,workload,direction,message_bytes,metric,value\n"


def ran(capsys, *arguments):
    code = main(list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


def written(path, rows):
    lines = [
        f"{r.id},{r.path},{r.topology},{r.workload},{r.direction},{r.knobs['size']:g},{r.metric},{r.value}"
        for r in rows
    ]
    path.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture
def mine(tmp_path):
    return written(tmp_path / "mine.csv", measured("generic"))


def test_the_life_of_a_users_own_host(capsys, tmp_path, mine):
    profile, record = str(tmp_path / "mine.toml"), tmp_path / "before.json"
    assert ran(capsys, "fit", mine, "--prior", "generic", "--clock", "2.4", "-o", profile)[0] == 0
    rest = written(tmp_path / "rest.csv", measured("generic", seed=5))
    code, out, _ = ran(capsys, "validate", rest, "--profile", profile, "--json")
    record.write_text(out, encoding="utf-8")
    told = json.loads(out)["datasets"]["rest"]
    assert code == 0 and told["median_ape"] < 0.1 and told["coverage90"] >= 0.8  # of ten rows
    code, out, _ = ran(capsys, "validate", rest, "--profile", "generic", "--against", str(record), "--json")
    assert code == 0 and json.loads(out)["difference"]["rows"] == 10
    code, out, _ = ran(capsys, "validate", rest, "--few-shot", "--json")
    curve = json.loads(out)["few_shot"]
    assert code == 0 and [p["given"] for p in curve] == [0, 1, 2, 3, 5]
    code, out, _ = ran(capsys, "fit", rest, "--update", profile, "--json")
    assert code == 0 and json.loads(out)["loosened"] >= 1


def test_what_a_tool_printed_is_fitted_once_the_path_is_named(capsys):
    code, out, _ = ran(capsys, "fit", str(IPERF3), "--path", "virtio-vhost", "--topology", "host-vm", "--json")
    assert code in (0, 1) and json.loads(out)["rows"] == 1
    code, _, err = ran(capsys, "fit", str(IPERF3))
    assert code == 2 and "--path" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fit", "--update", "x.toml"], "--update"),
        (["fit", "{mine}", "--path", "vf"], "--path"),
        (["fit", "{mine}", "-o", "x.csv"], ".toml"),
        (["fit", "{mine}", "--update", "nowhere.toml"], "nowhere.toml"),
        (["fit", "{mine}", "--prior", "generc"], "generic"),
        (["validate", "--few-shot"], "--few-shot"),
        (["validate", "{mine}", "--transfer"], "--transfer"),
        (["validate", "{mine}", "--against", "{bad}"], "validate --json"),
        (["validate", "--against", "generic"], "--against"),
        (["validate", "-o", "page.html"], ".md"),
    ],
)
def test_a_wrong_call_is_one_line_and_exit_code_2(capsys, tmp_path, mine, arguments, words):
    bad = tmp_path / "bad.json"
    bad.write_text("[1, 2", encoding="utf-8")
    code, out, err = ran(capsys, *(a.format(mine=mine, bad=bad) for a in arguments))
    assert code == 2 and out == ""
    assert words in err and err.count("\n") == 1 and "Traceback" not in err
