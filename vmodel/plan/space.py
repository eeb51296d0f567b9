"""Which settings may be searched for a scenario, and the values that each can legally take."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from vmodel.core.records import Scenario
from vmodel.errors import ConfigError, Fault, UnknownName
from vmodel.library import commands, tables
from vmodel.library.moderation import Device, devices
from vmodel.solve import compose
from vmodel.solve.apply import target_of
from vmodel.units import MS_PER_S, US_PER_S

SHORT = 12  # values of a setting up to which all are tried together with all others
TIMERS = ("rx_usecs", "pf_rx_usecs")
LONGEST_TIMER_US = 10000  # a timer of more than ten milliseconds is for no network
LONGEST_POLL_US = round(US_PER_S / MS_PER_S)  # polling for longer than any round trip here changes nothing more
SMALLEST_MTU, JUMBO, INSIDE = 1280, 9000, 65521  # IPv6 minimum; what Ethernet equipment carries; largest for tap
RINGS = tuple(float(2**n) for n in range(6, 13))
VIRTIO_RINGS = tuple(float(2**n) for n in range(8, 11))
MOST_QUEUES, MOST_BURST = 256, 512
FRAME_CAPS = tuple(float(2**n) for n in range(9))
BUFFERS = tuple(float(2**n) for n in range(12, 27))
PAGES = (4096.0, 2.0**21, 2.0**30)
SEGMENTS = tuple(float(2**n) for n in range(12, 17))
VSOCK_BUFFERS = tuple(float(2**n) for n in range(12, 17))
COUNTS = tuple(float(2**n) for n in range(9))
# What describes the question, the purchase or the application; searched only when named.
QUESTION = {
    "size": "part of the question: the application's messages",
    "flows": "part of the question: the application's connections",
    "in_flight": "part of the question: the application's requests in flight",
    "nodelay": "the application sets it",
    "vcpus": "the size of the guest; search it with --over vcpus",
    "link_gbps": "the NIC that was bought",
    "arrival_scv": "part of the question: the traffic",
    "burst": "part of the question: the traffic",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A setting with all the values it may take, rising; `now` is what it is worth today, None where nobody knows.

    modes: values that stand for something else than their number, so that neighbours say nothing about them.
    """

    knob: str
    values: tuple[float, ...]
    now: float | None
    modes: tuple[float, ...] = ()

    @property
    def long(self) -> bool:
        """Whether there are more values than are tried one by one; the search then closes in on the best."""
        return len(self.values) > SHORT


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """What is searched, and what is not, with the reason."""

    axes: tuple[Axis, ...]
    held: dict[str, str]


def _axis(s: Scenario, name: str, values: Iterable[float]) -> Axis | None:
    knob = tables.knob(name)
    now = today(s, name)
    extra = () if now is None else (now,)
    kept = tuple(sorted({v for v in (*values, *extra) if knob.least <= v <= knob.most}))
    modes = {m.rx_usecs for d in receivers(s) for m in d.special} if name in TIMERS else {0.0}
    return Axis(knob=name, values=kept, now=now, modes=tuple(modes & set(kept))) if len(kept) > 1 else None


def today(s: Scenario, name: str) -> float | None:
    """What a setting is worth in a scenario; where nobody set it, what the drivers start with, if they agree."""
    value = s.knobs[name]
    if value is not None:
        return float(value)
    field = {"rx_usecs": "default_rx_usecs", "adaptive_rx": "adaptive_default", "rx_frames": "default_frames"}.get(name)
    found = {float(getattr(d, field)) for d in receivers(s)} if field else set()
    return found.pop() if len(found) == 1 else None


def receivers(s: Scenario) -> tuple[Device, ...]:
    """The drivers that moderate a receiver of this scenario and listen to what they are told."""
    ways = compose.scenario_ways(s)
    chains = (ways.forward, ways.reverse) if s.workload == "rr" else (ways.forward,)
    found = [compose.device_of(s, chain) for chain in chains]
    known = [devices()[name] for name in dict.fromkeys(found) if name is not None]
    return tuple(d for d in known if d.honoured)


