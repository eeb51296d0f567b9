"""The what-if page: one HTML file in which the model computes. Formulas and laws are printed, not written again.

Stages come from `vmodel/compiled/stages.js`, everything else that computes from the Python text of this package through
`vmodel.translate`; the rest of the page stands in the folder `page`. The same inputs give the same bytes.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from vmodel.core.records import Observation, Profile, Scenario
from vmodel.library.profile import digest
from vmodel.report.explorer_data import facts
from vmodel.solve import load, workloads
from vmodel.translate.program import Program

PROVIDED: Mapping[tuple[str, str], str] = {  # what reads files in Python is data in the page
    ("vmodel.library.tables", "_read"): "$page.table",
    ("vmodel.library.moderation", "_table"): "$page.devices",
    ("vmodel.library.path_file", "read"): "$page.ownPath",
    ("vmodel.library.profile", "profile"): "$page.profile",
    ("vmodel.solve.evaluate", "module"): "$page.formulas",
    ("vmodel.solve.elementwise", "scalar"): "$page.scalar",
}
NEEDED = (  # names of the package that the page calls
    ("vmodel.core.records", ("Load", "Profile", "Scenario", "Seen", "Value")),
    ("vmodel.library.moderation", ("devices",)),
    ("vmodel.library.profile", ("value_of",)),
    ("vmodel.library.tables", ("endpoint", "knobs", "path_names", "priors", "references")),
    ("vmodel.report.explained", ("reason_text", "trials_text")),
    ("vmodel.report.record", ("as_json",)),
    (
        "vmodel.report.text",
        ("answers", "breakdown_rows", "knob_text", "latency_log_sd", "load_text", "question", "standing_text"),
    ),
    ("vmodel.solve.compose", ("parameter_values",)),
    ("vmodel.solve.dual", ("plain",)),
    ("vmodel.solve.explain", ("effects",)),
    ("vmodel.solve.solver", ("predict", "solve")),
    ("vmodel.solve.tails", ("skewed_percentile",)),
    ("vmodel.units", ("US_PER_S", "format_bitrate", "format_rate", "format_seconds", "format_share")),
)
LANGUAGE = ("python.js", "numbers.js")
SCRIPTS = ("model.js", "state.js", "controls.js", "results.js", "charts.js", "main.js")
LAWS = {"rr": workloads.rr, "stream": workloads.stream, "packets": load.packets}


@cache
def laws() -> str:
    """The laws of the model as JavaScript; raises Untranslatable for Python that the printer does not know."""
    return Program(PROVIDED).text((module, name) for module, names in NEEDED for name in names)


def _part(*names: str) -> str:
    return files("vmodel.report").joinpath("page", *names).read_text(encoding="utf-8")


def _embedded(value: Any) -> str:
    """JSON that no text inside it can lead out of its script element."""
    shown = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return shown.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def script() -> str:
    """All scripts of the page: meaning of Python, stages, laws, page."""
    stages = files("vmodel.compiled").joinpath("stages.js").read_text(encoding="utf-8")
    parts = [*(_part(name) for name in LANGUAGE), stages, laws(), *(_part(name) for name in SCRIPTS)]
    licence = _part("uplot", "LICENSE").replace("*/", "")
    plot = f"/*\nuPlot: {licence}*/\n{_part('uplot', 'uPlot.iife.min.js')}"
    body = "\n".join(parts)
    return f'{plot}\n(() => {{\n"use strict";\n{body}\n}})();'


def page(
    start: Scenario,
    rows: Iterable[Observation],
    *,
    profiles: Sequence[Profile] = (),
    profile_files: Mapping[str, str] | None = None,
    flags: Mapping[str, str],
    version: str,
) -> str:
    """The whole page.

    start: what it shows first.  rows: measured points.  profiles: the user's own, beside the shipped ones, and the
    files they are in.  flags: setting -> flag of the command line.  version: of the package.
    """
    known = {"version": version, **facts(profiles, rows, start)}
    known["digests"] = {p.name: digest(p) for p in known.pop("shown")}
    known["files"] = dict(profile_files or {})
    known["flags"] = dict(flags)
    known["laws"] = {name: _paragraph(law.__doc__) for name, law in LAWS.items()}
    filled = {
        "VERSION": version,
        "STYLE": _part("uplot", "uPlot.min.css") + "\n" + _part("page.css"),
        "FACTS": _embedded(known),
        "SCRIPT": script(),
    }
    head, *parts = _part("page.html").split("@")
    text = head
    for name, rest in zip(parts[::2], parts[1::2], strict=True):
        text += filled[name] + rest
    return text


def _paragraph(doc: str | None) -> str:
    return " ".join((doc or "").partition("\n\n    variability")[0].split())
