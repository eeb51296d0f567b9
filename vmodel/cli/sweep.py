"""`vmodel sweep`."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from vmodel.cli.options import Question, collect, json_option, output_option, plot_option, scenario_options
from vmodel.cli.output import PICTURES, as_json_text, check_plot, ending, say, say_json, write, write_figure
from vmodel.core.records import Scenario
from vmodel.errors import ConfigError, Fault
from vmodel.report import swept
from vmodel.sweep import engine, store
from vmodel.sweep.axis import faults_of
from vmodel.sweep.draws import MOST_DRAWS
from vmodel.sweep.grid import NUMBERS, Grid, grid, wanted_columns

RECORDS = ("json", "md")
LARGE = 4  # chunks from which all cores are used if that pays, unless --workers says otherwise
SHOWN_FROM = 20_000  # rows from which there is a progress bar


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
@click.option(
    "--draws",
    metavar="N",
    type=click.IntRange(0, MOST_DRAWS),
    default=0,
    help="90 % intervals by so many draws of the profile's costs, instead of by derivatives",
)
@click.option(
    "--sobol", metavar="N", type=int, help="global sensitivity with N samples (a power of two) instead of a table"
)
@click.option(
    "--seed", metavar="N", type=click.IntRange(0), default=0, show_default=True, help="of --draws and --sobol"
)
@click.option(
    "--workers", metavar="N", type=click.IntRange(1), help="processes of this machine [default: all where that pays]"
)
@click.option("--scheduler", metavar="ADDRESS|local", help="a Dask cluster: tcp://host:8786, or one of this machine")
@json_option
@output_option(", ".join((*store.TABLES, *RECORDS, *PICTURES)))
def sweep_command(
    *,
    vary: tuple[str, ...],
    columns: str | None,
    plot: str | None,
    answer: str | None,
    measured: Path | None,
    draws: int,
    sobol: int | None,
    seed: int,
    workers: int | None,
    scheduler: str | None,
    as_json: bool,
    output: str | None,
    **flags: Any,
) -> int:
    """One or more settings over ranges: a table of answers, a file, a figure.

    \b
    vmodel sweep --path vf --vary rx_usecs=0:200:10
    vmodel sweep --path virtio-vhost --workload packets --vary load=2%..105%/50 --plot curve.png
    vmodel sweep --path vf --vary size=64..64KiB/60@log --vary rx_usecs=0..200/60 --plot map.png
    vmodel sweep --path vf --vary size=1:65536:1 --vary rx_usecs=0:999:1 -o big.parquet

    A load without a unit, or in per cent, is a share of what the configuration can carry. Figures: a latency-load
    curve where only the load varies, a map of regimes over two settings, else lines with 90 % intervals, or the Pareto
    front where there would be more than eight lines.
    A sweep into a file that was interrupted goes on where it stopped when the same command is given again.
    """
    kind = ending(output, (*store.TABLES, *RECORDS, *PICTURES))
    check_plot(plot)
    if kind in PICTURES:
        plot, output, kind = plot or output, None, None
    g = _laid_out(vary, columns, flags, needed=sobol is None)
    if sobol is not None:
        return _sensitivity(g, sobol, seed, (plot, as_json, output, kind))
    if plot is not None:
        g = _with_columns(g, answer)
    g = replace(g, draws=draws, seed=seed)
    with _runner(g, workers, scheduler) as runner, _progress(g.rows) as tell:
        done = None
        if output is not None and kind in store.TABLES:
            done = engine.to_file(g, Path(output), runner or engine.here, tell)
            if done.failures:
                return _failed(done)
        needed = plot is not None or as_json or output is None or kind in RECORDS
        found = _in_memory(g, runner, tell) if needed else None
    if done is not None:
        _told(done, str(output))
    if found is None:
        return 0
    if plot is not None:
        _draw(found, plot, answer, measured)
    if as_json:
        say_json(swept.sweep_json(found))
    elif output is None and plot is None:
        say("\n".join(swept.sweep_lines(found)))
    if kind in RECORDS and output is not None:
        write(output, as_json_text(swept.sweep_json(found)) if kind == "json" else swept.sweep_markdown(found))
    return 0


def _laid_out(vary: tuple[str, ...], columns: str | None, flags: Mapping[str, Any], *, needed: bool) -> Grid:
    """The grid that the flags describe; every fault at once."""
    question = collect(flags)
    axes, faults = faults_of(vary)
    question.faults.extend(faults)
    if not vary and needed:
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
    return grid(question.settings, axes, wanted, resolve=_resolver(question))


def _resolver(question: Question) -> Callable[[Mapping[str, Any]], Scenario]:
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
    from vmodel.report.pictures import default_answer, needed_columns

    shown = answer or default_answer(g)
    wanted_columns([shown], "--answer", NUMBERS)
    return replace(g, columns=tuple(dict.fromkeys((*g.columns, *needed_columns(g, shown)))))


@contextmanager
def _runner(g: Grid, workers: int | None, scheduler: str | None) -> Iterator[engine.Runner | None]:
    """Where chunks are computed; None is this process without any files."""
    if scheduler is not None:
        with engine.cluster(scheduler) as client:
            click.echo(f"dashboard: {client.dashboard_link}", err=True)
            yield engine.on_dask(client)
        return
    if workers is not None:
        yield engine.on_cores(workers) if workers > 1 else None
    else:
        yield engine.as_it_pays(engine.cores()) if len(engine.jobs_of(g)) >= LARGE else None


def _in_memory(g: Grid, runner: engine.Runner | None, tell: engine.Tell) -> engine.Sweep:
    """All rows, computed here or by the runner with chunks in a folder that goes away."""
    if runner is None:
        return engine.in_memory(g, tell)
    engine.check_memory(g)
    with TemporaryDirectory(prefix="vmodel-sweep-") as place:
        folder = store.Folder(Path(place))
        done = engine.run(g, folder, runner, tell)
        if done.failures:
            raise done.failures[0]
        return engine.from_folder(g, folder)


@contextmanager
def _progress(rows: int) -> Iterator[engine.Tell]:
    """A progress bar over rows on a terminal's stderr, nothing elsewhere."""
    if rows < SHOWN_FROM or not sys.stderr.isatty():
        yield lambda count: None
        return
    with click.progressbar(length=rows, label="sweeping", file=sys.stderr) as bar:
        yield bar.update


