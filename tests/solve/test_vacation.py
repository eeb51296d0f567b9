"""Resources that serve until nobody is left and are told of the next frame: limits, and simulation."""

import numpy as np
import pytest

from vmodel.solve.moderation_law import (
    capped_holdoff_batch,
    capped_holdoff_wait,
    holdoff_batch,
    holdoff_time,
    throttle_batch,
    throttle_time,
)
from vmodel.solve.tails import add_times, mg1_time, skewed_percentile
from vmodel.solve.vacation import (
    NO_PAUSE,
    SINGLES,
    Wake,
    added_moments,
    alarm_share,
    capped_wait,
    gamma_moments,
    gathered_wait,
    overflow,
    throttle_pause,
    together,
    train_moments,
    wake_moments,
)
from vmodel.solve.wakeup import setup_response, setup_time, wake_share

NONE = (0.0,) * 4
LOADS = (0.02, 0.3, 1.0, 4.0, 30.0)


def throttled(lam, tau, *, service_s=0.0, scv=0.0, wake=NONE):
    return gathered_wait(lam, throttle_pause(lam, service_s, scv, timer_s=tau, wake=wake), wake)


def held_off(lam, tau, wake=NONE):
    return gathered_wait(lam, NO_PAUSE, added_moments(wake, gamma_moments(tau, 0.0)))


def close(a, b, rel):
    return all(
        getattr(a, name) == pytest.approx(getattr(b, name), rel=rel, abs=1e-9)
        for name in ("mean_s", "variance_s2", "third_s3")
    )


@pytest.mark.parametrize("lam", LOADS)
def test_without_service_and_wake_up_a_timer_is_the_closed_form(lam):
    found = throttled(lam, 1.0)
    assert close(found.time, throttle_time(lam, 1.0), 1e-4)
    assert found.waiting[0] == pytest.approx(throttle_batch(lam, 1.0), rel=1e-4)
    found = held_off(lam, 1.0)
    assert close(found.time, holdoff_time(lam, 1.0), 1e-9)
    assert found.waiting[0] == pytest.approx(holdoff_batch(lam, 1.0))
    for frames in (1, 2, 5, 40):
        found = capped_wait(lam, 1.0, frames, NONE)
        assert found.time.mean_s == pytest.approx(capped_holdoff_wait(lam, 1.0, frames), rel=1e-9, abs=1e-12)
        assert found.waiting[0] == pytest.approx(capped_holdoff_batch(lam, 1.0, frames))


@pytest.mark.parametrize("lam", LOADS)
@pytest.mark.parametrize("window", [0.0, 0.7])
def test_a_wake_up_alone_is_the_set_up_law(lam, window):
    wake = wake_moments(lam, [Wake(mean_s=2.0, scv=0.5, window_s=window)], 0.0)
    assert close(gathered_wait(lam, NO_PAUSE, wake).time, setup_time(lam, 2.0, 0.5, window), 1e-9)
    if window == 0.0 and lam < 1:
        whole = gathered_wait(lam, NO_PAUSE, wake).time.mean_s + mg1_time(lam, 1.0, 0.25).mean_s
        assert whole == pytest.approx(setup_response(lam, 1.0, 0.25, 2.0, 0.5))


def test_wake_ups_with_windows_are_due_together():
    """Monte Carlo over idle times: a longer window is outlived only by who outlives the shorter one."""
    lam, rng = 0.8, np.random.default_rng(1)
    wakes = [
        Wake(mean_s=1.0, scv=0.0),
        Wake(mean_s=2.0, scv=0.0, window_s=0.5),
        Wake(mean_s=4.0, scv=0.0, window_s=2.0),
    ]
    gaps = rng.exponential(1 / lam, 400_000)
    drawn = 1.0 + 2.0 * (gaps > 0.5) + 4.0 * (gaps > 2.0)
    for n, moment in enumerate(wake_moments(lam, wakes, 0.0), 1):
        assert moment == pytest.approx((drawn**n).mean(), rel=0.01)
    assert wake_moments(lam, wakes, 2.0)[0] == pytest.approx(7.0)  # a timer that holds frames back outlasts the windows
    assert wake_moments(lam, wakes[1:2], 0.0)[0] == pytest.approx(2.0 * wake_share(lam, 0.5))


def test_a_throttle_that_is_shorter_than_the_busy_period_is_not_felt():
    wake = gamma_moments(1.0, 0.0)
    rare = throttled(0.9, 1e-3, service_s=1.0, wake=wake).time
    assert rare.mean_s == pytest.approx(gathered_wait(0.9, NO_PAUSE, wake).time.mean_s, rel=1e-3)


def test_with_many_frames_a_throttle_leaves_its_spare_time():
    """tau = pause + wake-up + busy: R + D = tau (1 - rho)."""
    lam, service, tau, wake = 100.0, 0.006, 10.0, gamma_moments(0.5, 0.0)
    pause = throttle_pause(lam, service, 0.0, timer_s=tau, wake=wake).time[0]
    assert pause + wake[0] == pytest.approx(tau * (1 - lam * service), rel=0.02)


