"""`vmodel explore` without a browser: what it takes, what it refuses, what stands in the file."""

import json
import re
from pathlib import Path

import pytest

from vmodel.cli.main import main
from vmodel.library import tables
from vmodel.library.profile import profile, shipped
from vmodel.report import explorer

OWN_PATH = """title = "mine </script>"
place = "guest"
attach = "kernel"
tx = ["app_send", "copy_send", "stack_send", "virtqueue_post", "kick", "worker_wake", "vhost_send"]
rx = ["worker_wake", "vhost_send", "vcpu_wake", "guest_interrupt", "stack_receive", "app_wake", "copy_receive"]
"""


def facts_of(text):
    return json.loads(re.search(r'<script type="application/json" id="facts">([^<]*)</script>', text)[1])


def written(capsys, *arguments):
    assert main(["explore", *arguments, "-o", "page.html"]) == 0
    assert capsys.readouterr().out == ""
    return Path("page.html").read_text("utf-8")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_the_file_knows_every_path_profile_and_measured_point(capsys):
    text = written(capsys)
    known = facts_of(text)
    assert list(known["defaults"]) == list(tables.path_names())
    assert [p["name"] for p in known["profiles"]] == list(shipped())
    assert len(known["rows"]) > 390 and {"id", "value", "metric", "source"} <= set(known["rows"][0])
    assert text.count("<script>") == 1 and "Permission is hereby granted" in text  # the licence of the charts
    assert "@" + "SCRIPT@" not in text and "@" + "FACTS@" not in text


def test_the_flags_are_what_it_shows_first(capsys):
    asked = ["--path", "vsock", "--workload", "stream", "--size", "64KiB", "--set", "credit_kick_s=1e-6"]
    known = facts_of(written(capsys, *asked))
    assert known["start"]["path"] == "vsock" and known["start"]["knobs"] == {"size": 65536.0}
    assert known["start"]["parameters"] == {"credit_kick_s": 1e-6}


def test_a_profile_of_ones_own_is_taken_along(capsys):
    source = Path(explorer.__file__).parents[1] / "library" / "profiles" / "vsock-2019.toml"
    Path("mine.toml").write_text(source.read_text("utf-8").replace('name = "vsock-2019"', 'name = "mine"'), "utf-8")
    known = facts_of(written(capsys, "--path", "vsock", "--profile", "mine.toml"))
    assert "mine" in [p["name"] for p in known["profiles"]] and known["files"] == {"mine": "mine.toml"}
    assert known["start"]["profile"] == "mine"


def test_a_path_of_ones_own_is_taken_along(capsys):
    Path("own.toml").write_text(OWN_PATH, "utf-8")
    text = written(capsys, "--path", "own.toml")
    known = facts_of(text)
    assert known["start"]["path"] == "own.toml" and known["peers"]["own.toml"]["host-vm"][0] == "native"
    assert known["tables"]["paths.toml"]["endpoints"]["own.toml"]["title"] == "mine </script>"
    assert "mine </script>" not in text


def test_what_stands_in_the_data_is_never_markup():
    evil = "</script><!-- <script> & \u2028"
    shown = explorer._embedded({evil: [evil]})
    assert not set("<>&\u2028") & set(shown)
    assert json.loads(shown) == {evil: [evil]}


@pytest.mark.parametrize(("arguments", "told"), [
    (["-o", "page.pdf"], ".html"), ([], "--output"), (["-o", "page.html", "--path", "vff"], "vf"),
    (["-o", "page.html", "--size", "0"], "--size"), (["-o", "none/page.html"], "folder"),
    (["-o", "page.html", "--profile", "none.toml"], "none.toml"),
    (["-o", "page.html", "--path", "none.toml"], "none.toml"),
])  # fmt: skip
def test_bad_input_is_one_line_and_writes_nothing(capsys, arguments, told):
    assert main(["explore", *arguments]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 and told in lines[0]
    assert list(Path().iterdir()) == []


def test_a_command_line_takes_a_path_from_a_file(capsys):
    Path("own.toml").write_text(OWN_PATH, "utf-8")
    assert main(["predict", "--path", "own.toml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["path"] == "own.toml"
    Path("bad.toml").write_text(OWN_PATH.replace('"kick"', '"kik"'), "utf-8")
    assert main(["predict", "--path", "bad.toml"]) == 2
    assert "kick" in capsys.readouterr().err


def test_the_profile_in_the_page_is_named_by_its_contents(capsys):
    from vmodel.library.profile import digest

    known = facts_of(written(capsys))
    assert known["digests"]["generic"] == digest(profile("generic"))
