"""iperf3 in JSON: one report, a stream of events, or several reports of a server. Text is `iperf_text.py`."""

import statistics
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from vmodel.ingest.given import Documents, Given, count, mapping, number, objects, words
from vmodel.ingest.result import Ingested, Record, refusal
from vmodel.units import BITS_PER_BYTE, BYTES_PER_KIB, BYTES_PER_MIB, MS_PER_S, US_PER_S

TOOL = "iperf3"
SHORTEST_RUN_S = 1.0  # a shorter run is mostly slow start
EVENTS = ("start", "interval", "end", "error", "server_output_text", "server_output_json")
NEAR_TARGET = 0.95  # share of the target rate from which the target, not the path, set the rate
UDP_DEFAULT_BPS = float(BYTES_PER_MIB)  # iperf3 -u without -b: 1 Mbit/s, counted in powers of two
SUMS = {"sent": "sum_sent", "received": "sum_received", "total": "sum"}
CAPPED = "limited by its target bit rate: a lower bound of the capacity"
BOTH_WAYS = "both directions at once share the processors"
MULTITHREADED = (3, 16)  # the first version that gives each stream a thread


def is_json(given: Given) -> bool:
    """Whether the JSON has the parts of an iperf3 report, or the events of its stream."""
    found = given.json
    if found is None:
        return False
    if not found.values:
        return found.fault != "" and '"start"' in given.head and '"test_start"' in given.head
    first = mapping(found.values[0])
    return _is_report(first) or _is_event(first)


def _is_report(value: Mapping[str, Any]) -> bool:
    start = mapping(value.get("start"))
    return (
        "end" in value
        and ("start" in value or "error" in value or "intervals" in value)
        and ("intervals" in value or "error" in value or str(start.get("version", "")).startswith("iperf"))
    )


def _is_event(value: Mapping[str, Any]) -> bool:
    return value.get("event") in EVENTS and "data" in value


def read_json(given: Given) -> Ingested:
    """Read a report; raises DatasetError for a run without a final result, with the reason iperf3 gives."""
    found = given.json
    if found is None or not (found.values or found.fault):
        raise refusal("expected an iperf3 report in JSON")
    if found.values and _is_event(mapping(found.values[0])):
        return _of_report(_joined(found), _around(found))
    reports = [mapping(value) for value in found.values]
    if len(reports) + bool(found.fault) > 1:
        reports = [_picked(reports, found, given.pick)]
    elif found.fault:
        where = "" if found.fault_line is None else f" (line {found.fault_line})"
        raise refusal(f"the iperf3 JSON is cut off or damaged{where}: {found.fault}; the run has no final result")
    return _of_report(reports[0], _around(found))


def _picked(reports: list[dict[str, Any]], found: Documents, pick: tuple[str, ...]) -> dict[str, Any]:
    """The one document that the user named by its number."""
    for name in pick:
        place = count(name)
        if place is not None and 1 <= place <= len(reports):
            return reports[place - 1]
    total = len(reports) + bool(found.fault)
    bad = sum("error" in report for report in reports) + bool(found.fault)
    complete = f"{total - bad} complete, {bad} with an error" if bad else "all complete"
    raise refusal(
        f"holds {total} iperf3 JSON documents ({complete}): split them, or name one by its number with --interface"
    )


def _around(found: Documents) -> tuple[list[str], str]:
    """Notes about text around the JSON, and the error that such text reports."""
    notes, problem = [], ""
    if found.before:
        notes.append(f'skipped text before the JSON: "{words(found.before, 120)}"')
    if found.after:
        text = words(found.after, 160)
        if "error" in text.casefold():
            problem = f'text after the JSON document ("{text}"): the run ended with an error'
        else:
            notes.append(f'skipped text after the JSON: "{text}"')
    return notes, problem


def _joined(found: Documents) -> dict[str, Any]:
    """The events of a stream as one report."""
    report: dict[str, Any] = {"intervals": []}
    for line, value in enumerate(found.values, start=1):
        if _is_report(mapping(value)):  # --json-stream-full-output ends with the whole report
            return dict(mapping(value))
        event, data = mapping(value).get("event"), mapping(value).get("data")
        if event == "interval":
            report["intervals"].append(data)
        elif event in ("start", "end"):
            if event in report:
                raise refusal("the iperf3 JSON stream holds more than one run: split them", line)
            report[event] = mapping(data)
        elif event == "error":
            report["error"] = data
    if found.fault and "error" not in report:
        inside = '"end"' if "end" not in report else "next"
        raise refusal(
            f"the iperf3 JSON stream ends inside the {inside} event (line {found.fault_line}): "
            "the run has no final result"
        )
    if "end" not in report and "error" not in report:
        raise refusal('the iperf3 JSON stream has no "end" event: the run has no final result')
    return report


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """The facts of a run that every one of its observations repeats."""

    protocol: str
    streams: int | None
    test: Mapping[str, Any]
    start: Mapping[str, Any]
    end: Mapping[str, Any]
    intervals: tuple[Mapping[str, Any], ...]
    warnings: list[str]
    problem: str


