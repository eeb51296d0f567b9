"""Several files make one scenario: which value is taken, what contradicts, what is left out, and where it came from."""

import json
from pathlib import Path

import pytest

from vmodel.calibrate.dataset import read_rows
from vmodel.cli.main import main
from vmodel.ingest.read import read
from vmodel.ingest.scenario import Part, combine

FILES = Path(__file__).parent / "files"
NIC = "<interface type='{}'><source bridge='br0' {}/><model type='virtio'/><driver name='vhost'/>{}</interface>"


def domain(nic, more=""):
    return (
        f"<domain type='kvm'><name>v</name><vcpu>4</vcpu>{more}<os><type arch='x86_64' machine='q35'>hvm</type></os>"
        f"<devices>{nic}</devices></domain>"
    )


def combined(*texts):
    parts = []
    for number, text in enumerate(texts):
        data = (FILES / text).read_bytes() if text in NAMES else text.encode()
        parts.append(Part(file=text if text in NAMES else f"text{number}", found=read(data)))
    return combine(parts)


NAMES = {path.name for path in FILES.iterdir()}
HOST = domain(NIC.format("bridge", "", "<mtu size='9000'/>"))
VFIO = domain(
    "<hostdev mode='subsystem' type='pci'><source>"
    "<address domain='0' bus='0x65' slot='2' function='3'/></source></hostdev>"
)
LSPCI = "65:02.3 Ethernet controller: Intel Corporation {} (rev 02)\n\tNUMA node: {}\n\tLnkSta: Speed 8GT/s, Width x8\n"
LSCPU = "lscpu_2socket_smt_interleaved.txt"


def test_settings_come_with_file_and_key():
    found = combined("libvirt_virtio_vhost_q4_mtu9000.xml", "ethtool_6.1_c_igb_rx50.txt", "ethtool_6.1_i_igb_pf.txt")
    assert found.settings == {
        "path": "virtio-vhost", "vcpus": 4, "queues": 4, "ring_size": 1024, "mtu": 9000, "bridge": True, "rx_usecs": 50,
        "device": "igb",
    }  # fmt: skip
    assert found.origins["rx_usecs"].place == "ethtool_6.1_c_igb_rx50.txt: rx-usecs"
    assert found.origins["queues"].file == "libvirt_virtio_vhost_q4_mtu9000.xml"
    assert found.notes == ()


def test_the_narrowest_part_counts_and_the_difference_is_told():
    found = combined("libvirt_virtio_vhost_q4_mtu9000.xml", "ethtool_6.1_l_virtio_4max_2current.txt")
    assert found.settings["queues"] == 2
    assert any(note.startswith("queues: files differ: 2 (") and "not 4 (" in note for note in found.notes)
    found = combined(HOST, "4: ens1f0: <UP> mtu 1500 qdisc mq state UP\n    link/ether 00:00:5e:00:53:20\n")
    assert found.settings["mtu"] == 1500
    assert any(note.startswith("mtu: files differ") for note in found.notes)


def test_an_offload_is_on_only_where_the_whole_way_has_it():
    found = combined("libvirt_virtio_vhost_q4_mtu9000.xml", "ethtool_6.1_k_virtio_guest.txt", "ethtool_6.1_k_tap.txt")
    assert (found.settings["tso"], found.settings["gro"]) == (False, True)
    assert found.origins["tso"].file == "ethtool_6.1_k_tap.txt"
    assert any("off anywhere is off" in note for note in found.notes)
    assert combined("libvirt_offloads_off.xml").settings["tso"] is False
    assert "tso" not in combined("libvirt_virtio_vhost_q4_mtu9000.xml").settings


def test_moderation_of_a_device_without_hardware_is_not_taken():
    for file in ("ethtool_6.1_c_virtio_kernel6.18.txt", "ethtool_6.1_c_tap.txt"):
        found = combined("libvirt_virtio_vhost_q4_mtu9000.xml", file)
        assert not {"rx_usecs", "rx_frames", "adaptive_rx"} & set(found.settings)
        assert any("not taken" in note for note in found.notes)


