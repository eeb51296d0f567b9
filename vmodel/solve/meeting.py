"""What meets a load: a scenario's stage times as the legs, notices and irregularities that the laws of load work on."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from vmodel.core.records import Outcome, Scenario
from vmodel.solve import compose, evaluate
from vmodel.solve.dual import Dual, is_float, larger, plain, total
from vmodel.solve.workloads import Leg, everywhere
from vmodel.units import BITS_PER_BYTE, US_PER_S

BUS_PARAMETER = "memory_bus_bytes_s"
NOTHING_S2 = 1e-60  # stands for the square of no time at all
Met = tuple[Outcome, Mapping[str, Any], Any]  # outcome, words of a message, bytes it moves over the memory bus


def bus_time(s: Scenario, parameters: Mapping[str, float], moved: Any, *, gradient: bool) -> Any:
    """Seconds that a message keeps the memory bus busy."""
    rate = parameters[BUS_PARAMETER]
    if gradient:
        return Dual(moved / rate, {BUS_PARAMETER: -moved / (rate * rate)})
    return moved / rate


def message_bits(s: Scenario) -> Any:
    """Bits of one message."""
    return compose.mean_size(s) * BITS_PER_BYTE


def _parallel(s: Scenario, keys: Sequence[str], parameters: Mapping[str, float], *, gradient: bool) -> dict[str, Any]:
    """Processors that share a resource's work: RSS spreads flows over queues, vCPUs bound the guest, VMs stand beside.

    n of them do the work of n / (1 + sigma (n - 1)): caches, memory and clock are shared.
    """
    queues = -larger(-s.knobs["queues"], -s.knobs["flows"])
    vcpus = -larger(-queues, -s.knobs["vcpus"])
    vms, sigma = s.knobs["vms"], parameters["sharing_loss"]
    ways = {
        "vhost worker": queues * vms,
        "host softirq CPU": queues * vms,
        "guest vCPU": vcpus * vms,
        "host CPU": queues * vms,
        "QEMU I/O thread": vms,
        "poll-mode core": s.knobs["switch_cores"],
    }
    out: dict[str, Any] = {}
    for key in keys:
        n = ways.get(key.partition("|")[0], 1.0)
        if is_float(n) and n == 1.0:
            out[key] = 1.0
            continue
        slowed = 1 + sigma * (n - 1)
        out[key] = n / (Dual(slowed, {"sharing_loss": n - 1}) if gradient else slowed)
    return out


def spread(s: Scenario, leg: Leg, parameters: Mapping[str, float], *, gradient: bool = False) -> Leg:
    """Divide the busy time of resources that several processors share."""
    parts = _parallel(s, [n.resource or "" for n in leg.nodes], parameters, gradient=gradient)
    if all(is_float(p) and p == 1.0 for p in parts.values()):
        return leg

    def shared(seconds: Sequence[Any]) -> list[Any]:
        return [x if n.resource is None else x / parts[n.resource] for n, x in zip(leg.nodes, seconds, strict=True)]

    return replace(leg, seconds=shared(leg.seconds), first=None if leg.first is None else shared(leg.first))


def in_pieces(
    s: Scenario,
    way: compose.Ways,
    legs: Sequence[Leg],
    words: Mapping[str, Any],
    parameters: Mapping[str, float],
    *,
    polls: Mapping[str, Any],
    gradient: bool,
) -> list[Leg]:
    """The legs of a round trip; of messages that travel in several pieces with the costs of the first."""
    piece = compose.piece_bytes(words, way.forward)
    if not everywhere(s.knobs["overlap"] == 1) or everywhere(s.knobs["size"] <= piece):
        return list(legs)
    small = compose.settle(s, way.forward, "rr", polls, -larger(-s.knobs["size"], -piece))
    return [
        replace(leg, first=evaluate.seconds(leg.nodes, small.words, parameters, gradient=gradient, known=small.costs))
        for leg in legs
    ]


def _onward(
    s: Scenario,
    way: compose.Ways,
    leg: Leg,
    settled: compose.Settled,
    parameters: Mapping[str, float],
    *,
    gradient: bool,
) -> Leg:
    """The way to a receiver that sends each frame out again, and the way from it, as one."""
    back = compose.leg(s, way.reverse, settled, parameters, direction="there", gradient=gradient)
    return replace(
        leg,
        nodes=(*leg.nodes, *back.nodes),
        seconds=[*leg.seconds, *(x * s.knobs["forwards"] for x in back.seconds)],
        when=[*leg.when, *back.when],
    )


def frames(
    s: Scenario, way: compose.Ways, parameters: Mapping[str, float], polls: Mapping[str, Any], *, gradient: bool
) -> Met:
    """Frames at a load or as fast as possible."""
    from vmodel.solve import load  # most questions never come here

    settled = compose.settle(s, way.forward, "packets", polls, compose.mean_size(s))
    w = settled.words
    leg = compose.leg(s, way.forward, settled, parameters, direction="there", gradient=gradient)
    onward = not everywhere(s.knobs["forwards"] == 0)
    if onward:
        leg = _onward(s, way, leg, settled, parameters, gradient=gradient)
    moved = evaluate.bus_bytes(leg.nodes, w)
    alone = {} if s.load.kind == "max" else {k: 1.0 + 0.0 * w[k] for k in compose.SHARED}
    extra = _extra(s, leg, w, alone, parameters, gradient=gradient)
    kinds = []
    for size, share in compose.frame_sizes(s):
        if len(compose.frame_sizes(s)) > 1:
            settled = compose.settle(s, way.forward, "packets", polls, size)
            leg = compose.leg(s, way.forward, settled, parameters, direction="there", gradient=gradient)
            leg = _onward(s, way, leg, settled, parameters, gradient=gradient) if onward else leg
        kinds.append((leg, share))
    shared = [(spread(s, leg, parameters, gradient=gradient), share) for leg, share in kinds]
    traffic = _traffic(s, [shared], [extra], w, bus_time(s, parameters, moved, gradient=gradient))
    return load.packets(traffic, _offer(s)), w, moved


def requests(
    s: Scenario, way: compose.Ways, parameters: Mapping[str, float], lone: compose.Settled, *, gradient: bool
) -> Met:
    """Requests that overlap, at a rate or so many in flight."""
    from vmodel.solve import closed, load  # most questions never come here

    settled, alone = compose.overlapping(lone)
    w = settled.words
    legs = [
        compose.leg(s, chain, settled, parameters, direction=direction, gradient=gradient)
        for chain, direction in ((way.forward, "there"), (way.reverse, "back"))
    ]
    extras = [_extra(s, leg, w, alone, parameters, gradient=gradient) for leg in legs]
    polls = dict.fromkeys(compose.POLLS, 0.0)
    legs = in_pieces(s, way, legs, lone.words, parameters, polls=polls, gradient=gradient)
    moved = evaluate.bus_bytes(way.forward.nodes, w) + evaluate.bus_bytes(way.reverse.nodes, w)
    bus_s = bus_time(s, parameters, moved, gradient=gradient)
    traffic = _traffic(s, [[(spread(s, leg, parameters, gradient=gradient), 1.0)] for leg in legs], extras, w, bus_s)
    if s.load.kind != "max":
        return load.offered(traffic, _offer(s)), w, moved
    return closed.requests(traffic, int(s.knobs["in_flight"]), s.knobs["think_us"] / US_PER_S), w, moved


def _traffic(
    s: Scenario,
    ways: Sequence[Sequence[tuple[Leg, float]]],
    extras: Sequence[Any],
    words: Mapping[str, Any],
    bus_s: Any,
) -> Any:
    """Legs with mean costs, and how irregular they are.

    ways: each leg for each kind of message, with its share.
    """
    from vmodel.solve.load import Traffic

    legs = [_mean_leg(way) for way in ways]
    return Traffic(
        legs=legs,
        extras=extras,
        words=words,
        variability=_variability(legs, ways),
        stage_scv=_stage_scv(legs, ways),
        windows_s=_windows(s, legs),
        ring=int(_first(s.knobs["ring_size"])),
        bus_s=bus_s,
    )


def _mean_leg(kinds: Sequence[tuple[Leg, float]]) -> Leg:
    """A leg with the mean costs of several kinds of message."""
    if len(kinds) == 1:
        return kinds[0][0]
    columns = zip(*(leg.seconds for leg, _ in kinds), strict=True)
    shares = [share for _, share in kinds]
    return replace(
        kinds[0][0], seconds=[total([p * x for p, x in zip(shares, costs, strict=True)]) for costs in columns]
    )


def _stage_scv(legs: Sequence[Leg], kinds: Sequence[Sequence[tuple[Leg, float]]]) -> dict[str, Any]:
    """Squared coefficient of variation of each stage, sizes included."""
    rows = evaluate.stage_rows()
    found: dict[str, Any] = {}
    for mean, way in zip(legs, kinds, strict=True):
        for index, n in enumerate(mean.nodes):
            found[n.stage] = rows[n.stage].variability
            if len(way) > 1:
                m = plain(mean.seconds[index])
                between = sum(share * (plain(leg.seconds[index]) - m) ** 2 for leg, share in way)
                found[n.stage] = found[n.stage] + between / larger(m * m, NOTHING_S2)
    return found


def _offer(s: Scenario) -> Any:
    from vmodel.solve.stations import Offer

    bits = message_bits(s)
    return Offer(load=s.load, bits=bits, scv=s.knobs["arrival_scv"], burst=s.knobs["burst"])


def _extra(
    s: Scenario,
    leg: Leg,
    words: Mapping[str, Any],
    alone: Mapping[str, Any],
    parameters: Mapping[str, float],
    *,
    gradient: bool,
) -> Any:
    """What each stage costs more when each message notifies, or is taken alone: with these counts instead."""
    from vmodel.solve.alarms import Extra

    rows = evaluate.stage_rows()
    found = []
    for changed in (("kicks",), ("interrupts",), ("taken", "fetch_batch")):
        counts = {k: alone[k] for k in changed if k in alone}
        touched = [i for i, n in enumerate(leg.nodes) if not set(counts).isdisjoint(rows[n.stage].words)]
        more: list[Any] = [0.0] * len(leg.nodes)
        if touched:
            nodes, other = [leg.nodes[i] for i in touched], {**words, **counts}
            costs = evaluate.seconds(nodes, other, parameters, gradient=gradient)
            shared = 1.0 * (words["taken"] > 1) if changed[0] == "taken" else 1.0  # a batch of one shares nothing
            for i, cost in zip(touched, costs, strict=True):
                more[i] = (cost - leg.seconds[i]) * shared
        found.append(list(spread(s, replace(leg, seconds=more), parameters, gradient=gradient).seconds))
    notices = frozenset(
        i for i, n in enumerate(leg.nodes) if not {"kicks", "interrupts"}.isdisjoint(rows[n.stage].words)
    )
    return Extra(kicks=found[0], interrupts=found[1], turns=found[2], notices=notices)


def _windows(s: Scenario, legs: Sequence[Leg]) -> dict[str, Any]:
    """How long a resource polls before a stage has to wake it [s]."""
    rows = evaluate.stage_rows()
    found: dict[str, Any] = {}
    for n in (n for leg in legs for n in leg.nodes):
        for name in compose.POLLS:
            if name in rows[n.stage].words:
                found[n.stage] = s.knobs[name] / US_PER_S
    return found


def _first(x: Any) -> float:
    return float(x) if is_float(x) else float(x.flat[0])


def _variability(legs: Sequence[Leg], kinds: Sequence[Sequence[tuple[Leg, float]]]) -> dict[str, float]:
    """Squared coefficient of variation of each resource's work: variances of its stages and of its kinds add."""
    rows = evaluate.stage_rows()
    mean: dict[str, float] = {}
    variance: dict[str, float] = {}
    for n, x in ((n, x) for leg in legs for n, x in zip(leg.nodes, leg.seconds, strict=True)):
        value = plain(x)
        if n.resource is None:
            continue
        mean[n.resource] = mean.get(n.resource, 0.0) + value
        variance[n.resource] = variance.get(n.resource, 0.0) + rows[n.stage].variability * value * value
    for way in (way for way in kinds if len(way) > 1):
        for leg, share in way:
            own: dict[str, Any] = {}
            for n, x in zip(leg.nodes, leg.seconds, strict=True):
                if n.resource is not None:
                    own[n.resource] = own.get(n.resource, 0.0) + plain(x)
            for k, x in own.items():
                variance[k] = variance[k] + share * (x - mean[k]) ** 2
    return {k: variance[k] / larger(m * m, NOTHING_S2) for k, m in mean.items()}
