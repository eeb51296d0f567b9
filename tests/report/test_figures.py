"""Figures: the data on the axes and their labels; nothing about pixels."""

import pytest

import vmodel
from vmodel.report.figures import picture, prediction_waterfall, waterfall
from vmodel.report.graph import digraph, graph_json, mermaid, path_figure
from vmodel.report.tables import aligned, markdown
from vmodel.report.text import breakdown_rows

PATHS = ["vf", "virtio-vhost", "vsock", "dpdk", "loopback", "vhost-user"]


def test_each_bar_of_a_waterfall_begins_where_the_last_one_ended():
    axes = waterfall(["a", "b", "c"], [1.0, 2.0, 3.0], ["x", "-", "x"], "title").axes[0]
    bars = [(bar.get_x(), bar.get_width()) for bar in axes.patches]
    assert bars == [(0.0, 1.0), (1.0, 2.0), (3.0, 3.0)]
    assert axes.get_xlabel().endswith("[us]") and axes.get_ylabel() and axes.get_title() == "title"
    assert [t.get_text() for t in axes.get_legend().get_texts()] == ["x", "delay, nobody is busy"]


def test_resources_differ_by_more_than_colour():
    axes = waterfall(["a", "b"], [1.0, 2.0], ["x", "y"], "").axes[0]
    assert len({bar.get_hatch() for bar in axes.patches}) == 2


def test_a_waterfall_of_a_prediction_ends_at_its_mean():
    p = vmodel.predict(path="vf", rx_usecs=10)
    last = prediction_waterfall(p).axes[0].patches[-1]
    assert (last.get_x() + last.get_width()) / 1e6 == pytest.approx(p.latency_s, rel=1e-3)


def test_the_same_figure_gives_the_same_bytes():
    p = vmodel.predict(path="vf")
    assert picture(prediction_waterfall(p), "svg") == picture(prediction_waterfall(p), "svg")


@pytest.mark.parametrize("path", PATHS)
def test_a_graph_is_one_chain_in_order_with_every_stage(path):
    p = vmodel.predict(path=path, workload="rr")
    graph = digraph(p, "there")
    names = [data["stage"] for _, data in graph.nodes(data=True)]
    assert names == [r.stage for r in p.shares if r.direction == "there" and r.stage != "moderation_wait"]
    assert graph.number_of_edges() == len(names) - 1
    assert max(dict(graph.in_degree).values()) == 1
    assert sum(node["us"] for node in graph_json(p)["nodes"]) <= p.latency_s * 1e6 * (1 + 1e-9)


@pytest.mark.parametrize("path", PATHS)
def test_the_picture_of_a_path_shows_each_stage_in_a_place_of_its_own(path):
    p = vmodel.predict(path=path, workload="rr")
    axes = path_figure(p).axes[0]
    places = [t.get_position() for t in axes.texts if t.get_fontsize() == 8]
    assert len(places) == digraph(p, "there").number_of_nodes() == len(set(places))


def test_mermaid_names_ends_stages_and_resources():
    text = mermaid(vmodel.predict(path="virtio-vhost"))
    assert text.startswith("flowchart LR") and text.count("subgraph") == text.count("  end\n")
    assert "vhost_copy_receive<br/>vhost worker" in text and "there0 --> there1" in text


def test_small_stages_stand_together_and_the_rows_add_up():
    p = vmodel.predict(path="vf", rx_usecs=10)
    rows = breakdown_rows(p)
    assert rows[-2][0].startswith("other (")
    assert sum(float(row[2]) for row in rows[:-1]) == pytest.approx(float(rows[-1][2]), abs=0.01 * len(rows))


def test_a_table_aligns_numbers_and_wraps_only_its_last_column():
    lines = aligned([["a", "1", "some words that do not fit"], ["bb", "22", "x"]], ["n", "v", "about"], "lr", 30)
    assert lines[0] == "n    v  about" and lines[-1] == "bb  22  x"
    assert lines[3].startswith(" " * 8)


def test_a_bar_in_a_cell_does_not_break_markdown():
    assert markdown([["a|b", "c\nd"]], ["x", "y"])[-1] == "| a\\|b | c d |"
