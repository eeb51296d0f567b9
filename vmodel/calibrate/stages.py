"""Errors stage by stage: what share of a resource's time a profiler found in some stages, and what the model says."""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vmodel.config import scenario
from vmodel.core.records import Profile
from vmodel.solve.solver import predict

FILE = "stages.csv"


@dataclass(frozen=True, slots=True, kw_only=True)
class StageShareMeasured:
    """One measured share: the question, the resource, the stages it is of, where it was printed."""

    id: str
    question: dict[str, Any]
    resource: str
    stages: tuple[str, ...]
    share: float
    source: str


def read_stages(study: Path) -> tuple[StageShareMeasured, ...]:
    """The measured shares of a study folder; none where it has no such file."""
    path = study / FILE
    if not path.is_file():
        return ()
    out = []
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            question = {k: row[k] for k in ("path", "topology", "workload", "direction") if row[k]}
            if row["message_bytes"]:
                question["size"] = float(row["message_bytes"])
            out.append(
                StageShareMeasured(
                    id=row["id"],
                    question=question,
                    resource=row["resource"],
                    stages=tuple(row["stages"].split()),
                    share=float(row["share"]),
                    source=row["source"],
                )
            )
    return tuple(out)


def compare_stages(measured: tuple[StageShareMeasured, ...], profile: Profile) -> list[dict[str, Any]]:
    """Measured against predicted shares of a resource's time, under a profile."""
    out = []
    for m in measured:
        answer = predict(scenario(profile=profile, **m.question))
        times: dict[str, float] = {}
        for s in answer.shares:
            if s.resource == m.resource:
                times[s.stage] = times.get(s.stage, 0.0) + s.seconds
        whole = sum(times.values())
        predicted = sum(times.get(name, 0.0) for name in m.stages) / whole if whole > 0 else 0.0
        out.append(
            {
                "id": m.id,
                "direction": m.question.get("direction"),
                "resource": m.resource,
                "stages": list(m.stages),
                "measured": m.share,
                "predicted": round(predicted, 4),
                "error": round(predicted - m.share, 4),
            }
        )
    return out
