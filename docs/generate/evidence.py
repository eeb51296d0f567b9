"""What the numbers rest on: profiles with every cost, the studies behind them, and every source once."""

import math
from pathlib import Path
from typing import Any

from docs.generate import places
from docs.generate.catalogue import NORMAL_90
from docs.generate.laws import resting_on
from docs.generate.markup import code, codes, link, marked, plain, table
from docs.generate.ways import profiles, validity_row
from vmodel.calibrate.dataset import read_rows, read_toml
from vmodel.calibrate.dataset import studies as study_folders
from vmodel.core.records import Profile
from vmodel.library import moderation, tables
from vmodel.library.catalog import STAGES
from vmodel.library.profile import digest
from vmodel.report.text import knob_text
from vmodel.solve.explain import source as source_of

HOME = Path(__file__).resolve().parents[2]
CALIBRATION = HOME / "calibration"


def _told(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k}: {_told(v)}" for k, v in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(_told(v) for v in value)
    return plain(str(value).lower() if isinstance(value, bool) else value)


def _settings(found: dict[str, Any]) -> str:
    return ", ".join(f"{code(k)} {plain(knob_text(k, float(v)))}" for k, v in found.items())


def profile_page(machine: Profile) -> str:
    """The page of one machine."""
    here = places.profile_page(machine.name)
    per_path = machine.machine.get("path_defaults", {})
    facts = [
        ("clock", f"{machine.clock_ghz:g} GHz"),
        *((plain(k.replace("_", " ")), _told(v)) for k, v in machine.machine.items() if k != "path_defaults"),
        (
            "drivers",
            ", ".join(f"{role}: {link(here, code(d), places.DEVICES, d)}" for role, d in machine.drivers.items()),
        ),
        ("settings", _settings(dict(machine.defaults))),
        *((f"settings on {plain(path)}", _settings(dict(found))) for path, found in per_path.items()),
        ("sources", places.sources(here, machine.sources)),
        ("digest", code(digest(machine))),
    ]
    seen = [
        (places.paths(here, [path]), *validity_row(here, machine, path, workload)[1:])
        for path, _, workload in (key.partition("/") for key in machine.seen)
    ]
    heads = ("path", "workload", "rows", "topologies", "directions", "message", "model error")
    values = [
        (
            places.costs(here, [name]), f"{v.value:.4g}", v.unit or "-", f"{math.exp(NORMAL_90 * v.log_error):.3g}",
            v.standing, places.sources(here, v.sources),
        )
        for name, v in machine.values.items()
    ]  # fmt: skip
    parts = [f"# {machine.name}\n", f"{plain(machine.title)}.\n"]
    if machine.note:
        parts.append(f"{plain(machine.note)}\n")
    parts.append(table(("", ""), [row for row in facts if row[1]]))
    parts.append("\n## Compared with measurements of\n")
    parts.append(
        table(heads, seen) if seen else "Nothing: this profile says what is known of a machine that nobody measured.\n"
    )
    parts.append("\n## Costs\n")
    if values:
        told = (
            "Those that measurements told something of; 90 % lie within the *factor*, either way. All others are the "
        )
        parts.append(f"{told}{link(here, 'priors', places.COSTS)} at this clock.\n")
        parts.append(table(("cost", "value", "unit", "factor", "standing", "sources"), values))
    else:
        parts.append(f"All are the {link(here, 'priors', places.COSTS)} at this clock.\n")
    return "\n".join(parts)


def profile_index() -> str:
    """All machines."""
    here = places.PROFILES
    rows = [
        (
            places.profile(here, p.name), plain(p.title), f"{p.clock_ghz:g}", str(len(p.values)),
            places.paths(here, dict.fromkeys(key.partition("/")[0] for key in p.seen)),
        )
        for p in profiles().values()
    ]  # fmt: skip
    return "\n".join(
        [
            "# Profiles\n",
            "A profile holds the costs of one machine and its software, each with value, error, standing and "
            "source. It is the conclusion of a fit, written by the program; a test fits again and compares.\n",
            table(("profile", "machine", "GHz", "costs learned", "compared on"), rows),
            "\nOf your own machine: see [calibrate your own host](../../how-to/calibrate.md).\n",
        ]
    )


