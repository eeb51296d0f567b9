"""iperf 2 with -y C: one line of comma-separated values for each report, -1 as the stream of a sum."""

import re
from typing import Any

from vmodel.ingest.given import Given
from vmodel.ingest.result import Ingested, refusal

TOOL = "iperf2"
ROW = re.compile(
    r"^(?P<time>\d{14}(?:\.\d{1,6})?),(?P<local>[^,\s]{0,64}),\d{0,5},(?P<remote>[^,\s]{0,64}),\d{0,5},(?P<id>-?\d{1,9}),"
    r"(?P<start>\d{1,9}\.\d{1,4})-(?P<end>\d{1,9}\.\d{1,4}),(?P<bytes>\d{1,18}),(?P<bps>\d{1,18})"
    r"(?:,(?P<jitter>[\d.]{1,18}),(?P<lost>\d{1,15}),(?P<packets>\d{1,15}),[^\n]{0,60})?\s*$"
)
SUM = "-1"


def is_iperf2_csv(given: Given) -> bool:
    """Whether a line is a report in CSV."""
    return any(ROW.match(line) for line in given.head.split("\n")[:50])


def read(given: Given) -> Ingested:
    """Read the report over the whole time; the server's, where UDP has one, tells what was delivered."""
    rows = [found for line in given.lines if (found := ROW.match(line[:400])) is not None]
    end = max(float(row["end"]) for row in rows)
    whole = [row for row in rows if float(row["start"]) == 0 and float(row["end"]) > end - 0.5]
    if not whole:
        raise refusal("the iperf 2 report has intervals only: the run has no final result")
    streams = {row["id"] for row in whole} - {SUM}
    sums = [row for row in whole if row["id"] == SUM]
    if len(streams) > 1 and not sums:
        raise refusal(f"{len(streams)} streams without a sum: the run has no final result")
    sent, report = (sums or whole)[0], next((row for row in whole if row["packets"]), None)
    bps = float((report or sent)["bps"])
    if bps <= 0:
        raise refusal("iperf 2 moved no data: no measurement")
    made: dict[str, Any] = {
        "workload": "stream", "protocol": "UDP" if report else None, "streams": max(len(streams), 1),
        "direction": "local to remote", "counts": "delivered" if report else "sent", "metric": "throughput_bps",
        "throughput_bps": bps, "seconds": float(sent["end"]), "usable": True, "because": None,
    }  # fmt: skip
    if report:
        packets, lost = int(report["packets"]), int(report["lost"])
        made |= {"packets": packets, "lost_packets": lost, "delivered_bps": bps, "offered_bps": float(sent["bps"])}
        made["lost_percent"] = lost / packets * 100 if packets else None
    return Ingested(
        tool=TOOL, kind="observations", observations=(made,),
        warnings=("iperf 2, one side's view; CSV does not name the protocol",),
    )  # fmt: skip
