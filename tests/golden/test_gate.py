"""The gate before frozen predictions: a change is shown point by point, and nothing is written unasked."""

import json

from tests.golden.__main__ import main

OLD = {"a vf": {"latency_s": 1.0, "bottleneck": "wire"}, "b pf": {"latency_s": 2.0, "bottleneck": "wire"}}
NEW = {
    "a vf": {"latency_s": 1.5, "bottleneck": "vcpu"},
    "b pf": {"latency_s": 3.0, "bottleneck": "wire"},
    "c": {"x": 1.0},
}


def frozen(tmp_path, body):
    file = tmp_path / "predictions.json"
    file.write_text(json.dumps(body))
    return file


def test_no_difference_passes_and_writes_nothing(tmp_path, capsys):
    file = frozen(tmp_path, OLD)
    before = file.read_bytes()
    same = {"a vf": {"latency_s": 1.0 + 1e-9, "bottleneck": "wire"}, "b pf": OLD["b pf"]}
    assert main([], file, same) == 0
    assert "all 2 points are what they were" in capsys.readouterr().out and file.read_bytes() == before
    assert main(["--accept"], file, same) == 0 and file.read_bytes() == before


def test_a_difference_is_shown_old_against_new_and_stops(tmp_path, capsys):
    file = frozen(tmp_path, OLD)
    before = file.read_bytes()
    assert main([], file, NEW) == 1
    out = capsys.readouterr().out
    assert "a vf: latency_s 1.0 -> 1.5  (1.5 times)" in out and "a vf: bottleneck wire -> vcpu" in out
    assert "c: new" in out and "3 of 3 points differ" in out and "--accept" in out
    assert file.read_bytes() == before


def test_accepting_writes_all_or_the_part_that_was_named(tmp_path, capsys):
    file = frozen(tmp_path, OLD)
    assert main(["--accept", "vf"], file, NEW) == 0
    assert json.loads(file.read_text()) == {"a vf": NEW["a vf"], "b pf": OLD["b pf"]}
    assert main([], file, NEW) == 1
    assert main(["--accept"], file, NEW) == 0
    assert json.loads(file.read_text()) == NEW
    assert main([], file, {"a vf": NEW["a vf"]}) == 1
    assert "b pf: gone" in capsys.readouterr().out
    assert main(["--accept"], file, {"a vf": NEW["a vf"]}) == 0
    assert json.loads(file.read_text()) == {"a vf": NEW["a vf"]}
