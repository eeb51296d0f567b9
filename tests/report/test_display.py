"""Records in notebooks: small tables without markup from outside, one line as text, and a figure for each."""

import json
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest

import vmodel
from vmodel.calibrate.dataset import parse_rows
from vmodel.core.show import table
from vmodel.report.drawn import DRAWN, SWEEP, figure

ROWS = "path,workload,topology,message_bytes,metric,value\nvirtio-vhost,rr,host-vm,1024,latency_us,139\n"


@pytest.fixture(scope="module")
def records():
    return {
        "Prediction": vmodel.predict("vf", rx_usecs=10),
        "Comparison": vmodel.compare([{"path": "vf"}, {"path": "vf", "rx_usecs": 10}]),
        "Explanation": vmodel.explain("vf", rx_usecs=10),
        "Fit": vmodel.fit(parse_rows(ROWS, "rows"), vmodel.profile("generic")),
        "Sweep": vmodel.run_sweep("vf", vary={"rx_usecs": [0, 400], "size": "64..1500/9"}),
    }


@pytest.mark.parametrize("name", ["Prediction", "Comparison", "Explanation", "Fit", "Sweep"])
def test_every_record_shows_itself_briefly_and_as_tables(records, name):
    record = records[name]
    text, html = repr(record), record._repr_html_()
    assert text.startswith(f"<{name} ") and "\n" not in text and len(text) < 400
    assert html.count("<table>") == html.count("</table>") >= 1
    assert html.count("<tr>") == html.count("</tr>") > 2 and "<script" not in html


def test_tables_say_what_the_record_says(records):
    html = records["Comparison"]._repr_html_()
    assert "rx_usecs" in html and "177 us" in html and "differ" in html
    html = records["Explanation"]._repr_html_()
    assert "closed form" in html and "vcpu_wake_s" in html and "posted_interrupts" in html
    assert "139" not in records["Fit"]._repr_html_() and "learned" in records["Fit"]._repr_html_()
    html = records["Sweep"]._repr_html_()
    assert "latency_us [us]" in html and "interrupt moderation" not in html.split("<tbody>")[0]
    assert "18 configurations" in html and html.count("<tr>") == 1 + 8


def test_what_comes_from_outside_is_escaped():
    assert "<b>" not in table("<b>", ["<b>"], [["<b>"]])


def test_showing_a_prediction_loads_neither_plots_nor_symbols():
    code = """
import json, sys
import vmodel
vmodel.predict("vf")._repr_html_()
print(json.dumps(sorted(set(sys.modules) & {"matplotlib", "sympy", "scipy", "pyarrow", "pandas"})))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


@pytest.mark.parametrize("name", ["Prediction", "Explanation", "Fit", "Sweep"])
def test_every_record_with_a_figure_is_drawn_with_units(records, name):
    for axes in figure(records[name]).axes:
        assert "[" in axes.get_xlabel()


def test_a_notebook_shows_a_figure_without_pyplot(records):
    assert figure(records["Sweep"])._repr_png_().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", [*DRAWN, SWEEP])
def test_what_is_drawn_by_name_is_there_by_that_name(name):
    module, _, kind = name.rpartition(".")
    assert isinstance(getattr(import_module(module), kind), type)
    place = DRAWN.get(name)
    assert place is None or callable(getattr(import_module(place[0]), place[1]))


def test_a_search_for_settings_is_drawn_as_its_front():
    found = vmodel.tune("vf", minimise="mean", over=["rx_usecs"])
    assert figure(found).axes[0].get_xlabel() == "processors of host and guest [cores]"


def test_there_is_no_figure_of_anything_else(records):
    with pytest.raises(TypeError, match=r"no figure for a Comparison; .*Prediction"):
        figure(records["Comparison"])


def test_run_sweep_takes_arrays_lists_and_text_and_predicts_the_same(records):
    found = vmodel.run_sweep("vf", vary={"rx_usecs": np.array([0.0, 400.0])})
    for usecs, latency in zip(found.columns["rx_usecs"], found.columns["latency_us"], strict=True):
        assert latency == pytest.approx(vmodel.predict("vf", rx_usecs=usecs).latency_s * 1e6)
    assert found.units["latency_us"] == "us"
    both = vmodel.run_sweep(vary={"path": ["vf", "vsock"], "size": [64, 128]}, columns=["latency_us", "bottleneck"])
    assert both.columns["path"].tolist() == ["vf", "vf", "vsock", "vsock"]
    assert isinstance(both.columns["bottleneck"][0], str)


def test_run_sweep_writes_the_file_that_the_command_writes(tmp_path):
    from vmodel.cli.main import main

    vmodel.run_sweep("vf", vary={"size": "64,128"}, output=tmp_path / "a.parquet")
    assert main(["sweep", "--path", "vf", "--vary", "size=64,128", "-o", str(tmp_path / "b.parquet")]) == 0
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_run_sweep_tells_all_faults():
    with pytest.raises(vmodel.VmodelError, match="did you mean"):
        vmodel.run_sweep("vf", vary={"rx_usec": [1]})
    with pytest.raises(vmodel.VmodelError, match="expected"):
        vmodel.run_sweep("vf", vary={"size": [1]}, rx_usecs=-1)
