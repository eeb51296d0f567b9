"""Questions as people write them: defaults by layers, and every fault of a question at once with the nearest name."""

import math

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vmodel.config import knob_value, load_of, scenario
from vmodel.core.records import Load
from vmodel.errors import ConfigError, VmodelError
from vmodel.library import tables
from vmodel.solve.ask import predict

THING = object()
NONSENSE = [math.nan, math.inf, -math.inf, -1, 1e300, 10**400, "x", "", {}, THING, [], [math.nan]]


def faults(**asked):
    with pytest.raises(ConfigError) as error:
        scenario(**{"path": "virtio-vhost", **asked})
    return {fault.key: fault for fault in error.value.faults}


def test_every_fault_is_told_at_once_with_the_nearest_name():
    found = faults(
        topology="vm-v", workload="rrr", direction="to-v", peer="nativ", device="igb-vf", rx_usec=3, size=-1,
        load="2 kp", exit_s=-1,
    )  # fmt: skip
    assert {key: fault.nearest for key, fault in found.items()} == {
        "topology": "vm-vm", "workload": "rr", "direction": "to-vm", "peer": "native", "device": "igbvf",
        "rx_usec": "rx_usecs", "size": None, "load": "2 kpps", "exit_s": None,
    }  # fmt: skip


def test_an_unknown_profile_is_told_beside_the_other_faults():
    found = faults(profile="hs21-2006", sise=3)
    assert found["profile"].nearest == "hs21-2007" and "sise" in found


def test_an_unknown_path_is_told_with_the_nearest():
    assert faults(path="virtio-vhos")["path"].nearest == "virtio-vhost"


@pytest.mark.parametrize("key", ["path", "topology", "workload", "direction", "peer", "device", "profile", "load"])
@pytest.mark.parametrize("value", [3, 1.5, ["vf"], {"a": 1}, THING], ids=lambda v: type(v).__name__)
def test_a_name_of_the_wrong_type_is_a_fault(key, value):
    if key == "load" and isinstance(value, (int, float)):
        pytest.skip("a load may be a number")
    assert key in faults(**{key: value})


@pytest.mark.parametrize("name", tables.knobs())
@pytest.mark.parametrize("value", NONSENSE, ids=lambda v: f"{type(v).__name__}-{v}"[:16] if v is not THING else "thing")
def test_a_knob_refuses_what_it_cannot_be(name, value):
    with pytest.raises(ConfigError, match=name):
        scenario(path="virtio-vhost", **{name: value})


@pytest.mark.parametrize("name", [k.name for k in tables.knobs().values() if k.kind != "switch"])
@pytest.mark.parametrize("value", [True, False])
def test_a_number_is_not_a_truth_value(name, value):
    assert name in faults(**{name: value})


@pytest.mark.parametrize("value", [0.5, 2, "maybe", [0.5], numpy.array([0.0, 2.0])], ids=repr)
@pytest.mark.parametrize("name", ["tso", "zero_copy"])
def test_a_switch_is_on_or_off(name, value):
    assert name in faults(**{name: value})


@pytest.mark.parametrize("text", ["true", "on", "yes", "1", "True", True, 1, numpy.True_])
def test_a_switch_is_read_as_people_write_it(text):
    assert knob_value("tso", text) == 1.0


@pytest.mark.parametrize(("name", "text", "value"), [
    ("size", "64KiB", 65_536), ("size", "1500", 1500), ("link_gbps", "25Gbit/s", 25), ("link_gbps", "25", 25),
    ("rx_usecs", "10us", 10), ("rx_usecs", "1.5ms", 1500), ("rx_usecs", "10", 10), ("batch", "64", 64),
])  # fmt: skip
def test_a_knob_is_read_with_its_unit(name, text, value):
    assert knob_value(name, text) == pytest.approx(value)


@pytest.mark.parametrize("name", [k.name for k in tables.knobs().values() if k.kind != "switch"])
def test_the_ends_of_a_range_are_legal_and_what_lies_beyond_is_not(name):
    knob = tables.knob(name)
    assert (knob_value(name, knob.least), knob_value(name, knob.most)) == (knob.least, knob.most)
    for beyond in (knob.least - 1, knob.most * 2 + 1):
        with pytest.raises(ConfigError, match=name):
            knob_value(name, beyond)


