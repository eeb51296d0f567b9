"""What a refusal offers is tried: put into the file it mends; its conflict is one, and no smaller one.

Fleets are drawn at random, sizes and rates over several decades, so that one requirement fails, or several.
"""

import random

import pytest

from tests.plan import fleets
from vmodel.plan.change import Change, changed, distance
from vmodel.plan.fleet import guest_paths
from vmodel.plan.options import accepts, catalogue
from vmodel.plan.plan import plan_fleet

NICS = (
    [{"rate": "25Gbit/s", "vfs": 16, "count": 2}],
    [{"rate": "10Gbit/s"}],
    [{"rate": "1Gbit/s", "vfs": 2}],
    [],
)
GIVEN = ({}, {}, {"rx_usecs": 3}, {"rx_usecs": 500})


def drawn(seed):
    """A fleet of one class that is seldom easy."""
    r = random.Random(seed)
    workload = r.choice(("rr", "packets", "stream"))
    vm = {
        "name": "c", "count": 2, "vcpus": r.choice((1, 2, 8, 32)), "memory": r.choice(("1GiB", "64GiB")),
        "workload": workload, "size": r.choice((64.0, 1024.0)), "direction": r.choice(("to-vm", "from-vm")),
        "must_migrate": r.random() < 0.3, "paths": r.sample(list(guest_paths()), 2), "settings": r.choice(GIVEN),
        "topology": r.choice(("cross-host-vm", "cross-host-vm", "host-vm", "vm-vm")),
    }  # fmt: skip
    if workload == "stream":
        vm |= {"rate": f"{10 ** r.uniform(-2, 1.6):.4g}Gbit/s", "flows": r.choice((1, 4))}
    else:
        vm |= {"rate": 10 ** r.uniform(2, 6), "latency": f"{10 ** r.uniform(1, 3.5):.4g}us"}
    hosts = [
        fleets.host(name=f"h{k}", cores=r.choice((4, 64)), memory=r.choice(("8GiB", "256GiB")), nics=r.choice(NICS))
        for k in range(r.choice((1, 2)))
    ]
    rules = {"confidence": r.choice((0.5, 0.9)), "growth_per_year": r.choice((0.0, 0.3)), "horizon_years": 2}
    return fleets.fleet(vm, hosts=hosts, **rules)


def relaxed(fleet, kept):
    """The fleet with every requirement given up that is not kept, as far as a file can say it."""
    (vm,) = fleet.vm
    update, rules, hosts = {}, {}, fleet.host
    if "latency" not in kept and vm.latency is not None:
        update["latency"] = 1e6
    if "rate" not in kept:
        update["rate"] = ("rate_pps", 1.0)
    if "confidence" not in kept:
        rules["confidence"] = 0.5
    if "loss" not in kept:
        update["loss"] = 0.4999
    if "memory" not in kept:
        update["memory"] = 1.0
    if "settings" not in kept:
        update["settings"] = {}
    if "vcpus" not in kept:
        hosts = tuple(h.model_copy(update={"cores": h.cores + vm.vcpus}) for h in hosts)
    more = {"count": 3, "vfs": 64}
    hosts = tuple(h.model_copy(update={"nics": tuple(nic.model_copy(update=more) for nic in h.nics)}) for h in hosts)
    return fleet.model_copy(
        update={"vm": (vm.model_copy(update=update),), "host": hosts, "rules": fleet.rules.model_copy(update=rules)}
    )


def judged(seed):
    """Every refusal of a fleet put to the test; how many there were."""
    fleet = drawn(seed)
    refusals = catalogue(fleet).refusals
    for r in refusals:
        assert r.mend, (seed, r)
        assert accepts(changed(fleet, r.mend), 0, r.path), (seed, r)
        if not {"must_migrate", "topology", "host types", "NIC functions of the host types"} & set(r.conflict):
            assert not accepts(relaxed(fleet, set(r.conflict)), 0, r.path), (seed, r)
            for name in r.conflict:
                assert accepts(relaxed(fleet, set(r.conflict) - {name}), 0, r.path), (seed, name, r)
    return len(refusals)


@pytest.mark.parametrize("seed", range(3))
def test_changes_that_are_offered_mend_and_conflicts_are_smallest(seed):
    judged(seed)


@pytest.mark.slow
def test_the_same_of_many_fleets():
    assert sum(judged(seed) for seed in range(3, 20)) > 15


def test_changes_are_read_as_the_file_would_be_and_measured_as_ratios():
    fleet = fleets.fleet(fleets.web())
    doubled = Change(table="vm", name="web", key="latency", value="800us")
    assert changed(fleet, [doubled]).vm[0].latency == pytest.approx(800e-6)
    assert distance(fleet, [doubled]) == pytest.approx(0.6931471805599453)
    larger = Change(table="host", name="host", key="memory", value="512GiB")
    assert changed(fleet, [larger]).host[0].memory == 512 << 30
    assert larger.text("web") == 'host host: memory = "512GiB"'
    assert Change(table="rules", name="", key="confidence", value=0.6).text() == "rules.confidence = 0.6"
    assert Change(table="vm", name="web", key="must_migrate", value=False).text("web") == "must_migrate = false"


@pytest.mark.parametrize(
    ("vms", "rules"),
    [
        ([fleets.web(count=100)], {}),
        ([fleets.web(count=40, vcpus=20, latency="1ms")], {}),
        ([fleets.web(count=60), fleets.nfv(count=50)], {"n_minus_1": ["host"]}),
        ([fleets.web(count=25, memory="100GiB"), fleets.backup(count=2)], {"spare_hosts": 2}),
        ([fleets.web(count=20)], {"spare_hosts": 2}),  # has a place, but no spare host is left
        ([fleets.web(count=24)], {"n_minus_1": ["host"]}),  # has a place, but not when a host fails
    ],
)
def test_so_many_more_hosts_are_enough(vms, rules):
    fleet = fleets.fleet(*vms, hosts=[fleets.host(count=4)], **rules)
    found = plan_fleet(fleet)
    assert not found.feasible
    r = next(r for r in found.refusals if r.what == "the fleet")
    assert "host counts" in r.conflict
    again = plan_fleet(changed(fleet, r.mend))
    assert again.feasible
    assert sum(again.spares.values()) >= rules.get("spare_hosts", 0)


def test_classes_that_could_stand_without_the_others_are_not_in_the_conflict():
    """Three large VMs need three hosts; that there are small ones beside them changes nothing."""
    whole = fleets.web(count=3, vcpus=18, latency="1ms")
    fleet = fleets.fleet(whole, fleets.backup(count=1), hosts=[fleets.host(count=2)])
    (r,) = [r for r in plan_fleet(fleet).refusals if r.what == "the fleet"]
    assert r.conflict == ("host counts", "count of web")


def test_a_class_without_a_path_is_offered_the_nearest_change_and_it_does():
    fleet = fleets.fleet(fleets.web(latency="60us", must_migrate=True, paths=["virtio-vhost", "vf"]))
    found = plan_fleet(fleet)
    last = found.refusals[-1]
    assert (last.what, last.path) == ("web", None)
    assert plan_fleet(changed(fleet, last.mend)).feasible
    offered = [distance(fleet, r.mend) for r in found.refusals if r.path is not None]
    assert distance(fleet, last.mend) <= min(offered)
