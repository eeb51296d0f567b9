"""The table of stages and the paths made of them: complete, without orphans, without surprises."""

import re
from pathlib import Path

import pytest

from vmodel.library import tables
from vmodel.library.catalog import STAGES
from vmodel.solve import evaluate

ON_PATHS = {s for e in tables.endpoints().values() for s in (*e.tx, *e.rx)} | {
    s for link in tables.links().values() for s in link
}


@pytest.mark.parametrize("name", STAGES)
def test_stage_stands_under_its_own_name_and_on_some_path(name):
    assert STAGES[name].name == name
    assert name in ON_PATHS


def test_every_stage_of_a_path_exists():
    assert set(STAGES) >= ON_PATHS


def test_what_a_prediction_reads_is_what_the_formulas_say():
    rows = evaluate.stage_rows()
    assert list(rows) == list(STAGES)
    for name, s in STAGES.items():
        expected = (s.words, s.parameters, s.occupies, s.when, s.variability, s.cites, s.about, s.spins)
        assert tuple(rows[name][3:]) == expected


@pytest.mark.parametrize("name", STAGES)
def test_variability_is_that_of_a_service_time(name):
    assert 0 <= STAGES[name].variability <= 1
    assert (STAGES[name].when == "idle") <= (STAGES[name].occupies is None)


def test_every_reference_is_cited_somewhere():
    used = {key for s in STAGES.values() for key in s.cites} | {k for e in tables.endpoints().values() for k in e.cites}
    used |= {key for prior in tables.priors().values() for key in prior.cites}
    formulas = "".join(path.read_text(encoding="utf-8") for path in Path("vmodel").rglob("*.py"))
    used |= {key for key in tables.references() if key in formulas}
    used |= {folder.name for folder in Path("calibration").iterdir()}
    assert set(tables.references()) <= used


def test_every_source_that_a_formula_names_is_in_the_bibliography():
    for path in Path("vmodel/solve").glob("*.py"):
        text = path.read_text(encoding="utf-8")
        named = set(re.findall(r"\b[A-Z][A-Za-z]+(?:19|20)\d\d\b", text))
        assert named <= set(tables.references()), path
