"""flent data files: JSON, often in gzip. Streams, their average, their sum and a fairness index stand side by side."""

import re
import statistics
from collections.abc import Mapping
from typing import Any

from vmodel.ingest.given import Given, mapping, number, words
from vmodel.ingest.result import Ingested, Record, refusal
from vmodel.units import BPS_PER_MBPS, MS_PER_S, US_PER_S

TOOL = "flent"
STREAM = re.compile(r"(?P<base>.{1,120}?)(?:::\d{1,6}|\s\d{1,4})?")
DERIVED = ("AverageRunner", "FairnessRunner", "SumRunner", "ComputingRunner", "DifferenceRunner")
KINDS = {" sum": "sum", " avg": "average", " average": "average", " fairness": "fairness", " totals": "total"}
MOST_SERIES = 2000
US_PER_MS = US_PER_S / MS_PER_S


def is_flent(given: Given) -> bool:
    """Whether the JSON has the parts of a flent data file."""
    found = given.json
    first = mapping(found.values[0]) if found is not None and found.values else {}
    return "results" in first and "x_values" in first and "metadata" in first


def read(given: Given) -> Ingested:
    """Read the throughput of each direction and the latency beside it; raises DatasetError where there is neither."""
    if given.json is None or not given.json.values:
        raise refusal("expected a flent data file in JSON")
    body = mapping(given.json.values[0])
    metadata = mapping(body.get("metadata"))
    about = mapping(metadata.get("SERIES_META"))
    results = mapping(body.get("results"))
    if len(results) > MOST_SERIES:
        raise refusal(f"more than {MOST_SERIES} series in one flent file")
    length_s = number(metadata.get("LENGTH"))
    shared = {
        "test": words(metadata.get("NAME")) or None, "seconds": length_s, "length_s": length_s,
        "format_version": number(body.get("version")),
    }  # fmt: skip
    rates = _rates(results, about)
    pings = {name: row for name, row in results.items() if _unit(name, about) == "ms" and not _derived(name, about)}
    made: list[Record] = [_rate(base, series, shared) for base, series in rates.items()]
    made = [row for row in made if row["throughput_bps"]]
    for name, row in pings.items():
        ping = _ping(name, row, mapping(about.get(name)), shared, loaded=bool(made))
        if ping is not None:
            made.append(ping)
    if not made:
        raise refusal("the flent file has no values but null: no measurement")
    warnings = []
    if any(len(series) > 1 for series in rates.values()):
        warnings.append("average, sum and fairness are derived from the streams: only the sum counts, once")
    if number(metadata.get("FAILED_RUNNERS")):
        warnings.append(f"{metadata['FAILED_RUNNERS']} of flent's runners failed: series may be missing")
    return Ingested(
        tool=TOOL, version=words(metadata.get("FLENT_VERSION")) or None, kind="observations", observations=tuple(made),
        warnings=tuple(warnings),
    )  # fmt: skip


def _unit(name: str, about: Mapping[str, Any]) -> str:
    told = words(mapping(about.get(name)).get("UNITS"))
    return told or ("ms" if "ping" in name.casefold() else "Mbits/s")


def _derived(name: str, about: Mapping[str, Any]) -> str:
    """What a series is computed from others as, empty for a measured one."""
    for ending, kind in KINDS.items():
        if name.casefold().endswith(ending):
            return kind
    return "other" if mapping(about.get(name)).get("RUNNER") in DERIVED else ""


def _rates(results: Mapping[str, Any], about: Mapping[str, Any]) -> dict[str, dict[str, dict[str, Any]]]:
    """Direction -> series name -> mean and values, of measured streams and of their sum."""
    out: dict[str, dict[str, dict[str, Any]]] = {}
    sums = [name[: -len(" sum")].strip() for name in results if name.casefold().endswith(" sum")]
    for name, row in results.items():
        kind = _derived(name, about)
        if _unit(name, about) != "Mbits/s" or kind not in ("", "sum"):
            continue
        base = name[: -len(" sum")] if kind == "sum" else _base(name, sums)
        values = [v for x in row if (v := number(x)) is not None] if isinstance(row, list) else []
        mean = number(mapping(about.get(name)).get("MEAN_VALUE"))
        if mean is None and values:
            mean = statistics.fmean(values)
        out.setdefault(base.strip(), {})[name] = {"kind": kind, "mean": mean, "values": values}
    return out


def _base(name: str, sums: list[str]) -> str:
    """The direction that a stream belongs to: that of a sum (`TCP upload` of `TCP upload BE`), else its own."""
    whole = next((total for total in sums if name.startswith((f"{total} ", f"{total}::"))), None)
    if whole is not None:
        return whole
    found = STREAM.fullmatch(name)
    return found[1] if found else name


def _rate(base: str, series: Mapping[str, Mapping[str, Any]], shared: Mapping[str, Any]) -> dict[str, Any]:
    """One direction: the sum series where there is one, else the streams added up."""
    streams = {name: s for name, s in series.items() if s["kind"] == ""}
    total = next(((name, s) for name, s in series.items() if s["kind"] == "sum"), None)
    name, mean = total[0] if total else base, total[1]["mean"] if total else None
    values = total[1]["values"] if total else []
    if mean is None:
        mean = sum(s["mean"] or 0.0 for s in streams.values())
        values = next(iter(streams.values()))["values"] if len(streams) == 1 else []
    folded = base.casefold()
    direction = "local to remote" if "up" in folded else "remote to local" if "down" in folded else "both"
    per_stream = [s["mean"] for s in streams.values() if s["mean"] is not None]
    return {
        **shared,
        "series": name,
        "workload": "stream",
        "protocol": "UDP" if "udp" in folded else "TCP",
        "streams": len(streams) or None,
        "direction": direction,
        "counts": "delivered",
        "metric": "throughput_bps",
        "throughput_bps": mean * BPS_PER_MBPS,
        "throughput_mbps": mean,
        "throughput_sd_bps": statistics.stdev(values) * BPS_PER_MBPS if len(values) > 1 else None,
        "stream_mbps": per_stream,
        "usable": direction != "both",
        "because": None if direction != "both" else "a sum over both directions",
    }


def _ping(
    name: str, row: Any, about: Mapping[str, Any], shared: Mapping[str, Any], *, loaded: bool
) -> dict[str, Any] | None:
    values = [v for x in row if (v := number(x)) is not None] if isinstance(row, list) else []
    mean = number(about.get("MEAN_VALUE"))
    if mean is None:
        mean = statistics.fmean(values) if values else None
    if not mean:
        return None
    least, most = number(about.get("MIN_VALUE")), number(about.get("MAX_VALUE"))
    return {
        **shared,
        "series": name,
        "workload": "rr",
        "protocol": "UDP" if "udp" in name.casefold() else "ICMP",
        "direction": "both",
        "metric": "latency_us",
        "latency_kind": "round trip",
        "latency_us": mean * US_PER_MS,
        "mean_us": mean * US_PER_MS,
        "ping_ms_mean": mean,
        "min_us": None if least is None else least * US_PER_MS,
        "max_us": None if most is None else most * US_PER_MS,
        "stddev_us": statistics.stdev(values) * US_PER_MS if len(values) > 1 else None,
        "in_flight": 1,
        "usable": not loaded,
        "because": "measured beside a bulk load, and partly before and after it" if loaded else None,
    }
