"""`vmodel paths`, `profiles`, `knobs`, `devices`, `datasets`: what there is, and what of it applies to a path."""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from vmodel.cli.options import json_option, path_option
from vmodel.cli.output import say, say_json
from vmodel.errors import ConfigError, Fault, VmodelError, nearest
from vmodel.library import tables
from vmodel.report.tables import aligned

NO = 1
EMULATED = ("virtio", "mulated", "vhost", "tap ", "Hyper-V", "VMware", "RTL")  # in the title of a device
VIRTUAL = ("virtual function", "VF", "Elastic")
CALIBRATION = "calibration"


def _path(name: str | None) -> tables.Endpoint | None:
    """The path that a list is narrowed to; raises ConfigError."""
    if name is None:
        return None
    if name not in tables.path_names():
        guess = nearest(name, tables.path_names())
        raise ConfigError(
            [Fault(file="", key="--path", value=name, expected="a path (see `vmodel paths`)", nearest=guess)]
        )
    return tables.endpoint(name)


def _show(records: Sequence[dict[str, Any]], heads: Sequence[str], *, as_json: bool, right: str = "") -> None:
    """Print records as JSON, or the columns named by the heads as a table."""
    if as_json:
        say_json(list(records))
        return
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    rows = [[_cell(record[head]) for head in heads] for record in records]
    say("\n".join(aligned(rows, [head.replace("_", " ") for head in heads], right, width)))


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(str(v) for v in value) or "-"
    return f"{value:g}" if isinstance(value, float) else str(value)


@click.command("paths")
@path_option("this path only, with its stages")
@json_option
def paths_command(path: str | None, as_json: bool) -> None:
    """The data paths there are, where each is best known, and the topologies it can have."""
    chosen = _path(path)
    names = tables.path_names() if chosen is None else (chosen.name,)
    records = [_path_record(tables.endpoint(name)) for name in names]
    if chosen is None or as_json:
        _show(records, ("path", "topologies", "workload", "profile", "since", "title"), as_json=as_json)
        return
    from vmodel.report.text import knob_text

    record = records[0]
    record["defaults"] = [f"{k} {knob_text(k, float(v))}" for k, v in {**chosen.defaults, **chosen.fixed}.items()]
    say("\n".join(f"{key.ljust(12)}{_cell(value)}" for key, value in record.items()))


def _path_record(e: tables.Endpoint) -> dict[str, Any]:
    return {
        "path": e.name, "title": e.title, "topologies": list(e.topologies), "topology": e.topology,
        "workload": e.workload, "profile": e.best, "since": e.since or None, "send": list(e.tx), "receive": list(e.rx),
        "sources": list(e.cites),
    }  # fmt: skip


@click.command("profiles")
@path_option("machines whose calibration has seen this path")
@json_option
def profiles_command(path: str | None, as_json: bool) -> None:
    """The machines whose costs are known, and the paths that each was compared with measurements on."""
    from vmodel.library.profile import profile, shipped

    _path(path)
    records = []
    for name in shipped():
        found = profile(name)
        seen = {key.partition("/")[0]: None for key in found.seen}
        if path is None or path in seen:
            records.append(
                {
                    "profile": name, "title": found.title, "clock_ghz": found.clock_ghz, "drivers": dict(found.drivers),
                    "paths": list(seen), "fitted_costs": len(found.values), "sources": list(found.sources),
                }
            )  # fmt: skip
    if not records and not as_json:
        say(f"No profile has seen {path}; `generic` answers with wide intervals.")
        return
    _show(records, ("profile", "clock_ghz", "fitted_costs", "paths", "title"), as_json=as_json, right="lrr")


