"""`vmodel report`: one file that stands alone, says what the command line says, and is the same each time."""

import base64
import re
import shlex
import xml.etree.ElementTree as ElementTree
from html import unescape
from html.parser import HTMLParser

import pytest
from click.testing import CliRunner

import vmodel
from vmodel.cli.main import cli, main
from vmodel.config import scenario
from vmodel.library.profile import digest, profile
from vmodel.report import document
from vmodel.report.document import Code, Heading, Items, Paragraph, Picture, Table
from vmodel.report.text import answers
from vmodel.solve.explain import bibliography
from vmodel.solve.solver import predict

EVIL = "</style><script>alert(1)</script> | <img src=x onerror=alert(2)> `x` [a](javascript:alert(3)) *b* _c_ & \n# d"


class Reader(HTMLParser):
    """Collects tags, attributes and text."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.words = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_data(self, data):
        self.words.append(data)


def read(text):
    found = Reader()
    found.feed(text)
    return found


def write(tmp_path, *arguments, ending="html"):
    file = tmp_path / f"report.{ending}"
    result = CliRunner().invoke(cli, ["report", *arguments, "-o", str(file)], standalone_mode=False)
    assert result.exception is None, result.exception
    return file.read_text("utf-8")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return write(tmp_path_factory.mktemp("report"), "--path", "vf", "--rx-usecs", "10")


def test_a_report_has_the_figures_of_the_command_line(page):
    text = " ".join(" ".join(read(page).words).split())
    p = predict(scenario(path="vf", rx_usecs=10))
    for name, value in answers(p):
        assert name in text and value in text
    assert digest(p.scenario.profile) in text and p.scenario.profile.title in text
    assert f"vmodel {vmodel.__version__}" in page and "sympy" in text
    for source in bibliography(p):
        assert f"[{source.key}]" in text
    assert "latency_s = " in text and "vcpu_wake_s" in text


def test_a_report_stands_alone(page):
    found = read(page)
    assert "script" not in found.tags
    for tag, name, value in found.attributes:
        assert not name.startswith("on"), (tag, name)
        if name in ("src", "href"):
            assert value.startswith("data:"), (tag, value)
    assert "default-src 'none'" in page and found.tags.count("img") == 3
    assert all(value for tag, name, value in found.attributes if (tag, name) == ("img", "alt"))


def test_its_figures_are_whole(page):
    for value in [value for tag, name, value in read(page).attributes if (tag, name) == ("img", "src")]:
        kind, _, data = value.partition(";base64,")
        assert kind == "data:image/svg+xml"
        assert ElementTree.fromstring(base64.b64decode(data)).tag.endswith("svg")


@pytest.mark.slow
def test_its_command_makes_it_again(page, tmp_path):
    command = unescape(re.search(r"<pre>(vmodel report [^<]*)</pre>", page)[1])
    program, verb, *arguments = shlex.split(command)
    assert (program, verb) == ("vmodel", "report")
    again = write(tmp_path, *arguments[:-2])
    assert again.replace(str(tmp_path), "") == page.replace(arguments[-1].rpartition("/")[0], "")


def test_markdown_has_the_same_numbers(tmp_path, page):
    text = write(tmp_path, "--path", "vf", "--rx-usecs", "10", ending="md")
    assert text.startswith("# vf: what it costs\n")
    for _, value in answers(predict(scenario(path="vf", rx_usecs=10))):
        assert document.plain_markdown(value) in text
    assert text.count("](data:image/png;base64,") == 3
    tables = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(tables) > 50


@pytest.mark.slow
def test_several_cases_are_compared_first(tmp_path):
    text = write(tmp_path, "--path", "vf", "--path", "virtio-vhost", "--topology", "cross-host-vm")
    words = " ".join(" ".join(read(text).words).split())
    assert words.index("What differs") < words.index("Answers, with 90 % intervals") < words.index("Inputs")
    assert read(text).tags.count("img") == 5


@pytest.mark.parametrize(("arguments", "told"), [
    (["--path", "vf", "-o", "x.pdf"], ".html, .md"), (["-o", "x.html"], "--path"),
    (["--path", "vff", "-o", "x.html"], "vf"),
    (["--path", "vf", "--rx-usecs", "-1", "-o", "x.md"], "--rx-usecs"), (["--path", "vf"], "--output"),
])  # fmt: skip
def test_bad_input_is_one_line_and_writes_nothing(tmp_path, monkeypatch, capsys, arguments, told):
    monkeypatch.chdir(tmp_path)
    assert main(["report", *arguments]) == 2
    told_lines = capsys.readouterr().err.splitlines()
    assert len(told_lines) == 1 and told in told_lines[0]
    assert list(tmp_path.iterdir()) == []


BLOCKS = [
    Heading(level=1, text=EVIL), Paragraph(text=EVIL), Paragraph(text=EVIL, warning=True), Items(texts=(EVIL,)),
    Table(caption=EVIL, heads=(EVIL, "b"), rows=((EVIL, EVIL),), right="lr"), Code(text=EVIL + "\n```\n" + EVIL),
    Picture(drawn=lambda kind: b"<svg/>", words=EVIL, caption=EVIL),
]  # fmt: skip


def test_hostile_text_never_becomes_markup_in_html():
    found = read(document.html(BLOCKS, "0"))
    assert {"script"}.isdisjoint(found.tags) and found.tags.count("img") == 1
    assert [name for _, name, _ in found.attributes if name.startswith("on")] == []
    assert sum(EVIL in word for word in found.words) >= 7


def test_hostile_text_never_becomes_markup_in_markdown():
    markdown_it = pytest.importorskip("markdown_it", reason="markdown-it-py is not installed")
    found = read(markdown_it.MarkdownIt("commonmark").enable("table").render(document.as_markdown(BLOCKS)))
    assert {"script", "a", "em", "strong"} & set(found.tags) <= {"strong"}
    assert found.tags.count("img") == 1 and found.tags.count("h1") == 1 and found.tags.count("td") == 2
    assert found.tags.count("strong") == 1  # of the warning


def test_the_digest_is_of_everything_in_a_profile():
    from dataclasses import replace

    one = profile("generic")
    assert digest(one) == digest(profile("generic")) != digest(replace(one, note="other"))
