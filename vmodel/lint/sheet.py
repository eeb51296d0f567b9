"""What a rule sees and says: facts with the file that told them, the scenario they make, findings with gains."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from vmodel.core.records import Interval, Load, Prediction, Scenario
from vmodel.library import commands, tables
from vmodel.solve import solver
from vmodel.solve.apply import apply_settings
from vmodel.solve.goal import Constraint
from vmodel.solve.quantities import QUANTITIES, Quantity, ratio_log_sd
from vmodel.solve.solver import NORMAL_90
from vmodel.units import format_bitrate, format_rate

WORDS = ("path", "topology", "workload", "direction", "device")
ERROR, WARNING, INFO = "error", "warning", "info"
SEVERITIES = (ERROR, WARNING, INFO)
TWOFOLD, WORTH_IT = 2.0, 1.05  # gains from which a finding is an error, and a warning
BULK_BYTES = 65536.0  # messages of the stream by which throughput is judged where the question is another


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One file: its name, the tool whose output it is, and what it says, by the keys of `vmodel ingest`."""

    file: str
    tool: str
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One value with the place that told it."""

    key: str
    value: Any
    file: str
    tool: str
    facts: Mapping[str, Any]  # everything else that this place says

    @property
    def told(self) -> str:
        """File, key and value."""
        value = "on" if self.value is True else "off" if self.value is False else self.value
        return f"{self.file}: {self.key} {value}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """Everything that is known of one configuration.

    scenario: None where no file and no flag tells the path.  places: setting -> file and key, or flag.  given: settings
    that somebody set.  objective: what the latency, rate or CPU must keep to.
    """

    sources: tuple[Source, ...]
    scenario: Scenario | None
    places: Mapping[str, str] = field(default_factory=dict)
    given: tuple[str, ...] = ()
    objective: tuple[Constraint, ...] = ()
    names: commands.Names = field(default_factory=commands.Names)

    def all(self, key: str) -> tuple[Fact, ...]:
        """Every value of a key that some file tells; of lists of devices each device for itself."""
        return tuple(self._found(key))

    def _found(self, key: str) -> Iterator[Fact]:
        for source in self.sources:
            devices = source.facts.get("devices") or ()
            rows = list(devices) if devices else [source.facts]
            for row in rows:
                if row.get(key) is not None:
                    yield Fact(key=key, value=row[key], file=source.file, tool=source.tool, facts=row)

    def first(self, key: str) -> Fact | None:
        """The first value of a key."""
        return next(self._found(key), None)

    def told(self, *settings: str) -> tuple[str, ...]:
        """Where settings come from, as evidence; a setting that nobody set is said to be the default."""
        s = self.scenario
        out = []
        for name in settings:
            where = self.places.get(name, "nobody set it")
            out.append(f"{where}: {name} {'unknown' if s is None else _value(s, name)}")
        return tuple(out)


def _value(s: Scenario, name: str) -> str:
    """A setting or word of a scenario as evidence shows it."""
    if name == "load":
        if s.load.kind == "max":
            return "max"
        return format_rate(s.load.value) if s.load.kind == "rate_pps" else format_bitrate(s.load.value)
    return str(getattr(s, name)) if name in WORDS else _text(name, s.knobs.get(name))


def _text(name: str, value: Any) -> str:
    knob = tables.knobs().get(name)
    if knob is None or value is None:
        return "default" if value is None else str(value)
    if knob.kind == "switch":
        return "on" if value else "off"
    return f"{value:g} {knob.unit}".rstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """What mending would bring: a quantity now and then [SI], how many times better, and the 90 % interval of that."""

    quantity: Quantity
    now: float
    then: float
    factor: float
    interval: Interval
    workload: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing to know about a configuration."""

    rule: str
    severity: str
    text: str
    evidence: tuple[str, ...]
    gain: Gain | None = None
    mend: tuple[str, ...] = ()  # ready commands or XML, as lines


def finding(
    text: str,
    evidence: Sequence[str],
    *,
    severity: str = INFO,
    gain: Gain | None = None,
    mend: Sequence[str] = (),
) -> Finding:
    """A finding of the rule that is being looked at; a predicted gain decides how severe it is."""
    return Finding(
        rule="",
        severity=severity if gain is None else weighed(gain),
        text=text,
        evidence=tuple(evidence),
        gain=gain,
        mend=tuple(mend),
    )


def weighed(gain: Gain) -> str:
    """How severe it is to leave a gain: twice and more, surely something, or less."""
    if gain.factor >= TWOFOLD and gain.interval.low > 1:
        return ERROR
    return WARNING if gain.factor >= WORTH_IT else INFO


def changed(s: Scenario, settings: Mapping[str, Any], path: str | None = None) -> Scenario:
    """The scenario with other settings, perhaps on another path of the same topology."""
    if path is None or path == s.path:
        return replace(s, knobs={**s.knobs, **settings})
    from vmodel.config import scenario

    kept = {name: s.knobs[name] for name in s.chosen if name not in tables.endpoint(path).fixed}
    return scenario(
        path=path,
        topology=s.topology,
        workload=s.workload,
        direction=s.direction,
        profile=s.profile,
        load=s.load,
        **{**kept, **settings},
    )


def bulk(s: Scenario) -> Scenario:
    """The stream by which throughput is judged: the scenario's own, or long messages where it asks something else."""
    if s.workload == "stream":
        return s
    return replace(s, workload="stream", load=Load(), knobs={**s.knobs, "size": BULK_BYTES})


def pingpong(s: Scenario) -> Scenario:
    """The round trip by which latency is judged."""
    return s if s.workload == "rr" else replace(s, workload="rr", load=Load(), knobs={**s.knobs, "in_flight": 1.0})


def gain(now: Scenario, then: Scenario, name: str) -> Gain:
    """How many times better a quantity becomes, with the 90 % interval of that factor.

    On one path what both pay alike cancels.  Between paths it does not: both errors count in full.
    """
    q = QUANTITIES[name]
    before, after = solver.predict(now), solver.predict(then)
    old, new = (float(q.of(p) or 0.0) for p in (before, after))
    best, least = (old, new) if q.lower_is_better else (new, old)
    factor = best / least if least > 0 else math.inf if best > 0 else 1.0
    log_sd = ratio_log_sd(now, then, name) if now.path == then.path else math.hypot(before.log_sd, after.log_sd)
    spread = math.exp(NORMAL_90 * log_sd)
    return Gain(
        quantity=q,
        now=old,
        then=new,
        factor=factor,
        interval=Interval(low=factor / spread, high=factor * spread),
        workload=now.workload,
    )


def mending(sheet: Sheet, then: Scenario, settings: Sequence[str], *, attach: bool = False) -> tuple[str, ...]:
    """The commands or XML that put some settings of a scenario in force."""
    return tuple(commands.lines(apply_settings(then, settings, sheet.names, attach=attach)))


def predicted(s: Scenario) -> Prediction:
    """The answer for a scenario."""
    return solver.predict(s)
