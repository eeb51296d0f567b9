"""Closed networks, tandems and spreading: printed values, exact values by other methods, laws."""

import csv
import itertools
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vmodel.solve.mva import (
    approximate_mva,
    asymptotic_bounds,
    balanced_bounds,
    exact_mva,
    saturation_population,
    window_throughput,
)
from vmodel.solve.queues import mg1_wait
from vmodel.solve.spread import hot_queue_load, largest_share, usl_peak, usl_speedup
from vmodel.solve.tandem import Station, departure_scv, merged_scv, split_scv, tandem

PRINTED = list(csv.DictReader(Path("tests/reference/mva.csv").read_text().splitlines()))
demands = st.lists(st.floats(0.001, 10.0), min_size=1, max_size=10)
delays = st.floats(0.0, 50.0)


@pytest.mark.parametrize("row", PRINTED, ids=lambda row: f"{row['demands_s']}-{row['customers']}")
def test_printed_networks_are_reproduced_to_the_printed_digits(row):
    answer = exact_mva([float(d) for d in row["demands_s"].split()], float(row["delay_s"]), int(row["customers"]))
    for value, printed, decimals in (
        (answer.throughput_pps, row["throughput_pps"], row["throughput_decimals"]),
        (answer.response_s, row["response_s"], row["response_decimals"]),
    ):
        assert abs(value - float(printed)) <= 0.5000001 * 10.0 ** -int(decimals)


def convolution(demands_s, delay, customers):
    """Throughput by Buzen's normalising constants in exact rational arithmetic: not mean value analysis."""
    constants = [delay**n / Fraction(math.factorial(n)) for n in range(customers + 1)]
    for demand in demands_s:
        for n in range(1, customers + 1):
            constants[n] += demand * constants[n - 1]
    return constants[customers - 1] / constants[customers]


@pytest.mark.parametrize("customers", [1, 2, 3, 7, 20, 100])
@pytest.mark.parametrize("delay", [Fraction(0), Fraction(4), Fraction(15)])
def test_exact_mva_matches_convolution_in_rational_arithmetic(customers, delay):
    parts = [Fraction(605, 1000), Fraction(21, 10), Fraction(135, 100)]
    exact = float(convolution(parts, delay, customers))
    answer = exact_mva([float(d) for d in parts], float(delay), customers)
    assert answer.throughput_pps == pytest.approx(exact, rel=1e-12)


@settings(deadline=None)
@given(demands, delays)
def test_one_customer_meets_only_the_sum_of_demands(parts, delay):
    for solve in (exact_mva, approximate_mva):
        answer = solve(parts, delay, 1)
        assert answer.response_s == pytest.approx(sum(parts))
        assert answer.throughput_pps == pytest.approx(1 / (sum(parts) + delay))


@settings(deadline=None)
@given(demands, delays, st.integers(1, 100))
def test_customers_are_where_little_says_and_bounds_hold(parts, delay, customers):
    answer = exact_mva(parts, delay, customers)
    assert sum(answer.queue) + answer.throughput_pps * delay == pytest.approx(customers)
    assert max(answer.busy) <= 1 + 1e-12
    slack = 1 + 1e-9
    for bounds in (asymptotic_bounds(parts, delay, customers), balanced_bounds(parts, delay, customers)):
        assert bounds.throughput_low_pps / slack <= answer.throughput_pps <= bounds.throughput_high_pps * slack
        assert bounds.response_low_s - 1e-7 <= answer.response_s * slack
        assert answer.response_s <= (bounds.response_high_s + 1e-7) * slack
    wide, tight = asymptotic_bounds(parts, delay, customers), balanced_bounds(parts, delay, customers)
    assert wide.throughput_low_pps <= tight.throughput_low_pps * slack
    assert tight.throughput_high_pps <= wide.throughput_high_pps * slack


@settings(deadline=None)
@given(demands, delays, st.integers(1, 100))
def test_the_approximation_stays_within_its_stated_error(parts, delay, customers):
    exact, rough = exact_mva(parts, delay, customers), approximate_mva(parts, delay, customers)
    assert rough.throughput_pps == pytest.approx(exact.throughput_pps, rel=0.07)
    assert rough.throughput_pps <= asymptotic_bounds(parts, delay, customers).throughput_high_pps * (1 + 1e-9)


@settings(deadline=None)
@given(demands, delays, st.integers(1, 40))
def test_one_more_customer_never_lowers_throughput(parts, delay, customers):
    fewer, more = (exact_mva(parts, delay, n).throughput_pps for n in (customers, customers + 1))
    assert fewer <= more * (1 + 1e-12)


