"""Drift: new rows of a known machine say which cost moved, and a single odd row moves none."""

import pytest

from tests.calibrate.made import PRIOR, measured, scaled
from vmodel.calibrate.fit import fit
from vmodel.calibrate.profile_file import as_profile
from vmodel.calibrate.update import update
from vmodel.solve.ask import predict

pytestmark = pytest.mark.slow  # the README runs the command among the quick tests


@pytest.fixture(scope="module")
def known():
    rows = [r for seed in (1, 2, 3) for r in measured(seed=seed, noise=0.01)]
    return as_profile(fit(rows, PRIOR), "first")


def test_more_of_the_same_moves_nothing(known):
    found = update(measured(seed=9, noise=0.01), known)
    assert found.moved == () and found.loosened == 1
    assert "no cost moved" in found.because


def test_a_copy_that_became_slower_is_what_moved(known):
    slower = {"worker_copy_bytes_s": known.values["worker_copy_bytes_s"].value / 2}
    found = update(measured(known, seed=9, noise=0.01, costs=slower), known)
    assert found.moved
    first = found.moved[0]
    assert first.name in ("worker_copy_bytes_s", "receive_buffer_s")  # both are per byte, at the same worker
    assert (first.after < first.before) == (first.name == "worker_copy_bytes_s")
    assert first.name in found.because


def test_one_odd_row_is_rejected_and_moves_nothing(known):
    found = update(scaled(measured(seed=9, noise=0.01), 5.0, {2}), known)
    assert found.fit.outliers == ("r2",)
    assert "r2" in found.because
    assert all(abs(m.after / m.before - 1) < 0.3 for m in found.moved)


def test_an_updated_profile_remembers_both(known):
    slower = {"worker_copy_bytes_s": known.values["worker_copy_bytes_s"].value / 2}
    rows = measured(known, seed=9, noise=0.01, costs=slower)
    after = as_profile(update(rows, known).fit, "second")
    asked = dict(topology="host-vm", workload="stream", direction="to-vm", size=65536)
    old, new = (predict("virtio-vhost", profile=p, **asked).throughput_bps for p in (known, after))
    truth = predict("virtio-vhost", profile=known, **asked, **slower).throughput_bps
    assert abs(new / truth - 1) < 0.5 * abs(old / truth - 1)
    kind = "virtio-vhost/stream"
    assert after.seen[kind].rows == known.seen[kind].rows + 5
