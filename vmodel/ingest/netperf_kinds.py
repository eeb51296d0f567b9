"""The tests of netperf by banner and by name, units of their rates, and the record that each of them gives."""

import re
from dataclasses import dataclass
from typing import Any

from vmodel.ingest.given import number
from vmodel.ingest.result import refusal
from vmodel.units import BINARY, BITS_PER_BYTE, DECIMAL, US_PER_S

BANNER = re.compile(
    r"(?P<protocol>TCP|UDP|SCTP|DCCP|SDP|OMNI)(?:/?IPV6)? ?"
    r"(?P<kind>STREAM|MAERTS|SENDFILE|UNIDIRECTIONAL SEND|REQUEST/RESPONSE|Connect/Request/Response|CONNECT/CLOSE"
    r"|Connect/Close|CRR|Send\|Recv|Send|Receive|RR)",
    re.IGNORECASE,
)
KINDS = {
    "stream": ("STREAM", "stream", False), "maerts": ("MAERTS", "stream", True),
    "sendfile": ("SENDFILE", "stream", False),
    "unidirectional send": ("STREAM", "stream", False), "request/response": ("RR", "rr", False),
    "connect/request/response": ("CRR", "connect", False), "crr": ("CRR", "connect", False),
    "connect/close": ("CC", "connect", False), "cc": ("CC", "connect", False), "send|recv": ("RR", "rr", False),
    "send": ("STREAM", "stream", False), "receive": ("MAERTS", "stream", True), "rr": ("RR", "rr", False),
}  # fmt: skip
BURST = re.compile(r"first burst (\d{1,6})")
CONFIDENCE = re.compile(r"\+/-(?P<width>[\d.]{1,10})% @ (?P<level>\d{1,3})% conf")
FAILED = re.compile(r"^!!! Confidence intervals: Throughput\s*:\s*(?P<width>[\d.]{1,12})%", re.M)
NAME = re.compile(r"(?:netperf[:\s])?\s*(TCP|UDP|SCTP|DCCP|OMNI)_(STREAM|MAERTS|SENDFILE|RR|CRR|CC)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """What one netperf run does."""

    name: str
    protocol: str
    kind: str  # rr, stream, or connect, which opens a connection for each transaction
    reverse: bool
    in_flight: int = 1
    confidence: tuple[float, float] | None = None  # width and level [%] that were asked for


def test_of(banner: str) -> Test | None:
    """The test that a banner names."""
    found = BANNER.search(banner)
    if found is None:
        raise refusal("a netperf test that is not known; TCP and UDP streams and request/response are")
    burst, sure = BURST.search(banner), CONFIDENCE.search(banner)
    level = None if sure is None else (number(sure["width"]) or 0.0, number(sure["level"]) or 0.0)
    return _made(found["protocol"], found["kind"], in_flight=1 + int(burst[1]) if burst else 1, confidence=level)


def named_test(name: str) -> Test | None:
    """The test that a user names, as TCP_RR or netperf:TCP_RR."""
    found = NAME.fullmatch(name.strip())
    return None if found is None else _made(found[1], found[2])


def _made(protocol: str, kind: str, *, in_flight: int = 1, confidence: tuple[float, float] | None = None) -> Test:
    short, does, reverse = KINDS[kind.casefold()]
    known = "TCP" if protocol.upper() == "OMNI" else protocol.upper()
    return Test(
        name=f"{known}_{short}", protocol=known, kind=does, reverse=reverse, in_flight=in_flight, confidence=confidence
    )


def rate_factor(unit: str) -> float:
    """Bits per second in one unit of a rate: powers of ten for bits, powers of two for bytes."""
    power = re.match(r"10\^(3|6|9|12)bits/s", unit)
    if power is not None:
        return float(10 ** int(power[1]))
    prefix = re.match(r"([KMGT]?)Bytes/s", unit)
    if prefix is not None:
        return BITS_PER_BYTE * (BINARY[f"{prefix[1]}i"] if prefix[1] else DECIMAL[""])
    raise refusal(f'a rate in "{unit}", expected 10^6bits/s, MBytes/s or the like')


def failed_confidence(body: str) -> float | None:
    """The width [%] of the confidence interval that netperf reached, where it complains; else None."""
    found = FAILED.search(body)
    return None if found is None else number(found["width"])


def point(test: Test, rate: float | None, seconds: float | None, **more: Any) -> dict[str, Any]:
    """The record of a test from its rate: bits per second of a stream, else transactions per second."""
    if not rate or rate < 0:
        after = "" if seconds is None else f" in {seconds:.2f} s"
        raise refusal(f"netperf moved no data{after}: no measurement")
    record: dict[str, Any] = {
        "test": test.name,
        "workload": test.kind if test.kind in ("rr", "stream") else None,
        "protocol": test.protocol,
        "direction": "both" if test.kind != "stream" else "remote to local" if test.reverse else "local to remote",
        "seconds": seconds,
        "usable": test.kind != "connect",
        "because": None if test.kind != "connect" else "opens a connection for each transaction: not a round trip",
    }
    if test.confidence is not None:
        record |= {"confidence_width_percent": test.confidence[0], "confidence_level_percent": test.confidence[1]}
    if test.kind == "stream":
        record |= {"metric": "throughput_bps", "counts": "delivered", "streams": 1, "throughput_bps": rate}
    else:
        record |= {"metric": "transactions_per_s", "transactions_per_s": rate}
    if test.kind == "rr":
        mean = US_PER_S * test.in_flight / rate
        record |= {
            "in_flight": test.in_flight, "latency_us": mean, "latency_kind": "round trip", "mean_rtt_us": mean,
        }  # fmt: skip
    return record | more
