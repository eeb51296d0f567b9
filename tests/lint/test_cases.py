"""Public reports about configuration: the files of the reporter give the finding that is a good answer.

Numbers as in docs/cases.md. Expected figures are those of the reports; tool outputs in files/ are composed after them.
"""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from vmodel.cli.main import cli

FILES = Path(__file__).parent / "files"
GENERIC = ("--profile", "generic")
FAST_PCIE = ("--set", "pcie_bytes_s=12.5e9")
# Reports about nothing that a configuration file says, and why no finding answers them.
NO_FINDING = {
    "C09": "compares two kinds of halt polling, both as they should be: an answer of `predict`",
    "C11": "a round trip and a rate of one configuration, nothing to mend: an answer of `predict`",
    "C13": "UDP and TCP differ after a driver update and the cause was not seen: an answer of `diagnose`",
    "C25": "bhyve is outside the model; no file of it is read",
    "C46": "the limit is a provider's allowance that no tool prints; the reader of `ethtool -i` warns of it",
    "C47": "which layer a figure counts: no configuration",
    "C49": "the version of iperf3 in a measurement: the reader of iperf3 warns of it",
}


def linted(*arguments):
    """Exit code and findings by rule; files by name."""
    named = [str(FILES / a) if (FILES / a).is_file() else a for a in arguments]
    ran = CliRunner().invoke(cli, ["lint", *named, "--json"], standalone_mode=False)
    assert ran.exception is None, ran.output
    record = json.loads(ran.output)
    found = {}
    for one in record["findings"]:
        found.setdefault(one["rule"], one)
    return ran.return_value, found


def test_case_01_a_hold_off_timer_far_above_the_usual_costs_the_changed_side_what_it_is_lowered_by():
    """393 to 50 us gains 335 of 343 us: a lone packet waits the whole timer, on the side that was changed."""
    code, found = linted("c01_coalesce.txt", "c01_driver.txt", "--path", "native", *GENERIC)
    one = found["moderation-too-high"]
    assert code == 1
    assert "391 us of dwmac" in one["text"] and "each receiving end that is changed gains 352 us" in one["text"]
    assert (one["gain"]["now"] - one["gain"]["then"]) / 2 == pytest.approx(343e-6, rel=0.1)  # both ends here
    assert any("rx_usecs 393" in told for told in one["evidence"])
    assert any("ethtool -C eth0 rx-usecs" in line for line in one["mend"])


def test_case_04_a_number_that_the_device_ignores_is_called_not_supported():
    _, found = linted("c04_coalesce.txt", "ena_driver.txt", "--device", "ena_unmoderated")
    one = found["moderation-not-honoured"]
    assert "not supported by ena_unmoderated" in one["text"]
    assert "moderation-too-high" not in found


def test_case_05_moderation_lowers_interrupts_and_processor_and_leaves_what_is_carried():
    code, found = linted(
        "c05_coalesce.txt", "ena_driver.txt", "--workload", "packets", "--load", "100kpps", "--size", "142", *GENERIC
    )
    one = found["moderation-too-low"]
    assert code == 0
    assert "What is carried stays the same" in one["text"]
    assert one["gain"]["quantity"] == "cpu" and one["gain"]["factor"] > 1.05
    assert any("adaptive-rx off rx-usecs 50" in line for line in one["mend"])


def test_case_07_a_window_longer_than_the_gap_polls_all_the_time():
    _, found = linted("c15_domain.xml", "--set", "halt_poll=400", *GENERIC)
    one = found["long-poll"]
    assert "min(gap, window) / gap" in one["text"]
    assert any("200000 > /sys/module/kvm/parameters/halt_poll_ns" in line for line in one["mend"])


def test_case_15_one_queue_for_eight_processors_gains_several_times_but_not_eight_with_several_flows():
    overlay = ("--topology", "cross-vm-vm", "--no-tso", "--no-gro", "--link", "100Gbit/s", "--flows", "16", *FAST_PCIE)
    _, found = linted("c15_domain.xml", *overlay, *GENERIC)
    gain = found["queues-below-vcpus"]["gain"]
    assert 6.5 / 1.5 <= gain["factor"] < 8
    assert any("ethtool -L eth0 combined 8" in line for line in found["queues-below-vcpus"]["mend"])
    _, alone = linted("c15_domain.xml", *overlay[:-4], "--flows", "1", *FAST_PCIE, *GENERIC)
    assert alone["queues-below-vcpus"]["gain"] is None  # needs several flows


