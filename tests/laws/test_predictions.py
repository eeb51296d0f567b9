"""Laws of every prediction: all paths, in every topology they have, under every workload, direction and profile."""

import itertools
import math

import numpy
import pytest
from hypothesis import example, given, settings

from tests.strategies import combinations, label, predictions, questions
from vmodel.config import scenario
from vmodel.errors import ConfigError, VmodelError
from vmodel.library import tables
from vmodel.library.catalog import STAGES
from vmodel.solve import evaluate
from vmodel.solve.ask import predict
from vmodel.sources import STANDINGS
from vmodel.units import BITS_PER_BYTE

EXACT = 1e-9
COLUMNS = (
    "latency_s", "throughput_bps", "rate_pps", "transactions_per_s", "interrupts_per_s", "cpu_host", "cpu_guest",
)  # fmt: skip


def numbers(answer):
    """Every number of a prediction."""
    yield from (answer.latency_s, answer.lower_bound_s, answer.throughput_bps, answer.throughput_bound_bps)
    yield from (answer.rate_pps, answer.messages_per_s, answer.interrupts_per_s, answer.loss, answer.slack)
    yield from (answer.cpu_host, answer.cpu_guest, answer.bus_bytes_s, answer.log_sd)
    for table in (answer.percentiles_s, answer.busy, answer.demands_s):
        yield from table.values()
    yield from (share.seconds for share in answer.shares)
    for interval in (answer.latency_interval_s, answer.throughput_interval_bps, answer.rate_interval_pps):
        yield from (interval.low, interval.high)


def check(answer):
    """What holds for any question whatever."""
    where = label(answer)
    assert all(math.isfinite(number) and number >= 0 for number in numbers(answer)), where
    assert answer.latency_s > 0 and answer.rate_pps > 0 and answer.throughput_bps > 0, where
    assert sum(share.seconds for share in answer.shares) == pytest.approx(answer.latency_s, rel=EXACT), where
    percentiles = list(answer.percentiles_s.values())
    assert percentiles == sorted(percentiles), where
    assert answer.lower_bound_s <= answer.latency_s, where
    assert answer.throughput_bps <= answer.throughput_bound_bps, where
    assert max(answer.busy.values()) <= 1 + EXACT, where
    assert answer.loss <= 1 and answer.slack <= 1, where


def test_every_prediction_is_finite_positive_and_adds_up(path):
    for answer in predictions(path):
        check(answer)


def test_median_is_below_the_mean_or_near_and_the_tail_above(path):
    for answer in predictions(path):
        assert answer.percentiles_s[0.5] <= answer.latency_s * (1 + EXACT), label(answer)
        assert answer.percentiles_s[0.999] >= answer.latency_s * (1 - EXACT), label(answer)


def test_intervals_hold_the_value_and_have_a_width(path):
    for answer in predictions(path):
        pairs = (
            (answer.latency_interval_s, answer.latency_s),
            (answer.throughput_interval_bps, answer.throughput_bps),
            (answer.rate_interval_pps, answer.rate_pps),
            (answer.transactions_interval_per_s, answer.transactions_per_s),
        )
        for interval, value in pairs:
            if value is not None:
                assert interval.low < value < interval.high, label(answer)


def test_saturated_stream_keeps_its_bottleneck_busy_all_the_time(path):
    for answer in predictions(path):
        if answer.scenario.workload == "stream" and answer.bottleneck != "window":
            assert max(answer.busy.values()) == pytest.approx(1, rel=EXACT), label(answer)
            assert answer.busy[answer.bottleneck] == pytest.approx(1, rel=EXACT), label(answer)
            assert answer.slack == pytest.approx(0, abs=EXACT), label(answer)


def test_busy_shares_are_rate_times_demand_or_one_where_the_resource_polls(path):
    rows = evaluate.stage_rows()
    for answer in predictions(path):
        polling = {s.resource for s in answer.shares if s.stage in rows and STAGES[s.stage].spins}
        for resource, demand in answer.demands_s.items():
            wanted = 1.0 if resource in polling else answer.messages_per_s * demand
            assert answer.busy[resource] == pytest.approx(wanted, rel=EXACT), label(answer)


def test_bottleneck_is_named_and_known(path):
    for answer in predictions(path):
        assert answer.bottleneck in {*answer.busy, "window", "interrupt moderation"}, label(answer)


def test_throughput_is_rate_times_size(path):
    for answer in predictions(path):
        size = answer.scenario.knobs["size"] * BITS_PER_BYTE
        assert answer.throughput_bps == pytest.approx(answer.messages_per_s * size, rel=EXACT), label(answer)


@pytest.mark.parametrize("in_flight", [1, 2, 7])
def test_ping_pong_obeys_little(path, in_flight):
    for chosen in combinations(path):
        if chosen["workload"] == "rr":
            answer = predict(path, in_flight=in_flight, **chosen)
            check(answer)
            assert answer.transactions_per_s * answer.latency_s == pytest.approx(in_flight, rel=EXACT), label(answer)


def test_only_a_ping_pong_has_transactions(path):
    for answer in predictions(path):
        assert (answer.transactions_per_s is None) == (answer.scenario.workload != "rr"), label(answer)


def test_every_source_resolves_and_standing_is_known(path):
    for answer in predictions(path):
        assert answer.sources and set(answer.sources) <= set(tables.references()), label(answer)
        assert answer.standing in STANDINGS, label(answer)


def test_elasticities_of_a_ping_pong_without_moderation_sum_to_the_stage_share_of_seconds(path):
    for answer in predictions(path):
        if answer.scenario.workload == "rr":
            signed = sum(
                e * {"s": 1, "B/s": -1, "": 0, "B": 0}[tables.priors()[name].unit]
                for name, e in answer.elasticities.items()
            )
            assert signed <= 1 + EXACT, label(answer)


