"""A sweep as JSON record, table, and lines for a person."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from vmodel.core.records import Scenario
from vmodel.report.tables import aligned, markdown
from vmodel.report.text import knob_text, load_text
from vmodel.solve.curve import Curve, load_curve
from vmodel.solve.explain import ONE_GUEST
from vmodel.solve.solver import predict
from vmodel.sweep.axis import LOADS
from vmodel.sweep.engine import Sweep
from vmodel.sweep.grid import Grid
from vmodel.units import BPS_PER_MBPS, PPS_PER_KPPS, format_rate

MOST_LINES = 40  # rows that are printed; of more, the first and the last
SHOWN = {  # column -> how it is headed, and what it is divided by
    "latency_us": ("latency [us]", 1.0),
    "latency_us_low": ("from", 1.0),
    "latency_us_high": ("to", 1.0),
    "latency_us_p99": ("p99 [us]", 1.0),
    "throughput_bps": ("throughput [Mbit/s]", BPS_PER_MBPS),
    "rate_pps": ("rate [kpps]", PPS_PER_KPPS),
    "loss": ("loss", 1.0),
    "bottleneck": ("bottleneck", 1.0),
    "regime": ("regime", 1.0),
}
LEAST_LOSS = 1e-9  # worth a column
LEAST_PLAIN, MOST_PLAIN = 1e-3, 1e7  # numbers in between are written without exponents
DIGITS, EXACT = 4, 12  # significant digits printed, and written
CURVE_POINTS = 960


def rows_of(s: Sweep) -> list[dict[str, Any]]:
    """The table as one dict for each row; what is not known is None."""
    names = list(s.columns)
    return [
        dict(zip(names, (_plain(x) for x in row), strict=True))
        for row in zip(*(s.columns[n].tolist() for n in names), strict=True)
    ]


def _plain(x: Any) -> Any:
    if isinstance(x, float):
        return float(f"{x:.{EXACT}g}") if math.isfinite(x) else None
    return x


def only_load(g: Grid) -> bool:
    """Whether the offered load is the only plain number that varies, so that there is a curve with a knee."""
    return len(g.plain) == 1 and g.plain[0].kind in LOADS and len(g.plain[0].values) > 1


def cell_names(g: Grid) -> list[str]:
    """What sets each cell apart, in words."""
    return [
        ", ".join(f"{n} {v:g}" if isinstance(v, float) else str(v) for n, v in cell.words.items()) or cell.scenario.path
        for cell in g.cells
    ]


def curves(g: Grid) -> dict[str, Curve]:
    """The load curve of each cell."""
    return {name: load_curve(cell.scenario, CURVE_POINTS) for name, cell in zip(cell_names(g), g.cells, strict=True)}


def title_of(s: Scenario) -> str:
    """What is asked of one scenario, on one line: words, then the settings that were given."""
    words = [s.path, s.topology, s.workload]
    if s.workload != "rr" and s.topology in ONE_GUEST:
        words.append(s.direction)
    given = [f"{n} {knob_text(n, s.knobs[n])}" for n in dict.fromkeys(("size", *s.chosen))]
    loaded = [f"load {load_text(s)}"] if s.workload == "packets" else []
    return ", ".join([*words, *given, *loaded, f"on {s.profile.name}"])


def title(g: Grid) -> str:
    """What is asked of all rows, on one line: words they share, then the settings that were given."""
    varied = {a.name for a in g.axes}
    first = g.cells[0].scenario
    shared = [
        _word(first, k)
        for k in ("path", "topology", "workload", "direction")
        if k not in varied and all(_word(c.scenario, k) == _word(first, k) for c in g.cells)
    ]
    if first.workload == "rr" or first.topology not in ONE_GUEST:
        shared = [word for word in shared if word != first.direction]
    given = [f"{n} {knob_text(n, first.knobs[n])}" for n in first.chosen if n not in varied]
    if "size" not in varied and "size" not in first.chosen:
        given.insert(0, f"size {knob_text('size', first.knobs['size'])}")
    if "load" not in varied and first.workload == "packets":
        given.append(f"load {load_text(first)}")
    if all(c.scenario.profile.name == first.profile.name for c in g.cells) and "profile" not in varied:
        given.append(f"on {first.profile.name}")
    return ", ".join([*shared, *given])


def _word(s: Scenario, name: str) -> str:
    return str(getattr(s, name))


def sweep_json(s: Sweep) -> dict[str, Any]:
    """Everything a sweep knows, as one object."""
    g = s.grid
    record: dict[str, Any] = {
        "settings": g.told,
        "axes": [{"name": a.name, "unit": a.unit, "values": list(a.values)} for a in g.axes],
        "rows": g.rows,
        "units": g.units,
        "left_out": list(g.left_out),
    }
    if only_load(g):
        record["curves"] = {name: _curve_json(c) for name, c in curves(g).items()}
    record["table"] = rows_of(s)
    return record


def _curve_json(c: Curve) -> dict[str, Any]:
    return {
        "capacity_pps": _plain(c.capacity_per_s),
        "knee_pps": _plain(c.knee_per_s),
        "power_knee_pps": _plain(c.power_knee_per_s),
    }


def _cell(value: Any, scale: float = 1.0) -> str:
    """A figure in a few significant digits, without exponents as long as it is readable."""
    if not isinstance(value, float):
        return "-" if value is None else str(value)
    if not math.isfinite(value):
        return "-"
    number = value / scale
    if number == 0 or LEAST_PLAIN <= abs(number) < MOST_PLAIN:
        decimals = max(0, DIGITS - 1 - math.floor(math.log10(abs(number)))) if number else 0
        text = f"{number:,.{decimals}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return f"{number:.{DIGITS - 1}e}"


def _table(s: Sweep) -> tuple[list[list[str]], list[str], str]:
    g = s.grid
    heads: dict[str, tuple[str, float]] = {
        a.name: (unit_of(g.units, a.name), 1.0) for a in g.axes if len(a.values) > 1 or a.slow
    }
    shown = {n: (head, scale) for n, (head, scale) in SHOWN.items() if n in s.columns and n != "loss"}
    if "loss" in s.columns and bool((s.columns["loss"] > LEAST_LOSS).any()):
        shown["loss"] = SHOWN["loss"]
    heads |= shown or {n: (unit_of(g.units, n), 1.0) for n in g.columns}
    count = g.rows
    half = MOST_LINES // 2
    places = range(count) if count <= MOST_LINES else [*range(half), *range(count - half, count)]
    rows = [[_cell(s.columns[n][i : i + 1].tolist()[0], scale) for n, (_, scale) in heads.items()] for i in places]
    if count > MOST_LINES:
        rows.insert(half, ["..."] * len(heads))
    numbers = "".join("r" if s.columns[n].dtype == float else "l" for n in heads)
    return rows, [head for head, _ in heads.values()], numbers


def _notes(s: Sweep) -> list[str]:
    g = s.grid
    notes = [f"left out: {text}" for text in g.left_out]
    if only_load(g):
        for name, c in curves(g).items():
            notes.append(
                f"{name}: knee {format_rate(c.knee_per_s)} (p99 three times that of an idle path), best rate over"
                f" latency at {format_rate(c.power_knee_per_s)}, capacity {format_rate(c.capacity_per_s)}"
            )
    warnings = dict.fromkeys(w for cell in g.cells for w in _warnings(cell.scenario))
    return notes + [f"warning: {w}" for w in warnings]


def _warnings(s: Scenario) -> Sequence[str]:
    return [w for w in predict(s).warnings if not w.startswith("size ")]


def sweep_lines(s: Sweep) -> list[str]:
    """The table for a person, with what was left out, knees and warnings."""
    rows, heads, numbers = _table(s)
    count = f"{s.grid.rows:,} configurations"
    return [f"{title(s.grid)}: {count}", "", *aligned(rows, heads, numbers), "", *_notes(s)]


def sweep_markdown(s: Sweep) -> str:
    """The same as Markdown."""
    rows, heads, numbers = _table(s)
    lines = [f"# {title(s.grid)}", "", *markdown(rows, heads, numbers), "", *(f"- {n}" for n in _notes(s))]
    return "\n".join(lines) + "\n"


def unit_of(units: Mapping[str, str], name: str) -> str:
    """A column as an axis label, with its unit."""
    unit = units.get(name, "")
    return f"{name} [{unit}]" if unit else name
