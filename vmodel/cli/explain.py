"""`vmodel explain`."""

import shutil
import sys
from typing import Any

import click

from vmodel.cli.options import asked, json_option, output_option, scenario_options
from vmodel.cli.output import as_json_text, ending, say, say_json, write
from vmodel.solve.explain import explain_scenario


@click.command("explain")
@scenario_options()
@click.option("--latex", is_flag=True, help="print only the closed form, as LaTeX")
@click.option("--python", "as_python", is_flag=True, help="print only the closed form, as a Python function")
@json_option
@output_option("json, md, png, svg")
def explain_command(latex: bool, as_python: bool, as_json: bool, output: str | None, **flags: Any) -> None:
    """Where the time goes, the closed form, the costs with sources, and which settings matter.

    A figure (-o waterfall.svg) shows the waterfall alone.
    """
    kind = ending(output, ("json", "md", "png", "svg"))
    if latex + as_python + as_json > 1:
        raise click.UsageError("--latex, --python and --json exclude each other")
    scenario, _ = asked(flags)
    found = explain_scenario(scenario)
    from vmodel.report import explained

    if output is not None and kind in ("png", "svg"):
        from vmodel.report.figures import picture, prediction_waterfall

        write(output, picture(prediction_waterfall(found.prediction), kind))
    elif output is not None:
        record = as_json_text(explained.explanation_json(found))
        write(output, record if kind == "json" else explained.explanation_markdown(found))
    if as_json:
        say_json(explained.explanation_json(found))
    elif latex:
        say(found.closed_form.latex)
    elif as_python:
        say(found.closed_form.python)
    elif output is None:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
        say("\n".join(explained.explanation_lines(found, width)))
