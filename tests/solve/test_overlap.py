"""Requests that overlap: closed loops of several, and an open rate; frames of several sizes; energy."""

import itertools
import math
from dataclasses import replace

import pytest

from vmodel.config import scenario
from vmodel.errors import ConfigError
from vmodel.library import tables
from vmodel.report.record import as_json
from vmodel.solve.ask import predict
from vmodel.solve.solver import predict as answer

PATHS = tables.path_names()
MANY = (1, 2, 4, 8, 16, 64, 256)
UNMODERATED = {"rx_usecs": 0, "pf_rx_usecs": 0, "device": "igbvf", "profile": "generic"}


def loop(path, n, **more):
    return predict(path, workload="rr", in_flight=n, **more)


@pytest.mark.parametrize("path", PATHS)
def test_a_closed_loop_keeps_littles_law_and_its_bounds(path):
    for n in MANY:
        found = loop(path, n)
        assert found.transactions_per_s * found.latency_s == pytest.approx(n)
        assert found.latency_s >= found.lower_bound_s
        assert found.throughput_bps <= found.throughput_bound_bps * (1 + 1e-9)
        assert sum(s.seconds for s in found.shares) == pytest.approx(found.latency_s)
        assert all(s.seconds >= -1e-12 for s in found.shares), found.regime
        assert all(0 <= x <= 1 + 1e-9 for x in found.busy.values())
        percentiles = list(found.percentiles_s.values())
        assert percentiles == sorted(percentiles)


@pytest.mark.parametrize("path", PATHS)
def test_more_requests_in_flight_carry_more_up_to_the_slowest_resource(path):
    found = [loop(path, n).transactions_per_s for n in MANY]
    assert all(b >= a * 0.97 for a, b in itertools.pairwise(found)), found
    last = loop(path, 2048)
    worst = max(x for k, x in last.busy.items() if not k.startswith("memory bus"))
    assert worst == pytest.approx(1.0, rel=0.15), last.busy


@pytest.mark.parametrize("path", PATHS)
def test_a_rare_request_takes_as_long_as_one_by_itself(path):
    rare = predict(path, workload="rr", load="1e-3rps", **UNMODERATED)
    assert rare.latency_s == pytest.approx(loop(path, 1, **UNMODERATED).latency_s, rel=0.02)
    assert rare.transactions_per_s == pytest.approx(1e-3)


@pytest.mark.parametrize("path", PATHS)
def test_requests_at_a_rate_have_loss_and_percentiles_at_any_load(path):
    capacity = predict(path, workload="rr", load="1rps").throughput_bound_bps / 8 / scenario(path=path).knobs["size"]
    last = 0.0
    for share in (0.1, 0.5, 0.9, 1.2, 20):
        found = predict(path, workload="rr", load=f"{share * capacity:.9g}rps")
        assert math.isfinite(found.latency_s) and found.transactions_per_s <= capacity * (1 + 1e-6)
        assert found.loss >= last - 1e-9 and found.saturated == (share > 1)
        last = found.loss
    assert last == pytest.approx(1 - 1 / 20, abs=0.02)


def test_a_request_rate_reads_as_it_is_written():
    found = predict("vf", load="20krps")
    assert found.transactions_per_s == pytest.approx(20e3)
    assert predict("vf", load="20kpps").latency_s == found.latency_s
    with pytest.raises(ConfigError, match="krps"):
        predict("vf", load="20krpm")


def test_a_throttle_gathers_all_that_are_in_flight():
    found = loop("native-vf", 4, profile="e5620-82576-2011")
    assert found.latency_s == pytest.approx(488e-6, rel=0.01) and "locked" in found.regime


def test_a_mix_of_sizes_has_the_mean_of_the_costs_and_waits_longer():
    asked = {"workload": "packets", "load": "300kpps"}
    mixed = predict("dpdk", imix=True, **asked)
    sizes = [(predict("dpdk", size=size, **asked), share) for size, share in tables.IMIX]
    wire = next(k for k in mixed.demands_s if k.startswith("wire"))
    assert mixed.demands_s[wire] == pytest.approx(sum(p * one.demands_s[wire] for one, p in sizes))
    assert mixed.throughput_bps == pytest.approx(sum(p * one.throughput_bps for one, p in sizes))
    mean = predict("dpdk", size=sum(x * share for x, share in tables.IMIX), workload="packets", load="2Mpps")
    busy = predict("dpdk", imix=True, workload="packets", load="2Mpps")
    waits = [sum(s.seconds for s in p.shares if s.stage == "queueing") for p in (mean, busy)]
    assert waits[1] > waits[0]
    assert predict("dpdk", imix=True, size=64, **asked).latency_s == mixed.latency_s  # instead of one size


@pytest.mark.slow
@pytest.mark.parametrize("path", ["dpdk", "virtio-user", "vf"])
def test_a_simulated_mix_agrees(path):
    pytest.importorskip("simpy")
    from vmodel.simulate.network import network
    from vmodel.simulate.run import simulate

    capacity = predict(path, imix=True, workload="packets").messages_per_s
    asked = scenario(path=path, imix=True, workload="packets", load=f"{0.6 * capacity:.9g}pps")
    seen = simulate(network(asked), 20_000, 4)
    found = answer(asked)
    assert found.latency_s == pytest.approx(seen.mean_s.value, rel=0.15, abs=seen.mean_s.half_width)
    assert found.percentiles_s[0.99] == pytest.approx(seen.p99_s.value, rel=0.2, abs=seen.p99_s.half_width)


def test_energy_is_told_where_the_profile_knows_the_watts_of_a_core():
    asked = scenario(path="dpdk", workload="packets", load="1Mpps")
    assert as_json(answer(asked))["energy"] == {"watts": None, "uj_per_message": None}
    known = replace(asked, profile=replace(asked.profile, machine={**asked.profile.machine, "core_watts": 9.0}))
    found = answer(known)
    assert found.watts == pytest.approx(9.0 * (found.cpu_host + found.cpu_guest))
    assert as_json(found)["energy"]["uj_per_message"] == pytest.approx(found.watts / 1e6 * 1e6)
