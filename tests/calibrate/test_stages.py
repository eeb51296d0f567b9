"""Shares of the vhost thread's time, as its profile printed them, against the stages of the model."""

import csv

import pytest

from vmodel.calibrate.evidence import folder
from vmodel.calibrate.stages import compare_stages, read_stages
from vmodel.library.profile import profile
from vmodel.solve.evaluate import stage_rows

STUDY = folder() / "perezmartin2020"
MEASURED = read_stages(STUDY)


def test_each_share_is_the_sum_of_the_printed_ones():
    with (STUDY / "context.csv").open(encoding="utf-8") as file:
        printed = {row["id"]: float(row["value"]) for row in csv.DictReader(file) if row["quantity"] == "cpu_share"}
    with (STUDY / "stages.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            assert float(row["share"]) == pytest.approx(sum(printed[i] for i in row["rows_of_context"].split()) / 100)


def test_every_share_is_of_stages_there_are():
    assert len(MEASURED) == 10
    assert {name for m in MEASURED for name in m.stages} <= set(stage_rows())
    assert read_stages(STUDY.parent / "ahern2011") == ()


def test_the_model_spends_the_workers_time_where_the_profiler_found_it():
    rows = compare_stages(MEASURED, profile("e5-2650v4-2020"))
    assert max(abs(r["error"]) for r in rows) < 0.10
    assert sorted(abs(r["error"]) for r in rows)[len(rows) // 2] < 0.02
    for way in ("to-vm", "from-vm"):
        mine = [r for r in rows if r["direction"] == way]
        order = sorted(mine, key=lambda r: r["measured"])
        assert order[-1] == max(mine, key=lambda r: r["predicted"])
