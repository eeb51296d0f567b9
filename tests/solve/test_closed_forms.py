"""Moderation, batches, wake-ups and notifications: laws, limits and exact chains."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tests.simulation.events import exchange
from vmodel.solve.batch import (
    batch_capacity,
    batch_mean,
    batch_wait,
    capped_batch_mean,
    capped_batch_wait,
    capped_kick_share,
    empty_share,
    kick_share,
    lambert_batch_mean,
    lambert_w,
)
from vmodel.solve.moderation_law import (
    capped_holdoff_batch,
    capped_holdoff_wait,
    held_off_cycle,
    holdoff_batch,
    holdoff_percentile,
    holdoff_time,
    holdoff_wait,
    throttle_batch,
    throttle_percentile,
    throttle_time,
    throttle_wait,
    throttled_cycle,
)
from vmodel.solve.notification import (
    FAST_CONSUMER,
    FAST_PRODUCER,
    MATCHED,
    SLOW_CONSUMER_WAKE_UP,
    SLOW_PRODUCER_WAKE_UP,
    Party,
    fast_consumer_batch,
    fast_producer_batch,
    notified_exchange,
    sleeping_batch,
)
from vmodel.solve.queues import mg1_wait
from vmodel.solve.tails import add_times, mg1_time
from vmodel.solve.wakeup import (
    polled_setup,
    polling_share,
    random_polling_share,
    setup_response,
    setup_time,
    wake_share,
)

rates = st.floats(0.0, 1e4)
times = st.floats(0.0, 1.0)


@settings(deadline=None)
@given(rates)
def test_no_moderation_means_one_interrupt_per_packet_and_no_wait(lam):
    assert throttle_batch(lam, 0.0) == holdoff_batch(lam, 0.0) == capped_holdoff_batch(lam, 0.0, 8) == 1
    assert throttle_wait(lam, 0.0) == holdoff_wait(lam, 0.0) == capped_holdoff_wait(lam, 0.0, 8) == 0
    assert capped_holdoff_batch(lam, 0.5, 1) == 1
    assert capped_holdoff_wait(lam, 0.5, 1) == 0


@settings(deadline=None)
@given(st.floats(1e-9, 1e4), st.floats(1e-6, 1.0), st.integers(2, 200))
def test_a_cap_shortens_batch_and_wait_and_a_large_one_changes_nothing(lam, timer, frames):
    assert 1 <= capped_holdoff_batch(lam, timer, frames) <= min(holdoff_batch(lam, timer), frames) * (1 + 1e-9)
    assert 0 <= capped_holdoff_wait(lam, timer, frames) <= timer * (1 + 1e-9)
    if lam * timer < 20:
        assert capped_holdoff_batch(lam, timer, 200) == pytest.approx(holdoff_batch(lam, timer), rel=1e-9)
        assert capped_holdoff_wait(lam, timer, 200) == pytest.approx(holdoff_wait(lam, timer), rel=1e-9)


def test_the_capped_wait_is_the_printed_sum():
    lam, timer, frames = 3.0, 1.5, 6
    a = lam * timer
    printed = sum((m + 1) * stats.gamma.cdf(a, m + 1) for m in range(frames - 1)) / lam
    assert capped_holdoff_wait(lam, timer, frames) * capped_holdoff_batch(lam, timer, frames) == pytest.approx(printed)
    assert capped_holdoff_batch(lam, timer, frames) == pytest.approx(
        1 + sum(min(j, frames - 1) * stats.poisson.pmf(j, a) for j in range(120))
    )


@settings(deadline=None)
@given(st.floats(1e-3, 1e3), st.floats(1e-3, 1.0))
def test_wait_distributions_have_the_mean_of_the_wait(lam, timer):
    assert throttle_time(lam, timer).mean_s == pytest.approx(throttle_wait(lam, timer))
    assert holdoff_time(lam, timer).mean_s == pytest.approx(holdoff_wait(lam, timer))
    for form in (throttle_percentile, holdoff_percentile):
        values = [form(lam, timer, p) for p in (0.5, 0.9, 0.99, 0.999)]
        assert values == sorted(values)
        assert values[0] >= 0
        assert values[-1] <= timer


def test_ping_pong_locks_to_a_throttle_and_adds_a_holdoff():
    assert throttled_cycle(181.0, []) == held_off_cycle(181.0, []) == 181.0
    assert throttled_cycle(181.0, [488.0]) == 488.0
    assert throttled_cycle(550.0, [488.0]) == 550.0
    assert held_off_cycle(181.0, [50.0, 50.0]) == 281.0


def exact_batches(lam, fixed, each, cap, states):
    """Mean batch, wait and kicks per packet by solving the chain of batch starts as a linear system."""
    waiting = np.arange(1, states + 1)
    taken = np.minimum(waiting, cap)
    spent = fixed + each * taken
    step = np.zeros((states, states))
    for row, (left, time) in enumerate(zip(waiting - taken, spent, strict=True)):
        chances = stats.poisson.pmf(np.arange(states + 1 - left), lam * time)
        chances[-1] += 1 - chances.sum()
        for arrived, chance in enumerate(chances):
            step[row, max(left + arrived, 1) - 1] += chance
    system = step.T - np.eye(states)
    system[-1] = 1
    law = np.linalg.solve(system, np.eye(states)[-1])
    packets = law @ taken
    wait = (law @ ((waiting - taken) * spent) + lam * (law @ spent**2) / 2) / packets
    return packets, wait, law @ (np.exp(-lam * spent) * (waiting <= cap)) / packets


@pytest.mark.parametrize("fixed, each", [(1.0, 0.0), (1.0, 0.1), (1.0, 1.0), (0.1, 1.0)])
@pytest.mark.parametrize("load", [0.05, 0.3, 0.6, 0.9])
def test_unlimited_batches_match_the_exact_chain(fixed, each, load):
    lam = load / (each + fixed / 16)
    packets, wait, kicks = exact_batches(lam, fixed, each, 10**6, 300)
    assert batch_mean(lam, fixed, each) == pytest.approx(packets, rel=1e-5)
    assert batch_wait(lam, fixed, each) == pytest.approx(wait, rel=1e-5)
    assert kick_share(lam, fixed, each) == pytest.approx(kicks, rel=1e-4, abs=1e-9)
    assert lambert_batch_mean(lam, fixed, each) == pytest.approx(packets, rel=0.06 if each <= fixed else 0.5)


@pytest.mark.parametrize("fixed, each", [(1.0, 0.0), (1.0, 0.1), (1.0, 1.0), (0.1, 1.0)])
@pytest.mark.parametrize("cap", [2, 4, 16])
@pytest.mark.parametrize("load", [0.05, 0.6, 0.9, 0.98])
def test_limited_batches_stay_within_the_stated_error(fixed, each, cap, load):
    lam = load * batch_capacity(fixed, each, cap)
    packets, wait, _ = exact_batches(lam, fixed, each, cap, cap + int(8 / (1 - load)) + 40)
    assert capped_batch_mean(lam, fixed, each, cap) == pytest.approx(packets, rel=0.02 if cap >= 16 else 0.07)
    assert capped_batch_wait(lam, fixed, each, cap) == pytest.approx(wait, rel=0.17 if each <= fixed else 0.24)


@settings(deadline=None)
@given(st.floats(0.0, 0.99), times, times)
def test_a_limit_of_one_is_a_queue_with_constant_service(load, fixed, each):
    service = fixed + each + 1e-3
    assert capped_batch_mean(load / service, fixed + 1e-3, each, 1.0) == pytest.approx(1.0)
    assert capped_batch_wait(load / service, fixed + 1e-3, each, 1.0) == pytest.approx(
        mg1_wait(load, 1.0, 0.0) * service, rel=1e-6, abs=1e-12
    )
    assert capped_kick_share(load / service, fixed + 1e-3, each, 1.0) == pytest.approx(1 - load, rel=1e-6)


@settings(deadline=None)
@given(st.floats(0.0, 50.0), st.floats(0.01, 2.0), times, st.integers(1, 256))
def test_batches_always_have_an_answer(lam, fixed, each, cap):
    batch = capped_batch_mean(lam, fixed, each, float(cap))
    wait = capped_batch_wait(lam, fixed, each, float(cap))
    assert 1 - 1e-9 <= batch <= cap * (1 + 1e-9)
    assert wait >= 0
    assert 0 <= capped_kick_share(lam, fixed, each, float(cap)) <= 1 + 1e-9
    if lam >= batch_capacity(fixed, each, cap):
        assert (batch, wait) == (cap, math.inf)
    assert 0 <= empty_share(lam, fixed, each) <= 1
    assert lambert_batch_mean(lam, fixed, each) >= 1 - 1e-9


@settings(deadline=None)
@given(st.floats(0.0, 1e6))
def test_lambert_w_solves_its_equation(x):
    w = lambert_w(x)
    assert w * math.exp(w) == pytest.approx(x, rel=1e-12, abs=1e-300)


def test_arrays_and_floats_agree():
    lam = np.array([0.0, 0.3, 0.9, 3.0])
    for form in (batch_mean, batch_wait, lambert_batch_mean, kick_share):
        assert form(lam, 1.0, 0.5) == pytest.approx([form(float(x), 1.0, 0.5) for x in lam], rel=1e-9)
    for form in (capped_batch_mean, capped_batch_wait, capped_kick_share):
        assert form(lam, 1.0, 0.5, 8.0) == pytest.approx([form(float(x), 1.0, 0.5, 8.0) for x in lam], rel=1e-9)
    for form in (capped_holdoff_batch, capped_holdoff_wait):
        assert form(lam, 1.0, 5) == pytest.approx([form(float(x), 1.0, 5) for x in lam], rel=1e-9)
    assert throttle_percentile(lam, 1.0, 0.9) == pytest.approx([throttle_percentile(float(x), 1.0, 0.9) for x in lam])


@settings(deadline=None)
@given(st.floats(0.0, 0.95), st.floats(0.0, 4.0), st.floats(0.0, 10.0), st.floats(0.0, 2.0))
def test_a_set_up_adds_at_most_itself_and_nothing_when_absent(rho, scv, setup, window):
    plain = 1 + mg1_wait(rho, 1.0, scv)
    assert setup_response(rho, 1.0, scv, 0.0, 0.0) == pytest.approx(plain)
    assert setup_response(0.0, 1.0, scv, setup, 0.0) == pytest.approx(1 + setup)
    mean, spread = polled_setup(rho, setup, 0.0, window)
    whole = add_times([mg1_time(rho, 1.0, scv), setup_time(rho, setup, 0.0, window)])
    assert whole.mean_s == pytest.approx(setup_response(rho, 1.0, scv, mean, spread))
    assert plain <= whole.mean_s * (1 + 1e-12)
    assert whole.mean_s <= plain + setup + 1e-12


def test_polling_shares():
    assert polling_share(10.0, 0.0) == 0.0
    assert polling_share(10.0, 20.0) == 1.0
    assert wake_share(5.0, 0.0) == 1.0
    assert random_polling_share(5.0, 1e9) == 1.0
    gaps = np.random.default_rng(1).exponential(0.2, 200_000)
    burnt = np.minimum(gaps, 0.15).sum() / gaps.sum()
    assert random_polling_share(5.0, 0.15) == pytest.approx(burnt, rel=0.01)


def party(values):
    return Party(work_s=values[0], notify_s=values[1], startup_s=values[2])


def test_every_notification_regime_matches_the_event_simulation():
    random = np.random.default_rng(3)
    seen = {}
    for _ in range(120):
        places = int(random.choice([4, 16, 64]))
        threshold = int(random.integers(1, places + 1))
        ends = [tuple(random.exponential(1, 3) * (1, 3, 10.0 ** random.integers(0, 3))) for _ in range(2)]
        if abs(ends[0][0] - ends[1][0]) < 0.05:
            continue  # so long a cycle that the simulation would have to be long
        answer = notified_exchange(party(ends[0]), party(ends[1]), places, threshold)
        time, kicks, interrupts = exchange(ends[0], ends[1], places, threshold, 6000)
        assert answer.packet_s == pytest.approx(time, rel=0.015), (answer, ends, places, threshold)
        assert answer.kicks == pytest.approx(kicks, rel=0.05, abs=1e-3)
        assert answer.interrupts == pytest.approx(interrupts, rel=0.05, abs=1e-3)
        seen[answer.regime] = seen.get(answer.regime, 0) + 1
    assert set(seen) == {FAST_CONSUMER, FAST_PRODUCER, SLOW_CONSUMER_WAKE_UP, SLOW_PRODUCER_WAKE_UP}
    assert min(seen.values()) > 5


ends = st.tuples(st.floats(0.01, 10.0), st.floats(0.0, 10.0), st.floats(0.0, 100.0))


@settings(deadline=None)
@given(ends, ends, st.integers(2, 512), st.floats(0.01, 1.0))
def test_nobody_is_faster_than_the_slower_end(producer, consumer, places, share):
    threshold = max(1, int(places * share))
    answer = notified_exchange(party(producer), party(consumer), places, threshold)
    assert answer.packet_s >= max(producer[0], consumer[0]) * (1 - 1e-12)
    assert 0 <= answer.kicks <= 1
    assert 0 <= answer.interrupts <= 1
    assert max(answer.producer_busy, answer.consumer_busy) <= 1 + 1e-9


def test_equal_ends_and_free_notifications_run_at_the_speed_of_the_slower():
    same = party((1.0, 5.0, 2.0))
    assert notified_exchange(same, same, 256, 192).regime == MATCHED
    assert notified_exchange(same, same, 256, 192).packet_s == 1.0
    free = notified_exchange(party((2.0, 0.0, 0.0)), party((1.0, 0.0, 0.0)), 256, 192)
    assert (free.regime, free.packet_s, free.kicks) == (FAST_CONSUMER, 2.0, 1.0)


def test_a_faster_consumer_may_lower_throughput():
    producer = party((1.0, 10.0, 5.0))
    slow, fast = (notified_exchange(producer, party((w, 10.0, 5.0)), 256, 192) for w in (0.9, 0.1))
    assert fast.packet_s > slow.packet_s  # the finding of Lettieri, Maffione and Rizzo 2018
    assert fast_consumer_batch(producer, party((0.9, 10.0, 5.0))) > fast_consumer_batch(
        producer, party((0.1, 10.0, 5.0))
    )
    assert fast_producer_batch(party((1.0, 1.0, 5.0)), party((2.0, 1.0, 5.0)), 192) >= 192
    assert sleeping_batch(1.0, 1.0, 5.0, 256) == math.inf
