"""Closed forms against event simulations: mean within 2 %, p99 5 %, loss 10 % above 1e-4, or as stated."""

import heapq

import numpy as np
import pytest

from tests.simulation import events
from vmodel.solve.batch import batch_mean, batch_wait, capped_batch_mean, capped_batch_wait, kick_share
from vmodel.solve.moderation_law import (
    capped_holdoff_batch,
    capped_holdoff_wait,
    holdoff_percentile,
    holdoff_time,
    throttle_batch,
    throttle_percentile,
    throttle_time,
)
from vmodel.solve.mva import exact_mva
from vmodel.solve.queues import ggc_wait, mg1_wait, mg1ps_response, two_moment_wait
from vmodel.solve.rings import mg1k, ring_percentile
from vmodel.solve.spread import largest_share
from vmodel.solve.tails import add_times, mg1_time, path_percentile
from vmodel.solve.tandem import Station, tandem, tandem_percentile
from vmodel.solve.wakeup import setup_time

pytestmark = pytest.mark.slow
SCVS = (0.0, 0.25, 1.0, 4.0)


@pytest.fixture
def random(request):
    """A generator whose seed depends on the name of the test only."""
    return np.random.default_rng([ord(c) for c in request.node.name])


@pytest.mark.parametrize("scv", SCVS)
@pytest.mark.parametrize("rho, customers", [(0.05, 4e6), (0.3, 4e6), (0.6, 4e6), (0.9, 20e6)])
def test_poisson_queue_mean_and_p99(random, rho, scv, customers):
    wait, responses = events.one_server(random, 1 / rho, 1.0, 1.0, scv, customers=int(customers))
    assert mg1_wait(rho, 1.0, scv) == pytest.approx(wait, rel=0.02)
    assert path_percentile(rho, [(1.0, scv)], 0.0, 0.99) == pytest.approx(np.quantile(responses, 0.99), rel=0.05)


@pytest.mark.parametrize("scv", [0.0, 1.0])
def test_poisson_queue_close_to_saturation(random, scv):
    wait, responses = events.one_server(random, 1 / 0.98, 1.0, 1.0, scv, customers=200_000_000)
    assert mg1_wait(0.98, 1.0, scv) == pytest.approx(wait, rel=0.02)
    assert path_percentile(0.98, [(1.0, scv)], 0.0, 0.99) == pytest.approx(np.quantile(responses, 0.99), rel=0.05)


@pytest.mark.parametrize("scv_gap", [0.25, 4.0])
@pytest.mark.parametrize("scv", [0.5, 1.0, 4.0])
def test_general_arrivals_stay_within_the_stated_error(random, scv_gap, scv):
    for rho, stated in ((0.6, 0.31), (0.9, 0.09)):
        wait, _ = events.one_server(random, 1 / rho, scv_gap, 1.0, scv, customers=8_000_000)
        assert two_moment_wait(rho, 1.0, scv_gap, scv) == pytest.approx(wait, rel=stated)


@pytest.mark.parametrize("servers", [2, 16])
@pytest.mark.parametrize("scv, stated", [(0.0, 0.1), (1.0, 0.02), (4.0, 0.1)])
def test_several_servers_stay_within_the_stated_error(random, servers, scv, stated):
    wait = events.several_servers(random, 0.8 * servers, 1.0, scv, servers, customers=2_000_000)
    assert ggc_wait(0.8 * servers, 1.0, servers, 1.0, scv) == pytest.approx(wait, rel=stated)


@pytest.mark.parametrize("scv", SCVS)
@pytest.mark.parametrize("places, rho", [(4, 0.3), (16, 0.6), (16, 0.9), (32, 0.98), (32, 1.0), (64, 1.5)])
def test_ring_loss_mean_and_p99(random, places, rho, scv):
    customers = 2_000_000 if places == 32 else 500_000
    loss, responses = events.ring(random, rho, 1.0, scv, places, customers=customers)
    ring = mg1k(rho, 1.0, scv, places)
    if ring.loss * customers > 1500:  # enough of them to be counted to a few per cent
        assert ring.loss == pytest.approx(loss, rel=0.1)
    assert ring.response_s == pytest.approx(responses.mean(), rel=0.02 if scv < 4 else 0.04)
    p99 = ring_percentile(rho, 1.0, scv, places, 0.99)
    assert p99 == pytest.approx(np.quantile(responses, 0.99), rel=0.05 if scv < 4 else 0.12)


@pytest.mark.parametrize("scv", SCVS)
@pytest.mark.parametrize(
    "services, mean, p99",
    [((0.5, 0.7, 0.9, 0.6), 0.06, 0.15), ((0.3, 0.6, 0.9), 0.06, 0.1), ((0.8, 0.8, 0.8), 0.15, 0.21)],
)
def test_a_row_of_queues_has_the_predicted_mean_and_p99(random, services, mean, p99, scv):
    responses = events.tandem(random, 1.0, services, [scv] * len(services), 8_000_000)
    stations = [Station(service_s=s, scv=scv) for s in services]
    predicted = sum(passage.response_s for passage in tandem(1.0, 1.0, stations))
    assert predicted == pytest.approx(responses.mean(), rel=0.03 if scv == 1 else mean)
    tail = tandem_percentile(1.0, stations, 0.0, 0.99)
    assert tail == pytest.approx(np.quantile(responses, 0.99), rel=0.05 if scv == 1 else p99)


