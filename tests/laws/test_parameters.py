"""Laws of every physical cost: used, and felt. A number that moves no answer is not a parameter."""

import itertools

import pytest

from tests.strategies import VARIANTS, combinations, outcome, used_parameters
from vmodel.library import tables
from vmodel.library.catalog import STAGES
from vmodel.library.moderation import devices
from vmodel.library.profile import profile, shipped
from vmodel.sources import STANDINGS

TEN_PER_CENT = 1.1
NOTICED = 1e-9
OF_LAWS = {
    "memory_bus_bytes_s",
    "sharing_loss",
    *(d.adaptive_parameter for d in devices().values() if d.adaptive_parameter),
}
SIZES = (64, 1024, 65_536, 262_144)
OF_PROFILES = [(name, parameter) for name in shipped() for parameter in profile(name).values]


def answers(found):
    return (found.latency_s, found.rate_per_s, found.interrupts_per_s, *found.demands_s.values())


def moves(parameter, path, **settings):
    before, after = (answers(outcome(path, change, **settings)) for change in ({}, {parameter: TEN_PER_CENT}))
    return any(abs(a - b) > NOTICED * abs(b) for a, b in zip(after, before, strict=True))


def moved_by(parameter, profile_name):
    """The first scenario under a profile that feels ten per cent of a parameter, None when there is none."""
    for variant, size in itertools.product(VARIANTS, SIZES):
        for path in tables.path_names():
            for settings in combinations(path):
                asked = {**settings, "profile": profile_name, "size": size, **variant}
                used = parameter in OF_LAWS or parameter in used_parameters(path, **settings)
                if used and moves(parameter, path, **asked):
                    return path, asked
    return None


@pytest.mark.parametrize("name", tables.priors())
def test_parameter_is_described_with_unit_spread_and_standing(name):
    prior = tables.priors()[name]
    assert prior.about and prior.unit in ("s", "B/s", "B", "") and prior.standing in STANDINGS
    assert prior.median > 0 and prior.log_sd > 0 and prior.clock in (-1, 0, 1)
    assert name.endswith("_bytes_s") == (prior.unit == "B/s")
    assert name.endswith("_s") >= (prior.unit == "s")
    assert set(prior.cites) <= set(tables.references())
    assert prior.cites or prior.standing == "assumed"


@pytest.mark.parametrize("name", tables.priors())
def test_parameter_belongs_to_a_stage_or_a_law(name):
    assert name in OF_LAWS or any(name in stage.parameters for stage in STAGES.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", tables.priors())
def test_parameter_moves_some_answer(name):
    assert any(moved_by(name, machine) for machine in ("e5620-82576-2011", "generic"))


@pytest.mark.slow
@pytest.mark.parametrize(("machine", "name"), OF_PROFILES)
def test_parameter_of_a_profile_moves_some_answer_under_it(machine, name):
    assert moved_by(name, machine)
