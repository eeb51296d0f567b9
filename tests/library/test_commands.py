"""Every setting is put in force by a command or said to have none, on every path; values are those of the tool."""

import shlex
import tomllib
from importlib.resources import files
from xml.etree import ElementTree as Xml

import pytest

from vmodel.config import scenario
from vmodel.library import commands, tables
from vmodel.library.commands import Names, Target, hands
from vmodel.library.moderation import devices, moderate, number_to_write
from vmodel.solve.apply import apply_settings, target_of

TABLE = tomllib.loads(files("vmodel.library").joinpath("commands.toml").read_text(encoding="utf-8"))


def values(knob):
    if knob.kind == "switch":
        return (0.0, 1.0)
    return tuple(v for v in (knob.default, 10.0, 4096.0, 2097152.0) if v is not None and knob.least <= v <= knob.most)


def texts(found):
    return [step.text for step in found.steps]


def test_the_table_speaks_of_knobs_and_paths_that_exist_and_leaves_none_out():
    assert set(TABLE["without"]) == set(tables.knobs())
    assert set(TABLE["ways"]) <= set(tables.knobs())
    listed = {path for group in TABLE["groups"].values() for path in group} | set(TABLE["attach"])
    listed |= {p for rows in TABLE["ways"].values() for r in rows for p in r["paths"] if p not in TABLE["groups"]}
    assert listed <= set(tables.path_names())


@pytest.mark.parametrize("path", tables.path_names())
def test_every_knob_has_a_command_or_a_reason_on_every_path(path):
    base = scenario(path=path)
    for knob in tables.knobs().values():
        for value in values(knob):
            found = hands({knob.name: value}, target_of(base))
            named = {name for step in found.steps for name in step.knobs}
            assert (knob.name in named) != (knob.name in found.without), knob.name
            assert all(reason for reason in found.without.values())
            for step in found.steps:
                assert "{" not in step.text
                if step.place == commands.DOMAIN:
                    Xml.fromstring(step.text)
                elif step.place != commands.QEMU:
                    assert shlex.split(step.text, comments=True)


def test_every_path_with_tcp_can_have_its_mtu_and_offloads_set():
    for path in tables.path_names():
        end = tables.endpoint(path)
        if "stack_send" in end.tx:
            found = hands({"mtu": 9000.0, "gro": 1.0}, target_of(scenario(path=path)))
            assert found.without == {}, path


def test_what_belongs_together_stands_in_one_line():
    s = scenario(path="virtio-vhost", queues=4, tso=False, gro=True, mtu=9000, event_idx=True, ring_size=512)
    found = apply_settings(s, s.chosen)
    assert "ethtool -K eth0 tso off gso off gro on" in texts(found)
    assert "ethtool -L eth0 combined 4" in texts(found)
    interface = Xml.fromstring(found.at(commands.DOMAIN)[0].text)
    assert interface.find("driver").attrib == {
        "name": "vhost",
        "queues": "4",
        "event_idx": "on",
        "rx_queue_size": "512",
    }
    assert interface.find("mtu").attrib == {"size": "9000"}
    qemu = found.at(commands.QEMU)[0].text
    assert "vhost=on,queues=4 " in qemu
    assert "mq=on,vectors=10" in qemu  # 2 N + 2, the kernel's one vector for each queue, configuration and control


def test_values_are_clamped_to_what_the_tool_takes_and_said_so():
    s = scenario(path="virtio-vhost", ring_size=600)
    found = apply_settings(s, s.chosen)
    assert 'rx_queue_size="1024"' in found.at(commands.DOMAIN)[0].text
    assert any("600" in w and "1024" in w for w in found.warnings)
    small = apply_settings(scenario(path="virtio-vhost", ring_size=16), ["ring_size"])
    assert 'rx_queue_size="256"' in small.at(commands.DOMAIN)[0].text


