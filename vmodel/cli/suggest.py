"""`vmodel suggest`."""

from pathlib import Path
from typing import Any

import click

from vmodel.calibrate.candidates import METRICS
from vmodel.calibrate.suggest import achieved, suggest
from vmodel.cli.options import Question, case_of, collect, complete, json_option, scenario_options
from vmodel.cli.output import say, say_json
from vmodel.cli.rows import compared
from vmodel.core.records import Scenario
from vmodel.errors import ConfigError, Fault, nearest
from vmodel.library import tables
from vmodel.report.suggested import achieved_json, achieved_lines, suggestion_json, suggestion_lines

NO = 1
AGAINST = " vs "


@click.command("suggest")
@scenario_options()
@click.option(
    "--decide", metavar='"A vs B"', help='what is to be decided: paths, or settings, as "vf vs virtio-vhost,queues=4"'
)
@click.option(
    "--without", metavar="PATH", multiple=True, shell_complete=complete("path"),
    help="a path that cannot be measured; repeatable",
)  # fmt: skip
@click.option(
    "--after",
    metavar="FILE",
    help="measurements taken since (CSV, or what ingest reads): what they brought, beside what was expected",
)
@json_option
def suggest_command(
    decide: str | None, without: tuple[str, ...], after: str | None, as_json: bool, **flags: Any
) -> int:
    """Which measurement to take next: the cheapest that most narrow a prediction, or decide between two.

    Without --profile the machine is taken as unknown (generic). Exit code 1: nothing would narrow it.
    """
    targets = _targets(collect(flags), decide)
    _check_without(without)
    known = targets[0].profile
    if after is not None:
        rows = compared(Path(after), {"path": targets[0].path, "topology": targets[0].topology})
        brought, metric = achieved(targets, known, rows), METRICS[targets[0].workload]
        if as_json:
            say_json(achieved_json(brought, targets, metric))
        else:
            say("\n".join(achieved_lines(brought, targets, metric)))
        return 0
    found = suggest(targets, known, without=without)
    if as_json:
        say_json(suggestion_json(found))
    else:
        say("\n".join(suggestion_lines(found)))
    return 0 if found.picks else NO


def _check_without(without: tuple[str, ...]) -> None:
    faults = [
        Fault(file="", key="--without", value=w, expected="a path", nearest=nearest(w, tables.path_names()))
        for w in without
        if w not in tables.endpoints()
    ]
    if faults:
        raise ConfigError(faults)


def _targets(base: Question, decide: str | None) -> tuple[Scenario, ...]:
    """The question, or the two questions of a decision, on one machine and in one place."""
    if "profile" not in base.settings:
        base.put("profile", "generic", "", "--profile")
    if decide is None:
        return (base.scenario(),)
    sides = [side.strip() for side in decide.split(AGAINST)]
    if len(sides) != 2 or not all(sides):
        expected = 'two cases, as "vf vs virtio-vhost" or "queues=1 vs queues=4"'
        raise ConfigError([Fault(file="", key="--decide", value=decide, expected=expected)])
    asked = [case_of(base, side if "=" in side.split(",")[0] else f"path={side}") for side in sides]
    first = asked[0].scenario()
    for word in ("topology", "workload"):
        if word not in base.settings:
            asked[1].settings.setdefault(word, getattr(first, word))
    second = asked[1].scenario()
    if METRICS[first.workload] != METRICS[second.workload]:
        raise ConfigError([Fault(file="", key="--decide", value=decide, expected="one workload on both sides")])
    return first, second
