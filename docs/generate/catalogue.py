"""Stages, words, knobs, costs and devices: one page each, from the tables of the library."""

import inspect
import math

from docs.generate import places
from docs.generate.markup import code, formula, link, marked, plain, table
from vmodel.cli.options import FLAGS
from vmodel.core.stage import Stage
from vmodel.core.symbols import KNOB_WORDS, TRAFFIC_WORDS
from vmodel.library import device, guest, host, tables, traffic, transport, vsock
from vmodel.library.catalog import ROOMS, STAGES
from vmodel.library.moderation import devices
from vmodel.report.text import knob_text
from vmodel.solve.sheet import text_of

MODULES = {"guest": guest, "transport": transport, "vsock": vsock, "host": host, "device": device}
NORMAL_90 = 1.6448536269514722  # 95th percentile of the normal distribution
CUT = "cut"
SCALES = {-1: "clock", 0: "no", 1: "1 / clock"}
WHEN = {
    "always": "always",
    "idle": "where the ends wait for each other",
    "blocked": "for the share of the time that the sender waits for the receiver",
}


def _title(room: str) -> str:
    return (inspect.getdoc(MODULES[room]) or room).split(": ")[0].rstrip(".")


def _used_by(stage: str) -> list[str]:
    """Paths whose own ends or whose links have a stage."""
    linked = any(stage in pieces for pieces in tables.links().values())
    own = [n for n in tables.path_names() if stage in (*tables.endpoint(n).tx, *tables.endpoint(n).rx)]
    return own if own or not linked else []


def _stage(here: str, s: Stage) -> str:
    used = _used_by(s.name)
    facts = [
        ("busy", s.occupies or "nobody: a delay"),
        ("paid", WHEN[s.when]),
        (
            "variability",
            f"squared coefficient of variation {s.variability:g}" + ("; polls, never idle" if s.spins else ""),
        ),
        ("memory bus", "" if s.bus_bytes == 0 else f"{formula(s.bus_bytes)} bytes"),
        ("costs", ", ".join(f"{places.costs(here, [p])} [{s.units[p] or '-'}]" for p in s.parameters)),
        ("sources", places.sources(here, s.cites)),
        ("paths", places.paths(here, used) if used else "pieces between the ends, by topology"),
    ]
    lines = [f"### `{s.name}` {{ #{s.name} }}\n", f"{plain(s.about)}\n"]
    lines.append(f'<div class="formula">{formula(s.seconds)}</div>\n')
    lines.append(f"In text: {code(text_of(s.seconds))} seconds for each message.\n")
    lines.append(table(("", ""), [row for row in facts if row[1]]))
    return "\n".join(lines)


def stages() -> str:
    """Every stage with its formula."""
    parts = [
        "# Stages\n",
        "A stage is one formula: seconds for each message, at one resource. All paths are made of these.\n",
    ]
    for room, found in ROOMS.items():
        parts.append(f"## {_title(room)} {{ #room-{room} }}\n")
        parts += [_stage(places.STAGES, s) for s in found]
    return "\n".join(parts)


def words() -> str:
    """The words of formulas."""
    knobs = {k.word: k.name for k in tables.knobs().values() if k.word}
    rows = []
    for word, unit in KNOB_WORDS.items():
        name = knobs.get(word)
        rows.append(
            (marked(word), unit, places.knobs(places.WORDS, [name]) if name else "set by protocol, path or topology")
        )
    parts = [
        "# Words of the formulas\n",
        "A formula knows costs, and these words. A misspelt one is an error when the stage is declared.\n",
        "## From settings\n",
        table(("word", "unit", "setting"), rows),
        f"\n## What a message becomes on its way {{ #{CUT} }}\n",
        "By workload: how many segments, packets and notifications, and how many bytes, for one message. The "
        "formulas follow.\n",
        table(("word", "unit"), [(marked(word), unit) for word, unit in TRAFFIC_WORDS.items()]),
    ]
    for law in traffic.TRAFFIC:
        parts.append(f"\n### {law.name}\n\n{plain(law.about)}\n")
        rows = [(code(word), formula(count)) for word, count in law.counts.items() if count != 0]
        parts.append(table(("word", "for one message"), rows))
    return "\n".join(parts)


