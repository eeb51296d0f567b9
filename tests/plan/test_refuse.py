"""Refusals are values: what binds, the smallest set in conflict, and a change that really mends it."""

import numpy as np
import pytest

from tests.plan import fleets
from vmodel.plan.options import catalogue
from vmodel.plan.plan import plan_fleet


def refusals(vm, hosts=None, **rules):
    return {r.path: r for r in catalogue(fleets.fleet(vm, hosts=hosts, **rules)).refusals}


def test_a_path_that_cannot_migrate_is_refused_by_name():
    found = refusals(fleets.web(must_migrate=True, paths=["vf", "pf", "vdpa", "virtio-vhost"]))
    assert set(found) == {"vf", "pf"}
    assert found["vf"].conflict == ("must_migrate", "path vf")
    assert found["vf"].resource == "live migration"


def test_a_latency_that_no_load_allows_is_in_conflict_by_itself():
    found = refusals(fleets.web(latency="1us"))
    for path in ("virtio-vhost", "vhost-user", "vf"):
        r = found[path]
        assert r.conflict == ("latency",)
        assert r.needed == 1e-6 < r.available


def test_the_named_change_of_latency_is_enough_and_little_less_is_not():
    r = refusals(fleets.web(latency="60us", paths=["virtio-vhost"]), confidence=0.5)["virtio-vhost"]
    assert r.conflict == ("latency",)
    (change,) = r.mend
    number = float(change.value.removesuffix("us"))
    assert (change.table, change.name, change.key) == ("vm", "web", "latency")
    assert r.change == f'latency = "{change.value}"'
    assert refusals(fleets.web(latency=f"{number}us", paths=["virtio-vhost"]), confidence=0.5) == {}
    assert refusals(fleets.web(latency=f"{number * 0.97}us", paths=["virtio-vhost"]), confidence=0.5) != {}


def test_a_rate_that_one_vm_cannot_carry_names_the_bottleneck_and_a_rate_that_it_can():
    r = refusals(fleets.nfv(rate=5e6, latency="1s", paths=["virtio-vhost"]))["virtio-vhost"]
    assert "rate" in r.conflict
    assert r.needed == 5e6 > r.available
    (change,) = r.mend
    assert change.key == "rate"
    rate = float(change.value.removesuffix("pps"))
    assert refusals(fleets.nfv(rate=rate, latency="1s", paths=["virtio-vhost"])) == {}
    assert refusals(fleets.nfv(rate=rate * 1.2, latency="1s", paths=["virtio-vhost"])) != {}


@pytest.mark.parametrize(
    ("vm", "resource", "conflict"),
    [
        (fleets.web(vcpus=64), "cores", ("vcpus",)),
        (fleets.web(memory="512GiB"), "memory", ("memory",)),
    ],
)
def test_a_vm_that_is_larger_than_any_host_names_what_is_too_large(vm, resource, conflict):
    for r in refusals(vm).values():
        assert (r.resource, r.conflict) == (resource, conflict)
        assert r.needed > r.available


def test_a_host_without_functions_refuses_only_the_paths_that_take_one():
    bare = fleets.host(nics=[{"rate": "25Gbit/s", "count": 2}])
    found = refusals(fleets.web(paths=["vf", "virtio-vhost", "vhost-user"]), hosts=[bare])
    assert set(found) == {"vf"}
    assert found["vf"].conflict == ("NIC functions of the host types",)
    assert "vfs = 1" in found["vf"].change


def test_hosts_without_an_adapter_are_named_and_not_the_objective():
    (r,) = refusals(fleets.web(paths=["virtio-vhost"]), hosts=[fleets.host(nics=[])]).values()
    assert r.conflict == ("host types",)
    assert (r.resource, r.available) == ("NIC in", 0.0)
    assert r.change == 'host host: nics = [{ rate = "10Gbit/s", vfs = 1 }]'


def test_dropping_any_requirement_of_a_conflict_makes_it_vanish():
    """The set is smallest: with one of its requirements relaxed by far the class is no longer refused for it."""
    both = fleets.nfv(rate=150000.0, latency="140us", paths=["virtio-vhost"])
    r = refusals(both)["virtio-vhost"]
    assert len(r.conflict) > 1
    relaxed = {"latency": {"latency": "10s"}, "rate": {"rate": 10.0}}
    for name in r.conflict:
        rules = {"confidence": 0.5} if name == "confidence" else {}
        again = refusals({**both, **relaxed.get(name, {})}, **rules)
        assert "virtio-vhost" not in again or again["virtio-vhost"].conflict != r.conflict


def test_an_infeasible_class_says_so_with_the_reasons_of_its_paths():
    found = plan_fleet(fleets.fleet(fleets.web(), fleets.nfv(latency="1us")))
    assert not found.feasible
    last = found.refusals[-1]
    assert (last.what, last.path) == ("nfv", None)
    assert "latency" in last.conflict
    assert len([r for r in found.refusals if r.what == "nfv" and r.path]) == 3


def test_a_fleet_that_is_too_large_for_its_hosts_is_refused_before_any_solver(monkeypatch):
    def never(*arguments, **options):
        raise AssertionError("the solver was asked")

    monkeypatch.setattr("vmodel.plan.plan.solve", never)
    found = plan_fleet(fleets.fleet(fleets.web(count=100), hosts=[fleets.host(count=4)]))
    (r,) = [r for r in found.refusals if r.what == "the fleet"]
    assert r.resource == "cores"
    assert (r.needed, r.available) == (400.0, 120.0)
    # seven VMs of four vCPUs on a host of thirty cores: fifteen hosts, though the cores of fourteen would do in all
    assert r.change == "11 more hosts of type host (host host: count = 15)"
    assert "host counts" in r.conflict


def test_a_fleet_that_has_enough_of_everything_and_cannot_be_packed_is_refused_by_proof():
    whole = fleets.web(count=3, vcpus=20, memory="8GiB", latency="1ms")
    found = plan_fleet(fleets.fleet(whole, hosts=[fleets.host(count=2)]))
    (r,) = [r for r in found.refusals if r.what == "the fleet"]
    assert not found.feasible
    assert r.needed >= 1
    assert plan_fleet(fleets.fleet(whole, hosts=[fleets.host(count=3)])).feasible


def test_settings_are_chosen_under_the_objective():
    hosts = [fleets.host(profile="e5620-82576-2011", nics=[{"rate": "1Gbit/s", "vfs": 7, "count": 2}])]
    vm = fleets.web(rate=200.0, count=4, paths=["vf"], latency="450us")
    known = catalogue(fleets.fleet(vm, hosts=hosts))
    (option,) = known.options
    assert dict(option.settings)["rx_usecs"] < 488  # the default of the driver lets nothing through before
    assert option.prediction.percentiles_s[0.99] * option.latency_factor <= 450e-6
    given = fleets.web(rate=200.0, count=4, paths=["vf"], latency="450us", settings={"rx_usecs": 488})
    (r,) = catalogue(fleets.fleet(given, hosts=hosts)).refusals
    assert r.resource == "interrupt moderation"
    assert np.isclose(r.available, 488e-6, rtol=0.1)
