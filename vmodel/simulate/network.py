"""A scenario as a network of stations that SimPy can run: what a message visits, in order, with times drawn at random.

Only the stage times come from the model. Waiting, loss, wake-ups and interrupts happen; no law of theirs is used:

- a resource is a first-come first-served server with a ring of `ring_size` places; who finds it full is lost
- a delay holds nobody
- what a worker pays once a turn is paid by the first of those that it takes together
- a resource that is interrupted, or sleeps, serves until its ring is empty; who comes after that raises its alarm, and
  all who come before it serves again wait for it: a moderation timer (a throttle keeps interrupts at a distance, a
  hold-off timer starts with the first packet), the work of the interrupt on the way, the wake-ups of what has been idle
  longer than its poll window
- an adaptive timer is set anew at each interrupt, from the rate that the device has seen lately
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy

from vmodel.core.path import Chain, Node
from vmodel.core.records import Scenario
from vmodel.library.moderation import Moderation, devices
from vmodel.solve import compose, evaluate
from vmodel.units import BITS_PER_BYTE, US_PER_S

Times = list[float]  # one for each message
MEMORY_BUS = "memory bus"
STREAM_RINGS = 2  # messages of a stream without a window, in rings: enough to keep the slowest busy
NO_WORK_S = 1e-15  # less than this is no visit
ARRIVAL_STAGE = "idle_exit"  # with it, or with the interrupt itself, the receiver's side of an interrupt begins


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One stage's time: its mean and its squared coefficient of variation."""

    mean_s: float
    scv: float

    def draw(self, random: numpy.random.Generator, count: int) -> numpy.ndarray[Any, Any]:
        """Gamma distributed times, constant ones without variability."""
        if self.scv <= 0 or self.mean_s <= 0:
            return numpy.full(count, self.mean_s)
        return random.gamma(1 / self.scv, self.mean_s * self.scv, count)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmStep:
    """Work of an interrupt at some resource, or the wake-up of a resource that has polled so long before it slept."""

    part: Part
    resource: str | None = None  # where the work is done; None: at the resource that is alarmed
    window_s: float | None = None  # of a wake-up; None: work that every interrupt brings


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What is paid once for those that a resource takes together: all that wait, but no more than so many."""

    part: Part
    most: int


@dataclass(slots=True, kw_only=True)
class Visit:
    """A turn at a resource, or a delay (no resource); the alarm that has to come first where nobody is being served."""

    resource: str | None
    direction: str
    parts: list[Part] = field(default_factory=list)
    alarm: list[AlarmStep] = field(default_factory=list)
    blocked: list[Part] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    timer: Moderation | None = None
    timer_s: float = 0.0
    longest_s: float | None = None  # of a timer that adapts to the rate

    @property
    def moderated(self) -> bool:
        """Whether a timer stands between the frame and its interrupt."""
        return self.timer is not None and self.timer.kind != "none" and self.timer_s > 0

    @property
    def mean_s(self) -> float:
        """Mean time of a visit where turns are as large as can be."""
        return sum(p.mean_s for p in self.parts) + sum(t.part.mean_s / t.most for t in self.turns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """The visits of one message and the facts of source and rings."""

    visits: tuple[Visit, ...]
    workload: str
    rate_per_s: float | None  # of a Poisson source; None: closed loop or saturated source
    in_flight: int | None  # of a closed loop
    places: int
    servers: Mapping[str, int]
    flows: int
    packets: float  # packets of one message
    batch: int  # messages that a saturated source hands over at a time
    pieces: int  # a message larger than the window crosses in so many pieces

    def demands(self) -> dict[str, float]:
        """Seconds per message at each resource."""
        found: dict[str, float] = {}
        for visit in self.visits:
            if visit.resource is not None:
                found[visit.resource] = found.get(visit.resource, 0.0) + visit.mean_s
        return found

    def delay_s(self) -> float:
        """Seconds per message that hold nobody, wake-ups and hold-off timers included."""
        idle = sum(v.mean_s for v in self.visits if v.resource is None)
        alarms = sum(step.part.mean_s for v in self.visits for step in v.alarm)
        return idle + alarms + sum(v.timer_s for v in self.visits if v.timer is not None and v.timer.kind == "holdoff")


def network(s: Scenario) -> Network:
    """Lay out a scenario."""
    way = compose.scenario_ways(s)
    parameters = compose.parameter_values(s)
    polls = dict.fromkeys(compose.POLLS, 0.0)  # wake-ups in full; polling is a window of time here
    settled = compose.settle(s, way.forward, s.workload, polls, compose.mean_size(s))
    alone: dict[str, Any] = dict.fromkeys(compose.SHARED, 1.0) if s.workload == "packets" else {}
    if compose.overlaps(s):
        settled, alone = compose.overlapping(settled)
    visits = _visits(s, way.forward, settled, parameters, alone, direction="there")
    size, window = float(compose.mean_size(s)), s.knobs["socket_buffer_bytes"]
    places = int(s.knobs["ring_size"])
    in_flight: int | None = None
    rate, pieces, servers = None, 1, _servers(s)
    if s.workload == "rr":
        visits += _visits(s, way.reverse, settled, parameters, alone, direction="back")
        in_flight = int(s.knobs["in_flight"]) if s.load.kind == "max" else None
        servers = servers if compose.overlaps(s) else {}
    elif s.workload == "stream":
        in_flight = STREAM_RINGS * places
        if window is not None:
            in_flight, pieces = max(1, int(window // size)), max(1, -int(-size // window))
            acknowledged = compose.settle(s, way.reverse, "rr", polls, compose.ACKNOWLEDGEMENT_BYTES)
            back = _visits(s, way.reverse, acknowledged, parameters, alone, direction="back")
            visits += [_holds_nobody(v) for v in back]
    elif s.knobs["forwards"]:  # the receiver sends each frame out again
        visits = _joined(visits, _visits(s, way.reverse, settled, parameters, alone, direction="there"))
    if s.load.kind != "max":
        rate = s.load.value / (size * BITS_PER_BYTE) if s.load.kind == "throughput_bps" else s.load.value
    onward = way.reverse.nodes if s.workload == "packets" and s.knobs["forwards"] else ()
    moved = evaluate.bus_bytes((*way.forward.nodes, *onward), settled.words)
    net = Network(
        visits=tuple(visits),
        workload=s.workload,
        rate_per_s=rate,
        in_flight=in_flight,
        places=places,
        servers=servers,
        flows=int(s.knobs["flows"]),
        packets=float(settled.words["packets"]),
        batch=places if visits[0].resource is None else max([1, *(turn.most for turn in visits[0].turns)]),
        pieces=pieces,
    )
    return _with_bus(net, moved / parameters["memory_bus_bytes_s"])


def _joined(there: list[Visit], onward: list[Visit]) -> list[Visit]:
    """The way on from where the way there ends; work at the same resource is one turn."""
    first = onward[0]
    if there[-1].resource != first.resource or first.alarm or first.turns:
        return there + onward
    there[-1].parts.extend(first.parts)
    return there + onward[1:]


def _with_bus(net: Network, bus_s: float) -> Network:
    """The memory bus works beside the other resources; it is a station of its own only where it is the slowest."""
    if net.workload == "rr" or bus_s <= max(v / net.servers.get(kind(k), 1) for k, v in net.demands().items()):
        return net
    bus = Visit(resource=MEMORY_BUS, direction="there", parts=[Part(mean_s=bus_s, scv=0.0)])
    return replace(net, visits=(*net.visits, bus))


def kind(resource: str) -> str:
    """The class of a resource, without its place."""
    return resource.partition("|")[0]


def _servers(s: Scenario) -> dict[str, int]:
    """Queues work side by side, each with the flows that fall to it; the guest has no more hands than vCPUs."""
    queues = int(min(s.knobs["queues"], s.knobs["flows"]))
    return {
        "vhost worker": queues,
        "host softirq CPU": queues,
        "guest vCPU": int(min(queues, s.knobs["vcpus"])),
    }


def _holds_nobody(visit: Visit) -> Visit:
    """An acknowledgement takes its time, what it costs the processors is part of the message's own stages."""
    return Visit(resource=None, direction=visit.direction, parts=visit.parts, timer=visit.timer, timer_s=visit.timer_s)


