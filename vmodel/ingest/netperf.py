"""netperf: its classic tables and bare rows. Omni output (CSV and key=value) is `netperf_omni.py`."""

import re
from collections.abc import Iterator
from typing import Any

from vmodel.errors import DatasetError
from vmodel.ingest.given import Given, number, words
from vmodel.ingest.netperf_kinds import Test, failed_confidence, named_test, point, rate_factor, test_of
from vmodel.ingest.netperf_omni import omni_figures, omni_rows
from vmodel.ingest.result import Ingested, Record, refusal
from vmodel.units import BITS_PER_BYTE

TOOL = "netperf"
BANNER = re.compile(r"^[^\n]{0,120}\bTEST (?:from|to) [^\n]{0,500}", re.M)
FAULT = re.compile(
    r"^(?P<why>(?:establish control|establish_control|netperf: |recv_response|send_udp|send_tcp|recv_udp|recv_tcp"
    r"|netperf_|connect_to)[^\n]{1,200})",
    re.M,
)
NUMBERS = re.compile(r"\s*-?\d[\d.eE+-]{0,30}(?:\s+-?(?:\d[\d.eE+-]{0,30}|nan)){0,12}\s*")
UNIT = re.compile(r"(?:10\^(?:3|6|9|12)bits/s(?:ec)?|[KMGT]?Bytes/s(?:ec)?|Trans/s|per sec)")
MOST_TESTS = 10_000


def is_netperf(given: Given) -> bool:
    """Whether the text has a netperf banner, an omni result, an error of netperf, or nothing but its numbers."""
    head = given.head
    return (
        BANNER.search(head) is not None
        or re.search(r"^(?:THROUGHPUT|THROUGHPUT_UNITS|RT_LATENCY|MEAN_LATENCY)=", head, re.M) is not None
        or re.search(r"^(?:[^,\n]{1,80},){0,90}Throughput(?: Units)?(?:,|\s*$)", head, re.M) is not None
        or re.search(r"^[^\n]{0,400},(?:Trans/s|10\^\d{1,2}bits/s)(?:,|\s*$)", head, re.M) is not None
        or (FAULT.search(head) is not None and "net" in head)
        or _is_bare(given)
    )


def _is_bare(given: Given) -> bool:
    """Whether the text is what -P 0 leaves: one row of numbers, or two of which the second is the remote's."""
    rows = [line.split() for line in given.lines[:8] if line.strip()]
    full = len(given.data) < 600 and 1 <= len(rows) <= 2 and 5 <= len(rows[0]) <= 11
    return full and all(number(cell) is not None for row in rows for cell in row)


def read(given: Given) -> Ingested:
    """Read one or several tests; raises DatasetError where a test cannot be told or moved nothing."""
    blocks = list(_blocks(given.text))
    made: list[Record] = []
    warnings: list[str] = []
    faults: list[DatasetError] = []
    for head, body in blocks:
        try:
            made.extend(_of_block(head, body, given.hint, warnings))
        except DatasetError as error:
            faults.append(error)
    if not made:
        raise faults[0] if faults else refusal("expected the result of a netperf test")
    warnings.extend(f"one of {len(blocks)} tests is left out: {error.fault}" for error in faults)
    return Ingested(tool=TOOL, kind="observations", observations=tuple(made), warnings=tuple(dict.fromkeys(warnings)))


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """Banner and what follows it, for each test; a text without a banner is one block."""
    marks = list(BANNER.finditer(text))
    if len(marks) > MOST_TESTS:
        raise refusal(f"more than {MOST_TESTS} netperf tests in one file")
    if not marks:
        yield "", text
    ends = [mark.start() for mark in marks[1:]]
    for mark, end in zip(marks, [*ends, len(text)][: len(marks)], strict=True):
        yield mark[0], text[mark.end() : end]


def _of_block(banner: str, body: str, hint: str, warnings: list[str]) -> list[Record]:
    rows = omni_rows(body)
    test = test_of(banner) if banner else named_test(hint)
    if rows:
        return [_with_confidence(omni_figures(row, test, warnings), banner, body, warnings) for row in rows]
    if test is None:
        fault = FAULT.search(body)
        if fault is not None:
            raise refusal(f"netperf reports: {words(fault['why'])} (no measurement in this file)")
        raise refusal(
            "no banner (-P 0): cannot tell TCP_RR from TCP_STREAM; name the test, as --tool netperf:TCP_RR does"
        )
    return [_with_confidence(_of_table(test, body, bare=not banner, warnings=warnings), banner, body, warnings)]