def test_case_17_a_single_flow_gains_nothing_by_a_second_queue():
    _, found = linted("c17_qemu.txt", "--flows", "1", *GENERIC)
    assert "1 flow on 2 queues: a flow stays on its queue" in found["one-flow"]["text"]
    assert found["one-flow"]["gain"] is None


def test_case_19_a_router_behind_one_queue_is_told_of_queues_first():
    """About 2 Gbit/s, all traffic through one queue: multiqueue is the first answer."""
    forwarding = (
        "--topology",
        "cross-vm-vm",
        "--no-tso",
        "--no-gro",
        "--link",
        "20Gbit/s",
        "--flows",
        "16",
        *FAST_PCIE,
    )
    _, found = linted("c19_router.xml", *forwarding, *GENERIC)
    assert next(iter(found)) in ("queues-below-vcpus", "offloads-off")
    one = found["queues-below-vcpus"]
    assert "A guest that forwards pays reception and transmission" in one["text"]
    assert one["gain"]["factor"] > 2


def test_case_21_queues_are_counted_from_the_descriptors_and_vectors_warned_of():
    several = ("--topology", "cross-vm-vm", "--no-tso", "--no-gro", "--link", "100Gbit/s", "--flows", "8", *FAST_PCIE)
    _, found = linted("c21_qemu.txt", *several, *GENERIC)
    assert "1 queue pair for 8 vCPUs" in found["queues-below-vcpus"]["text"]
    assert found["queues-below-vcpus"]["gain"]["factor"] > 2
    assert any("vectors=18" in line for line in found["too-few-vectors"]["mend"])


def test_case_24_sixteen_queues_and_an_unknown_number_of_flows_are_asked_about():
    """10 to 14 Gbit/s is what one stream on one queue gives."""
    _, found = linted("c24_domain.xml", *GENERIC)
    text = found["one-flow"]["text"]
    assert "ask that first (--flows)" in text
    figure = float(text.rpartition("ends at ")[2].split(" Gbit/s")[0])
    assert 10 / 1.25 <= figure <= 15 * 1.25


def test_case_26_a_tap_whose_offloads_are_off_in_spite_of_the_wish_is_found():
    """4.21 Gbit/s (2.4 to 4.9) with TSO off; with it near line rate."""
    _, found = linted(
        "c26_domain.xml", "c26_features.txt", "--topology", "cross-host-vm", "--link", "10Gbit/s", *GENERIC
    )
    one = found["offloads-off"]
    assert "whatever is requested" in one["text"]
    assert 3e9 / 1.7 <= one["gain"]["now"] <= 5e9 * 1.7
    assert one["gain"]["then"] == pytest.approx(9.41e9, rel=0.01)
    assert any("ethtool -K eth0 tso on" in line for line in one["mend"])


def test_case_28_offloads_off_in_the_guest_are_an_error_and_a_larger_mtu_is_the_smaller_remedy():
    code, found = linted("c28_firewall.xml", *GENERIC)
    one = found["offloads-off"]
    assert code == 1 and one["severity"] == "error"
    with_jumbo = float(one["text"].rpartition("would give ")[2].split(" Gbit/s")[0]) * 1e9
    assert 1 < with_jumbo / one["gain"]["now"] <= 6
    assert one["gain"]["then"] > 10e9  # tens of Gbit/s


def test_case_30_figures_of_tcp_are_not_used_for_datagrams():
    """0.1 to 0.17 Mpps, 1 to 2 Gbit/s; offloaded TCP tens."""
    _, found = linted("c30_qemu.txt", "--workload", "packets", *GENERIC)
    text = found["datagrams"]["text"]
    rate = float(text.partition("frame by frame: ")[2].split(" kpps")[0])
    assert 100 / 1.25 <= rate <= 170 * 1.25
    assert "must not be used for the other" in text