@pytest.mark.parametrize("tau", [0.5, 5.0, 50.0])
def test_waits_for_a_quiet_receiver_grow_with_the_wake_up_and_none_exceeds_timer_and_wake_up(tau):
    for lam in (0.01, 0.3, 0.9):
        found = [throttled(lam, tau, service_s=1.0, wake=gamma_moments(d, 0.0)).time.mean_s for d in (0.0, 1.0, 8.0)]
        assert lam > 0.01 or found[0] < found[1] < found[2]
        assert found[0] <= tau and found[-1] <= tau + 8.0


def test_trains_wait_longer_for_an_alarm_than_single_frames_do():
    wake = gamma_moments(10.0, 0.0)
    alone = gathered_wait(0.5, NO_PAUSE, wake).time.mean_s
    trains = (8.0, 80.0, 900.0, 11_000.0)
    assert together(trains, 10.0, 0.0) == trains and together(trains, 0.0, 1.0)[:2] == (1.0, 0.0)
    assert together(trains, 10.0, 5.0)[1] <= together(trains, 10.0, 5.0)[0] * 2  # no more than fit into the alarm
    assert alone < gathered_wait(0.5, NO_PAUSE, wake, trains).time.mean_s < 10.0
    assert gathered_wait(0.5, NO_PAUSE, wake, together(trains, 10.0, 5.0)).time.mean_s < 10.0


def test_a_ring_loses_what_it_cannot_hold_while_nobody_serves():
    """Monte Carlo over Q0 of a wake-up of 10 and a ring of 4: what comes after the fourth is lost."""
    lam, rho, places = 0.6, 0.5, 4
    came = 1 + np.random.default_rng(3).poisson(lam * 10.0, 400_000)
    lost = np.maximum(came - places, 0).mean()
    kept = (came.mean() - lost) / (1 - rho)
    waiting = gathered_wait(lam, NO_PAUSE, gamma_moments(10.0, 0.0)).waiting
    loss, share = overflow(lam, rho / lam, waiting, places)
    assert loss == pytest.approx(lost / (lost + kept), rel=0.03) and share == pytest.approx(
        1 - lost / came.mean(), rel=0.02
    )
    assert overflow(lam, rho / lam, waiting, 256) == (pytest.approx(0.0, abs=1e-12), pytest.approx(1.0))


def test_frames_that_leave_in_a_row_are_those_of_a_busy_period():
    mean, second, *_ = train_moments(0.5, 1.0, 0.0, SINGLES[:2])
    assert mean == pytest.approx(2.0)
    assert second + mean - mean**2 == pytest.approx(0.5 / 0.5**3)  # Borel: rho / (1 - rho)^3
    assert alarm_share(0.5, 1.0, 1.0) == pytest.approx(1 / mean)


def test_arrays_answer_as_floats_do():
    lam = np.array(LOADS)
    wake = wake_moments(lam, [Wake(mean_s=0.1, scv=0.5), Wake(mean_s=0.2, scv=0.0, window_s=np.full(5, 0.3))], 0.0)
    found = throttled(lam, 0.7, service_s=0.02, scv=0.5, wake=wake)
    for i, x in enumerate(LOADS):
        one = wake_moments(x, [Wake(mean_s=0.1, scv=0.5), Wake(mean_s=0.2, scv=0.0, window_s=0.3)], 0.0)
        alone = throttled(x, 0.7, service_s=0.02, scv=0.5, wake=one)
        assert found.time.mean_s[i] == pytest.approx(alone.time.mean_s)
        assert found.time.third_s3[i] == pytest.approx(alone.time.third_s3)


KINDS = [("none", None), ("throttle", None), ("holdoff", None), ("holdoff", 4)]
SETTINGS = [(5.0, 0.0), (5.0, 3.0), (20.0, 6.0)]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "frames"), KINDS)
@pytest.mark.parametrize("lam", [0.05, 0.5, 0.8])
def test_simulation_agrees(kind, frames, lam):
    """Mean within 2 % where exact, 5 % under a throttle; p99 within 10 %; or inside the confidence interval."""
    pytest.importorskip("simpy")
    from tests.simulation.test_check import laid_out, timer, turn_at
    from vmodel.simulate.network import AlarmStep, Part
    from vmodel.simulate.run import simulate

    for tau, d in SETTINGS:
        tau = 0.0 if kind == "none" else tau
        step = AlarmStep(part=Part(mean_s=d, scv=0.5), window_s=0.0)
        visit = turn_at("a", 1.0, 0.25, alarm=[step], timer=timer(kind, frames) if tau else None, timer_s=tau)
        seen = simulate(laid_out(visit, rate=lam), 30_000, 4)
        wake = gamma_moments(d, 0.5)
        if kind == "throttle":
            found = throttled(lam, tau, service_s=1.0, scv=0.25, wake=wake)
        elif frames:
            found = capped_wait(lam, tau, frames, wake)
        else:
            found = held_off(lam, tau, wake)
        whole = add_times([mg1_time(lam, 1.0, 0.25), found.time])
        near = 0.05 if kind == "throttle" else 0.02
        assert whole.mean_s == pytest.approx(seen.mean_s.value, rel=near, abs=seen.mean_s.half_width)
        p99 = skewed_percentile(whole, 0.99)
        assert p99 == pytest.approx(seen.p99_s.value, rel=0.10, abs=seen.p99_s.half_width)
