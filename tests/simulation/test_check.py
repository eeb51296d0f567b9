"""`vmodel check`: the simulation keeps the exact laws; the model agrees with it or says how far it is off."""

import json
import sys

import pytest

pytest.importorskip("simpy")

from tests.simulation.grid import CASES, KINDS, checked, question
from vmodel.cli.main import main
from vmodel.config import scenario
from vmodel.errors import ConfigError
from vmodel.library.moderation import Moderation
from vmodel.simulate.check import INSIDE, OFF, check, line_throughput
from vmodel.simulate.known import KNOWN, USUAL
from vmodel.simulate.network import AlarmStep, Network, Part, Turn, Visit, network
from vmodel.simulate.run import NotInstalled, product_form, simulate
from vmodel.solve.batch import capped_batch_mean
from vmodel.solve.load import ADAPTIVE_PACKETS
from vmodel.solve.moderation_law import holdoff_time, throttle_time
from vmodel.solve.mva import exact_mva
from vmodel.solve.queues import mg1_wait
from vmodel.solve.rings import mg1k
from vmodel.solve.wakeup import setup_response


def one_of(found, name):
    return next(figure for figure in found.figures if figure.name == name)


def off(found):
    """Figures that are off by more than is stated."""
    return [figure for figure in found.figures if figure.verdict == OFF]


def laid_out(*visits, rate=None, in_flight=None, places=10**9, workload="packets", batch=1):
    return Network(
        visits=visits, workload=workload, rate_per_s=rate, in_flight=in_flight, places=places, servers={}, flows=1,
        packets=1.0, batch=batch, pieces=1,
    )  # fmt: skip


def turn_at(name, mean, scv, **more):
    return Visit(resource=name, direction="there", parts=[Part(mean_s=mean, scv=scv)], **more)


