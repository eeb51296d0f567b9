"""`vmodel measure`: the parts of other packages put together, since they do not know each other."""

import os
import re
import secrets
import shutil
import socket
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import click

from vmodel.calibrate.dataset import parse_rows
from vmodel.calibrate.fit import fit
from vmodel.calibrate.generic import told_machine
from vmodel.calibrate.halves import halves, repeat_spread
from vmodel.calibrate.profile_file import tables_of, text_of
from vmodel.cli.fit import started as begun
from vmodel.cli.options import json_option
from vmodel.cli.output import say, say_json
from vmodel.errors import ConfigError, Fault, VmodelError, nearest, one_line
from vmodel.ingest.read import read
from vmodel.ingest.rows import as_rows, as_text
from vmodel.library.profile import profile as read_profile
from vmodel.measure import machine, study
from vmodel.measure.courses import LAYOUTS, Course, own
from vmodel.measure.ground import Ground, GroundError
from vmodel.measure.session import Limits, Placement, Run, configurations, ending_on_signals, measure, within
from vmodel.measure.tools import TOOLS, installed, version
from vmodel.report.measured import Measured, measured_json, measured_lines

NO = 1
NAME = re.compile(r"[^a-z0-9]+")


@click.command("measure")
@click.option(
    "--budget", type=click.FloatRange(min=1), default=180.0, show_default=True, metavar="SECONDS",
    help="time for all runs together",
)  # fmt: skip
@click.option(
    "--run",
    "run_s",
    type=click.IntRange(1, 60),
    default=1,
    show_default=True,
    metavar="SECONDS",
    help="time of one run",
)
@click.option(
    "--rounds",
    type=click.IntRange(2, 100),
    default=5,
    show_default=True,
    metavar="N",
    help="most repeats of each configuration",
)
@click.option(
    "--path",
    "paths",
    metavar="PATH",
    multiple=True,
    help=f"what to measure; repeatable [default: all of {', '.join(LAYOUTS)}]",
)
@click.option(
    "--tool",
    "tools",
    metavar="TOOL",
    multiple=True,
    help=f"what to measure with; repeatable [default: all of {', '.join(TOOLS)}]",
)
@click.option("--address", metavar="IP", help="an address of this host to measure on, instead of own namespaces")
@click.option("--seed", type=click.IntRange(min=0), metavar="N", help="of the order and of the halves [default: drawn]")
@click.option("--pin/--no-pin", default=True, show_default=True, help="client and server each on a core of its own")
@click.option("-o", "--output", metavar="FOLDER", help="study folder [default: measured-HOST-DATE]")
@json_option
def measure_command(
    *, budget: float, run_s: int, rounds: int, paths: tuple[str, ...], tools: tuple[str, ...], address: str | None,
    seed: int | None, pin: bool, output: str | None, as_json: bool,
) -> int:  # fmt: skip
    """Measure this host with iperf3, netperf and sockperf, and fit a profile for it.

    Runs in network namespaces of its own, which vanish with the command however it ends; needs root only where the
    kernel allows no user namespaces. Sends nothing to any other machine. Exit code 1: nothing could be measured.
    """
    started = datetime.now(UTC)
    there, missing = installed(_named("--tool", tools, TOOLS))
    wanted = _named("--path", paths, LAYOUTS)
    name = NAME.sub("-", f"{socket.gethostname()}-{started:%Y-%m-%d}".lower()).strip("-")
    folder = Path(output or f"measured-{name}")
    if _taken(folder):
        raise ConfigError([Fault(file="", key="-o", value=str(folder), expected="a folder that does not exist yet")])
    left_out = {tool.name: f"not installed (Debian package {tool.package})" for tool in missing}
    if not there:
        raise ConfigError([Fault(file="measure", key="", expected=f"one of {', '.join(TOOLS)} to be installed")])
    apart = machine.apart() if pin else None
    placement = None if apart is None else Placement(client=apart[0], server=apart[1])
    limits = Limits(
        budget_s=budget, run_s=run_s, rounds=rounds, seed=secrets.randbelow(1 << 16) if seed is None else seed
    )
    facts = machine.facts()
    with ending_on_signals(), Ground() as ground, _progress() as told:
        courses = [own(address)] if address else list(_courses(ground, wanted, left_out))
        planned = configurations(courses, there)
        spoken = {one.course.path for one in planned}
        left_out |= {c.path: "none of the tools speaks it" for c in courses if c.path not in spoken}
        runs = measure(within(planned, limits), limits, placement, told) if planned else ()
    rows = _rows(runs, name)
    session = study.Session(
        name=name, started=started, seconds=(datetime.now(UTC) - started).total_seconds(), facts=facts,
        versions={tool.name: version(tool) for tool in there}, limits=limits, placement=placement, left_out=left_out,
        failed=study.failures(runs, rows),
    )  # fmt: skip
    if not rows:
        for what, why in {**session.left_out, **session.failed}.items():
            click.echo(f"vmodel: not measured: {what}: {one_line(why)}", err=True)
        return NO
    found = _concluded(session, runs, rows)
    _write(folder, session, runs, found)
    if as_json:
        say_json(measured_json(found, str(folder)))
    else:
        say("\n".join(measured_lines(found, str(folder))))
    return 0