@pytest.mark.parametrize(
    "value",
    [0, -1, 1e300, 1e-300, math.nan, math.inf, "2us", [1e-6], True, THING, 10**400],
    ids=lambda v: type(v).__name__,
)
def test_a_parameter_is_a_positive_number(value):
    assert "exit_s" in faults(exit_s=value)


@pytest.mark.parametrize(
    "value", [0, -1, math.nan, math.inf, "0pps", "inf", "fast", "-3pps", True, [1], 10**400], ids=lambda v: f"{v}"[:9]
)
def test_an_offered_load_is_a_positive_rate(value):
    assert "load" in faults(load=value)


def test_loads_are_read_as_rate_or_throughput():
    assert load_of("200kpps") == Load(kind="rate_pps", value=200_000)
    assert load_of("3Gbit/s") == Load(kind="throughput_bps", value=3e9)
    assert load_of(5) == Load(kind="rate_pps", value=5.0)
    assert load_of("max") == load_of(None) == Load()


def test_a_topology_that_the_path_cannot_have_is_told_with_those_it_can():
    assert "host-vm" in faults(path="vsock", topology="vm-vm")["topology"].expected


@pytest.mark.parametrize(("topology", "peer"), [("host-vm", "vf"), ("vm-vm", "native"), ("cross-vm-vm", "host-kernel")])
def test_a_peer_stands_where_the_topology_says(topology, peer):
    assert "peer" in faults(topology=topology, peer=peer)


@pytest.mark.parametrize(("path", "asked"), [
    ("vsock", {"peer": "host-kernel"}), ("virtio-vhost", {"topology": "vm-vm", "peer": "vsock"}),
    ("dpdk", {"peer": "loopback"}),
])  # fmt: skip
def test_ends_that_cannot_meet_are_refused(path, asked):
    with pytest.raises(VmodelError, match="peer"):
        predict(path, **asked)


def test_zero_copy_receive_needs_a_nic_function_of_its_own():
    assert "dedicated_nic" in faults(zero_copy_rx=True)["zero_copy_rx"].expected
    assert scenario(path="virtio-vhost", zero_copy_rx=True, dedicated_nic=True).knobs["zero_copy_rx"] == 1.0


def test_settings_come_from_knob_path_profile_and_question_in_this_order():
    assert scenario(path="native", profile="generic").knobs["batch"] == tables.knob("batch").default
    assert scenario(path="native", profile="hs21-2007").knobs["batch"] == 1
    assert scenario(path="native", profile="hs21-2007", batch=7).knobs["batch"] == 7
    assert scenario(path="virtio-user", profile="e5-2650v4-2020").knobs["size"] == 64
    assert scenario(path="native").knobs["bridge"] == 0.0


def test_defaults_are_said_aloud_and_choices_remembered():
    asked = scenario(path="vf", size=100, mtu=None)
    assert asked.chosen == ("size",) and len(asked.notes) == 2
    assert asked.topology == tables.endpoint("vf").topology and asked.profile.name == tables.endpoint("vf").best
    assert scenario(path="vf", topology="vm-vm", profile="generic").notes == ()


def test_a_parameter_of_ones_own_overrides_the_profile():
    asked = scenario(path="vf", exit_s="3e-6")
    assert asked.parameters == {"exit_s": 3e-6}


def test_direction_is_kept_in_every_topology_since_two_guests_may_differ():
    for topology in ("vm-vm", "cross-host-vm"):
        assert scenario(path="vf", topology=topology, direction="from-vm").direction == "from-vm"


@given(
    st.sampled_from(sorted(tables.knobs())), st.text(max_size=12) | st.floats() | st.integers() | st.binary(max_size=3)
)
def test_anything_else_for_a_knob_is_read_or_refused(name, value):
    knob = tables.knob(name)
    try:
        number = knob_value(name, value)
    except VmodelError:
        return
    assert knob.least <= number <= knob.most
