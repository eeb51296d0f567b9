"""What `netperf -- -o` (CSV) and `netperf -- -k` (key=value) print: the output selectors of omni tests."""

import csv
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from vmodel.ingest.given import count, number
from vmodel.ingest.netperf_kinds import Test, named_test, point, rate_factor
from vmodel.ingest.result import refusal
from vmodel.units import US_PER_S

# heads of the CSV -> names of the selectors
HEADS = {
    "Throughput": "THROUGHPUT", "Throughput Units": "THROUGHPUT_UNITS", "Elapsed Time (sec)": "ELAPSED_TIME",
    "Elapsed Time (secs)": "ELAPSED_TIME", "Protocol": "PROTOCOL", "Direction": "DIRECTION",
    "Socket Type": "SOCKET_TYPE",
    "Minimum Latency Microseconds": "MIN_LATENCY", "Mean Latency Microseconds": "MEAN_LATENCY",
    "50th Percentile Latency Microseconds": "P50_LATENCY", "90th Percentile Latency Microseconds": "P90_LATENCY",
    "99th Percentile Latency Microseconds": "P99_LATENCY", "Maximum Latency Microseconds": "MAX_LATENCY",
    "Stddev Latency Microseconds": "STDDEV_LATENCY", "Request Size Bytes": "REQUEST_SIZE",
    "Response Size Bytes": "RESPONSE_SIZE", "Transaction Rate Tran/s": "TRANSACTION_RATE",
    "Round Trip Latency usec/tran": "RT_LATENCY", "Initial Burst Requests": "BURST_SIZE",
    "Local CPU Util %": "LOCAL_CPU_UTIL", "Remote CPU Util %": "REMOTE_CPU_UTIL",
    "Local Service Demand": "LOCAL_SD", "Remote Service Demand": "REMOTE_SD", "Service Demand Units": "SD_UNITS",
    "Confidence Level Percent": "CONFIDENCE_LEVEL", "Confidence Width Target": "CONFIDENCE_INTERVAL",
    "Throughput Confidence Width (%)": "THROUGHPUT_CONFID", "Local Send Size": "LOCAL_SEND_SIZE",
    "Remote Send Size": "REMOTE_SEND_SIZE", "Local Send Throughput": "LOCAL_SEND_THROUGHPUT",
    "Remote Recv Throughput": "REMOTE_RECV_THROUGHPUT",
    "Local Transport Retransmissions": "LOCAL_TRANSPORT_RETRANS", "Transport MSS bytes": "TRANSPORT_MSS",
}  # fmt: skip
PAIR = re.compile(r"^([A-Z][A-Z0-9_]{2,60})=([^\n]{0,300})$", re.M)
LATENCIES = {
    "min_us": "MIN_LATENCY", "mean_us": "MEAN_LATENCY", "p50_us": "P50_LATENCY", "p90_us": "P90_LATENCY",
    "p99_us": "P99_LATENCY", "max_us": "MAX_LATENCY", "stddev_us": "STDDEV_LATENCY",
}  # fmt: skip
HEAD_LINES = 4
MOST_COLUMNS = 400
MOST_ROWS = 2000
TRANSACTIONS = "Trans/s"


def omni_rows(body: str) -> list[dict[str, str]]:
    """The results as selector -> text, none if this is no omni output."""
    pairs = dict(PAIR.findall(body))
    if "THROUGHPUT" in pairs or "TRANSACTION_RATE" in pairs or "MEAN_LATENCY" in pairs:
        return [pairs]
    columns = _columns(body)
    if columns:
        return [columns]
    lines = [line for line in body.split("\n") if "," in line][:MOST_ROWS]
    for place, line in enumerate(lines):
        heads = _cells(line)
        if "Throughput" in heads or "Mean Latency Microseconds" in heads or "Transaction Rate Tran/s" in heads:
            rows = [_cells(row) for row in lines[place + 1 :]]
            named = [HEADS.get(head, head) for head in heads]
            found = [dict(zip(named, row, strict=True)) for row in rows if len(row) == len(heads)]
            if not found:
                raise refusal("the netperf CSV has a header but no row")
            return found
    return []


def _columns(body: str) -> dict[str, str]:
    """The table for people (-O): heads of up to four lines over left-aligned columns, one row."""
    lines = [line for line in body.split("\n")[:60] if line.strip() and "," not in line]
    place = next((n for n, line in enumerate(lines) if re.match(r"-?\d", line)), 0)
    heads, row = lines[max(place - HEAD_LINES, 0) : place], lines[place] if place else ""
    starts = [found.start() for found in re.finditer(r"\S+", row)][:MOST_COLUMNS]
    found: dict[str, str] = {}
    for start, end in zip(starts, [*starts[1:], None], strict=True) if starts else ():
        head = " ".join(" ".join(line[start:end].split()) for line in heads)
        found[HEADS.get(" ".join(head.split()), head)] = row[start:end].strip()
    return found if "THROUGHPUT_UNITS" in found and "THROUGHPUT" in found else {}


