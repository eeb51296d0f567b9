"""The `vmodel` command: a table of subcommands that are imported when they are called, and how errors are told."""

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from vmodel.errors import VmodelError, nearest, one_line, shortened, shown

# name -> (module, attribute, what it answers)
COMMANDS: dict[str, tuple[str, str, str]] = {
    "predict": (
        "vmodel.cli.predict",
        "predict_command",
        "Latency, throughput, rates, CPU and bottleneck of one configuration.",
    ),
    "explain": (
        "vmodel.cli.explain",
        "explain_command",
        "Where the time goes, the closed form, which settings matter and which do nothing.",
    ),
    "compare": (
        "vmodel.cli.compare",
        "compare_command",
        "Several paths or configurations side by side, differing inputs first.",
    ),
    "sweep": ("vmodel.cli.sweep", "sweep_command", "Settings over ranges: a table, a file, a figure."),
    "report": ("vmodel.cli.report", "report_command", "One file with inputs, answers, figures, formulas and sources."),
    "explore": ("vmodel.cli.explore", "explore_command", "A page with sliders that computes in the browser (-o)."),
    "tune": ("vmodel.cli.tune", "tune_command", "Best settings under constraints, with the Pareto front."),
    "check": ("vmodel.cli.check", "check_command", "The prediction against an independent simulation."),
    "plan": ("vmodel.cli.plan", "plan_command", "A fleet: hosts, paths and settings, placement, headroom, refusals."),
    "graph": ("vmodel.cli.graph", "graph_command", "The path as a picture or as Mermaid text."),
    "cite": ("vmodel.cli.cite", "cite_command", "Bibliography of what a prediction used."),
    "ingest": (
        "vmodel.cli.ingest",
        "ingest_command",
        "Read the outputs of measuring and configuration tools.",
    ),
    "lint": ("vmodel.cli.lint", "lint_command", "Findings in a configuration, with predicted gain and what mends it."),
    "fit": ("vmodel.cli.fit", "fit_command", "Parameters from measurements."),
    "validate": ("vmodel.cli.validate", "validate_command", "Measured against predicted, out of sample too."),
    "suggest": (
        "vmodel.cli.suggest",
        "suggest_command",
        "Which measurement to take next, as ready commands, and what it would narrow.",
    ),
    "measure": (
        "vmodel.cli.measure",
        "measure_command",
        "This host measured with iperf3, netperf and sockperf, and a profile of it.",
    ),
    "diagnose": (
        "vmodel.cli.diagnose",
        "diagnose_command",
        "What changed between two sets of measurements: which costs explain the shift.",
    ),
    "schema": ("vmodel.cli.schemas", "schema_command", "The JSON Schema of the files that people write."),
    "paths": ("vmodel.cli.lists", "paths_command", "The data paths there are."),
    "profiles": ("vmodel.cli.lists", "profiles_command", "The machines whose costs are known."),
    "knobs": ("vmodel.cli.lists", "knobs_command", "The settings there are."),
    "devices": ("vmodel.cli.lists", "devices_command", "The NIC drivers and how they moderate interrupts."),
    "datasets": ("vmodel.cli.lists", "datasets_command", "The measurements in a calibration folder."),
}
BAD_INPUT, INTERRUPTED = 2, 130
WIDTH = 100
HELP = """What a virtual machine's network data path costs, predicted from its configuration.

\b
First steps:
  vmodel predict --path vf --rx-usecs 10
  vmodel explain --path vf
  vmodel compare --path vf --path virtio-vhost

Exit code 0: done; 1: the answer is no; 2: bad input, one line for each fault.

\b
Shell completion (bash; zsh and fish likewise):
  eval "$(_VMODEL_COMPLETE=bash_source vmodel)"
"""


class LazyGroup(click.Group):
    """A group that imports a subcommand when it is called; its help needs none of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        place = COMMANDS.get(cmd_name)
        if place is None:
            return None
        command = getattr(import_module(place[0]), place[1])
        return command if isinstance(command, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, place[2]) for name, place in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise click.UsageError(_meant(f"no such command: {shown(args[0])}", nearest(args[0], COMMANDS)), ctx)
        return super().resolve_command(ctx, args)


@click.group(
    cls=LazyGroup, help=HELP, context_settings={"max_content_width": WIDTH, "help_option_names": ["-h", "--help"]}
)
@click.version_option(import_module("vmodel").__version__, prog_name="vmodel")
def cli() -> None:
    """Group of all commands."""


def _meant(problem: str, guess: str | None) -> str:
    return problem if guess is None else f"{problem}; did you mean {shown(guess)}?"


def _usage_line(error: click.ClickException) -> str:
    """One line for a click error, with the nearest option where one was mistyped."""
    if isinstance(error, click.NoSuchOption):
        options: list[str] = []
        if error.ctx is not None:
            options = [o for p in error.ctx.command.get_params(error.ctx) for o in (*p.opts, *p.secondary_opts)]
        named = [option for option in options if option.startswith("--")]
        return _meant(f"no such option: {shown(error.option_name)}", nearest(error.option_name, named))
    text = " ".join(error.format_message().split())
    return shortened(text[:1].lower() + text[1:].rstrip("."))  # click repeats the whole of a value


def _complain(line: str) -> None:
    sys.stderr.write(f"vmodel: {one_line(line)}\n")


def _forget_output() -> None:
    """Let what is left in the buffer of standard output go nowhere, so that the flush at exit is silent."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code. Anything but bad input comes out as a traceback: it is our fault."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # tiny matrices: a second thread only spins
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by who called us; a file opened later must not take its number
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")  # a terminal without our characters gets question marks
    try:
        result = cli.main(
            args=None if arguments is None else list(arguments), prog_name="vmodel", standalone_mode=False
        )
        sys.stdout.flush()
    except VmodelError as error:
        for line in error.lines():
            _complain(line)
        return BAD_INPUT
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return BAD_INPUT
    except click.ClickException as error:
        _complain(_usage_line(error))
        return BAD_INPUT
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        _forget_output()
        return 0
    except OSError as error:
        if error.filename is not None:
            raise  # a file that a command opened and should have spoken of itself
        _forget_output()
        _complain(f"standard output: {error.strerror}")
        return BAD_INPUT
    return result if isinstance(result, int) else 0
