"""`vmodel check`."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from vmodel.cli.options import asked, json_option, scenario_options
from vmodel.cli.output import say, say_json
from vmodel.simulate.check import DEFAULT_MESSAGES, DEFAULT_SEED, check

NO = 1


@click.command("check")
@scenario_options()
@click.option(
    "--messages", type=int, default=DEFAULT_MESSAGES, show_default=True, metavar="N", help="messages to simulate"
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=DEFAULT_SEED, show_default=True, metavar="N", help="random seed"
)
@json_option
def check_command(messages: int, seed: int, as_json: bool, **flags: Any) -> int:
    """Cross-check the prediction of one configuration against an independent simulation.

    Stage times are the model's; queues, losses, wake-ups and interrupts happen in SimPy (pip install 'vmodel[check]').
    Exit code 1 when a figure lies outside both its confidence interval and the error that the model states.
    """
    scenario, _ = asked(flags)
    with _told(messages) as tell:
        found = check(scenario, messages=messages, seed=seed, progress=tell)
    from vmodel.report.checked import check_json, check_lines

    if as_json:
        say_json(check_json(found))
    else:
        say("\n".join(check_lines(found)))
    return 0 if found.agrees else NO


@contextmanager
def _told(messages: int) -> Iterator[Callable[[int], None] | None]:
    """A progress bar on a terminal's stderr, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    with click.progressbar(length=max(messages, 1), label="simulating", file=sys.stderr) as bar:
        yield lambda done: bar.update(max(0, min(done, messages) - bar.pos))
