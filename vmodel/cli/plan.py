"""`vmodel plan`."""

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from vmodel.cli.options import json_option, output_option
from vmodel.cli.output import as_csv, as_json_text, ending, say, say_json, write

NO = 1


@click.command("plan")
@click.argument("files", nargs=-1, required=True, metavar="FLEET...")
@click.option(
    "--time-limit", type=click.FloatRange(min=0.1), default=60.0, show_default=True, metavar="S",
    help="seconds for the search; then the best answer so far, with what is proven of it",
)  # fmt: skip
@click.option("--regret", is_flag=True, help="plan for several demands and say which plan is regretted least")
@click.option("--migration", is_flag=True, help="what must_migrate costs: plan again without it")
@click.option("--commands", is_flag=True, help="how to set up each class: ethtool, libvirt, QEMU, sysctl")
@click.option(
    "--verify", "results", metavar="RESULTS", multiple=True,
    help="measurements after deployment: pass or fail against the predicted intervals; repeatable",
)  # fmt: skip
@click.option(
    "--fit", "fitted", metavar="PROFILE.toml", help="with --verify: learn from the measurements, write a profile"
)
@click.option(
    "--schema",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda c, p, v: _schema(c, v),
    help="print the JSON Schema of a fleet file",
)
@json_option
@output_option("json, csv, md, sh, png, svg")
def plan_command(
    *,
    files: tuple[str, ...],
    time_limit: float,
    regret: bool,
    migration: bool,
    commands: bool,
    results: tuple[str, ...],
    fitted: str | None,
    as_json: bool,
    output: str | None,
) -> int:
    """Hosts, paths and settings for a fleet: FLEET files (TOML or CSV) in, placement, headroom and refusals out.

    Each class gets one path with settings that keep its latency objective on the safe side of the model's interval;
    how busy a host may be follows from the objectives. Exit code 1 when the fleet cannot stand, with reasons.
    -o plan.sh writes a script that measures whether it does what was predicted.
    """
    kind = ending(output, ("json", "csv", "md", "sh", "png", "svg"))
    from dataclasses import replace

    from vmodel.plan.plan import least_regret, plan_fleet, without_migration
    from vmodel.plan.read import read_fleet
    from vmodel.report import planned

    fleet = read_fleet(files)
    if results or fitted:
        from vmodel.cli.verify import verify

        with _solver_silent():
            found = plan_fleet(fleet, time_limit_s=time_limit)
        return verify(found, results, fitted, as_json=as_json, output=output)
    with _solver_silent():
        found = plan_fleet(fleet, time_limit_s=time_limit)
        if regret and found.placement is not None:
            found = replace(found, candidates=least_regret(fleet, time_limit_s=time_limit))
        if migration:
            found = replace(found, unbound=without_migration(found, time_limit_s=time_limit))
    if as_json:
        say_json(planned.plan_json(found))
    elif output is None:
        say("\n".join(planned.plan_lines(found)))
    if commands and not as_json:
        from vmodel.plan.bundle import hands_of

        for name, text in hands_of(found).items():
            say("\n".join(["", f"{name}:", *(f"  {line}" for line in text)]))
    if output is not None and kind is not None:
        _write(found, output, kind)
    return 0 if found.feasible else NO


def _write(found: object, output: str, kind: str) -> None:
    from vmodel.plan.bundle import hands_of, script
    from vmodel.plan.plan import Plan
    from vmodel.report import planned

    if not isinstance(found, Plan):
        return
    if kind == "json":
        write(output, as_json_text(planned.plan_json(found)))
    elif kind == "csv":
        write(output, as_csv(planned.placement_rows(found)))
    elif kind == "md":
        write(output, planned.plan_markdown(found, hands_of(found)))
    elif kind == "sh":
        write(output, script(found))
    else:
        from vmodel.report.figures import picture
        from vmodel.report.plan_figure import load_figure

        write(output, picture(load_figure(found), kind))


def _schema(context: click.Context, wanted: bool) -> None:
    if wanted:
        from vmodel.plan.fleet import schema

        say_json(schema())
        context.exit(0)


@contextmanager
def _solver_silent() -> Iterator[None]:
    """HiGHS prints a line of its own now and then, whatever it is told; it goes where it cannot spoil the answer."""
    sys.stdout.flush()
    try:
        kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    except OSError:
        yield
        return
    try:
        os.dup2(nowhere, 1)
        yield
    finally:
        ctypes.CDLL(None).fflush(None)
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)
