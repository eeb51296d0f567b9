"""Search for settings: against brute force through the public interface, against closed forms, and by its own laws."""

import itertools
import json

import numpy as np
import pytest
from matplotlib.figure import Figure

import vmodel
from tests.strategies import slow_but
from vmodel.cli.main import main
from vmodel.config import scenario
from vmodel.errors import ConfigError
from vmodel.library import tables
from vmodel.plan.search import Problem, first_look, settled
from vmodel.plan.space import legal_values, space
from vmodel.plan.tune import tune
from vmodel.report import tuned
from vmodel.solve.goal import read_constraint, read_objective
from vmodel.solve.quantities import QUANTITIES, applies, evaluated, quantity, unit_quantile

VHOST = {"path": "virtio-vhost", "topology": "host-vm"}


def brute(settings, over, objective, bound=None, sign=1.0):
    """A column of `predict` over the whole grid of legal values, infinite beyond the bound; bound: column, most."""
    s = scenario(**settings)
    grids = np.meshgrid(*[np.asarray(legal_values(s, name)) for name in over], indexing="ij")
    found = vmodel.predict(**settings, **dict(zip(over, grids, strict=True)))
    values = sign * np.broadcast_to(found[objective], grids[0].shape)
    if bound is not None:
        values = np.where(np.broadcast_to(found[bound[0]], grids[0].shape) <= bound[1] * (1 + 1e-9), values, np.inf)
    return values


def test_a_timer_with_a_bound_on_interrupts_is_the_best_of_all_its_values():
    settings, over = {"path": "vf"}, ("rx_usecs", "posted_interrupts", "irq_affinity")
    found = tune(**settings, minimise="mean", subject=["interrupts <= 8k/s"], over=over, worth=0)
    least = brute(settings, over, "latency_s", ("interrupts_per_s", 8000)).min()
    assert found.optimum == pytest.approx(least, rel=1e-9)


@pytest.mark.slow
def test_two_polls_that_share_a_budget_of_cpu_are_the_best_of_a_million_pairs():
    over = ("halt_poll", "worker_poll")
    found = tune(**VHOST, minimise="mean", subject=["host_cpu <= 0.3"], over=over, worth=0)
    least = brute(VHOST, over, "latency_s", ("cpu_host", 0.3)).min()
    assert found.optimum == pytest.approx(least, rel=1e-9)
    assert found.answer.cpu_host <= 0.3 * (1 + 1e-9)


@pytest.mark.slow
def test_throughput_over_every_mtu_and_switch_is_the_best_of_all():
    settings, over = {**VHOST, "workload": "stream", "size": "64KiB"}, ("mtu", "tso", "event_idx")
    found = tune(**settings, maximise="throughput", subject=["guest_cpu <= 0.9"], over=over, worth=0)
    least = brute(settings, over, "throughput_bps", ("cpu_guest", 0.9), sign=-1.0).min()
    assert found.optimum == pytest.approx(-least, rel=1e-9)


def test_percentiles_are_those_of_single_predictions():
    over = ("event_idx", "posted_interrupts", "bridge", "numa_local")
    found = tune(**VHOST, minimise="p99", over=over, worth=0)
    best = min(
        vmodel.predict(**VHOST, **dict(zip(over, values, strict=True))).percentiles_s[0.99]
        for values in itertools.product((False, True), repeat=len(over))
    )
    assert found.optimum == pytest.approx(best, rel=1e-9)


def test_the_price_of_interrupts_is_that_of_the_closed_form():
    found = tune("vf", minimise="mean", subject=["interrupts <= 8k/s"], over=["rx_usecs"])
    (price,) = found.prices
    # R = tau and two interrupts a round trip: I = 2 / tau, so d R / d I = - tau / I
    assert price.slope == pytest.approx(-250e-6 / 8000, rel=0.02)
    assert price.checked == pytest.approx(-250e-6 / 8000, rel=0.15)  # over a tenth of the bound, in whole microseconds
    assert found.changes[0].after == 250


POLLING = ("halt_poll", "worker_poll", "event_idx", "posted_interrupts")


@pytest.fixture(scope="module")
def free():
    return tune(**VHOST, minimise="p99", over=POLLING, worth=0)


def test_prices_of_two_settings_that_share_a_bound_agree_with_solving_again(bound):
    (price,) = bound.prices
    assert price.binding and price.slope < 0
    assert price.slope == pytest.approx(price.checked, rel=0.25)