def studies() -> str:
    """Every study in calibration/."""
    here = places.STUDIES
    parts = [
        "# Studies\n",
        "The evidence, one folder in `calibration/` for each publication. How good the predictions of each are "
        "stands on the page of the [accuracy](../accuracy.md); how to add one, in [add a "
        "study](../how-to/add-a-study.md).\n",
    ]
    for folder in study_folders(CALIBRATION):
        rows, told = read_rows(folder / "observations.csv"), read_toml(folder / "source.toml")
        machine = str(told.get("profile", ""))
        excluded = sum(bool(row.excluded) for row in rows)
        facts = [
            ("title", plain(told.get("title", ""))),
            ("rows", f"{len(rows)}" + (f", {excluded} of them not compared" if excluded else "")),
            ("paths", places.paths(here, dict.fromkeys(row.path for row in rows))),
            ("figures", codes(dict.fromkeys(row.metric for row in rows))),
            ("profile", places.profile(here, machine) if machine in profiles() else ""),
            ("left open", _told(told.get("unknown", []))),
            ("source", places.sources(here, [folder.name]) if folder.name in tables.references() else ""),
        ]
        parts.append(f"## {folder.name} {{ #{folder.name} }}\n")
        parts.append(table(("", ""), [row for row in facts if row[1]]))
    return "\n".join(parts)


def source_keys() -> tuple[str, ...]:
    """The key of every source there is."""
    return tuple(sorted({*tables.references(), *moderation.references()}, key=str.lower))


def _users(here: str, key: str) -> str:
    """What rests on a source."""
    stages = [s.name for s in STAGES.values() if key in s.cites]
    costs = [p.name for p in tables.priors().values() if key in p.cites]
    paths = [name for name in tables.path_names() if key in tables.endpoint(name).cites]
    machines = [p.name for p in profiles().values() if key in p.sources]
    drivers = [d.name for d in moderation.devices().values() if key in d.cites]
    written = [link(here, code(module), places.LAWS, module.partition("/")[0]) for module in resting_on(key)]
    study = [link(here, "rows", places.STUDIES, key)] if (CALIBRATION / key).is_dir() else []
    told = [
        ("study", ", ".join(study)),
        ("laws", ", ".join(written)),
        ("paths", places.paths(here, paths)),
        ("stages", places.stages(here, stages)),
        ("costs", places.costs(here, costs)),
        ("profiles", ", ".join(places.profile(here, name) for name in machines)),
        ("drivers", ", ".join(link(here, code(name), places.DEVICES, name) for name in drivers)),
    ]
    return "; ".join(f"{kind}: {names}" for kind, names in told if names)


def sources() -> str:
    """Every source, and what rests on it."""
    rows = []
    for key in source_keys():
        s = source_of(key)
        url = f" <{s.url}>" if s.url else ""
        year = "" if s.year is None else f", {s.year}"
        authors = plain(", ".join(s.authors))
        venue = plain(s.venue)
        text = f"{authors + '. ' if authors else ''}*{plain(s.title)}*. {venue}{year}.{url}"
        rows.append((marked(key), text, _users(places.SOURCES, key)))
    return "\n".join(
        [
            "# Sources\n",
            "Where the numbers and the laws come from. `vmodel cite` prints those of one answer, `--bibtex` for a "
            "paper.\n",
            table(("key", "publication", "what rests on it"), rows),
        ]
    )


def pages() -> dict[str, str]:
    """Address -> text."""
    machines = {places.profile_page(p.name): profile_page(p) for p in profiles().values()}
    return machines | {places.PROFILES: profile_index(), places.STUDIES: studies(), places.SOURCES: sources()}
