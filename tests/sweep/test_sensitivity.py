"""Global sensitivity: shares of a known function, the command, and its refusals."""

import json
import math

import numpy as np
import pytest

import vmodel
from vmodel.cli.main import main
from vmodel.report.sensitive import sensitivity_figure, sensitivity_lines
from vmodel.sweep.axis import read_axis
from vmodel.sweep.sensitivity import sobol


@pytest.fixture(scope="module")
def found():
    return sobol(vmodel.scenario(path="vf", rx_usecs=10), [], 512)


def test_shares_of_small_errors_are_the_squares_of_elasticity_times_error():
    """For a smooth answer and small errors the variance is a sum of squares (Saltelli2010 reduces to it)."""
    base = vmodel.predict("vsock", workload="stream", size=4096)
    # every cost but two is given, so that two small known errors are left
    profile = base.scenario.profile
    two = sorted(
        base.elasticities,
        key=lambda n: -abs(base.elasticities[n] * profile.values[n].log_error if n in profile.values else 0),
    )[:2]
    given = {n: profile.values[n].value for n in profile.values if n not in two}
    from vmodel.library import tables
    from vmodel.library.profile import value_of

    given |= {n: value_of(profile, n).value for n in tables.priors() if n not in two and n not in given}
    s = vmodel.scenario(path="vsock", workload="stream", size=4096, **given)
    p = vmodel.predict("vsock", workload="stream", size=4096, **given)
    parts = {n: (p.elasticities[n] * value_of(profile, n).log_error) ** 2 for n in two}
    result = sobol(s, [], 1024)
    assert {share.name for share in result.shares} == set(two)
    for share in result.shares:
        assert share.first == pytest.approx(parts[share.name] / sum(parts.values()), abs=0.08)
    assert result.log_sd == pytest.approx(math.sqrt(sum(parts.values())), rel=0.1)


def test_totals_are_not_below_first_orders_and_come_with_intervals(found):
    for share in found.shares[:4]:
        assert share.total >= share.first - 0.1
        assert share.total_interval[0] <= share.total <= share.total_interval[1]
    assert sum(share.first for share in found.shares) == pytest.approx(1.0, abs=0.1)
    totals = [share.total for share in found.shares]
    assert totals == sorted(totals, reverse=True)


def test_a_varied_setting_takes_its_share():
    s = vmodel.scenario(path="virtio-vhost", workload="stream")
    found = sobol(s, [read_axis("size=64..64KiB/2")], 256)
    assert found.shares[0].name == "size" and found.shares[0].kind == "setting" and found.shares[0].total > 0.5


def test_the_figure_shows_total_and_alone_with_intervals(found):
    axes = sensitivity_figure(found).axes[0]
    assert axes.get_xlabel() == "share of the variance of the latency [%]"
    assert [t.get_text() for t in axes.get_legend().get_texts()] == ["total", "alone"]
    bars = [b for c in axes.containers if hasattr(c, "patches") for b in c.patches]
    assert bars[0].get_width() == pytest.approx(found.shares[0].total * 100)
    assert len({b.get_hatch() for b in bars}) == 2
    assert next(t.get_text() for t in axes.get_yticklabels()) == found.shares[0].name


def test_the_same_seed_gives_the_same_shares_and_lines_say_what_was_assumed(found):
    again = sobol(vmodel.scenario(path="vf", rx_usecs=10), [], 512)
    assert np.array_equal([x.total for x in again.shares], [x.total for x in found.shares])
    assert any("drawn one by one" in line for line in sensitivity_lines(found))


def test_from_the_command_line(capsys, tmp_path):
    assert main(["sweep", "--path", "vf", "--sobol", "64", "--vary", "rx_usecs=0..300/2", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["varied"] == ["rx_usecs"] and record["evaluations"] == 64 * (len(record["shares"]) + 2)
    assert main(["sweep", "--path", "vf", "--sobol", "64", "--plot", str(tmp_path / "a.svg")]) == 0
    assert b"<svg" in (tmp_path / "a.svg").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--sobol", "100"], "a power of two"),
        (["--sobol", "64", "--vary", "path=vf,pf"], "with --sobol"),
        (["--sobol", "64", "--vary", "in_flight=1,2"], "with --sobol"),
        (["--sobol", "64", "--vary", "size=64"], "a range"),
        (["--sobol", "64", "-o", "a.csv"], "with --sobol"),
    ],
)
def test_what_has_no_shares_is_refused(arguments, part, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = [] if "path=vf,pf" in arguments else ["--path", "vf"]
    assert main(["sweep", *path, *arguments]) == 2
    err = capsys.readouterr().err
    assert part in err and len(err.splitlines()) == 1
