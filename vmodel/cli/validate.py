"""The command that compares measured with predicted: a file, all evidence, few rows given, one profile with another."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from vmodel.calibrate.evidence import folder, load
from vmodel.cli.fit import started, told
from vmodel.cli.measured import measurements, said_options
from vmodel.cli.options import plot_option
from vmodel.cli.output import check_plot, ending, write, write_figure
from vmodel.core.records import Observation, Profile
from vmodel.errors import ConfigError, Fault
from vmodel.files import content
from vmodel.library.profile import profile as read_profile
from vmodel.units import PERCENT_PER_ONE

WORST = 10  # residuals that validate lists
GROUPED = {"path and workload": "kind", "path": "path", "topology": "topology", "metric": "metric", "study": "study"}
LARGEST_RECORD_BYTES = 64 << 20


@click.command("validate")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@said_options
@click.option("--profile", "profile_name", help="Profile to compare FILE with (name or .toml).")
@click.option("--against", metavar="BEFORE", help="Compare with another profile, or a record saved with --json.")
@click.option("--few-shot", "few", is_flag=True, help="Also: fit more and more rows of FILE and predict the rest.")
@click.option("--calibration", type=click.Path(path_type=Path), help="Folder with study folders.")
@click.option(
    "--transfer", is_flag=True, help="Also: leave each study out of everything; predict it from 0 and 5 rows."
)
@click.option("-o", "--output", metavar="PAGE", help="Write the accuracy page of all evidence (.md).")
@plot_option("predicted over measured, a panel for each metric of each data set")
@click.option("--public", is_flag=True, help="The studies of other publications beside the documents; minutes.")
@click.option("--json", "as_json", is_flag=True, help="Print the record.")
def validate_command(
    *,
    file: Path | None,
    profile_name: str | None,
    against: str | None,
    few: bool,
    calibration: Path | None,
    transfer: bool,
    public: bool,
    output: str | None,
    plot: str | None,
    as_json: bool,
    **said: Any,
) -> int:
    """Compare measured with predicted: FILE against a profile, or all evidence, in and out of sample."""
    check_plot(plot)
    if file is None and few:
        raise ConfigError([Fault(file="validate", key="--few-shot", expected="a FILE whose rows are to be predicted")])
    if file is None and profile_name is not None:
        raise ConfigError([Fault(file="validate", key="--profile", value=profile_name, expected="a FILE beside it")])
    if file is not None and (transfer or output is not None):
        key = "--transfer" if transfer else "-o"
        raise ConfigError([Fault(file="validate", key=key, expected="no FILE: it is about all studies")])
    if output is not None:
        ending(output, ("md",))
        write(output, _page(calibration))
        return 0
    saved = _saved(against) if against is not None and against.endswith(".json") else None
    known = read_profile(profile_name or "generic") if file is not None else None
    other = read_profile(against) if against is not None and saved is None else None
    if other is not None and file is None:
        raise ConfigError(
            [Fault(file="validate", key="--against", value=against, expected="a FILE, or a .json record")]
        )
    before: Mapping[str, Any] | None = saved
    if file is not None and known is not None:
        everything = measurements(file, said)
        record = _file(everything, file, known, few, plot)
        before = before if other is None else _file(everything, file, other, False, None)
    else:
        record = _evidence(calibration, public, plot)
        if transfer:
            record["transfer"] = _transferred(calibration)
    if before is not None:
        from vmodel.calibrate.difference import difference

        record["difference"] = difference(before, record)
        if not record["difference"]["rows"]:
            raise ConfigError([Fault(file=str(against), key="", expected="a record with rows that are compared here")])
    click.echo(json.dumps(record, indent=1) if as_json else _text(record))
    return 0


def _file(everything: Sequence[Observation], file: Path, known: Profile, few: bool, plot: str | None) -> dict[str, Any]:
    from vmodel.calibrate.validate import compare_rows, report  # scikit-learn is slow to load

    rows = [row for row in everything if not row.excluded]
    if not rows:
        raise ConfigError([Fault(file=str(file), key="", expected="at least one row that is not excluded")])
    result = compare_rows(file.stem, rows, len(everything) - len(rows), known)
    _draw([result], plot)
    record = report([result])
    if few:
        from dataclasses import asdict

        from vmodel.calibrate.fewshot import COUNTS, curve

        with told("fitting few rows", len(COUNTS)) as step:
            points = curve(rows, started(known, rows, known.name), step)
        record["few_shot"] = [asdict(p) for p in points]
    return record


def _evidence(calibration: Path | None, public: bool, plot: str | None) -> dict[str, Any]:
    from vmodel.calibrate.stages import compare_stages, read_stages
    from vmodel.calibrate.validate import report, validate_study

    found = load(calibration, public=public)
    length = sum(len({r.series for r in s.compared}) + len(s.compared) for s in found)
    with told("leaving out", length) as step:
        results = [validate_study(study, step) for study in found]
    _draw(results, plot)
    record = report(results)
    for study in found:
        shares = read_stages(folder(calibration) / study.name)
        if shares and study.shipped:
            record["datasets"][study.name]["stages"] = compare_stages(shares, read_profile(study.seed.name))
    return record


def _draw(results: Sequence[Any], plot: str | None) -> None:
    """Measured against predicted as a figure, if one was asked for."""
    if plot is not None:
        from vmodel.report.judged import judged_of, measured_figure

        panels = [p for r in results for p in judged_of(r.name, r.rows, r.inside.logs, r.inside.sd)]
        write_figure(plot, measured_figure(panels))


def _points(calibration: Path | None) -> tuple[Any, ...]:
    """Every compared row with every answer to it: from its own study, and from the others."""
    from vmodel.calibrate.accuracy import points
    from vmodel.calibrate.transfer import assumptions, population, summaries
    from vmodel.calibrate.transfer import transfer as leave_out
    from vmodel.calibrate.validate import rows_only

    found = load(calibration, public=True)
    base = read_profile("generic")
    with told("leaving out studies", 4 * len(found)) as step:
        results = []
        for study in found:
            results.append(rows_only(study))
            step()
        learned = leave_out(found, population(summaries(found, base), base), step)
        return points(results, leave_out(found, assumptions(base), step), learned, step)


def _transferred(calibration: Path | None) -> dict[str, Any]:
    """The record of studies left out, whole and one by one."""
    from vmodel.calibrate.accuracy import by, figures, of_rate

    everyone = _points(calibration)
    return {
        "all": figures(everyone),
        "rates": figures([p for p in everyone if of_rate(p)]),
        "latencies": figures([p for p in everyone if not of_rate(p)]),
        "studies": {name: figures(group) for name, group in by(everyone, "study").items()},
        "paths": {name: figures(group) for name, group in by(everyone, "path").items()},
    }


def _page(calibration: Path | None) -> str:
    from vmodel.calibrate.accuracy import by, figures, of_rate, unseen, worst
    from vmodel.report.accuracy import page

    everyone = _points(calibration)
    whole = {
        "throughput and rate": [p for p in everyone if of_rate(p)],
        "latency": [p for p in everyone if not of_rate(p)],
        "all": list(everyone),
    }
    groups = {
        title: {name: figures(group) for name, group in by(everyone, key).items()} for title, key in GROUPED.items()
    }
    return page(
        {name: figures(group) for name, group in whole.items() if group}, groups, worst(everyone), unseen(everyone)
    )


def _saved(name: str) -> Mapping[str, Any]:
    """A record that an earlier `validate --json` printed. Raises ConfigError."""
    data = content(name, LARGEST_RECORD_BYTES, "a validation record")
    try:
        record = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        raise ConfigError([Fault(file=name, key="", expected="a record of `validate --json` (no JSON)")]) from None
    if not isinstance(record, dict) or not isinstance(record.get("datasets"), dict):
        raise ConfigError([Fault(file=name, key="datasets", expected="a record of `validate --json`")])
    return record


def _percent(x: float | None) -> str:
    return "-" if x is None else f"{x * PERCENT_PER_ONE:.1f} %"


def _text(record: dict[str, Any]) -> str:
    parts = [_table(record)]
    if "few_shot" in record:
        parts.append(_curve(record["few_shot"]))
    if "difference" in record:
        parts.append(_difference(record["difference"]))
    parts += [_stages(name, d["stages"]) for name, d in record["datasets"].items() if "stages" in d]
    return "\n\n".join(parts)


def _stages(name: str, rows: Sequence[Mapping[str, Any]]) -> str:
    lines = [f"{name}: share of a resource's time by stage", f"  {'way':8s} {'measured':>9s} {'predicted':>9s}  stages"]
    for r in rows:
        figures = f"{_percent(r['measured']):>9s} {_percent(r['predicted']):>9s}"
        lines.append(f"  {r['direction'] or '-':8s} {figures}  {', '.join(r['stages'])}")
    return "\n".join(lines)


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


def _curve(points: list[dict[str, Any]]) -> str:
    lines = [f"{'rows given':>10s} {'median':>8s} {'95th':>8s} {'covered':>8s} {'90 % within':>12s}"]
    lines += [
        f"{p['given']:10d} {_percent(p['median_ape']):>8s} {_percent(p['p95_ape']):>8s}"
        f" {_percent(p['coverage90']):>8s} {p['width90'] ** 0.5:10.2f} x"
        for p in points
    ]
    return "\n".join(
        [*lines, "the rest of the rows, predicted after a fit of the rows given; three draws of each number"]
    )


def _difference(d: dict[str, Any]) -> str:
    lines = [
        f"before and after: {d['rows']} rows in both, {d['better']} better, {d['worse']} worse, {d['same']} the same",
        f"  {'row':28s} {'measured':>11s} {'before':>11s} {'after':>11s} {'error before':>13s} {'after':>8s}",
    ]
    lines += [
        f"  {p['id']:28s} {p['measured']:11.5g} {p['before']:11.5g} {p['after']:11.5g}"
        f" {_percent(p['ape_before']):>13s} {_percent(p['ape_after']):>8s}"
        for p in d["points"][:WORST]
    ]
    return "\n".join(lines)
