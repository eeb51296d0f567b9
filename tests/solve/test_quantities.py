"""Every quantity that is asked for by name: for arrays what `predict` says of each, read and written as people do."""

import math

import numpy as np
import pytest
from scipy.stats import gamma, norm

from vmodel.config import scenario
from vmodel.errors import UnitError, UnknownName
from vmodel.library.profile import value_of
from vmodel.solve.ask import predict
from vmodel.solve.quantities import QUANTITIES, applies, elasticities, evaluated, quantity, ratio_log_sd, unit_quantile

ASKED = (
    ({"path": "vf"}, {"rx_usecs": (0.0, 10.0, 100.0), "size": (64.0, 1024.0, 9000.0)}),
    ({"path": "virtio-vhost", "topology": "host-vm"}, {"size": (64.0, 1448.0, 65536.0)}),
    ({"path": "virtio-vhost", "topology": "host-vm", "workload": "stream"}, {"size": (64.0, 1448.0, 65536.0)}),
    (
        {"path": "virtio-user", "topology": "host-vm", "workload": "packets", "load": 500_000},
        {"batch": (1.0, 32.0), "size": (64.0, 1500.0)},
    ),
)


@pytest.mark.parametrize(("settings", "knobs"), ASKED, ids=["vf", "trips", "stream", "frames"])
def test_arrays_of_every_quantity_are_what_predict_says_of_each(settings, knobs):
    s = scenario(profile="generic", **settings)
    names = [name for name, q in QUANTITIES.items() if applies(q, s)]
    columns = evaluated(s, {k: np.array(v) for k, v in knobs.items()}, names)
    count = len(next(iter(knobs.values())))
    for i in range(count):
        answer = predict(profile="generic", **settings, **{k: v[i] for k, v in knobs.items()})
        for name in names:
            expected = QUANTITIES[name].of(answer)
            assert columns[name].shape == (count,), name
            assert columns[name][i] == pytest.approx(expected, rel=2e-4 if "load" in settings else 2e-6), (name, i)


def test_quantities_are_the_fields_of_an_answer_that_their_names_say():
    answer = predict("virtio-vhost", topology="host-vm", workload="rr", profile="generic")
    fields = {
        "mean": answer.latency_s, "p50": answer.percentiles_s[0.5], "p90": answer.percentiles_s[0.9],
        "p99": answer.percentiles_s[0.99], "p999": answer.percentiles_s[0.999], "p9999": answer.percentiles_s[0.9999],
        "throughput": answer.throughput_bps, "rate": answer.rate_pps, "transactions": answer.transactions_per_s,
        "interrupts": answer.interrupts_per_s, "host_cpu": answer.cpu_host, "guest_cpu": answer.cpu_guest,
        "cpu": answer.cpu_host + answer.cpu_guest, "busy": max(answer.busy.values()), "loss": answer.loss,
    }  # fmt: skip
    assert {name: q.of(answer) for name, q in QUANTITIES.items()} == fields
    higher = {"throughput", "rate", "transactions"}
    assert {name for name, q in QUANTITIES.items() if not q.lower_is_better} == higher


def test_only_round_trips_have_transactions():
    stream, trips = (scenario(path="vf", profile="generic", workload=w) for w in ("stream", "rr"))
    assert applies(quantity("transactions"), trips) and not applies(quantity("transactions"), stream)
    assert applies(quantity("mean"), stream)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("host_cpu", "0.8", 0.8), ("cpu", " 2 cores", 2.0), ("guest_cpu", "1core", 1.0), ("busy", "80%", 0.8),
        ("busy", "0.25", 0.25), ("loss", " 1.5 % ", 0.015), ("interrupts", "8k/s", 8e3), ("transactions", "12k", 12e3),
        ("interrupts", "2M/s", 2e6), ("mean", "10us", 1e-5), ("throughput", "2Gbit/s", 2e9),
    ],
)  # fmt: skip
def test_bounds_are_read_as_people_write_them(name, text, value):
    assert quantity(name).read(text) == pytest.approx(value)