def knobs() -> str:
    """Every setting."""
    rows, cutting = [], {word for law in traffic.TRAFFIC for word in law.knobs}
    for name, k in tables.knobs().items():
        written = code(FLAGS[name]) if name in FLAGS else code(f"--set {name}=")
        default = "" if k.default is None else knob_text(name, float(k.default))
        limits = "on, off" if k.kind == "switch" else f"{k.least:.10g} to {k.most:.10g}"
        used = places.stages(places.KNOBS, [s.name for s in STAGES.values() if k.word in s.words])
        cuts = link(places.KNOBS, "cut of a message", places.WORDS, CUT) if k.word in cutting else ""
        acts = ", ".join(part for part in (cuts, used) if part)
        rows.append((marked(name), written, default, limits, k.unit, plain(k.about), acts))
    return "\n".join(
        [
            "# Knobs\n",
            "Settings that a person can change. In Python, in `--config` files and in columns of observation files "
            "they have the same names. A knob that does nothing on a path is no error: the answer says that it has "
            "no effect, and why. The last column names the stages whose formula has the setting as a word, and the "
            "cut of a message into segments and packets; where it is empty, the setting acts on waiting.\n",
            table(("knob", "written", "default", "range", "unit", "", "acts on"), rows),
        ]
    )


def costs() -> str:
    """Every physical cost with its prior."""
    rows = []
    for name, p in tables.priors().items():
        users = [s.name for s in STAGES.values() if name in s.parameters]
        factor = math.exp(NORMAL_90 * p.log_sd)
        rows.append(
            (
                marked(name), f"{p.median:.3g}", p.unit or "-", f"{factor:.2f}", SCALES[p.clock],
                p.standing, plain(p.about), places.sources(places.COSTS, p.cites), places.stages(places.COSTS, users),
            )
        )  # fmt: skip
    return "\n".join(
        [
            "# Costs\n",
            "Physical costs that no setting changes, and what is assumed of them on any machine before measuring: "
            f"a log-normal law with this median at {tables.reference_clock_ghz():g} GHz. 90 % of its values lie "
            "within the *factor*, either way. A profile replaces what was learned of one machine. `--set "
            "name=value` (SI units) overrides one for a question.\n",
            table(("cost", "median", "unit", "factor", "scales", "standing", "", "sources", "stages"), rows),
        ]
    )


def device_page() -> str:
    """Every NIC driver with what it makes of moderation settings."""
    here = places.DEVICES
    parts = [
        "# NIC drivers\n",
        "What a driver makes of `rx_usecs`, `rx_frames` and `adaptive_rx`. A *throttle* keeps a least distance "
        "between interrupts, a *hold-off* counts from the first packet.\n",
    ]
    for d in devices().values():
        modes = ", ".join(f"{m.rx_usecs:g}: {m.mode}" for m in d.special)
        facts = [
            ("kind", d.kind),
            ("default", f"{d.default_rx_usecs:g} us"),
            (
                "range",
                f"{d.min_rx_usecs:g} to {d.max_rx_usecs:g} us in steps of {d.step_us:g} us, rounded {d.rounding}",
            ),
            ("values that are modes", modes),
            ("rx-frames", f"up to {d.max_frames}" if d.frames else "not honoured"),
            ("adaptive", plain(d.adaptive_mechanism)),
            ("tiers", ", ".join(f"{t.name}: {t.usecs:g} us" for t in d.tiers)),
            ("takes what is asked", "yes" if d.honoured else "no"),
            ("note", plain(d.note)),
            ("sources", places.sources(here, d.cites)),
        ]
        parts.append(f"## `{d.name}` {{ #{d.name.lower()} }}\n\n{plain(d.title)}\n")
        parts.append(table(("", ""), [row for row in facts if row[1]]))
    return "\n".join(parts)


def pages() -> dict[str, str]:
    """Address -> text."""
    return {
        places.STAGES: stages(),
        places.WORDS: words(),
        places.KNOBS: knobs(),
        places.COSTS: costs(),
        places.DEVICES: device_page(),
    }
