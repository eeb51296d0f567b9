"""Errors keep their facts, stay on one line, survive a trip between processes and name what was probably meant."""

import copy
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vmodel import errors

reproducible = settings(derandomize=True, deadline=None)
RATE = errors.Fault(
    file="hosts/lab.toml", key="nic.rate", value="25 Gbps/s", expected="a bit rate", nearest="25 Gbit/s"
)
MISSING = errors.Fault(file="hosts/lab.toml", key="nic.driver", expected="a driver name")
EXAMPLES = [
    (errors.VmodelError("out of luck"), Exception, "out of luck"),
    (
        errors.ConfigError([RATE, MISSING]),
        ValueError,
        'hosts/lab.toml: nic.rate = "25 Gbps/s": expected a bit rate; did you mean "25 Gbit/s"?\n'
        "hosts/lab.toml: nic.driver: expected a driver name",
    ),
    (errors.UnitError("5 parsec", "a time"), ValueError, '"5 parsec": expected a time'),
    (errors.UnknownName("path", "vff", "vf"), KeyError, 'path "vff": no such path; did you mean "vf"?'),
    (errors.ScenarioError("queues", 0, "at least 1"), ValueError, "queues = 0: expected at least 1"),
    (
        errors.DatasetError("author2019", "fig7.csv", 12, "value is missing"),
        ValueError,
        "author2019/fig7.csv:12: value is missing",
    ),
    (errors.DatasetError("", "fig7.csv", None, "no rows"), ValueError, "fig7.csv: no rows"),
    (errors.StageError("kick", "unused parameter fixed"), TypeError, 'stage "kick": unused parameter fixed'),
    (errors.FitError("author2019", "copy_rate", "at its bound"), RuntimeError, "author2019: copy_rate: at its bound"),
    (errors.FitError("author2019", None, "no rows left"), RuntimeError, "author2019: no rows left"),
    (errors.EngineError("w3", "a1b2", "worker lost"), RuntimeError, "worker w3, chunk a1b2: worker lost"),
]


@pytest.mark.parametrize(("error", "parent", "text"), EXAMPLES, ids=lambda x: type(x).__name__)
def test_an_error_says_what_is_wrong(error, parent, text):
    assert str(error) == text
    assert isinstance(error, errors.VmodelError)
    assert isinstance(error, parent)
    assert error.lines() == tuple(text.split("\n"))


@pytest.mark.parametrize("error", [error for error, _, _ in EXAMPLES], ids=lambda x: type(x).__name__)
def test_an_error_survives_a_trip_between_processes(error):
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(twin) is type(error)
        assert vars(twin) == vars(error)
        assert str(twin) == str(error)


@reproducible
@given(text=st.text())
def test_an_error_stays_on_one_line_whatever_it_repeats(text):
    fault = errors.Fault(file=text, key=text, value=text, expected=text, nearest=text)
    examples = (
        errors.VmodelError(text),
        errors.ConfigError([fault]),
        errors.UnitError(text, text, text),
        errors.UnknownName(text, text, text),
        errors.ScenarioError(text, text, text, text),
        errors.DatasetError(text, text, 1, text),
        errors.StageError(text, text),
        errors.FitError(text, text, text),
        errors.EngineError(text, text, text),
    )
    for error in examples:
        assert len(str(error).splitlines()) <= 1
        assert str(error).isprintable()


@pytest.mark.parametrize(
    ("value", "text"),
    [("a\tb", '"a\\tb"'), (True, "true"), (0.5, "0.5"), (None, "None"), ([1], "[1]"), ("\N{ESCAPE}[2J", '"\\x1b[2J"')],
)
def test_values_are_repeated_in_printable_form(value, text):
    assert errors.shown(value) == text


def test_long_values_are_cut():
    assert errors.shown("x" * 1000) == '"' + "x" * (errors.LONGEST_VALUE - 1) + '…"'


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("vhost_user", "vhost-user"),
        ("vhost-usr", "vhost-user"),
        ("VF", "vf"),
        ("virtio-vhst", "virtio-vhost"),
        ("nothing like it", None),
        ("", None),
        ("v" * 10_000, None),
    ],
)
def test_the_nearest_name_is_found(name, meant):
    assert errors.nearest(name, {"vf", "vhost-user", "virtio-vhost", "loopback"}) == meant


@reproducible
@given(choices=st.lists(st.text(min_size=1, max_size=20), min_size=1))
def test_a_name_that_exists_is_nearest_to_itself_but_for_its_case(choices):
    found = errors.nearest(choices[0], choices)
    assert found in choices
    assert found.casefold().replace("_", "-") == choices[0].casefold().replace("_", "-")