def _told(done: engine.Done, output: str) -> None:
    if done.found and not done.computed:
        click.echo(f"{output} is complete already: nothing computed", err=True)
        return
    resumed = f", {done.found} of {done.found + done.computed} chunks were there already" if done.found else ""
    click.echo(f"wrote {output}{resumed}", err=True)


def _failed(done: engine.Done) -> int:
    """Tell of chunks that failed; the others stay on disk for the next run."""
    for failure in done.failures:
        click.echo(f"vmodel: {failure}", err=True)
    total = done.found + done.computed + len(done.failures)
    click.echo(f"{len(done.failures)} of {total} chunks failed, no table; the same command tries these again", err=True)
    return 1


def _draw(s: engine.Sweep, plot: str, answer: str | None, measured: Path | None) -> None:
    from vmodel.report.pictures import default_answer, sweep_picture

    rows: Any = ()
    if measured is not None:
        from vmodel.calibrate.dataset import read_rows

        rows = [row for row in read_rows(measured) if not row.excluded]
    write_figure(plot, sweep_picture(s, answer or default_answer(s.grid), rows))


def _sensitivity(g: Grid, samples: int, seed: int, out: tuple[str | None, bool, str | None, str | None]) -> int:
    """The shares of the variance instead of a table."""
    from vmodel.report import sensitive
    from vmodel.sweep.sensitivity import sobol

    plot, as_json, output, kind = out
    if len(g.cells) > 1 or any(a.slow for a in g.axes):
        slow = next(a.name for a in g.axes if a.slow)
        raise ConfigError([Fault(file="", key=f"--vary {slow}", expected="a range of a plain setting, with --sobol")])
    if kind in store.TABLES:
        raise ConfigError([Fault(file="", key="-o", value=output, expected="a .json or .md file, with --sobol")])
    found = sobol(g.cells[0].scenario, g.plain, samples, seed)
    if plot is not None:
        write_figure(plot, sensitive.sensitivity_figure(found))
    if as_json:
        say_json(sensitive.sensitivity_json(found))
    elif output is None and plot is None:
        say("\n".join(sensitive.sensitivity_lines(found)))
    if output is not None:
        text = as_json_text(sensitive.sensitivity_json(found))
        write(output, text if kind == "json" else sensitive.sensitivity_markdown(found))
    return 0