@pytest.fixture(scope="module")
def bound():
    return tune(**VHOST, minimise="p99", subject=["host_cpu <= 0.3"])


def test_constraints_never_improve_and_looser_ones_never_worsen(free, bound):
    tighter = tune(**VHOST, minimise="p99", subject=["host_cpu <= 0.2"], over=POLLING)
    both = tune(**VHOST, minimise="p99", subject=["host_cpu <= 0.2", "guest_cpu <= 0.08"], over=POLLING)
    some = tune(**VHOST, minimise="p99", subject=["host_cpu <= 0.3"], over=POLLING)
    assert free.optimum <= some.optimum <= tighter.optimum <= both.optimum


def test_the_answer_meets_its_bounds_by_a_prediction_of_its_own(bound):
    again = vmodel.predict(**VHOST, **{c.knob: c.after for c in bound.changes})
    assert again.cpu_host <= 0.3 * (1 + 1e-9)
    assert again.percentiles_s[0.99] == bound.answer.percentiles_s[0.99]
    assert bound.optimum <= again.percentiles_s[0.99] <= bound.optimum * 1.005
    assert again.percentiles_s[0.99] <= bound.today.percentiles_s[0.99]


def test_what_only_makes_room_for_a_step_of_another_setting_is_left_as_it_is():
    """Half a microsecond of polling is not worth taking the bridge away."""
    goal = {"minimise": "p99", "subject": ["host_cpu <= 0.3"], "over": ["halt_poll", "bridge", "zero_copy"]}
    exact, spared = (tune(**VHOST, **goal, worth=w) for w in (0, 0.01))
    assert {c.knob for c in exact.changes} == {"halt_poll", "bridge", "zero_copy"}
    assert {c.knob for c in spared.changes} == {"halt_poll"}
    assert spared.answer.cpu_host <= 0.3 * (1 + 1e-9)
    assert spared.answer.percentiles_s[0.99] <= exact.optimum * 1.01


def test_no_point_of_the_front_beats_another_and_all_meet_the_bounds(free, bound):
    for found in (free, bound):
        table = np.asarray([(p.values["p99"], -p.values["throughput"], p.values["cpu"]) for p in found.front])
        assert len(table) > 5
        beats = (table[:, None] <= table[None]).all(axis=2) & (table[:, None] < table[None]).any(axis=2)
        assert not beats.any()
    assert all(p.values["host_cpu"] <= 0.3 * (1 + 1e-9) for p in bound.front)


