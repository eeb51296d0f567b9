"""What the tests of the claims share: a cached predict, the evidence by row, and the noise of each study."""

import csv
import math
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import vmodel
from vmodel.calibrate.dataset import read_rows
from vmodel.calibrate.design import question
from vmodel.core.records import Observation, Prediction
from vmodel.solve.solver import predict as predict_scenario

CALIBRATION = Path(__file__).resolve().parents[2] / "calibration"
DELL, BLADE, VSOCK_HOST, BROADWELL = "e5620-82576-2011", "hs21-2007", "vsock-2019", "e5-2650v4-2020"
US, MBPS = 1e6, 1e-6

# Relative noise of one figure, from what the documents repeat or say of themselves.
NOISE_2011 = 0.10  # stated: netperf varies by 10 % at default settings
NOISE_2019 = 0.10  # two tables of the same measurement
NOISE_2007_FRAME = 0.05  # messages that fit one frame
NOISE_2007_LARGE = 0.15  # above one frame no repeats exist; accuracy asked of the model for single rows
NOISE_TX = 0.04  # one configuration on two days
NOISE_RX = 0.02  # one configuration on two days differs by 1.1 %, within a sweep by 1 to 2 %


@cache
def _ask(path: str, settings: tuple[tuple[str, Any], ...]) -> Prediction:
    return vmodel.predict(path=path, **dict(settings))


def ask(path: str, **settings: Any) -> Prediction:
    """A prediction through the public API; the same question is answered once."""
    return _ask(path, tuple(sorted(settings.items())))


def us(path: str, **settings: Any) -> float:
    """Mean round trip of a ping-pong [us]."""
    return float(ask(path, workload="rr", **settings).latency_s) * US


def mbps(path: str, **settings: Any) -> float:
    """Throughput of a bulk stream [Mbit/s]."""
    return ask(path, workload="stream", **settings).throughput_bps * MBPS


def pps(path: str, **settings: Any) -> float:
    """Rate of a packet train [1/s]."""
    return ask(path, workload="packets", **settings).rate_pps


def seconds(p: Prediction, *stages: str, direction: str | None = None) -> float:
    """Seconds per message of the named stages; all of one name are added."""
    return sum(r.seconds for r in p.shares if r.stage in stages and direction in (None, r.direction))


def names(p: Prediction, direction: str | None = None) -> tuple[str, ...]:
    """Names of the stages in order."""
    return tuple(r.stage for r in p.shares if direction in (None, r.direction))


def bus_per_byte(p: Prediction) -> float:
    """Bytes over the memory bus for each byte delivered: every copy reads and writes, so it counts 2."""
    return p.bus_bytes_s / (p.throughput_bps / 8)


def demand(p: Prediction, kind: str) -> float:
    """Seconds per message on all resources of a kind."""
    return sum(v for k, v in p.demands_s.items() if k.startswith(kind))


@cache
def rows(study: str) -> Mapping[str, Observation]:
    """Every observation of a study by its id."""
    return {r.id: r for r in read_rows(CALIBRATION / study / "observations.csv")}


@cache
def context(study: str) -> tuple[Mapping[str, str], ...]:
    """The figures of a study that are no observations: shares, statements, counters."""
    with (CALIBRATION / study / "context.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


@cache
def answer(study: str, row_id: str) -> float:
    """What the model says to one observation, in the observation's own unit."""
    row = rows(study)[row_id]
    p = predict_scenario(question(row, vmodel.profile(row.profile)))
    return {
        "latency_us": float(p.latency_s or 0.0) * US,
        "transactions_per_s": p.transactions_per_s or 0.0,
        "throughput_mbps": p.throughput_bps * MBPS,
        "rate_pps": p.rate_pps,
    }[row.metric]


def off(predicted: float, measured: float) -> float:
    """Relative deviation as a logarithm, so that too high and too low count alike."""
    return math.log(predicted / measured)


def close(predicted: float, measured: float, tolerance: float) -> bool:
    """Whether two figures agree within a relative tolerance."""
    return abs(predicted / measured - 1) <= tolerance


def rising(values: Iterable[float]) -> bool:
    """Whether no value falls below the one before."""
    return all(b >= a for a, b in pairwise(values))
