"""What `update` weighs: the evidence of rows under a prior, a loosened memory, and when a cost has moved."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from tests.calibrate.made import PRIOR, measured
from vmodel.calibrate import update as module
from vmodel.calibrate.fit import fit
from vmodel.calibrate.profile_file import as_profile
from vmodel.calibrate.update import Move, Update, _evidence, _loosened, _moves, _sentence, update
from vmodel.library.profile import value_of


@pytest.fixture(scope="module")
def rows():
    return measured(noise=0.01)


@pytest.fixture(scope="module")
def fitted(rows):
    return fit(rows, PRIOR)


def prior_of(f, names):
    """Mean and covariance of the logarithms that a profile tells, read from its fields."""
    place = {n: i for i, n in enumerate(f.profile.correlated)}
    values = {n: value_of(f.profile, n) for n in names}
    mean = np.log([values[n].value for n in names])
    cov = np.zeros((len(names), len(names)))
    for j, a in enumerate(names):
        for k, b in enumerate(names):
            if a in place and b in place:
                high, low = sorted((place[a], place[b]), reverse=True)
                cov[j, k] = f.profile.covariance[high][low]
            elif j == k:
                cov[j, k] = values[a].log_error ** 2
    return mean, cov


def test_evidence_is_the_normal_density_of_the_rows_and_a_rejected_row_costs(fitted):
    mean, cov = prior_of(fitted, fitted.names)
    assert len(set(fitted.weights.round(3))) > 1 and not fitted.outliers

    def density(kept):
        j = fitted.jacobian[kept]
        centre = np.log(fitted.predicted)[kept] + j @ (mean - fitted.log_values)
        noise = np.diag(fitted.row_noise.whole[kept] ** 2)
        seen = np.log([r.value for r in fitted.rows])[kept]
        law = multivariate_normal(centre, j @ cov @ j.T + noise, allow_singular=False)
        return law.logpdf(seen) + 0.5 * len(kept) * math.log(2 * math.pi)

    everyone = list(range(len(fitted.rows)))
    assert _evidence(fitted) == pytest.approx(density(everyone), rel=1e-6)
    without = replace(fitted, outliers=("r1", "r4"))
    kept = [i for i in everyone if i not in (1, 4)]
    assert _evidence(without) == pytest.approx(density(kept) - 2 * 4.5, rel=1e-6)
    none = replace(fitted, outliers=tuple(r.id for r in fitted.rows))
    assert _evidence(none) == pytest.approx(-4.5 * len(everyone))


def test_a_looser_memory_has_every_fitted_error_larger_by_the_factor(fitted):
    known = as_profile(fitted, "known")
    loose = _loosened(known, 3.0)
    for name, value in known.values.items():
        times = 3.0 if name in known.correlated else 1.0
        assert loose.values[name].log_error == pytest.approx(times * value.log_error)
        assert loose.values[name].value == value.value
    for old, new in zip(known.covariance, loose.covariance, strict=True):
        assert list(new) == pytest.approx([9 * x for x in old])


def test_a_cost_has_moved_from_two_deviations_of_what_the_rows_could_move_it(fitted):
    mean, cov = prior_of(fitted, fitted.names)
    sd = np.sqrt(np.diag(cov))
    at = mean.copy()
    shifts = {0: 1.9, 1: -2.1, 2: 3.0}
    gained = {}
    after = np.diag(np.diag(cov) * 0.75)  # so that the change has half of the prior's deviation
    for place, score in shifts.items():
        gained[place] = sd[place] * 0.5
        at[place] += score * gained[place]
    wide = after.copy()
    wide[3, 3] = cov[3, 3] * 1.1
    at[3] += 9.0
    effect = np.ones_like(fitted.jacobian)
    effect[:, 2] = 0.001  # moves far, and matters least
    found = _moves(replace(fitted, log_values=at, covariance=wide, jacobian=effect))
    assert [m.name for m in found] == [fitted.names[1], fitted.names[2]]
    first = found[0]
    assert first.score == pytest.approx(-2.1)
    assert first.before == pytest.approx(math.exp(mean[1]))
    assert first.after == pytest.approx(math.exp(mean[1] - 2.1 * gained[1]))
    assert first.effect == pytest.approx(2.1 * gained[1])
    assert found[1].effect == pytest.approx(0.001 * 3.0 * gained[2])


def test_the_sentence_names_the_first_move_and_what_was_rejected(fitted):
    odd = replace(fitted, outliers=("r1", "r4"))
    assert _sentence((), 1.0, odd) == "no cost moved: the new rows are what the profile expects; r1, r4 rejected"
    assert not _sentence((), 1.0, fitted).endswith("rejected")
    one = Move(name="exit_s", before=1e-6, after=2e-6, score=4.0, effect=0.2)
    assert _sentence((one,), 1.0, fitted) == "exit_s moved most, from 1e-06 to 2e-06 (2.00 times)"
    told = _sentence((one, one, one), 10.0, odd)
    assert "and 2 more with it; what was known was loosened 10 times" in told and told.endswith("; r1, r4 rejected")


def test_the_first_factor_that_explains_the_rows_wins_by_more_than_its_worth(monkeypatch, rows, fitted):
    """The fits are stood in for by their evidence: what is tested is the choice."""

    def chosen(*evidence):
        scores = iter(evidence)
        scales = []
        monkeypatch.setattr(module, "fit", lambda given, profile: fitted)
        monkeypatch.setattr(module, "_loosened", lambda profile, scale: scales.append(scale) or profile)
        monkeypatch.setattr(module, "_evidence", lambda found: next(scores))
        found = update(rows, PRIOR)
        assert isinstance(found, Update) and scales == [3.0, 10.0, 30.0]
        return found.loosened

    assert chosen(0.0, 2.9, 2.9, 2.9) == 1.0
    assert chosen(0.0, 3.1, 6.0, 5.0) == 3.0
    assert chosen(-50.0, -46.0, -42.0, -30.0) == 30.0
