"""`vmodel cite`."""

from dataclasses import asdict
from typing import Any

import click

from vmodel.cli.options import asked, json_option, scenario_options
from vmodel.cli.output import say, say_json
from vmodel.solve.explain import bibliography
from vmodel.solve.solver import predict
from vmodel.sources import format_bibtex, format_citation


@click.command("cite")
@scenario_options()
@click.option("--bibtex", is_flag=True, help="print BibTeX entries")
@json_option
def cite_command(bibtex: bool, as_json: bool, **flags: Any) -> None:
    """Bibliography of what a prediction used: costs, stages, and the NIC driver where it moderates."""
    scenario, _ = asked(flags)
    found = bibliography(predict(scenario))
    if as_json:
        say_json([asdict(source) for source in found])
    elif bibtex:
        say("\n\n".join(format_bibtex(source) for source in found))
    else:
        say("\n".join(format_citation(source) for source in found))