def timer(kind, frames=None):
    return Moderation(
        device="any", kind=kind, interval_s=None, frames=frames, adaptive=False, parameter=None, honoured=True,
        warnings=(),
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("scv", [0.0, 0.25, 1.0])
def test_a_single_station_waits_as_long_as_it_must(scv):
    seen = simulate(laid_out(turn_at("a", 1.0, scv), rate=0.6), 60_000, 2)
    assert seen.mean_s.value == pytest.approx(1 + mg1_wait(0.6, 1.0, scv), rel=0.03)
    assert seen.throughput_per_s.value == pytest.approx(0.6, rel=0.02)
    assert seen.loss.value == 0


@pytest.mark.parametrize("rho", [0.8, 1.5])
def test_a_ring_loses_what_it_must(rho):
    seen = simulate(laid_out(turn_at("a", 1.0, 1.0), rate=rho, places=8), 60_000, 3)
    ring = mg1k(rho, 1.0, 1.0, 8)
    assert seen.loss.value == pytest.approx(ring.loss, rel=0.1)
    assert seen.mean_s.value == pytest.approx(ring.response_s, rel=0.03)
    assert dict(seen.lost_at) == {"a": pytest.approx(ring.loss * 60_000, rel=0.1)}


@pytest.mark.slow
@pytest.mark.parametrize("setup", [0.5, 8.0])
def test_whoever_finds_a_station_asleep_wakes_it_and_the_others_wait_too(setup):
    visit = turn_at("a", 1.0, 0.25, alarm=[AlarmStep(part=Part(mean_s=setup, scv=0.0), window_s=0.0)])
    seen = simulate(laid_out(visit, rate=0.3), 60_000, 4)
    assert seen.mean_s.value == pytest.approx(setup_response(0.3, 1.0, 0.25, setup, 0.0), rel=0.03)


def test_a_poll_window_longer_than_every_gap_saves_the_wake_up():
    visit = turn_at("a", 1.0, 0.0, alarm=[AlarmStep(part=Part(mean_s=5.0, scv=0.0), window_s=10.0)])
    net = laid_out(visit, Visit(resource=None, direction="", parts=[Part(mean_s=9.0, scv=0.0)]), in_flight=1)
    assert simulate(net, 2000, 1).mean_s.value == pytest.approx(10.0)
    visit.alarm[0] = AlarmStep(part=Part(mean_s=5.0, scv=0.0), window_s=8.0)
    assert simulate(net, 2000, 1).mean_s.value == pytest.approx(15.0)


def timed(kind, tau, frames=None):
    """A receiver that works in no time, behind a moderated interrupt."""
    return turn_at("receiver", 0.0, 0.0, timer=timer(kind, frames), timer_s=tau)


@pytest.mark.slow
@pytest.mark.parametrize("load", [0.2, 3.0])
def test_a_throttle_keeps_interrupts_apart_and_a_holdoff_starts_with_the_first(load):
    for kind, law in (("throttle", throttle_time), ("holdoff", holdoff_time)):
        seen = simulate(laid_out(timed(kind, 1.0), rate=load), 40_000, 5)
        assert seen.mean_s.value == pytest.approx(law(load, 1.0).mean_s, rel=0.05)


def test_enough_frames_end_a_holdoff():
    assert simulate(laid_out(timed("holdoff", 1.0, 1), rate=3.0), 5000, 5).mean_s.value == pytest.approx(0.0, abs=1e-9)


def test_one_request_locks_to_a_throttle():
    seen = simulate(laid_out(turn_at("a", 1.0, 0.0), timed("throttle", 4.0), in_flight=1, workload="rr"), 2000, 1)
    assert seen.mean_s.value == pytest.approx(4.0)
    assert seen.throughput_per_s.value == pytest.approx(0.25)


def test_frames_that_come_while_others_are_served_need_no_interrupt():
    """A busy station is never told: with a load close to one the timer hardly matters."""
    visit = turn_at("a", 1.0, 0.0, timer=timer("throttle"), timer_s=3.0)
    seen = simulate(laid_out(visit, rate=0.97), 40_000, 5)
    assert seen.mean_s.value == pytest.approx(1 + mg1_wait(0.97, 1.0, 0.0), rel=0.15)


def test_an_adaptive_timer_follows_the_rate():
    rate = 5.0
    visit = turn_at("a", 0.0, 0.0, timer=timer("throttle"), timer_s=1.0, longest_s=10.0)
    seen = simulate(laid_out(visit, rate=rate), 40_000, 5)
    tau = 1.0 * 10.0 * rate / ADAPTIVE_PACKETS
    assert seen.mean_s.value == pytest.approx(throttle_time(rate, tau).mean_s, rel=0.05)


def test_a_turn_is_paid_once_for_those_that_wait():
    visit = turn_at("a", 0.5, 0.0, turns=[Turn(part=Part(mean_s=1.0, scv=0.0), most=10)])
    alone = simulate(laid_out(visit, rate=1e-3), 2000, 1)
    assert alone.mean_s.value == pytest.approx(1.5, rel=0.01)
    full = simulate(laid_out(visit, rate=10.0, places=64), 40_000, 1)
    assert full.throughput_per_s.value == pytest.approx(1 / 0.6, rel=0.01)
    assert capped_batch_mean(10.0, 1.0, 0.5, 10.0) == pytest.approx(10.0, rel=0.01)


@pytest.mark.parametrize("customers", [1, 8])
def test_a_closed_network_of_exponential_stations_is_what_exact_analysis_says(customers):
    demands = {"a": 1.0, "b": 2.0, "c": 0.5}
    visits = [turn_at(name, mean, 1.0) for name, mean in demands.items()]
    net = product_form(laid_out(*visits, in_flight=customers, workload="rr"))
    seen = simulate(net, 40_000, 6).throughput_per_s
    assert seen.value == pytest.approx(exact_mva([1.0, 2.0, 0.5], 0.0, customers).throughput_pps, rel=0.02)


def test_line_agrees_with_exact_analysis():
    pytest.importorskip("line_solver")
    for customers in (1, 8, 100):
        found = line_throughput({"a": 2.1e-6, "b": 1.35e-6}, 15e-6, customers)
        assert found == pytest.approx(exact_mva([2.1e-6, 1.35e-6], 15e-6, customers).throughput_pps, rel=1e-6)


def test_the_same_seed_gives_the_same_figures():
    asked = scenario(path="virtio-user", workload="packets", load="500kpps")
    first, second = (check(asked, messages=2000, seed=7) for _ in range(2))
    assert first.figures == second.figures
    assert check(asked, messages=2000, seed=8).figures != first.figures


def test_stage_times_are_all_that_comes_from_the_model():
    net = network(scenario(path="vf", rx_usecs=10, topology="cross-host-vm"))
    assert [v.timer.kind for v in net.visits if v.timer is not None] == ["throttle", "throttle"]
    assert net.in_flight == 1 and net.places == 256
    assert "wire|there" in net.demands() and "guest vCPU|guest" in net.demands()
    resources = [v.resource for v in net.visits if v.resource is not None]
    assert resources[0].startswith("host CPU") and resources.count("guest vCPU|guest") >= 2


def test_the_vf_locks_to_its_throttle():
    found = check(scenario(path="vf", workload="rr"), messages=6000)
    assert one_of(found, "mean").simulated == pytest.approx(488e-6, rel=1e-3)
    assert one_of(found, "mean").verdict == INSIDE or abs(one_of(found, "mean").gap) < 1e-3
    assert one_of(found, "throughput").gap == pytest.approx(0.0, abs=1e-3)


def test_a_round_trip_with_a_short_timer_is_the_sum_of_its_stages():
    found = check(scenario(path="vf", workload="rr", rx_usecs=10))
    assert off(found) == []
    assert abs(one_of(found, "mean").gap) < 0.02
    assert abs(one_of(found, "p99").gap) < 0.06


@pytest.mark.parametrize("path", ["vf", "vhost-user", "vsock"])
def test_several_in_flight_agree_in_product_form(path):
    found = check(scenario(path=path, workload="rr", in_flight=8), messages=10_000)
    assert one_of(found, "product form, SimPy").verdict != OFF


@pytest.mark.slow
@pytest.mark.parametrize("path", ["virtio-vhost", "vf", "virtio-qemu", "xen-pv"])
def test_a_stream_runs_at_the_rate_of_its_bottleneck(path):
    found = check(scenario(path=path, workload="stream"))
    rate = one_of(found, "throughput")
    assert rate.verdict != OFF
    assert rate.simulated <= 1.02 / max(found.stations.values())


@pytest.mark.slow
@pytest.mark.parametrize("path", ["virtio-user", "vf", "vhost-user"])
@pytest.mark.parametrize("kind", ["packets at 0.5", "packets at 0.9"])
def test_packets_at_a_load_are_carried_and_take_as_long_as_stated(path, kind):
    found = checked((path, kind))
    assert one_of(found, "throughput").verdict != OFF
    assert one_of(found, "loss").verdict == INSIDE
    assert off(found) == []


def test_too_few_messages_are_refused():
    with pytest.raises(ConfigError, match="--messages"):
        check(scenario(path="vf"), messages=10)


def test_the_command_prints_a_table_or_the_record(capsys):
    arguments = ["check", "--path", "vf", "--rx-usecs", "10", "--messages", "4000"]
    assert main(arguments) == 0
    out, err = capsys.readouterr()
    assert "model and simulation agree" in out and err == ""
    assert main([*arguments, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert [figure["figure"] for figure in record["figures"]] == ["mean", "p50", "p99", "throughput"]
    assert record["agrees"] is True and record["figures"][0]["unit"] == "us"


def test_the_command_says_no_when_something_is_off(capsys, monkeypatch):
    monkeypatch.setattr("vmodel.simulate.check.predict", lambda s: predicted)
    from dataclasses import replace

    from vmodel.solve.solver import predict

    asked = scenario(path="vf", rx_usecs=10)
    predicted = replace(predict(asked), latency_s=1.0)
    assert main(["check", "--path", "vf", "--rx-usecs", "10", "--messages", "2000"]) == 1
    assert "off: mean" in capsys.readouterr().out


def test_without_simpy_one_line_says_how_to_get_it(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "simpy", None)
    assert main(["check", "--path", "vf"]) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", "vmodel: this needs SimPy: pip install 'vmodel[check]'\n")
    with pytest.raises(NotInstalled):
        check(scenario(path="vf"))


@pytest.mark.parametrize("arguments", [["--messages", "5"], ["--messages", "x"], ["--seed", "-1"]])
def test_bad_numbers_are_one_line(capsys, arguments):
    assert main(["check", "--path", "vf", *arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_stated_errors_name_figures_and_reasons():
    for known in KNOWN:
        assert known.reason and set(known.errors) <= set(USUAL)
        assert all(known.errors[name] > USUAL[name] for name in known.errors)


# Enough for rings to be as full as they get; the page is written from 20,000 everywhere.
MESSAGES = {"packets at 0.9": 8_000, "packets at 1.3": 8_000, "packets, max": 20_000}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_path_agrees_or_its_error_is_stated(kind):
    wrong = []
    for case in CASES:
        if case[1] == kind:
            wrong += [(*case, f.name, f"{f.gap:+.3f}") for f in off(checked(case, messages=MESSAGES.get(kind, 5_000)))]
    assert wrong == []


@pytest.mark.slow
def test_a_window_and_several_queues_are_simulated_too():
    found = check(scenario(path="native", workload="stream", socket_buffer_bytes=65536))
    assert network(found.scenario).in_flight < 100
    several = question("virtio-user", "packets, max")
    assert network(several).servers["vhost worker"] == 1
