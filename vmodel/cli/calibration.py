"""The commands that learn: fit parameters from measurements, and validate what was learned."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from vmodel.calibrate.dataset import read_rows
from vmodel.calibrate.evidence import PACKAGE, Study, load
from vmodel.calibrate.fit import NOT_IDENTIFIED, Fit, fit
from vmodel.calibrate.profile_file import tables_of, text_of, write
from vmodel.core.records import Observation, Profile
from vmodel.errors import ConfigError, Fault
from vmodel.library.profile import profile as read_profile
from vmodel.units import PERCENT_PER_ONE, format_share

SHIPPED = PACKAGE / "library" / "profiles"
SHOWN = 12  # parameters of a fit that the report lists, the best learned first
WORST = 10  # residuals that validate lists


def _machine(rows: Sequence[Observation], prior: str, name: str) -> Profile:
    """The prior profile under the name of the file that will hold the outcome."""
    known = read_profile(prior)
    return Profile(
        name=name,
        title=f"fitted from {len(rows)} rows, prior {prior}",
        clock_ghz=known.clock_ghz,
        machine=known.machine,
        drivers=known.drivers,
        defaults=known.defaults,
        values=known.values,
        correlated=(),
        covariance=(),
        seen={},
        sources=known.sources,
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
        kept = sum(1 - e.learned > NOT_IDENTIFIED for e in rest)
        lines.append(f"  and {len(rest)} more, of which {kept} keep their prior (not identified by these rows)")
    return "\n".join(lines)


def _fit_record(f: Fit) -> dict[str, Any]:
    return {
        "profile": f.profile.name,
        "rows": len(f.rows),
        "outcome": f.outcome,
        "because": f.because,
        "effective_parameters": round(f.effective, 2),
        "noise": f.noise,
        "parameters": {
            e.name: {
                "value": e.value,
                "log_error": e.log_error,
                "prior": e.prior,
                "learned": e.learned,
                "at_bound": e.at_bound,
                "not_identified": 1 - e.learned > NOT_IDENTIFIED,
                "partners": dict(e.partners),
            }
            for e in f.estimates
        },
    }


@click.command("fit")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--prior", default="generic", show_default=True, help="Profile to start from.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Profile to write (.toml), or folder for all.")
@click.option("--calibration", type=click.Path(path_type=Path), help="Folder with study folders.")
@click.option("--write", "in_place", is_flag=True, help="Rewrite the shipped profiles (in a checkout).")
@click.option("--json", "as_json", is_flag=True, help="Print the record.")
def fit_command(
    *, file: Path | None, prior: str, output: Path | None, calibration: Path | None, in_place: bool, as_json: bool
) -> int:
    """Fit parameters to FILE, or refit all shipped profiles to the evidence and compare them with what ships."""
    if file is not None:
        return _fit_file(file, prior, output, as_json)
    code, records = 0, []
    for study in load(calibration):
        f = fit(study.compared, study.seed)
        text = text_of(tables_of(f, study.name))
        place = SHIPPED if in_place or output is None else output
        target = place / f"{study.seed.name}.toml"
        same = target.is_file() and target.read_text(encoding="utf-8") == text
        if in_place or output is not None:
            write(target, text)
        elif not same:
            code = 1
        records.append({**_fit_record(f), "same_as_shipped": same})
        if not as_json:
            state = "same bytes as shipped" if same else "differs from what ships"
            click.echo(f"{_report(f, study.seed.name)}\n  {state if output is None else f'written to {target}'}")
    if as_json:
        click.echo(json.dumps({"fits": records}, indent=2, sort_keys=True))
    return code


def _fit_file(file: Path, prior: str, output: Path | None, as_json: bool) -> int:
    if output is not None and output.suffix != ".toml":
        raise ConfigError([Fault(file="fit", key="-o", value=str(output), expected="a file ending in .toml")])
    rows = [row for row in read_rows(file) if not row.excluded]
    name = output.stem if output else file.stem
    f = fit(rows, _machine(rows, prior, name))
    if output is not None:
        write(output, text_of(tables_of(f, file.stem)))
    if as_json:
        click.echo(json.dumps(_fit_record(f), indent=2, sort_keys=True))
    else:
        click.echo(_report(f, name))
        if output is not None:
            click.echo(f"written to {output}; try: vmodel predict --profile {output} --path {rows[0].path}")
    return 0 if f.outcome == "ok" else 1


@click.command("validate")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--profile", "profile_name", help="Profile to compare FILE with (name or .toml).")
@click.option("--calibration", type=click.Path(path_type=Path), help="Folder with study folders.")
@click.option("--json", "as_json", is_flag=True, help="Print the record.")
def validate_command(*, file: Path | None, profile_name: str | None, calibration: Path | None, as_json: bool) -> int:
    """Compare measured with predicted: FILE against a profile, or all evidence, in and out of sample."""
    from vmodel.calibrate.validate import compare_rows, report, validate_study  # scikit-learn is slow to load

    if file is not None:
        known = read_profile(profile_name or "generic")
        everything = read_rows(file)
        rows = [row for row in everything if not row.excluded]
        if not rows:
            raise ConfigError([Fault(file=str(file), key="", expected="at least one row that is not excluded")])
        record = report([compare_rows(file.stem, rows, len(everything) - len(rows), known)])
    else:
        found = load(calibration)
        results = []
        with _progress(found) as told:
            for study in found:
                results.append(validate_study(study, told))
        record = report(results)
    click.echo(json.dumps(record, indent=1) if as_json else _table(record))
    return 0


class _progress:
    """A progress bar over folds on a terminal's stderr, nothing elsewhere."""

    def __init__(self, found: Sequence[Study]) -> None:
        total = sum(len({r.series for r in s.compared}) + len(s.compared) for s in found)
        self._bar: Any = (
            click.progressbar(length=total, label="leaving out", file=sys.stderr) if sys.stderr.isatty() else None
        )

    def __enter__(self) -> Any:
        return (lambda: None) if self._bar is None else self._tell(self._bar.__enter__())

    @staticmethod
    def _tell(bar: Any) -> Any:
        return lambda: bar.update(1)

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.__exit__(None, None, None)


