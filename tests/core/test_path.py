"""Composition: which stages lie between two ends in each topology, and which resources they share."""

import pytest

from vmodel.config import scenario
from vmodel.core.path import End, chain, resource_titles
from vmodel.errors import ScenarioError
from vmodel.library import tables
from vmodel.solve import compose, evaluate

ADAPTER = {"pcie_transit", "pcie_link", "nic_dma"}
KERNEL_GUESTS = [
    n for n in tables.path_names() if tables.endpoint(n).place == "guest" and tables.endpoint(n).attach == "kernel"
]
NIC_GUESTS = [
    n for n in tables.path_names() if tables.endpoint(n).place == "guest" and tables.endpoint(n).attach == "nic"
]


def ways(path, topology, **settings):
    return compose.scenario_ways(scenario(path=path, topology=topology, **settings))


def stages(way):
    return [node.stage for node in way.nodes]


def resources(way):
    return {node.resource for node in way.nodes if node.resource is not None}


def end(name, host=0, label="a"):
    e = tables.endpoint(name)
    return End(name=name, place=e.place, attach=e.attach, tx=e.tx, rx=e.rx, host=host, label=label)


def joined(sender, receiver):
    return chain(sender, receiver, tables.links(), evaluate.occupies, "there")


@pytest.mark.parametrize("topology", ["vm-vm", "host-vm"])
def test_a_vf_goes_down_to_the_adapter_and_back_inside_one_host(topology):
    way = ways("vf", topology)
    for leg in (way.forward, way.reverse):
        found = stages(leg)
        assert set(found) >= ADAPTER and "embedded_switch" in found
        assert not {"wire", "propagation"} & set(found)
        assert found.count("pcie_link") == 2 and found.count("nic_dma") == 2
        assert not leg.direct


@pytest.mark.parametrize("path", KERNEL_GUESTS)
def test_a_software_path_never_sees_the_adapter_inside_one_host(path):
    for topology in {"vm-vm", "host-vm"} & set(tables.endpoint(path).topologies):
        way = ways(path, topology)
        for leg in (way.forward, way.reverse):
            assert not set(stages(leg)) & {*ADAPTER, "wire", "propagation", "embedded_switch"}
            assert leg.direct


def test_every_way_between_hosts_has_one_wire_per_direction(path):
    for topology in tables.endpoint(path).topologies:
        way = ways(path, topology)
        for leg in (way.forward, way.reverse):
            wires = stages(leg).count("wire")
            assert wires == (1 if topology.startswith("cross") else 0)
            assert stages(leg).count("propagation") == wires
            assert ("embedded_switch" in stages(leg)) <= (wires == 0)
        if topology.startswith("cross"):
            assert {"wire|there"} <= resources(way.forward) and {"wire|back"} <= resources(way.reverse)
            assert not {"wire|back"} & resources(way.forward)


def test_a_way_starts_with_the_senders_chain_and_ends_with_the_receivers(path):
    for topology in tables.endpoint(path).topologies:
        way = ways(path, topology)
        for leg in (way.forward, way.reverse):
            found = stages(leg)
            assert tuple(found[: len(leg.sender.tx)]) == leg.sender.tx
            assert tuple(found[-len(leg.receiver.rx) :]) == leg.receiver.rx
        assert (way.forward.sender, way.forward.receiver) == (way.reverse.receiver, way.reverse.sender)


def test_direction_turns_the_ways_round(path):
    for topology in {"host-vm", "cross-host-vm"} & set(tables.endpoint(path).topologies):
        to, fro = (ways(path, topology, direction=d) for d in tables.DIRECTIONS)
        assert stages(to.forward) == stages(fro.reverse) and stages(to.reverse) == stages(fro.forward)
        assert to.forward.receiver.place == "guest" and fro.forward.sender.place == "guest"


def test_vsock_speaks_only_between_a_host_and_its_guest():
    assert tables.endpoint("vsock").topologies == ("host-vm",)
    assert "wire" not in stages(ways("vsock", "host-vm").forward)
    for other in (end("vsock-host", host=1), end("host-kernel"), end("vf")):
        with pytest.raises(ScenarioError, match="peer"):
            joined(end("vsock"), other)


def test_mixed_peers_meet_at_the_adapter_with_an_uplink_for_the_one_that_does_not_reach_it():
    there, back = joined(end("virtio-vhost"), end("vf", label="b")), joined(end("vf", label="b"), end("virtio-vhost"))
    assert {"bridge", "forward_send", "embedded_switch"} <= set(stages(there))
    assert "host_softirq" not in stages(there)
    assert {"host_interrupt", "host_softirq", "bridge", "embedded_switch"} <= set(stages(back))
    assert "forward_send" not in stages(back)
    far = joined(end("virtio-vhost"), end("vf", host=1, label="b"))
    assert "wire" in stages(far) and "embedded_switch" not in stages(far)


def test_macvtap_and_a_switch_have_uplinks_of_their_own():
    assert stages(joined(end("macvtap-vhost"), end("native", host=1, label="b"))).count("macvtap") == 1
    found = stages(joined(end("vhost-user"), end("native", host=1, label="b")))
    assert "pmd_nic_send" in found and "bridge" not in found[: found.index("wire")]


def test_one_poll_mode_core_serves_both_guests_of_a_host():
    inside = ways("vhost-user", "vm-vm").forward
    assert {r for r in resources(inside) if r.startswith("poll-mode core")} == {"poll-mode core|0"}
    apart = ways("vhost-user", "cross-vm-vm").forward
    assert {r for r in resources(apart) if r.startswith("poll-mode core")} == {"poll-mode core|0", "poll-mode core|1"}


@pytest.mark.parametrize("path", NIC_GUESTS)
def test_one_adapter_and_one_softirq_core_per_host(path):
    for topology in tables.endpoint(path).topologies:
        way = ways(path, topology)
        hosts = 2 if topology.startswith("cross") else 1
        for kind in ("PCIe link", "NIC DMA engine"):
            found = {r for leg in (way.forward, way.reverse) for r in resources(leg) if r.startswith(kind)}
            assert len(found) == hosts


def test_each_guest_has_a_processor_and_a_worker_of_its_own():
    found = resources(ways("virtio-vhost", "vm-vm").forward)
    assert len({r for r in found if r.startswith("guest vCPU")}) == 2
    assert len({r for r in found if r.startswith("vhost worker")}) == 2


def test_a_xen_back_end_runs_on_the_processor_of_the_hosts_own_end():
    way = ways("xen-pv", "host-vm").forward
    assert {r for r in resources(way) if r.startswith("host CPU")} == {"host CPU|host"}


def test_delays_occupy_nothing_and_work_occupies_something(path):
    for topology in tables.endpoint(path).topologies:
        for node in ways(path, topology).forward.nodes:
            assert (node.resource is None) == (evaluate.occupies(node.stage) is None)
            assert node.guest <= ("guest vCPU" in (node.resource or ""))


def test_the_instance_of_a_resource_is_named_only_where_there_is_more_than_one():
    titles = resource_titles(["wire|there", "host CPU|a", "host CPU|b", "wire|there"])
    assert titles == {"wire|there": "wire", "host CPU|a": "host CPU (a)", "host CPU|b": "host CPU (b)"}
