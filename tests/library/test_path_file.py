"""Paths that a user writes: the same stages in another order, every fault of a file at once."""

import pytest

import vmodel
from vmodel.errors import ConfigError
from vmodel.library.path_file import read

GOOD = """
title = "virtio-net without a bridge in the way, worker polled"
place = "guest"
attach = "kernel"
merges = true
tx = ["app_send", "copy_send", "stack_send", "virtqueue_post", "vhost_send", "vhost_copy_send", "tap_send"]
rx = ["tap_receive", "vhost_receive", "vhost_copy_receive", "virtqueue_reap", "stack_receive", "app_receive"]
[path]
host_peer = "host-kernel"
"""


def test_a_written_path_is_predicted_like_a_named_one(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(GOOD)
    answer = vmodel.predict(path=str(file), topology="host-vm", profile="generic")
    assert 0 < answer.latency_s < vmodel.predict(path="virtio-vhost", topology="host-vm", profile="generic").latency_s
    assert sum(s.seconds for s in answer.shares) == pytest.approx(answer.latency_s, rel=1e-9)
    assert "vhost_send" in {s.stage for s in answer.shares}


def test_every_fault_of_a_path_file_is_told_at_once(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(
        GOOD.replace('"guest"', '"gest"').replace("vhost_send", "vhost_sent").replace("merges", "merge")
        + 'topology = "vmvm"\n'
    )
    with pytest.raises(ConfigError) as error:
        read(str(file))
    told = {fault.key: fault.nearest for fault in error.value.faults}
    assert told["place"] == "guest"
    assert told["merge"] == "merges"
    assert told["tx"] == "vhost_send"
    assert told["path.topology"] == "vm-vm"


@pytest.mark.parametrize("text", ["", "title = ", "tx = 3", "[path]\nx = 1", "path = 3", "tx = [\"__import__('os')\"]"])
def test_a_broken_path_file_is_refused(tmp_path, text):
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(ConfigError) as error:
        read(str(file))
    assert all("\n" not in fault.line for fault in error.value.faults)


def test_a_path_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ConfigError):
        vmodel.predict(path=str(tmp_path / "missing.toml"))
