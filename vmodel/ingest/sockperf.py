"""sockperf: ping-pong, under-load, throughput; summaries and full logs. It prints half round trips unless told."""

import re
import statistics
from collections.abc import Iterator, Mapping
from typing import Any

from vmodel.ingest.given import Given, count, number, words
from vmodel.ingest.result import Ingested, refusal
from vmodel.units import BITS_PER_BYTE, BYTES_PER_MIB, PERCENT_PER_ONE, US_PER_S

TOOL = "sockperf"
VERSION = re.compile(r"== version #([^\s=]{1,40})")
AVERAGE = re.compile(
    r"avg-(?P<what>latency|lat|rtt)=\s*(?P<mean>[\d.]{1,20}) \(std-?dev=\s*(?P<sd>[\d.]{1,20})", re.IGNORECASE
)
SUMMARY = re.compile(r"Summary: (?P<what>Latency|Round trip) is\s+(?P<mean>[\d.]{1,20}) usec", re.IGNORECASE)
RUN = re.compile(
    r"\[(?P<which>Total Run|Valid Duration)\] RunTime=(?P<seconds>[\d.]{1,20}) sec;[^\n]{0,60}"
    r"SentMessages=(?P<sent>\d{1,18}); ReceivedMessages=(?P<received>\d{1,18})"
)
PERCENTILE = re.compile(r"---> percentile (?P<rank>[\d.]{1,8})\s*=\s*(?P<value>[\d.]{1,20})")
EXTREME = re.compile(r"---> <(?P<which>MAX|MIN)> observation\s*=\s*(?P<value>[\d.]{1,20})")
OBSERVED = re.compile(r"Total (\d{1,18}) observations")
RATE = re.compile(r"Message Rate is (?P<rate>[\d.]{1,20}) \[msg/sec\]")
BANDWIDTH = re.compile(r"BandWidth is (?P<rate>[\d.]{1,20}) MBps")
SIZE = re.compile(r"msg-size[= ](\d{1,9})")
OPTIONS = re.compile(r"--(mps|burst|reply-every|msg-size|time)[= ](\S{1,20})")
PROTOCOL = re.compile(r"PORT\s*=\s*\S{1,10}\s*#\s*(UDP|TCP)")
FAULT = re.compile(r"^sockperf: (?P<why>(?:ERROR: |No messages were received|Server not responding)[^\n]{0,200})", re.M)
ROWS_HEAD = re.compile(r"^packet, txTime\(sec\), rxTime\(sec\), (?P<what>latency|rtt|RTT)\(usec\)", re.M)
ROW = re.compile(r"^\d{1,12}, (?P<tx>\d{1,12}\.\d{1,12}), (?P<rx>\d{1,12}\.\d{1,12}), (?P<value>\d{1,12}\.\d{1,6})")
NAMES = {"50": "p50", "75": "p75", "90": "p90", "99": "p99", "99.9": "p999", "99.99": "p9999", "99.999": "p99999"}
ALONE = 0.2  # how far requests times round trip may be from the run time, for one request at a time
FEW = 10  # observations beyond a percentile that make it worth something
ROUND_TRIPS = {"half round trip": 2.0, "round trip": 1.0}  # times what is printed


def is_sockperf(given: Given) -> bool:
    """Whether the text has lines of sockperf, or the head of its log."""
    return re.search(r"^sockperf(?:\[|: )", given.head, re.M) is not None or ROWS_HEAD.search(given.head) is not None


def read(given: Given) -> Ingested:
    """Read one run; raises DatasetError where it measured nothing."""
    text = given.text
    version = VERSION.search(text)
    warnings: list[str] = []
    if len(AVERAGE.findall(text)) > 1 or len(RATE.findall(text)) > 1:
        raise refusal("holds more than one sockperf run, or one with several servers: split them")
    average, summary = AVERAGE.search(text), SUMMARY.search(text)
    made: list[dict[str, Any]] = []
    if average is not None or summary is not None:
        made.append(_latency(given, average, summary, warnings))
    if RATE.search(text) is not None:
        made.append(_throughput(text, warnings))
    if not made and ROWS_HEAD.search(text) is not None:
        made.append(_from_rows(given, warnings))
    if not made:
        fault = FAULT.search(text)
        why = words(fault["why"].removeprefix("ERROR: ")) if fault else "no summary: the test did not end"
        raise refusal(f"sockperf: {why}")
    return Ingested(
        tool=TOOL, version=version[1] if version else None, kind="observations", observations=tuple(made),
        warnings=tuple(warnings),
    )  # fmt: skip


