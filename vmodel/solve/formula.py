"""The closed form of one answer: equations from settings to the mean, as text, LaTeX and a Python function of its own.

The equations are those of the workload laws, written with the stages of one scenario. Nothing here is used to predict;
a test evaluates the written function and compares.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import sympy

from vmodel.core.path import Chain, resource_titles
from vmodel.core.records import Prediction, Scenario
from vmodel.core.symbols import KNOB_WORDS, Words
from vmodel.library import tables
from vmodel.library.catalog import STAGES
from vmodel.library.traffic import TRAFFIC, offload, packet_payload
from vmodel.solve import compose
from vmodel.solve.compile import python
from vmodel.solve.sheet import latex_name, latex_of, text_of
from vmodel.units import BITS_PER_BYTE, BPS_PER_GBPS, US_PER_S

HELPERS = """from math import ceil, floor, sqrt


def maximum(a, b):
    return a if a >= b else b


def minimum(a, b):
    return a if a <= b else b

"""
SHARED = {
    "vhost worker": "queues",
    "host softirq CPU": "queues",
    "host CPU": "queues",
    "guest vCPU": "vcpus",
    "QEMU I/O thread": "vms",
    "poll-mode core": "cores",
}
LATENCY, RATE = "latency_s", "messages_per_s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Equation:
    """One line of a closed form."""

    name: str
    text: str
    latex: str
    about: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedForm:
    """The answer as equations, the last of which is the answer, and as the text of a Python function."""

    answer: str
    unit: str
    equations: tuple[Equation, ...]
    inputs: Mapping[str, float]
    python: str

    @property
    def text(self) -> str:
        """The equations from the answer down, one a line."""
        return "\n".join(f"{e.name} = {e.text}" for e in reversed(self.equations))

    @property
    def latex(self) -> str:
        """The equations from the answer down as an align environment."""
        lines = [rf"{latex_name(e.name)} &= {e.latex}" for e in reversed(self.equations)]
        return "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    name: str
    expression: sympy.Expr
    about: str


class _Program:
    """Equations in order of need; a name that is taken by another expression gets the tag of the way it belongs to."""

    def __init__(self) -> None:
        self.steps: dict[str, _Step] = {}
        self.tag = "back"

    def add(self, name: str, expression: sympy.Expr, about: str = "") -> sympy.Symbol:
        chosen, count = name, 1
        while chosen in self.steps and self.steps[chosen].expression != expression:
            chosen = f"{name}_{self.tag}" if count == 1 else f"{name}_{self.tag}_{count}"
            count += 1
        self.steps[chosen] = _Step(name=chosen, expression=sympy.sympify(expression), about=about)
        return _symbol(chosen)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Leg:
    chain: Chain
    times: Sequence[sympy.Expr]
    bus_bytes: sympy.Expr


def _symbol(name: str) -> sympy.Symbol:
    return sympy.Symbol(name, nonnegative=True)


def _sum(terms: Iterable[sympy.Expr]) -> sympy.Expr:
    return sympy.Add(*terms)


def _largest(terms: Sequence[sympy.Expr]) -> sympy.Expr:
    return sympy.Max(*terms, evaluate=False) if len(terms) > 1 else terms[0]


def _words(
    s: Scenario, way: Chain, polls: Mapping[str, sympy.Expr], size: float | sympy.Expr | None
) -> dict[sympy.Symbol, sympy.Expr]:
    """What each knob word is in terms of settings."""
    out = {_symbol(k.word): _symbol(name) for name, k in tables.knobs().items() if k.word is not None}
    if s.knobs["descriptor_batch"] is None:
        out[_symbol("descriptor_batch")] = _symbol("batch")
    if size is not None:
        out[_symbol("size_bytes")] = size if isinstance(size, sympy.Expr) else sympy.Float(size)
    out.update({_symbol(name): share for name, share in polls.items()})
    out[_symbol("link_bytes_s")] = _symbol("link_gbps") * sympy.Float(BPS_PER_GBPS) / BITS_PER_BYTE
    out[_symbol("fills")] = sympy.Integer(int(compose.fills(way)))
    out[_symbol("merges")] = sympy.Integer(int(tables.endpoint(way.sender.name).merges and not compose.fills(way)))
    out[_symbol("direct")] = sympy.Integer(int(way.direct))
    out[_symbol("joins")] = sympy.Integer(int(compose.joins(way)))
    return out


def _shorthands(program: _Program, known: Mapping[sympy.Symbol, sympy.Expr]) -> dict[sympy.Expr, sympy.Expr]:
    """Two expressions that the counts repeat: the payload of a packet, and the packets of a full segment."""
    words = Words(KNOB_WORDS, "packet")
    payload = packet_payload(words).xreplace(known)
    mss = program.add("packet_payload", payload, "payload of a full packet")
    whole = sympy.Max(1, sympy.floor(_symbol("segment_limit_bytes") / payload), evaluate=False)
    segment = (offload(words) * whole + 1 - offload(words)).xreplace(known)
    packets = program.add("segment_packets", segment.xreplace({payload: mss}), "packets of a full segment")
    return {segment: packets, payload: mss}


def _leg(
    program: _Program,
    s: Scenario,
    way: Chain,
    workload: str,
    polls: Mapping[str, sympy.Expr],
    *,
    size: float | sympy.Expr | None = None,
) -> _Leg:
    """Add the counts and the stage times of one way."""
    known = _words(s, way, polls, size)
    counts = next(t.counts for t in TRAFFIC if t.name == workload)
    needed = {word for node in way.nodes for word in STAGES[node.stage].words}
    short = _shorthands(program, known)
    for word, expression in counts.items():
        if word in needed:
            known[_symbol(word)] = program.add(word, expression.xreplace(known).xreplace(short))
    times = [
        program.add(f"t_{node.stage}", STAGES[node.stage].seconds.xreplace(known), STAGES[node.stage].about)
        for node in way.nodes
    ]
    bus = _sum(STAGES[node.stage].bus_bytes.xreplace(known) for node in way.nodes)
    return _Leg(chain=way, times=times, bus_bytes=bus)


def _paid(leg: _Leg, *when: str) -> list[sympy.Expr]:
    return [t for n, t in zip(leg.chain.nodes, leg.times, strict=True) if STAGES[n.stage].when in when]


def _demands(
    legs: Sequence[_Leg], when: str = "always", over: Mapping[str, sympy.Expr] | None = None
) -> dict[str, sympy.Expr]:
    out: dict[str, sympy.Expr] = {}
    for leg in legs:
        for n, t in zip(leg.chain.nodes, leg.times, strict=True):
            if n.resource is not None and STAGES[n.stage].when == when:
                out[n.resource] = out.get(n.resource, sympy.Integer(0)) + t / (over or {}).get(n.resource, 1)
    return out


def _named(program: _Program, demands: Mapping[str, sympy.Expr]) -> dict[str, sympy.Expr]:
    titles = resource_titles(list(demands))
    return {
        key: program.add(
            "d_" + re.sub(r"[^A-Za-z0-9]+", "_", titles[key]).strip("_").lower(), e, f"busy time of the {titles[key]}"
        )
        for key, e in demands.items()
    }


def _timer(s: Scenario, chain: Chain, label: str, values: dict[str, float]) -> tuple[str, sympy.Expr]:
    """Kind and interval of the moderation timer of a way: an input, or the parameter that carries it."""
    nobody = dict.fromkeys(compose.POLLS, 0.0)
    settled = compose.settle(s, compose.scenario_ways(s).forward, "rr", nobody)
    leg = compose.leg(s, chain, settled, compose.parameter_values(s), direction=label, gradient=False)
    found, seconds = leg.timer, leg.timer_s
    if found is None or not seconds:
        return "none", sympy.Integer(0)
    if found.parameter is not None and found.adaptive:
        return found.kind, _symbol(found.parameter)
    values[f"timer_{label}_s"] = seconds
    return found.kind, _symbol(f"timer_{label}_s")


def _rr(program: _Program, s: Scenario, values: dict[str, float]) -> None:
    way = compose.scenario_ways(s)
    timers = [_timer(s, chain, label, values) for label, chain in (("there", way.forward), ("back", way.reverse))]
    polls: dict[str, sympy.Expr] = dict.fromkeys(compose.POLLS, sympy.Integer(0))
    if any(s.knobs[name] > 0 for name in compose.POLLS):
        asleep = _rr_cycle(program, s, way, polls, timers)
        asleep = program.add("cycle_without_polling", asleep, "what the cycle would be if nobody polled")
        for name in compose.POLLS:
            if s.knobs[name] > 0:
                covered = sympy.Min(1, _symbol(name) / sympy.Float(US_PER_S) / asleep, evaluate=False)
                polls[name] = program.add(f"{name}_share", covered, "share of the gap that polling covers")
        program.tag = "polled"
    program.add(LATENCY, _rr_cycle(program, s, way, polls, timers), "mean round trip")


def _rr_cycle(
    program: _Program,
    s: Scenario,
    way: compose.Ways,
    polls: Mapping[str, sympy.Expr],
    timers: Sequence[tuple[str, sympy.Expr]],
) -> sympy.Expr:
    legs = [_leg(program, s, chain, "rr", polls) for chain in (way.forward, way.reverse)]
    held = [tau for kind, tau in timers if kind == "holdoff"]
    cycle = _sum([t for leg in legs for t in _overlapped(program, s, leg, polls)] + held)
    if s.knobs["in_flight"] > 1:
        cycle = program.add("cycle", cycle, "one request alone")
        named = _named(program, _demands(legs))
        demands = [named[key] for key in sorted(named)]
        least = program.add(
            "busy_cycle", _symbol("in_flight") * _largest(demands), "the slowest resource is never idle: n D_max"
        )
        about = "bound of the closed loop; what alarms gather and irregular work add to it is computed, not written"
        cycle = program.add("loaded_cycle", _largest([cycle, least]), about)
    throttles = [tau - _symbol("think_us") / sympy.Float(US_PER_S) for kind, tau in timers if kind == "throttle"]
    return _largest([cycle, *throttles]) if throttles else cycle


def _overlapped(program: _Program, s: Scenario, leg: _Leg, polls: Mapping[str, sympy.Expr]) -> list[sympy.Expr]:
    """Stages of a message, or of its first piece and the work of the slowest resource on the further ones."""
    settled = compose.settle(s, leg.chain, "rr", dict.fromkeys(compose.POLLS, 0.0))
    piece = compose.piece_bytes(settled.words, compose.scenario_ways(s).forward)
    if s.knobs["size"] <= piece or not s.knobs["overlap"]:
        return _paid(leg, "always", "idle")
    tag, program.tag = program.tag, "piece"
    first = _leg(program, s, leg.chain, "rr", polls, size=piece)
    program.tag = tag
    whole, small = _demands([leg]), _demands([first])
    times = [
        t if n.resource is None or STAGES[n.stage].when != "always" else y
        for n, t, y in zip(leg.chain.nodes, leg.times, first.times, strict=True)
        if STAGES[n.stage].when in ("always", "idle")
    ]
    return [*times, _largest([whole[key] - small[key] for key in whole])]


def _shares(s: Scenario, resources: Iterable[str]) -> dict[str, sympy.Expr]:
    """By how many the work of each resource is divided."""
    queues = sympy.Min(_symbol("queues"), _symbol("flows"), evaluate=False)
    vcpus = sympy.Min(queues, _symbol("vcpus"), evaluate=False)
    whole = min(s.knobs["queues"], s.knobs["flows"])
    vms, beside = _symbol("vms"), s.knobs["vms"]
    ways = {
        "queues": (queues * vms, whole * beside),
        "vcpus": (vcpus * vms, min(whole, s.knobs["vcpus"]) * beside),
        "vms": (vms, beside),
        "cores": (_symbol("switch_cores"), s.knobs["switch_cores"]),
    }
    out = {}
    for resource in resources:
        n, value = ways.get(SHARED.get(resource.partition("|")[0], ""), (sympy.Integer(1), 1))
        if value != 1:
            out[resource] = n / (1 + _symbol("sharing_loss") * (n - 1))
    return out


def _spread(program: _Program, leg: _Leg, s: Scenario) -> tuple[dict[str, sympy.Expr], sympy.Expr]:
    """Demands of a one-way workload and the transit time, work divided over queues."""
    over = _shares(s, {n.resource for n in leg.chain.nodes if n.resource is not None})
    transit = _sum(
        t / over.get(n.resource or "", 1)
        for n, t in zip(leg.chain.nodes, leg.times, strict=True)
        if STAGES[n.stage].when == "always"
    )
    return _demands([leg], over=over), transit


def _bus(program: _Program, leg: _Leg) -> sympy.Expr:
    return program.add("d_memory_bus", leg.bus_bytes / _symbol("memory_bus_bytes_s"), "busy time of the memory bus")


def _stream(program: _Program, s: Scenario, values: dict[str, float]) -> None:
    way = compose.scenario_ways(s)
    polls = dict.fromkeys(compose.POLLS, sympy.Integer(0))
    leg = _leg(program, s, way.forward, "stream", polls)
    demands, transit = _spread(program, leg, s)
    sender = next((n.resource for n in way.forward.nodes if n.resource is not None), None)
    blocked = _demands([leg], "blocked", _shares(s, demands))
    named = _named(program, demands)
    if blocked and sender in named:
        rest = _largest([e for key, e in named.items() if key != sender])
        share = program.add(
            "blocked_share", sympy.Max(0, 1 - named[sender] / rest, evaluate=False), "share of time the sender waits"
        )
        for key, expression in blocked.items():
            named[key] = program.add(
                f"blocked_{len(program.steps)}", named.get(key, sympy.Integer(0)) + expression * share, "with waking"
            )
    pace = program.add("pace", _largest([*named.values(), _bus(program, leg)]), "time per message of the busiest")
    if s.knobs["socket_buffer_bytes"] is not None:
        program.tag = "ack"
        back = _leg(program, s, way.reverse, "rr", polls, size=compose.ACKNOWLEDGEMENT_BYTES)
        timers = [_timer(s, chain, label, values) for label, chain in (("there", way.forward), ("back", way.reverse))]
        waits = _sum([tau for _, tau in timers])
        if s.knobs["size"] > s.knobs["socket_buffer_bytes"]:
            trip = program.add(
                "round_trip", _pieces(program, s, way, back, waits), "a window in pieces there, acknowledgement back"
            )
        else:
            trip = (transit + _sum(_paid(back, "always")) + waits) / _symbol("flows")
            trip = program.add("round_trip", trip, "message there, acknowledgement back, timers of both ends")
        window = _symbol("size") * trip / _symbol("socket_buffer_bytes")
        pace = program.add("window_pace", _largest([pace, window]), "the window lets so much through per round trip")
    program.add(RATE, 1 / pace, "messages per second")


def _pieces(program: _Program, s: Scenario, way: compose.Ways, back: _Leg, waits: sympy.Expr) -> sympy.Expr:
    """Time of a window that is smaller than a message: a piece with all wake-ups, the others behind it."""
    window = _symbol("socket_buffer_bytes")
    program.tag = "piece"
    piece = sympy.Min(window, _symbol("segment_limit_bytes"), evaluate=False)
    polls = dict.fromkeys(compose.POLLS, sympy.Integer(0))
    leg = _leg(program, s, way.forward, "rr", polls, size=piece)
    longest = _largest(list(_demands([leg, back]).values()))
    paid = [t for part in (leg, back) for t in _paid(part, "always", "idle")]
    count = window / piece
    return _largest([(_sum(paid) + waits + (count - 1) * longest) / _symbol("flows"), count * longest])


def _packets(program: _Program, s: Scenario, p: Prediction, values: dict[str, float]) -> None:
    way = compose.scenario_ways(s)
    polls = dict.fromkeys(compose.POLLS, sympy.Integer(0))
    leg = _leg(program, s, way.forward, "packets", polls)
    if s.knobs["forwards"]:
        back = _leg(program, s, way.reverse, "packets", polls)
        nodes = (*leg.chain.nodes, *back.chain.nodes)
        leg = _Leg(
            chain=replace(leg.chain, nodes=nodes),
            times=[*leg.times, *back.times],
            bus_bytes=leg.bus_bytes + back.bus_bytes,
        )
    demands, _ = _spread(program, leg, s)
    named = _named(program, demands)
    capacity = program.add("capacity", 1 / _largest([*named.values(), _bus(program, leg)]), "of the busiest")
    if s.load.kind == "max":
        program.add(RATE, capacity, "messages per second")
        return
    values["load"] = s.load.value
    offered = _symbol("load")
    if s.load.kind == "throughput_bps":
        offered = program.add("offered", offered / (_symbol("size") * BITS_PER_BYTE), "messages offered per second")
    values["loss"] = p.loss
    program.add(RATE, offered * (1 - _symbol("loss")), "messages per second; loss is that of the ring at this load")


def closed_form(p: Prediction) -> ClosedForm:
    """Write the answer of a prediction as equations: mean latency of rr, message rate of stream and packets.

    They hold for other values as long as a message of rr stays one piece, or stays several, and a window stays larger
    than a message, or smaller.
    """
    s = p.scenario
    program = _Program()
    values: dict[str, float] = {**compose.PROTOCOL, **compose.parameter_values(s)}
    values.update({name: float(v) for name, v in s.knobs.items() if v is not None})
    if s.workload == "rr":
        _rr(program, s, values)
    elif s.workload == "stream":
        _stream(program, s, values)
    else:
        _packets(program, s, p, values)
    steps = _needed(list(program.steps.values()))
    names = {step.name for step in steps}
    free = {str(x) for step in steps for x in step.expression.free_symbols} - names
    settings = [name for name in (*tables.knobs(), "load", "loss", *compose.PROTOCOL) if name in free]
    order = settings + sorted(free - set(settings))
    inputs = {name: values[name] for name in order}
    answer = steps[-1].name
    return ClosedForm(
        answer=answer,
        unit="s" if answer == LATENCY else "1/s",
        equations=_equations(steps, {k: inputs[k] for k in inputs if _is_switch(k)}),
        inputs=inputs,
        python=_python(p, steps, inputs),
    )


def _is_switch(name: str) -> bool:
    knob = tables.knobs().get(name)
    return knob is not None and knob.kind == "switch"


def _needed(steps: Sequence[_Step]) -> list[_Step]:
    """The steps that the last one rests on, in order."""
    wanted = {steps[-1].name}
    kept = []
    for step in reversed(steps):
        if step.name in wanted:
            kept.append(step)
            wanted |= {str(x) for x in step.expression.free_symbols}
    return kept[::-1]


def _equations(steps: Sequence[_Step], switches: Mapping[str, float]) -> tuple[Equation, ...]:
    """What a person reads: switches are put in, and what comes to nothing is left out."""
    known: dict[sympy.Symbol, sympy.Expr] = {_symbol(k): sympy.Integer(int(v)) for k, v in switches.items()}
    shown = []
    for step in steps:
        expression = step.expression.xreplace(known)
        if step is not steps[-1] and expression.is_Integer:
            known[_symbol(step.name)] = expression
            continue
        shown.append(_Step(name=step.name, expression=expression, about=step.about))
    return tuple(
        Equation(name=e.name, text=text_of(e.expression), latex=latex_of(e.expression), about=e.about)
        for e in _needed(shown)
    )


def _python(p: Prediction, steps: Sequence[_Step], inputs: Mapping[str, float]) -> str:
    s = p.scenario
    answer, unit = ("Mean round-trip latency", "s") if s.workload == "rr" else ("Messages per second", "1/s")
    about = f"{answer} [{unit}] of {s.path}, {s.topology}, {s.workload}, on {s.profile.name}."
    arguments = "".join(f"    {name}={value!r},\n" for name, value in inputs.items())
    body = "".join(f"    {step.name} = {python(step.expression)}\n" for step in steps)
    return (
        f'"""{about} Written by vmodel; needs nothing but Python."""\n\n{HELPERS}\n'
        f"def {s.workload}(\n    *,\n{arguments}):\n"
        f'    """{about} The defaults are this scenario\'s; settings in their own units, costs in SI."""\n'
        f"{body}    return {steps[-1].name}\n"
    )
