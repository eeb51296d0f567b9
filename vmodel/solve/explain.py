"""Why an answer is what it is: costs with their sources, settings that matter, settings that do nothing and why."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from vmodel.config import scenario
from vmodel.core.path import Chain
from vmodel.core.records import Prediction, Scenario
from vmodel.errors import UnknownName, VmodelError, nearest
from vmodel.library import moderation, tables
from vmodel.library.profile import value_of
from vmodel.solve import compose, evaluate, shown, solver
from vmodel.sources import Source
from vmodel.units import format_bytes, format_seconds

if TYPE_CHECKING:
    from vmodel.solve.formula import ClosedForm
    from vmodel.solve.sheet import StageFormula

SAME = 1e-9  # relative change below which two answers are the same
MOST_STAGES = 4  # stages that a reason names
STRIDE, BISECTIONS = 4.0, 40
MODERATION = ("rx_usecs", "rx_frames", "adaptive_rx", "pf_rx_usecs")
ARRIVALS = ("arrival_scv", "burst")
ONLY_FOR = (
    {"in_flight": "rr", "socket_buffer_bytes": "stream"}
    | dict.fromkeys(("ring_size", *ARRIVALS), "packets")
    | dict.fromkeys(compose.POLLS, "rr")
)
WHOLE = ("number", "count")  # kinds of knob that are counts
FIRST_TRIAL = {
    "busy_poll": 50.0,
    "halt_poll": 50.0,
    "worker_poll": 50.0,
    "rx_usecs": 10.0,
    "pf_rx_usecs": 10.0,
    "socket_buffer_bytes": 65536.0,
}
LONG_BYTES = 262144.0  # a message of many packets and segments
ONE_GUEST = ("host-vm", "cross-host-vm")  # topologies whose directions differ
GIVEN = "given"  # standing of a parameter that the user set


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Another value of a setting and the relative change of the answer it brings."""

    value: float
    change: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What one setting does to the answer here; `begins_at` are the values from which an idle one would matter."""

    knob: str
    value: float | None
    unit: str
    about: str
    trials: tuple[Trial, ...]
    reason: str = ""
    begins_at: tuple[float, ...] = ()

    @property
    def largest(self) -> float:
        """The largest change in size."""
        return max((abs(t.change) for t in self.trials), default=0.0)

    @property
    def matters(self) -> bool:
        """Whether any trial changed the answer."""
        return self.largest > SAME


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterUse:
    """A physical cost in an answer: value [SI], standard error of its logarithm, % of the answer per % of the cost."""

    name: str
    value: float
    log_error: float
    unit: str
    standing: str
    sources: tuple[str, ...]
    elasticity: float
    about: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Explanation:
    """An answer taken apart."""

    prediction: Prediction
    closed_form: "ClosedForm"
    formulas: tuple["StageFormula", ...]
    parameters: tuple[ParameterUse, ...]
    effects: tuple[Effect, ...]

    def __repr__(self) -> str:
        return shown.explanation_line(self)

    def _repr_html_(self) -> str:
        return shown.explanation_html(self)

    @property
    def mattering(self) -> tuple[Effect, ...]:
        """Settings that move the answer, strongest first."""
        return tuple(sorted((e for e in self.effects if e.matters), key=lambda e: -e.largest))

    @property
    def idle(self) -> tuple[Effect, ...]:
        """Settings that do nothing here."""
        return tuple(e for e in self.effects if not e.matters)


def explain(path: str, **settings: Any) -> Explanation:
    """Take the answer for one configuration apart; arguments as for `predict`. Raises ConfigError."""
    return explain_scenario(scenario(path=path, **settings))


def explain_scenario(s: Scenario) -> Explanation:
    """Take the answer for a scenario apart."""
    from vmodel.solve.formula import closed_form  # sympy: only who explains pays for it
    from vmodel.solve.sheet import formula_sheet

    p = solver.predict(s)
    return Explanation(
        prediction=p,
        closed_form=closed_form(p),
        formulas=formula_sheet(p),
        parameters=parameters(p),
        effects=effects(s),
    )


def parameters(p: Prediction) -> tuple[ParameterUse, ...]:
    """The physical costs behind an answer, most influential first."""
    s = p.scenario
    out = []
    for name, elasticity in p.elasticities.items():
        known, own = value_of(s.profile, name), s.parameters.get(name)
        out.append(
            ParameterUse(
                name=name,
                value=known.value if own is None else own,
                log_error=known.log_error if own is None else 0.0,
                unit=known.unit,
                standing=known.standing if own is None else GIVEN,
                sources=known.sources if own is None else (),
                elasticity=elasticity,
                about=tables.priors()[name].about,
            )
        )
    return tuple(sorted(out, key=lambda row: (-abs(row.elasticity), row.name)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """What a trial is compared by: the answer proper, and everything else that is shown."""

    main: float
    rest: tuple[float, ...]
    regime: tuple[str, ...]


def _answer(s: Scenario) -> _Answer:
    out = solver.solve(s, compose.parameter_values(s)).outcome
    main = out.latency_s if s.workload == "rr" else out.rate_per_s
    return _Answer(
        main=main,
        rest=(out.latency_s, out.interrupts_per_s, out.loss, *(d * out.rate_per_s for d in out.demands_s.values())),
        regime=out.regime,
    )


def _with(s: Scenario, name: str, value: float | None) -> Scenario:
    knobs = {**s.knobs, name: value}
    if name == "zero_copy_rx" and value:
        knobs["dedicated_nic"] = 1.0  # what it needs; alone it does nothing
    return replace(s, knobs=knobs)


def _other_values(s: Scenario, knob: tables.Knob) -> list[float]:
    """Values to try: the other position of a switch, else twice and half."""
    now = s.knobs[knob.name]
    if knob.kind == "switch":
        return [0.0, 1.0] if now is None else [1.0 - now]
    if now is None:
        now = s.knobs["batch"] if knob.name == "descriptor_batch" else FIRST_TRIAL.get(knob.name, 1.0)
        tried = [now, 2 * now]
    elif now == 0:
        tried = [FIRST_TRIAL.get(knob.name, 1.0)]
    else:
        tried = [2 * now, now / 2]
    tried = [float(round(v)) if knob.kind in WHOLE else v for v in tried]
    return [v for v in dict.fromkeys(tried) if knob.least <= v <= knob.most and v != s.knobs[knob.name]]


def _change(new: float, old: float) -> float:
    change = new / old - 1 if old else 0.0
    return 0.0 if abs(change) <= SAME else change


def effects(s: Scenario, names: Iterable[str] | None = None) -> tuple[Effect, ...]:
    """What each knob does here, found by predicting again; with the reason where it does nothing."""
    base = _answer(s)
    return tuple(_effect(s, tables.knob(name), base) for name in (tables.knobs() if names is None else names))


def _effect(s: Scenario, knob: tables.Knob, base: _Answer) -> Effect:
    fixed = tables.endpoint(s.path).fixed
    values = [] if knob.name in fixed else _other_values(s, knob)
    answers = {v: _answer(_with(s, knob.name, v)) for v in values}
    effect = Effect(
        knob=knob.name,
        value=s.knobs[knob.name],
        unit=knob.unit,
        about=knob.about,
        trials=tuple(Trial(value=v, change=_change(a.main, base.main)) for v, a in answers.items()),
    )
    if effect.matters:
        return effect
    reason, hidden = _reason(s, knob, values, base)
    aside = any(
        abs(x - y) > SAME * max(abs(y), SAME) for a in answers.values() for x, y in zip(a.rest, base.rest, strict=False)
    )
    if aside and knob.name not in fixed:
        reason += "; it changes other figures (CPU, interrupts or latency), not this answer"
    begins = _crossings(s, knob, base) if hidden and knob.kind != "switch" else ()
    return replace(effect, reason=reason, begins_at=begins)


def _reason(s: Scenario, knob: tables.Knob, values: Sequence[float], base: _Answer) -> tuple[str, bool]:
    """Why a knob does nothing, and whether another value of it could matter."""
    name, end = knob.name, tables.endpoint(s.path)
    if name in end.fixed:
        return f"{s.path} fixes it at {str(end.fixed[name]).lower()}", False
    if name in ONLY_FOR and s.workload != ONLY_FOR[name]:
        return f"it acts on {ONLY_FOR[name]} only, and this is {s.workload}", False
    if name in ARRIVALS:
        if s.load.kind == "max":
            return "it shapes packets that are offered at a rate; at load max the ring is always full", False
        return "how packets arrive changes waits and loss, not what is carried while nothing is lost", False
    if name == "dedicated_nic":
        return "by itself it does nothing: it permits zero_copy_rx", False
    if name in MODERATION:
        return _moderation_reason(s, name, values, base)
    if name in ("queues", "flows", "vcpus"):
        return _parallel_reason(s, name, base)
    return _stage_reason(s, knob, values, base)


def _chains(s: Scenario) -> tuple[Chain, ...]:
    way = compose.scenario_ways(s)
    return (way.forward, way.reverse) if s.workload == "rr" else (way.forward,)


def _moderation_reason(s: Scenario, name: str, values: Sequence[float], base: _Answer) -> tuple[str, bool]:
    receivers = [tables.endpoint(chain.receiver.name).device for chain in _chains(s)]
    timers = [t for chain in _chains(s) if (t := compose.timer(s, chain)) is not None]
    if not timers:
        return f"no NIC interrupts the receiver of {s.path} in {s.topology}: there is no timer to set", False
    if name == "pf_rx_usecs" and set(receivers) == {"vf"}:
        return "the receivers here are virtual functions", False
    devices = ", ".join(dict.fromkeys(t.device for t in timers))
    if all(t.kind == "none" for t in timers):
        return f"{devices} has no interrupt moderation", False
    for value in values:
        found = [t for c in _chains(s) if (t := compose.timer(_with(s, name, value), c)) is not None]
        complaints = [w for t in found for w in t.warnings if not t.honoured]
        if complaints:
            return f"the device does not honour it: {complaints[0]}", False
    if name == "rx_frames":
        return "the timer alone decides here: a cap on frames is not reached by what is in flight", False
    if s.workload != "rr":
        return "a timer spaces interrupts; it does not set the pace of the busiest resource", False
    tau = max(t.interval_s or 0.0 for t in timers)
    if any("locked" in part for part in base.regime):
        return "the longer timer, that of the other end, decides", name == "rx_usecs"
    return (
        f"hidden: the interrupt throttle of {devices} ({format_seconds(tau)}) is shorter than the round trip"
        f" ({format_seconds(base.main)})",
        name != "adaptive_rx",
    )


def _parallel_reason(s: Scenario, name: str, base: _Answer) -> tuple[str, bool]:
    if s.workload == "rr":
        return "one connection uses one queue and one vCPU at a time", False
    if name == "queues" and s.knobs["flows"] <= s.knobs["queues"]:
        return f"flows {s.knobs['flows']:g}: each further queue needs a flow of its own", False
    if name == "flows" and s.knobs["queues"] <= s.knobs["flows"]:
        return f"queues {s.knobs['queues']:g}: further flows share them", False
    if name == "vcpus" and min(s.knobs["queues"], s.knobs["flows"]) <= s.knobs["vcpus"]:
        return f"queues {s.knobs['queues']:g}, flows {s.knobs['flows']:g}: further vCPUs have nothing to do", False
    return f"hidden behind the bottleneck, {_bottleneck(s)}", True


def _bottleneck(s: Scenario) -> str:
    return solver.predict(s).bottleneck


def _used_words(s: Scenario, chain: Chain) -> dict[str, Any]:
    return compose.settle(s, chain, s.workload, dict.fromkeys(compose.POLLS, 0.0)).words


def _cutting_knobs(workload: str) -> set[str]:
    """Words that decide how a message is cut into packets, segments and notifications."""
    rests_on = evaluate.module(False).TRAFFIC[workload][3]
    return {knob for word in ("packets", "segments") for knob in rests_on[word]}


def _vsock_words(workload: str, word: str | None) -> set[str]:
    """Counts of vsock that rest on a word which nothing else rests on."""
    part = evaluate.module(False).TRAFFIC.get(f"{workload}_vsock")
    if part is None or word not in part[1] or word in _cutting_knobs(workload):
        return set()
    return set(part[2])


def _stage_reason(s: Scenario, knob: tables.Knob, values: Sequence[float], base: _Answer) -> tuple[str, bool]:
    words = {knob.word or ("link_bytes_s" if knob.name == "link_gbps" else knob.name)}
    words |= _vsock_words(s.workload, knob.word)
    if knob.word not in _cutting_knobs(s.workload):
        rests_on = evaluate.module(False).TRAFFIC[s.workload][3]
        words |= {word for word, knobs in rests_on.items() if knob.word in knobs}
    for chain in _chains(s):
        before = _used_words(s, chain)
        for value in values:
            after = _used_words(_with(s, knob.name, value), chain)
            words |= {word for word, x in after.items() if before.get(word) != x}
    if _is_law(s, knob.name):
        return (_locked(base) if s.workload == "rr" else f"hidden behind the bottleneck, {_bottleneck(s)}"), True
    rows = evaluate.stage_rows()
    users = [name for name, row in rows.items() if words & set(row.words)]
    here = [name for name in dict.fromkeys(n.stage for c in _chains(s) for n in c.nodes) if name in users]
    if not here:
        if users:
            return f"no stage of this path uses it; {_listed(users)} {'does' if len(users) == 1 else 'do'}", False
        if knob.word in _cutting_knobs(s.workload):
            return (
                f"it cuts messages into pieces, and messages of {format_bytes(s.knobs['size'])} stay as they are",
                True,
            )
        return f"nothing in {s.workload} on this path depends on it", False
    if not _times_change(s, knob.name, values):
        return f"{_listed(here)} could feel it, but nothing changes for such messages and settings", True
    if s.workload == "rr":
        return _locked(base), True
    return f"hidden behind the bottleneck, {_bottleneck(s)}: it changes {_listed(here)}", True


def _is_law(s: Scenario, name: str) -> bool:
    """Whether a knob acts on the law of a workload and on no stage."""
    return ONLY_FOR.get(name) == s.workload and name not in compose.POLLS


def _locked(base: _Answer) -> str:
    return f"locked by interrupt moderation: the cycle is the timer, {format_seconds(base.main)}"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_STAGES} more" if len(names) > MOST_STAGES else ""
    return ", ".join(names[:MOST_STAGES]) + more


def _times_change(s: Scenario, name: str, values: Sequence[float]) -> bool:
    costs = compose.parameter_values(s)
    for chain in _chains(s):
        before = evaluate.seconds(chain.nodes, _used_words(s, chain), costs, gradient=False)
        for value in values:
            after = _used_words(_with(s, name, value), chain)
            if evaluate.seconds(chain.nodes, after, costs, gradient=False) != before:
                return True
    return name in compose.POLLS


def _crossings(s: Scenario, knob: tables.Knob, base: _Answer) -> tuple[float, ...]:
    """The nearest values below and above from which a knob changes the answer, by bisection on the prediction."""
    now = s.knobs[knob.name]
    start = now if now else FIRST_TRIAL.get(knob.name, max(knob.least, 1.0))

    def moved(value: float) -> bool:
        return _change(_answer(_with(s, knob.name, value)).main, base.main) != 0.0

    found = []
    for stride, limit in ((1 / STRIDE, knob.least), (STRIDE, knob.most)):
        still, value = start, start
        while not moved(value) and value != limit and value > SAME:
            still = value
            value = min(max(value * stride, knob.least), knob.most)
        if value == start or not moved(value):
            continue
        for _ in range(BISECTIONS):
            middle = math.sqrt(still * value)
            still, value = (still, middle) if moved(middle) else (middle, value)
        found.append(math.ceil(value - SAME * value) if knob.kind in WHOLE and stride > 1 else value)
    return tuple(found)


def idle_settings(s: Scenario, given: Iterable[str]) -> Mapping[str, str]:
    """Of the settings that a user gave, those that change nothing, not even against the default: name -> reason."""
    base = _answer(s)
    end = tables.endpoint(s.path)
    out: dict[str, str] = {}
    for name in given:
        if name == "load" and s.workload != "packets":
            out[name] = f"an offered load acts on packets only, and this is {s.workload}"
        elif name == "device" and not any(compose.device_of(s, c) == s.device for c in _chains(s)):
            out[name] = f"no receiver of {s.path} in {s.topology} is interrupted by such a device"
        elif name == "direction" and (s.workload == "rr" or s.topology not in ONE_GUEST):
            out[name] = "a round trip goes both ways" if s.workload == "rr" else f"{s.topology} is the same both ways"
        elif name in tables.knobs() and name not in end.fixed:
            if _changes_at(s, name, _default(s, name), base):
                continue
            effect = _effect(s, tables.knob(name), base)
            if not effect.matters:
                out[name] = effect.reason
        elif name in s.parameters and name not in _used_costs(s):
            out[name] = "no stage of this path pays it"
    return out


def _used_costs(s: Scenario) -> set[str]:
    timers = [t.parameter for c in _chains(s) if (t := compose.timer(s, c)) is not None and t.parameter]
    return {"memory_bus_bytes_s", *timers}.union(*(compose.used_parameters(c) for c in _chains(s)))


def _default(s: Scenario, name: str) -> float | None:
    """What a knob would be worth if nobody had set it."""
    asked = scenario(path=s.path, topology=s.topology, workload=s.workload, profile=s.profile)
    value: float | None = asked.knobs[name]
    return value


def _changes_at(s: Scenario, name: str, value: float | None, base: _Answer) -> bool:
    return value != s.knobs[name] and _change(_answer(_with(s, name, value)).main, base.main) != 0.0


def bibliography(p: Prediction) -> tuple[Source, ...]:
    """Every source that a prediction rests on; those of the NIC driver too where its moderation was in force."""
    keys = dict.fromkeys((*p.sources, *tables.endpoint(p.scenario.path).cites))
    drivers = dict.fromkeys(
        key
        for chain in _chains(p.scenario)
        if (found := compose.timer(p.scenario, chain)) is not None
        for key in moderation.devices()[found.device].cites
    )
    return tuple(source(key) for key in (*keys, *(k for k in drivers if k not in keys)))


def source(key: str) -> Source:
    """Look a source up among those of costs and those of drivers; raises UnknownName."""
    found = tables.references().get(key)
    if found is not None:
        return found
    row = moderation.references().get(key)
    if row is None:
        known = (*tables.references(), *moderation.references())
        raise UnknownName("source", key, nearest(key, known))
    return Source(key=key, title=row["title"], venue=row.get("venue", ""), year=row.get("year"))


def workloads_of(path: str) -> tuple[Scenario, ...]:
    """The default scenario of a path under each workload that it can carry."""
    out = []
    for workload in tables.WORKLOADS:
        try:
            out.append(scenario(path=path, workload=workload))
        except VmodelError:
            continue
    return tuple(out)


def active_knobs(path: str) -> tuple[str, ...]:
    """The knobs that change something on a path, whatever the workload."""
    asked = [s for one in workloads_of(path) for s in _variants(one)]
    bases = [_answer(s) for s in asked]
    pairs = list(zip(asked, bases, strict=True))
    return tuple(name for name, k in tables.knobs().items() if any(_moves(s, k, base) for s, base in pairs))


def _variants(s: Scenario) -> tuple[Scenario, ...]:
    """A scenario as it is, and with long messages, two queues and no moderation, both ways where they differ."""
    off = {"rx_usecs": 0.0, "pf_rx_usecs": 0.0, "adaptive_rx": 0.0}
    bare = replace(s, knobs={**s.knobs, **off, "size": LONG_BYTES, "queues": 2.0, "flows": 2.0, "vcpus": 2.0})
    return (s, bare, replace(bare, direction="from-vm")) if s.topology in ONE_GUEST else (s, bare)


def _moves(s: Scenario, knob: tables.Knob, base: _Answer) -> bool:
    if knob.name in tables.endpoint(s.path).fixed:
        return False
    return any(_change(_answer(_with(s, knob.name, v)).main, base.main) != 0.0 for v in _other_values(s, knob))