def test_a_momentary_value_of_adaptive_moderation_is_not_taken():
    found = combined("ethtool_c_mlx5_adaptive_on.txt")
    assert found.settings == {"adaptive_rx": True, "rx_frames": 128}
    assert any("momentary" in note for note in found.notes)


def test_a_contradicting_driver_is_told_and_the_hypervisor_believed():
    found = combined("ethtool_6.1_i_igbvf.txt", "libvirt_virtio_vhost_q4_mtu9000.xml")
    assert found.settings["path"] == "virtio-vhost"
    assert any(note.startswith("path: files differ: virtio-vhost (") and "not vf" in note for note in found.notes)


def test_the_host_tells_what_a_passed_through_device_is():
    assert "path" not in combined(VFIO).settings
    assert combined(VFIO, LSPCI.format("Ethernet Virtual Function 700 Series", 0)).settings["path"] == "vf"
    assert combined(VFIO, LSPCI.format("Ethernet Controller X710", 0)).settings["path"] == "pf"
    assert combined(VFIO, "ethtool_6.1_i_igbvf.txt").settings["path"] == "vf"


@pytest.mark.parametrize(("node", "local"), [(0, True), (1, False)])
def test_guest_and_nic_are_on_one_node_or_not(node, local):
    pins = "<cputune><vcpupin vcpu='0' cpuset='2,4'/><vcpupin vcpu='1' cpuset='6'/></cputune>"
    for more, others in ((pins, (LSCPU,)), ("<numatune><memory nodeset='0'/></numatune>", ())):
        found = combined(domain(NIC.format("bridge", "", ""), more), LSPCI.format("X710", node), *others)
        assert found.settings["numa_local"] is local
    assert "numa_local" not in combined(HOST, LSPCI.format("X710", -1)).settings


def test_a_network_lends_its_mtu_only_to_its_own_interfaces():
    own = "libvirt_virtio_no_driver_element.xml"
    assert combined(own, "libvirt_network_nat.xml").settings["mtu"] == 9000
    other = "<network><name>else</name><bridge name='b'/><mtu size='4000'/></network>"
    found = combined(own, other)
    assert "mtu" not in found.settings
    assert any('"else" is not the one' in note for note in found.notes)


def test_links_are_those_that_other_files_name():
    taps = "ip_6.15_j_d_link.json"
    nic = NIC.format("bridge", "", "<target dev='tapq'/>")
    assert combined(domain(nic), taps).settings["mtu"] == 1500  # br0 is narrower than the tap's 9000
    unnamed = combined("libvirt_rtl8139.xml", taps)
    assert "mtu" not in unnamed.settings
    assert any("none of its devices" in note for note in unnamed.notes)


def test_the_speed_an_emulated_nic_claims_is_no_limit():
    found = combined("libvirt_rtl8139.xml", "ethtool_6.1_link_igbvf_up.txt")
    assert "link_gbps" not in found.settings
    assert combined("ethtool_6.1_link_igbvf_up.txt").settings["link_gbps"] == 1.0
    assert "link_gbps" not in combined("ethtool_6.1_link_tap_fake_speed.txt").settings


def test_a_guests_own_lscpu_gives_vcpus_and_a_hosts_does_not():
    assert combined("lscpu_2.38.txt").settings == {"vcpus": 2}
    assert combined(LSCPU).settings == {}


