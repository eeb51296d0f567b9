"""`vmodel lint`."""

from typing import Any

import click

from vmodel.cli.options import collect, json_option, output_option, scenario_options
from vmodel.cli.output import as_json_text, ending, say, say_json, write
from vmodel.cli.tune import names_of, names_options
from vmodel.errors import ConfigError, Fault
from vmodel.library import tables

NO = 1


@click.command("lint")
@click.argument("files", nargs=-1, metavar="FILE...")
@scenario_options()
@click.option("--objective", metavar="BOUND", multiple=True, help='what must hold, as "p99 <= 100us"; repeatable')
@click.option("--rules", "list_rules", is_flag=True, help="list the rules, and do nothing else")
@names_options
@json_option
@output_option("json, md")
def lint_command(
    *, files: tuple[str, ...], objective: tuple[str, ...], as_json: bool, output: str | None, **flags: Any
) -> int:
    """Findings in a configuration: what is wrong, who says so, what mending would bring, and the command that mends.

    FILEs are outputs of ethtool, ip, lspci, lscpu, libvirt and QEMU, as for --from; several are combined. Flags say
    what no file tells (--path, --topology, --flows, --load). Exit code 1 with findings at error level.
    """
    kind = ending(output, ("json", "md"))
    from vmodel.report import linted

    if flags.pop("list_rules"):
        say("\n".join(linted.rules_markdown()))
        return 0
    names = names_of(flags)
    from vmodel.lint.rules import lint
    from vmodel.lint.sheet import ERROR, Sheet, Source
    from vmodel.solve.goal import read_constraints

    files = (*files, *flags.pop("from_"))
    question = collect({**flags, "from_": ()})
    parts: tuple[Any, ...] = ()
    if files:
        from vmodel.cli.fromfiles import read_into

        parts = read_into(question, files, flags.get("interfaces", ()))
    elif question.settings.get("path") is None:
        question.faults.append(Fault(file="", key="FILE", expected="at least one file, or --path"))
    try:
        bounds = read_constraints(objective, None, "--objective")
    except ConfigError as error:
        question.faults.extend(error.faults)
        bounds = ()
    unknown = question.settings.get("path") is None and not question.faults
    sheet = Sheet(
        sources=tuple(Source(file=p.file, tool=p.found.tool, facts=p.configuration) for p in parts),
        scenario=None if unknown else question.scenario(),
        places={name: f"{file}: {key}" if file else key for name, (file, key) in question.places.items()},
        given=tuple(name for name in question.settings if name in tables.knobs() or name == "load"),
        objective=bounds,
        names=names,
    )
    found = lint(sheet)
    notes = tuple(dict.fromkeys(question.notes))
    if as_json:
        say_json(linted.lint_json(sheet, found, notes))
    if kind == "json" and output is not None:
        write(output, as_json_text(linted.lint_json(sheet, found, notes)))
    elif output is not None:
        write(output, "\n".join(["```text", *linted.lint_lines(sheet, found, notes), "```", ""]))
    elif not as_json:
        say("\n".join(linted.lint_lines(sheet, found, notes)))
    return NO if any(one.severity == ERROR for one in found) else 0