def test_every_point_of_the_front_is_what_predict_says(bound):
    for point in bound.front[:: max(1, len(bound.front) // 5)]:
        p = vmodel.predict(**VHOST, **point.settings)
        assert point.values["p99"] == pytest.approx(p.percentiles_s[0.99], rel=1e-6)
        assert point.values["cpu"] == pytest.approx(p.cpu_host + p.cpu_guest, rel=1e-9)


def test_what_was_tuned_has_nothing_left_to_tune(bound):
    again = tune(**VHOST, minimise="p99", subject=["host_cpu <= 0.3"], over=list(bound.searched), **_set(bound))
    assert again.optimum == pytest.approx(bound.optimum, rel=1e-3)
    assert again.changes == ()


def _set(found):
    return {c.knob: c.after for c in found.changes}


def test_settings_without_effect_are_told_with_the_reason_and_given_ones_are_held(bound):
    assert "ring_size" in bound.idle and "packets" in bound.idle["ring_size"]
    assert set(bound.idle).isdisjoint(bound.searched)
    held = tune(**VHOST, halt_poll=50, busy_poll=0, worker_poll=0, minimise="p99").held
    assert held["halt_poll"] == "given"
    assert "iperf3" in held["flows"] or "question" in held["flows"]


@pytest.mark.slow
def test_an_infeasible_question_names_bounds_reach_and_the_nearest_change():
    found = tune(**VHOST, minimise="p99", subject=["mean <= 50us", "host_cpu <= 0.3", "interrupts <= 1M/s"])
    assert not found.feasible and found.answer is None and found.hands is None
    why = found.conflict
    assert {c.quantity.name for c in why.smallest_set} == {"mean", "host_cpu"}
    assert why.nearest.constraint.quantity.name == "mean"
    # the change that is offered works, and a little less of it does not
    bounds = [f"mean <= {why.nearest.with_others * 1e6 * f:.6f}us" for f in (1.001, 0.99)]
    verdicts = [tune(**VHOST, minimise="p99", subject=[b, "host_cpu <= 0.3"]).feasible for b in bounds]
    assert verdicts == [True, False]


def test_the_advantage_over_the_runner_up_says_whether_it_is_certain(bound):
    second = bound.runner_up
    assert second.ratio >= 1.005
    assert second.ratio_interval.low <= second.ratio <= second.ratio_interval.high
    assert second.certain == (not second.ratio_interval.low <= 1 <= second.ratio_interval.high)


@pytest.mark.parametrize("path", slow_but("vf", "virtio-vhost"))
def test_every_path_can_be_searched_within_the_budget(path):
    for workload in tables.WORKLOADS:
        try:
            s = scenario(path=path, workload=workload)
        except ConfigError:
            continue
        axes = space(s, (), ()).axes
        objective = read_objective("mean", None, s)
        problem = Problem(scenario=s, axes=axes, objective=objective, constraints=(), front=())
        problem, fixed = settled(problem, np.random.default_rng(1))
        assert len(first_look(problem)) == len(axes)
        assert {a.knob: a.values for a in problem.axes if a.knob in fixed} == {k: (v,) for k, v in fixed.items()}


@pytest.mark.parametrize(
    "settings",
    [
        {"path": "vf"},
        {"path": "vf", "device": "ena"},
        {"path": "virtio-vhost", "workload": "stream"},
        {"path": "virtio-vhost", "workload": "packets", "load": "50kpps"},
        {"path": "dpdk"},
    ],
)
def test_every_quantity_of_many_is_that_of_one(settings):
    s = scenario(**settings)
    knobs = {"rx_usecs": np.array([0.0, 10.0, 100.0]), "halt_poll": np.array([0.0, 50.0, 100.0])}
    names = [n for n, q in QUANTITIES.items() if applies(q, s)]
    many = evaluated(s, knobs, names)
    for i in range(3):
        one = vmodel.predict(**settings, **{k: v[i] for k, v in knobs.items()})
        for name in names:
            assert many[name][i] == pytest.approx(QUANTITIES[name].of(one), rel=1e-4, abs=1e-15), name


def test_the_interpolated_quantile_is_that_of_printed_tables():
    # chi-square with ten degrees of freedom, AbramowitzStegun1964, table 26.8; exponential law
    assert 2 * 5 * unit_quantile(np.array([5.0]), 0.99)[0] == pytest.approx(23.2093, rel=1e-5)
    assert unit_quantile(np.array([1.0]), 0.999)[0] == pytest.approx(-np.log(0.001), rel=1e-8)


@pytest.mark.parametrize(
    ("text", "name", "upper", "bound"),
    [
        ("p99 <= 100us", "p99", True, 100e-6),
        ("throughput>=5Gbit/s", "throughput", False, 5e9),
        ("host_cpu <= 1", "host_cpu", True, 1.0),
        ("host-cpu < 0.5 cores", "host_cpu", True, 0.5),
        ("interrupts <= 8k/s", "interrupts", True, 8000.0),
        ("busy <= 80%", "busy", True, 0.8),
        ("latency \u2264 1.5 ms", "mean", True, 1.5e-3),
        ("rate >= 2Mpps", "rate", False, 2e6),
    ],
)
def test_bounds_are_read_with_their_units(text, name, upper, bound):
    c = read_constraint(text, None)
    assert (c.quantity.name, c.upper) == (name, upper)
    assert c.bound == pytest.approx(bound)


NONSENSE = ["p99", "p99 <= ", "<= 3us", "p99 = 3us", "p99 <= 3 quux", "__import__('os') <= 1", "p99 <= -1us"]


@pytest.mark.parametrize("text", [*NONSENSE, "cpu <= nan", "cpu <= 1e999", "x" * 5000])
def test_what_is_no_bound_is_refused_in_one_line(text):
    with pytest.raises(ConfigError) as error:
        read_constraint(text, None)
    assert len(error.value.lines()) == 1


def test_names_of_quantities_are_unique_and_have_the_nearest_offered():
    assert quantity("P99.9") is QUANTITIES["p999"]
    with pytest.raises(vmodel.VmodelError, match="throughput"):
        quantity("thruput")


def test_the_command_answers_in_lines_json_and_pictures(tmp_path, capsys):
    base = ["tune", "--path", "vf", "--minimise", "mean", "--subject", "interrupts <= 8k/s", "--over", "rx_usecs"]
    assert main(base) == 0
    text = capsys.readouterr().out
    for part in ("rx_usecs", "binding", "Pareto front", "ethtool -C eth0 rx-usecs 250", "Runner-up"):
        assert part in text
    assert main([*base, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["settings"] == {"rx_usecs": 250.0}
    assert record["feasible"] is True and record["answer"]["path"] == "vf"
    assert record["prices"][0]["shadow_price"] == pytest.approx(-31.25e-9, rel=0.02)
    picture = tmp_path / "front.svg"
    assert main([*base, "--plot", "-o", str(picture)]) == 0
    assert "processors of host and guest" in picture.read_text("utf-8")
    table = tmp_path / "front.csv"
    assert main([*base, "-o", str(table)]) == 0
    assert table.read_text("utf-8").startswith("mean,interrupts,throughput,cpu,rx_usecs")


def test_what_files_say_is_how_it_is_today_and_what_flags_say_is_held(tmp_path, capsys):
    file = tmp_path / "coalesce.txt"
    file.write_text("Coalesce parameters for eth0:\nAdaptive RX: n/a  TX: n/a\nrx-usecs: 400\nrx-frames: n/a\n")
    base = ["tune", "--path", "vf", "--from", str(file), "--minimise", "mean", "--json"]
    assert main([*base, "--set", "halt_poll=0", "--set", "busy_poll=0"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert "rx_usecs" in record["searched"] and record["changes"][0]["now"] == 400.0
    assert record["held"]["halt_poll"] == "given"


def test_nothing_to_search_is_an_answer_too():
    found = tune("xen-pv", minimise="mean", over=["mtu"], mtu=1500, size=64)
    assert found.changes == () and found.searched == {} and found.optimum == found.today.latency_s


def test_no_is_exit_code_one_with_the_reason(capsys):
    code = main(["tune", "--path", "vf", "--minimise", "p99", "--subject", "mean <= 1us", "--over", "rx_usecs"])
    text = capsys.readouterr().out
    assert code == 1
    assert "Out of reach by itself: mean <= 1.00 us" in text and "Nearest change: mean <=" in text


@pytest.mark.parametrize("subject", ["p99 <= 100us", "mean <= 20us", "transactions >= 30k/s", "host_cpu <= 0"])
def test_the_nearest_change_as_it_is_written_can_be_met(subject):
    """Three digits of a bound that is just within reach may lie beyond it: they are rounded to the other side."""
    goal = {"minimise": "cpu", "over": ["rx_usecs", "halt_poll"]}
    (line,) = [x for x in tuned.tuning_lines(tune("vf", subject=[subject], **goal)) if x.startswith("Nearest change")]
    offered = line.removeprefix("Nearest change: ").partition(" (")[0]
    assert tune("vf", subject=[offered], **goal).feasible


def test_all_faults_come_at_once_with_the_nearest_names(capsys):
    arguments = ["--minimise", "meen", "--subject", "interupts <= 8k/s", "--rx-usecs", "-1", "--worth", "200%"]
    assert main(["tune", "--path", "vf", *arguments]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 4 and all(line.startswith("vmodel: --") for line in lines)
    assert any('did you mean "mean"' in line for line in lines)
    assert main(["tune", "--path", "vf", "--minimise", "p99", "--over", "rx_usec"]) == 2
    assert 'did you mean "rx_usecs"' in capsys.readouterr().err
    assert main(["tune", "--path", "vf"]) == 2
    assert "--minimise or --maximise" in capsys.readouterr().err


def test_a_notebook_shows_changes_or_what_is_out_of_reach(bound):
    assert "halt_poll" in bound._repr_html_() and "p99 without it" in bound._repr_html_()
    no = tune("vf", minimise="mean", subject=["mean <= 1us"], over=["posted_interrupts"])
    assert "best alone" in no._repr_html_() and "&lt;=" in no._repr_html_()
    assert "[cores]" in vmodel.figure(bound).axes[0].get_xlabel()


def test_the_figure_shows_the_front_today_and_the_answer(bound):
    figure = tuned.front_figure(bound)
    assert isinstance(figure, Figure)
    axes = figure.axes[0]
    assert "[cores]" in axes.get_xlabel() and "[us]" in axes.get_ylabel()
    front, today, answer = axes.collections
    assert len(front.get_offsets()) == len(bound.front)
    for dots, p in ((today, bound.today), (answer, bound.answer)):
        x, y = dots.get_offsets()[0]
        assert (x, y) == pytest.approx((p.cpu_host + p.cpu_guest, p.percentiles_s[0.99] * 1e6))
