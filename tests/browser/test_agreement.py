"""The model in the page is the model of the package: every figure of the record, to nine digits."""

import json

import pytest

from tests.browser.points import questions, with_other_peers
from vmodel.errors import VmodelError
from vmodel.library import tables
from vmodel.report.explorer_data import asked
from vmodel.report.record import as_json
from vmodel.solve.solver import predict

TOLERANCE = 1e-9  # relative
ASK = """return JSON.stringify(JSON.parse(arguments[0]).map((q) => {
    try { return window.vmodel.predict(q); } catch (error) { return { error: String(error.stack) }; }
}))"""
AT_ONCE = 500


def differences(ours, theirs, place=""):
    """Where two records differ; numbers may by the tolerance."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in ours.keys() | theirs.keys():
            yield from differences(ours.get(key), theirs.get(key), f"{place}.{key}")
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            yield from differences(a, b, f"{place}[{i}]")
    elif isinstance(ours, int | float) and isinstance(theirs, int | float):
        if abs(ours - theirs) > TOLERANCE * max(abs(ours), abs(theirs)):
            yield f"{place}: {ours!r} and {theirs!r}"
    elif ours != theirs:
        yield f"{place}: {ours!r} and {theirs!r}"


def disagreements(tab, scenarios):
    """What the page and the package answer differently."""
    tab.open()
    wrong = []
    for start in range(0, len(scenarios), AT_ONCE):
        part = scenarios[start : start + AT_ONCE]
        theirs = json.loads(tab.run(ASK, json.dumps([asked(s) for s in part])))
        for s, answer in zip(part, theirs, strict=True):
            ours = json.loads(json.dumps(as_json(predict(s))))
            ours.pop("notes"), answer.pop("notes", None)  # how the question was put, which a page puts otherwise
            found = list(differences(ours, answer))
            if found:
                wrong.append((asked(s), found[:3]))
    return wrong


def test_page_and_package_agree_in_every_combination(tab):
    scenarios = list(questions(1, seed=1))
    assert {s.path for s in scenarios} == set(tables.path_names())
    assert disagreements(tab, scenarios) == []


@pytest.mark.slow
def test_page_and_package_agree_over_thousands_of_points(tab):
    scenarios = list(questions(12, seed=2))
    assert len(scenarios) > 3000
    assert {name for s in scenarios for name in s.chosen} == set(tables.knobs())
    assert {s.load.kind for s in scenarios} == {"max", "rate_pps"}
    assert disagreements(tab, scenarios) == []


@pytest.mark.slow
def test_page_and_package_agree_with_every_other_end(tab):
    scenarios = []
    for s in with_other_peers(seed=3):
        try:
            predict(s)
        except VmodelError:
            continue
        scenarios.append(s)
    assert len({(s.path, s.peer) for s in scenarios}) > 100
    assert disagreements(tab, scenarios) == []


def test_the_comparison_notices_a_difference():
    assert list(differences({"a": [1.0, None]}, {"a": [1.0 + 1e-8, None]})) != []
    assert list(differences({"a": "x"}, {"a": "y", "b": 1})) != []
    assert list(differences({"a": [1.0]}, {"a": [1.0 + 1e-10]})) == []
