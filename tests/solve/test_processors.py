"""What polling costs: latency is bought with processor time, and never more of it than there is."""

import pytest

import vmodel

ASK = dict(topology="host-vm", size=64, profile="generic")


@pytest.mark.parametrize(
    ("knob", "where"), [("halt_poll", "cpu_host"), ("worker_poll", "cpu_host"), ("busy_poll", "cpu_guest")]
)
def test_polling_buys_latency_with_processor_time(knob, where):
    asleep = vmodel.predict("virtio-vhost", **ASK)
    awake = vmodel.predict("virtio-vhost", **ASK, **{knob: 500})
    assert awake.latency_s < asleep.latency_s
    assert getattr(awake, where) > getattr(asleep, where) + 0.3


def test_no_resource_is_busier_than_always():
    answer = vmodel.predict("virtio-vhost", **ASK, halt_poll=500, worker_poll=500, busy_poll=500)
    assert max(answer.busy.values()) <= 1 + 1e-12
    assert answer.cpu_guest == pytest.approx(1)


def test_a_window_shorter_than_the_gap_covers_its_share_of_it():
    gap = vmodel.predict("virtio-vhost", **ASK).latency_s * 1e6
    idle = vmodel.predict("virtio-vhost", **ASK)
    half = vmodel.predict("virtio-vhost", **ASK, worker_poll=gap / 2)
    whole = vmodel.predict("virtio-vhost", **ASK, worker_poll=gap)
    assert idle.busy["vhost worker"] < half.busy["vhost worker"] < whole.busy["vhost worker"] == pytest.approx(1)


def test_arrays_count_the_same_processors():
    many = vmodel.predict("virtio-vhost", **ASK, halt_poll=[0.0, 20.0, 500.0])
    for i, window in enumerate((0.0, 20.0, 500.0)):
        one = vmodel.predict("virtio-vhost", **ASK, halt_poll=window)
        assert many["cpu_host"][i] == pytest.approx(one.cpu_host)
        assert many["cpu_guest"][i] == pytest.approx(one.cpu_guest)
