"""A scenario -> its two legs with stage times: who stands where, what the knobs are worth, which timers hold."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from vmodel.core.path import Chain, End, chain
from vmodel.core.records import Profile, Scenario
from vmodel.library import tables
from vmodel.library.moderation import Moderation, devices, moderate
from vmodel.library.profile import value_of
from vmodel.solve import evaluate
from vmodel.solve.dual import Dual, is_float, larger
from vmodel.solve.workloads import Leg
from vmodel.units import BITS_PER_BYTE, BPS_PER_GBPS, US_PER_S

# What protocols fix: IP and TCP headers, TCP time stamps, Ethernet header with check sum, preamble and gap [bytes].
PROTOCOL = {
    "header_bytes": 40.0,
    "datagram_saving_bytes": 12.0,  # UDP's header has 8 bytes, TCP's 20
    "timestamp_bytes": 12.0,
    "frame_bytes": 18.0,
    "gap_bytes": 20.0,
}
ACKNOWLEDGEMENT_BYTES = 1.0  # an acknowledgement carries no payload; one byte keeps it a packet
STEP_TOLERANCE = 1e-9  # a number this close to a whole step is that step
SHARED = ("kicks", "interrupts", "taken", "fetch_batch")  # counts that are one for a frame by itself
POLLS = ("busy_poll", "halt_poll", "worker_poll")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """The way of the message and the way back."""

    forward: Chain
    reverse: Chain


@cache
def ways(path: str, peer: str, topology: str, direction: str) -> Ways:
    """Compose both directions of a scenario. The guest end is host 1 when the hosts differ."""
    near, far = tables.endpoint(peer), tables.endpoint(path)
    apart = topology.startswith("cross")
    ends = [(near, 0), (far, 1 if apart else 0)]
    if direction == "from-vm":
        ends.reverse()
    labels = ("sender", "receiver") if near.place == far.place else (ends[0][0].place, ends[1][0].place)
    a, b = (_end(e, host, label) for (e, host), label in zip(ends, labels, strict=True))
    links = tables.links()
    return Ways(
        forward=chain(a, b, links, evaluate.occupies, "there"), reverse=chain(b, a, links, evaluate.occupies, "back")
    )


def _end(e: tables.Endpoint, host: int, label: str) -> End:
    return End(name=e.name, place=e.place, attach=e.attach, tx=e.tx, rx=e.rx, host=host, label=label)


def scenario_ways(s: Scenario) -> Ways:
    """Both directions of a scenario."""
    return ways(s.path, s.peer, s.topology, s.direction)


def words(s: Scenario, way: Chain, polls: Mapping[str, Any], size: Any = None) -> dict[str, Any]:
    """The knob words of one direction."""
    knobs = s.knobs
    out: dict[str, Any] = {
        k.word: knobs[name] for name, k in tables.knobs().items() if k.word is not None and knobs[name] is not None
    }
    if knobs["descriptor_batch"] is None:
        out["descriptor_batch"] = knobs["batch"]
    if size is not None:
        out["size_bytes"] = size
    out.update(PROTOCOL)
    out.update(polls)
    out["link_bytes_s"] = knobs["link_gbps"] * BPS_PER_GBPS / BITS_PER_BYTE
    out["fills"] = float(fills(way))
    out["merges"] = float(tables.endpoint(way.sender.name).merges) * (1 - out["fills"])
    out["direct"] = float(way.direct)
    out["joins"] = float(joins(way))
    return out


def piece_bytes(words: Mapping[str, Any], way: Chain) -> Any:
    """Bytes of a message that travel as one: a segment, a packet without segmentation, a packet of vsock."""
    if way.sender.attach == "vsock":
        return -larger(-words["rx_buffer_bytes"], -words["segment_limit_bytes"])
    datagram, stamps = words["udp"], words["timestamp_bytes"] * words["timestamps"]
    headers = words["header_bytes"] - words["datagram_saving_bytes"] * datagram + stamps * (1 - datagram)
    payload = words["mtu_bytes"] - headers
    offload = words["tso"] * (1 - datagram)
    whole = larger(words["segment_limit_bytes"] // payload, 1.0 + 0.0 * payload)
    return payload * (offload * whole + 1 - offload)


def fills(way: Chain) -> bool:
    """Whether the sender is never held back: a poll-mode switch on its own host empties its ring at once."""
    return way.direct and way.sender.attach == "switch"


def joins(way: Chain) -> bool:
    """Whether a host kernel joins frames to segments before the receiver's ring; a poll-mode switch does not."""
    return way.receiver.attach != "switch"


