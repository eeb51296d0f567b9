"""Whole catalogue as lists, and random questions about it: drawn from the ranges that the tables of knobs state."""

import math
from functools import cache

import pytest
from hypothesis import strategies as st

from vmodel.config import scenario
from vmodel.library import tables
from vmodel.library.moderation import devices
from vmodel.library.profile import shipped
from vmodel.solve import ask, compose, evaluate, solver

HOST_VM = ("host-vm", "cross-host-vm")  # the topologies in which the direction matters
SMALLEST = 1e-3  # where the logarithm of a range that begins at zero starts
MOST_IN_FLIGHT = 300  # more takes longer and says nothing else
VARIANTS = (  # settings that bring stages to life which sleep by default
    {},
    {"batched_fetch": True},
    {"buf_api": True, "numa_local": False},
    {"zero_copy": True},
    {"credit_per_packet": True, "rx_buffer_bytes": 4096, "merge_rx_buffers": False, "size": 65536},
    {"tso": False, "gro": False, "scatter_gather": False},
    {"posted_interrupts": True, "irq_affinity": True},
    {"size": 100_000},
    {"send_zero_copy": True, "iommu": True, "routes": 1000, "nat": True, "tx_flood": True},
    {"queues": 4, "flows": 64, "vcpus": 4, "vms": 2, "ring_size": 1024, "forwards": True},
)


def slow_but(*usual):
    """Every path as a parameter, all but the usual ones marked slow."""
    return [p if p in usual else pytest.param(p, marks=pytest.mark.slow) for p in tables.path_names()]


@cache
def combinations(path):
    """Every topology, workload and direction of a path, as settings."""
    return tuple(
        {"topology": topology, "workload": workload, "direction": direction}
        for topology in tables.endpoint(path).topologies
        for workload in tables.WORKLOADS
        for direction in (tables.DIRECTIONS if topology in HOST_VM else tables.DIRECTIONS[:1])
    )


def of_workload(path, *workloads):
    """The combinations of a path that have one of the workloads."""
    return [settings for settings in combinations(path) if settings["workload"] in workloads]


@cache
def _predictions(path, profile):
    return tuple(ask.predict(path, profile=profile, **settings) for settings in combinations(path))


def predictions(path):
    """The predictions of every combination of a path under every profile, at default settings."""
    return [answer for profile in shipped() for answer in _predictions(path, profile)]


def label(answer):
    """What a failing law prints of a prediction."""
    s = answer.scenario
    return f"{s.path} {s.topology} {s.workload} {s.direction} {s.profile.name}"


def outcome(path, parameters=None, **settings):
    """The outcome of a workload law without its interval, some parameters multiplied by a factor: fast."""
    asked = scenario(path=path, **settings)
    values = compose.parameter_values(asked)
    values = values | {name: values[name] * factor for name, factor in (parameters or {}).items()}
    return solver.solve(asked, values).outcome


def used_parameters(path, **settings):
    """The parameters of the stages on both ways of a scenario."""
    ways = compose.scenario_ways(scenario(path=path, **settings))
    return compose.used_parameters(ways.forward) | compose.used_parameters(ways.reverse)


def counted(workload, words, arrays=False):
    """All counts of one message of a workload beside the words they were made from, whatever stage needs them."""
    out = dict(words)
    for part, (function, names, _, _) in evaluate.module(arrays).TRAFFIC.items():
        if part.partition("_")[0] == workload:
            out.update(function(*[words[name] for name in names]))
    return out


def knob_values(name):
    """Legal values of one knob, spread over its orders of magnitude."""
    knob = tables.knob(name)
    if knob.kind == "switch":
        return st.booleans()
    most = min(knob.most, MOST_IN_FLIGHT) if name == "in_flight" else knob.most
    least = max(knob.least, SMALLEST)
    spread = st.floats(math.log(least), math.log(most)).map(lambda x: min(max(math.exp(x), least), most))
    if knob.kind in ("number", "count", "size"):
        spread = spread.map(lambda x: float(min(max(round(x), knob.least), most)))
    return st.one_of(st.just(knob.least), st.just(most), spread)


@st.composite
def settings_of_knobs(draw, most=10):
    """Some knobs with legal values."""
    names = draw(st.lists(st.sampled_from(sorted(tables.knobs())), max_size=most, unique=True))
    return {name: draw(knob_values(name)) for name in names}


@st.composite
def questions(draw, workloads=tables.WORKLOADS, knobs=True):
    """A path with a combination it can have, a profile, perhaps a device, an offered load, and random knobs."""
    path = draw(st.sampled_from(tables.path_names()))
    chosen = draw(st.sampled_from(of_workload(path, *workloads)))
    asked = {"path": path, "profile": draw(st.sampled_from(shipped())), **chosen}
    if knobs:
        asked |= draw(settings_of_knobs())
        asked |= tables.endpoint(path).fixed
        asked["dedicated_nic"] = True
    if draw(st.booleans()):
        asked["device"] = draw(st.sampled_from(sorted(devices())))
    if chosen["workload"] == "packets" and draw(st.booleans()):
        asked["load"] = math.exp(draw(st.floats(0.0, 17.0)))
    return asked
