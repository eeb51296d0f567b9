"""The command pages: every command with its arguments and options, from the Click objects themselves."""

import textwrap

import click

from docs.generate import places
from docs.generate.markup import block, code, link, plain, prose, table
from vmodel.cli.main import COMMANDS, cli

EXIT_CODES = (
    ("0", "done"),
    ("1", "the answer is no: infeasible, saturated, not identified, a finding at error level"),
    (
        "2",
        "bad input: one line on standard error for each fault, with file, key, value, what was expected, nearest name",
    ),
    ("130", "interrupted"),
)


def command(name: str) -> click.Command:
    """The Click command of a name."""
    found = cli.get_command(click.Context(cli), name)
    if found is None:
        raise LookupError(name)
    return found


def spellings(parameter: click.Parameter) -> tuple[str, ...]:
    """How an option is written; of an argument its metavar."""
    if isinstance(parameter, click.Argument):
        return (parameter.make_metavar(click.Context(click.Command(""))),)
    return (*parameter.opts, *parameter.secondary_opts)


def _takes(parameter: click.Parameter) -> str:
    if isinstance(parameter, click.Option) and (parameter.is_flag or parameter.count):
        return ""
    if isinstance(parameter.type, click.Choice):
        return ", ".join(code(choice) for choice in parameter.type.choices)
    return code(parameter.make_metavar(click.Context(click.Command(""))))


def _default(parameter: click.Parameter) -> str:
    value = parameter.to_info_dict()["default"]
    if value is None or value is False or value == () or not isinstance(value, (str, int, float)):
        return ""
    return "yes" if value is True else code(value)


def _row(option: click.Option) -> tuple[str, ...]:
    written = " / ".join(code(word) for word in spellings(option))
    about = prose(option.help or "").strip()
    return written, _takes(option), _default(option), about + (" (required)" if option.required else "")


def command_page(name: str) -> str:
    """The page of one command."""
    found = command(name)
    context = click.Context(found, info_name=f"vmodel {name}")
    options = [p for p in found.get_params(context) if isinstance(p, click.Option) and not p.hidden]
    parts = [f"# vmodel {name}\n", f"{plain(COMMANDS[name][2])}\n", block(found.get_usage(context), "text")]
    if found.help:
        parts.append(_help(found.help))
    parts += ["## Options\n", table(("option", "takes", "default", ""), map(_row, options))]
    here = places.command_page(name)
    parts.append(
        f"\nExit codes: {link(here, 'all commands', places.COMMANDS)}. Settings without an option of their own: "
        f"{link(here, 'knobs', places.KNOBS)}.\n"
    )
    return "\n".join(parts)


def _help(text: str) -> str:
    """The help of a command; what it holds fixed in place (marked by \\b) stays so."""
    out = []
    for part in text.split("\n\n"):
        fixed = part.lstrip().startswith("\b")
        out.append(block(textwrap.dedent(part.replace("\b", "")).strip("\n")) if fixed else prose(part))
    return "\n".join(out)


def index() -> str:
    """All commands, and what they share."""
    here = places.COMMANDS
    rows = [
        (link(here, f"`vmodel {name}`", places.command_page(name)), plain(row[2])) for name, row in COMMANDS.items()
    ]
    return "\n".join(
        [
            "# Commands\n",
            "Every command prints units with its numbers; `--json` prints the record, `-o` writes a file by its "
            "ending.\n",
            table(("command", "answers"), rows),
            "\n## Exit codes\n",
            table(("code", "means"), EXIT_CODES),
            "\n## Shell completion\n",
            "For bash; zsh and fish likewise:\n",
            block('eval "$(_VMODEL_COMPLETE=bash_source vmodel)"', "sh"),
        ]
    )


def pages() -> dict[str, str]:
    """Address -> text of every page about commands."""
    return {here: command_page(name) for name in COMMANDS for here in (places.command_page(name),)} | {
        places.COMMANDS: index()
    }
