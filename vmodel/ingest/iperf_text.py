"""The tables that iperf3 and iperf 2 print. Only final lines count: interval lines are parts of a run, not a result."""

import re
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from vmodel.ingest.given import Given, count, number, words
from vmodel.ingest.result import Ingested, refusal
from vmodel.units import BINARY, BITS_PER_BYTE, DECIMAL, MS_PER_S, US_PER_S

IPERF3, IPERF2 = "iperf3", "iperf2"
SHORTEST_RUN_S = 1.0
SUM = "SUM"
# [  5][TX-C]   0.00-1.00   sec  1.37 GBytes  11.7 Gbits/sec  and what follows
LONGEST_PREFIX = 100
ROW = re.compile(
    r"\[\s{0,3}(?P<id>SUM|\*?\d{1,6}|SUM-\d+)\](?:\[(?P<role>[TR]X-[CS])\])?\s{1,8}"
    r"(?P<from>\d{1,9}\.\d{1,4})-\s{0,4}(?P<to>\d{1,9}\.\d{1,4})\s{1,6}sec\s{1,8}"
    r"(?P<moved>\d{1,12}(?:\.\d{1,4})?)\s{1,4}(?P<moved_unit>[KMGT]?)Bytes\s{1,8}"
    r"(?P<rate>\d{1,18}(?:\.\d{1,6})?)\s{1,4}(?P<prefix>[kKMGT]?)(?P<unit>bits|Bytes)/sec(?P<rest>[^\n]{0,200})$"
)
BANNER = re.compile(  # a time stamp or a title may stand before it
    r"^[^\n]{0,100}?(?:iperf3: |Connecting to host |Server listening on \d|Accepted connection from |iperf 3\.\d)", re.M
)
BANNER2 = re.compile(r"^(?:Client connecting to .{1,200}, (?:TCP|UDP) port|Server listening on (?:TCP|UDP) port)", re.M)
FAULT = re.compile(r"\biperf3: (?P<what>error|interrupt|parameter error) - (?P<why>[^\n]{1,200})")
FAULT2 = re.compile(
    r"^(?P<why>(?:connect|write|read|bind|tcp connect|WARNING: did not receive ack)[^\n]{0,20} failed[^\n]{0,160})",
    re.M,
)
LOSS = re.compile(
    r"(?P<jitter>\d{1,9}\.\d{1,6})\s*ms\s{1,6}(?P<lost>\d{1,15})/\s{0,12}(?P<packets>\d{1,15})\s{0,4}"
    r"\((?P<percent>[-+0-9.e]{1,20}|-?nan)%\)"
)
VERSION3 = re.compile(r"^iperf (3\.[0-9][^\s]{0,20})", re.M)
START = re.compile(
    r"Starting Test: protocol: (?P<protocol>\w{1,16}), (?P<streams>\d{1,6}) streams?, (?P<size>\d{1,9}) byte blocks, "
    r"omitting (?P<omit>\d{1,6}) seconds"
)
CPU = re.compile(
    r"CPU Utilization: (?P<place>local|remote)/(?P<role>sender|receiver) (?P<near>[\d.]{1,9})%[^,]{0,40}, "
    r"(?:local|remote)/(?:sender|receiver) (?P<far>[\d.]{1,9})%"
)
CONNECTED = re.compile(r"^\[[^\]]{1,8}\](?:\[[^\]]{1,8}\])? local .{1,120} connected (?:to|with) ", re.M)
SENT = re.compile(r"\] Sent \d{1,15} datagrams")
DATAGRAM = re.compile(r"(?:Sending|Receiving) (\d{1,6}) byte datagrams")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    stream: str
    role: str
    start_s: float
    end_s: float
    rate_bps: float
    rest: str


def is_iperf3(given: Given) -> bool:
    """Whether the text has the banner or an error of iperf3, or its table with a receiver line."""
    head = given.head
    return BANNER.search(head) is not None or (
        re.search(r"^\[ ID\](?:\[Role\])? Interval", head, re.M) is not None and " receiver" in given.text
    )


def is_iperf2(given: Given) -> bool:
    """Whether the text has the banner of iperf 2 or its table."""
    head = given.head
    return BANNER2.search(head) is not None or re.search(r"^\[ ?ID\] Interval", head, re.M) is not None


def _rows(given: Given) -> list[_Row]:
    rows = []
    for line in given.lines:
        found = _matched(line)
        if found is not None:
            rate = float(found["rate"]) * _factor(found["prefix"], found["unit"])
            stream = SUM if found["id"].startswith(SUM) else found["id"]
            rows.append(
                _Row(
                    stream=stream, role=found["role"] or "", start_s=float(found["from"]),
                    end_s=float(found["to"]), rate_bps=rate, rest=found["rest"].strip(),
                )
            )  # fmt: skip
    return rows


def _matched(line: str) -> re.Match[str] | None:
    """The row in a line; a time stamp or a title may stand before it."""
    line = line.rstrip()[:400]
    at = line.find("[", 0, LONGEST_PREFIX)
    while at >= 0:
        found = ROW.match(line, at)
        if found is not None:
            return found
        at = line.find("[", at + 1, LONGEST_PREFIX)
    return None


