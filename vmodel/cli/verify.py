"""`vmodel plan --verify`: measurements after deployment against the plan, and back into a fit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from vmodel.cli.output import as_csv, as_json_text, ending, say, say_json, write
from vmodel.core.records import Observation
from vmodel.errors import ConfigError, Fault
from vmodel.plan.plan import Plan
from vmodel.plan.records import Option
from vmodel.plan.verify import FAIL, UNKNOWN, Tail, Verdict, chosen, option_for, tail_verdict, verdict, with_profile
from vmodel.report.tables import aligned

NO = 1
TAILS = {"p50_us": 50.0, "p90_us": 90.0, "p99_us": 99.0, "p999_us": 99.9, "p9999_us": 99.99}
AT_LOAD = 0.1  # a run within a tenth of the planned rate was at the planned load
HEADS = ("measurement", "class", "metric", "measured", "predicted", "90 %", "verdict")


@dataclass(frozen=True, kw_only=True)
class Results:
    """What the files held."""

    rows: list[Observation]  # to be judged
    to_fit: list[Observation]  # of them, what a fit can use
    tails: list[Tail]

    def verdicts(self, p: Plan) -> list[Verdict]:
        """What a plan makes of all of it."""
        return [*(verdict(p, row) for row in self.rows), *(tail_verdict(p, tail) for tail in self.tails)]


def verify(p: Plan, results: Sequence[str], fitted: str | None, *, as_json: bool, output: str | None) -> int:
    """Compare, print or write, and learn if asked; exit code 1 when anything fails or nothing could be compared."""
    kind = ending(output, ("json", "csv"))
    ending(fitted, ("toml",))
    if p.placement is None:
        say("infeasible: there is no plan to verify (run `vmodel plan` without --verify for the reasons)")
        return NO
    if not results:
        raise ConfigError([Fault(file="", key="--verify", expected="files with measurements")])
    read = Results(rows=[], to_fit=[], tails=[])
    for file in results:
        read_results(p, file, read)
    found = read.verdicts(p)
    record = {
        "verdicts": [_json(v) for v in found],
        "passed": all(v.verdict != FAIL for v in found) and any(v.verdict != UNKNOWN for v in found),
    }
    if as_json:
        say_json(record)
    elif output is None:
        say("\n".join(_lines(found)))
    if output is not None:
        write(output, as_json_text(record) if kind == "json" else as_csv([_observation(p, row) for row in read.to_fit]))
    if fitted is not None:
        _learn(p, read, fitted)
    return 0 if record["passed"] else NO


def read_results(p: Plan, file: str, into: Results) -> None:
    """Measurements of one file: an observation CSV, or a tool's output named after its class as the script does."""
    from vmodel.calibrate.dataset import parse_rows, read_rows

    if file.lower().endswith(".csv"):
        rows = [row for row in read_rows(Path(file)) if not row.excluded]
        into.rows.extend(rows)
        into.to_fit.extend(rows)
        return
    from vmodel.ingest.read import read
    from vmodel.ingest.rows import as_rows, as_text

    options = chosen(p)
    name = Path(file).name
    option = next((o for o in options if name.startswith(f"{o.vm.name}.")), None)
    if option is None:
        names = ", ".join(o.vm.name for o in options)
        expected = f"a name that begins with its VM class and a dot ({names}), or an observation CSV"
        raise ConfigError([Fault(file=file, key="", expected=expected)])
    vm = option.vm
    known = {
        "path": option.path, "topology": vm.topology, "workload": vm.workload, "direction": vm.direction,
        "message_bytes": f"{vm.size:g}", "series": vm.name, "in_flight": f"{vm.in_flight}",
        **{key: f"{value:g}" for key, value in option.settings},
    }  # fmt: skip
    if vm.workload != "rr":
        known.pop("in_flight")
    found = read(file)
    rows = list(parse_rows(as_text(as_rows(found, file, known)), file))
    made = [o for o in found.observations if o.get("metric") and o.get(o["metric"])]
    for row, observation in zip(rows, made, strict=True):
        if not row.excluded:
            into.to_fit.append(row)
        elif not _at_planned_load(option, observation):
            continue
        into.rows.append(row)
        for key, percent in TAILS.items():
            if observation.get(key):
                into.tails.append(Tail(id=row.id, vm=vm.name, percent=percent, value_us=float(observation[key])))