def _of_report(report: Mapping[str, Any], around: tuple[list[str], str]) -> Ingested:
    start, end = mapping(report.get("start")), mapping(report.get("end"))
    test = mapping(start.get("test_start"))
    version = words(start.get("version"), 40).removeprefix("iperf").strip() or None
    if "error" in report:
        raise refusal(
            _why(words(report["error"]) or "an error without a text", end, begun=bool(report.get("intervals")))
        )
    if not end:
        raise refusal('the iperf3 report has an empty "end": the run has no final result')
    notes, problem = around
    protocol = words(test.get("protocol"), 16).upper() or ("UDP" if _udp(end) else "TCP")
    streams = count(test.get("num_streams")) or sum(1 for _ in objects(end.get("streams"))) or None
    intervals = tuple(objects(report.get("intervals")))
    run = _Run(
        protocol=protocol, streams=streams, test=test, start=start, end=end, intervals=intervals,
        warnings=list(notes), problem=problem,
    )  # fmt: skip
    if problem:
        run.warnings.append(f"{problem} - not used as a calibration point")
    made = [_observation(run, sums) for sums in _directions(run)]
    _warn(run, version, made)
    return Ingested(
        tool=TOOL, version=version, kind="observations", observations=tuple(made), warnings=tuple(run.warnings)
    )


def _why(error: str, end: Mapping[str, Any], *, begun: bool) -> str:
    """Why a run with an error is no measurement: it never started, or it broke off with numbers that look right."""
    error = error.removeprefix("error - ").removeprefix("iperf3: error - ")
    seconds = number(mapping(end.get("sum_sent")).get("seconds")) or number(mapping(end.get("sum")).get("seconds"))
    if seconds and "interrupt" in error:
        return (
            f'the iperf3 run was interrupted after {seconds:.2f} s ("{error}"): the received rate is unknown - '
            "not used as a calibration point"
        )
    if "terminated" in error or "interrupt" in error:
        return f'the iperf3 run broke off ("{error}") - not used as a calibration point'
    if seconds:
        return f"iperf3 reports: {error} (the run broke off after {seconds:.2f} s, no final result)"
    return f"iperf3 reports: {error} ({'no final result' if begun else 'no measurement in this file'})"


def _udp(end: Mapping[str, Any]) -> bool:
    return "packets" in mapping(end.get("sum")) or any("udp" in stream for stream in objects(end.get("streams")))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sums:
    """The sums of one direction: sent, received (empty where not told), and both together as old versions have it."""

    sent: Mapping[str, Any]
    received: Mapping[str, Any]
    total: Mapping[str, Any]
    direction: str


def _directions(run: _Run) -> list[_Sums]:
    """Sums of each direction of the data: two for a bidirectional run, never their sum."""
    end = run.end
    # A report is written from its own side: what a client sends, a server receives, unless -R turns it round.
    towards = bool(number(run.test.get("reverse"))) != _of_server(run)
    forward = _sums(end, "", "remote to local" if towards else "local to remote")
    if not (forward.sent or forward.received or forward.total):
        raise refusal('the iperf3 report has no sums in "end": the run has no final result')
    back = _sums(end, "_bidir_reverse", "remote to local")
    if back.sent or back.received or back.total:
        if _of_server(run):
            return [replace(forward, direction="remote to local"), replace(back, direction="local to remote")]
        return [replace(forward, direction="local to remote"), back]
    if number(run.test.get("bidir")):
        run.warnings.append("a bidirectional run with one direction only: the other is unknown")
    return [forward]


def _of_server(run: _Run) -> bool:
    """Whether a server wrote the report."""
    return "accepted_connection" in run.start and "connecting_to" not in run.start


def _sums(end: Mapping[str, Any], suffix: str, direction: str) -> _Sums:
    parts = {name: mapping(end.get(f"{key}{suffix}")) for name, key in SUMS.items()}
    return _Sums(**parts, direction=direction)


