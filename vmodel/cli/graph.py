"""`vmodel graph`."""

from typing import Any

import click

from vmodel.cli.options import asked, json_option, output_option, scenario_options
from vmodel.cli.output import as_json_text, ending, say, say_json, write
from vmodel.report import graph as drawing
from vmodel.solve.solver import predict


@click.command("graph")
@scenario_options()
@click.option("--back", is_flag=True, help="the way back instead of the way there (rr)")
@json_option
@output_option("svg, png, json, md")
def graph_command(back: bool, as_json: bool, output: str | None, **flags: Any) -> None:
    """The way of a message: Mermaid text, nodes and edges (--json), or a picture (-o path.svg)."""
    kind = ending(output, ("svg", "png", "json", "md"))
    scenario, _ = asked(flags)
    if back and scenario.workload != "rr":
        raise click.UsageError(f"--back: a {scenario.workload} has no way back; only rr has")
    prediction = predict(scenario)
    leg = "back" if back else "there"
    if output is not None and kind in ("svg", "png"):
        from vmodel.report.figures import picture

        write(output, picture(drawing.path_figure(prediction, leg), kind))
    elif output is not None:
        text = f"```mermaid\n{drawing.mermaid(prediction, leg)}```\n"
        write(output, as_json_text(drawing.graph_json(prediction)) if kind == "json" else text)
    if as_json:
        say_json(drawing.graph_json(prediction))
    elif output is None:
        say(drawing.mermaid(prediction, leg))