def ran(capsys, *arguments):
    code = main(list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


def given(*names):
    return [part for name in names for part in ("--from", str(FILES / name))]


def test_predict_from_files_says_where_each_value_came_from(capsys):
    files = given("libvirt_virtio_vhost_q4_mtu9000.xml", "ethtool_6.1_l_virtio_4max_2current.txt")
    code, out, err = ran(capsys, "predict", *files, "--vcpus", "8", "--json")
    assert (code, err) == (0, "")
    record = json.loads(out)
    assert record["origins"]["queues"] == f"{FILES / 'ethtool_6.1_l_virtio_4max_2current.txt'}: Combined"
    assert record["origins"]["vcpus"] == "--vcpus"
    assert (record["settings"]["queues"], record["settings"]["vcpus"], record["path"]) == (2, 8, "virtio-vhost")
    assert any(
        note.startswith("vcpus: --vcpus goes before") and note.endswith("which says 4") for note in record["notes"]
    )
    same = json.loads(ran(capsys, "predict", "--path", "virtio-vhost", "--queues", "2", "--vcpus", "8", "--mtu", "9000",
                          "--set", "ring_size=1024", "--set", "bridge=on", "--json")[1])  # fmt: skip
    assert same["latency_us"] == record["latency_us"]
    assert same["origins"] == {}
    text = ran(capsys, "predict", *files)[1]
    assert f"  queues 2 queues ({FILES / 'ethtool_6.1_l_virtio_4max_2current.txt'}: Combined)" in text
    assert f"  path virtio-vhost ({FILES / 'libvirt_virtio_vhost_q4_mtu9000.xml'}: network device)" in text


def test_explain_says_it_too(capsys):
    out = ran(capsys, "explain", *given("qemu_proxmox.txt"))[1]
    assert f"  queues 8 queues ({FILES / 'qemu_proxmox.txt'}: queues)" in out


@pytest.mark.parametrize("command", ["explain", "check", "compare"])
def test_the_other_commands_take_files_too(capsys, command):
    more = ["--case", "queues=1"] if command == "compare" else []
    more += ["--path", "virtio-vhost"] if command == "compare" else []
    code, out, err = ran(capsys, command, *given("libvirt_virtio_vhost_q4_mtu9000.xml"), *more, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)


def test_a_configuration_file_goes_before_outputs(capsys, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text("queues = 3\n")
    out = ran(capsys, "predict", "--config", str(file), *given("libvirt_virtio_vhost_q4_mtu9000.xml"), "--json")[1]
    record = json.loads(out)
    assert (record["settings"]["queues"], record["settings"]["mtu"]) == (3, 9000)
    assert record["origins"]["queues"] == f"{file}: queues"
    assert any("goes before" in note for note in record["notes"])


def test_every_file_that_cannot_be_used_is_told_at_once(capsys):
    files = given("ethtool_c_two_devices.txt", "iperf3_3.12_tcp_1stream.json", "input_empty.txt")
    code, out, err = ran(capsys, "predict", *files)
    assert (code, out) == (2, "")
    lines = err.splitlines()
    assert len(lines) == 3
    assert ["2 devices" in lines[0], "this is a measurement" in lines[1], "file is empty" in lines[2]] == [True] * 3
    code, out, err = ran(
        capsys, "predict", *given("ethtool_c_two_devices.txt"), "--interface", "ens1f1", "--path", "vf", "--json"
    )
    assert json.loads(out)["settings"]["adaptive_rx"] == 1
    code, out, err = ran(capsys, "predict", *given("libvirt_hostdev_pci_device.xml"))
    assert (code, err.count("\n")) == (2, 1)
    assert "the files do not decide it" in err


def test_observations_become_a_file_that_fit_reads(capsys, tmp_path):
    out = tmp_path / "out.csv"
    files = ["iperf3_3.12_tcp_4streams.json", "netperf_2.7.0_tcp_rr_omni_csv.txt", "sockperf_3.7_udp_pingpong.txt",
             "iperf3_trailing_error_text.json"]  # fmt: skip
    said = [
        "--path",
        "virtio-vhost",
        "--topology",
        "host-vm",
        "--direction",
        "to-vm",
        "--series",
        "s",
        "--set",
        "mtu=1500",
    ]
    code, _, err = ran(capsys, "ingest", *(str(FILES / name) for name in files), *said, "-o", str(out))
    assert (code, err) == (0, f"wrote {out}\n")
    rows = read_rows(out)
    assert [(r.workload, r.metric) for r in rows] == [
        ("stream", "throughput_mbps"), ("rr", "transactions_per_s"), ("rr", "latency_us"), ("stream", "throughput_mbps")
    ]  # fmt: skip
    assert [r.value for r in rows[:3]] == [pytest.approx(10564.4458), 14743.45, pytest.approx(29.456)]
    assert rows[0].knobs == {"size": 131072.0, "flows": 4.0, "mtu": 1500.0}
    assert rows[0].sd == pytest.approx(1255.65, rel=1e-4)
    assert "ended with an error" in rows[3].excluded
    assert rows[2].source == "sockperf 3.7-no.git"
    one = tmp_path / "one.csv"
    assert ran(capsys, "ingest", str(FILES / files[1]), *said, "--size", "1", "-o", str(one))[0] == 0
    assert ran(capsys, "fit", str(one), "-o", str(tmp_path / "mine.toml"))[0] in (0, 1)  # one row tells little
    assert (tmp_path / "mine.toml").exists()


def test_a_row_says_what_its_columns_can_and_excludes_the_rest(capsys, tmp_path):
    out = tmp_path / "out.csv"
    files = [
        "iperf3_3.12_udp_64B_unlimited.json",
        "sockperf_3.7_udp_underload_20kmps.txt",
        "iperf3_3.12_tcp_bidir.json",
    ]
    ran(
        capsys,
        "ingest",
        *(str(FILES / name) for name in files),
        "--path",
        "virtio-vhost",
        "--size",
        "64",
        "-o",
        str(out),
    )
    datagrams, under_load, *both = read_rows(out)
    assert datagrams.knobs == {"size": 64.0, "tso": 0.0, "gro": 0.0, "nodelay": 1.0}
    assert datagrams.excluded == ""
    assert "offered load of 20004.5" in under_load.excluded
    assert ["both directions" in row.excluded for row in both] == [True, True]


def test_rows_need_what_only_the_user_knows(capsys, tmp_path):
    out = tmp_path / "out.csv"
    code, _, err = ran(capsys, "ingest", str(FILES / "iperf3_3.12_tcp_1stream.json"), "-o", str(out))
    assert (code, err.count("\n"), out.exists()) == (2, 1, False)
    assert "--path: expected a value" in err
    code, _, err = ran(capsys, "ingest", str(FILES / "ethtool_6.1_l_igb.txt"), "--path", "vf", "-o", str(out))
    assert (code, "none to fit" in err, out.exists()) == (2, True, False)
    code, _, err = ran(
        capsys,
        "ingest",
        str(FILES / "iperf3_3.12_tcp_1stream.json"),
        "--path",
        "vff",
        "--set",
        "mtuu=1",
        "-o",
        str(out),
    )
    assert (code, err.count("did you mean"), out.exists()) == (2, 2, False)


def test_ingest_of_several_files_and_lists(capsys, tmp_path):
    names = [str(FILES / "ethtool_6.1_l_igb.txt"), str(FILES / "lscpu_2.38.txt")]
    records = json.loads(ran(capsys, "ingest", *names, "--json")[1])
    assert [(r["file"], r["tool"]) for r in records] == [(names[0], "ethtool -l"), (names[1], "lscpu")]
    assert "netperf" in ran(capsys, "ingest", "--tools")[1]
    assert ran(capsys, "ingest")[0] == 2
    assert "no such tool" in ran(capsys, "ingest", names[0], "--tool", "etthool")[2]
    text = ran(capsys, "ingest", str(FILES / "ip_6.15_j_d_link.json"))[1]
    assert "tapq" in text
    saved = tmp_path / "x.json"
    assert ran(capsys, "ingest", names[0], "-o", str(saved))[0] == 0
    assert json.loads(saved.read_text())["configuration"]["queues"] == 2