def _times(known: Sequence[Device]) -> tuple[float, ...]:
    """rx-usecs that every receiver takes as they are: common modes, and whole numbers within the common limits."""
    modes = set.intersection(*({m.rx_usecs for m in d.special if m.mode != "unchanged"} for d in known))
    low = max(d.min_rx_usecs for d in known)
    high = min(LONGEST_TIMER_US, *(d.max_rx_usecs for d in known))
    step = max(1, *(round(d.step_us) for d in known))
    first = -(-int(low) // step) * step
    taken_as_mode = {m.rx_usecs for d in known for m in d.special}
    return (*map(float, modes), *(float(v) for v in range(first, int(high) + 1, step) if float(v) not in taken_as_mode))


def legal_values(s: Scenario, name: str) -> tuple[float, ...]:
    """The values that a setting may take in this scenario, device limits included; empty where it has none."""
    knob, known = tables.knob(name), receivers(s)
    if knob.kind == "switch":
        if name == "adaptive_rx":
            return (0.0, 1.0) if any(d.adaptive_switch for d in known) else ()
        return (0.0, 1.0)
    if name in TIMERS:
        return _times(known) if known else ()
    if name == "rx_frames":
        caps = [d.max_frames for d in known if d.frames]
        return tuple(v for v in FRAME_CAPS if v <= max(caps)) if caps else ()
    if name in compose.POLLS:
        return tuple(float(v) for v in range(LONGEST_POLL_US + 1))
    if name == "mtu":
        ceiling = JUMBO if s.topology.startswith("cross") else INSIDE
        return tuple(float(v) for v in range(SMALLEST_MTU, ceiling + 1))
    if name == "queues":
        useful = int(min(max(s.knobs["flows"], s.knobs["queues"]), MOST_QUEUES))
        return tuple(float(v) for v in range(1, useful + 1))
    if name == "batch":
        return tuple(float(v) for v in range(1, MOST_BURST + 1))
    if name == "ring_size":
        return VIRTIO_RINGS if s.path in commands.group("virtio") else RINGS
    lists = {
        "socket_buffer_bytes": BUFFERS,
        "page_bytes": PAGES,
        "segment_limit_bytes": SEGMENTS,
        "rx_buffer_bytes": VSOCK_BUFFERS,
    }
    return lists.get(name, COUNTS)


def _settable(s: Scenario, name: str, values: Sequence[float]) -> str:
    """Empty where a command sets the knob on this path, else the reason why none does."""
    target = target_of(s)
    for value in dict.fromkeys((values[0], values[-1])):
        found = commands.hands({name: value}, target)
        if any(name in step.knobs for step in found.steps):
            return ""
    return found.without.get(name, commands.reason_without(name, s.path))


def space(s: Scenario, over: Sequence[str], given: Sequence[str]) -> Space:
    """The settings to search: those named, or all that a command sets and nobody has given.

    Raises ConfigError for a name that is no knob, or one that this path fixes.
    """
    fixed = tables.endpoint(s.path).fixed
    held: dict[str, str] = {}
    axes: list[Axis] = []
    names = _named(s, over) if over else tuple(tables.knobs())
    for name in tables.knobs():
        if name not in names:
            held[name] = "not among --over"
            continue
        reason = "" if over else QUESTION.get(name, "")
        if name in fixed:
            reason = f"{s.path} fixes it at {str(fixed[name]).lower()}"
        elif name in given and not over:
            reason = "given"
        elif name == "pf_rx_usecs" and not over and s.knobs[name] is None:
            reason = "follows rx_usecs"
        elif name == "socket_buffer_bytes" and not over and s.knobs[name] is None:
            reason = "tuned by the kernel: no limit"
        values = () if reason else legal_values(s, name)
        axis = _axis(s, name, values) if values else None
        if not reason and axis is None:
            reason = commands.reason_without(name, s.path)
        if axis is not None and not over:
            reason = _settable(s, name, axis.values)
        if reason or axis is None:
            held[name] = reason
        else:
            axes.append(axis)
    return Space(axes=tuple(axes), held=held)


def _named(s: Scenario, over: Sequence[str]) -> tuple[str, ...]:
    faults = []
    for name in over:
        try:
            tables.knob(name)
        except UnknownName as error:
            expected = "a knob (see `vmodel knobs`)"
            faults.append(Fault(file="", key="--over", value=name, expected=expected, nearest=error.nearest))
            continue
        if name in tables.endpoint(s.path).fixed:
            faults.append(Fault(file="", key="--over", value=name, expected=f"a knob that {s.path} does not fix"))
        elif not legal_values(s, name):
            expected = f"a knob with values to choose from: {commands.reason_without(name, s.path)}"
            faults.append(Fault(file="", key="--over", value=name, expected=expected))
    if faults:
        raise ConfigError(faults)
    return tuple(dict.fromkeys(over))


def with_knobs(s: Scenario, settings: dict[str, Any]) -> Scenario:
    """The scenario with other settings."""
    return replace(s, knobs={**s.knobs, **settings})
