"""Studies left out: honest spreads, draws spread over a study, and figures that must not get worse."""

import math

import numpy as np
import pytest

from vmodel.calibrate.accuracy import few_apes, figures, of_rate, points
from vmodel.calibrate.evidence import load
from vmodel.calibrate.transfer import (
    NORMAL_90,
    assumptions,
    enough_spread,
    population,
    spread_over,
    summaries,
    transfer,
)
from vmodel.calibrate.validate import rows_only
from vmodel.library.profile import profile


def test_rows_given_are_spread_over_the_file():
    assert spread_over(100, 5) == (10, 30, 50, 70, 90)
    assert spread_over(3, 5) == (0, 1, 2)
    for count in (5, 6, 13, 250):
        places = spread_over(count, 5, 0.75)
        assert len(places) == 5 and max(places) < count


def test_the_model_error_is_the_smallest_that_covers_nine_of_ten():
    chance = np.random.default_rng(5)
    errors, sd = 0.3 * chance.standard_normal(999), chance.uniform(0, 0.1, 999)
    found = enough_spread(errors, sd)

    def covered(more):
        return np.mean(np.abs(errors) <= NORMAL_90 * np.sqrt(sd**2 + more**2) * (1 + 1e-12))

    assert covered(found) >= 0.9
    assert covered(found * 0.99) < 0.91
    assert found == pytest.approx(math.sqrt(0.09 - 0.1**2 / 3), rel=0.08)


def test_no_model_error_is_added_where_the_costs_explain_the_spread():
    assert enough_spread(np.full(50, 0.01), np.full(50, 0.5)) == 0.0


@pytest.fixture(scope="module")
def documents():
    """The four documents, each predicted from the other three."""
    studies, base = load(), profile("generic")
    found = transfer(studies, assumptions(base))
    learned = transfer(studies, population(summaries(studies, base), base))
    return points([rows_only(study) for study in studies], found, learned)


@pytest.mark.slow
def test_five_rows_of_an_unseen_document_tell_most_of_the_rest(documents):
    for name, chosen in (("rates", of_rate), ("latencies", lambda p: not of_rate(p))):
        group = [p for p in documents if chosen(p)]
        error = np.median(few_apes(group))
        assert error <= 0.12, name
        for baseline in ("nearest_row", "series_affine", "pooled_gaussian_process", "pooled_boosting"):
            assert error < np.median(few_apes(group, baseline)), (name, baseline)


@pytest.mark.slow
def test_what_is_said_of_an_unseen_document_holds(documents):
    told = figures(documents)
    assert told["within_two"] >= 0.8
    assert told["rank"] >= 0.75
    for kind in ("row_out_covered", "few_covered", "zero_covered"):
        assert 0.8 <= told[kind] <= 0.97, kind
