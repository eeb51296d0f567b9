"""Rows as questions of the model: every metric is what `predict` says, every slope what a small step of a cost does."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.calibrate.made import row
from vmodel.calibrate.belief import belief
from vmodel.calibrate.design import SCALAR_KNOBS, design, evaluate, moved_by, question
from vmodel.library.profile import profile, value_of
from vmodel.solve.ask import predict

GENERIC = profile("generic")
STREAM = {"workload": "stream", "direction": "to-vm"}
ROWS = [
    row(0, 1.0, size=64),
    row(1, 1.0, size=4096, metric="transactions_per_s"),
    row(2, 1.0, size=1448, metric="throughput_mbps", **STREAM),
    row(3, 1.0, size=65536, metric="throughput_mbps", **STREAM),
    row(4, 1.0, size=65536, metric="cpu_cores", **STREAM),
    row(5, 1.0, size=64, path="virtio-user", workload="packets", direction="from-vm", metric="rate_pps", batch=1),
    row(6, 1.0, size=64, path="virtio-user", workload="packets", direction="from-vm", metric="rate_pps", batch=32),
    row(7, 1.0, size=65536, path="vsock", metric="rate_pps", **STREAM),
    row(8, 1.0, size=1024, path="vf", topology="cross-host-vm", rx_usecs=10),
    row(9, 1.0, size=2048, path="vf", topology="cross-host-vm", rx_usecs=10),
    row(10, 1.0, size=1024, path="vf", topology="cross-host-vm", rx_usecs=50),
    row(11, 1.0, size=512),
]


def answer(r, **costs):
    """A row's figure by the public way."""
    found = predict(
        r.path, topology=r.topology, workload=r.workload, direction=r.direction or None, profile=GENERIC,
        **{**r.knobs, **costs},
    )  # fmt: skip
    return {
        "latency_us": (found.latency_s or 0.0) * 1e6,
        "transactions_per_s": found.transactions_per_s,
        "throughput_mbps": found.throughput_bps / 1e6,
        "rate_pps": found.rate_pps,
        "cpu_cores": found.cpu_host + found.cpu_guest,
    }[r.metric]


def test_every_metric_is_what_predict_says_of_the_row():
    logs, jacobian = evaluate(design(ROWS, GENERIC), {}, (), len(ROWS))
    assert jacobian.shape == (len(ROWS), 0)
    for r, log in zip(ROWS, logs, strict=True):
        assert math.exp(log) == pytest.approx(answer(r), rel=1e-9), r.id


def test_every_slope_is_what_a_small_step_of_the_cost_does():
    groups = design(ROWS, GENERIC)
    names = moved_by(groups)
    values = {n: value_of(GENERIC, n).value for n in names}
    _, jacobian = evaluate(groups, {}, names, len(ROWS))
    chance, step = np.random.default_rng(4), 1e-4
    for _ in range(4):  # all costs at once, each by a step of its own
        along = chance.standard_normal(len(names))
        up, down = (
            evaluate(
                groups,
                {n: values[n] * math.exp(sign * step * a) for n, a in zip(names, along, strict=True)},
                names,
                len(ROWS),
            )[0]
            for sign in (1, -1)
        )
        np.testing.assert_allclose(jacobian @ along, (up - down) / (2 * step), atol=2e-5)
    idle = ~np.any(jacobian != 0, axis=0)
    assert idle.sum() < len(names) / 3  # what rows could depend on, most of them do depend on
    backwards = evaluate(groups, {}, names[::-1], len(ROWS))[1]
    np.testing.assert_array_equal(backwards[:, ::-1], jacobian)
    doubled = evaluate(groups, {"worker_wake_s": 2 * values["worker_wake_s"]}, names, len(ROWS))[0]
    assert math.exp(doubled[0]) == pytest.approx(answer(ROWS[0], worker_wake_s=2 * values["worker_wake_s"]))


def test_no_cost_outside_the_named_moves_a_row():
    groups = design(ROWS, GENERIC)
    others = sorted(set(GENERIC.values) - set(moved_by(groups)))
    changed = {n: 3 * value_of(GENERIC, n).value for n in others}
    still, _ = evaluate(groups, changed, (), len(ROWS))
    np.testing.assert_array_equal(still, evaluate(groups, {}, (), len(ROWS))[0])


def test_rows_share_a_group_by_structure_metric_and_scalar_settings():
    groups = [tuple(g.rows.tolist()) for g in design(ROWS, GENERIC)]
    assert groups == [(0, 11), (1,), (2, 3), (4,), (5, 6), (7,), (8, 9), (10,)]
    by_batch = design(ROWS, GENERIC)[4].scenario
    assert by_batch.knobs["batch"].tolist() == by_batch.knobs["descriptor_batch"].tolist() == [1.0, 32.0]
    assert "rx_usecs" in SCALAR_KNOBS
    for group in design(ROWS, GENERIC):
        assert group.scenario.knobs["size"].shape == (len(group.rows),)


def test_what_a_row_leaves_open_is_the_profiles_default():
    asked = question(replace(ROWS[8], topology=""), replace(GENERIC, defaults={**GENERIC.defaults, "mtu": 9000.0}))
    assert (asked.path, asked.topology, asked.knobs["mtu"]) == ("vf", "cross-host-vm", 9000.0)
    assert asked.knobs["rx_usecs"] == 10


def test_a_belief_is_the_covariance_of_the_fit_and_for_the_rest_errors_that_stand_alone():
    one, two, three = list(GENERIC.values)[:3] if len(GENERIC.values) > 2 else ("exit_s", "bridge_s", "copy_bytes_s")
    values = {n: replace(value_of(GENERIC, n), log_error=e) for n, e in ((one, 0.5), (two, 0.4), (three, 0.3))}
    known = replace(GENERIC, values=values, correlated=(two, one), covariance=((0.16,), (-0.07, 0.25)))
    found = belief(known, (one, three, two))
    assert found.names == (one, three, two)
    np.testing.assert_allclose(found.covariance, [[0.25, 0, -0.07], [0, 0.09, 0], [-0.07, 0, 0.16]])
    np.testing.assert_allclose(np.exp(found.mean), [values[one].value, values[three].value, values[two].value])