def _visits(
    s: Scenario,
    way: Chain,
    settled: compose.Settled,
    parameters: Mapping[str, float],
    alone: Mapping[str, Any],
    *,
    direction: str,
) -> list[Visit]:
    """Stages in a row at one resource are one turn there; wake-ups and interrupts belong to the resource that follows.

    A resource on which a way lays nothing but work of an interrupt is part of the alarm of the next one.
    """
    leg = compose.leg(s, way, settled, parameters, direction=direction, gradient=False)
    rows = evaluate.stage_rows()
    batch = max(1, round(float(settled.words["taken"])))
    taken = {k: x for k, x in alone.items() if k in ("taken", "fetch_batch") and batch > 1}
    turns = [x / max(1 - 1 / batch, NO_WORK_S) for x in _more(settled, leg.nodes, parameters, taken)]
    told = {k: x for k, x in alone.items() if k in ("kicks", "interrupts")}
    notices = _more(settled, leg.nodes, parameters, told)
    timed = leg.timer is not None and leg.timer.kind != "none" and float(leg.timer_s or 0.0) > 0
    gate = _gate([n.stage for n in leg.nodes]) if timed else None
    moderated = False
    out: list[Visit] = []
    waiting: list[AlarmStep] = []
    shared: dict[str, list[Part]] = {}  # what a frame pays of interrupts that many share
    for index, (n, seconds, when) in enumerate(zip(leg.nodes, leg.seconds, leg.when, strict=True)):
        scv = float(rows[n.stage].variability)
        moderated = moderated or index == gate
        if when == "idle":
            polled = [p for p in compose.POLLS if p in rows[n.stage].words]
            window_s = max((float(s.knobs[p]) / US_PER_S for p in polled), default=0.0)
            if seconds > 0:
                waiting.append(AlarmStep(part=Part(mean_s=float(seconds), scv=scv), window_s=window_s))
            continue
        if when == "blocked":
            target = next((v for v in reversed(out) if v.resource == n.resource), None)
            if s.workload == "stream" and seconds > 0 and target is not None:
                target.blocked.append(Part(mean_s=float(seconds), scv=scv))
            continue
        mean = float(seconds) - turns[index] / batch  # what is left without a turn's share
        notice = notices[index]
        if not told.keys().isdisjoint(rows[n.stage].words):
            if notice > NO_WORK_S:
                waiting.append(AlarmStep(part=Part(mean_s=notice, scv=scv), resource=n.resource))
            if n.resource is not None and mean > NO_WORK_S:
                shared.setdefault(n.resource, []).append(Part(mean_s=mean, scv=scv))
            continue
        if mean <= NO_WORK_S and turns[index] <= NO_WORK_S:
            continue
        if not out or out[-1].resource != n.resource:
            out.append(Visit(resource=n.resource, direction=direction))
        out[-1].parts.append(Part(mean_s=mean, scv=scv))
        if turns[index] > NO_WORK_S:
            out[-1].turns.append(Turn(part=Part(mean_s=turns[index], scv=scv), most=batch))
        if n.resource is not None:
            out[-1].parts.extend(shared.pop(n.resource, []))
            _elsewhere(out, shared, direction)
            out[-1].alarm.extend(replace(w, resource=None) if w.resource == n.resource else w for w in waiting)
            waiting = []
            if moderated and leg.timer is not None:
                out[-1].timer, out[-1].timer_s = leg.timer, float(leg.timer_s)
                out[-1].longest_s = _longest(leg.timer) if s.workload == "packets" else None
                moderated, gate = False, None
    if waiting:
        out.append(Visit(resource=None, direction=direction, parts=[w.part for w in waiting]))
    return out


