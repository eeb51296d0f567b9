"""What `--vary` understands, and how it refuses what it does not."""

import numpy as np
import pytest

from vmodel.errors import ConfigError
from vmodel.sweep.axis import axis, faults_of, read_axis, settled


@pytest.mark.parametrize(
    ("text", "kind", "values"),
    [
        ("rx_usecs=0,10,50", "knob", (0, 10, 50)),
        ("rx-usecs=0:200:50", "knob", (0, 50, 100, 150, 200)),
        ("rx_usecs=0:99:50", "knob", (0, 50)),
        ("rx_usecs=20:0:10", "knob", (20, 10, 0)),
        ("mtu=1500:1600:50", "knob", (1500, 1550, 1600)),
        ("rx_usecs=0..1ms/3", "knob", (0, 500, 1000)),
        ("size=1..1000/4@log", "knob", (1, 10, 100, 1000)),
        ("size=64,64KiB", "knob", (64, 65536)),
        ("queues=1..4/7", "knob", (1, 2, 3, 4)),
        ("arrival_scv=0..1/3", "knob", (0, 0.5, 1)),
        ("arrival_scv=.5,1.", "knob", (0.5, 1)),
        ("tso=on,off", "knob", (1, 0)),
        ("link=1Gbit/s,10Gbit/s", "knob", (1, 10)),
        ("path=vf,virtio-vhost", "word", ("vf", "virtio-vhost")),
        ("send_call_s=1e-7..1e-6/2", "cost", (1e-7, 1e-6)),
        ("load=10%..90%/3", "capacity", (0.1, 0.5, 0.9)),
        ("load=0.1,1.2", "capacity", (0.1, 1.2)),
        ("load=100kpps:300kpps:100kpps", "rate_pps", (1e5, 2e5, 3e5)),
        ("load=1Gbit/s..3Gbit/s/2", "throughput_bps", (1e9, 3e9)),
    ],
)
def test_values_are_read_as_people_write_them(text, kind, values):
    found = read_axis(text)
    assert found.kind == kind
    assert found.values == pytest.approx(values) if kind != "word" else found.values == values


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("rx_usecs", "NAME=VALUES"),
        ("=1,2", "NAME=VALUES"),
        ("rx_usec=1,2", 'did you mean "rx_usecs"'),
        ("size=64..1500", "how many values"),
        ("size=64:1500", "a list a,b,c"),
        ("size=64:1500:0", "size of at least one byte"),
        ("mtu=60:1500:60", "68 to 65535"),
        ("rx_usecs=0:10:0", "a step above zero"),
        ("rx_usecs=0..100/3@log", "above zero"),
        ("rx_usecs=0..100/1", "2 to"),
        ("rx_usecs=0..100/99999999999", "2 to"),
        ("rx_usecs=0:1e9:1e-3", "at most"),
        ("rx_usecs=-1,2", "time of zero or more"),
        ("rx_usecs=1,,2", "time of zero or more"),
        ("queues=0,1", "1 to 1024"),
        ("mtu=nan..inf/3", "a size"),
        ("tso=maybe", "true or false"),
        ("path=vf,vf", "each value once"),
        ("path=vf,", "separated by commas"),
        ("path=vf,vff", 'did you mean "vf"'),
        ("profile=generic,e5620", "e5620-82576-2011"),
        ("topology=host_vm", "host-vm"),
        ("workload=tcp", "rr, stream, packets"),
        ("device=igbvff", 'did you mean "igbvf"'),
        ("load=50%,200kpps", "loads of one kind"),
        ("load=0", "above zero"),
        ("load=200", "at most 10"),
        ("load=2foo", "a load above zero"),
        ("send_call_s=0,1", "a positive number"),
        ("send_call_s=__import__('os')", "a positive number"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(text, part):
    with pytest.raises(ConfigError) as caught:
        read_axis(text)
    (line,) = caught.value.lines()
    assert part in line and "--vary" in line


def test_all_faults_are_told_at_once_and_a_name_varies_once():
    _, faults = faults_of(["rx_usec=1", "size=64..9", "mtu=1500"])
    assert len(faults) == 2
    _, faults = faults_of(["mtu=1500,9000", "mtu=68"])
    assert "one --vary for each name" in faults[0].line


def test_laws_and_words_go_round_slowest():
    axes = settled([axis("size", [64, 128]), axis("in_flight", [1, 2]), axis("path", ["vf"])])
    assert [a.name for a in axes] == ["in_flight", "path", "size"]


def test_arrays_are_taken_as_they_are():
    assert axis("size", np.array([64, 1500])).values == (64.0, 1500.0)
    assert axis("load", np.array([0.1, 0.5])).kind == "capacity"
    assert axis("load", np.array([1e5, 2e5])).kind == "rate_pps"