def _latency(
    given: Given, average: re.Match[str] | None, summary: re.Match[str] | None, warnings: list[str]
) -> dict[str, Any]:
    text = given.text
    printed = average or summary
    mean = number(printed["mean"]) if printed is not None else None
    if printed is None or not mean:
        raise refusal("sockperf printed no latency: no measurement")
    kind = "round trip" if printed["what"].casefold() in ("rtt", "round trip") else "half round trip"
    sd = number(average["sd"]) if average is not None else None
    runs = {found["which"]: found for found in RUN.finditer(text)}
    valid = runs.get("Valid Duration") or runs.get("Total Run")
    total = runs.get("Total Run") or valid
    observed = OBSERVED.search(text)
    observations = int(observed[1]) if observed else count(valid["received"]) if valid else None
    if observations == 0 or (valid is not None and int(valid["received"]) == 0):
        raise refusal("sockperf received no messages: no measurement")
    printed_values = {"mean_us": mean, "stddev_us": sd, **_percentiles(text)}
    mode = _mode(mean * ROUND_TRIPS[kind], observations, valid, text)
    options = dict(OPTIONS.findall(text))
    few = [
        name for name, left in (("p99", 0.01), ("p999", 0.001), ("p9999", 1e-4), ("p99999", 1e-5))
        if observations is not None and f"{name}_us" in printed_values and observations * left < FEW
    ]  # fmt: skip
    if few:
        warnings.append(f"{observations} observations are too few for {', '.join(few)}")
    protocol = PROTOCOL.search(text)
    size = SIZE.search(text)
    made: dict[str, Any] = {
        "mode": mode,
        "protocol": protocol[1] if protocol else None,
        "direction": "both",
        "message_bytes": int(size[1]) if size else None,
        "observations": observations,
        "sent": int(total["sent"]) if total else None,
        "received": int(total["received"]) if total else None,
        "seconds": number(valid["seconds"]) if valid else None,
        "usable": True,
        "because": None,
        **_as(kind, printed_values),
    }
    rows = sum(1 for _ in _rows(given))
    if rows:
        made["rows"] = rows
    if mode == "ping-pong":
        made |= _ping_pong(kind, printed_values)
    else:
        made |= _under_load(kind, printed_values, total, options, warnings)
    if size is None:
        warnings.append("the message size is not in this output: give it with --size")
    return made


def _as(kind: str, values: Mapping[str, float | None]) -> dict[str, Any]:
    """The printed values under names that say which trip they are of."""
    prefix = "half_rtt" if kind == "half round trip" else "rtt"
    return {f"{prefix}_{name}": value for name, value in values.items()}


def _ping_pong(kind: str, values: Mapping[str, float | None]) -> dict[str, Any]:
    """A ping-pong in the words of the model: the full round trip, one in flight."""
    times = ROUND_TRIPS[kind]
    full = {name: None if value is None else value * times for name, value in values.items()}
    mean = full["mean_us"] or 0.0
    return {
        "workload": "rr", "metric": "latency_us", "in_flight": 1, "latency_kind": "round trip", "latency_us": mean,
        "transactions_per_s": US_PER_S / mean if mean else None, **full,
    }  # fmt: skip


def _under_load(
    kind: str,
    values: Mapping[str, float | None],
    total: re.Match[str] | None,
    options: Mapping[str, str],
    warnings: list[str],
) -> dict[str, Any]:
    """Under load the half round trip stands for one way, at the rate that was sent."""
    half = 2.0 / ROUND_TRIPS[kind]
    one_way = {name: None if value is None else value / half for name, value in values.items()}
    made: dict[str, Any] = {
        "workload": "packets", "metric": "latency_us", "latency_us": one_way["mean_us"],
        "latency_kind": "half round trip",
        **one_way,
    }  # fmt: skip
    warnings.append("half a round trip is taken for one way: both ways are assumed alike")
    if total is None:
        return made
    sent, received, seconds = int(total["sent"]), int(total["received"]), number(total["seconds"])
    every = count(options.get("reply-every")) or (round(sent / received) if received else None)
    made |= {"load_pps": sent / seconds if seconds else None, "reply_every": every}
    if every and every > 1:
        warnings.append(f"one message of {every} is answered: {received} answers to {sent} messages are no loss")
    return made


