"""How messages become packets, against counts made by hand from the protocols' own numbers."""

import pytest

from tests.strategies import counted
from vmodel.config import scenario
from vmodel.library.traffic import TRAFFIC
from vmodel.solve import compose

MSS = 1500 - 40 - 12  # mtu, IP and TCP headers, time stamps
FRAME = 40 + 12 + 18 + 20  # what a frame adds on the wire: headers, time stamps, Ethernet, preamble and gap


def counts(workload, size, direct=False, merges=True, **knobs):
    asked = scenario(path="virtio-vhost", profile="generic", size=size, **knobs)
    words = compose.words(asked, compose.scenario_ways(asked).forward, dict.fromkeys(compose.POLLS, 0.0))
    return counted(workload, words | {"direct": float(direct), "merges": float(merges)})


@pytest.mark.parametrize(
    ("size", "packets"), [(1, 1), (MSS, 1), (MSS + 1, 2), (2 * MSS, 2), (2 * MSS + 1, 3), (65_536, 46)]
)
def test_a_lone_message_is_cut_at_the_largest_payload(size, packets):
    found = counts("rr", size)
    assert found["packets"] == packets
    assert found["wire_bytes"] == size + packets * FRAME
    assert found["kicks"] == found["interrupts"] == 1


def test_2048_bytes_are_the_first_usual_size_beyond_one_packet():
    assert [counts("rr", size)["packets"] for size in (1024, 1448, 2048)] == [1, 1, 2]


def test_time_stamps_take_twelve_bytes_of_each_packet():
    assert counts("rr", 1460, timestamps=False)["packets"] == 1
    assert counts("rr", 1460, timestamps=True)["packets"] == 2


@pytest.mark.parametrize(("size", "segments"), [(1, 1), (45 * MSS, 1), (45 * MSS + 1, 2), (200_000, 4)])
def test_segmentation_offload_hands_down_whole_packets_up_to_64_kib(size, segments):
    found = counts("rr", size)
    assert found["segments"] == segments == found["stack_units"]


def test_without_offload_the_stack_works_on_packets():
    found = counts("rr", 10 * MSS, tso=False, gro=False)
    assert found["segments"] == found["stack_units"] == found["receive_units"] == 10


def test_small_writes_fill_packets_unless_nodelay():
    assert counts("stream", 100)["packets"] == pytest.approx(100 / MSS)
    assert counts("stream", 100, nodelay=True)["packets"] == 1
    assert counts("stream", 100, nodelay=True)["segments"] == 1


def test_a_busy_device_fills_segments_with_small_writes():
    held, free = (counts("stream", 1000, merges=merges) for merges in (True, False))
    assert held["segments"] == pytest.approx(1000 / (45 * MSS))
    assert free["segments"] == 1


@pytest.mark.parametrize(("buffer", "size", "packets"), [
    (4096, 4096, 1), (4096, 4097, 2), (4096, 65_536, 16), (65_536, 65_536, 1), (65_536, 65_537, 2),
    (1 << 20, 200_000, 4),
])  # fmt: skip
def test_vsock_cuts_at_the_receive_buffer_and_at_64_kib(buffer, size, packets):
    assert counts("stream", size, rx_buffer_bytes=buffer)["vsock_packets"] == packets


def test_merged_vsock_packets_share_a_buffer():
    assert counts("stream", 1024, rx_buffer_bytes=65_536)["vsock_fill"] == 64
    assert counts("stream", 1024, rx_buffer_bytes=65_536, merge_rx_buffers=False)["vsock_fill"] == 1


def test_a_train_of_frames_shares_kicks_by_the_batch():
    found = counts("packets", 64, batch=32, interrupt_batch=16)
    assert (found["packets"], found["kicks"], found["interrupts"]) == (1, 1 / 32, 1 / 32)
    assert found["taken"] == 32


def test_a_frame_of_64_bytes_occupies_84_on_the_wire():
    assert counts("packets", 64)["wire_bytes"] == 84


def test_one_more_descriptor_is_read_than_asked():
    assert counts("packets", 64, descriptor_batch=64)["fetch_batch"] == 65


def test_there_is_a_law_for_each_workload_with_a_docstring():
    assert [law.name for law in TRAFFIC] == ["rr", "stream", "packets"]
    assert all(law.about.endswith(".") for law in TRAFFIC)
