"""`vmodel tune`."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from vmodel.cli.options import collect, json_option, output_option, scenario_options
from vmodel.cli.output import as_csv, as_json_text, ending, say, say_json, write
from vmodel.core.records import Scenario
from vmodel.errors import ConfigError, Fault, UnitError
from vmodel.library import tables
from vmodel.library.commands import Names

NO = 1
WHOLE = 100
ENDINGS = ("png", "svg", "csv", "json", "md")
DEFAULT_WORTH = "0.5%"


def names_options(function: Any) -> Any:
    """The flags that name the things which the commands act on."""
    for flag, field, about in reversed(
        (
            ("--guest-interface", "guest", "network interface in the guest"),
            ("--host-interface", "host", "network interface of the host"),
            ("--tap", "tap", "tap device of the guest on the host"),
            ("--domain", "domain", "libvirt domain"),
        )
    ):
        default = Names.__dataclass_fields__[field].default
        function = click.option(
            flag, f"name_{field}", metavar="NAME", default=default, show_default=True, help=f"{about}, for the commands"
        )(function)
    return function


def names_of(flags: dict[str, Any]) -> Names:
    """Take the names out of the flags."""
    return Names(**{key.removeprefix("name_"): flags.pop(key) for key in list(flags) if key.startswith("name_")})


@click.command("tune")
@scenario_options()
@click.option("--minimise", "--minimize", "minimise", metavar="QUANTITY", help="what to make small: p99, host_cpu, ...")
@click.option("--maximise", "--maximize", "maximise", metavar="QUANTITY", help="what to make large: throughput, ...")
@click.option("--subject", metavar="BOUND", multiple=True, help='a bound, as "throughput >= 5Gbit/s"; repeatable')
@click.option("--over", metavar="NAME,...", multiple=True, help="settings to search, instead of all that are not given")
@click.option(
    "--worth",
    metavar="SHARE",
    default=DEFAULT_WORTH,
    show_default=True,
    help="leave as it is what brings less than this; 0 for the exact optimum",
)
@click.option("--plot", is_flag=True, help="write the Pareto front as a picture, front.png unless -o names one")
@names_options
@json_option
@output_option(", ".join(ENDINGS))
def tune_command(
    *, subject: tuple[str, ...], over: tuple[str, ...], as_json: bool, output: str | None, **flags: Any
) -> int:
    """Best settings of one scenario under constraints, with the Pareto front of latency, throughput and CPU.

    Searched are all settings that a command sets, that have an effect on the path, and that no flag gave a value;
    what --from files say is how it is today.
    Quantities: mean, p50, p90, p99, p999, p9999, throughput, rate, transactions, interrupts, host_cpu, guest_cpu, cpu,
    busy, loss. Exit code 1 when nothing meets the constraints; the answer then says why, and what would.
    """
    minimise, maximise, worth, plot = (flags.pop(name) for name in ("minimise", "maximise", "worth", "plot"))
    output = "front.png" if plot and output is None else output
    kind = ending(output, ENDINGS)
    if plot and kind not in ("png", "svg"):
        raise click.UsageError("--plot: -o must end in .png or .svg")
    names = names_of(flags)
    question = collect(flags)
    from vmodel.plan.tune import tune_scenario  # NumPy: after the flags are known to be right
    from vmodel.solve.goal import read_constraints, read_objective

    s: Scenario = _with_faults(question, (minimise, maximise, subject, worth))
    objective, constraints = read_objective(minimise, maximise, s), read_constraints(subject, s)
    searched = tuple(name.strip().replace("-", "_") for text in over for name in text.split(",") if name.strip())
    with _told() as tell:
        found = tune_scenario(
            s,
            objective,
            constraints,
            over=searched,
            given=tuple(n for n in question.settings if n in tables.knobs() and n not in question.files),
            worth=share_of(worth),
            names=names,
            tell=tell,
        )
    _show(found, as_json, output, kind)
    return 0 if found.feasible else NO


def _with_faults(question: Any, goal: tuple[str | None, str | None, tuple[str, ...], str]) -> Scenario:
    """The scenario; raises with the faults of flags, objective and bounds together."""
    from vmodel.solve.goal import read_constraints, read_objective

    faults: list[Fault] = []
    s: Scenario | None = None
    try:
        s = question.scenario()
    except ConfigError as error:
        faults += error.faults
    minimise, maximise, subject, worth = goal
    checks: list[Callable[[], object]] = [
        lambda: share_of(worth),
        lambda: read_objective(minimise, maximise, s),
        lambda: read_constraints(subject, s),
    ]
    for check in checks:
        try:
            check()
        except ConfigError as error:
            faults += error.faults
    if faults or s is None:
        raise ConfigError(faults)
    return s


def share_of(text: str) -> float:
    """A share such as 0.5% or 0.005; raises ConfigError."""
    from vmodel.solve.quantities import QUANTITIES

    try:
        share = QUANTITIES["loss"].read(text)
    except UnitError:
        share = -1.0
    if not 0 <= share < 1:
        raise ConfigError([Fault(file="", key="--worth", value=text, expected="a share from 0 to 1, such as 0.5%")])
    return share


def _show(found: Any, as_json: bool, output: str | None, kind: str | None) -> None:
    from vmodel.report import tuned

    if as_json:
        say_json(tuned.tuning_json(found))
    if output is not None:
        if kind in ("png", "svg"):
            from vmodel.report.figures import picture

            write(output, picture(tuned.front_figure(found), kind))
        elif kind == "json":
            write(output, as_json_text(tuned.tuning_json(found)))
        elif kind == "csv":
            write(output, as_csv(tuned.front_rows(found)))
        else:
            write(output, "\n".join(["```text", *tuned.tuning_lines(found), "```", ""]))
    if not as_json and (output is None or kind in ("png", "svg", "csv")):
        say("\n".join(tuned.tuning_lines(found)))


@contextmanager
def _told() -> Iterator[Callable[[float], None] | None]:
    """A progress bar on a terminal's stderr, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    with click.progressbar(length=WHOLE, label="searching", file=sys.stderr) as bar:
        yield lambda share: bar.update(max(0, round(share * WHOLE) - bar.pos))
