"""A sweep as one long table: which rows there are, and the answers of any stretch of them.

Rows go through the axes like an odometer, the first axis slowest. A stretch of rows is answered by itself, from the
description alone, so that any process gives the same numbers.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vmodel.config import scenario
from vmodel.core.records import Load, Scenario
from vmodel.errors import ConfigError, Fault, nearest
from vmodel.library import tables
from vmodel.library.moderation import devices
from vmodel.solve import answers, compose
from vmodel.sweep.axis import CAPACITY, LOADS, MAX, Axis
from vmodel.sweep.draws import cost_draws, intervals
from vmodel.units import US_PER_S

BLOCK = 12288  # rows solved at once: temporaries of 96 KiB are reused from cache and never mapped afresh
REGIME, BOTTLENECK = "regime", "bottleneck"
MOST_CELLS, MOST_ROWS, MOST_REGIMES = 100_000, 10**10, 10**7
Column = NDArray[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A column of answers: its unit, the answer behind it, and the factor from SI."""

    unit: str
    answer: str
    scale: float = 1.0


ANSWERS: Mapping[str, Kind] = {
    "latency_us": Kind(unit="us", answer="latency_s", scale=US_PER_S),
    "latency_us_low": Kind(unit="us", answer="latency_low_s", scale=US_PER_S),
    "latency_us_high": Kind(unit="us", answer="latency_high_s", scale=US_PER_S),
    "latency_us_p50": Kind(unit="us", answer="p50_s", scale=US_PER_S),
    "latency_us_p90": Kind(unit="us", answer="p90_s", scale=US_PER_S),
    "latency_us_p99": Kind(unit="us", answer="p99_s", scale=US_PER_S),
    "latency_us_p999": Kind(unit="us", answer="p999_s", scale=US_PER_S),
    "throughput_bps": Kind(unit="bit/s", answer="throughput_bps"),
    "throughput_bps_low": Kind(unit="bit/s", answer="throughput_low_bps"),
    "throughput_bps_high": Kind(unit="bit/s", answer="throughput_high_bps"),
    "rate_pps": Kind(unit="pps", answer="rate_pps"),
    "transactions_per_s": Kind(unit="1/s", answer="transactions_per_s"),
    "interrupts_per_s": Kind(unit="1/s", answer="interrupts_per_s"),
    "loss": Kind(unit="", answer="loss"),
    "cpu_host": Kind(unit="cores", answer="cpu_host"),
    "cpu_guest": Kind(unit="cores", answer="cpu_guest"),
    "saturated": Kind(unit="", answer="saturated"),
}
DEFAULT = (*ANSWERS, BOTTLENECK)
KNOWN = (*DEFAULT, REGIME)
TYPES: Mapping[str, Any] = {REGIME: object, BOTTLENECK: np.uint8, "saturated": bool}
TIMERS = ("rx_usecs", "pf_rx_usecs")
SCALED = tuple(name for name, kind in ANSWERS.items() if kind.scale != 1.0)
NUMBERS = tuple(name for name in ANSWERS if name != "saturated")
DERIVED = ("latency_us_low", "latency_us_high", "throughput_bps_low", "throughput_bps_high")  # of uncertain costs


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """All rows that share their words and laws: one scenario, and the plain numbers that vary in it."""

    words: Mapping[str, Any]
    scenario: Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A sweep: axes in the order rows go through them, one cell for each combination of words, columns wanted."""

    settings: Mapping[str, Any]
    axes: tuple[Axis, ...]
    cells: tuple[Cell, ...]
    columns: tuple[str, ...]
    names: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    draws: int = 0
    seed: int = 0

    @property
    def plain(self) -> tuple[Axis, ...]:
        """The axes of plain numbers, which vary inside a cell."""
        return tuple(a for a in self.axes if not a.slow)

    @property
    def cell_rows(self) -> int:
        """Rows of one cell."""
        return math.prod(len(a.values) for a in self.plain)

    @property
    def rows(self) -> int:
        """Rows of the whole table."""
        return self.cell_rows * len(self.cells)

    @property
    def units(self) -> dict[str, str]:
        """Column -> unit, in the order of the table."""
        out = {a.name: a.unit for a in self.axes}
        return out | {name: ANSWERS[name].unit if name in ANSWERS else "" for name in self.columns}

    @property
    def told(self) -> dict[str, Any]:
        """The settings of all rows as plain values."""
        plain = (str, int, float, bool, type(None))
        return {k: v if isinstance(v, plain) else getattr(v, "name", str(v)) for k, v in self.settings.items()}

    def vocabulary(self, name: str) -> tuple[str, ...] | None:
        """The words of a column that holds words by their numbers; None where it holds the values themselves."""
        if name == BOTTLENECK:
            return self.names
        return next((a.values for a in self.axes if a.name == name and a.kind == "word"), None)


def wanted_columns(
    names: Iterable[str] | None, key: str = "--columns", known: tuple[str, ...] = KNOWN
) -> tuple[str, ...]:
    """The columns of answers by name, all of them but the regime unless named; raises ConfigError."""
    if names is None:
        return DEFAULT
    listed = tuple(dict.fromkeys(n.strip() for n in names))
    faults = [
        Fault(file="", key=key, value=n, expected=f"one of {', '.join(known)}", nearest=nearest(n, known))
        for n in listed
        if n not in known
    ]
    if faults or not listed:
        raise ConfigError(faults or [Fault(file="", key=key, value="", expected="at least one column")])
    return listed


def grid(
    settings: Mapping[str, Any],
    axes: Sequence[Axis],
    columns: Iterable[str] | None = None,
    *,
    resolve: Callable[[Mapping[str, Any]], Scenario] = lambda s: scenario(**s),
    draws: int = 0,
    seed: int = 0,
) -> Grid:
    """Lay out a sweep: settings as for `predict`, axes as `settled` orders them.

    Combinations of words that cannot exist are left out and named; raises ConfigError when none is left.
    resolve: how settings become a scenario.  draws: for Monte Carlo intervals, 0 for those by derivatives.
    """
    slow = [a for a in axes if a.slow]
    fast = [a for a in axes if not a.slow]
    wanted = wanted_columns(columns)
    _check_size(slow, fast, wanted, draws)
    cells: list[Cell] = []
    left_out: list[str] = []
    faults: list[Fault] = []
    for words in _combinations(slow):
        try:
            base = resolve({**settings, **words})
            _check_plain(base, fast)
        except ConfigError as error:
            faults.extend(f for f in error.faults if f not in faults)
            told = ", ".join(f"{k} {v:g}" if isinstance(v, float) else f"{k} {v}" for k, v in words.items())
            left_out.append(f"{told}: {'; '.join(error.lines())}")
        else:
            cells.append(Cell(words=words, scenario=base))
    if not cells:
        raise ConfigError(faults)
    names = sorted({name for cell in cells for name in answers.resource_names(cell.scenario)})
    return Grid(
        settings=dict(settings), axes=tuple(axes), cells=tuple(cells), columns=wanted,
        names=tuple(names), left_out=tuple(left_out), draws=draws, seed=seed,
    )  # fmt: skip


def _check_size(slow: Sequence[Axis], fast: Sequence[Axis], columns: Sequence[str], draws: int) -> None:
    """Refuse what would not end: too many words and laws, too many rows, or too many for the columns asked."""
    cells = math.prod(len(a.values) for a in slow)
    rows = cells * math.prod(len(a.values) for a in fast)
    limits = (
        (cells, MOST_CELLS, "combinations of words and of settings that change the law"),
        (rows * max(1, draws), MOST_ROWS, "configurations, draws counted"),
        (rows if REGIME in columns else 0, MOST_REGIMES, "configurations with their regime, which is found row by row"),
    )
    for count, most, what in limits:
        if count > most:
            expected = f"at most {most:,} {what}; these are {count:,}"
            raise ConfigError([Fault(file="", key="--vary", expected=expected)])


def _combinations(axes: Sequence[Axis]) -> Iterator[dict[str, Any]]:
    if not axes:
        yield {}
        return
    for value in axes[0].values:
        for rest in _combinations(axes[1:]):
            yield {axes[0].name: value, **rest}


def _check_plain(base: Scenario, axes: Iterable[Axis]) -> None:
    """What an axis cannot do in a cell: change what a path fixes, or offer a load to what takes none."""
    faults = []
    fixed = tables.endpoint(base.path).fixed
    for a in axes:
        if a.name in fixed and any(v != float(fixed[a.name]) for v in a.values):
            told = f"{str(fixed[a.name]).lower()}: {base.path} cannot change it"
            faults.append(Fault(file="", key=f"--vary {a.name}", value=a.values[0], expected=told))
        if a.kind in LOADS and base.workload != "packets":
            told = f"--workload packets: an offered load acts on packets only, not on {base.workload}"
            faults.append(Fault(file="", key="--vary load", value=None, expected=told))
    if faults:
        raise ConfigError(faults)


def table(g: Grid, first: int, last: int) -> dict[str, Column]:
    """The columns of rows `first` up to `last`, settings before answers."""
    pieces: list[dict[str, Column]] = []
    size = g.cell_rows
    while first < last:
        number, offset = divmod(first, size)
        stop = min(last - first + offset, size)
        pieces.append(_stretch(g, g.cells[number], offset, stop))
        first += stop - offset
    return {name: np.concatenate([p[name] for p in pieces]) for name in pieces[0]} if len(pieces) > 1 else pieces[0]


def _stretch(g: Grid, cell: Cell, first: int, last: int) -> dict[str, Column]:
    """Rows of one cell, solved block by block."""
    count = last - first
    out: dict[str, Column] = {}
    for a in g.axes:
        if a.kind == "word":
            out[a.name] = np.full(count, a.values.index(cell.words[a.name]), np.uint16)
        else:
            out[a.name] = np.full(count, cell.words[a.name]) if a.slow else np.empty(count)
    for name in g.columns:
        out[name] = np.empty(count, TYPES.get(name, float))
    block = Block(grid=g, cell=cell, plain=g.plain, codes={n: i for i, n in enumerate(g.names)}, drawn=_drawn(g, cell))
    modes = _modes(block)
    step = max(1, BLOCK // max(1, g.draws))
    for start in range(0, count, step):
        stop = min(start + step, count)
        places = _places(block, first + start, first + stop)
        for rows in _same_mode(places, modes):
            chosen = {n: p[rows] for n, p in places.items()} if modes else places
            for name, found in _solve(block, chosen, stop - start).items():
                out[name][start:stop][rows] = found
    return out


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """What the blocks of a cell share."""

    grid: Grid
    cell: Cell
    plain: tuple[Axis, ...]
    codes: Mapping[str, int]
    drawn: Any


def _drawn(g: Grid, cell: Cell) -> Any:
    if not g.draws:
        return None
    return cost_draws(cell.scenario, g.draws, g.seed, [a.name for a in g.plain if a.kind == "cost"])


def _places(b: Block, first: int, last: int) -> dict[str, Column]:
    """For each plain axis, which of its values each row takes."""
    flat = np.arange(first, last)
    out: dict[str, Column] = {}
    for a in reversed(b.plain):
        above = flat // len(a.values)
        out[a.name] = flat - above * len(a.values)
        flat = above
    return out


def _modes(b: Block) -> dict[str, Column]:
    """For each axis of a moderation timer, a number for each mode of the driver that its values choose."""
    out = {}
    s = b.cell.scenario
    special = np.array(sorted({mode.rx_usecs for d in devices().values() for mode in d.special} | {0.0}))
    for a in b.plain:
        if a.name not in TIMERS:
            continue
        chosen = np.isin(a.array, special)
        numbers = np.zeros(len(a.values), int)
        found: dict[Any, int] = {}
        if not chosen.all():  # all plain times are of one mode
            found[_mode(replace(s, knobs={**s.knobs, a.name: float(a.array[~chosen][0])}))] = 0
        for i in np.flatnonzero(chosen):
            mode = _mode(replace(s, knobs={**s.knobs, a.name: float(a.array[i])}))
            numbers[i] = found.setdefault(mode, len(found))
        if len(found) > 1:
            out[a.name] = numbers
    return out


def _mode(s: Scenario) -> tuple[Any, ...]:
    ways = compose.scenario_ways(s)
    timers = [compose.timer(s, way) for way in (ways.forward, ways.reverse)]
    return tuple(None if t is None else (t.kind, t.adaptive, t.frames) for t in timers)


def _same_mode(places: Mapping[str, Column], modes: Mapping[str, Column]) -> Iterator[Any]:
    """Rows of a block that share every mode."""
    if not modes:
        yield slice(None)
        return
    keys: Any = 0
    for name, numbers in modes.items():
        keys = keys * (int(numbers.max()) + 1) + numbers[places[name]]
    for key in np.unique(keys):
        yield np.flatnonzero(keys == key)


def scenario_of(b: Block, values: Mapping[str, Any]) -> Scenario:
    """The scenario of a block: arrays of values laid over the cell's own."""
    base = b.cell.scenario
    knobs = {a.name: values[a.name] for a in b.plain if a.kind == "knob"}
    costs = {a.name: values[a.name] for a in b.plain if a.kind == "cost"}
    s = replace(base, knobs={**base.knobs, **knobs}, parameters={**base.parameters, **costs})
    offered = next((a for a in b.plain if a.kind in LOADS), None)
    if offered is None or offered.kind == MAX:
        return s
    asked = values[offered.name]
    if offered.kind == CAPACITY:
        return replace(s, load=Load(kind="rate_pps", value=asked * answers.capacity_per_s(s, len(asked))))
    return replace(s, load=Load(kind=offered.kind, value=asked))


