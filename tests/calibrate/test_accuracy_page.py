"""The accuracy page is about the evidence that lies here, and its figures are what a fit of it finds."""

import re
from pathlib import Path

import numpy as np
import pytest

from vmodel.calibrate.accuracy import ape
from vmodel.calibrate.evidence import load
from vmodel.calibrate.validate import rows_only

PAGE = Path(__file__).resolve().parents[2] / "docs" / "accuracy.md"
STUDIES = {study.name: study for study in load(public=True)}
SMALL = ("ahern2011", "dykman2007")


def table(title):
    """The rows of a table of the page, by their first cell."""
    part = PAGE.read_text("utf-8").split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]
    first = part[part.index("\n|") + 1 :].split("\n\n", 1)[0]
    lines = [[c.strip() for c in line.strip("|").split("|")] for line in first.splitlines()]
    return {line[0]: dict(zip(lines[0], line, strict=True)) for line in lines[2:]}


def test_the_page_counts_every_row_that_is_compared():
    shown = table("By study")
    assert {name: int(line["rows"]) for name, line in shown.items()} == {n: len(s.compared) for n, s in STUDIES.items()}
    paths = {row.path for s in STUDIES.values() for row in s.compared}
    assert set(table("By path")) == paths
    assert int(table("All rows")["all"]["rows"]) == sum(len(s.compared) for s in STUDIES.values())


def test_the_page_says_where_not_to_use_the_model_and_gives_a_reason_for_each_row():
    text = PAGE.read_text("utf-8")
    assert re.search(r"## Where not to use the model\n\n- ", text)
    assert all(line["reason"] for line in table("Worst rows of each study").values())


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_the_figures_of_a_study_are_what_its_fit_finds(name):
    result = rows_only(STUDIES[name])
    shown = table("By study")[name]
    inside = np.median(ape(result.inside.logs - result.measured))
    out = np.median(ape(result.row_out.logs - result.measured))
    assert float(shown["in sample"].rstrip(" %")) == pytest.approx(100 * inside, abs=0.11)
    assert float(shown["row out"].rstrip(" %")) == pytest.approx(100 * out, abs=0.11)
