"""ethtool --json: the answers of -c, -g, -k, -l, -i, -S and the link as a list with one object for each device."""

from collections.abc import Mapping
from typing import Any

from vmodel.ingest.drivers import facts
from vmodel.ingest.ethtool_facts import COALESCE, channels, coalescing, features, link, rings
from vmodel.ingest.given import Given, count, mapping, objects, words
from vmodel.ingest.result import Ingested, refusal

TOOL = "ethtool --json"


def is_ethtool_json(given: Given) -> bool:
    """Whether the JSON is a list of objects as ethtool prints them, or an empty list after its error."""
    found = given.json
    if found is None or not found.values or not isinstance(found.values[0], list):
        return False
    rows = list(objects(found.values[0]))
    if not rows:
        return "netlink error" in found.before or "ethtool" in found.before or "Cannot get" in found.before
    return "ifindex" not in rows[0] and (bool(_kind(rows[0])) or "driver" in rows[0])


def _kind(row: Mapping[str, Any]) -> str:
    """Which query an object answers."""
    if any(name in row for name in (*COALESCE.values(), "adaptive-rx")):
        return "c"
    if any(isinstance(value, Mapping) and "active" in value for value in row.values()):
        return "k"
    if "combined" in row or "combined-max" in row or "other-max" in row:
        return "l"
    if "rx-max" in row or "tx-max" in row or "rx-buf-len" in row:
        return "g"
    if "speed" in row or "link-detected" in row or "supported-link-modes" in row:
        return "link"
    if "driver" in row and "bus-info" in row:
        return "i"
    if "rx" in row and "tx" in row:
        return "g"
    return (
        "S"
        if "ifname" in row and len(row) > 1 and all(count(v) is not None for k, v in row.items() if k != "ifname")
        else ""
    )


def read(given: Given) -> Ingested:
    """Read every object; raises DatasetError for an empty list, or several devices without a name."""
    found = given.json
    if found is None or not found.values:
        raise refusal("expected ethtool's JSON")
    rows = [row for value in found.values for row in objects(value) if row]
    said = words(found.before, 120)
    if not rows:
        raise refusal(f'ethtool --json returned an empty list ("{said}"): no settings on this device')
    names = list(dict.fromkeys(words(row.get("ifname"), 64) for row in rows))
    named = [name for name in given.pick if name in names]
    if len(names) > 1 and not named:
        raise refusal(f"holds {len(names)} devices ({', '.join(names)[:120]}): name the one to use, with --interface")
    wanted = named[0] if named else names[0]
    configuration: dict[str, Any] = {"ifname": wanted or None}
    warnings = [f'skipped text before the JSON: "{said}"'] if said else []
    kinds: list[str] = []
    for row in rows:
        if words(row.get("ifname"), 64) != wanted:
            continue
        kind = _kind(row)
        kinds.append(kind)
        facts_of, more = _meaning(kind, row, wanted)
        configuration.update(facts_of)
        warnings += more
    tool = f"{TOOL} -{kinds[0]}" if len(set(kinds)) == 1 and kinds[0] not in ("link", "") else TOOL
    if set(kinds) == {"S"}:
        warnings.append("counters since the device came up, not settings: no rate without a second reading")
        made = {
            "metric": None,
            "workload": None,
            "counters": configuration["counters"],
            "usable": False,
            "because": "counters, no rate",
        }
        return Ingested(tool=tool, kind="observations", observations=(made,), warnings=tuple(warnings))
    return Ingested(tool=tool, kind="configuration", configuration=configuration, warnings=tuple(warnings))


def _meaning(kind: str, row: Mapping[str, Any], name: str) -> tuple[dict[str, Any], list[str]]:
    if kind == "c":
        return coalescing(row)
    if kind == "k":
        return features({key: mapping(value).get("active") for key, value in row.items()}, row)
    if kind in ("g", "l"):
        most = {key.removesuffix("-max"): value for key, value in row.items() if key.endswith("-max")}
        return (rings if kind == "g" else channels)(most, row)
    if kind == "link":
        speed = row.get("speed")
        modes = row.get("supported-link-modes")
        flat = {
            **row,
            "speed": "" if speed is None else str(speed),
            "supported-link-modes": str(modes or "Not reported"),
        }
        return link(flat, name)
    if kind == "i":
        driver = words(row.get("driver"), 64)
        found, warnings = facts(driver)
        return {"driver": driver, "bus_info": words(row.get("bus-info"), 64) or None, **found}, warnings
    return {"counters": {words(k, 80): count(v) for k, v in row.items() if k != "ifname" and count(v) is not None}}, []
