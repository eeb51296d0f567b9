"""Two comparisons of the same rows, point by point: two profiles, or this version of the model and an older record."""

from collections.abc import Mapping, Sequence
from typing import Any

SAME = 0.002  # change of a relative error that no digit shows


def residuals_of(record: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The residuals of a validation record by data set and row; a record that holds none gives none."""
    out: dict[str, Mapping[str, Any]] = {}
    sets = record.get("datasets")
    for name, body in sets.items() if isinstance(sets, Mapping) else ():
        rows = body.get("residuals") if isinstance(body, Mapping) else None
        for row in rows if isinstance(rows, Sequence) else ():
            if isinstance(row, Mapping) and {"id", "measured", "predicted", "ape"} <= set(row):
                out[f"{name}/{row['id']}"] = row
    return out


def difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """What changed between two validation records: each row that both have, worst change first, and their sums."""
    old, new = residuals_of(before), residuals_of(after)
    if old and not set(old) & set(new):  # a file by another name holds the same rows
        old, new = ({k.partition("/")[2]: v for k, v in rows.items()} for rows in (old, new))
    points = [
        {
            "id": name,
            "measured": new[name]["measured"],
            "before": old[name]["predicted"],
            "after": new[name]["predicted"],
            "ape_before": old[name]["ape"],
            "ape_after": new[name]["ape"],
            "change": new[name]["ape"] - old[name]["ape"],
        }
        for name in new
        if name in old
    ]
    points.sort(key=lambda p: (-abs(p["change"]), p["id"]))
    return {
        "rows": len(points),
        "only_before": len(set(old) - set(new)),
        "only_after": len(set(new) - set(old)),
        "better": sum(p["change"] < -SAME for p in points),
        "worse": sum(p["change"] > SAME for p in points),
        "same": sum(abs(p["change"]) <= SAME for p in points),
        "points": points,
    }
