"""Rows made from the model itself, and spoiled on purpose."""

import math
from dataclasses import replace

import numpy as np

from vmodel.calibrate.generic import profile_of
from vmodel.calibrate.population import assumed
from vmodel.calibrate.transfer import blank
from vmodel.core.records import Observation
from vmodel.library.profile import profile
from vmodel.solve.ask import predict

PRIOR = profile_of(assumed(), blank(), profile("generic"), ())  # a population that no study has told anything of
SIZES = (64, 512, 4096, 16384, 65536)


def row(
    number, value, *, path="virtio-vhost", topology="host-vm", workload="rr", direction="", metric="latency_us", **knobs
):
    """One observation with everything else left open."""
    sd = knobs.pop("sd", None)
    return Observation(
        id=f"r{number}", path=path, peer="", topology=topology, workload=workload, direction=direction, metric=metric,
        value=value, sd=sd, knobs={k: float(v) for k, v in knobs.items()}, session="", series="", profile="",
        source="", excluded="", note="",
    )  # fmt: skip


def measured(profile=PRIOR, *, noise=0.02, seed=1, costs=None, path="virtio-vhost"):
    """Ten rows as a machine of this profile would give them: round trips and streams of several sizes."""
    chance = np.random.default_rng(seed)
    out = []
    for size in SIZES:
        asked = dict(topology="host-vm", size=size, profile=profile, **(costs or {}))
        latency = predict(path, workload="rr", **asked).latency_s * 1e6
        rate = predict(path, workload="stream", direction="to-vm", **asked).throughput_bps / 1e6
        for value, kind in (
            (latency, {}),
            (rate, {"workload": "stream", "direction": "to-vm", "metric": "throughput_mbps"}),
        ):
            noisy = value * math.exp(noise * chance.standard_normal())
            out.append(row(len(out), noisy, path=path, size=size, **kind))
    return out


def scaled(rows, factor, places=None):
    """The rows with some values multiplied."""
    return [replace(r, value=r.value * factor) if places is None or i in places else r for i, r in enumerate(rows)]
