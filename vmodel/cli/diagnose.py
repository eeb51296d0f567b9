"""`vmodel diagnose`."""

from pathlib import Path

import click

from vmodel.calibrate.diagnose import VERDICTS, diagnose
from vmodel.cli.options import complete, json_option, path_option
from vmodel.cli.output import say, say_json
from vmodel.cli.rows import compared
from vmodel.library.profile import profile as read_profile
from vmodel.report.diagnosed import diagnosis_json, diagnosis_lines

NO = 1
UNEXPLAINED = VERDICTS[-1]


@click.command("diagnose")
@click.argument("before", type=click.Path(path_type=Path))
@click.argument("after", type=click.Path(path_type=Path))
@click.option(
    "--profile", "profile_name", metavar="NAME|FILE", default="generic", show_default=True,
    shell_complete=complete("profile"), help="what is known of the machine beside the two files",
)  # fmt: skip
@path_option("path that was measured, where a tool's output does not tell")
@click.option("--topology", metavar="WHERE", help="where the ends stood, likewise", shell_complete=complete("topology"))
@click.option("--direction", metavar="WAY", help="to-vm or from-vm, likewise", shell_complete=complete("direction"))
@json_option
def diagnose_command(before: Path, after: Path, profile_name: str, as_json: bool, **said: str | None) -> int:
    """What changed between two sets of measurements of one machine, BEFORE and AFTER.

    Observation files, or the output of any tool that `vmodel ingest` reads, with --path.

    Settings that differ come first; then every cost whose change explains the shift, by probability, beside "nothing
    changed" and "none of these". Exit code 1 when nothing explains it.
    """
    known = {name: value for name, value in said.items() if value}
    found = diagnose(compared(before, known), compared(after, known), read_profile(profile_name))
    if as_json:
        say_json(diagnosis_json(found))
    else:
        say("\n".join(diagnosis_lines(found)))
    return NO if found.verdict == UNEXPLAINED else 0
