"""The site holds everything that there is, says units, errors and sources, and no link in it is dead."""

import dataclasses
import functools
import inspect
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import click
import pytest

import vmodel
from docs.generate import api, catalogue, commands, evidence, files, laws, notebooks, places, records, ways
from tests.blocks import HOME
from vmodel.calibrate.dataset import FIXED
from vmodel.cli.main import COMMANDS
from vmodel.library import moderation, path_file, tables
from vmodel.library.catalog import STAGES
from vmodel.library.profile import from_tables, shipped

DOCS = HOME / "docs"


@functools.cache
def quick():
    """The generated pages that need no prediction."""
    found = {}
    for part in (commands, catalogue, evidence, api, files, laws):
        found |= part.pages()
    return found


def pointed(page):
    """The names that links to a page may point to."""
    return set(re.findall(r"\{ #([^ }]+) \}", quick()[page]))


def test_every_command_has_a_page_with_every_option():
    for name in COMMANDS:
        page = quick()[places.command_page(name)]
        assert f"vmodel {name}" in quick()[places.COMMANDS]
        written = re.findall(r"`(--?[\w-]+)`", page)
        for parameter in commands.command(name).params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                assert set(parameter.opts + parameter.secondary_opts) <= set(written), (name, parameter.name)
                assert parameter.help, (name, parameter.name)


@pytest.mark.parametrize(
    ("page", "names"),
    [
        (places.STAGES, tuple(STAGES)),
        (places.KNOBS, tuple(tables.knobs())),
        (places.COSTS, tuple(tables.priors())),
        (places.DEVICES, tuple(moderation.devices())),
        (places.SOURCES, (*tables.references(), *moderation.references())),
        (places.STUDIES, tuple(p.parent.name for p in (HOME / "calibration").glob("*/observations.csv"))),
        (places.ERRORS, tuple(c.__name__ for c in api.error_classes())),
    ],
)
def test_every_name_of_the_catalogue_can_be_pointed_to(page, names):
    assert len(names) > 5
    assert {n.lower() for n in names} <= pointed(page)


def test_every_profile_has_a_page_with_each_of_its_costs():
    for name in shipped():
        page = quick()[places.profile_page(name)]
        assert [cost for cost in vmodel.profile(name).values if f"`{cost}`" not in page] == []


@pytest.mark.parametrize("name", tables.path_names())
def test_every_path_is_listed_with_what_has_been_seen_of_it(name):
    machines = [machine for machine, _ in ways.validity(name)]
    said = ways.index()
    row = next(line for line in said.splitlines() if line.startswith(f"| [`{name}`]"))
    assert all(f"`{machine.name}`" in row for machine in machines)
    counted = [s.rows for p in ways.profiles().values() for key, s in p.seen.items() if key.partition("/")[0] == name]
    assert f"| {sum(counted)} |" in row


def test_the_page_of_a_path_has_its_formulas_validity_and_sources():
    page = ways.path_page("virtio-vhost")
    used = {n.stage for pair in ways.chains("virtio-vhost").values() for chain in pair for n in chain.nodes}
    assert {"vhost_receive", "kick", "worker_wake"} <= used
    for stage in used:
        assert re.search(rf"^\| \[`{stage}`\]\([^)]*\) \| .* \| <math ", page, re.MULTILINE), stage
    assert "e5620-82576-2011" in page and "latency_s" in page and "sources.md#ahern2011" in page


def test_every_public_name_stands_on_the_page_with_its_signature_or_fields():
    page = quick()[places.API]
    for name in vmodel.__all__:
        thing = getattr(vmodel, name)
        assert f"### `{name}` {{" in page
        if dataclasses.is_dataclass(thing):
            assert [f.name for f in dataclasses.fields(thing) if f"| `{f.name}` |" not in page] == []
        elif not inspect.isclass(thing):
            assert f"vmodel.{name}(" in page


