"""Counts of frames by laws written out in full: compound Poisson, busy periods (Borel and Tanner), batches, sleeps."""

import math

import numpy as np
import pytest
from scipy import stats

from vmodel.solve.batch import batch_mean, lambert_batch_mean
from vmodel.solve.notification import sleeping_batch
from vmodel.solve.queues import mm1_response_percentile
from vmodel.solve.vacation import SINGLES, counted, train_moments

MANY = np.arange(4000)


def factorial_moments(shares, values=MANY):
    """The first four of a distribution over whole numbers."""
    found, falling = [], np.ones(len(values))
    for k in range(4):
        falling = falling * (values - k)
        found.append(float(shares @ falling))
    return found


@pytest.mark.parametrize(("rate", "time_s"), [(2.0, 3.0), (700.0, 1e-3)])
def test_frames_in_a_fixed_time_are_poisson(rate, time_s):
    expected = factorial_moments(stats.poisson.pmf(MANY, rate * time_s))
    assert counted(rate, SINGLES, tuple(time_s**k for k in range(1, 5))) == pytest.approx(expected)


@pytest.mark.parametrize(("rate", "chance", "time_s"), [(2.0, 0.5, 1.5), (0.3, 0.25, 2.0)])
def test_frames_of_trains_that_come_by_chance_are_added_up(rate, chance, time_s):
    """Geometric trains: the count by Panjer's recursion, its moments against the cumulants of the law."""
    sizes = stats.geom.pmf(MANY, chance)
    mean = rate * time_s
    shares = np.zeros(len(MANY))
    shares[0] = math.exp(-mean)
    for n in range(1, 400):
        j = np.arange(1, n + 1)
        shares[n] = mean / n * float(j * sizes[1 : n + 1] @ shares[n - 1 :: -1][:n])
    trains = tuple(factorial_moments(sizes))
    assert counted(rate, trains, tuple(time_s**k for k in range(1, 5))) == pytest.approx(
        factorial_moments(shares), rel=1e-9
    )


@pytest.mark.parametrize("rho", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("waiting", [1, 3])
def test_frames_of_a_busy_period_of_constant_service_follow_borel_and_tanner(rho, waiting):
    """P(N = n) = k / n exp(-rho n) (rho n)^(n - k) / (n - k)! (Tanner, 1961)."""
    n = np.arange(waiting, 4000)
    shares = np.exp(
        np.log(waiting / n)
        - rho * n
        + (n - waiting) * np.log(rho * n)
        - np.array([math.lgamma(i) for i in n - waiting + 1])
    )
    mean, second, *_ = factorial_moments(shares, n)
    found = train_moments(rho, 1.0, 0.0, (float(waiting), float(waiting * (waiting - 1))))
    assert found[:2] == pytest.approx((mean, second), rel=1e-6)


def test_a_train_that_a_random_number_begins_varies_by_that_too():
    """Var N = E[Q] v + Var Q m^2, m and v those of one frame's busy period."""
    one = train_moments(0.6, 1.0, 0.0, (1.0, 0.0))
    m, v = one[0], one[1] + one[0] - one[0] ** 2
    poisson = train_moments(0.6, 1.0, 0.0, (4.0, 16.0))
    assert poisson[0] == pytest.approx(4 * m)
    assert poisson[1] + poisson[0] - poisson[0] ** 2 == pytest.approx(4 * v + 4 * m * m)


@pytest.mark.parametrize("each_s", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("fixed_s", [0.2, 1.0, 4.0])
def test_the_mean_batch_is_that_of_the_chain_of_batches(fixed_s, each_s):
    """Batch after batch by its own transition law: Poisson arrivals meanwhile, and at least one is waited for."""
    count = 500
    sizes = np.arange(count)
    step = stats.poisson.pmf(sizes[None, :], (fixed_s + each_s * sizes)[:, None])
    step[:, 1] += step[:, 0]
    step[:, 0] = 0.0
    step /= step.sum(axis=1, keepdims=True)
    shares = np.zeros(count)
    shares[1] = 1.0
    for _ in range(14):  # 2^14 batches
        step = step @ step
    found = float((shares @ step) @ sizes)
    assert batch_mean(1.0, fixed_s, each_s) == pytest.approx(found, rel=2e-5)


@pytest.mark.parametrize(("fixed_s", "each_s"), [(2.0, 0.5), (1.0, 0.9), (5.0, 0.1)])
def test_the_lambert_batch_solves_its_equation(fixed_s, each_s):
    """Mean batch y + exp(-y) with y = lam (t0 + t1 (y + exp(-y))): what comes in a batch, one when nothing did."""
    batch = lambert_batch_mean(1.0, fixed_s, each_s)
    y = fixed_s + each_s * batch
    assert batch == pytest.approx(y + math.exp(-y), rel=1e-9)


@pytest.mark.parametrize("p", [0.5, 0.9, 0.999])
def test_percentiles_of_a_markov_station_are_those_of_an_exponential(p):
    assert mm1_response_percentile(0.75, 1.0, p) == pytest.approx(stats.expon.ppf(p, scale=4.0))


def test_a_sleep_is_cut_by_what_the_ring_takes_meanwhile():
    assert sleeping_batch(3.0, 1.0, 8.0, 256) == pytest.approx(8.0 / 2.0)
    assert sleeping_batch(3.0, 1.0, 1e6, 5) == pytest.approx((4 * 3.0 - 1.0) / 2.0)
