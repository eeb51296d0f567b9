"""Before and after, point by point."""

from vmodel.calibrate.difference import difference


def record(name, **rows):
    return {
        "datasets": {
            name: {
                "residuals": [
                    {"id": k, "measured": 100.0, "predicted": v, "ape": abs(v / 100 - 1)} for k, v in rows.items()
                ]
            }
        }
    }


def test_each_row_that_both_have_is_compared_and_the_largest_change_comes_first():
    found = difference(record("s", a=110.0, b=100.0, c=90.0, gone=1.0), record("s", a=101.0, b=100.0, c=70.0, new=1.0))
    assert [p["id"] for p in found["points"]] == ["s/c", "s/a", "s/b"]
    assert (found["better"], found["worse"], found["same"]) == (1, 1, 1)
    assert (found["only_before"], found["only_after"]) == (1, 1)


def test_a_change_of_two_thousandths_is_none():
    def of(ape):
        return {"datasets": {"s": {"residuals": [{"id": "a", "measured": 1.0, "predicted": 1.0, "ape": ape}]}}}

    found = [difference(of(0.0), of(ape)) for ape in (0.002, 0.0021)] + [difference(of(0.0021), of(0.0))]
    assert [(f["better"], f["worse"], f["same"]) for f in found] == [(0, 0, 1), (0, 1, 0), (1, 0, 0)]


def test_the_same_rows_under_another_file_name_are_the_same_rows():
    assert difference(record("old", a=110.0), record("new", a=100.0))["rows"] == 1


def test_a_record_without_rows_gives_no_points():
    assert difference({"datasets": {"s": {"residuals": [{"id": 1}]}}}, record("s", a=1.0))["rows"] == 0
