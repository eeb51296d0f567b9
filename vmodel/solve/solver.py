"""predict: a scenario through composition and workload law to an answer with interval, standing and sources."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from vmodel.core.path import Chain, resource_titles
from vmodel.core.records import Interval, Outcome, Prediction, Profile, Scenario, StageShare
from vmodel.library.profile import value_of
from vmodel.solve import compose, evaluate, workloads
from vmodel.solve.doubt import model_variance, warned
from vmodel.solve.dual import Dual, is_float, larger, plain
from vmodel.solve.meeting import bus_time, frames, in_pieces, message_bits, requests, spread
from vmodel.solve.processors import processors, use
from vmodel.solve.tails import (
    PERCENTILES,
    add_times,
    constant_time,
    gamma_percentile,
    gamma_time,
    skewed_percentile,
)
from vmodel.sources import MEASURED, worst_standing
from vmodel.units import BPS_PER_GBPS, PPS_PER_MPPS, US_PER_S

NORMAL_90 = 1.6448536269514722  # two-sided 90 % point of the normal law
TWO_MOMENTS = "mean and variance of independent stage times, gamma law"
THREE_MOMENTS = "three moments of independent stage times and waits, shifted gamma law"
MATTERS = 0.005  # elasticity below which a parameter does not speak for the answer's standing
NOTHING_S2 = 1e-60  # stands for the square of no time at all
QUEUE_SCV = 1.0  # queueing times vary like an exponential law


@dataclass(frozen=True, slots=True, kw_only=True)
class Solved:
    """An outcome with what it was made from."""

    outcome: Outcome
    words: Mapping[str, Any]
    bus_bytes: Any
    chains: tuple[Chain, ...]


def _polls(s: Scenario, cycle: Any) -> dict[str, Any]:
    """Share of idle gaps that polling covers: min(gap, window) / gap, the gap taken as the cycle without polling."""
    out: dict[str, Any] = {}
    for name in compose.POLLS:
        window = s.knobs[name] / US_PER_S
        out[name] = 1 - larger(0.0 * window, 1 - window / plain(cycle))
    return out


def solve(s: Scenario, parameters: Mapping[str, float], *, gradient: bool = False) -> Solved:
    """Run the law of the scenario's workload on its stage times."""
    way = compose.scenario_ways(s)
    polls = dict.fromkeys(compose.POLLS, 0.0)
    if s.workload == "rr":
        if any(not is_float(s.knobs[n]) or s.knobs[n] > 0 for n in compose.POLLS):
            first = _rr(s, way, parameters, polls, gradient=False)
            polls = _polls(s, first.outcome.latency_s)
        return _rr(s, way, parameters, polls, gradient=gradient)
    return (_stream if s.workload == "stream" else _packets)(s, way, parameters, polls, gradient=gradient)


def _rr(
    s: Scenario, way: compose.Ways, parameters: Mapping[str, float], polls: Mapping[str, Any], *, gradient: bool
) -> Solved:
    settled = compose.settle(s, way.forward, "rr", polls)  # ping-pong: the reply is cut like the request
    if compose.overlaps(s):
        outcome, words, moved = requests(s, way, parameters, settled, gradient=gradient)
        return Solved(outcome=outcome, words=words, bus_bytes=moved, chains=(way.forward, way.reverse))
    w = settled.words
    there = compose.leg(s, way.forward, settled, parameters, direction="there", gradient=gradient)
    back = compose.leg(s, way.reverse, settled, parameters, direction="back", gradient=gradient)
    moved = evaluate.bus_bytes(way.forward.nodes, w) + evaluate.bus_bytes(way.reverse.nodes, w)
    there, back = in_pieces(s, way, [there, back], w, parameters, polls=polls, gradient=gradient)
    outcome = workloads.rr(
        [there, back],
        bus_time(s, parameters, moved, gradient=gradient),
        think_s=s.knobs["think_us"] / US_PER_S,
    )
    return Solved(outcome=outcome, words=w, bus_bytes=moved, chains=(way.forward, way.reverse))


