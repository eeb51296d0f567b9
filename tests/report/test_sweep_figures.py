"""Figures of sweeps: what is on the axes, labels with units, and marks that survive without colour."""

import numpy as np
import pytest

import vmodel
from vmodel.calibrate.dataset import parse_rows
from vmodel.errors import ConfigError
from vmodel.report.curves import Points, Series, load_figure, sweep_figure
from vmodel.report.maps import regime_figure
from vmodel.report.pictures import default_answer, needed_columns, sweep_picture
from vmodel.report.style import by_factors
from vmodel.solve.curve import load_curve
from vmodel.sweep.axis import faults_of
from vmodel.sweep.engine import in_memory
from vmodel.sweep.grid import grid

HEAD = "path,workload,topology,direction,message_bytes,metric,value,sd,mtu\n"


@pytest.fixture(scope="module")
def curve():
    return load_curve(vmodel.scenario(path="virtio-vhost", workload="packets", size=256), 300)


def swept(settings, *texts, answer=None):
    g = grid(settings, faults_of(texts)[0])
    answer = answer or default_answer(g)
    from dataclasses import replace

    return in_memory(replace(g, columns=needed_columns(g, answer))), answer


def legend(axes):
    return [t.get_text() for t in axes.get_legend().get_texts()]


def test_a_load_curve_shows_mean_bands_knee_and_capacity(curve):
    above, below = load_figure({"one": curve}, "title").axes
    assert above.get_ylabel() == "one-way latency [us]" and below.get_xlabel() == "offered load [kpps]"
    assert below.get_ylabel() == "rate [kpps]" and above.get_yscale() == "log"
    names = legend(above)
    assert names[:4] == ["p50 to p99", "p99 to p99.9", "p99", "mean"]
    assert names[4].startswith("knee") and names[-1].startswith("capacity")
    mean = next(line for line in above.lines if line.get_label() == "mean")
    assert mean.get_ydata() == pytest.approx(curve.mean_s * 1e6)
    knee = next(line for line in above.lines if line.get_label().startswith("knee"))
    assert knee.get_xdata()[0] == pytest.approx(curve.knee_per_s / 1e3)
    assert knee.get_marker() not in ("", "None")
    carried = next(line for line in below.lines if line.get_label() == "carried")
    assert max(carried.get_ydata()) == pytest.approx(curve.capacity_per_s / 1e3, rel=1e-3)


def test_several_load_curves_differ_by_dash_and_mark(curve):
    above = load_figure({"one": curve, "two": curve, "three": curve}, "").axes[0]
    means = [line for line in above.lines if line.get_label().endswith(", mean")]
    knees = [line for line in above.lines if ", knee at" in line.get_label()]
    assert len({line.get_linestyle() for line in means}) == len({line.get_marker() for line in knees}) == 3


def test_only_the_loads_that_were_asked_for_are_drawn():
    s, answer = swept({"path": "virtio-vhost", "workload": "packets"}, "load=10%..80%/5")
    above, _ = sweep_picture(s, answer).axes
    x = next(line for line in above.lines if line.get_label() == "mean").get_xdata()
    top = vmodel.predict("virtio-vhost", workload="packets").messages_per_s / 1e3
    assert min(x) == pytest.approx(0.1 * top, rel=0.02) and max(x) == pytest.approx(0.8 * top, rel=0.02)


def test_a_sweep_shows_line_band_and_measured_points_on_top():
    text = HEAD + "virtio-vhost,stream,host-vm,to-vm,1024,throughput_mbps,3000,100,1500\n"
    text += "virtio-vhost,stream,host-vm,to-vm,8192,throughput_mbps,9000,,1500\n"
    text += "virtio-vhost,stream,host-vm,from-vm,8192,throughput_mbps,1,,1500\n"
    s, answer = swept({"path": "virtio-vhost", "workload": "stream"}, "size=64..64KiB/9@log")
    axes = sweep_picture(s, answer, parse_rows(text, "text")).axes[0]
    assert axes.get_xlabel() == "size [B]" and axes.get_ylabel() == "throughput [Mbit/s]"
    assert legend(axes) == ["90 % interval", "predicted", "measured"]
    line = next(line for line in axes.lines if line.get_label() == "predicted")
    assert line.get_ydata() == pytest.approx(s.columns["throughput_bps"] / 1e6)
    points = axes.containers[0].lines[0]
    assert points.get_xdata().tolist() == [1024, 8192] and points.get_ydata().tolist() == [3000, 9000]
    assert points.get_zorder() > line.get_zorder()
    band = axes.collections[0].get_paths()[0].vertices
    assert band[:, 1].min() == pytest.approx(s.columns["throughput_bps_low"].min() / 1e6)


