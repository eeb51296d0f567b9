"""Observation files: what a person may write, and what is said when it is wrong."""

import pytest

from vmodel.calibrate.dataset import parse_rows, read_rows
from vmodel.errors import ConfigError

GOOD = "id,path,topology,workload,direction,message_bytes,metric,value,rx_usecs\n"


def faults(text):
    with pytest.raises(ConfigError) as caught:
        parse_rows(text, "mine.csv")
    return [fault.line for fault in caught.value.faults]


def test_a_row_becomes_an_observation_with_its_knobs():
    (row,) = parse_rows(GOOD + "a,vf,host-vm,rr,,1K,latency_us,488,3\n", "mine.csv")
    assert (row.path, row.value, row.knobs["size"], row.knobs["rx_usecs"]) == ("vf", 488.0, 1024.0, 3.0)


def test_an_empty_cell_is_unknown_and_not_zero():
    (row,) = parse_rows(GOOD + "a,vf,host-vm,rr,,,latency_us,488,\n", "mine.csv")
    assert row.knobs == {} and row.sd is None


def test_every_fault_of_a_file_is_told_at_once_with_its_line():
    lines = faults(GOOD + "a,vff,host-vm,rr,,1024,latency_us,488,3\nb,vf,host-vm,rr,,1024,latency,-1,3\n")
    assert any("mine.csv:2" in line and '"vff"' in line and '"vf"' in line for line in lines)
    assert any("mine.csv:3" in line and "metric" in line for line in lines)
    assert any("mine.csv:3" in line and "value" in line for line in lines)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "a header"),
        ("   \n\n", "a header"),
        (GOOD, "at least one row"),
        ("id,path,workload,metric,value,rx_usec\n", "rx_usecs"),
        ("id,path,workload,metric,value,value\n", "only once"),
        ("id,path,workload,value\n", "metric"),
        (GOOD + "a,vf,host-vm,rr,,1024,latency_us,488\n", "9 cells"),
        (GOOD + "a,vf,host-vm,rr,,1024,latency_us,nan,3\n", "positive"),
        (GOOD + "a,vf,host-vm,rr,,1024,latency_us,0,3\n", "positive"),
        (GOOD + "a,vf,host-vm,rr,,1024,latency_us,inf,3\n", "positive"),
        (GOOD + "a,vf,host-vm,rr,,0,latency_us,488,3\n", "size"),
        (GOOD + "a,vf,host-vm,rr,,1024,latency_us,488,-3\n", "rx_usecs"),
        (GOOD + "a,vf,host-vm,rr,,1024,latency_us,488,3\na,vf,host-vm,rr,,1024,latency_us,488,3\n", "only once"),
        (GOOD + 'a,"vf,host-vm,rr,,1024,latency_us,488,3\n', "CSV"),
        (GOOD + "a,__import__('os'),host-vm,rr,,1024,latency_us,488,3\n", "path"),
    ],
)
def test_a_broken_file_is_refused_in_one_line(text, told):
    lines = faults(text)
    assert any(told in line for line in lines)
    assert all("\n" not in line for line in lines)


def test_binary_and_missing_files_are_refused(tmp_path):
    (tmp_path / "x.csv").write_bytes(b"\xff\xfe\x00\x01")
    for name in ("x.csv", "missing.csv", "."):
        with pytest.raises(ConfigError):
            read_rows(tmp_path / name)
