"""Explanations: closed forms that compute the prediction, effects that predictions confirm, reasons, bibliographies."""

import pytest

import vmodel
from tests.strategies import slow_but
from vmodel.config import scenario
from vmodel.library import tables
from vmodel.solve.compare import compare
from vmodel.solve.explain import active_knobs, bibliography, effects, explain, idle_settings, source, workloads_of
from vmodel.solve.formula import closed_form
from vmodel.solve.sheet import formula_sheet

SPECIAL = [
    {"path": "vf", "rx_usecs": 10},
    {"path": "vf", "in_flight": 8},
    {"path": "vf", "device": "mlx5"},
    {"path": "vf", "device": "mlx5", "rx_frames": 1},
    {"path": "vf", "rx_usecs": 10, "size": "64KiB", "mtu": 9000, "tso": False, "link_gbps": 40},
    {"path": "virtio-vhost", "busy_poll": 50, "worker_poll": 10},
    {"path": "virtio-vhost", "workload": "stream", "queues": 4, "flows": 8, "vcpus": 2},
    {"path": "virtio-vhost", "workload": "stream", "descriptor_batch": 4, "socket_buffer_bytes": 2048},
    {"path": "virtio-vhost", "workload": "packets", "load": "100kpps"},
    {"path": "virtio-vhost", "workload": "packets", "load": "1Gbit/s"},
    {"path": "virtio-vhost", "workload": "packets", "load": "100Mpps"},
    {"path": "vsock", "workload": "stream", "size": "64KiB"},
    {"path": "vsock", "workload": "stream", "size": "64KiB", "direction": "from-vm"},
    {"path": "vf", "rx_usecs": 10, "vcpu_wake_s": 1e-6},
]


def evaluated(prediction, **changed):
    space = {}
    exec(closed_form(prediction).python, space)  # in a name space of its own
    return space[prediction.scenario.workload](**changed)


def answer(prediction):
    return prediction.latency_s if prediction.scenario.workload == "rr" else prediction.messages_per_s


@pytest.mark.parametrize("path", slow_but("vf", "virtio-vhost", "dpdk"))
def test_the_written_function_computes_the_prediction_of_every_path(path):
    for topology in tables.endpoint(path).topologies:
        for workload in tables.WORKLOADS:
            p = vmodel.predict(path=path, topology=topology, workload=workload)
            assert evaluated(p) == pytest.approx(answer(p), rel=1e-9)


@pytest.mark.parametrize("settings", SPECIAL, ids=str)
def test_the_written_function_computes_special_cases(settings):
    p = vmodel.predict(**settings)
    assert evaluated(p) == pytest.approx(answer(p), rel=1e-9)


def test_the_written_function_takes_other_values():
    p = vmodel.predict(path="vf", rx_usecs=10)
    other = vmodel.predict(path="vf", rx_usecs=10, size=9000, mtu=4000, vcpu_wake_s=2e-5)
    assert evaluated(p, size=9000, mtu=4000, vcpu_wake_s=2e-5) == pytest.approx(other.latency_s, rel=1e-9)
    pieces = vmodel.predict(path="vf", rx_usecs=10, size=100_000, tso=False)
    other = vmodel.predict(path="vf", rx_usecs=10, size=50_000, nic_reap_s=9e-6, tso=False)
    assert evaluated(pieces, size=50_000, nic_reap_s=9e-6) == pytest.approx(other.latency_s, rel=1e-9)


def test_the_closed_form_ends_at_the_answer_and_defines_what_it_uses():
    form = closed_form(vmodel.predict(path="vf", rx_usecs=10))
    assert form.equations[-1].name == form.answer == "latency_s"
    assert form.text.startswith("latency_s = Max(")
    assert form.latex.count("&=") == len(form.equations)
    assert "import vmodel" not in form.python


def test_the_formula_sheet_holds_every_stage_with_its_sources():
    p = vmodel.predict(path="vsock", workload="stream")
    sheet = {row.stage: row for row in formula_sheet(p)}
    assert {r.stage for r in p.shares} <= set(sheet)
    assert all(row.about and row.text and row.latex for row in sheet.values())


@pytest.mark.parametrize("path", ["vf", "virtio-vhost", "vsock", "virtio-user", "xen-pv"])
def test_trials_are_what_predictions_say(path):
    for s in workloads_of(path):
        base = answer(vmodel.predict(path=path, workload=s.workload))
        for effect in effects(s, ["size", "batch", "tso", "mtu", "busy_poll"]):
            for trial in effect.trials:
                p = vmodel.predict(path=path, workload=s.workload, **{effect.knob: trial.value})
                assert answer(p) / base - 1 == pytest.approx(trial.change, abs=1e-8)


