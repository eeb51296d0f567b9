"""Records show themselves briefly, in a terminal and in a notebook."""

import vmodel


def test_a_prediction_is_one_line_in_a_terminal():
    text = repr(vmodel.predict("vf", rx_usecs=10))
    assert "\n" not in text and len(text) < 200
    assert "latency 17" in text and "us" in text and "bottleneck" in text


def test_a_prediction_is_a_table_in_a_notebook_and_escapes_names():
    html = vmodel.predict("vf", rx_usecs=10)._repr_html_()
    assert html.count("<table>") == 2
    assert "90 % interval" in html and "us" in html
    assert "<script" not in html
