"""One station, with and without a finite ring: printed values, exact values by other methods, laws."""

import csv
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from vmodel.solve.batch import lambert_w
from vmodel.solve.queues import (
    erlang_b,
    erlang_c,
    ggc_wait,
    kingman_wait,
    klb_wait,
    marchal_wait,
    md1_wait,
    mg1_wait,
    mg1ps_response,
    mm1_response_percentile,
    mm1_wait,
    mmc_wait,
    power_knee,
    two_moment_wait,
)
from vmodel.solve.rings import diffusion_loss, loss_knee, mg1k, mm1k, mmck, ring_time

PRINTED = list(csv.DictReader(Path("tests/reference/queues.csv").read_text().splitlines()))
FUNCTIONS = {
    "erlang_b": lambda c, a: erlang_b(int(c), a),
    "lambert_w": lambert_w,
    "mm1_wait": mm1_wait,
    "mmc_wait": lambda lam, s, c: mmc_wait(lam, s, int(c)),
    "mmck_number": lambda lam, s, c, k: mmck(lam, s, int(c), int(k)).number,
    "power_knee": power_knee,
}
loads = st.floats(0.0, 3.0)
scvs = st.floats(0.0, 4.0)


@pytest.mark.parametrize("row", PRINTED, ids=lambda row: f"{row['function']}({row['arguments']})")
def test_printed_values_are_reproduced_to_the_printed_digits(row):
    value = FUNCTIONS[row["function"]](*map(float, row["arguments"].split()))
    assert abs(value - float(row["value"])) <= 0.5000001 * 10.0 ** -int(row["decimals"])


def birth_death(load, servers, places):
    """State probabilities in exact rational arithmetic."""
    weights = [Fraction(1)]
    for n in range(1, places + 1):
        weights.append(weights[-1] * load / min(n, servers))
    return [w / sum(weights) for w in weights]


@pytest.mark.parametrize(
    "load", [Fraction(1, 20), Fraction(1, 2), Fraction(49, 50), Fraction(1), Fraction(7, 5), Fraction(40)]
)
@pytest.mark.parametrize("servers, places", [(1, 1), (1, 3), (1, 64), (3, 3), (3, 7), (4, 64)])
def test_finite_rings_match_exact_rational_arithmetic(load, servers, places):
    states = birth_death(load * servers, servers, places)
    mean = sum(n * p for n, p in enumerate(states))
    ring = mmck(float(load * servers), 1.0, servers, places)
    assert ring.loss == pytest.approx(float(states[-1]), rel=1e-12)
    assert ring.number == pytest.approx(float(mean), rel=1e-12)
    if servers == 1:
        closed = mm1k(float(load), 1.0, places)
        assert closed.loss == pytest.approx(float(states[-1]), rel=1e-9)
        assert closed.number == pytest.approx(float(mean), rel=1e-9)
        assert closed.response_s == pytest.approx(float(mean / (load * (1 - states[-1]))), rel=1e-9)


def test_waiting_probability_matches_exact_rational_arithmetic():
    for servers, load in ((1, Fraction(4, 5)), (2, Fraction(3, 2)), (5, Fraction(3)), (20, Fraction(19))):
        top = load**servers / math.factorial(servers) * servers / (servers - load)
        exact = top / (sum(load**n / Fraction(math.factorial(n)) for n in range(servers)) + top)
        assert erlang_c(servers, float(load)) == pytest.approx(float(exact), rel=1e-12)


def test_regular_arrivals_are_within_one_percent_of_the_exact_root():
    for rho in (0.5, 0.7, 0.9, 0.98):
        sigma = 0.5
        for _ in range(5000):
            sigma = math.exp(-(1 - sigma) / rho)
        assert klb_wait(rho, 1.0, 0.0, 1.0) == pytest.approx(sigma / (1 - sigma), rel=0.011)


