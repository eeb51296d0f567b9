"""Laws of every knob: described, its default legal, and some answer depends on it."""

import itertools
from functools import cache

import pytest

from tests.strategies import combinations, outcome
from vmodel.config import knob_value, scenario
from vmodel.errors import ConfigError
from vmodel.library import tables

CONTEXTS = (  # what else must be set for a knob to matter: queues need flows, adaptive needs a driver that listens
    {},
    {"queues": 4, "flows": 64, "vcpus": 4},
    {"size": 100_000},
    {"credit_per_packet": True},
    {"batched_fetch": True},
    {"zero_copy_rx": True},
    {"dedicated_nic": True},
    {"load": 1e5},
    {"tx_flood": True},
    {"device": "virtio_coal", "adaptive_rx": False, "rx_usecs": 50, "rx_frames": 64},
)
NUMBERS = (200, 7, 1, 2, 50, 1000, 9000)
KNOBS = tables.knobs().values()


def probes(knob, context):
    """A few other legal values of a knob."""
    now = context.get(knob.name, knob.default)
    if knob.kind == "switch":
        return [not now]
    return [n for n in NUMBERS if knob.least <= n <= knob.most and n != now]


def answer(path, settings):
    """What a person is told in the end; a refusal is an answer as well."""
    try:
        found = outcome(path, **settings)
    except ConfigError:
        return "refused"
    return (found.latency_s, found.rate_per_s, found.interrupts_per_s, found.loss, *found.demands_s.values())


@cache
def default_answer(path, settings):
    return answer(path, dict(settings))


@pytest.mark.parametrize("knob", KNOBS, ids=lambda knob: knob.name)
def test_knob_is_described_and_its_default_is_legal(knob):
    assert knob.about and knob.kind in ("number", "count", "switch", "size", "bitrate", "microseconds")
    assert knob.least < knob.most
    if knob.default is not None:
        assert knob_value(knob.name, knob.default) == knob.default


@pytest.mark.slow
@pytest.mark.parametrize("knob", KNOBS, ids=lambda knob: knob.name)
def test_knob_changes_some_answer(knob):
    for context, path in itertools.product(CONTEXTS, tables.path_names()):
        topology = tables.endpoint(path).topology
        for settings in combinations(path):
            if settings["topology"] != topology:
                continue
            asked = {"profile": "generic", **context, **settings}
            if knob.name in tables.endpoint(path).fixed:
                continue
            before = answer(path, asked)
            for value in probes(knob, context)[:3]:
                if answer(path, asked | {knob.name: value}) != before:
                    return
    pytest.fail(f"{knob.name} changes nothing")


@pytest.mark.parametrize("path", tables.path_names())
def test_what_a_path_fixes_cannot_be_changed(path):
    for name, value in tables.endpoint(path).fixed.items():
        with pytest.raises(ConfigError, match=name):
            scenario(path=path, **{name: not value})
