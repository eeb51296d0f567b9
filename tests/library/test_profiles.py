"""Profiles: those in the package are sound, and a file from outside is read whole or refused with every fault."""

import math

import numpy
import pytest

from vmodel.config import knob_value
from vmodel.core.records import Value
from vmodel.errors import ConfigError, UnknownName, VmodelError
from vmodel.library import tables
from vmodel.library.moderation import devices
from vmodel.library.profile import LARGEST_FILE_BYTES, from_tables, profile, value_of
from vmodel.solve.ask import predict
from vmodel.sources import STANDINGS

HEAD = 'name = "mine"\ntitle = "a machine"\nformat = 1\nclock_ghz = 3.0\n'
EXIT = '[parameters.exit_s]\nvalue = 1e-6\nlog_error = 0.1\nstanding = "measured"\n'
COVARIANCE = "[covariance]\nnames = {names}\nlower = {lower}\n"


def test_profile_of_the_package_is_sound(profile_name):
    found = profile(profile_name)
    assert found.name == profile_name and found.title and found.clock_ghz > 0
    assert set(found.drivers.values()) <= set(devices())
    assert set(found.sources) <= set(tables.references())
    for name, value in found.defaults.items():
        knob_value(name, value)
    for value in found.values.values():
        assert value.standing in STANDINGS and value.value > 0 and value.log_error > 0
        assert set(value.sources) <= set(tables.references())
    for seen in found.seen.values():
        assert seen.rows > 0 and seen.log_sd > 0 and 0 < seen.size_bytes[0] <= seen.size_bytes[1]


def test_covariance_of_the_package_is_one(profile_name):
    found = profile(profile_name)
    size = len(found.correlated)
    matrix = numpy.zeros((size, size))
    for i, row in enumerate(found.covariance):
        matrix[i, : i + 1] = matrix[: i + 1, i] = row
    assert set(found.correlated) <= set(found.values)
    if size:
        assert numpy.linalg.eigvalsh(matrix).min() > -1e-6 * numpy.trace(matrix)
        for i, name in enumerate(found.correlated):
            assert math.sqrt(matrix[i, i]) == pytest.approx(found.values[name].log_error, rel=0.01)


def test_every_seen_path_and_workload_exists(profile_name):
    for key in profile(profile_name).seen:
        path, workload = key.rsplit("/", 1)
        assert path in tables.path_names() and workload in tables.WORKLOADS


def test_what_a_profile_does_not_say_comes_from_the_prior_by_its_clock(profile_file):
    found = profile(profile_file(HEAD + EXIT))
    assert value_of(found, "exit_s") == Value(value=1e-6, log_error=0.1, unit="s", standing="measured", sources=())
    other = value_of(found, "signal_s")
    assert other.value == tables.priors()["signal_s"].at(3.0)
    assert other.standing in STANDINGS


def test_a_profile_of_ones_own_answers(profile_file):
    answer = predict("virtio-vhost", profile=profile_file(HEAD + EXIT), topology="host-vm")
    assert answer.scenario.profile.name == "mine" and answer.latency_s > 0


def faults(file):
    with pytest.raises(ConfigError) as error:
        profile(file)
    assert all(fault.file == file for fault in error.value.faults)
    return {fault.key: fault for fault in error.value.faults}


@pytest.mark.parametrize("body", [b"name = ", b"\xff\xfe", b"a = " + b"[" * 50_000, b"\0", b"a = 1\na = 2"])
def test_a_file_that_is_not_toml_is_refused_by_name(profile_file, body):
    assert "TOML" in faults(profile_file(body))[""].expected


def test_a_huge_file_is_not_read(profile_file):
    assert faults(profile_file(b"#" * (LARGEST_FILE_BYTES + 1)))


@pytest.mark.parametrize("name", ["missing.toml", "a" * 5000 + ".toml", "nul\0.toml"])
def test_a_file_that_cannot_be_opened_is_refused_by_name(tmp_path, name):
    faults(str(tmp_path / name))


def test_a_directory_is_not_a_profile(tmp_path):
    (tmp_path / "folder.toml").mkdir()
    faults(str(tmp_path / "folder.toml"))


def test_a_name_that_is_not_shipped_is_answered_with_the_nearest():
    with pytest.raises(UnknownName, match="hs21-2007"):
        profile("hs21-2006")


