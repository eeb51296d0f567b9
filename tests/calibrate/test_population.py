"""What machines have in common: found again where it is known, and left as assumed where nothing was measured."""

import math

import numpy as np
import pytest

from vmodel.calibrate.generic import CLOCK_SD, profile_of, told_machine
from vmodel.calibrate.population import Machine, assumed, facts_of, kind, learn, log_clock
from vmodel.library.profile import profile
from vmodel.library.tables import priors

NAMES = tuple(priors())
WELL_KNOWN = ("bridge_s", "copy_bytes_s", "vcpu_wake_s")
AT = np.array([NAMES.index(n) for n in WELL_KNOWN])


def machines(count, means, sd, *, precision=1e4, seed=3, clock=0.0):
    """Machines of which three costs are told almost exactly."""
    chance = np.random.default_rng(seed)
    flags = np.array([priors()[n].clock for n in WELL_KNOWN])
    out = []
    for i in range(count):
        costs = means + sd * chance.standard_normal(len(means)) - flags * clock
        information = precision * np.eye(len(means))
        out.append(
            Machine(
                name=f"m{i}", places=AT, information=information, pull=information @ costs, clock=clock,
                facts=facts_of(None, None),
            )
        )  # fmt: skip
    return out


def test_mean_and_spread_of_many_machines_are_found_again():
    before = assumed()
    truth = before.mean[AT] + np.array([0.5, -0.4, 0.3])
    found = learn(machines(200, truth, 0.25), before)
    centre, _ = found.of(facts_of(None, None), 0.0)
    np.testing.assert_allclose(centre[AT], truth, atol=0.08)
    np.testing.assert_allclose(np.sqrt(np.diag(found.spread))[AT], 0.25, rtol=0.35)


def test_a_cost_that_no_machine_told_of_stays_as_assumed():
    before = assumed()
    found = learn(machines(20, before.mean[AT], 0.2), before)
    alone = NAMES.index("translation_reuse")
    assert kind("translation_reuse") == "rest"
    assert found.mean[alone] == pytest.approx(before.mean[alone])
    assert found.spread[alone, alone] == pytest.approx(before.spread[alone, alone], rel=1e-6)


def test_costs_of_one_kind_move_together():
    before = assumed()
    found = learn(machines(3, before.mean[AT] + 0.8, 0.05), before)
    other = NAMES.index("veth_s")
    assert kind("veth_s") == kind("bridge_s") == "work"
    assert 0.05 < found.mean[other] - before.mean[other] < 0.8


def test_a_clock_that_is_told_is_no_difference_between_machines():
    before = assumed()
    slow = learn(machines(30, before.mean[AT], 0.1), before)
    fast = learn(machines(30, before.mean[AT], 0.1, clock=log_clock(4.8)), before)
    np.testing.assert_allclose(slow.mean, fast.mean, atol=1e-6)


def test_learning_is_deterministic_and_blind_to_order():
    many = machines(6, assumed().mean[AT], 0.3)
    one, other = learn(many, assumed()), learn(list(reversed(many)), assumed())
    np.testing.assert_allclose(one.mean, other.mean, atol=1e-9)


def test_facts_that_are_told_shift_and_narrow_the_prior():
    population = learn(machines(10, assumed().mean[AT], 0.3), assumed())
    wide = profile_of(population, {}, profile("generic"), [])
    fast = told_machine(wide, clock_ghz=4.8, year=None, mitigations=None)
    bridge = wide.values["bridge_s"]
    assert fast.values["bridge_s"].value == pytest.approx(bridge.value / 2)
    assert fast.values["copy_bytes_s"].value == wide.values["copy_bytes_s"].value
    assert fast.values["bridge_s"].log_error == pytest.approx(math.sqrt(bridge.log_error**2 - CLOCK_SD**2))
    old, new = (told_machine(wide, clock_ghz=None, year=y, mitigations=None) for y in (2007, 2025))
    assert new.values["bridge_s"].value < old.values["bridge_s"].value
    off, on = (told_machine(wide, clock_ghz=None, year=None, mitigations=m) for m in (False, True))
    assert on.values["exit_s"].value > off.values["exit_s"].value
    assert on.values["exit_s"].log_error < wide.values["exit_s"].log_error
