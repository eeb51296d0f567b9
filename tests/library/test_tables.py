"""The package's own TOML files: names, defaults and titles that a reader can rely on."""

import pytest

from vmodel.config import knob_value
from vmodel.errors import UnknownName
from vmodel.library import tables
from vmodel.library.moderation import devices
from vmodel.library.profile import shipped

ENDS = tables.endpoints()
every_end = pytest.mark.parametrize("end", ENDS.values(), ids=ENDS.keys())


@every_end
def test_endpoint_is_titled_and_made_of_known_pieces(end):
    assert end.title and end.tx and end.rx
    assert end.place in ("guest", "host")
    assert end.attach in ("kernel", "macvtap", "nic", "switch", "vsock", "loopback")
    assert end.device in ("vf", "pf", "none")
    assert (end.device == "none") or end.attach == "nic"


@every_end
def test_public_path_has_defaults_that_exist(end):
    if not end.public:
        return
    assert end.topologies and set(end.topologies) <= set(tables.TOPOLOGIES)
    assert end.topology in end.topologies and end.workload in tables.WORKLOADS
    assert end.best in shipped() and end.cites and set(end.cites) <= set(tables.references())
    assert tables.endpoint(end.host_peer).place == "host"
    for settings in (end.defaults, end.fixed):
        for name, value in settings.items():
            knob_value(name, value)


def test_links_are_named_once_and_have_stages():
    assert all(tables.links().values())
    assert {"nic_tx", "nic_rx", "between_hosts", "inside_nic", "uplink_tx", "uplink_rx"} <= set(tables.links())


def test_every_word_of_a_knob_is_a_word_of_a_formula_and_fed_once():
    from vmodel.core.symbols import KNOB_WORDS

    fed = [knob.word for knob in tables.knobs().values() if knob.word]
    assert len(fed) == len(set(fed)) and set(fed) <= set(KNOB_WORDS)


def test_knobs_and_parameters_do_not_share_names():
    assert not set(tables.knobs()) & set(tables.priors())


@pytest.mark.parametrize(("look_up", "wrong", "meant"), [
    (tables.endpoint, "virtio-vhos", "virtio-vhost"),
    (tables.knob, "rx_usec", "rx_usecs"),
    (tables.knob, "exit_ss", "exit_s"),
])  # fmt: skip
def test_an_unknown_name_is_answered_with_the_nearest(look_up, wrong, meant):
    with pytest.raises(UnknownName) as error:
        look_up(wrong)
    assert error.value.nearest == meant


def test_references_say_who_what_where_when():
    for key, source in tables.references().items():
        assert source.key == key and source.title and source.authors and source.venue and source.year


def test_instructions_scale_with_the_clock_and_memory_does_not():
    slow, fast = (tables.priors()["exit_s"].at(ghz) for ghz in (1.2, 2.4))
    assert slow == pytest.approx(2 * fast) and fast == tables.priors()["exit_s"].median
    fixed = tables.priors()["propagation_s"]
    assert fixed.clock == 0 and fixed.at(1.0) == fixed.median


def test_adaptive_parameters_of_the_devices_are_known():
    for device in devices().values():
        assert device.adaptive_parameter is None or device.adaptive_parameter in tables.priors()