def test_every_missing_key_is_named_at_once(profile_file):
    assert set(faults(profile_file(""))) == {"name", "title", "format", "clock_ghz"}


def test_every_wrong_parameter_is_named_at_once(profile_file):
    body = HEAD + EXIT.replace("1e-6", "-1.0") + EXIT.replace("exit_s", "exit_ss") + EXIT.replace("exit_s", "signal_s")
    body += EXIT.replace("exit_s", "bridge_s").replace("0.1", "nan") + EXIT.replace("exit_s", "tap_send_s").replace(
        "measured", "guessed"
    )
    found = faults(profile_file(body))
    assert set(found) == {
        "parameters.exit_s.value", "parameters.exit_ss", "parameters.bridge_s.log_error",
        "parameters.tap_send_s.standing",
    }  # fmt: skip
    assert found["parameters.exit_ss"].nearest == "exit_s"


@pytest.mark.parametrize("value", ["0", "-1", "0.09", "2400", "nan", "inf", '"fast"', "true", "[1]"])
def test_a_clock_is_a_number_of_gigahertz(profile_file, value):
    assert "clock_ghz" in faults(profile_file(HEAD.replace("3.0", value)))


@pytest.mark.parametrize("value", ["0", "-1e-6", "1e300", "1e-300", "nan", "inf", '"1us"', "true", "[1e-6]"])
def test_a_cost_is_a_positive_number(profile_file, value):
    assert "parameters.exit_s.value" in faults(profile_file(HEAD + EXIT.replace("1e-6", value)))


@pytest.mark.parametrize(("names", "lower"), [
    ('["exit_s"]', "[]"), ('["exit_s"]', "[[nan]]"), ('["exit_s"]', '[["x"]]'), ('["exit_s"]', "[[1.0, 2.0]]"),
    ('["nonsense"]', "[[1.0]]"), ('["exit_s"]', "[[-1.0]]"), ("3", "[]"), ('["exit_s"]', "3"),
    ('[["exit_s"]]', "[[1.0]]"),
])  # fmt: skip
def test_a_covariance_is_a_triangle_over_known_names(profile_file, names, lower):
    assert "covariance" in faults(profile_file(HEAD + EXIT + COVARIANCE.format(names=names, lower=lower)))


def test_an_unknown_key_is_answered_with_the_nearest(profile_file):
    assert faults(profile_file(HEAD + "paramters = 1\n"))["paramters"].nearest == "parameters"


@pytest.mark.parametrize("key", ["machine", "drivers", "defaults", "parameters", "covariance", "seen"])
def test_what_must_be_a_table_is_one(profile_file, key):
    assert key in faults(profile_file(HEAD + f"{key} = 3\n"))


@pytest.mark.parametrize("body", [
    {"sources": 5}, {"parameters": {"exit_s": {"value": 1.0, "log_error": 0.1, "standing": "fitted", "sources": 5}}},
    {"machine": {"path_defaults": 3}}, {"machine": {"path_defaults": {"virtio-vhost": 3}}},
    {"machine": {"path_defaults": {"virtio-vhost": {"siez": 3}}}}, {"defaults": {"siez": 3}},
    {"defaults": {"size": -1}},
    {"drivers": {"pf": 3}}, {"seen": {"virtio-vhost/rr": 3}},
    {"seen": {"virtio-vhost/rr": {"topologies": [], "directions": [], "size_bytes": [0, 0], "rows": 1, "log_sd": 0.1}}},
    {"seen": {"virtio-vhost/rr": {
        "topologies": [], "directions": [], "size_bytes": [64, 1500], "rows": 1, "log_sd": math.nan,
    }}},
])  # fmt: skip
def test_a_wrong_value_deep_in_a_profile_is_refused_with_the_name_of_the_file(body):
    good = {"name": "mine", "title": "a machine", "format": 1, "clock_ghz": 3.0}
    with pytest.raises(ConfigError) as error:
        from_tables({**good, **body}, "mine.toml")
    assert all(fault.file == "mine.toml" for fault in error.value.faults)


def test_a_fault_is_an_error_of_ours(profile_file):
    with pytest.raises(VmodelError):
        profile(profile_file(HEAD + "format = 2\n"))


def test_a_driver_that_is_not_in_the_table_is_refused_with_the_nearest(profile_file):
    found = faults(profile_file(HEAD + '[drivers]\npf = "igbb"\n'))
    assert found["drivers.pf"].nearest == "igb"