def test_balanced_networks_meet_the_balanced_bound():
    answer = exact_mva([1.0] * 5, 0.0, 10)
    assert answer.throughput_pps == pytest.approx(10 / 14)
    assert balanced_bounds([1.0] * 5, 0.0, 10).throughput_high_pps == pytest.approx(10 / 14)


def test_arrays_and_floats_agree():
    random = np.random.default_rng(1)
    parts, delay = random.uniform(0.1, 2.0, (4, 7)), random.uniform(0.0, 5.0, 7)
    for solve in (exact_mva, approximate_mva):
        together = solve(list(parts), delay, 25)
        for i in range(7):
            alone = solve([float(d) for d in parts[:, i]], float(delay[i]), 25)
            assert together.throughput_pps[i] == pytest.approx(alone.throughput_pps, rel=1e-9)
            assert [q[i] for q in together.queue] == pytest.approx(list(alone.queue), rel=1e-7)
    mixed = exact_mva([0.5, parts[0]], 1.0, 3)
    assert mixed.throughput_pps[2] == pytest.approx(exact_mva([0.5, float(parts[0, 2])], 1.0, 3).throughput_pps)


def test_a_window_is_bound_by_round_trip_or_bottleneck():
    assert window_throughput(10.0, 1.0, 4.0) == pytest.approx(0.4)
    assert window_throughput(10.0, 1.0, 40.0) == pytest.approx(1.0)
    assert window_throughput(10.0, 0.0, 40.0) == pytest.approx(4.0)
    assert saturation_population([1.0, 2.0], 3.0) == pytest.approx(3.0)


def test_a_tandem_of_exponential_stations_is_a_row_of_simple_queues():
    chain = [Station(service_s=s, scv=1.0) for s in (0.2, 0.5, 0.9)]
    for passage, station in zip(tandem(1.0, 1.0, chain), chain, strict=True):
        assert passage.scv_arrivals == pytest.approx(1.0)
        assert passage.wait_s == pytest.approx(mg1_wait(1.0, station.service_s, 1.0))


def test_an_overloaded_station_hands_on_its_capacity():
    first, second = tandem(3.0, 1.0, [Station(service_s=0.5, scv=1.0), Station(service_s=0.25, scv=1.0)])
    assert first.wait_s == math.inf
    assert first.busy == pytest.approx(1.5)
    assert second.busy == pytest.approx(0.5)
    assert math.isfinite(second.wait_s)


@settings(deadline=None)
@given(st.floats(0.0, 1.0), st.floats(0.0, 4.0), st.floats(0.0, 4.0))
def test_flows_keep_their_limits(rho, ca2, cs2):
    assert departure_scv(0.0, ca2, cs2, 1) == pytest.approx(ca2)
    assert departure_scv(1.0, ca2, cs2, 1) == pytest.approx(cs2)
    assert departure_scv(rho, 1.0, 1.0, 8) == pytest.approx(1.0)
    assert split_scv(ca2, 1.0) == pytest.approx(ca2)
    assert merged_scv([1.0, 2.0], [1.0, 1.0], rho) == pytest.approx(1.0)
    assert merged_scv([1.0], [ca2], rho) == pytest.approx(ca2)


@pytest.mark.parametrize("flows, queues", [(1, 3), (2, 2), (5, 2), (6, 3), (8, 4)])
def test_largest_share_matches_counting_all_placements(flows, queues):
    total = sum(max(Counter(places).values()) for places in itertools.product(range(queues), repeat=flows))
    exact = Fraction(total, queues**flows * flows)
    assert largest_share(flows, queues) == pytest.approx(float(exact), rel=1e-9)


def test_largest_share_is_smooth_where_the_expansion_takes_over():
    for queues in (2, 8, 64):
        shares = [largest_share(flows, queues) * flows for flows in range(22, 29)]
        assert np.diff(shares, 2) == pytest.approx(np.zeros(5), abs=0.25)
        assert all(a < b for a, b in itertools.pairwise(shares))


@settings(deadline=None)
@given(st.integers(1, 3000), st.integers(1, 128))
def test_largest_share_lies_between_even_and_everything(flows, queues):
    share = largest_share(flows, queues)
    assert max(1 / queues, 1 / flows) - 1e-9 <= share <= 1 + 1e-9
    assert hot_queue_load(0.5, queues, flows) == pytest.approx(0.5 * queues * share)


def test_one_queue_and_no_contention_change_nothing():
    assert largest_share(17, 1) == 1.0
    assert usl_speedup(1, 0.3, 0.1) == pytest.approx(1.0)
    assert usl_speedup(16, 0.0, 0.0) == pytest.approx(16.0)
    peak = usl_peak(0.02, 0.0005)
    assert usl_speedup(peak, 0.02, 0.0005) >= max(usl_speedup(peak * f, 0.02, 0.0005) for f in (0.9, 1.1))