def test_case_32_a_user_mode_network_is_an_error_and_a_tap_with_vhost_the_remedy():
    code, found = linted("c32_qemu.txt")
    one = found["user-network"]
    assert code == 1
    assert "1.6 Gbit/s, a tap with vhost 14.4" in one["text"]
    assert any("vhost=on" in line for line in one["mend"])


def test_case_34_an_mtu_that_is_not_in_force_end_to_end_is_the_first_suspect():
    _, found = linted("c34_domain.xml", "c34_links.json", *GENERIC)
    one = found["mtu-mismatch"]
    assert "not in force end to end" in one["text"]
    assert any("br0 mtu 1500" in told for told in one["evidence"])
    assert any("vnet0 mtu 9000" in told for told in one["evidence"])


def test_case_36_a_default_emulated_card_is_an_error_and_virtio_the_first_advice():
    """1.14 Gbit/s at best; 2 Mbit/s is a fault on top."""
    code, found = linted("c36_domain.xml")
    one = found["emulated-nic"]
    assert code == 1 and next(iter(found)) == "emulated-nic"
    assert "a fault on top" in one["text"]
    assert one["gain"]["now"] <= 1.14e9
    assert any('type="virtio"' in line for line in one["mend"])


def test_case_38_zero_copy_saves_processor_on_large_messages_that_leave_the_host_and_nothing_else():
    wire = ("--topology", "cross-host-vm", "--direction", "from-vm", "--workload", "stream", "--zero-copy")
    _, found = linted("c26_domain.xml", *wire, "--size", "64KiB", "--link", "10Gbit/s", *GENERIC)
    one = found["zero-copy-conditions"]
    assert one["gain"]["quantity"] == "host_cpu" and one["gain"]["factor"] > 1
    both = [part.split(" with")[0] for part in one["text"].rpartition(": ")[2].split(" and ")]
    assert both[0].split()[0] == both[1].split()[0]  # the same throughput
    for change in (("--topology", "host-vm"), ("--topology", "vm-vm")):
        _, found = linted("c26_domain.xml", *change, "--zero-copy", "--size", "64KiB", *GENERIC)
        assert "nothing is won: traffic must leave the host" in found["zero-copy-conditions"]["text"]
    _, found = linted("c26_domain.xml", *wire, "--size", "64", *GENERIC)
    assert "messages must be large" in found["zero-copy-conditions"]["text"]


def test_case_40_four_ports_behind_one_lane_reach_3_of_4_gigabits():
    _, found = linted("c40_lspci.txt", "--path", "native", "--link", "4Gbit/s", *GENERIC)
    one = found["narrow-slot"]
    assert 3.0e9 <= one["gain"]["now"] <= 3.3e9
    assert "x1 of x4" in one["text"]


def test_case_44_a_guest_on_another_node_than_its_nic_is_found_and_moved():
    _, found = linted("c44_domain.xml", "c44_lspci.txt", *GENERIC)
    one = found["wrong-numa-node"]
    assert one["severity"] == "warning"
    assert "half the rate" in one["text"] and "larger rings hide bursts, not cost" in one["text"]
    assert any("<memory" in line for line in one["mend"])


def test_case_45_a_ring_shorter_than_the_bursts_loses_and_carries_the_same():
    _, found = linted("c45_rings.txt", "c15_domain.xml", "--topology", "cross-host-vm", "--set", "burst=128", *GENERIC)
    one = found["small-ring"]
    assert "Throughput stays the same" in one["text"]
    assert "with 1024 entries 0.00 %" in one["text"]
    assert any('rx_queue_size="1024"' in line for line in one["mend"])


def test_every_public_case_has_a_finding_or_a_reason():
    numbers = {
        f"C{n:02d}"
        for n in (1, 4, 5, 7, 9, 11, 13, 15, 17, 19, 21, 24, 25, 26, 28, 30, 32, 34, 36, 38, 40, 44, 45, 46, 47, 49)
    }
    tested = {f"C{name.split('_')[2]}" for name in globals() if name.startswith("test_case_")}
    assert tested | set(NO_FINDING) == numbers
    assert tested.isdisjoint(NO_FINDING)
    listed = Path(__file__).parents[2] / "docs" / "lint.md"
    text = listed.read_text("utf-8")
    assert all(f"| {number} | {reason} |" in text for number, reason in NO_FINDING.items())
