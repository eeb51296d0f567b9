"""`vmodel compare`."""

from typing import Any

import click

from vmodel.cli.options import Question, case_of, collect, json_option, output_option, scenario_options
from vmodel.cli.output import as_csv, as_json_text, ending, flat, say, say_json, write
from vmodel.core.records import Scenario
from vmodel.errors import ConfigError, Fault
from vmodel.report import explained
from vmodel.report.record import as_json as record_of
from vmodel.solve.compare import compare


@click.command("compare")
@scenario_options(several_paths=True)
@click.option(
    "--case",
    "cases",
    metavar="NAME=VALUE,...",
    multiple=True,
    help='one more case, as "path=vf,rx_usecs=10"; repeatable',
)
@json_option
@output_option("csv, json, md")
def compare_command(cases: tuple[str, ...], as_json: bool, output: str | None, **flags: Any) -> None:
    """Several paths or configurations side by side: differing inputs first, then the answers.

    Each --path is a case, each --case another one; the other flags hold for all. A case without a path starts from
    the only --path.
    """
    kind = ending(output, ("csv", "json", "md"))
    found = compare(scenarios(flags, cases))
    if as_json:
        say_json(explained.comparison_json(found))
    if output is None:
        if not as_json:
            say("\n".join(explained.comparison_lines(found)))
    elif kind == "json":
        write(output, as_json_text(explained.comparison_json(found)))
    elif kind == "md":
        write(output, explained.comparison_markdown(found))
    else:
        rows = [{"case": c, **flat(record_of(p))} for c, p in zip(found.labels, found.predictions, strict=True)]
        write(output, as_csv(rows))


def scenarios(flags: dict[str, Any], cases: tuple[str, ...], least: int = 2) -> list[Scenario]:
    """Every case resolved, of which there must be so many at least; raises ConfigError with the faults of all."""
    paths = flags.pop("path")
    base = collect(flags)
    faults = base.faults
    if not paths and "path" in base.settings:
        paths = (base.settings["path"],)
    questions: list[Question] = []
    for path in paths:
        one = base.copy()
        one.put("path", path, "", "--path")
        questions.append(one)
    for text in cases:
        one = case_of(base, text)
        if "path" not in one.settings and len(paths) == 1:
            one.put("path", paths[0], "", "--path")
        questions.append(one)
    if len(questions) < least:
        wanted = "at least two cases, by --path or --case" if least > 1 else "a path (see `vmodel paths`)"
        faults.append(Fault(file="", key="--path", expected=wanted))
    out = []
    for one in questions:
        try:
            out.append(one.scenario())
        except ConfigError as error:
            faults.extend(fault for fault in error.faults if fault not in faults)
    if faults:
        raise ConfigError(faults)
    return out
