"""Figures about evidence and choices: values on the axes, units, legends, intervals; and the path by busy share."""

import math

import numpy as np
import pytest
from matplotlib.colors import to_rgba

import vmodel
from vmodel.calibrate.dataset import parse_rows
from vmodel.calibrate.validate import compare_rows
from vmodel.cli.main import main
from vmodel.report.choices import on_front, pareto_figure
from vmodel.report.graph import digraph, path_figure
from vmodel.report.judged import Learned, judged_of, learned_of, measured_figure, posterior_figure, tornado_figure

ROWS = """path,workload,topology,direction,message_bytes,metric,value,sd
virtio-vhost,rr,host-vm,,1024,latency_us,139,10
vsock,rr,host-vm,,1024,latency_us,60,
virtio-vhost,stream,host-vm,to-vm,4096,throughput_mbps,9000,
"""


def legend(axes):
    return [t.get_text() for t in axes.get_legend().get_texts()]


def test_each_metric_has_its_panel_with_diagonal_and_intervals():
    rows = parse_rows(ROWS, "rows")
    result = compare_rows("mine", rows, 0, vmodel.profile("generic"))
    panels = judged_of("mine", rows, result.inside.logs, result.inside.sd)
    latency, throughput = measured_figure(panels).axes
    assert latency.get_xlabel() == "measured latency [us]" and latency.get_ylabel() == "predicted latency [us]"
    assert throughput.get_xlabel() == "measured throughput [Mbit/s]"
    assert latency.get_title().startswith("mine\n2 rows, median error")
    assert legend(latency) == ["within 10%", "virtio-vhost", "vsock"]
    marks = [c.lines[0] for c in latency.containers]
    assert [m.get_xdata()[0] for m in marks] == [139, 60]
    assert marks[0].get_ydata()[0] == pytest.approx(math.exp(result.inside.logs[0]))
    assert len({m.get_marker() for m in marks}) == 2
    assert latency.get_xlim() == latency.get_ylim() and latency.get_xscale() == latency.get_yscale() == "log"


def test_posteriors_lie_beside_their_priors_as_factors():
    costs = [
        Learned(name="told", prior=2e-6, prior_log_sd=0.6, value=4e-6, log_sd=0.05),
        Learned(name="untold", prior=1e-6, prior_log_sd=0.6, value=1e-6, log_sd=0.6),
    ]
    axes = posterior_figure(costs, "title").axes[0]
    assert [t.get_text() for t in axes.get_yticklabels()] == ["told", "untold"]
    assert "[-]" in axes.get_xlabel() and axes.get_xscale() == "log"
    assert legend(axes) == ["before (prior)", "after (posterior)"]
    bars = [(b.get_x(), b.get_x() + b.get_width()) for b in axes.patches]
    z = 1.6448536269514722
    assert bars[0] == pytest.approx((math.exp(-0.6 * z), math.exp(0.6 * z)))
    assert bars[1] == pytest.approx((2 * math.exp(-0.05 * z), 2 * math.exp(0.05 * z)))
    assert axes.patches[0].get_hatch() and not axes.patches[1].get_hatch()


def test_the_estimates_of_a_fit_are_drawn():
    f = vmodel.fit(parse_rows(ROWS, "rows"), vmodel.profile("generic"))
    axes = posterior_figure(learned_of(f.estimates), "").axes[0]
    best = min(f.estimates, key=lambda e: e.log_error / e.prior_log_sd)
    assert axes.get_yticklabels()[0].get_text() == best.name


def test_a_tornado_shows_elasticities_and_what_a_standard_error_does():
    p = vmodel.predict("virtio-vhost", workload="stream", size=65536)
    left, right = tornado_figure(p).axes
    assert left.get_xlabel() == "elasticity of the rate [% per %]" and right.get_xlabel() == "change of the rate [%]"
    names = [t.get_text() for t in left.get_yticklabels()]
    widths = [b.get_width() for b in left.patches]
    assert widths == pytest.approx([p.elasticities[n] for n in names])
    assert [abs(w) for w in widths] == sorted((abs(w) for w in widths), reverse=True)
    assert len({b.get_hatch() for b in right.patches}) == 2 and len(legend(right)) == 2


def test_no_point_of_the_front_is_beaten_and_every_other_is():
    generator = np.random.default_rng(5)
    x, y = generator.random(300), generator.random(300)
    x[7] = np.nan
    for x_less in (True, False):
        for y_less in (True, False):
            front = on_front(x, y, x_less=x_less, y_less=y_less)
            a, b = (x if x_less else -x), (y if y_less else -y)
            for i in np.flatnonzero(np.isfinite(x)):
                beaten = ((a <= a[i]) & (b <= b[i]) & ((a < a[i]) | (b < b[i]))).any()
                assert front[i] == (not beaten)
    assert not front[7]


def test_a_pareto_figure_marks_the_front_and_says_what_is_better():
    x, y = [1.0, 2.0, 3.0, 2.5], [1.0, 3.0, 4.0, 2.0]
    axes = pareto_figure(x, y, ("latency [us]", "rate [kpps]", "t"), names=["a", "b", "c", "d"]).axes[0]
    assert axes.get_xlabel() == "latency [us]" and axes.get_ylabel() == "rate [kpps]"
    assert legend(axes) == ["beaten by another", "Pareto front"]
    assert axes.get_legend().get_title().get_text() == "better: left and up"
    assert axes.lines[1].get_xdata().tolist() == [1, 2, 3] and axes.lines[0].get_xdata().tolist() == [2.5]
    assert [t.get_text() for t in axes.texts] == ["A", "B", "C"]
    assert [t.get_text() for t in axes.figure.legends[0].get_texts()] == ["a", "b", "c"]


def test_the_boxes_of_a_path_are_darker_the_busier_their_resource_and_say_so():
    p = vmodel.predict("virtio-vhost", workload="stream", size=65536)
    figure = path_figure(p)
    data = [d for _, d in digraph(p, "there").nodes(data=True)]
    boxes = [
        b for b in figure.axes[0].patches if b.get_zorder() == 2
    ]  # fmt: skip
    dark = {d["busy"]: sum(to_rgba(b.get_facecolor())[:3]) for d, b in zip(data, boxes, strict=True)}
    shares = sorted(s for s in dark if s is not None)
    assert [dark[s] for s in shares] == sorted((dark[s] for s in shares), reverse=True)
    texts = [t.get_text() for t in figure.axes[0].texts]
    assert any(t.startswith("vhost worker, 100%") for t in texts)
    assert figure.axes[1].get_xlabel() == "busy share of the resource [%]"


def test_figures_are_drawn_from_the_command_line(tmp_path, capsys):
    (tmp_path / "rows.csv").write_text(ROWS)
    for name, arguments in {
        "waterfall.svg": ["predict", "--path", "vf"],
        "tornado.svg": ["predict", "--path", "vf", "--figure", "tornado"],
        "path.svg": ["predict", "--path", "vf", "--figure", "path"],
        "fit.svg": ["fit", str(tmp_path / "rows.csv")],
        "judged.svg": ["validate", str(tmp_path / "rows.csv")],
    }.items():
        main([*arguments, "--plot", str(tmp_path / name)])
        assert b"<svg" in (tmp_path / name).read_bytes(), capsys.readouterr().err
    assert main(["fit", "--plot", str(tmp_path / "none.svg")]) == 2
    assert not (tmp_path / "none.svg").exists()
