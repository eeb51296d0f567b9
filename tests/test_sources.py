"""Citations and standings."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vmodel import sources
from vmodel.errors import UnknownName

reproducible = settings(derandomize=True, deadline=None)
PAPER = sources.Source(
    key="erlang1909",
    title="The Theory of Probabilities and Telephone Conversations",
    authors=("Erlang, Agner Krarup",),
    venue="Nyt Tidsskrift for Matematik B",
    year=1909,
    url="https://example.org/a_b?c=%20d",
)
texts = st.text(max_size=30)
anything = st.builds(
    sources.Source,
    key=texts,
    title=texts,
    authors=st.lists(texts, max_size=3).map(tuple),
    venue=texts,
    year=st.none() | st.integers(1800, 2100),
    url=texts,
    note=texts,
)


def test_a_citation_reads_as_in_a_bibliography():
    assert sources.format_citation(PAPER) == (
        "Erlang, Agner Krarup. The Theory of Probabilities and Telephone Conversations. "
        "Nyt Tidsskrift for Matematik B, 1909. https://example.org/a_b?c=%20d. [erlang1909]"
    )


def test_several_authors_are_joined_by_commas_and_one_and():
    three = sources.Source(key="k", title="Is it?", authors=("A", "B", "C"))
    assert sources.format_citation(three) == "A, B and C. Is it? [k]"


def test_a_source_with_little_known_about_it_leaves_no_gaps():
    assert sources.format_citation(sources.Source(key="k", title="T")) == "T. [k]"
    assert sources.format_bibtex(sources.Source(key="k", title="T")) == "@misc{k,\n  title = {{T}},\n}"


def test_a_bibtex_entry_has_every_known_field():
    assert sources.format_bibtex(PAPER) == (
        "@misc{erlang1909,\n"
        "  author = {Erlang, Agner Krarup},\n"
        "  title = {{The Theory of Probabilities and Telephone Conversations}},\n"
        "  howpublished = {Nyt Tidsskrift for Matematik B},\n"
        "  year = {1909},\n"
        "  url = {https://example.org/a_b?c=%20d},\n"
        "}"
    )


def test_characters_that_latex_acts_upon_are_escaped():
    odd = sources.Source(key="a b}{c", title="50 % of {x} & y_1 \\input", authors=("Dun and Bradstreet", "B"))
    entry = sources.format_bibtex(odd)
    assert entry.startswith("@misc{abc,\n")
    assert "{{50 \\% of \\textbraceleft{}x\\textbraceright{} \\& y\\_1 \\textbackslash{}input}}" in entry
    assert "{{Dun and Bradstreet} and B}" in entry


@reproducible
@given(source=anything)
def test_no_source_can_break_out_of_its_citation(source):
    assert sources.format_citation(source).isprintable()
    entry = sources.format_bibtex(source)
    depth = 0
    for position, c in enumerate(entry):
        depth += (c == "{") - (c == "}")
        assert depth > 0 or position < len("@misc") or position == len(entry) - 1
    assert depth == 0
    assert all(re.fullmatch(r"  [a-z]+ = \{.*\},", line) for line in entry.split("\n")[1:-1])


@pytest.mark.parametrize(
    ("standings", "worst"),
    [
        ((), "measured"),
        (("fitted",), "fitted"),
        (("fitted", "measured"), "fitted"),
        (("specified", "transferred", "fitted"), "transferred"),
        (sources.STANDINGS, "assumed"),
    ],
)
def test_a_result_stands_no_better_than_its_worst_input(standings, worst):
    assert sources.worst_standing(standings) == worst
    assert sources.worst_standing(reversed(standings)) == worst


def test_an_unknown_standing_is_refused_with_the_nearest():
    with pytest.raises(UnknownName) as caught:
        sources.worst_standing(["mesured"])
    assert caught.value.nearest == "measured"


def test_a_number_is_assumed_until_somebody_says_otherwise():
    assert sources.Cited(value=1.0).standing == sources.ASSUMED