def _at_planned_load(option: Option, observation: Mapping[str, Any]) -> bool:
    """Whether a run that a row cannot hold, since it was under an offered load, was at the load that was planned."""
    load = observation.get("load_pps")
    rate = next(iter(option.asked.values())).rate_per_s()
    return bool(observation.get("usable", True) and load and abs(load / rate - 1) <= AT_LOAD)


def _learn(p: Plan, read: Results, fitted: str) -> None:
    """Fit the measurements from the plan's own profile, write what was learned, judge everything by it once more."""
    from vmodel.calibrate.fit import fit
    from vmodel.calibrate.profile_file import tables_of, text_of
    from vmodel.cli.fit import started
    from vmodel.library.profile import profile

    own = [row for row in read.to_fit if option_for(p, row) is not None]
    if not own:
        raise ConfigError([Fault(file="", key="--fit", value=fitted, expected="measurements of classes of the plan")])
    option = option_for(p, own[0])
    prior = next(iter(option.asked.values())).profile if option is not None else None
    if prior is None:
        return
    name = Path(fitted).stem
    learned = fit(own, started(prior, own, name))
    write(fitted, text_of(tables_of(learned, name)))
    say(f"fit from {len(own)} measurements: {learned.outcome}: {learned.because}")
    again = read.verdicts(with_profile(p, profile(fitted)))
    compared = [v for v in again if v.verdict != UNKNOWN]
    inside = sum(v.verdict != FAIL for v in compared)
    say(f"by what was learned {inside} of {len(compared)} measurements pass, percentiles too")
    say(f'set profile = "{fitted}" in the [[host]] tables and plan again')


def _observation(p: Plan, row: Observation) -> dict[str, Any]:
    """A measurement as a row of an observation CSV, with the class as its series."""
    option = option_for(p, row)
    named = replace(row, series=row.series or (option.vm.name if option is not None else ""))
    knobs: Mapping[str, Any] = {k: v for k, v in named.knobs.items() if k != "size"}
    return {
        "id": named.id, "path": named.path, "peer": named.peer, "topology": named.topology,
        "workload": named.workload, "direction": named.direction, "message_bytes": named.knobs.get("size"),
        "metric": named.metric, "value": named.value, "sd": named.sd, **knobs, "series": named.series,
        "profile": named.profile, "source": named.source, "note": named.note,
    }  # fmt: skip


def _json(v: Verdict) -> dict[str, Any]:
    return {
        "id": v.id, "vm": v.vm, "metric": v.metric, "measured": v.measured, "predicted": v.predicted,
        "interval90": None if v.interval is None else [v.interval.low, v.interval.high], "verdict": v.verdict,
        "because": v.because or None,
    }  # fmt: skip


def _lines(found: Sequence[Verdict]) -> list[str]:
    rows = [
        (
            v.id,
            v.vm or "-",
            v.metric,
            f"{v.measured:.4g}",
            "-" if v.predicted is None else f"{v.predicted:.4g}",
            "-" if v.interval is None else f"{v.interval.low:.4g} to {v.interval.high:.4g}",
            v.verdict + (f": {v.because}" if v.because else ""),
        )
        for v in found
    ]
    failed = sum(v.verdict == FAIL for v in found)
    total = sum(v.verdict != UNKNOWN for v in found)
    return [*aligned(rows, HEADS, "lllrrrl"), "", f"{total - failed} of {total} compared measurements pass"]
