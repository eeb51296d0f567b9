"""The kernel's packet generator: what /proc/net/pktgen/DEVICE shows after a run, one block for each thread."""

import re
from typing import Any

from vmodel.ingest.given import Given, words
from vmodel.ingest.result import Ingested, refusal
from vmodel.units import US_PER_S

TOOL = "pktgen"
FCS_BYTES = 4
PARAMS = re.compile(r"^Params: count \d", re.M)
SIZES = re.compile(r"min_pkt_size: (\d{1,6})\s+max_pkt_size: (\d{1,6})")
NAME = re.compile(r"ifname: (\S{1,40})")
RESULT = re.compile(r"^Result: (?P<text>[^\n]{0,200})", re.M)
DONE = re.compile(
    r"OK: (?P<us>\d{1,18})\(c\d{1,18}\+d\d{1,18}\) [un]sec, (?P<packets>\d{1,18}) \((?P<size>\d{1,6})byte,"
)
RATE = re.compile(
    r"^\s*(?P<pps>\d{1,15})pps\s+\d{1,12}Mb/sec \((?P<bps>\d{1,18})bps\) errors: (?P<errors>\d{1,18})", re.M
)
MODE = re.compile(r"xmit_mode: (\w{1,30})")
MOST_BLOCKS = 10_000


def is_pktgen(given: Given) -> bool:
    """Whether the text has the parameters or the result of pktgen."""
    return PARAMS.search(given.head) is not None or (
        "pktgen" in given.head[:500] or re.search(r"^Result: (?:OK|NA|Idle|ERROR)", given.head, re.M) is not None
    )


def read(given: Given) -> Ingested:
    """Read the blocks; the sum over threads is the result. Raises DatasetError where no run has ended."""
    starts = [found.start() for found in PARAMS.finditer(given.text)] or [0]
    if len(starts) > MOST_BLOCKS:
        raise refusal(f"more than {MOST_BLOCKS} pktgen blocks in one file")
    blocks = [given.text[a:b] for a, b in zip(starts, [*starts[1:], None], strict=True)]
    rows = [_block(block) for block in blocks]
    done = [row for row in rows if row["rate_pps"]]
    if not done:
        raise refusal(_nothing(rows))
    warnings = [f"{len(rows) - len(done)} of {len(rows)} blocks have no result"] if len(done) < len(rows) else []
    if any(row["errors"] for row in done):
        warnings.append("pktgen counted errors: packets that the device did not take")
    names = [row["ifname"] for row in done]
    together = len(set(names)) == len(names) and len({row["pkt_size_bytes"] for row in done}) == 1
    made = [_total(done)] if together else done
    if not together:
        warnings.append("blocks of different sizes or of one device again: kept apart, no sum")
    if any(row["pkt_size_bytes"] is None for row in made):
        warnings.append("packets of several sizes: the size of one is unknown")
    return Ingested(tool=TOOL, kind="observations", observations=tuple(made), warnings=tuple(warnings))


def _nothing(rows: list[dict[str, Any]]) -> str:
    text = next((row["result"] for row in rows if row["result"]), "")
    if text.startswith("OK:"):
        return f'pktgen has not been run (Result is the answer to a setting: "{text}"): no measurement'
    return f'pktgen has no result ("{text}"): no measurement' if text else "pktgen has not been run: no measurement"


def _block(block: str) -> dict[str, Any]:
    result, rate = RESULT.search(block), RATE.search(block)
    text = words(result["text"], 80) if result else ""
    done = DONE.match(text)
    sizes, name, mode = SIZES.search(block), NAME.search(block), MODE.search(block)
    same = sizes is not None and sizes[1] == sizes[2]
    size = int(done["size"]) if done and (same or sizes is None) else int(sizes[1]) if sizes and same else None
    ran = done is not None and rate is not None
    received = mode is not None and mode[1] == "netif_receive"
    return {
        "workload": "packets",
        "direction": "remote to local" if received else "local to remote",
        "counts": "delivered" if received else "sent",
        "metric": "rate_pps",
        "rate_pps": float(rate["pps"]) if rate is not None and ran else None,
        "throughput_bps": float(rate["bps"]) if rate is not None and ran else None,
        "packets": int(done["packets"]) if done is not None else None,
        "errors": int(rate["errors"]) if rate is not None else None,
        "pkt_size_bytes": size,
        "frame_bytes": None if size is None else size + FCS_BYTES,
        "seconds": int(done["us"]) / US_PER_S if done is not None else None,
        "ifname": name[1] if name else None,
        "result": text,
        "usable": True,
        "because": None,
    }


def _total(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The sum over threads that ran together."""
    first = rows[0]
    if len(rows) == 1:
        return first
    return {
        **first,
        "rate_pps": sum(row["rate_pps"] for row in rows),
        "throughput_bps": sum(row["throughput_bps"] for row in rows),
        "packets": sum(row["packets"] or 0 for row in rows),
        "errors": sum(row["errors"] or 0 for row in rows),
        "seconds": max(row["seconds"] for row in rows),
        "threads": len(rows),
        "thread_pps": [row["rate_pps"] for row in rows],
        "ifname": ", ".join(str(row["ifname"]) for row in rows)[:200],
    }
