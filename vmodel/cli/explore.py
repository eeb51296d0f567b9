"""`vmodel explore`."""

from importlib import import_module
from typing import Any

import click

from vmodel.cli.options import FLAGS, collect, scenario_options
from vmodel.cli.output import ending, write

FIRST_PATH = "vf"


@click.command("explore")
@scenario_options()
@click.option("-o", "--output", metavar="FILE", required=True, help="the page to write (html)")
def explore_command(output: str, **flags: Any) -> None:
    """One HTML file to ask what-if in: sliders, charts, measured points, the command for what is shown.

    The model computes in the page: no server and no network. The flags say what it shows first. A profile file of your
    own is taken along.
    """
    from vmodel.calibrate.evidence import load
    from vmodel.library.profile import shipped
    from vmodel.report.explorer import page

    ending(output, ("html",))
    question = collect(flags)
    if question.settings.get("path") is None and not question.faults:
        question.put("path", FIRST_PATH, "", "--path")
    scenario = question.scenario()
    file = str(question.settings.get("profile"))
    own = file.endswith(".toml") and file not in shipped()
    rows = [row for study in load() for row in study.rows]
    files = {scenario.profile.name: file} if own else {}
    write(
        output,
        page(
            scenario,
            rows,
            profiles=(scenario.profile,) if own else (),
            profile_files=files,
            flags=FLAGS,
            version=import_module("vmodel").__version__,
        ),
    )