def _elsewhere(out: list[Visit], shared: dict[str, list[Part]], direction: str) -> None:
    """Work for interrupts that another resource does: in its turn where the way came by it, else in one of its own."""
    for name, parts in shared.items():
        there = next((v for v in reversed(out[:-1]) if v.resource == name), None)
        if there is None:
            there = Visit(resource=name, direction=direction)
            out.insert(len(out) - 1, there)
        there.parts.extend(parts)
    shared.clear()


def _longest(timer: Moderation) -> float | None:
    """The longest interval of a timer that adapts."""
    if not timer.adaptive:
        return None
    return max((tier.usecs / US_PER_S for tier in devices()[timer.device].tiers), default=None)


def _more(
    settled: compose.Settled, nodes: Sequence[Node], parameters: Mapping[str, float], alone: Mapping[str, Any]
) -> list[float]:
    """Of each stage: seconds that a message by itself costs more than one of many."""
    if not alone:
        return [0.0] * len(nodes)
    shared = evaluate.seconds(nodes, settled.words, parameters, gradient=False)
    lone = evaluate.seconds(nodes, {**settled.words, **alone}, parameters, gradient=False)
    return [max(float(x) - float(y), 0.0) for x, y in zip(lone, shared, strict=True)]


def _gate(stages: Sequence[str]) -> int:
    """Where the receiver's NIC interrupts: before the processor leaves its idle state, or before the handler."""
    found = (i for i, name in enumerate(stages) if name == ARRIVAL_STAGE or name.endswith("interrupt"))
    return next(found, len(stages) - 1)
