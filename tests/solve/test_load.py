"""Offered load: limits give back the simple formulas, order in variability, arrays, the curve and its knees."""

import itertools
import math

import numpy as np
import pytest

from vmodel.config import scenario
from vmodel.library.moderation import devices
from vmodel.report.record import as_json
from vmodel.solve import queues, tandem
from vmodel.solve.ask import predict
from vmodel.solve.curve import load_curve
from vmodel.solve.stations import Offer, ring_queues
from vmodel.solve.tails import PERCENTILES

EXACT = 1e-9
SIMPLE = {"path": "virtio-user", "workload": "packets", "batch": 1, "interrupt_batch": 1, "ring_size": 100000}
PATHS = ("virtio-vhost", "virtio-user", "vhost-user", "vf", "vsock", "xen-pv", "emulated-e1000")
LOADS = (0.05, 0.3, 0.6, 0.8, 0.9, 0.95)


def capacity(**settings):
    return predict(**{"workload": "packets", **settings}).messages_per_s


def at(share, **settings):
    return predict(**{"workload": "packets", **settings}, load=share * capacity(**settings))


def queueing(answer):
    return {s.resource: s.seconds for s in answer.shares if s.stage == "queueing"}


@pytest.mark.parametrize("share", LOADS)
def test_the_first_station_is_mg1_where_nothing_is_batched_and_arrivals_are_random(share):
    answer = at(share, **SIMPLE)
    name, wait = next(iter(queueing(answer).items()))
    seconds = answer.demands_s[name]
    scv = 0.1  # one stage of the usual variability
    assert name == "host CPU"
    assert wait == pytest.approx(queues.mg1_wait(answer.messages_per_s, seconds, scv), rel=1e-6)


@pytest.mark.parametrize("share", LOADS)
@pytest.mark.parametrize("scv", [0.0, 0.5, 1.0, 4.0])
def test_waits_along_the_way_are_those_of_the_tandem(share, scv):
    stations = {f"r{i}": tandem.Station(service_s=s, scv=0.1 * i) for i, s in enumerate((0.4, 1.0, 0.7))}
    offer = Offer(load=None, bits=1.0, scv=scv)
    found = ring_queues(
        {k: s.service_s for k, s in stations.items()},
        {k: s.scv for k, s in stations.items()},
        {},
        share,
        offer,
        ring=10**6,
        trains_s={},
    )
    for q, passage in zip(found.values(), tandem.tandem(share, scv, list(stations.values())), strict=True):
        assert q.wait_s == pytest.approx(passage.wait_s, rel=2e-3, abs=1e-6)  # the ring is long, not endless
        assert q.loss < EXACT


@pytest.mark.parametrize("share", LOADS)
def test_a_burst_at_the_only_station_is_the_batch_arrival_formula(share):
    offer, service = Offer(load=None, bits=1.0, burst=8.0), 1.0
    (q,) = ring_queues({"r": service}, {"r": 0.5}, {}, share, offer, ring=10**6, trains_s={}).values()
    exact = (share * service**2 * 1.5 + (8 - 1) * service) / (2 * (1 - share))  # Chaudhry and Templeton 1983
    assert q.wait_s == pytest.approx(exact, rel=1e-4)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("share", LOADS)
def test_paced_waits_less_than_poisson_and_that_less_than_bursty(path, share):
    waits = [
        sum(queueing(at(share, path=path, arrival_scv=scv, burst=burst)).values())
        for scv, burst in ((0, 1), (0.5, 1), (1, 1), (4, 1), (4, 8), (4, 64))
    ]
    assert all(b >= a * (1 - EXACT) for a, b in itertools.pairwise(waits)), waits


@pytest.mark.parametrize("path", PATHS)
def test_irregular_arrivals_lose_more(path):
    for share in (0.9, 0.99, 1.01, 2):
        losses = [
            at(share, path=path, ring_size=64, arrival_scv=scv, burst=burst).loss
            for scv, burst in ((0, 1), (1, 1), (4, 1), (4, 16), (4, 256))
        ]
        assert all(b >= a * (1 - 1e-3) - EXACT for a, b in itertools.pairwise(losses)), (share, losses)
        assert losses[0] >= 1 - 1 / share - EXACT


@pytest.mark.parametrize("path", PATHS)
def test_everything_has_an_answer_at_any_load_and_irregularity(path):
    for share, scv, burst, ring in itertools.product((1e-9, 0.5, 1, 1.001, 1e4), (0, 1, 16), (1, 7, 65536), (1, 256)):
        answer = at(share, path=path, arrival_scv=scv, burst=burst, ring_size=ring)
        p = list(answer.percentiles_s.values())
        assert tuple(answer.percentiles_s) == PERCENTILES
        assert p == sorted(p) and p[0] > 0 and math.isfinite(p[-1]), (share, scv, burst, ring, p)
        assert answer.lower_bound_s <= answer.latency_s * (1 + EXACT) < math.inf
        assert 0 <= answer.loss <= 1 and 0 <= answer.ring_full <= 1
        assert 0 <= answer.ring_mean <= ring * (1 + EXACT)
        assert max(answer.busy.values()) <= 1 + 1e-6


@pytest.mark.parametrize("path", PATHS)
def test_littles_law_holds_at_the_bottleneck(path):
    for share in LOADS:
        answer = at(share, path=path, batch=1, interrupt_batch=1)
        mine = {k: answer.messages_per_s * (w + answer.demands_s[k]) for k, w in queueing(answer).items()}
        assert answer.ring_mean == pytest.approx(max(mine.values()), rel=1e-6)