def _percent(x: float | None) -> str:
    return "-" if x is None else f"{x * PERCENT_PER_ONE:.1f} %"


def _table(record: dict[str, Any]) -> str:
    titles = ("median", "95th", "row out", "series", "covered")
    head = f"{'data set':18s} {'rows':>5s} " + " ".join(f"{t:>8s}" for t in titles) + f" {'rank':>6s}"
    lines = [f"{head}  baselines with a row left out"]
    for name, d in [*record["datasets"].items(), ("all", record["all"])]:
        base = ", ".join(f"{k.replace('_', ' ')} {_percent(v)}" for k, v in d["baselines"].items())
        covered = d["loo_coverage90"] if d["loo_coverage90"] is not None else d["coverage90"]
        rank = "-" if d["kendall_tau"] is None else f"{d['kendall_tau']:.2f}"
        figures = (d["median_ape"], d["p95_ape"], d["loo_median_ape"], d["loso_median_ape"], covered)
        cells = " ".join(f"{_percent(x):>8s}" for x in figures)
        lines.append(f"{name:18s} {d['rows']:5d} {cells} {rank:>6s}  {base}")
    lines += [
        "median, 95th: error in sample; row out, series: median error with a row (and repeats) or a series left out;",
        "covered: share of rows inside their 90 % interval, out of sample where possible; rank: Kendall's tau.",
    ]
    worst = sorted((r for d in record["datasets"].values() for r in d["residuals"]), key=lambda r: -r["ape"])[:WORST]
    lines += ["", "furthest off:"]
    lines += [
        f"  {r['id']:16s} measured {r['measured']:.5g}  predicted {r['predicted']:.5g}  {_percent(r['ape'])}"
        for r in worst
    ]
    return "\n".join(lines)
