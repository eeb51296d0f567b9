"""The command that learns parameters from measurements: of one machine, of all studies, of what machines share."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from vmodel.calibrate.evidence import PACKAGE, load
from vmodel.calibrate.fit import Fit, fit
from vmodel.calibrate.generic import alike, told_machine
from vmodel.calibrate.outcome import KEPT, NOT_IDENTIFIED, OK
from vmodel.calibrate.profile_file import tables_of, tables_of_profile, text_of, write
from vmodel.cli.measured import measurements, said_options
from vmodel.cli.options import plot_option
from vmodel.cli.output import check_plot, write_figure
from vmodel.core.records import Observation, Profile
from vmodel.errors import ConfigError, Fault
from vmodel.library.profile import CLOCKS_GHZ
from vmodel.library.profile import profile as read_profile
from vmodel.units import format_share

SHIPPED = PACKAGE / "library" / "profiles"
SHOWN = 12  # parameters of a fit that the report lists, the best learned first
FACTS = ("clock", "year", "mitigations")


def started(prior: Profile, rows: Sequence[Observation], name: str) -> Profile:
    """The prior under the name of the file that will hold the outcome; none of its rows is the machine's own."""
    prior = alike(prior)
    own = {k: v for k, v in prior.machine.items() if k != "population"}
    return replace(
        prior,
        name=name,
        title=f"fitted from {len(rows)} rows, prior {prior.name}",
        machine=own,
        seen={kind: replace(known, rows=0) for kind, known in prior.seen.items()},
    )


def _report(f: Fit, name: str) -> str:
    lines = [
        f"{name}: {len(f.rows)} rows, {f.effective:.1f} effective parameters",
        f"  outcome: {f.outcome}: {f.because}",
        f"  {'parameter':28s} {'value':>11s} {'error':>7s} {'prior':>11s} {'learned':>8s}",
    ]
    ranked = sorted(f.estimates, key=lambda e: -e.learned)
    for e in ranked[:SHOWN]:
        bound = "  at bound" if e.at_bound else ""
        partner = f"  with {e.partners[0][0]} ({e.partners[0][1]:+.2f})" if e.partners else ""
        lines.append(
            f"  {e.name:28s} {e.value:11.3g} {format_share(e.log_error):>7s} {e.prior:11.3g}"
            f" {format_share(e.learned):>8s}{bound}{partner}"
        )
    rest = ranked[SHOWN:]
    if rest:
        kept = sum(1 - e.learned > KEPT for e in rest)
        lines.append(f"  and {len(rest)} more, of which {kept} keep their prior (not identified by these rows)")
    if f.repeat_noise:
        told = ", ".join(f"{group} {format_share(sd)}" for group, sd in f.repeat_noise.items())
        lines.append(f"  noise between repeats: {told}")
    return "\n".join(lines)


def _fit_record(f: Fit) -> dict[str, Any]:
    return {
        "profile": f.profile.name,
        "rows": len(f.rows),
        "outcome": f.outcome,
        "because": f.because,
        "outliers": list(f.outliers),
        "effective_parameters": round(f.effective, 2),
        "noise": f.noise,
        "repeat_noise": f.repeat_noise,
        "parameters": {
            e.name: {
                "value": e.value,
                "log_error": e.log_error,
                "prior": e.prior,
                "prior_log_error": e.prior_log_sd,
                "moved_sd": e.moved_sd,
                "learned": e.learned,
                "at_bound": e.at_bound,
                "not_identified": 1 - e.learned > KEPT,
                "partners": dict(e.partners),
            }
            for e in f.estimates
        },
        "residuals": [
            {
                "id": row.id, "measured": row.value, "predicted": float(predicted), "weight": round(float(weight), 3)
            }
            for row, predicted, weight in zip(f.rows, f.predicted, f.weights, strict=True)
        ],
    }  # fmt: skip


@click.command("fit")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--prior", default="generic", show_default=True, help="Profile to start from.")
@click.option("--update", "known", metavar="PROFILE", help="Carry this profile on with the rows of FILE (drift).")
@click.option("--clock", metavar="GHZ", type=click.FloatRange(*CLOCKS_GHZ), help="Base clock of the machine.")
@click.option("--year", type=click.IntRange(1990, 2100), help="Year of the machine and its kernel.")
@click.option("--mitigations/--no-mitigations", default=None, help="Mitigations of speculative execution.")
@said_options
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Profile to write (.toml), or folder for all.")
@click.option("--calibration", type=click.Path(path_type=Path), help="Folder with study folders.")
@click.option("--pool", is_flag=True, help="Learn the generic profile from all studies.")
@click.option("--write", "in_place", is_flag=True, help="Rewrite the shipped profiles (in a checkout).")
@plot_option("each cost before and after the fit (with FILE)")
@click.option("--json", "as_json", is_flag=True, help="Print the record.")
def fit_command(
    *,
    file: Path | None,
    prior: str,
    known: str | None,
    clock: float | None,
    year: int | None,
    mitigations: bool | None,
    output: Path | None,
    calibration: Path | None,
    pool: bool,
    in_place: bool,
    plot: str | None,
    as_json: bool,
    **said: Any,
) -> int:
    """Fit parameters to FILE, or refit all shipped profiles to the evidence and compare them with what ships.

    FILE holds observations (CSV), or is the output of a tool that `vmodel ingest` reads; then name its --path.
    """
    check_plot(plot)
    if plot is not None and (file is None or known is not None):
        raise ConfigError([Fault(file="", key="--plot", value=plot, expected="a FILE of measurements to fit")])
    if file is not None:
        _target(output)
        rows = usable(file, said)
        if known is not None:
            return _update(rows, file.stem, known, output, as_json)
        before = told_machine(read_profile(prior), clock_ghz=clock, year=year, mitigations=mitigations)
        return _fit(rows, file.stem, before, output, plot=plot, as_json=as_json)
    if known is not None:
        raise ConfigError([Fault(file="fit", key="--update", value=known, expected="a FILE of new rows beside it")])
    if pool:
        return _pool(calibration, output, in_place, as_json)
    code, records = 0, []
    for study in load(calibration, public=True):
        if not study.shipped:
            continue
        f = fit(study.compared, study.seed)
        text = text_of(tables_of(f, study.name))
        same, state = _settle(f"{study.seed.name}.toml", text, output, in_place)
        code = code if same or in_place or output is not None else 1
        records.append({**_fit_record(f), "same_as_shipped": same})
        if not as_json:
            click.echo(f"{_report(f, study.seed.name)}\n  {state}")
    if as_json:
        click.echo(json.dumps({"fits": records}, indent=2, sort_keys=True))
    return code


