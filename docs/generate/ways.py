"""The path pages: what a path is, where it is known, which stages a message passes, their formulas, what changes it."""

from docs.generate import places
from docs.generate.markup import block, code, codes, formula, link, plain, table
from vmodel.config import scenario
from vmodel.core.path import Chain
from vmodel.core.records import Profile
from vmodel.library import tables
from vmodel.library.catalog import STAGES
from vmodel.library.profile import profile, shipped
from vmodel.report.text import knob_text
from vmodel.solve import compose, solver
from vmodel.solve.explain import active_knobs, workloads_of
from vmodel.solve.formula import closed_form
from vmodel.units import format_bytes, format_share

WHERE = {"guest": "in a guest", "host": "on the host"}


def profiles() -> dict[str, Profile]:
    """Every shipped profile."""
    return {name: profile(name) for name in shipped()}


def validity(path: str) -> list[tuple[Profile, str]]:
    """The profiles that were compared with measurements of a path, with the workload."""
    pairs = [(p, key.partition("/")) for p in profiles().values() for key in p.seen]
    return [(p, workload) for p, (seen, _, workload) in pairs if seen == path]


def validity_row(here: str, machine: Profile, path: str, workload: str) -> tuple[str, ...]:
    """What one profile has seen of a path and workload."""
    seen = machine.seen[f"{path}/{workload}"]
    low, high = seen.size_bytes
    sizes = format_bytes(low) if low == high else f"{format_bytes(low)} to {format_bytes(high)}"
    return (
        places.profile(here, machine.name), code(workload), str(seen.rows), codes(seen.topologies),
        codes(seen.directions), sizes, format_share(seen.log_sd),
    )  # fmt: skip


def _facts(here: str, e: tables.Endpoint) -> str:
    rows = [
        ("application", WHERE[e.place]),
        ("ends at", e.attach),
        ("topologies", codes(e.topologies)),
        ("best known", f"{code(e.topology)}, {code(e.workload)}, on {places.profile(here, e.best)}"),
        ("since", plain(e.since)),
        ("guest can move while it runs", ("yes" if e.migrates else "no") if e.place == "guest" else ""),
        ("sets by itself", ", ".join(f"{code(k)} {knob_text(k, float(v))}" for k, v in e.defaults.items())),
        ("cannot be changed", ", ".join(f"{code(k)} {knob_text(k, float(v))}" for k, v in e.fixed.items())),
        ("sources", places.sources(here, e.cites)),
    ]
    return table(("", ""), [row for row in rows if row[1]])


def _validity(here: str, path: str) -> str:
    found = validity(path)
    if not found:
        return (
            "No shipped profile was compared with measurements of this path. Its costs are those that its stages "
            "share with other paths, or priors; intervals are wide, and each answer says so.\n"
        )
    heads = ("profile", "workload", "rows", "topologies", "directions", "message", "model error")
    rows = table(heads, [validity_row(here, machine, path, workload) for machine, workload in found])
    told = (
        "*Model error*: standard deviation of the logarithm of what the costs alone leave unexplained. Outside of "
        "these topologies, directions and sizes an answer is an extrapolation: a warning, and a wider interval."
    )
    return f"{rows}\n{told}\n"


def chains(path: str) -> dict[str, tuple[Chain, Chain]]:
    """Topology -> both directions."""
    out = {}
    for topology in tables.endpoint(path).topologies:
        way = compose.scenario_ways(scenario(path=path, topology=topology))
        out[topology] = (way.forward, way.reverse)
    return out


def _ways(here: str, found: dict[str, tuple[Chain, Chain]]) -> str:
    parts = []
    for topology, (forward, reverse) in found.items():
        there, back = (" → ".join(places.stages(here, [n.stage]) for n in c.nodes) for c in (forward, reverse))
        parts.append(f"### {topology}\n\n**There:** {there}\n")
        parts.append(f"**Back:** {back}\n" if back != there else "**Back:** the same stages.\n")
    return "\n".join(parts)


def _sheet(here: str, names: list[str]) -> str:
    rows = []
    for name in names:
        s = STAGES[name]
        rows.append((places.stages(here, [name]), s.occupies or "delay", s.when, formula(s.seconds)))
    return table(("stage", "busy", "paid", "seconds for each message"), rows)


def _closed_forms(path: str) -> str:
    parts = []
    for asked in workloads_of(path):
        form = closed_form(solver.predict(asked))
        lines = [f"{q.name} = {q.text}" for q in form.equations if not q.name.startswith("t_")]
        parts.append(
            f"**{asked.workload}**, {asked.topology}, on {asked.profile.name}: `{form.answer}` [{form.unit}]\n"
        )
        parts.append(block("\n".join(lines)))
    return "\n".join(parts)


def path_page(name: str) -> str:
    """The page of one path."""
    here, e = places.path_page(name), tables.endpoint(name)
    found = chains(name)
    used = list(dict.fromkeys(n.stage for pair in found.values() for c in pair for n in c.nodes))
    command = link(here, "predict", places.command_page("predict"))
    return "\n".join(
        [
            f"# {name}\n",
            f"{plain(e.title[:1].upper() + e.title[1:])}.\n",
            block(f"vmodel predict --path {name}\nvmodel explain --path {name}", "sh"),
            _facts(here, e),
            "\n## Validity\n",
            _validity(here, name),
            "\n## The way of a message\n",
            _ways(here, found),
            "\n## Formula sheet\n",
            f"Words are explained on the page of {link(here, 'words', places.WORDS)}, costs (ending in `_s`, "
            f"`_bytes_s`) on that of {link(here, 'costs', places.COSTS)}. A stage that is paid *idle* is paid where "
            "an end waits for the other, *blocked* for the share of the time that a sender waits for credit.\n",
            _sheet(here, used),
            "\n## Closed form\n",
            "At default settings, after all that is zero there has been left out; `t_x` is the time of stage x, "
            "above. `vmodel explain` prints it for any settings, as text, LaTeX or Python.\n",
            _closed_forms(name),
            "\n## Settings that change an answer\n",
            f"{places.knobs(here, active_knobs(name))}.\n\nAll others do nothing here; {command} says why.\n",
        ]
    )


def index() -> str:
    """All paths, with where each is valid."""
    here = places.PATHS
    rows = []
    for name in tables.path_names():
        e = tables.endpoint(name)
        seen = validity(name)
        machines = ", ".join(dict.fromkeys(places.profile(here, p.name) for p, _ in seen))
        count = sum(p.seen[f"{name}/{workload}"].rows for p, workload in seen)
        rows.append((places.paths(here, [name]), plain(e.title), codes(e.topologies), str(count), machines))
    return "\n".join(
        [
            "# Paths\n",
            "Each goes both ways, with round trips (`rr`), bulk (`stream`) and frames (`packets`). *Rows*: "
            "measured figures that shipped profiles were compared with.\n",
            table(("path", "what it is", "topologies", "rows", "compared on"), rows),
            "\nA path of your own is a file: see [add a path](../../how-to/add-a-path.md).\n",
        ]
    )


def pages() -> dict[str, str]:
    """Address -> text of every page about paths."""
    return {places.path_page(name): path_page(name) for name in tables.path_names()} | {places.PATHS: index()}
