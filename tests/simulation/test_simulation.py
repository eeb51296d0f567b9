"""Closed forms against event simulations: mean within 2 %, p99 5 %, loss 10 % above 1e-4, or as stated."""

import numpy as np
import pytest

from tests.simulation.forms import FORMS, seen
from vmodel.solve.queues import mg1_wait
from vmodel.solve.rings import mg1k

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", FORMS)
def test_every_figure_of_a_closed_form_is_within_its_stated_error(name):
    figures = seen(name)
    assert figures
    assert [f for f in figures if abs(f.gap) > f.stated] == []


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


def test_simpy_agrees():
    simpy = pytest.importorskip("simpy")
    random = np.random.default_rng(1)
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