def test_transactions_are_drawn_as_the_latency_of_one_in_flight():
    text = HEAD + "vsock,rr,host-vm,,64,transactions_per_s,20000,,\n"
    s, answer = swept({"path": "vsock", "workload": "rr"}, "size=64,1024,4096")
    axes = sweep_picture(s, answer, parse_rows(text, "text")).axes[0]
    assert axes.containers[0].lines[0].get_ydata()[0] == pytest.approx(50.0)


def test_lines_of_several_cases_differ_by_dash():
    s, answer = swept({}, "path=vf,virtio-vhost,vsock", "size=64..64KiB/5@log")
    axes = sweep_picture(s, answer).axes[0]
    lines = [line for line in axes.lines if line.get_label() in ("vf", "virtio-vhost", "vsock")]
    assert len({line.get_linestyle() for line in lines}) == 3


def test_a_setting_that_changes_the_law_can_be_the_axis():
    s, answer = swept({"path": "virtio-vhost"}, "in_flight=1:8:1", "size=64,1500")
    axes = sweep_picture(s, answer).axes[0]
    assert axes.get_xlabel() == "in_flight [requests]"
    assert legend(axes) == ["size 64 B", "size 1500 B"]


def test_a_map_names_each_region_by_letter_hatch_and_colour():
    s, answer = swept({"path": "vf"}, "size=64..64KiB/12@log", "rx_usecs=0..300/13")
    figure = sweep_picture(s, answer)
    axes = figure.axes[0]
    assert axes.get_xlabel() == "rx_usecs [us]" and axes.get_ylabel() == "size [B]"
    names = [t.get_text() for t in figure.legends[0].get_texts()]
    hatches = [patch.get_hatch() for patch in figure.legends[0].get_patches()]
    assert len(set(hatches)) == len(names) == 3
    assert any("locked to the interrupt throttle; interrupt moderation" in n for n in names)
    letters = {t.get_text() for t in axes.texts if len(t.get_text()) == 1}
    assert letters == {n[0] for n in names}
    assert "latency [us]" in figure.legends[0].get_title().get_text()
    codes = axes.collections[0].get_array().reshape(12, 13)
    assert len(np.unique(codes)) == 3


def test_a_map_of_one_region_needs_no_letters_to_be_told_apart():
    figure = regime_figure([1, 2, 3], [1, 2, 3], np.full((3, 3), "calm; host CPU", object), None, ("x", "y", "z", "t"))
    assert [t.get_text() for t in figure.legends[0].get_texts()] == ["A  calm; host CPU"]


def test_a_crowd_of_configurations_is_drawn_as_its_pareto_front():
    s, answer = swept({"path": "vf"}, "rx_usecs=0:450:50", "busy_poll=0,50,200", "halt_poll=0,50,200")
    axes = sweep_picture(s, answer).axes[0]
    assert axes.get_xlabel() == "processors of host and guest [cores]" and axes.get_ylabel() == "latency [us]"
    assert axes.get_legend().get_title().get_text() == "better: left and down"
    cores, latency = s.columns["cpu_host"] + s.columns["cpu_guest"], s.columns["latency_us"]
    front = axes.lines[1]
    assert latency.min() == pytest.approx(min(front.get_ydata())) and cores.min() == pytest.approx(
        min(front.get_xdata())
    )
    named = [t.get_text() for t in axes.figure.legends[0].get_texts()]
    assert len(named) == len(axes.texts) > 2 and all("rx_usecs" in n and "busy_poll" in n for n in named)


def test_what_no_figure_can_show_is_refused():
    s, answer = swept({"path": "vf"}, "size=64,128", "mtu=1500,9000", "rx_usecs=0:90:10")
    assert sweep_picture(s, answer)
    s, answer = swept({}, "path=vf,vsock")
    with pytest.raises(ConfigError, match="more than one value"):
        sweep_picture(s, answer)


def test_points_of_nowhere_are_refused():
    text = HEAD + "vf,stream,cross-host-vm,to-vm,1024,throughput_mbps,3000,100,1500\n"
    s, answer = swept({"path": "vf", "workload": "rr"}, "size=64,1024")
    with pytest.raises(ConfigError, match="there are none"):
        sweep_picture(s, answer, parse_rows(text, "text"))


def test_bands_need_no_interval():
    line = Series(label="a", x=[1, 2], y=[3, 4])
    axes = sweep_figure([line], "x [s]", "y [s]", "", [Points(label="a", x=[1], y=[3], sd=[None])]).axes[0]
    assert axes.get_ylabel() == "y [s]" and legend(axes) == ["predicted", "measured"]


@pytest.mark.parametrize(
    ("values", "grown"),
    [([1, 10, 100], True), ([64, 128, 256, 512], True), ([1, 2, 3, 4], False), ([0, 1, 10], False), ([5, 5], False),
     (list(range(1, 200)), False)],
)  # fmt: skip
def test_an_axis_grows_by_factors_where_its_values_do(values, grown):
    assert by_factors(values) is grown