@settings(deadline=None)
@given(rho=st.floats(0.0, 0.99))
def test_special_cases_give_back_the_simple_formulas(rho):
    simple = rho / (1 - rho)
    assert mm1_wait(rho, 1.0) == pytest.approx(simple)
    assert mg1_wait(rho, 1.0, 1.0) == pytest.approx(simple)
    assert md1_wait(rho, 1.0) == pytest.approx(simple / 2)
    assert mmc_wait(rho, 1.0, 1) == pytest.approx(simple)
    assert mg1ps_response(rho, 1.0) == pytest.approx(1 + simple)
    for form in (kingman_wait, klb_wait, marchal_wait, two_moment_wait):
        assert form(rho, 1.0, 1.0, 1.0) == pytest.approx(simple)
        assert form(rho, 1.0, 1.0, 0.0) == pytest.approx(simple / 2)
    assert ggc_wait(4 * rho, 1.0, 4, 1.0, 1.0) == pytest.approx(mmc_wait(4 * rho, 1.0, 4))
    assert mm1_response_percentile(rho, 1.0, 1 - math.exp(-1.0)) == pytest.approx(1 + simple)


@settings(deadline=None)
@given(rho=loads, scv=scvs, places=st.integers(1, 300))
def test_a_ring_always_has_an_answer(rho, scv, places):
    ring = mg1k(rho, 1.0, scv, places)
    assert 0 <= ring.loss <= 1
    assert 0 <= ring.throughput_pps <= min(rho, 1.0) + 1e-9
    assert 0 <= ring.number <= places * (1 + 1e-9)
    assert 1 - 1e-9 <= ring.response_s <= places * (1 + max(scv, 1))
    assert ring.number == pytest.approx(ring.throughput_pps * ring.response_s, abs=1e-12)  # Little


@settings(deadline=None)
@given(rho=st.floats(0.01, 3.0), places=st.integers(1, 2000))
def test_exponential_service_is_the_same_ring_by_both_routes(rho, places):
    ring, exact = mg1k(rho, 1.0, 1.0, places), mm1k(rho, 1.0, places)
    assert ring.loss == pytest.approx(exact.loss, rel=2e-4, abs=1e-12)
    assert ring.number == pytest.approx(exact.number, rel=2e-4)


def test_overload_carries_capacity_and_fills_the_ring():
    ring = mg1k(50.0, 1.0, 0.5, 256)
    assert ring.throughput_pps == pytest.approx(1.0)
    assert ring.loss == pytest.approx(0.98)
    assert ring.response_s == pytest.approx(256, rel=0.01)
    assert mm1_wait(2.0, 1.0) == mmc_wait(8.0, 1.0, 4) == mg1ps_response(1.0, 1.0) == math.inf


@pytest.mark.parametrize("scv", [0.0, 0.3, 1.0, 4.0])
@pytest.mark.parametrize("places", [24, 25, 256])
def test_loss_and_number_grow_smoothly_through_load_one(scv, places):
    rho = 1 + np.linspace(-5, 5, 201) * 0.01 / places
    ring = mg1k(rho, 1.0, scv, places)
    for values in (ring.loss, ring.number):
        steps = np.diff(values)
        assert (steps > 0).all()
        assert steps.max() / steps.min() < 1.3


def embedded_chain(rho, scv, places):
    """Loss and mean number by solving the chain of departures as a linear system."""
    sizes = np.arange(places + 1)
    law = stats.poisson(rho) if scv == 0 else stats.nbinom(1 / scv, 1 / (1 + rho * scv))
    step = np.zeros((places, places))
    for left in range(places):
        first = max(left - 1, 0)
        row = law.pmf(sizes[: places - first])
        row[-1] += law.sf(places - first - 1)
        step[left, first:] = row
    system = step.T - np.eye(places)
    system[-1] = 1
    states = np.linalg.solve(system, np.eye(places)[-1])
    share = 1 / (states[0] + rho)
    return 1 - share, share * (states * np.arange(places)).sum() + places * (1 - share)