# A public name and what makes it raise: its docstring must name that class, or a parent of it.
PROVOKED = {
    "predict": lambda: vmodel.predict("nowhere"),
    "explain": lambda: vmodel.explain("nowhere"),
    "compare": lambda: vmodel.compare([{"path": "nowhere"}]),
    "scenario": lambda: vmodel.scenario(path="nowhere"),
    "profile": lambda: vmodel.profile("nowhere"),
    "run_sweep": lambda: vmodel.run_sweep("nowhere", vary={"size": "1,2"}),
    "tune": lambda: vmodel.tune("nowhere", minimise="mean"),
    "read_rows": lambda: vmodel.read_rows(Path("nowhere.csv")),
    "read_fleet": lambda: vmodel.read_fleet(["nowhere.toml"]),
    "read_output": lambda: vmodel.read_output(b""),
    "settings_from": lambda: vmodel.settings_from(["nowhere.xml"]),
    "fit": lambda: vmodel.fit([], vmodel.profile("generic")),
    "diagnose": lambda: vmodel.diagnose([], [], vmodel.profile("generic")),
    "suggest": lambda: vmodel.suggest(
        [vmodel.scenario(path="vf")], vmodel.profile("generic"), without=tables.path_names()
    ),
}


@pytest.mark.parametrize("name", PROVOKED)
def test_a_docstring_names_what_is_raised(name):
    with pytest.raises(vmodel.VmodelError) as caught:
        PROVOKED[name]()
    told = re.findall(r"\w+", inspect.getdoc(getattr(vmodel, name)).lower().partition("raises")[2])
    assert {c.__name__.lower() for c in type(caught.value).__mro__} & set(told)


def numbers(cls):
    """Fields of a record that hold a number, or numbers by name."""
    for name, kind, unit, remark in api.fields(cls):
        if re.search(r"\bfloat\b|\bInterval\b|\bNumber\b|\barray\b|\bNDArray\b", kind) and "tuple[tuple" not in kind:
            yield name, unit, remark


@pytest.mark.parametrize("name", [n for n in vmodel.__all__ if dataclasses.is_dataclass(getattr(vmodel, n))])
def test_every_number_of_a_record_has_a_unit(name):
    missing = [field for field, unit, remark in numbers(getattr(vmodel, name)) if not unit and "[" not in remark]
    assert missing == []


def test_the_modules_of_the_generator_stay_small():
    made = list((DOCS / "generate").glob("*.py"))
    assert len(made) > 5
    assert [p.name for p in made if len(p.read_text("utf-8").splitlines()) > 500] == []


def test_every_law_that_is_cited_in_public_has_its_page():
    assert set(api.BACKGROUND) <= set(vmodel.__all__)
    made = {*quick(), places.PATHS, *(str(p.relative_to(DOCS)) for p in DOCS.rglob("*.md"))}
    assert [page for page in api.BACKGROUND.values() if page not in made] == []


def test_every_source_says_what_rests_on_it():
    rows = re.findall(r"^\| `([^`]+)`\{ #\S+ \} \| .* \| (.*) \|$", quick()[places.SOURCES], re.MULTILINE)
    assert len(rows) == len(evidence.source_keys())
    assert [key for key, users in rows if users == "–"] == []


def test_a_law_is_found_with_its_source_and_its_words():
    found = {f"{law.module}.{law.name}": law for law in laws.laws()}
    assert "ReiserLavenberg1980" in {key for law in laws.laws() if law.module == "solve/mva" for key in law.sources}
    assert len(found) > 30
    assert [where for where, law in found.items() if not law.about] == []


def test_the_keys_of_files_are_those_that_the_readers_take():
    assert set(files.COLUMNS) == set(FIXED)
    assert set(files.PATH_KEYS) == set(path_file.KEYS)
    with pytest.raises(vmodel.VmodelError) as caught:
        from_tables(dict.fromkeys([*files.PROFILE_KEYS, "another"], 0), "a.toml")
    assert [f.key for f in caught.value.faults if f.expected == "a known key"] == ["another"]