@click.command("knobs")
@path_option("knobs that change something on this path")
@json_option
def knobs_command(path: str | None, as_json: bool) -> None:
    """The settings there are: default, range, what each means; every one is also a flag or a --set name."""
    names: Sequence[str] = tuple(tables.knobs())
    if _path(path) is not None:
        from vmodel.solve.explain import active_knobs

        names = active_knobs(str(path))
    records = []
    for name in names:
        k = tables.knobs()[name]
        default = bool(k.default) if k.kind == "switch" and k.default is not None else k.default
        limits = None if k.kind == "switch" else f"{k.least:g} to {k.most:g}"
        records.append(
            {
                "knob": name,
                "kind": k.kind,
                "default": default,
                "range": limits,
                "unit": k.unit or None,
                "about": k.about,
            }
        )
    _show(records, ("knob", "default", "range", "unit", "about"), as_json=as_json)


@click.command("devices")
@path_option("NIC drivers that this path could use")
@json_option
def devices_command(path: str | None, as_json: bool) -> None:
    """NIC drivers and how they moderate interrupts on receive."""
    from vmodel.library.moderation import devices

    role = _role(_path(path))
    records = [
        {
            "device": d.name, "kind": d.kind, "default_rx_usecs": d.default_rx_usecs, "min_rx_usecs": d.min_rx_usecs,
            "max_rx_usecs": d.max_rx_usecs, "frames": d.frames, "adaptive": d.adaptive_mechanism,
            "honoured": d.honoured, "title": d.title, "note": d.note, "sources": list(d.cites),
        }
        for d in devices().values()
        if role is None or _plays(d.title, role)
    ]  # fmt: skip
    if not records and not as_json:
        say(f"{path} has no NIC whose interrupts could be moderated.")
        return
    heads = ("device", "kind", "default_rx_usecs", "min_rx_usecs", "max_rx_usecs", "frames", "honoured", "title")
    _show(records, heads, as_json=as_json, right="llrrr")


def _role(e: tables.Endpoint | None) -> str | None:
    """The NIC function at a path's own end, or at its host's uplink; empty where no NIC interrupts."""
    if e is None:
        return None
    if e.attach == "nic":
        return "" if e.device == "none" else e.device
    uplink = e.attach in ("kernel", "macvtap") and any(t.startswith("cross") for t in e.topologies)
    return "pf" if uplink else ""


def _plays(title: str, role: str) -> bool:
    """Whether a device can be such a function, by what its title says."""
    if not role or any(word in title for word in EMULATED):
        return False
    virtual = any(word in title for word in VIRTUAL)
    return virtual if role == "vf" else not virtual or "PF" in title


@click.command("datasets")
@path_option("rows on this path only")
@click.option(
    "--calibration", metavar="DIR", help="folder of studies [default: ./calibration, else the one that came along]"
)
@json_option
def datasets_command(path: str | None, calibration: str | None, as_json: bool) -> int:
    """The measurements in a calibration folder, one line for each study."""
    from vmodel.calibrate.dataset import read_rows, read_toml, studies
    from vmodel.calibrate.evidence import folder

    _path(path)
    place = Path(calibration) if calibration else None
    try:
        found = studies(folder(place))
    except VmodelError:
        click.echo(f"vmodel: {place or CALIBRATION}: no studies here; name their folder with --calibration", err=True)
        return NO
    records = []
    for study in found:
        rows = [row for row in read_rows(study / "observations.csv") if path in (None, row.path)]
        if path is not None and not rows:
            continue
        source = read_toml(study / "source.toml")
        records.append(
            {
                "dataset": study.name, "rows": len(rows), "excluded": sum(bool(r.excluded) for r in rows),
                "paths": list(dict.fromkeys(r.path for r in rows)),
                "metrics": list(dict.fromkeys(r.metric for r in rows)),
                "profile": str(source.get("profile", "")) or None, "title": str(source.get("title", "")),
            }
        )  # fmt: skip
    if not records and not as_json:
        say(f"No study has rows on {path}.")
        return NO
    _show(records, ("dataset", "rows", "excluded", "profile", "paths", "title"), as_json=as_json, right="lrr")
    return 0