def _factor(prefix: str, unit: str) -> float:
    """Bits count in powers of ten, bytes in powers of two."""
    if unit == "bits":
        return DECIMAL["k" if prefix in ("k", "K") else prefix]
    return BITS_PER_BYTE * BINARY.get(f"{prefix.upper()}i", 1.0)


def read_iperf3(given: Given) -> Ingested:
    """Read iperf3's table; raises DatasetError without lines of sender and receiver."""
    fault = FAULT.search(given.text)
    if fault is not None and fault["what"] == "interrupt":
        raise refusal(f'the iperf3 run was interrupted ("{words(fault["why"])}") - not used as a calibration point')
    rows = _rows(given)
    finals = [row for row in rows if row.rest.endswith(("sender", "receiver"))] or _old_udp(given, rows)
    if not any(row.rest.endswith("receiver") for row in finals):
        why = f"iperf3 reports: {fault['why']} (no summary lines)" if fault else "the iperf3 text has no summary lines"
        raise refusal(f"{why}: the run has no final result")
    _one_run(given, ("Connecting to host ", "Accepted connection from "), "iperf3")
    made = []
    for role in sorted({row.role for row in finals}, reverse=True):
        made.append(_text_point(given, [row for row in finals if row.role == role], rows, role))
    warnings = [f"iperf3 reports: {fault['why']} - not used as a calibration point"] if fault else []
    if fault:
        made = [{**point, "usable": False, "because": f"the run ended with an error: {fault['why']}"} for point in made]
    if len(made) > 1:
        warnings.append("bidirectional: two points that share the processors, never one sum")
    if min(point["seconds"] for point in made) < SHORTEST_RUN_S:
        warnings.append("run shorter than 1 s: slow start is a large part of it")
    version = VERSION3.search(given.head)
    return Ingested(
        tool=IPERF3, version=version[1] if version else None, kind="observations",
        observations=tuple(made), warnings=tuple(warnings),
    )  # fmt: skip


def _old_udp(given: Given, rows: list[_Row]) -> list[_Row]:
    """The summary of UDP before 3.2: one line without a role, what was sent and what of it was lost."""
    if SENT.search(given.text) is None:
        return []
    last = next((row for row in reversed(rows) if LOSS.search(row.rest)), None)
    loss = LOSS.search(last.rest) if last is not None else None
    if last is None or loss is None or not int(loss["packets"]):
        return []
    share = 1 - min(int(loss["lost"]) / int(loss["packets"]), 1)
    return [
        replace(last, rest=f"{last.rest} sender"),
        replace(last, rest=f"{last.rest} receiver", rate_bps=last.rate_bps * share),
    ]


def _one_run(given: Given, marks: tuple[str, ...], tool: str) -> None:
    runs = max(sum(mark in line[:LONGEST_PREFIX] for line in given.lines) for mark in marks)
    if runs > 1:
        raise refusal(f"holds {runs} {tool} runs: split them")


def _text_point(given: Given, finals: list[_Row], rows: list[_Row], role: str) -> dict[str, Any]:
    """The point of one direction: the sum of the streams where there are several, never one of them."""
    streams = len({row.stream for row in finals if row.stream != SUM})
    sums = [row for row in finals if row.stream == SUM]
    if streams > 1 and not any(row.rest.endswith("receiver") for row in sums):
        raise refusal(f"{streams} streams without a [SUM] line: the run has no final result")
    chosen = sums if streams > 1 else finals
    received = next((row for row in chosen if row.rest.endswith("receiver")), None)
    sent = next((row for row in chosen if row.rest.endswith("sender")), None)
    if received is None or received.rate_bps <= 0:
        raise refusal("iperf3 counted nothing received: no measurement")
    started = START.search(given.head)
    loss = LOSS.search(received.rest)
    udp = loss is not None or (started is not None and started["protocol"] == "UDP")
    seconds = received.end_s - received.start_s
    reverse = "Reverse mode" in given.head
    direction = "remote to local" if role.startswith("RX") or reverse else "local to remote"
    point: dict[str, Any] = {
        "workload": "stream",
        "protocol": started["protocol"].upper() if started else "UDP" if udp else "TCP",
        "path": "vsock" if started and started["protocol"] == "VSOCK" else None,
        "streams": streams,
        "direction": direction,
        "counts": "delivered",
        "metric": "throughput_bps",
        "throughput_bps": received.rate_bps,
        "received_bps": received.rate_bps,
        "sent_bps": sent.rate_bps if sent else None,
        "seconds": seconds,
        "retransmits": _retransmits(sent),
        "payload_bytes": count(started["size"]) if started else None,
        "omit_s": number(started["omit"]) if started else None,
        "throughput_sd_bps": _spread(rows, role, SUM if streams > 1 else received.stream),
        "unit": _unit_of(given),
        "usable": True,
        "because": None,
        **_cpu(given),
    }
    if udp:
        point |= _udp_part(point, sent, received, loss)
    return point


