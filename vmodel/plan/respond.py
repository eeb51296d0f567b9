"""What one VM asks of its host and how long its messages take: many questions at once, from the model, as arrays.

A question is a VM class on a path with settings, on a host type, at a load. Questions that differ only in numbers are
answered together. Nothing here knows of other VMs; how they slow a VM down is the affair of `limits`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import gammaincinv

from vmodel.config import scenario
from vmodel.core.path import OF_GUEST, PER_HOST
from vmodel.core.records import Load, Profile, Scenario, StageShare
from vmodel.library.profile import value_of
from vmodel.plan.fleet import HostType, VmClass, fastest_gbps
from vmodel.solve import compose, evaluate, solver
from vmodel.solve.ask import SINGLE
from vmodel.solve.dual import plain
from vmodel.solve.solver import QUEUE_SCV
from vmodel.solve.tails import StageTime, add_times, constant_time, gamma_time
from vmodel.units import BITS_PER_BYTE

Array = Any  # a NumPy array of floats
POOL = ("vhost worker", "QEMU I/O thread", "host softirq CPU", "host CPU")  # threads on the cores a host keeps for I/O
POLLED = "poll-mode core"
ENGINES = ("PCIe link", "NIC DMA engine", "embedded switch", "vDPA device")  # of each adapter
BUS, WIRE_IN, WIRE_OUT = "memory bus", "wire in", "wire out"
SHARED = (*POOL, POLLED, *ENGINES, BUS, WIRE_IN, WIRE_OUT)  # what VMs of one host have in common
BATCHED = ("vhost worker", "QEMU I/O thread", POLLED)  # take a batch of one VM before they turn to the next
SPREAD_BY_QUEUES = ("vhost worker", "host softirq CPU")
BLOCK = 4096
FLATTEST = 1e8  # a gamma law of a larger shape is a normal one to all digits that matter
NOTHING = 1e-300


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question: a class on a path with settings on a host type, at a multiple of its rate."""

    vm: VmClass
    path: str
    settings: tuple[tuple[str, float], ...]
    host: HostType
    profile: Profile
    factor: float = 1.0

    def scenario(self) -> Scenario:
        """The question to the model; raises ConfigError where the path cannot have it."""
        shape = self.shape()
        return replace(shape, load=_offered(shape, self.rate_per_s()))

    def rate_per_s(self) -> float:
        """Messages per second of one VM."""
        kind, value = self.vm.rate
        return self.factor * (value / (self.vm.size * BITS_PER_BYTE) if kind == "throughput_bps" else value)

    def shape(self) -> Scenario:
        """The scenario without a load."""
        vm = self.vm
        given: dict[str, Any] = {**vm.settings, **dict(self.settings)}
        return scenario(
            path=self.path,
            topology=vm.topology,
            workload=vm.workload,
            direction=vm.direction,
            profile=self.profile,
            size=vm.size,
            in_flight=vm.in_flight,
            flows=vm.flows,
            vcpus=vm.vcpus,
            link_gbps=fastest_gbps(self.host),
            **given,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """One row for each question: what a VM alone on its host does. Demands are seconds per message and visit."""

    rate_per_s: Array
    capacity_per_s: Array  # messages that its own path can carry
    loss: Array
    times: Array  # least, mean, variance, third moment of the latency: (4, n)
    floor_s: Array  # a locked timer lets nothing through before
    closed: Array  # true: answers are waited for, so that a wait is paid once and makes no queue of its own
    demands_s: Array  # (kinds of SHARED, n), at one server
    servers: Array  # (kinds of SHARED, n): queues of its own that share the work
    turn: Array  # messages taken in one turn
    bus_bytes: Array  # per message, on this host
    guest_busy: Array  # cores of its own that its traffic takes
    ring: Array  # places

    @property
    def load(self) -> Array:
        """Cores, or adapters, that are kept busy: (kinds of SHARED, n)."""
        return self.rate_per_s * self.demands_s * self.servers

    def pick(self, rows: Any) -> "Answers":
        """Some of the rows."""
        return Answers(**{name: getattr(self, name)[..., rows] for name in self.__slots__})


def quantile(times: Array, p: Array) -> Array:
    """The time that a share p stays below: shifted gamma law of three moments, as `tails.skewed_percentile`.

    t = mean + (G(a, p) - a) s, a = 4 v^3 / k^2, s = k / (2 v).

    times: least, mean, variance, third moment [s, s, s^2, s^3].  p: share [-].  Returns a time [s].

    Source: translated gamma, Bowers1997, section 12.5.
    """
    least, mean, variance, third = times
    v = np.maximum(variance, NOTHING)
    root = np.sqrt(v)
    shape = np.minimum(4 * v**3 / np.maximum(third * third, NOTHING), FLATTEST)
    scale = root / np.sqrt(shape)  # keeps the variance where the skewness is next to nothing
    value = mean + (gammaincinv(shape, p) - shape) * scale
    return np.where(np.isfinite(mean), np.maximum(np.where(variance > 0, value, mean), least), np.inf)


def _offered(s: Scenario, rate: Any) -> Load:
    """Frames come at their rate; of requests so many are in flight, and the rate is what their users ask for."""
    return Load(kind="rate_pps", value=rate) if s.workload == "packets" else Load()


def respond(questions: Sequence[Asked]) -> Answers:
    """Answer questions, those of one kind together."""
    shapes: dict[tuple[Any, ...], Scenario] = {}
    rows: list[Scenario] = []
    groups: dict[Any, list[int]] = {}
    for i, q in enumerate(questions):
        key = (id(q.vm), q.path, q.settings, id(q.profile), fastest_gbps(q.host))
        if key not in shapes:
            shapes[key] = q.shape()
        s = shapes[key]
        rows.append(s)
        groups.setdefault(_kind(s), []).append(i)
    parts, places = [], []
    rates = np.array([q.rate_per_s() for q in questions])
    for members in groups.values():
        for start in range(0, len(members), BLOCK):
            some = members[start : start + BLOCK]
            parts.append(_answer([rows[i] for i in some], rates[some]))
            places.extend(some)
    back = np.argsort(places)
    found = Answers(
        **{n: np.concatenate([getattr(p, n) for p in parts], axis=-1)[..., back] for n in Answers.__slots__}
    )
    found.demands_s[SHARED.index(BUS)] *= [_bus_speed(q) for q in questions]
    return found


def _bus_speed(q: Asked) -> float:
    """How many times longer a byte keeps this host's memory bus than that of its profile."""
    if q.host.memory_bandwidth is None:
        return 1.0
    return float(value_of(q.profile, "memory_bus_bytes_s").value / q.host.memory_bandwidth)


def _kind(s: Scenario) -> tuple[Any, ...]:
    """Scenarios with the same key differ in numbers only, and can be asked as arrays."""
    fixed = tuple((k, v) for k, v in s.knobs.items() if k in SINGLE or v is None)
    return s.path, s.peer, s.topology, s.workload, s.direction, id(s.profile), s.device, fixed


def _answer(group: Sequence[Scenario], rates: Array) -> Answers:
    first, n = group[0], len(group)
    knobs = dict(first.knobs)
    for name, value in first.knobs.items():
        if value is not None and any(s.knobs[name] != value for s in group):
            knobs[name] = np.array([float(s.knobs[name]) for s in group])
    knobs["size"] = np.broadcast_to(knobs["size"], (n,)) + 0.0  # an array, so that all costs are arrays
    s = replace(first, knobs=knobs, load=_offered(first, rates))
    solved = solver.solve(s, compose.parameter_values(s))
    out = solved.outcome

    def column(x: Any) -> Array:
        return np.broadcast_to(np.asarray(plain(x), dtype=float), (n,))

    demands, guest = np.zeros((len(SHARED), n)), np.zeros(n)
    for key, seconds in out.demands_s.items():
        kind = here(key, s)
        if kind in SHARED:
            demands[SHARED.index(kind)] += column(seconds)
        elif kind == "guest vCPU":
            guest = guest + column(seconds) * rates
    queues = np.minimum(column(knobs["queues"]), column(knobs["flows"])) if s.workload != "rr" else np.ones(n)
    servers = np.ones((len(SHARED), n))
    servers[[SHARED.index(kind) for kind in SPREAD_BY_QUEUES]] = queues
    ways = np.minimum(queues, column(knobs["vcpus"]))
    times, floor = _times(out, column)
    # of a ping-pong the rate is what its users ask for; what the law gives is the most that can be had
    capacity = out.rate_per_s if s.workload == "rr" else out.upper_rate_per_s
    return Answers(
        rate_per_s=rates,
        capacity_per_s=column(capacity),
        loss=column(out.loss) if s.workload == "packets" else np.zeros(n),
        times=times,
        floor_s=floor,
        closed=np.full(n, s.workload != "packets"),
        demands_s=demands,
        servers=servers,
        turn=_turn(s, solved, column),
        bus_bytes=column(_bus_bytes(s, solved)),
        guest_busy=guest * ways,
        ring=column(knobs["ring_size"]),
    )


def here(key: str, s: Scenario) -> str | None:
    """The kind of a resource if it stands on the VM's own host; None where it is the peer's.

    The VM is the end of the path's own side: host 1 where the hosts differ.
    """
    kind, _, label = key.partition("|")
    apart = s.topology.startswith("cross")
    if kind == BUS:
        return kind
    if kind == "wire":
        return WIRE_IN if (label == "there") == (s.direction == "to-vm") else WIRE_OUT
    if kind in PER_HOST:
        return kind if not apart or label == "1" else None
    mine = label in ("guest", "1") or (
        (label == "receiver") == (s.direction == "to-vm") and label in ("sender", "receiver")
    )
    if kind in OF_GUEST:
        return kind if mine or not apart else None
    if kind == "guest vCPU":
        return kind if mine else None
    return kind if kind == "host CPU" and (not apart or label == "1") else None


def _bus_bytes(s: Scenario, solved: solver.Solved) -> Any:
    """Bytes of one message on the memory bus of the VM's host."""
    if not s.topology.startswith("cross"):
        return solved.bus_bytes
    total: Any = 0.0
    for chain in solved.chains:
        own = chain.sender if chain.sender.host == 1 else chain.receiver
        total = total + evaluate.bus_bytes([n for n in chain.nodes if n.owner == own.label], solved.words)
    return total


def _turn(s: Scenario, solved: solver.Solved, column: Any) -> Array:
    """Most messages taken in one turn, as `shared` has it: a batch of segments, a ring's worth of pages, a window."""
    segments = np.maximum(column(solved.words.get("segments", 1.0)), 1.0)
    entries = np.maximum(1.0, column(s.knobs["size"]) / segments / column(s.knobs["page_bytes"]))
    most = np.minimum(column(s.knobs["batch"]), column(s.knobs["ring_size"]) / entries) / segments
    return np.maximum(1.0, np.minimum(most, column(s.knobs["in_flight"])) if s.workload == "rr" else most)


def _times(out: Any, column: Any) -> tuple[Array, Array]:
    """Moments of the latency as the law gives them, and the floor of a locked timer, as in `solver`."""
    floor = column(0.0)
    if out.time is not None:
        whole = out.time
    else:
        rows = evaluate.stage_rows()
        lock = next((r for r in reversed(out.shares) if r.stage == "moderation_wait"), None)
        throttled = any("throttle" in r for r in out.regime)
        if throttled and lock is not None:
            floor = np.where(column(lock.seconds) > 0, column(out.latency_s), 0.0)
        kept = [r for r in out.shares if not (throttled and r is lock)]
        whole = add_times([_stage_time(r, rows, column) for r in kept])
    third = whole.third_s3
    if out.time is None:  # two moments above the least time, as `tails.gamma_percentile` has it
        spread = np.maximum(column(whole.mean_s) - column(whole.least_s), NOTHING)
        third = 2 * column(whole.variance_s2) ** 2 / spread
    moments = (whole.least_s, whole.mean_s, whole.variance_s2, third)
    return np.stack([column(m) for m in moments]), floor


def _stage_time(r: StageShare, rows: Mapping[str, evaluate.Row], column: Any) -> StageTime:
    scv = rows[r.stage].variability if r.stage in rows else QUEUE_SCV if r.stage == "queueing" else 0.0
    seconds = np.maximum(column(r.seconds), 0.0)
    return gamma_time(seconds, scv) if scv > 0 else constant_time(seconds)