@pytest.mark.parametrize("scv", [0.0, 0.3, 1.0, 4.0])
@pytest.mark.parametrize("places", [2, 24, 25, 64, 256])
def test_rings_match_the_embedded_chain(scv, places):
    for rho in (0.3, 0.6, 0.9, 0.98, 1.0, 1.02, 1.5):
        loss, number = embedded_chain(rho, scv, places)
        ring = mg1k(rho, 1.0, scv, places)
        assert ring.loss == pytest.approx(loss, rel=1e-3, abs=1e-8)
        assert ring.number == pytest.approx(number, rel=1e-4)


def test_a_long_ring_is_an_open_queue():
    for rho in (0.05, 0.5, 0.9):
        for scv in (0.0, 1.0, 4.0):
            ring = mg1k(rho, 1.0, scv, 5000)
            assert ring.loss < 1e-12
            assert ring.response_s == pytest.approx(1 + mg1_wait(rho, 1.0, scv), rel=1e-9)


def test_one_place_loses_the_same_for_any_service_law():
    for scv in (0.0, 0.5, 4.0):
        assert mg1k(0.8, 1.0, scv, 1).loss == pytest.approx(erlang_b(1, 0.8), rel=1e-12)


def test_the_one_line_loss_formula_is_within_its_stated_factor():
    worst = 1.0
    for scv in (0.0, 0.5, 1.0, 2.0, 4.0):
        for places in (16, 64, 256):
            for rho in (0.3, 0.6, 0.8, 0.9, 0.98, 1.0, 1.3):
                exact = mg1k(rho, 1.0, scv, places).loss
                if exact > 1e-4:
                    ratio = diffusion_loss(rho, scv, places) / exact
                    worst = max(worst, ratio, 1 / ratio)
                    assert scv != 1 or ratio == pytest.approx(1, rel=2e-3)
    assert worst < 1.5


@settings(max_examples=25, deadline=None)
@given(scv=scvs, places=st.sampled_from([8, 64, 256]), loss=st.sampled_from([1e-4, 1e-3, 1e-2, 0.1]))
def test_the_knee_is_where_the_loss_is(scv, places, loss):
    knee = loss_knee(1e-6, scv, places, loss)
    assert mg1k(knee, 1e-6, scv, places).loss == pytest.approx(loss, rel=1e-4)


@settings(deadline=None)
@given(scv=scvs)
def test_power_is_highest_at_the_knee(scv):
    def power(rho):
        return rho / (1 + mg1_wait(rho, 1.0, scv))

    knee = power_knee(scv)
    assert power(knee) >= max(power(knee * 0.99), power(knee + (1 - knee) * 0.01))


def test_ring_times_are_exact_for_exponential_service():
    for rho in (0.3, 1.0, 1.5):
        states = birth_death(Fraction(rho), 1, 8)[:-1]
        first = sum((n + 1) * p for n, p in enumerate(states)) / sum(states)
        second = sum((n + 1) * (n + 2) * p for n, p in enumerate(states)) / sum(states)
        assert ring_time(rho, 1.0, 1.0, 8).variance_s2 == pytest.approx(float(second - first**2), rel=1e-3)


def test_arrays_and_floats_agree():
    rho, scv = np.array([0.1, 0.9, 1.0, 2.0]), np.array([0.0, 1.0, 4.0, 0.3])
    for places in (8, 64):
        ring = mg1k(rho, 1.0, scv, places)
        for i, alone in enumerate(mg1k(float(r), 1.0, float(c), places) for r, c in zip(rho, scv, strict=True)):
            assert (ring.loss[i], ring.number[i]) == pytest.approx((alone.loss, alone.number), rel=1e-9)
    for form in (kingman_wait, klb_wait, marchal_wait, two_moment_wait):
        alone = [form(float(r), 1.0, 0.5, float(c)) for r, c in zip(rho, scv, strict=True)]
        assert form(rho, 1.0, 0.5, scv) == pytest.approx(alone)
    assert mmc_wait(rho * 3, 1.0, 3) == pytest.approx([mmc_wait(float(r) * 3, 1.0, 3) for r in rho])