def _solve(b: Block, places: Mapping[str, Column], most: int) -> dict[str, Any]:
    """The columns of some rows of a cell that share their law; `most` rows where nothing plain varies."""
    g = b.grid
    values = {a.name: a.array[places[a.name]] for a in b.plain}
    count = len(next(iter(values.values()))) if values else most
    s = scenario_of(b, values)
    out: dict[str, Any] = dict(values)
    derived = [n for n in g.columns if n in DERIVED]
    wanted = [n for n in g.columns if n in ANSWERS and not (g.draws and n in DERIVED)]
    if wanted or BOTTLENECK in g.columns:
        solved = answers.solve_block(s, count, gradient=bool(derived) and not g.draws)
        for name in wanted:
            out[name] = _scaled(name, answers.column(solved, ANSWERS[name].answer))
        if BOTTLENECK in g.columns:
            local, names = answers.bottlenecks(solved)
            out[BOTTLENECK] = np.array([b.codes[n] for n in names], np.uint8)[local]
    if derived and g.draws:
        found = intervals(s, count, b.drawn)
        out |= {n: _scaled(n, found[ANSWERS[n].answer]) for n in derived}
    if REGIME in g.columns:
        out[REGIME] = answers.regimes(s, count)
    return out


def _scaled(name: str, found: Any) -> Any:
    if found is None:
        return np.nan
    return found * ANSWERS[name].scale if name in SCALED else found