def _cells(line: str) -> list[str]:
    if line.count(",") > MOST_COLUMNS:
        return []
    try:
        return [cell.strip() for cell in next(csv.reader([line]), [])]
    except csv.Error:
        return []


def omni_figures(row: Mapping[str, str], test: Test | None, warnings: list[str]) -> dict[str, Any]:
    """The record of one omni result; the banner's test, else what units and direction tell."""
    unit = row.get("THROUGHPUT_UNITS", "")
    test = test or _told(row, unit)
    burst = count(row.get("BURST_SIZE"))
    if burst is not None and test.in_flight == 1:
        test = replace(test, in_flight=burst + 1)
    seconds = number(row.get("ELAPSED_TIME"))
    rate = number(row.get("THROUGHPUT"))
    level = _measured(row, "CONFIDENCE_LEVEL")
    shared: dict[str, Any] = {
        "local_cpu_percent": _measured(row, "LOCAL_CPU_UTIL"),
        "remote_cpu_percent": _measured(row, "REMOTE_CPU_UTIL"),
        "retransmits": count(row.get("LOCAL_TRANSPORT_RETRANS")),
        "mss_bytes": count(row.get("TRANSPORT_MSS")),
    }
    if level:
        shared["confidence_level_percent"] = level
        shared["confidence_width_percent"] = _measured(row, "THROUGHPUT_CONFID") or _measured(
            row, "CONFIDENCE_INTERVAL"
        )
    if test.kind == "stream":
        return _stream(row, test, rate, unit, warnings) | shared | {"seconds": seconds}
    if unit not in (TRANSACTIONS, ""):
        rate = None
    rate = number(row.get("TRANSACTION_RATE")) if rate is None else rate
    times = {name: _measured(row, selector) for name, selector in LATENCIES.items() if selector in row}
    record = point(
        test, rate or _from_latency(times, test), seconds,
        request_bytes=_measured(row, "REQUEST_SIZE"), response_bytes=_measured(row, "RESPONSE_SIZE"),
    )  # fmt: skip
    if test.kind == "rr":
        if times.get("mean_us"):
            record["latency_us"] = times["mean_us"]
        rtt = _measured(row, "RT_LATENCY")
        record |= {**times, **({"rt_latency_us": rtt} if rtt is not None else {})}
    return record | shared


def _from_latency(times: Mapping[str, float | None], test: Test) -> float | None:
    """The rate that a mean latency implies, where only that was asked for."""
    mean = times.get("mean_us")
    return None if not mean or test.kind != "rr" else test.in_flight / mean * US_PER_S


def _measured(row: Mapping[str, str], name: str) -> float | None:
    """A number of the output; -1 means that it was not measured."""
    found = number(row.get(name, ""))
    return None if found is None or found < 0 else found


def _told(row: Mapping[str, str], unit: str) -> Test:
    """The test without a banner: units and direction decide."""
    protocol = row.get("PROTOCOL", "") or ("UDP" if row.get("SOCKET_TYPE") == "Datagram" else "TCP")
    direction = row.get("DIRECTION", "")
    if (
        unit == TRANSACTIONS
        or direction == "Send|Recv"
        or (not unit and ("RT_LATENCY" in row or "MEAN_LATENCY" in row))
    ):
        kind = "RR"
    elif unit:
        kind = "MAERTS" if direction == "Recv" else "STREAM"
    else:
        raise refusal("neither banner nor THROUGHPUT_UNITS: cannot tell TCP_RR from TCP_STREAM")
    found = named_test(f"{protocol if protocol in ('TCP', 'UDP', 'SCTP', 'DCCP') else 'TCP'}_{kind}")
    if found is None:
        raise refusal("a netperf test that is not known")
    return found


def _stream(row: Mapping[str, str], test: Test, rate: float | None, unit: str, warnings: list[str]) -> dict[str, Any]:
    if rate is None:
        raise refusal("the netperf output has no THROUGHPUT: no measurement")
    factor = rate_factor(unit or "10^6bits/s")
    if not unit:
        warnings.append("no THROUGHPUT_UNITS: taken for 10^6bits/s, netperf's own choice without -f")
    size = _measured(row, "REMOTE_SEND_SIZE" if test.reverse else "LOCAL_SEND_SIZE")
    more: dict[str, Any] = {"unit": unit or None, "message_bytes": size or None}
    if test.protocol == "UDP":
        sent, received = _measured(row, "LOCAL_SEND_THROUGHPUT"), _measured(row, "REMOTE_RECV_THROUGHPUT")
        if received is None:
            warnings.append("UDP without REMOTE_RECV_THROUGHPUT: whether the rate was delivered is unknown")
            more |= {"counts": "offered or delivered, not told", "usable": False, "because": "may be offered only"}
        else:
            rate = received
            more |= {"offered_bps": None if sent is None else sent * factor, "delivered_bps": received * factor}
    return point(test, rate * factor, None, **more)