def test_regime_is_named(path):
    assert all(answer.regime for answer in predictions(path))


def test_topologies_that_a_path_cannot_have_are_refused(path):
    for topology in set(tables.TOPOLOGIES) - set(tables.endpoint(path).topologies):
        with pytest.raises(ConfigError, match=f'topology = "{topology}"'):
            scenario(path=path, topology=topology)


@given(questions())
@settings(max_examples=150)
def test_random_settings_never_give_nonsense(asked):
    check(predict(**asked))


@pytest.mark.slow
@given(questions())
@settings(max_examples=4000)
def test_many_random_settings_never_give_nonsense(asked):
    check(predict(**asked))


def column_cases():
    """Every knob with a column of legal values, on paths in turn."""
    cases = []
    paths = itertools.cycle(tables.path_names())
    for knob in tables.knobs().values():
        for workload in tables.WORKLOADS:
            if knob.kind == "switch":
                column = (0.0, 1.0, 0.0)
            else:
                top = min(knob.most, 200.0)
                column = tuple(min(max(round(top * f, 3), knob.least), top) for f in (1.0, 0.25, 0.05))
                if knob.kind in ("number", "count", "size"):
                    column = tuple(max(float(round(x)), knob.least) for x in column)
            if knob.name in ("size", "page_bytes", "socket_buffer_bytes", "segment_limit_bytes", "rx_buffer_bytes"):
                column = tuple(max(knob.least, x * 100) for x in column)
            if knob.name == "mtu":
                column = (576.0, 1500.0, 9000.0)
            path = next(p for p in paths if knob.name not in tables.endpoint(p).fixed)
            cases.append(pytest.param(knob.name, workload, path, column, id=f"{knob.name}-{workload}"))
    return cases


def check_column(path, name, column, **chosen):
    """Arrays answer what the same questions asked one by one answer."""
    singly = [predict(path, **{**chosen, name: value}) for value in column]
    at_once = predict(path, **{**chosen, name: numpy.array(column)})
    for key in COLUMNS:
        wanted = [getattr(answer, key) for answer in singly]
        if wanted[0] is None:
            assert at_once[key] is None
        else:
            numpy.testing.assert_allclose(
                numpy.broadcast_to(at_once[key], len(column)), wanted, rtol=EXACT, err_msg=f"{path} {chosen} {key}"
            )


@pytest.mark.parametrize(("name", "workload", "path", "column"), column_cases())
def test_a_column_of_a_knob_answers_as_its_values_do(name, workload, path, column):
    for profile in ("generic", "e5620-82576-2011"):
        check_column(path, name, column, workload=workload, profile=profile, dedicated_nic=True)


@pytest.mark.parametrize("path", ["vf", "virtio-vhost", "dpdk"])
@pytest.mark.parametrize("name", ["size", "batch", "posted_interrupts", "mtu", "link_gbps"])
def test_a_column_below_capacity_answers_as_its_values_do(path, name):
    column = (0.0, 1.0) if name == "posted_interrupts" else (1.0, 20.0) if name == "link_gbps" else (100.0, 1000.0)
    check_column(path, name, column, workload="packets", load=1000.0, profile="generic")


@pytest.mark.parametrize("name", ["rx_usecs", "pf_rx_usecs"])
@pytest.mark.parametrize("workload", tables.WORKLOADS)
@pytest.mark.parametrize("path", ["vf", "pf", "native"])
def test_a_column_that_turns_moderation_off_in_one_row_answers_as_its_values_do(path, workload, name):
    check_column(path, name, (0.0, 10.0, 500.0), workload=workload, profile="e5620-82576-2011")


@given(questions(workloads=("rr", "stream")))
@example({"path": "vf", "profile": "generic", "topology": "vm-vm", "workload": "rr", "direction": "to-vm"})
@settings(max_examples=40)
def test_two_columns_broadcast_against_each_other(asked):
    chosen = {k: v for k, v in asked.items() if k not in ("path", "size", "batch")}
    grid = predict(asked["path"], **chosen, size=numpy.array([[100.0], [5000.0]]), batch=numpy.array([1.0, 32.0, 64.0]))
    for (i, size), (j, batch) in itertools.product(enumerate((100, 5000)), enumerate((1, 32, 64))):
        one = predict(asked["path"], **chosen, size=size, batch=batch)
        assert numpy.broadcast_to(grid["latency_s"], (2, 3))[i, j] == pytest.approx(one.latency_s, rel=EXACT)
        assert numpy.broadcast_to(grid["rate_pps"], (2, 3))[i, j] == pytest.approx(one.rate_pps, rel=EXACT)


@pytest.mark.parametrize("workload", tables.WORKLOADS)
def test_columns_have_the_shape_of_the_question(path, workload):
    answers = predict(path, workload=workload, size=numpy.array([64.0, 512.0, 1400.0]), topology=None)
    nothing = predict(path, workload=workload, core_sharing=numpy.array([0.0, 1.0]))
    for key in COLUMNS:
        if answers[key] is not None:
            assert numpy.shape(answers[key]) == (3,), key
            assert numpy.shape(nothing[key]) == (2,), key


def test_questions_that_make_no_sense_are_refused_never_crash():
    with pytest.raises(VmodelError):
        predict("vsock", peer="host-kernel")


@pytest.mark.parametrize(("name", "column"), [("adaptive_rx", (0.0, 1.0)), ("rx_frames", (1.0, 64.0))])
@pytest.mark.parametrize("workload", tables.WORKLOADS)
def test_a_column_of_moderation_settings_answers_as_its_values_do(workload, name, column):
    check_column("vf", name, column, workload=workload, device="virtio_coal", rx_usecs=50, profile="generic")
