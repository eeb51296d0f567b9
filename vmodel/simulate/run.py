"""Run a network in SimPy and say what was seen, with 95 % confidence by batch means."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import numpy

from vmodel.errors import VmodelError
from vmodel.simulate.network import Network, Part, Visit, kind
from vmodel.solve.load import ADAPTIVE_PACKETS

BATCHES = 10
STUDENT_95 = 2.262157  # two-sided 95 % point of Student's law with BATCHES - 1 degrees of freedom
WARM_UP = 0.1  # share of the messages that are not looked at
FILLING = 0.3  # the same where rings have to fill first
FILLED = 3  # rounds of a closed loop before it is looked at
NEARLY_FULL = 0.95  # load from which rings take long to fill
MOST_OFFERED = 10  # messages that a saturated source offers at most, in those asked for
MOST_CORRELATED = 0.8  # of neighbouring batches; more cannot be told from so few
TELL_EVERY = 500  # messages between two signs of life
INTERRUPT = -1  # priority before everybody who waits for the processor
FORGETS = 1 / 16  # weight of the latest interval in what an adaptive device knows of its rate
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
    """One server and its ring; interrupts go before those who wait."""

    name: str
    server: Any
    places: float
    inside: int = 0
    freed_s: float = -math.inf
    lost: int = 0


@dataclass(slots=True)
class _Alarm:
    """What wakes one resource for the frames of one way: they wait for it together while nobody is being served."""

    env: Any
    station: _Station
    visit: Visit
    steps: list[tuple[list[float], _Station | None, float | None]]
    served: int = 0  # frames that came through and have not left
    held: int = 0  # frames that wait for it
    last_s: float = -math.inf  # the interrupt before
    waiting: Any = None  # who comes while it rings waits for this
    gathered: float = 0.0
    early: Any = None  # enough frames end the wait for the timer
    since: float = 0.0  # frames since the interrupt before
    frames: float = 0.0  # the device's moving averages: frames and time between interrupts
    spaced_s: float = 0.0

    def knock(self, packets: float, i: int) -> Any:
        """The event to wait for; None where the resource serves, so that nobody need be told."""
        self.since += packets
        if self.served > 0:
            self.served += 1
            return None
        self.held += 1
        if self.waiting is None:
            self.waiting, self.gathered, self.early = self.env.event(), 0.0, self.env.event()
            self.env.process(self._ring(self.waiting, self.early, i))
        self.gathered += packets
        cap = self.visit.timer.frames if self.visit.timer is not None else None
        if cap and self.gathered >= cap and not self.early.triggered:
            self.early.succeed()
        return self.waiting

    def _timer_s(self) -> float:
        longest = self.visit.longest_s
        if longest is None or self.spaced_s <= 0:
            return self.visit.timer_s
        aim = self.visit.timer_s * longest * self.frames / self.spaced_s / ADAPTIVE_PACKETS
        return max(min(aim, longest), self.visit.timer_s)

    def _ring(self, event: Any, early: Any, i: int) -> Iterator[Any]:
        env, station = self.env, self.station
        if self.visit.timer is not None and self.visit.moderated:
            throttle = self.visit.timer.kind == "throttle"
            due = self.last_s + self._timer_s() - env.now if throttle else self._timer_s()
            if due > 0:
                yield env.timeout(due) | early
            self._told()
        awake = station.inside > self.held  # it serves other frames
        asleep_s = -math.inf if awake else env.now - station.freed_s
        mine = 0.0
        for times, elsewhere, window in self.steps:
            if window is not None and asleep_s <= window:
                continue
            if elsewhere is None:
                mine += times[i]
                continue
            with elsewhere.server.request(priority=INTERRUPT) as turn:
                yield turn
                yield env.timeout(times[i])
        if mine > 0:
            with station.server.request(priority=INTERRUPT) as turn:
                yield turn
                yield env.timeout(mine)
        self.waiting, self.served, self.held = None, self.held, 0
        event.succeed()

    def _told(self) -> None:
        """The interrupt comes now: what the device makes of the frames since the last one."""
        if math.isfinite(self.last_s):
            self.frames += (self.since - self.frames) * FORGETS
            self.spaced_s += (self.env.now - self.last_s - self.spaced_s) * FORGETS
        self.since, self.last_s = 0.0, self.env.now


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
    alarms: list[_Alarm]
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
    first = next((place for place, step in enumerate(steps) if step.stations), None)  # whoever hands a message over

    def travel(number: int, handed_over: Any = None) -> Iterator[Any]:
        born, flow, blocked, i = env.now, number % net.flows, False, number % total
        for place, step in enumerate(steps):
            if not step.stations:
                yield env.timeout(step.times[i])
                continue
            station = step.stations[flow % len(step.stations)]
            alarm = step.alarms[flow % len(step.stations)] if step.alarms else None
            if lossy and station.inside >= station.places:
                station.lost += 1
                _ended(log, born, env.now, False, tell)
                return
            station.inside += 1
            hold = step.times[i]
            blocked = blocked or (place == first and station.inside == 1)
            if alarm is not None:
                rung = alarm.knock(net.packets, i)
                if rung is not None:
                    yield rung
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
            if alarm is not None:
                alarm.served -= 1
            if place == first and handed_over is not None:
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

    at = _servers(simpy, env, net, visit.resource, stations)
    alarms = []
    if visit.alarm or visit.moderated:
        told = [(drawn([a.part]), _servers(simpy, env, net, a.resource, stations), a.window_s) for a in visit.alarm]
        for k, station in enumerate(at):
            steps = [(times, there[k % len(there)] if there else None, window) for times, there, window in told]
            alarms.append(_Alarm(env=env, station=station, visit=visit, steps=steps))
    blocked = drawn(visit.blocked) if visit.blocked else None
    turns = [_Turns(drawn([turn.part]), turn.most) for turn in visit.turns]
    return _Step(times=drawn(visit.parts), stations=at, alarms=alarms, blocked=blocked, turns=turns)


def _servers(
    simpy: Any, env: Any, net: Network, resource: str | None, stations: dict[str, list[_Station]]
) -> list[_Station]:
    if resource is None:
        return []
    if resource not in stations:
        servers = net.servers.get(kind(resource), 1)
        stations[resource] = [_Station(resource, simpy.PriorityResource(env), net.places) for _ in range(servers)]
    return stations[resource]


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
