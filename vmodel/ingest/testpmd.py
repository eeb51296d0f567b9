"""DPDK's testpmd: NIC statistics (once or each period) and forward statistics at the end."""

import re
import statistics
from collections.abc import Mapping
from typing import Any

from vmodel.ingest.given import Given
from vmodel.ingest.result import Ingested, refusal
from vmodel.units import BITS_PER_BYTE, PERCENT_PER_ONE

TOOL = "testpmd"
NIC = re.compile(r"NIC (?:extended )?statistics for port (\d{1,6})")
FORWARD = re.compile(r"Forward statistics for port (\d{1,6})")
OTHER = re.compile(r"Accumulated forward statistics|Forward Stats for RX Port")
# Columns run together when a number fills its field, so values are found by their names, never by position.
VALUE = re.compile(r"([RT][Xx]-[a-z]{2,10}|RX-total|TX-total):?\s{0,20}(\d{1,20})")
LENGTH = re.compile(r"packet len=(\d{1,6})")
VERSION = re.compile(r"\bDPDK (\d\d\.\d\d(?:\.\d{1,3})?)")
BURST = re.compile(r"packets/burst=(\d{1,5})")


def is_testpmd(given: Given) -> bool:
    """Whether the text has statistics or the prompt of testpmd."""
    return NIC.search(given.text) is not None or FORWARD.search(given.text) is not None or "testpmd>" in given.head


def read(given: Given) -> Ingested:
    """Read rates and totals of each port; raises DatasetError where nothing was forwarded."""
    nic, forward = _sections(given)
    version, length, burst = VERSION.search(given.head), LENGTH.search(given.head), BURST.search(given.head)
    made = []
    for port in sorted({*nic, *forward}):
        made.extend(_port(port, nic.get(port, []), forward.get(port, {}), int(length[1]) if length else None))
    if not made:
        raise refusal(_nothing(nic, forward))
    warnings = []
    if burst:
        made = [{**row, "batch": int(burst[1])} for row in made]
    for row in made:
        if row.get("rate_pps") is None:
            warnings.append(f"port {row['port']}: totals only, no duration in the output: the packet rate is unknown")
        sd = row.get("rate_sd_pps")
        if sd and sd > row["rate_pps"] / 10:
            warnings.append(f"port {row['port']}: the rate varies by {sd / row['rate_pps']:.0%} from period to period")
        if row.get("lost_percent"):
            warnings.append(
                f"port {row['port']}: {row['lost_percent']:.3g} % of the packets were lost at the NIC (RX-missed)"
            )
    return Ingested(
        tool=TOOL, version=version[1] if version else None, kind="observations", observations=tuple(made),
        warnings=tuple(dict.fromkeys(warnings)),
    )  # fmt: skip


def _sections(given: Given) -> tuple[dict[int, list[dict[str, int]]], dict[int, dict[str, int]]]:
    """Statistics by port: NIC blocks in order, and the last forward block."""
    nic: dict[int, list[dict[str, int]]] = {}
    forward: dict[int, dict[str, int]] = {}
    now: dict[str, int] | None = None
    for line in given.lines:
        line = line[:400]
        if (found := NIC.search(line)) is not None:
            now = {}
            nic.setdefault(int(found[1]), []).append(now)
        elif (found := FORWARD.search(line)) is not None:
            now = forward[int(found[1])] = {}
        elif OTHER.search(line) is not None:
            now = None
        elif now is not None:
            for name, value in VALUE.findall(line):
                now.setdefault(name.casefold(), int(value))
    return nic, forward


def _nothing(nic: Mapping[int, Any], forward: Mapping[int, Mapping[str, int]]) -> str:
    if not nic and not forward:
        return "the testpmd output has no statistics: no measurement"
    total = sum(row.get("rx-total", 0) for row in forward.values())
    dropped = sum(row.get("tx-dropped", 0) for row in forward.values())
    sent = sum(row.get("tx-total", 0) for row in forward.values())
    what = f" (RX-total {total}, TX-dropped {dropped} of {sent})" if forward else ""
    return f"testpmd forwarded no packets{what}: no measurement"


def _port(
    port: int, blocks: list[dict[str, int]], forward: Mapping[str, int], length: int | None
) -> list[dict[str, Any]]:
    """One observation for each direction that carried packets."""
    last = blocks[-1] if blocks else {}
    made = []
    for side in ("rx", "tx"):
        rates = [float(b[f"{side}-pps"]) for b in blocks if b.get(f"{side}-pps")]
        packets = forward.get(f"{side}-packets") or last.get(f"{side}-packets", 0)
        if not rates and not packets:
            continue
        made.append({**_side(side, rates, last, forward, length), "port": port})
    if not any(row["usable"] for row in made):
        return made[:1]
    return [row for row in made if row["usable"]]


def _side(
    side: str, rates: list[float], last: Mapping[str, int], forward: Mapping[str, int], length: int | None
) -> dict[str, Any]:
    counted = last.get(f"{side}-packets")
    size = last.get(f"{side}-bytes", 0) / counted if counted else None
    rate = statistics.fmean(rates) if rates else None
    frame = size or length
    missed = last.get("rx-missed") if side == "rx" else None
    lost = None
    if missed is not None and counted:
        lost = missed / (counted + missed) * PERCENT_PER_ONE
    made: dict[str, Any] = {
        "workload": "packets",
        "direction": "received" if side == "rx" else "sent",
        "counts": "delivered" if side == "rx" else "sent",
        "metric": "rate_pps",
        "rate_pps": rate,
        f"{side}_pps": rate,
        "rate_sd_pps": statistics.stdev(rates) if len(rates) > 1 else None,
        "rate_min_pps": min(rates) if rates else None,
        "rate_max_pps": max(rates) if rates else None,
        "periods": len(rates),
        "throughput_bps": rate * frame * BITS_PER_BYTE if rate and frame else None,
        "frame_bytes": length if length and side == "tx" else None if size is None else round(size, 3),
        "usable": rate is not None,
        "because": None if rate is not None else "totals without a duration",
        "lost_percent": lost,
    }
    for name in ("rx-packets", "rx-missed", "rx-errors", "rx-dropped", "tx-packets", "tx-errors", "tx-dropped"):
        value = forward.get(name, last.get(name))
        if value is not None:
            made[name.replace("-", "_")] = value
    return made
