"""`vmodel diagnose`."""

from pathlib import Path

import click

from vmodel.calibrate.dataset import read_rows
from vmodel.calibrate.diagnose import VERDICTS, diagnose
from vmodel.cli.options import complete, json_option
from vmodel.cli.output import say, say_json
from vmodel.core.records import Observation
from vmodel.errors import ConfigError, Fault
from vmodel.library.profile import profile as read_profile
from vmodel.report.diagnosed import diagnosis_json, diagnosis_lines

NO = 1
UNEXPLAINED = VERDICTS[-1]


def _compared(path: Path) -> list[Observation]:
    rows = [row for row in read_rows(path) if not row.excluded]
    if not rows:
        raise ConfigError([Fault(file=str(path), key="", expected="at least one row that is not excluded")])
    return rows


@click.command("diagnose")
@click.argument("before", type=click.Path(path_type=Path))
@click.argument("after", type=click.Path(path_type=Path))
@click.option(
    "--profile", "profile_name", metavar="NAME|FILE", default="generic", show_default=True,
    shell_complete=complete("profile"), help="what is known of the machine beside the two files",
)  # fmt: skip
@json_option
def diagnose_command(before: Path, after: Path, profile_name: str, as_json: bool) -> int:
    """What changed between two sets of measurements of one machine, BEFORE and AFTER.

    Settings that differ come first; then every cost whose change explains the shift, by probability, beside "nothing
    changed" and "none of these". Exit code 1 when nothing explains it.
    """
    found = diagnose(_compared(before), _compared(after), read_profile(profile_name))
    if as_json:
        say_json(diagnosis_json(found))
    else:
        say("\n".join(diagnosis_lines(found)))
    return NO if found.verdict == UNEXPLAINED else 0
