"""A scenario as a network of stations that SimPy can run: what a message visits, in order, with times drawn at random.

Only the stage times come from the model. Waiting, loss, wake-ups and interrupts happen; no law of theirs is used:

- a resource is a first-come first-served server with a ring of `ring_size` places; who finds it full is lost
- a delay holds nobody
- what a worker pays once a turn, and an end once an interrupt, is paid by the first of those that wait together
- a sleeping resource is woken by who finds it idle longer than its poll window, and is held while it wakes up
- a throttle lets interrupts through at a minimum distance, a hold-off timer starts with the first packet; everybody
  who waits for the interrupt gets through with it
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy

from vmodel.core.path import Chain, Node
from vmodel.core.records import Scenario
from vmodel.library.moderation import Moderation
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
class WakeUp:
    """What it costs whoever finds a resource asleep, and how long the resource polls before it sleeps."""

    part: Part
    window_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What is paid once for those that a resource takes together: all that wait, but no more than so many."""

    part: Part
    most: int


@dataclass(slots=True, kw_only=True)
class Visit:
    """A turn at a resource, or a delay (no resource); an interrupt (with a timer) that has to come first."""

    resource: str | None
    direction: str
    parts: list[Part] = field(default_factory=list)
    wakes: list[WakeUp] = field(default_factory=list)
    blocked: list[Part] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    timer: Moderation | None = None
    timer_s: float = 0.0

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
        wakes = sum(w.part.mean_s for v in self.visits for w in v.wakes)
        return idle + wakes + sum(v.timer_s for v in self.visits if v.timer is not None and v.timer.kind == "holdoff")


def network(s: Scenario) -> Network:
    """Lay out a scenario."""
    way = compose.scenario_ways(s)
    parameters = compose.parameter_values(s)
    polls = dict.fromkeys(compose.POLLS, 0.0)  # wake-ups in full; polling is a window of time here
    settled = compose.settle(s, way.forward, s.workload, polls)
    visits = _visits(s, way.forward, settled, parameters, "there")
    size, window = float(s.knobs["size"]), s.knobs["socket_buffer_bytes"]
    places = int(s.knobs["ring_size"])
    in_flight: int | None = None
    rate, pieces, servers = None, 1, _servers(s)
    if s.workload == "rr":
        visits += _visits(s, way.reverse, settled, parameters, "back")
        in_flight, servers = int(s.knobs["in_flight"]), {}
    elif s.workload == "stream":
        in_flight = STREAM_RINGS * places
        if window is not None:
            in_flight, pieces = max(1, int(window // size)), max(1, -int(-size // window))
            acknowledged = compose.settle(s, way.reverse, "rr", polls, compose.ACKNOWLEDGEMENT_BYTES)
            visits += [_holds_nobody(v) for v in _visits(s, way.reverse, acknowledged, parameters, "back")]
    elif s.load.kind != "max":
        rate = s.load.value / (size * BITS_PER_BYTE) if s.load.kind == "throughput_bps" else s.load.value
    moved = evaluate.bus_bytes(way.forward.nodes, settled.words)
    net = Network(
        visits=tuple(visits),
        workload=s.workload,
        rate_per_s=rate,
        in_flight=in_flight,
        places=places,
        servers=servers,
        flows=int(s.knobs["flows"]),
        packets=float(settled.words["packets"]),
        batch=max([1, *(turn.most for turn in visits[0].turns)]),
        pieces=pieces,
    )
    return _with_bus(net, moved / parameters["memory_bus_bytes_s"])


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
    s: Scenario, way: Chain, settled: compose.Settled, parameters: Mapping[str, float], direction: str
) -> list[Visit]:
    """Stages in a row at one resource are one turn there; a wake-up belongs to the resource that comes after it."""
    leg = compose.leg(s, way, settled, parameters, direction=direction, gradient=False)
    rows = evaluate.stage_rows()
    timed = leg.timer is not None and leg.timer.kind != "none" and float(leg.timer_s or 0.0) > 0
    gate = _gate([n.stage for n in leg.nodes]) if timed else None
    once = _turns(s, settled, leg.nodes, parameters)
    out: list[Visit] = []
    waiting: list[WakeUp] = []
    for index, (n, seconds, when) in enumerate(zip(leg.nodes, leg.seconds, leg.when, strict=True)):
        scv = float(rows[n.stage].variability)
        part = Part(mean_s=float(seconds), scv=scv)
        turns = [Turn(part=Part(mean_s=x, scv=scv), most=most) for x, most in once[index] if n.resource is not None]
        part = replace(part, mean_s=part.mean_s - sum(turn.part.mean_s / turn.most for turn in turns))
        if index == gate:
            out.append(Visit(resource=None, direction=direction, timer=leg.timer, timer_s=float(leg.timer_s)))
        if when == "idle":
            polled = [p for p in compose.POLLS if p in rows[n.stage].words]
            window_s = max((float(s.knobs[p]) / US_PER_S for p in polled), default=0.0)
            if part.mean_s > 0:
                waiting.append(WakeUp(part=part, window_s=window_s))
            continue
        if when == "blocked":
            target = next((v for v in reversed(out) if v.resource == n.resource), None)
            if s.workload == "stream" and part.mean_s > 0 and target is not None:
                target.blocked.append(part)
            continue
        if part.mean_s <= NO_WORK_S and not turns:
            continue
        if not out or out[-1].resource != n.resource or out[-1].timer is not None:
            out.append(Visit(resource=n.resource, direction=direction))
        out[-1].parts.append(part)
        out[-1].turns.extend(turns)
        if n.resource is not None:
            out[-1].wakes.extend(waiting)
            waiting = []
    if waiting:
        out.append(Visit(resource=None, direction=direction, parts=[w.part for w in waiting]))
    return out


def _turns(
    s: Scenario, settled: compose.Settled, nodes: Sequence[Node], parameters: Mapping[str, float]
) -> list[list[tuple[float, int]]]:
    """Of each stage: seconds that are paid once, and for how many at most.

    A stage costs frames at saturation their share of an interrupt and of a turn; alone, the whole of it.
    """
    out: list[list[tuple[float, int]]] = [[] for _ in nodes]
    if s.workload != "packets":
        return out
    words = settled.words
    shared = evaluate.seconds(nodes, words, parameters, gradient=False)
    for alone, most in (
        ({"interrupts": 1.0}, 1 / float(words["interrupts"])),
        ({"kicks": 1.0, "taken": 1.0, "fetch_batch": 1.0}, float(words["taken"])),
    ):
        if round(most) < 2:
            continue
        lone = evaluate.seconds(nodes, {**words, **alone}, parameters, gradient=False)
        for found, x, y in zip(out, lone, shared, strict=True):
            once = min((float(x) - float(y)) / (1 - 1 / most), float(y) * most)
            if once > NO_WORK_S:
                found.append((once, round(most)))
    return out


def _gate(stages: Sequence[str]) -> int:
    """Where the receiver's NIC interrupts: before the processor leaves its idle state, or before the handler."""
    found = (i for i, name in enumerate(stages) if name == ARRIVAL_STAGE or name.endswith("interrupt"))
    return next(found, len(stages) - 1)