@pytest.mark.parametrize("fixed, each", [(1.0, 0.0), (1.0, 0.1), (1.0, 1.0), (0.1, 1.0)])
@pytest.mark.parametrize("load", [0.05, 0.3, 0.6, 0.9])
def test_batch_worker(random, fixed, each, load):
    lam = load / (each + fixed / 16)
    packets = {0.05: 200_000, 0.3: 200_000, 0.6: 500_000, 0.9: 1_000_000}[load]
    size, wait, kicks = events.batches(random, lam, fixed, each, 10**9, customers=packets)
    assert batch_mean(lam, fixed, each) == pytest.approx(size, rel=0.02)
    assert batch_wait(lam, fixed, each) == pytest.approx(wait, rel=0.02)
    assert kick_share(lam, fixed, each) == pytest.approx(kicks, rel=0.05, abs=1e-3)
    size, wait, _ = events.batches(random, lam, fixed, each, 16, customers=packets)
    assert capped_batch_mean(lam, fixed, each, 16.0) == pytest.approx(size, rel=0.02)
    assert capped_batch_wait(lam, fixed, each, 16.0) == pytest.approx(wait, rel=0.17 if each <= fixed else 0.24)


@pytest.mark.parametrize("scv", SCVS)
@pytest.mark.parametrize("rho", [0.05, 0.5, 0.8])
@pytest.mark.parametrize("setup, window", [(2.0, 0.0), (10.0, 0.5)])
def test_idle_wake_up_with_and_without_polling(random, rho, scv, setup, window):
    responses = events.set_up(random, rho, 1.0, scv, setup=setup, scv_setup=0.0, window=window, customers=2_000_000)
    whole = add_times([mg1_time(rho, 1.0, scv), setup_time(rho, setup, 0.0, window)])
    assert whole.mean_s == pytest.approx(responses.mean(), rel=0.02 if scv < 4 else 0.04)
    assert whole.variance_s2 == pytest.approx(responses.var(), rel=0.1)


@pytest.mark.parametrize("load", [0.1, 1.0, 10.0])
def test_throttle_and_holdoff(random, load):
    waits, batch = events.throttled(random, load, 1.0, 300_000)
    assert throttle_batch(load, 1.0) == pytest.approx(batch, rel=0.02)
    assert throttle_time(load, 1.0).mean_s == pytest.approx(waits.mean(), rel=0.02)
    assert throttle_time(load, 1.0).variance_s2 == pytest.approx(waits.var(), rel=0.02)
    assert throttle_percentile(load, 1.0, 0.99) == pytest.approx(np.quantile(waits, 0.99), rel=0.05)
    for frames in (2, 5, 16, 1000):
        waits, batch = events.held_off(random, load, 1.0, frames, 100_000)
        assert capped_holdoff_batch(load, 1.0, frames) == pytest.approx(batch, rel=0.02)
        assert capped_holdoff_wait(load, 1.0, frames) == pytest.approx(waits.mean(), rel=0.02)
    assert holdoff_time(load, 1.0).variance_s2 == pytest.approx(waits.var(), rel=0.03)
    assert holdoff_percentile(load, 1.0, 0.9) == pytest.approx(np.quantile(waits, 0.9), rel=0.02)


@pytest.mark.parametrize("customers", [1, 3, 20])
def test_closed_network(random, customers):
    demands, delay = (0.605, 2.1, 1.35), 15.0
    measured = events.closed(random, demands, delay, customers, 200_000)
    assert exact_mva(demands, delay, customers).throughput_pps == pytest.approx(measured, rel=0.02)


def test_hashed_flows(random):
    for flows, queues in ((8, 4), (25, 8), (64, 16), (1000, 8)):
        counts = random.multinomial(flows, [1 / queues] * queues, size=200_000).max(axis=1)
        assert largest_share(flows, queues) == pytest.approx(counts.mean() / flows, rel=2e-3)


def test_processor_sharing_does_not_see_the_size_distribution(random):
    rho = 0.7
    arrivals = np.cumsum(random.exponential(1 / rho, 300_000)).tolist()
    sizes = events.gamma_times(random, 1.0, 4.0, 300_000).tolist()
    served, now, active, total = 0.0, 0.0, [], 0.0  # served: work each present customer has got so far
    for arrival, size in zip(arrivals, sizes, strict=True):
        while active and now + (active[0][0] - served) * len(active) <= arrival:
            now += (active[0][0] - served) * len(active)
            served, came = heapq.heappop(active)
            total += now - came
        if active:
            served += (arrival - now) / len(active)
        now = arrival
        heapq.heappush(active, (served + size, arrival))
    assert mg1ps_response(rho, 1.0) == pytest.approx(total / (len(arrivals) - len(active)), rel=0.03)


def test_ciw_agrees():
    ciw = pytest.importorskip("ciw")
    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Exponential(rate=0.7)],
        service_distributions=[ciw.dists.Deterministic(value=1.0)],
        number_of_servers=[1],
    )
    ciw.seed(1)
    simulation = ciw.Simulation(network)
    simulation.simulate_until_max_time(100_000)
    waits = [record.waiting_time for record in simulation.get_all_records()]
    assert mg1_wait(0.7, 1.0, 0.0) == pytest.approx(np.mean(waits), rel=0.03)


def test_simpy_agrees(random):
    simpy = pytest.importorskip("simpy")
    environment = simpy.Environment()
    server, lost, came = simpy.Resource(environment), [0], [0]

    def customer(time):
        with server.request() as turn:
            yield turn
            yield environment.timeout(time)

    def source():
        for gap, time in zip(random.exponential(1 / 0.9, 200_000), random.exponential(1.0, 200_000), strict=True):
            yield environment.timeout(gap)
            came[0] += 1
            if server.count + len(server.queue) >= 8:
                lost[0] += 1
            else:
                environment.process(customer(time))

    environment.process(source())
    environment.run()
    assert mg1k(0.9, 1.0, 1.0, 8).loss == pytest.approx(lost[0] / came[0], rel=0.05)