def _stream(
    s: Scenario, way: compose.Ways, parameters: Mapping[str, float], polls: Mapping[str, Any], *, gradient: bool
) -> Solved:
    settled = compose.settle(s, way.forward, "stream", polls)
    w = settled.words
    leg = compose.leg(s, way.forward, settled, parameters, direction="there", gradient=gradient)
    window = s.knobs["socket_buffer_bytes"]
    shared = spread(s, leg, parameters, gradient=gradient)
    trip = None
    if window is not None:
        acknowledged = compose.settle(s, way.reverse, "rr", polls, compose.ACKNOWLEDGEMENT_BYTES)
        back = compose.leg(s, way.reverse, acknowledged, parameters, direction="back", gradient=gradient)
        piece = -larger(-window, -s.knobs["segment_limit_bytes"])
        cut = compose.settle(s, way.forward, "rr", polls, piece)
        there = compose.leg(s, way.forward, cut, parameters, direction="there", gradient=gradient)
        trip = workloads.Trip(
            whole=shared, piece=there, back=back, pieces=window / piece, window=window, flows=s.knobs["flows"]
        )
    sender = next((n.resource for n in way.forward.nodes if n.resource is not None), None)
    moved = evaluate.bus_bytes(way.forward.nodes, w)
    bus = bus_time(s, parameters, moved, gradient=gradient)
    outcome = workloads.stream(shared, sender, trip=trip, size=s.knobs["size"], bus_s=bus)
    return Solved(outcome=outcome, words=w, bus_bytes=moved, chains=(way.forward,))


def _packets(
    s: Scenario, way: compose.Ways, parameters: Mapping[str, float], polls: Mapping[str, Any], *, gradient: bool
) -> Solved:
    outcome, words, moved = frames(s, way, parameters, polls, gradient=gradient)
    onward = not workloads.everywhere(s.knobs["forwards"] == 0)
    chains = (way.forward, way.reverse) if onward else (way.forward,)
    return Solved(outcome=outcome, words=words, bus_bytes=moved, chains=chains)


def predict(s: Scenario) -> Prediction:
    """Answer a scalar scenario: latency, throughput, rates, busy shares, bottleneck, interval, standing, sources."""
    parameters = compose.parameter_values(s)
    solved = solve(s, parameters, gradient=True)
    out = solved.outcome
    rate, latency = plain(out.rate_per_s), plain(out.latency_s)
    target = out.latency_s if s.workload == "rr" else out.rate_per_s
    elasticity = _elasticities(target, parameters)
    warnings, stretch = warned(s), model_variance(s)
    log_sd = math.sqrt(parameter_variance(s, elasticity) + stretch)
    titles = resource_titles([n.resource for c in solved.chains for n in c.nodes if n.resource is not None])
    demand = {titles.get(k, k): plain(v) for k, v in out.demands_s.items()}
    busy = use(demand, rate, solved.words, {titles[k] for k in spinning(solved.chains)})
    size_bits = message_bits(s)
    both = 2 if s.workload == "rr" else 1
    bottleneck, slack = _bottleneck(s, out, demand, rate)
    shares = tuple(
        replace(r, resource=titles.get(r.resource, r.resource) if r.resource else None, seconds=plain(r.seconds))
        for r in out.shares
    )
    packet_rate = rate * plain(packet_count(s, solved.words)) * both
    wide_latency = (
        _interval(latency, log_sd)
        if s.workload == "rr"
        else _interval(latency, _latency_sd(s, out, parameters, stretch))
    )
    throughput = rate * size_bits
    cpu_host, cpu_guest = processors(busy, solved.words)
    cores = cpu_host + cpu_guest
    return Prediction(
        scenario=s,
        latency_s=latency,
        percentiles_s=_percentiles(out, shares),
        latency_interval_s=wide_latency,
        lower_bound_s=min(workloads.lower_bound(out), latency),
        throughput_bps=throughput,
        throughput_interval_bps=_carried(s, out, throughput, log_sd),
        throughput_bound_bps=max(plain(out.upper_rate_per_s) * size_bits, throughput),
        rate_pps=packet_rate,
        rate_interval_pps=_carried(s, out, packet_rate, log_sd),
        transactions_per_s=rate if s.workload == "rr" else None,
        transactions_interval_per_s=_carried(s, out, rate, log_sd) if s.workload == "rr" else None,
        messages_per_s=rate,
        interrupts_per_s=plain(out.interrupts_per_s),
        loss=plain(out.loss),
        busy=busy,
        demands_s=demand,
        cpu_host=cpu_host,
        cpu_guest=cpu_guest,
        bus_bytes_s=solved.bus_bytes * rate,
        bottleneck=bottleneck,
        slack=slack,
        saturated=out.saturated,
        shares=shares,
        regime="; ".join(out.regime),
        standing=_standing(s, elasticity, _elasticities(out.latency_s, parameters)),
        log_sd=log_sd,
        elasticities=elasticity,
        warnings=warnings,
        sources=_sources(s, solved, elasticity),
        percentile_method=TWO_MOMENTS if out.time is None else THREE_MOMENTS,
        kicks_per_s=_maybe(out.kicks_per_s),
        batch_taken=_maybe(out.batch_taken),
        ring_mean=_maybe(out.ring_mean),
        ring_full=_maybe(out.ring_full),
        ring_percentiles=_ring(s, out),
        core_watts=_watts(s.profile),
        cores_per_gbps=cores * BPS_PER_GBPS / throughput if throughput > 0 else None,
        cores_per_mpps=cores * PPS_PER_MPPS / packet_rate if packet_rate > 0 else None,
    )