def _observation(run: _Run, sums: _Sums) -> Record:
    make = _udp_figures if run.protocol == "UDP" or _udp(run.end) else _stream_figures
    figures, direction = make(run, sums), sums.direction
    cpu = mapping(run.end.get("cpu_utilization_percent"))
    forward = direction == "local to remote"
    target = number(run.test.get("target_bitrate")) or number(run.start.get("target_bitrate"))
    if not target and "target_bitrate" not in run.test and run.protocol == "UDP":
        target = _default_target(figures.get("offered_bps"), run.streams or 1)
    local, remote = number(cpu.get("host_total")), number(cpu.get("remote_total"))
    rate = figures["throughput_bps"]
    offered = figures.get("offered_bps") or figures.get("sent_bps") or rate
    # The target is per stream; the receiver may get less only because packets are lost.
    capped = bool(target) and offered >= NEAR_TARGET * (target or 0) * (run.streams or 1)
    record = {
        "path": "vsock" if run.protocol == "VSOCK" else None,
        "workload": "stream",
        "protocol": run.protocol,
        "streams": run.streams,
        "direction": direction,
        "reverse": bool(number(run.test.get("reverse"))),
        "bidir": bool(number(run.test.get("bidir"))) or "sum_sent_bidir_reverse" in run.end,
        "counts": "delivered",
        "metric": "throughput_bps",
        **figures,
        "payload_bytes": count(run.test.get("blksize")),
        "mss_bytes": _mss(run),
        "omit_s": number(run.test.get("omit")),
        "target_bps": target or None,
        "limited_by": "target_bitrate" if capped else None,
        "local_cpu_percent": local,
        "remote_cpu_percent": remote,
        "sender_cpu_percent": local if forward else remote,
        "receiver_cpu_percent": remote if forward else local,
        "congestion_control": words(run.end.get("sender_tcp_congestion"), 40) or None,
        "throughput_sd_bps": _spread(run, direction),
    }
    because = run.problem or (CAPPED if capped else BOTH_WAYS if record["bidir"] else None)
    record |= {"usable": because is None, "because": because}
    goal = count(run.test.get("bytes"))
    if goal:
        record["bytes_target"] = goal
    return record


def _default_target(offered_bps: float | None, streams: int) -> float | None:
    """The target of UDP without -b, where an old version does not print it and the run kept to it."""
    near = offered_bps is not None and abs(offered_bps / streams / UDP_DEFAULT_BPS - 1) < 1 - NEAR_TARGET
    return UDP_DEFAULT_BPS if near else None


def _mss(run: _Run) -> int | None:
    return count(run.start.get("tcp_mss")) or count(run.start.get("tcp_mss_default")) or None


def _seconds(*sums: Mapping[str, Any]) -> float | None:
    return next((s for total in sums if (s := number(total.get("seconds"))) and s > 0), None)


def _nothing(run: _Run, seconds: float | None) -> str:
    after = "" if seconds is None else f" in {seconds:.2f} s"
    unit = "packets" if run.protocol == "UDP" else "bytes"
    return f"the iperf3 run moved 0 {unit}{after}: no measurement"


def _stream_figures(run: _Run, sums: _Sums) -> dict[str, Any]:
    """TCP, SCTP, vsock: what arrived counts; a server knows only that."""
    sent_bps = number(sums.sent.get("bits_per_second"))
    received_bps = number((sums.received or sums.total).get("bits_per_second"))
    seconds = _seconds(sums.received, sums.sent, sums.total)
    if not received_bps:
        if sent_bps:
            raise refusal("iperf3 counted nothing received: the received rate is unknown - no calibration point")
        raise refusal(_nothing(run, seconds))
    return {
        "throughput_bps": received_bps,
        "sent_bps": sent_bps or None,
        "received_bps": received_bps,
        "seconds": seconds,
        "retransmits": count(sums.sent.get("retransmits")),
        **_round_trips(run, sums.direction == "local to remote"),
    }


def _round_trips(run: _Run, forward: bool) -> dict[str, Any]:
    """The mean and the smallest round-trip time that the local sender's TCP saw under this load."""
    senders = [mapping(stream.get("sender")) for stream in objects(run.end.get("streams"))]
    senders = [sender for sender in senders if sender.get("sender", forward) is forward]
    means = [m for s in senders if (m := number(s.get("mean_rtt")))]
    least = [m for s in senders if (m := number(s.get("min_rtt")))]
    if not means or not least:
        return {}
    return {"tcp_rtt_mean_us": statistics.fmean(means), "tcp_rtt_min_us": min(least)}


