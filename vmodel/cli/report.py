"""`vmodel report`."""

import shlex
from importlib import import_module
from typing import Any

import click
from click.core import ParameterSource

from vmodel.cli.compare import scenarios
from vmodel.cli.options import scenario_options
from vmodel.cli.output import ending, write


@click.command("report")
@scenario_options(several_paths=True)
@click.option(
    "--case",
    "cases",
    metavar="NAME=VALUE,...",
    multiple=True,
    help='one more case, as "path=vf,rx_usecs=10"; repeatable',
)
@click.option("-o", "--output", metavar="FILE", required=True, help="the report to write (html, md)")
def report_command(cases: tuple[str, ...], output: str, **flags: Any) -> None:
    """One file with inputs, machine, answers, figures, formulas, costs, sources and versions.

    Each --path is a case, each --case another one; the other flags hold for all. Several cases are compared first.
    """
    kind = ending(output, ("html", "md"))
    asked = scenarios(flags, cases, least=1)
    from vmodel.report import document
    from vmodel.report.reported import blocks

    version = str(import_module("vmodel").__version__)
    found = blocks(asked, _command(), version)
    write(output, document.html(found, version) if kind == "html" else document.as_markdown(found))


def _command() -> str:
    """The command that makes this report again: every option that was given, in the order of the help."""
    context = click.get_current_context()
    words = ["vmodel", "report"]
    for parameter in context.command.params:
        name = str(parameter.name)
        if context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        value = context.params[name]
        if isinstance(value, bool):
            words.append((parameter.opts if value else parameter.secondary_opts)[0])
            continue
        for one in value if isinstance(value, tuple) else (value,):
            words += [parameter.opts[-1], str(one)]
    return shlex.join(words)
