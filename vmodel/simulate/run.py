"""Run a network in SimPy and say what was seen, with 95 % confidence by batch means."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import numpy

from vmodel.errors import VmodelError
from vmodel.simulate.network import Network, Part, Visit, kind

BATCHES = 10
STUDENT_95 = 2.262157  # two-sided 95 % point of Student's law with BATCHES - 1 degrees of freedom
WARM_UP = 0.1  # share of the messages that are not looked at
FILLING = 0.3  # the same where rings have to fill first
FILLED = 3  # rounds of a closed loop before it is looked at
NEARLY_FULL = 0.95  # load from which rings take long to fill
MOST_OFFERED = 10  # messages that a saturated source offers at most, in those asked for
MOST_CORRELATED = 0.8  # of neighbouring batches; more cannot be told from so few
TELL_EVERY = 500  # messages between two signs of life
Progress = Callable[[int], None]


class NotInstalled(VmodelError, ImportError):
    """An optional package is missing."""

    def lines(self) -> tuple[str, ...]:
        return (f"this needs {self.args[0]}: pip install '{self.args[1]}'",)


def simpy_package() -> Any:
    """SimPy, which is an extra."""
    try:
        import simpy
    except ImportError:
        raise NotInstalled("SimPy", "vmodel[check]") from None
    return simpy


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A simulated figure and half the width of its 95 % confidence interval."""

    value: float
    half_width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What the simulation saw; latencies in seconds, throughput in messages per second."""

    mean_s: Estimate
    p50_s: Estimate
    p99_s: Estimate
    throughput_per_s: Estimate
    loss: Estimate
    messages: int
    lost_at: tuple[tuple[str, int], ...]


@dataclass(slots=True)
class _Station:
    """One server and its ring."""

    name: str
    server: Any
    places: float
    inside: int = 0
    freed_s: float = -math.inf
    lost: int = 0


@dataclass(slots=True)
class _Gate:
    """The interrupt of one receiver: everybody who waits for it shares it."""

    env: Any
    timer_s: float
    throttle: bool
    frames: int | None
    last_s: float = -math.inf
    waiting: Any = None
    gathered: float = 0.0

    def knock(self, packets: float) -> Any:
        """The event to wait for, None when the interrupt comes at once."""
        if self.throttle and self.waiting is None and self.env.now >= self.last_s + self.timer_s:
            self.last_s = self.env.now
            return None
        if self.waiting is None:
            self.waiting, self.gathered = self.env.event(), 0.0
            due = self.last_s + self.timer_s - self.env.now if self.throttle else self.timer_s
            self.env.process(self._ring(self.waiting, due))
        self.gathered += packets
        found = self.waiting
        if not self.throttle and self.frames and self.gathered >= self.frames:
            self._fire()
        return found

    def _ring(self, event: Any, due: float) -> Iterator[Any]:
        yield self.env.timeout(due)
        if self.waiting is event:
            self._fire()

    def _fire(self) -> None:
        event, self.waiting, self.last_s = self.waiting, None, self.env.now
        event.succeed()


@dataclass(slots=True)
class _Turns:
    """What is paid once a turn, and how many of this turn are still to come."""

    times: list[float]
    most: int
    left: int = 0


@dataclass(slots=True)
class _Step:
    """A visit with drawn times."""

    times: list[float]
    stations: list[_Station]
    gate: _Gate | None
    wakes: list[tuple[float, list[float]]]
    blocked: list[float] | None
    turns: list[_Turns]


@dataclass(slots=True)
class _Log:
    """What happened, in the order of the ends."""

    born_s: list[float] = field(default_factory=list)
    ended_s: list[float] = field(default_factory=list)
    fate: list[bool] = field(default_factory=list)  # True: delivered
    delivered: int = 0


def simulate(net: Network, messages: int, seed: int, progress: Progress | None = None) -> Seen:
    """Send so many messages through the network."""
    simpy = simpy_package()
    env = simpy.Environment()
    random = numpy.random.default_rng(seed)
    total = messages * net.pieces
    stations: dict[str, list[_Station]] = {}
    steps = [_step(simpy, env, net, visit, stations, random=random, total=total) for visit in net.visits]
    log, numbers, tell = _Log(), count(), progress or (lambda done: None)
    lossy = net.workload == "packets"

    def travel(number: int, handed_over: Any = None) -> Iterator[Any]:
        born, flow, blocked, i = env.now, number % net.flows, False, number % total
        for place, step in enumerate(steps):
            if step.gate is not None:
                fired = step.gate.knock(net.packets)
                if fired is not None:
                    yield fired
                continue
            if not step.stations:
                yield env.timeout(step.times[i])
                continue
            station = step.stations[flow % len(step.stations)]
            if lossy and station.inside >= station.places:
                station.lost += 1
                _ended(log, born, env.now, False, tell)
                return
            station.inside += 1
            hold, gap = step.times[i], env.now - station.freed_s
            if station.inside == 1:
                hold += sum(times[i] for window, times in step.wakes if gap > window)
                blocked = blocked or place == 0
            if blocked and step.blocked is not None:
                hold += step.blocked[i]
            with station.server.request() as turn:
                yield turn
                for once in step.turns:
                    if once.left <= 0:
                        once.left = min(once.most, station.inside)
                        hold += once.times[i]
                    once.left -= 1
                yield env.timeout(hold)
            station.inside -= 1
            station.freed_s = env.now
            if place == 0 and handed_over is not None:
                handed_over.succeed()
        _ended(log, born, env.now, True, tell)
        log.delivered += 1

    def closed() -> Iterator[Any]:
        while (i := next(numbers)) < total:
            yield from travel(i)

    def poisson(rate: float) -> Iterator[Any]:
        for i, gap in enumerate(random.exponential(1 / rate, total).tolist()):
            yield env.timeout(gap)
            env.process(travel(i))

    def saturated() -> Iterator[Any]:
        while (i := next(numbers)) < MOST_OFFERED * total and log.delivered < total:
            done = env.event()
            env.process(travel(i, done))
            yield done

    if net.in_flight is not None:
        for _ in range(min(net.in_flight, total)):
            env.process(closed())
    elif net.rate_per_s is not None:
        env.process(poisson(net.rate_per_s))
    else:
        for _ in range(net.batch):
            env.process(saturated())
    env.run()
    losses = tuple((s.name, s.lost) for group in stations.values() for s in group if s.lost)
    return _seen(net, log, total, losses)


def _ended(log: _Log, born: float, now: float, delivered: bool, tell: Progress) -> None:
    log.born_s.append(born)
    log.ended_s.append(now)
    log.fate.append(delivered)
    if len(log.fate) % TELL_EVERY == 0:
        tell(len(log.fate))


def _step(
    simpy: Any,
    env: Any,
    net: Network,
    visit: Visit,
    stations: dict[str, list[_Station]],
    *,
    random: numpy.random.Generator,
    total: int,
) -> _Step:
    def drawn(parts: list[Part]) -> list[float]:
        times = sum((part.draw(random, total) for part in parts), numpy.zeros(total))
        each: list[float] = (times / net.pieces).tolist()
        return each

    gate = None
    if visit.timer is not None:
        gate = _Gate(env, visit.timer_s, visit.timer.kind == "throttle", visit.timer.frames)
    at: list[_Station] = []
    if visit.resource is not None:
        name = visit.resource
        if name not in stations:
            servers = net.servers.get(kind(name), 1)
            stations[name] = [_Station(name, simpy.Resource(env), net.places) for _ in range(servers)]
        at = stations[name]
    wakes = [(w.window_s, drawn([w.part])) for w in visit.wakes]
    blocked = drawn(visit.blocked) if visit.blocked else None
    turns = [_Turns(drawn([turn.part]), turn.most) for turn in visit.turns]
    return _Step([] if gate else drawn(visit.parts), at, gate, wakes, blocked, turns)


def _seen(net: Network, log: _Log, total: int, losses: tuple[tuple[str, int], ...]) -> Seen:
    born, ended, fate = numpy.array(log.born_s), numpy.array(log.ended_s), numpy.array(log.fate)
    ends = len(fate)
    if net.in_flight is not None:  # the loop runs empty at the end
        first = max(WARM_UP * total, min(FILLED * net.in_flight, FILLING * total))
        keep = slice(int(first), max(total - net.in_flight, total // 2))
    elif net.rate_per_s is not None and net.rate_per_s * max(net.demands().values(), default=0.0) < NEARLY_FULL:
        keep = slice(int(WARM_UP * ends), ends)
    else:  # the source stops while rings are full
        keep = slice(int(FILLING * ends), max(ends - net.places * len(net.visits), ends // 2))
    begun = float(ended[max(keep.start - 1, 0)])
    born, ended, fate = born[keep], ended[keep], fate[keep]
    delays = (ended - born)[fate]
    parts = numpy.array_split(delays, BATCHES)
    lasts = numpy.array_split(ended, BATCHES)
    fates = numpy.array_split(fate, BATCHES)
    edges = [begun, *(float(part[-1]) for part in lasts)]
    rates = [
        part.sum() / (after - before) / net.pieces
        for part, before, after in zip(fates, edges[:-1], edges[1:], strict=True)
        if after > before
    ]
    overall = float(fate.sum()) / (edges[-1] - begun) / net.pieces
    return Seen(
        mean_s=Estimate(value=float(delays.mean()), half_width=_half([float(p.mean()) for p in parts])),
        p50_s=_quantile(delays, parts, 0.5),
        p99_s=_quantile(delays, parts, 0.99),
        throughput_per_s=Estimate(value=overall, half_width=_half(rates)),
        loss=Estimate(value=1 - float(fate.mean()), half_width=_half([1 - float(f.mean()) for f in fates])),
        messages=total,
        lost_at=losses,
    )


def _quantile(delays: Any, parts: list[Any], p: float) -> Estimate:
    return Estimate(
        value=float(numpy.quantile(delays, p)), half_width=_half([float(numpy.quantile(part, p)) for part in parts])
    )


def _half(batches: list[float]) -> float:
    """Half the 95 % confidence interval of a mean over batches, wider where neighbours resemble each other."""
    values = numpy.array(batches)
    away = values - values.mean()
    square = float((away * away).sum())
    alike = float((away[1:] * away[:-1]).sum()) / square if square > 0 else 0.0
    alike = min(max(alike, 0.0), MOST_CORRELATED)
    spread = float(numpy.std(values, ddof=1)) * math.sqrt((1 + alike) / (1 - alike))
    return STUDENT_95 * spread / math.sqrt(len(batches))


def product_form(net: Network) -> Network:
    """The closed network of the same demands that mean value analysis solves exactly: one turn at each, exponential."""
    visits = [
        Visit(resource=name, direction="", parts=[Part(mean_s=demand, scv=1.0)])
        for name, demand in sorted(net.demands().items())
    ]
    visits.append(Visit(resource=None, direction="", parts=[Part(mean_s=net.delay_s(), scv=1.0)]))
    return replace(net, visits=tuple(visits))
