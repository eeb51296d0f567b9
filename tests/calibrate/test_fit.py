"""The fit: it finds what it should, says what it cannot know, and gives the same bytes each time."""

import math
from dataclasses import replace

import numpy as np
import pytest

from vmodel.calibrate.design import design, evaluate
from vmodel.calibrate.evidence import PACKAGE, load
from vmodel.calibrate.fit import fit
from vmodel.calibrate.outcome import OUTCOMES
from vmodel.calibrate.problem import problem
from vmodel.calibrate.profile_file import as_profile, tables_of, text_of
from vmodel.core.records import Observation
from vmodel.errors import FitError
from vmodel.library.profile import profile
from vmodel.solve.ask import predict

STUDIES = {study.name: study for study in load(public=True) if study.shipped}

QUICK = ("garzarella2019", "perezmartin2020")  # fitted by the quick tests too


def row(number, value, *, size, path="virtio-vhost", workload="rr", metric="latency_us", series="s"):
    return Observation(
        id=f"r{number}", path=path, peer="", topology="host-vm", workload=workload, direction="to-vm", metric=metric,
        value=value, sd=None, knobs={"size": float(size)}, session="", series=series, profile="", source="",
        excluded="", note="",
    )  # fmt: skip


@pytest.fixture(
    scope="module", params=[n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in sorted(STUDIES)]
)
def fitted(request):
    study = STUDIES[request.param]
    return study, fit(study.compared, study.seed)


@pytest.mark.slow
def test_every_shipped_profile_refits_to_the_same_bytes(fitted):
    study, f = fitted
    shipped = (PACKAGE / "library" / "profiles" / f"{study.seed.name}.toml").read_text(encoding="utf-8")
    assert text_of(tables_of(f, study.name)) == shipped


def test_no_parameter_of_a_shipped_profile_is_at_its_bound(fitted):
    _, f = fitted
    assert f.outcome == "ok"
    assert [e.name for e in f.estimates if e.at_bound] == []


def test_each_document_has_two_rows_for_each_effective_parameter(fitted):
    study, f = fitted
    assert f.effective <= len(study.compared) / 2


def test_the_jacobian_is_exact(fitted):
    study, f = fitted
    p = problem(study.compared, study.seed)
    at = f.log_values + 0.01  # off the optimum, where kinks of max() are likely
    names, n = p.names, len(p.rows)

    def logs(theta):
        return evaluate(p.groups, dict(zip(names, np.exp(theta).tolist(), strict=True)), names, n)

    exact = logs(at)[1]
    step = 1e-6
    for j in range(0, len(names), 3):
        up, down = at.copy(), at.copy()
        up[j] += step
        down[j] -= step
        numeric = (logs(up)[0] - logs(down)[0]) / (2 * step)
        np.testing.assert_allclose(exact[:, j], numeric, atol=1e-4)


def test_a_written_profile_predicts_what_the_fit_predicted(fitted):
    study, f = fitted
    known = as_profile(f, study.name)
    groups = design(study.compared, known)
    logs, _ = evaluate(groups, {}, f.names, len(study.compared))
    np.testing.assert_allclose(np.exp(logs), f.predicted, rtol=2e-3)


def test_costs_behind_noisy_measurements_are_found_again():
    truth = {"worker_wake_s": 2.1e-5, "vcpu_wake_s": 3.3e-5, "cold_copy_bytes_s": 1.2e9}
    noise = np.random.default_rng(1)
    sizes = [64, 256, 1024, 4096, 16384, 65536] * 4
    rows = []
    for i, size in enumerate(sizes):
        answer = predict("virtio-vhost", topology="host-vm", size=size, profile="generic", **truth)
        rows.append(row(i, answer.latency_s * 1e6 * math.exp(0.01 * noise.standard_normal()), size=size))
    f = fit(rows, profile("generic"))
    np.testing.assert_allclose(f.predicted, [r.value for r in rows], rtol=0.04)
    found = {e.name: e for e in f.estimates}
    copy = found["cold_copy_bytes_s"]
    assert abs(math.log(copy.value / truth["cold_copy_bytes_s"])) < 3 * copy.log_error
    both = found["worker_wake_s"]
    assert any(name == "vcpu_wake_s" for name, _ in both.partners) or both.learned < 0.9


def test_one_row_moves_the_prediction_and_leaves_the_rest_to_the_prior():
    asked = profile("generic")
    before = predict("virtio-vhost", topology="host-vm", size=1024, profile=asked).latency_s * 1e6
    f = fit([row(0, before * 2, size=1024)], asked)
    assert f.predicted[0] == pytest.approx(before * 2, rel=0.15)
    assert f.effective < 1.01
    assert sum(e.learned < 0.05 for e in f.estimates) > len(f.estimates) / 2


def test_an_outlier_loses_its_weight():
    rows = [row(i, 100.0 + i % 3, size=1024 + i) for i in range(12)]
    spoiled = [*rows, row(99, 400.0, size=1100)]
    f = fit(spoiled, profile("generic"))
    assert f.weights[-1] < 0.1
    assert min(f.weights[:-1]) > 0.5
    assert f.predicted[0] == pytest.approx(101, rel=0.05)


def test_contradictory_rows_end_as_noise_not_as_a_crash():
    rows = [row(i, 50.0 if i % 2 else 200.0, size=1024) for i in range(10)]
    f = fit(rows, profile("generic"))
    assert max(f.noise.values()) > 0.05
    assert np.all(np.isfinite(f.predicted))


def test_nothing_to_fit_is_said_in_one_line():
    with pytest.raises(FitError, match="no row to fit"):
        fit([], profile("generic"))


def test_the_fit_does_not_depend_on_the_order_of_rows():
    study = STUDIES["perezmartin2020"]
    f = fit(study.compared, study.seed)
    g = fit(tuple(reversed(study.compared)), study.seed)
    np.testing.assert_allclose(f.log_values, g.log_values, atol=0.02)


def test_more_noise_widens_the_error_of_a_parameter():
    rows = [row(i, 100.0 * (1 + 0.2 * (i % 2)), size=1024 * (1 + i)) for i in range(10)]
    calm = [replace(r, value=100.0 + i) for i, r in enumerate(rows)]
    wide, narrow = fit(rows, profile("generic")), fit(calm, profile("generic"))
    assert np.trace(wide.covariance) >= np.trace(narrow.covariance)


def test_rows_in_the_wrong_unit_are_outside_the_domain_and_named():
    rows = [row(i, 0.1 * (1 + 0.01 * i), size=64 << (i % 8)) for i in range(12)]  # milliseconds, not microseconds
    f = fit(rows, profile("generic"))
    assert f.outcome == "outside the model's domain"
    assert "r0" in f.because and "unit" in f.because


def test_an_outcome_is_one_of_a_closed_set_with_one_sentence(fitted):
    _, f = fitted
    assert f.outcome in OUTCOMES
    assert f.because and "\n" not in f.because


def test_a_single_row_on_a_path_of_many_costs_identifies_little():
    f = fit([row(0, 61.0, size=1024)], profile("generic"))
    assert f.outcome in ("not identified", "ok")
    assert np.all(np.isfinite(f.covariance))
