"""`vmodel sweep`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from vmodel.cli.options import Question, collect, json_option, output_option, plot_option, scenario_options
from vmodel.cli.output import PICTURES, as_csv, as_json_text, check_plot, ending, say, say_json, write, write_figure
from vmodel.core.records import Scenario
from vmodel.errors import ConfigError, Fault
from vmodel.report import swept
from vmodel.sweep.axis import faults_of
from vmodel.sweep.engine import Sweep, in_memory
from vmodel.sweep.grid import NUMBERS, Grid, grid, wanted_columns

TABLES = ("csv", "json", "md")


@click.command("sweep")
@scenario_options()
@click.option(
    "--vary",
    metavar="NAME=VALUES",
    multiple=True,
    help="what varies: a,b,c or a:b:step or a..b/n (@log: by equal factors); repeatable, the first is the slowest",
)
@click.option("--columns", metavar="NAME,...", help="answers wanted, and nothing else computed; `regime` is slow")
@plot_option("the figure that suits what varies")
@click.option("--answer", metavar="NAME", help="the column that --plot shows")
@click.option(
    "--measured", metavar="FILE", type=click.Path(path_type=Path), help="observations (csv) to draw over the prediction"
)
@json_option
@output_option(", ".join((*TABLES, *PICTURES)))
def sweep_command(
    *,
    vary: tuple[str, ...], columns: str | None, plot: str | None, answer: str | None, measured: Path | None,
    as_json: bool, output: str | None, **flags: Any,
) -> None:  # fmt: skip
    """One or more settings over ranges: a table of answers, a file, a figure.

    \b
    vmodel sweep --path vf --vary rx_usecs=0:200:10
    vmodel sweep --path virtio-vhost --workload packets --vary load=2%..105%/50 --plot curve.png
    vmodel sweep --path vf --vary size=64..64KiB/60@log --vary rx_usecs=0..200/60 --plot map.png

    A load without a unit, or in per cent, is a share of what the configuration can carry. Figures: a latency-load
    curve where only the load varies, a map of regimes over two settings, else lines with 90 % intervals.
    """
    kind = ending(output, (*TABLES, *PICTURES))
    check_plot(plot)
    if kind in PICTURES:
        plot, output, kind = plot or output, None, None
    g = _laid_out(vary, columns, flags)
    found = _run(_with_columns(g, answer) if plot else g)
    if plot is not None:
        _draw(found, plot, answer, measured)
    if as_json:
        say_json(swept.sweep_json(found))
    elif output is None and plot is None:
        say("\n".join(swept.sweep_lines(found)))
    if output is not None:
        _write(found, output, kind)


def _laid_out(vary: tuple[str, ...], columns: str | None, flags: Mapping[str, Any]) -> Grid:
    """The grid that the flags describe; every fault at once."""
    question = collect(flags)
    axes, faults = faults_of(vary)
    question.faults.extend(faults)
    if not vary:
        question.faults.append(Fault(file="", key="--vary", expected="something to vary, as rx_usecs=0:200:10"))
    for a in axes:
        if a.name in question.settings:
            place = question.places[a.name][1]
            question.faults.append(Fault(file="", key=place, expected=f"nothing: {a.name} varies"))
    try:
        wanted = wanted_columns(None if columns is None else columns.split(","))
    except ConfigError as error:
        question.faults.extend(error.faults)
    if question.faults:
        raise ConfigError(question.faults)
    return grid(question.settings, axes, wanted, _resolver(question))


def _resolver(question: Question) -> Any:
    """How settings of one cell become a scenario, with faults placed at the flags that brought the values."""

    def resolve(settings: Mapping[str, Any]) -> Scenario:
        one = question.copy()
        for name, value in settings.items():
            if name not in question.settings:
                one.put(name, value, "", f"--vary {name}")
        return one.scenario()

    return resolve


def _with_columns(g: Grid, answer: str | None) -> Grid:
    """The grid with the columns that its figure is drawn from."""
    from dataclasses import replace

    from vmodel.report.pictures import default_answer, needed_columns

    shown = answer or default_answer(g)
    wanted_columns([shown], "--answer", NUMBERS)
    return replace(g, columns=tuple(dict.fromkeys((*g.columns, *needed_columns(g, shown)))))


def _run(g: Grid) -> Sweep:
    return in_memory(g)


def _draw(s: Sweep, plot: str, answer: str | None, measured: Path | None) -> None:
    from vmodel.report.pictures import default_answer, sweep_picture

    rows: Any = ()
    if measured is not None:
        from vmodel.calibrate.dataset import read_rows

        rows = [row for row in read_rows(measured) if not row.excluded]
    write_figure(plot, sweep_picture(s, answer or default_answer(s.grid), rows))


def _write(s: Sweep, output: str, kind: str | None) -> None:
    if kind == "json":
        write(output, as_json_text(swept.sweep_json(s)))
    elif kind == "md":
        write(output, swept.sweep_markdown(s))
    else:
        write(output, as_csv(swept.rows_of(s)))