def _taken(folder: Path) -> bool:
    try:
        return folder.exists()
    except OSError as error:
        expected = f"the name of a folder ({error.strerror})"
        raise ConfigError([Fault(file="", key="-o", value=str(folder), expected=expected)]) from None


def _named(flag: str, given: Sequence[str], known: Mapping[str, object]) -> tuple[str, ...]:
    """The names given, or all; raises ConfigError with every name that is not known."""
    faults = [
        Fault(file="", key=flag, value=name, expected=f"one of {', '.join(known)}", nearest=nearest(name, known))
        for name in given
        if name not in known
    ]
    if faults:
        raise ConfigError(faults)
    return tuple(dict.fromkeys(given)) or tuple(known)


def _courses(ground: Ground, wanted: Sequence[str], left_out: dict[str, str]) -> Iterator[Course]:
    for path in wanted:
        try:
            yield LAYOUTS[path](ground)
        except GroundError as error:
            left_out[path] = str(error)


def _rows(runs: Sequence[Run], name: str) -> dict[int, dict[str, str]]:
    """The row of every run whose output holds a result, by its number."""
    found = {}
    for run in runs:
        place = study.raw_name(run)
        try:
            made = read(run.output.encode(), tool=run.configuration.tool.name)
            found[run.number] = as_rows(made, place, study.known(run, name))[0]
        except VmodelError:
            continue  # what the tool said is kept beside the study, and told as a failure
    return found


def _concluded(session: study.Session, runs: Sequence[Run], made: Mapping[int, dict[str, str]]) -> Measured:
    text = as_text(study.with_spread(runs, made))
    rows = parse_rows(text, "observations.csv")
    facts = session.facts
    prior = told_machine(
        read_profile("generic"), clock_ghz=float(facts["clock_ghz"]), year=session.started.year,
        mitigations=facts["mitigations"] != machine.NO_MITIGATION,
    )  # fmt: skip
    seed = replace(begun(prior, rows, session.name), title=study.title(session))
    fitted = fit(rows, seed)
    return Measured(
        session=session, text=text, rows=rows, spread=repeat_spread(rows), fitted=fitted,
        halves=halves(rows, seed, session.limits.seed), runs=len(runs),
    )  # fmt: skip


def _write(folder: Path, session: study.Session, runs: Sequence[Run], found: Measured) -> None:
    """Write the study beside its place and rename it."""
    part = folder.with_name(f".{folder.name}.{os.getpid()}.part")
    try:
        (part / "raw").mkdir(parents=True)
        for run in runs:
            (part / study.raw_name(run)).write_text(run.output or run.complaint, encoding="utf-8")
        files = {
            "observations.csv": found.text,
            "source.toml": study.source_toml(session, found.spread[0]),
            "profile.toml": study.seed_toml(session),
            "fitted.toml": text_of(tables_of(found.fitted, session.name)),
        }
        for name, text in files.items():
            (part / name).write_text(text, encoding="utf-8")
        for name in ("source.toml", "profile.toml", "fitted.toml"):
            tomllib.loads(files[name])
        part.rename(folder)
    except OSError as error:
        raise ConfigError(
            [Fault(file="", key="-o", value=str(folder), expected=f"a folder that can be written ({error.strerror})")]
        ) from None
    finally:
        shutil.rmtree(part, ignore_errors=True)


@contextmanager
def _progress() -> Iterator[Callable[[float], None]]:
    """A progress bar on a terminal's stderr, nothing elsewhere."""
    with ExitStack() as stack:
        if not sys.stderr.isatty():
            yield lambda share: None
            return
        bar = stack.enter_context(click.progressbar(length=100, label="measuring", file=sys.stderr))
        yield lambda share: bar.update(max(0, int(100 * min(share, 1.0)) - bar.pos))