@pytest.mark.parametrize(
    ("device", "usecs", "line", "warned"),
    [
        ("igbvf", 5.0, "rx-usecs 10", "outside"),  # 1 to 9 are no times there, 3 is a mode
        ("igbvf", 3.0, "rx-usecs 3", "adaptive mode"),
        ("igbvf", 0.0, "rx-usecs 0", None),
        ("ixgbevf", 11.0, "rx-usecs 10", None),  # steps of two, downwards
        ("iavf", 11.0, "adaptive-rx off rx-usecs 12", "starts adaptive"),  # steps of two, upwards
        ("ena", 5.0, "adaptive-rx off rx-usecs 5", None),
    ],
)
def test_moderation_is_written_as_the_driver_takes_it(device, usecs, line, warned):
    found = hands({"rx_usecs": usecs}, Target(path="vf", timers={"guest": (device, True)}))
    assert texts(found) == [f"ethtool -C eth0 {line}"]
    assert any(warned in w for w in found.warnings) if warned else found.warnings == ()


def test_a_device_that_does_not_listen_gets_no_command():
    for device in (name for name, d in devices().items() if not d.honoured):
        found = hands({"rx_usecs": 10.0, "adaptive_rx": 0.0}, Target(path="vf", timers={"guest": (device, True)}))
        assert found.steps == ()
        assert set(found.without) == {"rx_usecs", "adaptive_rx"}
        assert device in found.without["rx_usecs"]


@pytest.mark.parametrize("device", [name for name, d in devices().items() if d.honoured])
def test_the_number_written_gives_the_interval_that_the_model_uses(device):
    for usecs in (0.0, 1.0, 3.0, 7.0, 10.0, 49.0, 50.0, 393.0, 5000.0, 1e6):
        written = number_to_write(device, usecs)
        asked, kept = (moderate(device, x, None, False).interval_s for x in (usecs, written))
        assert (asked is None) == (kept is None)
        assert asked == pytest.approx(kept, abs=1e-12)


def test_both_ends_of_a_round_trip_are_set_each_for_its_driver():
    s = scenario(path="vf", rx_usecs=10)
    places = {step.place: step.text for step in apply_settings(s, s.chosen).steps}
    assert places == {"guest": "ethtool -C eth0 rx-usecs 10", "peer": "ethtool -C eth0 rx-usecs 10"}
    s = scenario(path="virtio-vhost", topology="cross-host-vm", rx_usecs=10)
    assert [step.place for step in apply_settings(s, s.chosen).steps] == ["host", "peer"]


def test_names_of_users_are_quoted_for_shell_and_xml():
    s = scenario(path="virtio-vhost", queues=2, mtu=9000)
    nasty = Names(guest="e; rm -rf /", tap="$(id)", bridge='b"><x/>')
    found = apply_settings(s, s.chosen, nasty)
    for step in (step for step in found.steps if step.place in (commands.GUEST, commands.HOST)):
        assert {nasty.guest, nasty.tap} & set(shlex.split(step.text))
    assert Xml.fromstring(found.at(commands.DOMAIN)[0].text).find("source").get("bridge") == nasty.bridge


@pytest.mark.parametrize("path", sorted(TABLE["attach"]))
def test_every_attachment_can_be_written_without_any_setting(path):
    found = hands({}, Target(path=path, names=Names(pci="0000:03:10.2")), attach=True)
    assert found.steps
    for step in found.at(commands.DOMAIN):
        assert Xml.fromstring(step.text).tag == "interface"
    if path == "vf":
        address = Xml.fromstring(found.at(commands.DOMAIN)[0].text).find("source/address").attrib
        assert address == {"type": "pci", "domain": "0x0000", "bus": "0x03", "slot": "0x10", "function": "0x2"}


def test_the_text_tells_places_warnings_and_reasons():
    s = scenario(path="virtio-vhost", queues=2, flows=2, ring_size=600)
    text = "\n".join(commands.lines(apply_settings(s, s.chosen)))
    for part in (
        "# in the guest",
        "# libvirt domain",
        "# QEMU options",
        "# warning: ring_size 600",
        "sets flows: the app",
    ):
        assert part in text
    record = commands.hands_json(apply_settings(s, s.chosen))
    assert set(record) == {"steps", "without_command", "warnings"}
    assert record["without_command"].keys() == {"flows"}