def parameter_values(s: Scenario) -> dict[str, float]:
    """Every parameter's value on this machine, the user's own first."""
    return {**_profile_values(s.profile), **s.parameters}


@cache
def _cached_values(key: int) -> dict[str, float]:
    return {name: value_of(_PROFILES[key], name).value for name in tables.priors()}


_PROFILES: dict[int, Profile] = {}


def _profile_values(profile: Profile) -> dict[str, float]:
    _PROFILES[id(profile)] = profile  # keeps the profile alive, so its id stays its own
    return _cached_values(id(profile))


def used_parameters(way: Chain) -> set[str]:
    """Names of the parameters that the stages of a way use."""
    rows = evaluate.stage_rows()
    return {p for n in way.nodes for p in rows[n.stage].parameters}


def device_of(s: Scenario, way: Chain) -> str | None:
    """The NIC driver whose moderation the receiver of a way waits for; None where no NIC interrupts it."""
    receiver = tables.endpoint(way.receiver.name)
    if receiver.attach == "nic":
        role = receiver.device
    elif way.direct or receiver.attach in ("switch", "vsock", "loopback"):
        return None
    else:
        role = "pf"
    if role == "none":
        return None
    if s.device is not None and role == _role(s):
        return s.device
    return s.profile.drivers.get(role)


def _role(s: Scenario) -> str:
    """The NIC function that --device speaks of: the path's own, or the host's where the path has none."""
    device = tables.endpoint(s.path).device
    return "pf" if device == "none" else device


def timer(s: Scenario, way: Chain) -> Moderation | None:
    """The moderation at the receiver of a way, for scalar settings."""
    device = device_of(s, way)
    if device is None:
        return None
    usecs = s.knobs["rx_usecs"]
    receiver = tables.endpoint(way.receiver.name)
    if receiver.device != "vf" and s.knobs["pf_rx_usecs"] is not None:
        usecs = s.knobs["pf_rx_usecs"]
    if usecs is not None and not is_float(usecs):
        usecs = float(usecs.flat[0])
    frames, adaptive = s.knobs["rx_frames"], s.knobs["adaptive_rx"]
    return moderate(
        device, usecs, None if frames is None else int(frames), None if adaptive is None else bool(adaptive)
    )


def _timer_seconds(
    s: Scenario, way: Chain, found: Moderation | None, parameters: Mapping[str, float], *, gradient: bool
) -> Any:
    if found is None:
        return None
    usecs = s.knobs["pf_rx_usecs"] if tables.endpoint(way.receiver.name).device != "vf" else None
    usecs = s.knobs["rx_usecs"] if usecs is None else usecs
    if usecs is not None and not is_float(usecs):
        return _timer_array(s, found, parameters, usecs)
    return _interval(found, parameters, gradient=gradient)


def _interval(found: Moderation, parameters: Mapping[str, float], *, gradient: bool) -> Any:
    if found.parameter is not None and found.adaptive:
        value = parameters[found.parameter]
        return Dual(value, {found.parameter: 1.0}) if gradient else value
    return found.interval_s or 0.0


