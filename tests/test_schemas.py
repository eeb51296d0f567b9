"""The published JSON Schemas: those of the tables, and they take and refuse what the readers take and refuse."""

import copy
import csv
import json
import tomllib

import jsonschema
import pytest

from tests.schemas import FOLDER, MADE, schema_of
from vmodel.calibrate.dataset import read_rows
from vmodel.calibrate.evidence import folder, load
from vmodel.cli.main import main
from vmodel.errors import ConfigError
from vmodel.library import profile, tables
from vmodel.library.path_file import read as read_path

PATH = {
    "title": "mine", "place": "guest", "attach": "kernel", "tx": ["app_send", "copy_send", "stack_send"],
    "rx": ["tap_receive", "stack_receive", "app_receive"], "path": {"host_peer": "host-kernel"},
}  # fmt: skip


def checker(name):
    return jsonschema.Draft202012Validator(schema_of(name))


@pytest.mark.parametrize("name", [name for name in MADE if name != "fleet"])
def test_what_ships_is_made_of_the_tables(name):
    shipped = json.loads((FOLDER / f"{name}.schema.json").read_text("utf-8"))
    assert shipped == json.loads(json.dumps(schema_of(name)))
    jsonschema.Draft202012Validator.check_schema(shipped)


def test_the_command_prints_what_ships(capsys):
    assert main(["schema", "path"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads((FOLDER / "path.schema.json").read_text("utf-8"))
    assert main(["schema"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(MADE)
    assert main(["schema", "profiel"]) == 2
    assert 'did you mean "profile"?' in capsys.readouterr().err


def test_every_shipped_profile_keeps_to_the_schema():
    check = checker("profile")
    for name in profile.shipped():
        text = (FOLDER.parent / "profiles" / f"{name}.toml").read_text("utf-8")
        assert [error.message for error in check.iter_errors(tomllib.loads(text))] == []


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("format",), 2), (("clock_ghz",), 0), (("clock_ghz",), 2400), (("clock_ghz",), "fast"), (("colour",), 1),
        (("sources",), "x"),
        (("drivers",), {"vf": 1}), (("defaults",), {"mtu": -1}), (("defaults",), {"nothing": 1}),
        (("parameters",), {"nothing": {}}), (("parameters",), {"copy_bytes_s": {"value": -1}}),
        (("parameters",), {"copy_bytes_s": {"value": 1e300, "log_error": 1.0, "standing": "assumed"}}),
        (("seen",), {"vf/rr": {"rows": 1}}), (("machine",), {"core_watts": 0}),
    ],
)  # fmt: skip
def test_schema_and_reader_refuse_the_same_profiles(place, value):
    good = {"format": 1, "name": "mine", "title": "mine", "clock_ghz": 2.0}
    check = checker("profile")
    assert check.is_valid(good)
    profile.from_tables(good, "mine.toml")
    bad = copy.deepcopy(good)
    bad[place[0]] = value
    assert not check.is_valid(bad)
    with pytest.raises(ConfigError):
        profile.from_tables(bad, "mine.toml")


@pytest.mark.parametrize(
    ("key", "value"),
    [("place", "moon"), ("attach", 1), ("tx", []), ("rx", ["nothing"]), ("merges", "yes"), ("x", 1), ("format", 2)],
)
def test_schema_and_reader_refuse_the_same_paths(tmp_path, key, value):
    check = checker("path")
    assert check.is_valid(PATH)
    assert not check.is_valid({**PATH, key: value})
    for body, good in ((PATH, True), ({**PATH, key: value}, False)):
        file = tmp_path / f"{good}.toml"
        lines = [f"{k} = {json.dumps(v)}" for k, v in body.items() if not isinstance(v, dict)]
        file.write_text("\n".join([*lines, "[path]", 'host_peer = "host-kernel"', ""]))
        if good:
            read_path(str(file))
        else:
            with pytest.raises(ConfigError):
                read_path(str(file))


def test_every_row_of_the_evidence_keeps_to_the_schema():
    check = checker("observations")
    rows = 0
    for file in sorted(folder().glob("*/observations.csv")):
        with file.open(encoding="utf-8") as stream:
            for row in csv.DictReader(stream):
                told = {k: float(v) if k in ("value", "sd") else v for k, v in row.items() if v}
                assert [error.message for error in check.iter_errors(told)] == []
                rows += 1
        read_rows(file)
    assert rows > 500
    assert not check.is_valid({"path": "vf", "workload": "rr", "metric": "latency", "value": 1.0})
    assert not check.is_valid({"path": "vf", "workload": "rr", "metric": "latency_us", "value": 0})


def test_a_configuration_file_keeps_to_the_schema():
    check = checker("configuration")
    good = {"path": "vf", "rx-usecs": 10, "rx_frames": "4", "tso": False, "size": "64KiB", "copy_bytes_s": 1e9}
    assert check.is_valid(good)
    assert set(good) - {"rx-usecs"} <= {"path", *tables.knobs(), *tables.priors()}
    for bad in ({"path": 1}, {"rx_usec": 10}, {"size": [1]}, {"copy_bytes_s": True}):
        assert not check.is_valid(bad)


@pytest.mark.parametrize("told", ["2", "999", "1.5", '"1"', "true", "0", "-1", "[1]"])
def test_another_format_is_refused_in_one_line(tmp_path, capsys, told):
    file = tmp_path / "mine.toml"
    file.write_text(f'format = {told}\nname = "mine"\nnews = "of a later version"\n')
    for line in (["predict", "--path", "vf", "--profile", str(file)], ["predict", "--path", str(file)]):
        assert main(line) == 2
        err = capsys.readouterr().err
        later = told in ("2", "999", "1.5")
        assert "format" in err and "expected 1" in err and ("later version" in err) == later
        assert err.count("\n") == 1 or not later  # the keys of a later format are not held against it


def test_a_study_of_another_format_is_refused(tmp_path):
    study = tmp_path / "study"
    study.mkdir()
    (study / "observations.csv").write_text("path,workload,metric,value\nvf,rr,latency_us,50\n")
    (study / "profile.toml").write_text('name = "a"\ntitle = "a"\nclock_ghz = 2.0\n')
    (study / "source.toml").write_text("format = 1\n")
    assert len(load(tmp_path, public=True)) == 1
    (study / "source.toml").write_text("format = 2\n")
    with pytest.raises(ConfigError, match="a later version"):
        load(tmp_path, public=True)