def _settle(name: str, text: str, output: Path | None, in_place: bool) -> tuple[bool, str]:
    """Write a profile where it was asked for, and say whether it is what ships."""
    place = SHIPPED if in_place or output is None else output
    target = place / name
    same = target.is_file() and target.read_text(encoding="utf-8") == text
    if in_place or output is not None:
        write(target, text)
    if output is not None:
        return same, f"written to {target}"
    if in_place and not same:
        return same, "rewritten: it differed from what shipped"
    return same, "same bytes as shipped" if same else "differs from what ships"


def _pool(calibration: Path | None, output: Path | None, in_place: bool, as_json: bool) -> int:
    """Learn the generic profile from every study, each left out in turn for how far it is off."""
    from vmodel.calibrate.transfer import generic

    found = load(calibration, public=True)
    with told("leaving out studies", len(found)) as step:
        learned = generic(found, read_profile("generic"), step)
    same, state = _settle("generic.toml", text_of(tables_of_profile(learned)), output, in_place)
    if as_json:
        click.echo(json.dumps({"profile": "generic", "studies": len(found), "same_as_shipped": same}, indent=2))
    else:
        click.echo(f"generic: learned from {len(found)} studies\n  {state}")
    return 0 if same or in_place or output is not None else 1


@contextmanager
def told(label: str, length: int) -> Iterator[Callable[[], None]]:
    """A progress bar on a terminal's stderr, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    with click.progressbar(length=length, label=label, file=sys.stderr) as bar:
        yield lambda: bar.update(1)


def usable(file: Path, said: Mapping[str, Any]) -> list[Observation]:
    """The rows of a user's file that are not excluded. Raises ConfigError if there are none."""
    rows = [row for row in measurements(file, said) if not row.excluded]
    if not rows:
        raise ConfigError([Fault(file=str(file), key="", expected="at least one row that is not excluded")])
    return rows


def _target(output: Path | None) -> None:
    if output is not None and output.suffix != ".toml":
        raise ConfigError([Fault(file="fit", key="-o", value=str(output), expected="a file ending in .toml")])


def _fit(
    rows: Sequence[Observation],
    study: str,
    before: Profile,
    output: Path | None,
    *,
    plot: str | None,
    as_json: bool,
) -> int:
    name = output.stem if output else study
    f = fit(rows, started(before, rows, name))
    if output is not None:
        write(output, text_of(tables_of(f, study)))
    if plot is not None:
        from vmodel.report.judged import learned_of, posterior_figure

        write_figure(plot, posterior_figure(learned_of(f.estimates), f"{name}: {len(rows)} rows on {before.name}"))
    if as_json:
        click.echo(json.dumps(_fit_record(f), indent=2, sort_keys=True))
    else:
        click.echo(_report(f, name))
        if output is not None:
            click.echo(f"written to {output}; try: vmodel predict --profile {output} --path {rows[0].path}")
    return 0 if f.outcome == OK else 1


def _update(rows: Sequence[Observation], study: str, known: str, output: Path | None, as_json: bool) -> int:
    from vmodel.calibrate.update import update

    before = read_profile(known)
    if not before.correlated:
        expected = "a profile that a fit has written; start with `vmodel fit FILE -o PROFILE`"
        raise ConfigError([Fault(file="fit", key="--update", value=known, expected=expected)])
    found = update(rows, replace(before, name=output.stem) if output else before)
    f = found.fit
    if output is not None:
        write(output, text_of(tables_of(f, study)))
    if as_json:
        moves = {
            m.name: {"before": m.before, "after": m.after, "score": m.score, "effect": m.effect} for m in found.moved
        }
        record = {**_fit_record(f), "loosened": found.loosened, "moved": moves, "drift": found.because}
        click.echo(json.dumps(record, indent=2, sort_keys=True))
    else:
        click.echo(f"{before.name}: {len(rows)} new rows\n  drift: {found.because}")
        for m in found.moved[:SHOWN]:
            click.echo(
                f"  {m.name:28s} {m.before:11.3g} -> {m.after:11.3g}  {m.after / m.before:5.2f} times"
                f"  ({abs(m.score):.1f} standard deviations)"
            )
        click.echo(f"  outcome: {f.outcome}: {f.because}")
        if output is not None:
            click.echo(f"written to {output}")
    return 0 if f.outcome in (OK, NOT_IDENTIFIED) else 1  # few new rows need tell nothing new