def test_every_shipped_schema_is_on_the_page_with_all_its_keys():
    page = quick()[places.FILES]
    assert files.schemas()
    for name, body in files.schemas().items():
        assert f"`{name}`" in page
        parts = [body, *body.get("$defs", {}).values()]
        keys = [key for part in parts for key in part.get("properties", {})]
        assert [key for key in keys if f"| `{key}` |" not in page] == []


def test_every_number_of_a_record_of_json_has_a_unit():
    rows = re.findall(r"^\| `([^`]+)` \| (number|number or null) \| ([^|]*) \|", records.page(), re.MULTILINE)
    assert len(rows) > 30
    assert [key for key, _, unit in rows if unit == "–"] == []


def test_every_notebook_is_a_page():
    assert len(notebooks.pages()) == len(list((HOME / "notebooks").glob("*.ipynb"))) > 5


def test_every_key_cited_in_the_catalogue_is_a_source():
    known = {key.lower() for key in (*tables.references(), *moderation.references())}
    cited = [key for s in STAGES.values() for key in s.cites]
    cited += [key for p in tables.priors().values() for key in p.cites]
    cited += [key for name in tables.path_names() for key in tables.endpoint(name).cites]
    assert len(cited) > 100
    assert {key.lower() for key in cited} <= known


class Page(HTMLParser):
    """The links and the places of one page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.ids = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.ids |= {found[key] for key in ("id", "name") if found.get(key)}
        self.links += [found[key] for key in ("href", "src") if found.get(key)]


def dead(folder):
    """Links inside a built site that lead nowhere, and what is loaded from elsewhere."""
    pages = {path: Page(path.read_text("utf-8")) for path in folder.rglob("*.html")}
    for here, page in pages.items():
        if here.name == "404.html":
            continue  # served from anywhere, so its links are absolute
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            there = (here.parent / unquote(parts.path)).resolve() if parts.path else here
            there = there / "index.html" if there.is_dir() else there
            if not there.exists():
                yield f"{here.relative_to(folder)}: {link}"
            elif parts.fragment and there in pages and unquote(parts.fragment) not in pages[there].ids:
                yield f"{here.relative_to(folder)}: {link} (no such place)"


def test_the_search_for_dead_links_finds_them(tmp_path):
    (tmp_path / "a.html").write_text('<h1 id="x">A</h1><a href="b.html#y">b</a><a href="#x">x</a><img src="c.png">')
    (tmp_path / "b.html").write_text('<a href="a.html#z">z</a><a href="a.html#x">x</a><a href="https://e.org">e</a>')
    found = [line.partition(": ")[2] for line in sorted(dead(tmp_path))]
    assert found == ["b.html#y (no such place)", "c.png", "a.html#z (no such place)"]


@pytest.mark.slow
def test_the_site_is_built_without_a_warning_and_without_a_dead_link(tmp_path):
    site = tmp_path / "site"
    ran = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)],
        cwd=HOME,
        env={**os.environ, "PYTHONPATH": str(HOME), "NO_MKDOCS_2_WARNING": "1", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "WARNING" not in ran.stderr
    assert list(dead(site)) == []
    for name in tables.path_names():
        assert "<math" in (site / "reference" / "paths" / f"{name}.html").read_text("utf-8")
    assert not (site / "generate").exists()
    loaded = re.compile(r"<(?:script|link|img)[^>]+(?:src|href)=\"https?://")
    assert [p.name for p in site.rglob("*.html") if loaded.search(p.read_text("utf-8"))] == []


@pytest.mark.parametrize("file", ["README.md", "benchmarks/README.md", "calibration/README.md"])
def test_links_of_the_readmes_lead_somewhere(file):
    place = HOME / file
    links = re.findall(r"\]\(([^)\s]+)\)", place.read_text("utf-8"))
    inside = [link.partition("#")[0] for link in links if not re.match(r"https?:|#", link)]
    assert [link for link in inside if not (place.parent / link).exists()] == []