def _of_table(test: Test, body: str, *, bare: bool, warnings: list[str]) -> dict[str, Any]:
    lines = [line for line in body.split("\n") if not line.startswith(("Interim result", "!!!"))]
    rows = [[number(cell) for cell in line.split()] for line in lines if NUMBERS.fullmatch(line)]
    if not rows:
        fault = FAULT.search(body)
        why = (
            f"netperf reports: {words(fault['why'])}" if fault else "the netperf table has no row: the test did not end"
        )
        raise refusal(f"{why} (no measurement in this file)")
    unit = _unit(lines, test, bare, warnings)
    if test.kind != "stream":
        return _rr(test, rows, unit, warnings)
    if test.protocol == "UDP":
        return _udp_stream(test, rows, unit)
    return _stream(test, rows, unit)


def _unit(lines: list[str], test: Test, bare: bool, warnings: list[str]) -> str:
    """The unit of the rate, which stands only in the header."""
    for line in lines:
        found = UNIT.search(line) if not NUMBERS.fullmatch(line) else None
        if found is not None:
            return found[0]
    if test.kind != "stream":
        return "per sec"
    if bare:
        warnings.append("no header (-P 0): the unit is taken for 10^6bits/s, netperf's own choice without -f")
        return "10^6bits/s"
    raise refusal("the netperf table has no unit in its header")


def _cell(row: list[float | None], place: int) -> float | None:
    return row[place] if place < len(row) else None


def _used(value: float | None) -> float | None:
    """A utilisation or service demand; -1 means that it was not measured."""
    return None if value is None or value < 0 else value


def _rr(test: Test, rows: list[list[float | None]], unit: str, warnings: list[str]) -> dict[str, Any]:
    row = rows[0]
    rate = _cell(row, 5)
    if unit not in ("per sec", "Trans/s"):  # -f turned the rate into payload bits of both ways
        payload = (_cell(row, 2) or 0) + (_cell(row, 3) or 0)
        if not rate or not payload:
            raise refusal(f"the rate of a request/response test in {unit}: run netperf without -f")
        rate = rate * rate_factor(unit) / BITS_PER_BYTE / payload
        warnings.append(f"the rate was printed in {unit} (-f) with few digits: transactions follow from it")
    return point(
        test, rate, _cell(row, 4),
        request_bytes=_cell(row, 2), response_bytes=_cell(row, 3),
        local_cpu_percent=_used(_cell(row, 6)), remote_cpu_percent=_used(_cell(row, 7)),
        local_service_us=_used(_cell(row, 8)), remote_service_us=_used(_cell(row, 9)),
    )  # fmt: skip


def _stream(test: Test, rows: list[list[float | None]], unit: str) -> dict[str, Any]:
    row = rows[0]
    rate = _cell(row, 4)
    return point(
        test, None if rate is None else rate * rate_factor(unit), _cell(row, 3), unit=unit, message_bytes=_cell(row, 2),
        local_cpu_percent=_used(_cell(row, 5)), remote_cpu_percent=_used(_cell(row, 6)),
        local_service_us_per_kib=_used(_cell(row, 7)), remote_service_us_per_kib=_used(_cell(row, 8)),
    )  # fmt: skip


def _udp_stream(test: Test, rows: list[list[float | None]], unit: str) -> dict[str, Any]:
    """The first row is the sender's, the second, shorter one the receiver's."""
    sender = rows[0]
    if len(rows) < 2 or len(sender) < 6:
        raise refusal("the netperf UDP table has no receiver's row: delivered is unknown")
    receiver = rows[1]
    factor = rate_factor(unit)
    sent_bps, received_bps = _cell(sender, 5), _cell(receiver, 3)
    okay, arrived = _cell(sender, 3), _cell(receiver, 2)
    seconds = _cell(sender, 2)
    delivered = None if received_bps is None else received_bps * factor
    lost = None if okay is None or arrived is None else max(okay - arrived, 0)
    return point(
        test, delivered, seconds, unit=unit, message_bytes=_cell(sender, 1), payload_bytes=_cell(sender, 1),
        sent_bps=None if sent_bps is None else sent_bps * factor, received_bps=delivered,
        offered_bps=None if sent_bps is None else sent_bps * factor, delivered_bps=delivered,
        lost_packets=lost, packets=okay, lost_percent=_percent(lost, okay),
        rate_pps=arrived / seconds if arrived is not None and seconds else None,
        delivered_pps=arrived / seconds if arrived is not None and seconds else None,
        offered_pps=okay / seconds if okay is not None and seconds else None,
        local_cpu_percent=_used(_cell(sender, 6)), remote_cpu_percent=_used(_cell(receiver, 4)),
    )  # fmt: skip


def _percent(part: float | None, whole: float | None) -> float | None:
    return None if part is None or not whole else part / whole * 100


def _with_confidence(record: dict[str, Any], banner: str, body: str, warnings: list[str]) -> Record:
    """The record with what netperf says about its confidence interval."""
    width = failed_confidence(body)
    if width is None:
        return record
    because = f"netperf says the confidence interval was not reached (+/-{width:.3g} %)"
    warnings.append(f"{because}: not usable as a calibration point without more runs")
    return {**record, "confidence_width_percent": width, "usable": False, "because": because}