@pytest.mark.parametrize(("name", "text"), [("cpu", "two"), ("cpu", ""), ("busy", "%"), ("interrupts", "k/s")])
def test_what_is_no_number_is_said_with_an_example(name, text):
    with pytest.raises(UnitError, match="a number"):
        quantity(name).read(text)


def test_names_are_found_as_people_write_them():
    assert [quantity(n).name for n in (" P99.9 ", "host-cpu", "latency", "PPS")] == ["p999", "host_cpu", "mean", "rate"]
    with pytest.raises(UnknownName, match="latency"):
        quantity("latencies")


def test_what_was_not_measured_is_a_dash_and_cores_have_three_digits():
    assert (quantity("cpu").write(None), quantity("cpu").write(1.23456)) == ("-", "1.23 cores")


@pytest.mark.parametrize("share", [0.01, 0.5, 0.9, 0.999])
def test_the_quantile_of_a_gamma_law_is_that_of_scipy(share):
    shapes = np.geomspace(0.06, 9e3, 97)
    expected = gamma.ppf(share, shapes) / shapes
    np.testing.assert_allclose(unit_quantile(shapes, share), expected, rtol=3e-7)
    large = np.array([1.1e4, 1e6])
    np.testing.assert_allclose(unit_quantile(large, share), gamma.ppf(share, large) / large, rtol=1e-6)
    assert unit_quantile(np.array([1e14]), share)[0] == pytest.approx(1 + norm.ppf(share) * 1e-7, abs=1e-9)


def test_elasticities_by_steps_are_the_derivatives_of_predict():
    s = scenario(path="virtio-vhost", topology="host-vm", profile="generic", size=4096)
    answer = predict("virtio-vhost", topology="host-vm", profile="generic", size=4096)
    found = elasticities(s, "mean")
    for name, exact in answer.elasticities.items():
        assert found[name] == pytest.approx(exact, abs=2e-6), name
    assert sum(abs(e) for e in found.values()) == pytest.approx(
        sum(abs(e) for e in answer.elasticities.values()), rel=0.05
    )
    cost = max(answer.elasticities, key=lambda n: answer.elasticities[n])
    up, down = (
        predict(
            "virtio-vhost", topology="host-vm", profile="generic", size=4096,
            **{cost: value_of(s.profile, cost).value * factor},
        ).cpu_guest
        for factor in (1.01, 1 / 1.01)
    )  # fmt: skip
    assert elasticities(s, "guest_cpu")[cost] == pytest.approx(math.log(up / down) / (2 * math.log(1.01)), abs=1e-4)
    assert elasticities(s, "loss") == {}  # of a figure that is zero


def test_the_timer_of_a_driver_is_among_the_costs():
    s = scenario(path="vf", profile="generic")
    answer = predict("vf", profile="generic")
    assert set(answer.elasticities) <= set(elasticities(s, "mean"))


def test_the_error_of_a_ratio_is_that_of_the_costs_in_which_two_settings_differ():
    one, other = (
        scenario(path="virtio-vhost", topology="host-vm", profile="generic", size=size) for size in (64, 65536)
    )
    assert ratio_log_sd(one, one, "mean") == 0.0
    known = one.profile
    mine, theirs = elasticities(one, "mean"), elasticities(other, "mean")
    slope = {n: mine.get(n, 0.0) - theirs.get(n, 0.0) for n in {*mine, *theirs}}
    assert len(slope) > 10 and not set(slope) & set(known.correlated)  # of this profile each error stands alone
    variance = sum((d * value_of(known, n).log_error) ** 2 for n, d in slope.items())
    found = ratio_log_sd(one, other, "mean")
    assert found == pytest.approx(math.sqrt(variance), rel=1e-6)
    assert ratio_log_sd(other, one, "mean") == pytest.approx(found)