def _timer_array(s: Scenario, found: Moderation, parameters: Mapping[str, float], usecs: Any) -> Any:
    """The interval for every number of an array: limits and steps elementwise, modes one by one."""
    import numpy  # the settings are arrays

    record = devices()[found.device]
    adaptive = None if s.knobs["adaptive_rx"] is None else bool(s.knobs["adaptive_rx"])
    ends = [moderate(found.device, x, None, adaptive) for x in (record.min_rx_usecs, record.max_rx_usecs)]
    if not record.honoured or all(end.adaptive for end in ends):
        return numpy.full(usecs.shape, _interval(found, parameters, gradient=False))
    steps = numpy.clip(usecs, record.min_rx_usecs, record.max_rx_usecs) / record.step_us
    near = numpy.rint(steps)
    cut = (numpy.floor if record.rounding == "down" else numpy.ceil)(steps)
    whole = numpy.where(abs(steps - near) <= STEP_TOLERANCE * near, near, cut)
    seconds = whole * record.step_us / US_PER_S
    for special in record.special:
        mode = moderate(found.device, special.rx_usecs, None, adaptive)
        seconds = numpy.where(usecs == special.rx_usecs, _interval(mode, parameters, gradient=False), seconds)
    return seconds


def frame_sizes(s: Scenario) -> tuple[tuple[float, float], ...]:
    """The sizes of offered frames and their shares, one size without a mix [bytes, -]."""
    if s.workload != "packets" or not is_float(s.knobs["imix"]) or not s.knobs["imix"]:
        return ((s.knobs["size"], 1.0),)
    return tables.IMIX


def mean_size(s: Scenario) -> Any:
    """Bytes of a message, of a mix on average."""
    sizes = frame_sizes(s)
    return sizes[0][0] if len(sizes) == 1 else sum(size * share for size, share in sizes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What both legs of a scenario share: words of a message, and stage costs found with them so far."""

    words: dict[str, Any]
    costs: dict[str, Any]


def settle(s: Scenario, way: Chain, workload: str, polls: Mapping[str, Any], size: Any = None) -> Settled:
    """The words of one message of a workload on a way."""
    return Settled(words=evaluate.traffic(workload, words(s, way, polls, size), way.nodes), costs={})


def overlaps(s: Scenario) -> bool:
    """Whether an end of a round trip can be busy with one request while another is on its way."""
    return s.workload == "rr" and (s.load.kind != "max" or int(s.knobs["in_flight"]) > 1)


def overlapping(lone: Settled) -> tuple[Settled, dict[str, Any]]:
    """The words of requests that overlap, and the counts of one by itself.

    An end that is busy is notified as rarely as in bulk; who finds it idle pays for the notification alone.
    """
    w = lone.words
    alone = {k: w[k] for k in ("kicks", "interrupts")}
    most = larger(w["batch"], w["interrupt_batch"])
    shared = {"kicks": w["kicks"] / w["batch"], "interrupts": w["interrupts"] / most}
    return Settled(words={**w, **shared}, costs={}), alone


def leg(
    s: Scenario, way: Chain, settled: Settled, parameters: Mapping[str, float], *, direction: str, gradient: bool
) -> Leg:
    """Stage times and timer of one way."""
    w = settled.words
    rows = evaluate.stage_rows()
    found = timer(s, way)
    timer_s = _timer_seconds(s, way, found, parameters, gradient=gradient)
    if found is not None and found.kind == "holdoff" and found.frames:
        timer_s = timer_s * (w["packets"] < found.frames)  # a full cap ends the wait
    return Leg(
        nodes=way.nodes,
        seconds=evaluate.seconds(way.nodes, w, parameters, gradient=gradient, known=settled.costs),
        when=[rows[n.stage].when for n in way.nodes],
        direction=direction,
        timer=found,
        timer_s=timer_s,
        interrupts=w["interrupts"]
        if any("interrupts" in rows[n.stage].words for n in way.nodes)
        else 0.0 * w["interrupts"],
    )