def _udp_figures(run: _Run, sums: _Sums) -> dict[str, Any]:
    """UDP: offered and delivered apart; without a receiver's sum, delivered follows from the packets lost."""
    sent, received = sums.sent or sums.total, sums.received
    counts = sums.total or received or sent  # of all packets, where the total is told
    packets = count(counts.get("packets")) or count(sent.get("packets"))
    losses = received or counts
    lost, lost_percent = count(losses.get("lost_packets")), number(losses.get("lost_percent"))
    seconds = _seconds(sent, sums.total, received)
    offered_bps = number(sent.get("bits_per_second")) or number(sums.total.get("bits_per_second"))
    delivered_bps = number(received.get("bits_per_second"))
    if not packets and not delivered_bps:
        raise refusal(_nothing(run, seconds))
    if not delivered_bps:
        if not offered_bps or not packets or lost is None:
            raise refusal("the iperf3 report does not tell what was delivered: no measurement")
        if lost >= packets:
            raise refusal("iperf3 delivered 0 packets: every one was lost, no measurement")
        delivered_bps = offered_bps * (packets - lost) / packets
    payload = count(run.test.get("blksize"))
    arrived_s = _seconds(received, sent, sums.total)
    delivered_pps = delivered_bps / BITS_PER_BYTE / payload if payload else None
    if delivered_pps is None and packets and lost is not None and arrived_s:
        delivered_pps = max(packets - lost, 0) / arrived_s
    return {
        "throughput_bps": delivered_bps,
        "offered_bps": offered_bps or None,
        "delivered_bps": delivered_bps,
        "rate_pps": delivered_pps,
        "offered_pps": _packets_per_s(offered_bps, payload, packets, seconds),
        "delivered_pps": delivered_pps,
        "packets": packets,
        "lost_packets": lost,
        "lost_percent": lost_percent,
        "jitter_us": _microseconds(losses.get("jitter_ms")),
        "seconds": seconds,
    }


def _packets_per_s(bps: float | None, payload: int | None, packets: int | None, seconds: float | None) -> float | None:
    """A rate of datagrams; from the bits where the payload is known, since the time of a sum may be the receiver's."""
    if bps and payload:
        return bps / BITS_PER_BYTE / payload
    return packets / seconds if packets and seconds else None


def _microseconds(milliseconds: Any) -> float | None:
    found = number(milliseconds)
    return None if found is None else found * US_PER_S / MS_PER_S


def _spread(run: _Run, direction: str) -> float | None:
    """Standard deviation of the rate from interval to interval, without those omitted and the last short one."""
    name = "sum"
    if direction == "remote to local" and any("sum_bidir_reverse" in interval for interval in run.intervals):
        name = "sum_bidir_reverse"
    sums = [mapping(interval.get(name)) for interval in run.intervals]
    kept = [s for s in sums if s.get("omitted") is not True]
    longest = max((number(s.get("seconds")) or 0.0 for s in kept), default=0.0)
    rates = [
        rate
        for s in kept
        if (rate := number(s.get("bits_per_second"))) is not None and (number(s.get("seconds")) or 0.0) > longest / 2
    ]
    return statistics.stdev(rates) if len(rates) > 1 else None


def _warn(run: _Run, version: str | None, made: list[Record]) -> None:
    """What a reader of the figures should know."""
    seconds = min((r["seconds"] for r in made if r["seconds"]), default=None)
    if seconds is not None and seconds < SHORTEST_RUN_S:
        run.warnings.append(f"run shorter than 1 s ({seconds:.3g} s): slow start is a large part of it")
    if any(r["limited_by"] for r in made):
        run.warnings.append(
            "the rate was limited on purpose (target bitrate): a lower bound of the capacity, not the capacity"
        )
    if len(made) > 1:
        run.warnings.append("bidirectional: two points that share the processors, never one sum")
    if run.streams and run.streams > 1 and version is not None and _number_of(version) < MULTITHREADED:
        run.warnings.append(f"iperf3 {version} serves all {run.streams} streams from one thread: a one-core figure")
    if any((r.get("lost_percent") or 0) > 1 for r in made):
        run.warnings.append("packets were lost: offered and delivered rate differ, throughput is what was delivered")
    payload = made[0]["payload_bytes"]
    if run.protocol == "UDP" and payload and payload < BYTES_PER_KIB:
        run.warnings.append(
            f"bits per second count UDP payload only: {payload} bytes are a frame of {payload}+8+20+14+4 bytes, "
            "and the packet rate is the meaning of this run"
        )
    if any("sent_bps" in r and r["sent_bps"] is None for r in made):
        run.warnings.append("the server's side of a run: only what it received is known")


def _number_of(version: str) -> tuple[int, ...]:
    """A version as numbers, (3, 12) of `3.12-mt`; a part that is no number ends it."""
    parts: list[int] = []
    for part in version.rstrip("+").split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits or len(digits) > 6:
            break
        parts.append(int(digits))
    return tuple(parts) or MULTITHREADED