def _ring(s: Scenario, out: Outcome) -> dict[float, float]:
    """Frames in the fullest ring, by percentile; no more than it has places."""
    if out.ring_spread is None:
        return {}
    places = s.knobs["ring_size"]
    return {p: min(skewed_percentile(out.ring_spread, p), places) for p in PERCENTILES}


def _watts(profile: Profile) -> float | None:
    """What a busy core draws on this machine [W]; None where the profile does not know."""
    watts: float | None = profile.machine.get("core_watts")
    return None if watts is None else float(watts)


def _maybe(x: Any) -> float | None:
    return None if x is None else float(plain(x))


def _carried(s: Scenario, out: Outcome, carried: float, log_sd: float) -> Interval:
    """Interval of a rate: what is offered is carried, unless there is less capacity than thought."""
    if out.saturated or s.load.kind == "max" or s.workload == "stream":
        return _interval(carried, log_sd)
    capacity = carried * plain(out.upper_rate_per_s) / plain(out.rate_per_s)
    return Interval(low=min(carried, _interval(capacity, log_sd).low), high=carried)


def spinning(chains: Sequence[Chain]) -> set[str]:
    """Resources that poll and are never idle, whatever the load."""
    rows = evaluate.stage_rows()
    return {n.resource for c in chains for n in c.nodes if n.resource is not None and rows[n.stage].spins}


def packet_count(s: Scenario, words: Mapping[str, Any]) -> Any:
    """Packets of one message: frames, or virtio-vsock packets where no network stack is on the path."""
    return words["vsock_packets" if "vsock_packets" in words else "packets"]


def _interval(value: float, log_sd: float) -> Interval:
    spread = math.exp(NORMAL_90 * log_sd)
    return Interval(low=value / spread, high=value * spread)


def _elasticities(target: Any, parameters: Mapping[str, float]) -> dict[str, float]:
    """d log(answer) / d log(parameter), exact; for every parameter on the way, zero included."""
    if not isinstance(target, Dual) or target.value == 0:
        return {}
    return {p: d * parameters[p] / target.value for p, d in target.gradient.items()}


def parameter_variance(s: Scenario, elasticity: Mapping[str, float]) -> float:
    """Variance of log(answer) from what is not known of the parameters: g C g, prior variance where not fitted."""
    order = {name: i for i, name in enumerate(s.profile.correlated)}
    fitted = [(order[p], e) for p, e in elasticity.items() if p in order and p not in s.parameters]
    variance = 0.0
    for i, ei in fitted:
        for j, ej in fitted:
            low, high = (i, j) if i >= j else (j, i)
            variance += ei * ej * s.profile.covariance[low][high]
    for p, e in elasticity.items():
        if p not in order and p not in s.parameters:
            variance += (e * value_of(s.profile, p).log_error) ** 2
    return max(variance, 0.0)