def _mode(rtt_us: float, observations: int | None, valid: re.Match[str] | None, text: str) -> str:
    """One request at a time fills the run with round trips; anything else is under load."""
    if re.search(r"\b(?:under-load|--mps=max)\b", text) is not None:
        return "under-load"
    seconds = number(valid["seconds"]) if valid is not None else None
    if valid is not None and int(valid["received"]) < int(valid["sent"]) / 2:
        return "under-load"
    if observations and seconds and abs(rtt_us * observations / US_PER_S / seconds - 1) > ALONE:
        return "under-load"
    return "ping-pong"


def _percentiles(text: str) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for match in PERCENTILE.finditer(text):
        rank = match["rank"].rstrip("0").rstrip(".") if "." in match["rank"] else match["rank"]
        if rank in NAMES:
            found[f"{NAMES[rank]}_us"] = number(match["value"])
    for match in EXTREME.finditer(text):
        found[f"{match['which'].casefold()}_us"] = number(match["value"])
    return found


def _throughput(text: str, warnings: list[str]) -> dict[str, Any]:
    """The sender's count of messages: offered, since nothing tells what arrived."""
    rate = RATE.search(text)
    size, bandwidth, protocol = SIZE.search(text), BANDWIDTH.search(text), PROTOCOL.search(text)
    per_s = number(rate["rate"]) if rate else None
    if not per_s:
        raise refusal("sockperf sent no messages: no measurement")
    size_bytes = int(size[1]) if size else None
    bps = per_s * size_bytes * BITS_PER_BYTE if size_bytes else None
    printed = number(bandwidth["rate"]) if bandwidth else None
    if bps is None and printed:
        bps = printed * BYTES_PER_MIB * BITS_PER_BYTE
    udp = protocol is None or protocol[1] == "UDP"
    warnings.append("sockperf throughput counts what the client sent" + (": offered, not delivered" if udp else ""))
    return {
        "mode": "throughput", "workload": "stream", "protocol": protocol[1] if protocol else None,
        "direction": "local to remote", "counts": "offered" if udp else "sent", "metric": "throughput_bps",
        "throughput_bps": bps, "sent_bps": bps, "rate_pps": per_s, "messages_per_s": per_s, "message_bytes": size_bytes,
        "streams": 1, "usable": not udp and bps is not None, "because": "offered, not delivered" if udp else None,
    }  # fmt: skip


def _rows(given: Given) -> Iterator[tuple[float, float, float]]:
    """Sent [s], received [s] and printed time [us] of each row of a log."""
    if ROWS_HEAD.search(given.text) is None:
        return
    for line in given.lines:
        found = ROW.match(line) if line[:1].isdigit() else None
        if found is not None:
            yield float(found["tx"]), float(found["rx"]), float(found["value"])


def _from_rows(given: Given, warnings: list[str]) -> dict[str, Any]:
    """A log without its summary: mean, spread and percentiles of its rows."""
    rows = list(_rows(given))
    if len(rows) < 2:
        raise refusal("the sockperf log has no rows: no measurement")
    values = [value for _, _, value in rows]
    gap = (rows[0][1] - rows[0][0]) * US_PER_S
    kind = "half round trip" if values[0] < gap * 3 / 4 else "round trip"
    cuts = statistics.quantiles(values, n=PERCENT_PER_ONE, method="inclusive")
    printed = {
        "mean_us": statistics.fmean(values), "stddev_us": statistics.stdev(values), "min_us": min(values),
        "max_us": max(values), "p50_us": cuts[49], "p90_us": cuts[89], "p99_us": cuts[98],
    }  # fmt: skip
    seconds = rows[-1][1] - rows[0][0]
    filled = statistics.fmean(values) * ROUND_TRIPS[kind] * len(values) / US_PER_S / seconds if seconds > 0 else 0.0
    alone = abs(filled - 1) <= ALONE
    warnings.append("a log without its summary: figures are those of its rows")
    made = {
        "mode": "ping-pong" if alone else "under-load", "protocol": None, "direction": "both", "message_bytes": None,
        "observations": len(values), "rows": len(values), "seconds": seconds, "usable": True, "because": None,
        **_as(kind, printed),
    }  # fmt: skip
    return made | (_ping_pong(kind, printed) if alone else _under_load(kind, printed, None, {}, warnings))