def _udp_part(
    point: Mapping[str, Any], sent: _Row | None, received: _Row, loss: re.Match[str] | None
) -> dict[str, Any]:
    lost = int(loss["lost"]) if loss else None
    packets = int(loss["packets"]) if loss else None
    payload = point["payload_bytes"]
    return {
        "offered_bps": sent.rate_bps if sent else None,
        "delivered_bps": received.rate_bps,
        "rate_pps": received.rate_bps / BITS_PER_BYTE / payload if payload else None,
        "packets": packets,
        "lost_packets": lost,
        "lost_percent": number(loss["percent"]) if loss else None,
        "jitter_us": float(loss["jitter"]) * US_PER_S / MS_PER_S if loss else None,
    }


def _retransmits(sent: _Row | None) -> int | None:
    first = sent.rest.split()[0] if sent is not None and sent.rest.split() else ""
    return count(first) if first.isdigit() else None


def _unit_of(given: Given) -> str | None:
    """The unit in which the rates are printed, from the first row."""
    for line in given.lines:
        found = _matched(line)
        if found is not None:
            return f"{found['prefix']}{found['unit']}/sec"
    return None


def _cpu(given: Given) -> dict[str, Any]:
    found = CPU.search(given.text)
    if found is None:
        return {}
    near, far = number(found["near"]), number(found["far"])
    local, remote = (near, far) if found["place"] == "local" else (far, near)
    sender, receiver = (near, far) if found["role"] == "sender" else (far, near)
    return {
        "local_cpu_percent": local, "remote_cpu_percent": remote,
        "sender_cpu_percent": sender, "receiver_cpu_percent": receiver,
    }  # fmt: skip


def _spread(rows: list[_Row], role: str, stream: str) -> float | None:
    """Standard deviation of the rate from interval to interval, without those omitted and the last short one."""
    kept = [
        row
        for row in rows
        if row.stream == stream and row.role == role
        and not row.rest.endswith(("sender", "receiver")) and "(omitted)" not in row.rest
    ]  # fmt: skip
    longest = max((row.end_s - row.start_s for row in kept), default=0.0)
    rates = [row.rate_bps for row in kept if row.end_s - row.start_s > longest / 2]
    return statistics.stdev(rates) if len(rates) > 1 else None


def read_iperf2(given: Given) -> Ingested:
    """Read iperf 2's table: one side's view; the line over the whole time is the result."""
    rows = _rows(given)
    fault = FAULT2.search(given.text)
    if not rows:
        why = f": {words(fault['why'])}" if fault else ""
        raise refusal(f"the iperf 2 text has no result{why}")
    _one_run(given, ("Client connecting to ",), "iperf 2")
    udp = re.search(r"(?:,|on) UDP port", given.head) is not None
    final = _whole(rows)
    sums = [row for row in final if row.stream == SUM]
    streams = len({row.stream for row in final if row.stream != SUM})
    if streams > 1 and not sums:
        raise refusal(f"{streams} streams without a [SUM] line: the run has no final result")
    chosen = sums[-1] if sums else final[0]
    report = next((row for row in reversed(rows) if LOSS.search(row.rest)), None)
    loss = LOSS.search(report.rest) if report is not None else None
    delivered = report.rate_bps if report is not None and streams <= 1 else chosen.rate_bps
    if delivered <= 0:
        raise refusal("iperf 2 moved no data: no measurement")
    datagram = DATAGRAM.search(given.text)
    client = "Client connecting" in given.head
    seconds = chosen.end_s - chosen.start_s
    point: dict[str, Any] = {
        "workload": "stream",
        "protocol": "UDP" if udp else "TCP",
        "streams": max(streams, 1),
        "direction": "local to remote" if client else "remote to local",
        "counts": "delivered"
        if loss or not client
        else "sent by a TCP that was acknowledged"
        if not udp
        else "offered",
        "metric": "throughput_bps",
        "throughput_bps": delivered,
        "seconds": seconds,
        "unit": _unit_of(given),
        "usable": True,
        "because": None,
        "payload_bytes": int(datagram[1]) if datagram else None,
        "throughput_sd_bps": _spread(
            [row for row in rows if row not in final], "", SUM if streams > 1 else chosen.stream
        ),
    }
    if udp:
        point |= _udp_part(point, chosen if client else None, report or chosen, loss)
    warnings = ["iperf 2, one side's view" + (" (client)" if client else " (server)")]
    if udp and client and loss is None:
        warnings.append("UDP without a server report: the rate is what was offered, not what was delivered")
        point |= {"usable": False, "because": "offered, not delivered"}
    return Ingested(tool=IPERF2, kind="observations", observations=(point,), warnings=tuple(warnings))


def _whole(rows: list[_Row]) -> list[_Row]:
    """The rows over the whole time: those from zero to the last end, a server report left out."""
    end = max(row.end_s for row in rows)
    final = [row for row in rows if row.start_s == 0 and row.end_s > end - 0.5 and not LOSS.search(row.rest)]
    whole = final or [row for row in rows if row.start_s == 0 and row.end_s > end - 0.5]
    if not whole:
        raise refusal("the iperf 2 text has interval lines only: the run has no final result")
    return whole