@pytest.mark.parametrize("path", tables.path_names())
def test_every_setting_either_matters_or_has_a_reason(path):
    for s in workloads_of(path):
        for effect in effects(s):
            assert effect.matters != bool(effect.reason), effect


def test_the_crossing_is_where_the_answer_begins_to_move():
    s = scenario(path="vf", rx_usecs=10)
    (effect,) = effects(s, ["rx_usecs"])
    assert "throttle" in effect.reason and not effect.matters
    (crossing,) = effect.begins_at
    before, after = (vmodel.predict(path="vf", rx_usecs=x).latency_s for x in (crossing - 2, crossing + 2))
    assert before == pytest.approx(vmodel.predict(path="vf", rx_usecs=10).latency_s)
    assert after > before * 1.005


def test_what_a_long_timer_hides_is_called_locked():
    found = {e.knob: e for e in effects(scenario(path="vf"))}
    assert "locked by interrupt moderation" in found["size"].reason
    assert "locked by interrupt moderation" in found["link_gbps"].reason
    assert found["rx_usecs"].matters
    assert "not honour" in found["rx_frames"].reason


@pytest.mark.parametrize(
    ("settings", "knob", "part"),
    [
        ({"path": "virtio-vhost"}, "rx_usecs", "no NIC interrupts"),
        ({"path": "vf"}, "batch", "no stage of this path uses it; vhost_send"),
        ({"path": "vf"}, "rx_buffer_bytes", "no stage of this path uses it; vsock"),
        ({"path": "vf"}, "dedicated_nic", "zero_copy_rx"),
        ({"path": "virtio-vhost"}, "ring_size", "packets only"),
        ({"path": "virtio-vhost", "workload": "stream"}, "in_flight", "rr only"),
        ({"path": "virtio-vhost", "workload": "stream"}, "buf_api", "hidden behind the bottleneck"),
        ({"path": "virtio-vhost", "workload": "stream"}, "queues", "flows 1"),
        ({"path": "virtio-user"}, "event_idx", "fixes it"),
        ({"path": "vf", "device": "ena_unmoderated"}, "pf_rx_usecs", ""),
    ],
)
def test_reasons_name_the_cause(settings, knob, part):
    (effect,) = effects(scenario(**settings), [knob])
    assert part in effect.reason


def test_settings_given_without_effect_are_told_apart_from_those_at_work():
    s = scenario(path="vf", rx_usecs=10, batch=4, load="1kpps", dma_engine=True, vsock_send_s=1e-6)
    found = idle_settings(s, ["rx_usecs", "batch", "load", "dma_engine", "vsock_send_s", "direction", "size"])
    assert set(found) == {"batch", "load", "dma_engine", "vsock_send_s", "direction"}


def test_an_explanation_is_complete():
    e = explain("vf", rx_usecs=10)
    assert {p.name for p in e.parameters} == set(e.prediction.elasticities)
    assert len(e.mattering) + len(e.idle) == len(tables.knobs())
    changes = [x.largest for x in e.mattering]
    assert changes == sorted(changes, reverse=True)
    given = {p.name: p for p in explain("vf", rx_usecs=10, vcpu_wake_s=1e-6).parameters}
    assert (given["vcpu_wake_s"].standing, given["vcpu_wake_s"].value, given["vcpu_wake_s"].log_error) == (
        "given",
        1e-6,
        0,
    )


def test_knobs_of_a_path_hold_those_that_act_in_any_workload():
    assert {"size", "in_flight", "rx_usecs", "halt_poll"} <= set(active_knobs("vf"))
    assert "batched_fetch" not in active_knobs("vf")


@pytest.mark.parametrize("path", tables.path_names())
def test_every_source_of_every_prediction_resolves(path):
    for s in workloads_of(path):
        p = vmodel.predict(path=path, workload=s.workload)
        found = bibliography(p)
        assert set(p.sources) <= {entry.key for entry in found}
        assert all(entry.title for entry in found)
        for row in formula_sheet(p):
            assert all(source(key).title for key in row.cites)


def test_comparison_puts_equal_things_within_each_others_interval():
    c = compare([{"path": "vf", "rx_usecs": 10}, {"path": "vf", "rx_usecs": 11}, {"path": "vf"}])
    latency = c.figures[0]
    assert latency.verdicts == ("first", "within each other's interval", "differ")
    assert latency.ratios[0] == 1
    assert c.differing == {"rx_usecs": (10.0, 11.0, None)}
    assert len(set(c.labels)) == 3