def _latency_sd(s: Scenario, out: Outcome, parameters: Mapping[str, float], stretch: float) -> float:
    return math.sqrt(parameter_variance(s, _elasticities(out.latency_s, parameters)) + stretch)


def _bottleneck(s: Scenario, out: Outcome, demand: Mapping[str, float], rate: float) -> tuple[str, float]:
    """The busiest resource and its spare share; in a ping-pong what takes longest of the cycle."""
    if "limited by the window" in out.regime:
        return "window", max(0.0, 1 - rate * max(demand.values()))
    if any("locked" in r for r in out.regime):
        return "interrupt moderation", 0.0
    name = max(demand, key=lambda k: demand[k])
    return name, max(0.0, 1 - rate * demand[name])


def _percentiles(out: Outcome, shares: Sequence[StageShare]) -> dict[float, float]:
    """p50 to p99.999 of the latency: independent stage times, gamma law with the same mean and variance.

    A throttle that locks the cycle lets nothing through before its time, and delays nothing that takes longer.
    The law of offered load brings the distribution itself, with its third moment.
    """
    if out.time is not None:
        return {p: skewed_percentile(out.time, p) for p in PERCENTILES}
    rows = evaluate.stage_rows()
    locked = any("locked" in r for r in out.regime)
    lock = next((r for r in reversed(shares) if r.stage == "moderation_wait"), None) if locked else None
    times = []
    for r in shares:
        if r.seconds <= 0 or r is lock:
            continue
        scv = rows[r.stage].variability if r.stage in rows else QUEUE_SCV if r.stage == "queueing" else 0.0
        times.append(gamma_time(r.seconds, scv) if scv > 0 else constant_time(r.seconds))
    whole = add_times(times)
    floor = plain(out.latency_s) if locked else 0.0
    return {p: max(floor, gamma_percentile(whole, p)) for p in PERCENTILES}


def _standing(s: Scenario, *elasticities: Mapping[str, float]) -> str:
    """Standing of the worst parameter that the rate or the latency depends on."""
    used = {p for table in elasticities for p, e in table.items() if abs(e) >= MATTERS and p not in s.parameters}
    return worst_standing([value_of(s.profile, p).standing for p in sorted(used)] or [MEASURED])


def _sources(s: Scenario, solved: Solved, elasticity: Mapping[str, float]) -> tuple[str, ...]:
    rows = evaluate.stage_rows()
    found: dict[str, None] = dict.fromkeys(s.profile.sources)
    for chain in solved.chains:
        for node in chain.nodes:
            found.update(dict.fromkeys(rows[node.stage].cites))
    for p in elasticity:
        found.update(dict.fromkeys(value_of(s.profile, p).sources))
    return tuple(sorted(found))


def cpu(solved: Solved) -> tuple[Any, Any]:
    """Processors of the host and of the guest that are busy [cores]."""
    out = solved.outcome
    return processors(use(out.demands_s, plain(out.rate_per_s), solved.words, spinning(solved.chains)), solved.words)


def columns(s: Scenario) -> dict[str, Any]:
    """Answer a scenario whose knobs hold arrays: latency, rates and CPU as arrays under the same names."""
    return columns_of(s, solve(s, compose.parameter_values(s)))


def columns_of(s: Scenario, solved: Solved) -> dict[str, Any]:
    """The same of what was solved already."""
    out = solved.outcome
    size_bits = message_bits(s)
    both = 2 if s.workload == "rr" else 1
    host, guest = cpu(solved)
    return {
        "latency_s": out.latency_s,
        "throughput_bps": out.rate_per_s * size_bits,
        "rate_pps": out.rate_per_s * packet_count(s, solved.words) * both,
        "transactions_per_s": out.rate_per_s if s.workload == "rr" else None,
        "interrupts_per_s": out.interrupts_per_s,
        "cpu_host": host,
        "cpu_guest": guest,
    }