def test_utilisation_is_linear_in_load_where_no_cost_is_shared():
    answers = [at(share, **SIMPLE) for share in LOADS]
    for name in (k for k, v in answers[0].demands_s.items() if v > 0):
        found = {round(a.demands_s[name] / answers[0].demands_s[name], 9) for a in answers}
        assert found == {1.0}


@pytest.mark.parametrize("path", PATHS)
def test_busy_shares_never_fall_with_load(path):
    answers = [at(share, path=path) for share in (*LOADS, 0.99)]
    for a, b in itertools.pairwise(answers):
        assert all(b.busy[k] >= v * (1 - 0.02) for k, v in a.busy.items())


@pytest.mark.parametrize("path", PATHS)
def test_answers_are_continuous_at_capacity(path):
    for settings in ({}, {"arrival_scv": 0}, {"arrival_scv": 4, "burst": 4}):
        below, above = (at(1 + d, path=path, **settings) for d in (-1e-7, 1e-7))
        assert below.latency_s == pytest.approx(above.latency_s, rel=5e-3)
        assert below.loss == pytest.approx(above.loss, abs=1e-4)
        assert below.percentiles_s[0.99] == pytest.approx(above.percentiles_s[0.99], rel=5e-3)


def test_batches_and_notifications_follow_the_load():
    loads = (1e-6, *LOADS, 0.999, 1.5)
    batches = [at(share, path="virtio-user", batch=64).batch_taken for share in loads]
    assert batches[0] == pytest.approx(1, abs=1e-3) and batches[-1] == pytest.approx(64, rel=1e-3)
    assert batches == sorted(batches)
    slow = {"send_call_s": 5e-6}  # the sender is the slowest
    answers = [at(share, path="virtio-vhost", direction="from-vm", batch=64, **slow) for share in loads]
    kicks = [a.kicks_per_s / a.messages_per_s for a in answers]
    assert kicks[0] == pytest.approx(1, abs=1e-3) and kicks[-1] == pytest.approx(1 / 64, rel=1e-3)
    assert all(b <= a + EXACT for a, b in itertools.pairwise(kicks))
    assert "kicks per frame" in answers[1].regime


def test_an_adaptive_timer_grows_steadily_from_its_quiet_to_its_longest_tier():
    asked = {"path": "vf", "device": "mlx5", "adaptive_rx": True, "profile": "generic"}
    answers = [at(share, **asked) for share in np.linspace(0.01, 0.99, 50)]
    waits = [sum(s.seconds for s in a.shares if s.stage == "moderation_wait") for a in answers]
    assert max(waits) <= max(t.usecs for t in devices()["mlx5"].tiers) * 1e-6
    assert all(abs(b - a) < 0.3 * max(waits) for a, b in itertools.pairwise(waits))


@pytest.mark.parametrize("path", PATHS)
def test_arrays_answer_as_scalars_do(path):
    knobs = {
        "size": np.array([64.0, 256, 1024, 1500]),
        "arrival_scv": np.array([0.0, 1, 4, 16]),
        "burst": np.array([1.0, 2, 1, 32]),
        "batch": np.array([1.0, 4, 64, 16]),
    }
    found = predict(path, workload="packets", load=2e4, **knobs)
    for i in range(4):
        one = predict(path, workload="packets", load=2e4, **{k: float(v[i]) for k, v in knobs.items()})
        assert found["latency_s"][i] == pytest.approx(one.latency_s, rel=1e-7)
        assert found["interrupts_per_s"][i] == pytest.approx(one.interrupts_per_s, rel=1e-7)
        assert found["cpu_host"][i] == pytest.approx(one.cpu_host, rel=1e-7)


@pytest.mark.parametrize("path", PATHS)
def test_the_curve_agrees_with_single_predictions(path):
    c = load_curve(scenario(path=path, workload="packets"), 400)
    for i in range(0, 400, 57):
        one = predict(path, workload="packets", load=float(c.offered_per_s[i]))
        assert c.mean_s[i] == pytest.approx(one.latency_s, rel=0.02)
        assert c.p99_s[i] == pytest.approx(one.percentiles_s[0.99], rel=0.02)
        assert c.p999_s[i] == pytest.approx(one.percentiles_s[0.999], rel=0.02)
        assert c.carried_per_s[i] == pytest.approx(one.messages_per_s, rel=0.005)
        assert c.cpu_host[i] == pytest.approx(one.cpu_host, rel=0.01, abs=1e-6)
    assert 0 < c.power_knee_per_s <= c.capacity_per_s * 1.01
    assert 0 < c.knee_per_s <= c.capacity_per_s
    assert all(np.isfinite(getattr(c, name)).all() for name in ("mean_s", "p50_s", "p99_s", "p999_s", "loss"))


def test_the_power_knee_of_one_station_is_kleinrocks():
    loads = np.linspace(0.001, 0.999, 9999)
    power = loads / (1 + queues.mg1_wait(loads, 1.0, 0.4))
    assert loads[power.argmax()] == pytest.approx(queues.power_knee(0.4), abs=1e-3)


def test_the_record_holds_what_offered_load_adds():
    record = as_json(at(0.5, path="virtio-vhost", direction="from-vm", batch=64))
    assert record["latency_us"]["p999"] < record["latency_us"]["p9999"] < record["latency_us"]["p99999"]
    assert "three moments" in record["latency_us"]["percentile_method"]
    assert record["kicks_per_s"] > 0 and record["batch_taken"] > 1
    assert set(record["ring"]) == {"mean", "full", "p50", "p90", "p99", "p999"} and record["cores_per_mpps"] > 0
