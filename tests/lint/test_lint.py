"""The rules by themselves: each fires where it should, is silent where nothing is wrong, and says who told it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from vmodel.cli.main import main
from vmodel.config import scenario
from vmodel.core.records import Interval
from vmodel.lint.rules import RULES, lint
from vmodel.lint.sheet import ERROR, INFO, SEVERITIES, WARNING, Sheet, Source, gain, weighed
from vmodel.report.linted import rules_markdown
from vmodel.solve.goal import read_constraint

HOME = Path(__file__).parents[2]
FILES = Path(__file__).parent / "files"
INGESTED = HOME / "tests" / "ingest" / "files"


def sheet(facts=(), objective=(), **settings):
    """A sheet of plain facts (one source each) and a scenario of settings."""
    s = scenario(**settings) if settings else None
    sources = tuple(Source(file=f"file{i}", tool="test", facts=one) for i, one in enumerate(facts))
    bounds = tuple(read_constraint(text, s) for text in objective)
    given = () if s is None else (*s.chosen, *(("load",) if s.load.kind != "max" else ()))
    return Sheet(sources=sources, scenario=s, given=given, objective=bounds)


def rules(*facts, **rest):
    return {one.rule: one for one in lint(sheet(facts, **rest))}


VHOST = {"path": "virtio-vhost", "profile": "generic", "topology": "cross-host-vm"}
FIRES = {
    "emulated-nic": ([], {"path": "emulated-e1000"}),
    "user-network": ([{"backend": "user"}], {}),
    "vhost-off": ([], {"path": "virtio-qemu"}),
    "offloads-off": ([{"tso": False, "ifname": "eth0"}], VHOST),
    "queues-below-vcpus": ([{"queues": 1}], {**VHOST, "vcpus": 4, "queues": 1, "flows": 8, "tso": False}),
    "one-flow": ([{"queues": 4}], {**VHOST, "queues": 4, "flows": 1}),
    "too-few-vectors": ([{"queues": 4, "vectors": 4}], {}),
    "vf-between-guests": ([], {"path": "vf", "topology": "vm-vm"}),
    "wrong-numa-node": ([], {**VHOST, "numa_local": False}),
    "moderation-too-high": ([], {"path": "vf", "rx_usecs": 500}),
    "moderation-too-low": (
        [],
        {
            "path": "vf",
            "device": "ena",
            "workload": "packets",
            "load": "100kpps",
            "rx_usecs": 0,
            "profile": "generic",
            "link_gbps": 10,
        },
    ),
    "special-value": ([{"rx_usecs": 3, "device": "igbvf"}], {}),
    "moderation-not-honoured": ([{"rx_usecs": 20, "device": "virtio"}], {}),
    "small-ring": ([{"rx_ring": 256, "rx_ring_max": 4096}], {**VHOST, "burst": 200}),
    "mtu-mismatch": ([{"mtu": 1500, "ifname": "br0"}, {"mtu": 9000, "ifname": "eth0"}], VHOST),
    "narrow-slot": ([{"pcie_bps": 4e9, "pcie_payload_bytes": 128, "pcie_width": 1, "pcie_width_max": 4}], {}),
    "rate-limit": ([{"rate_limit_in_bps": 1e8}], VHOST),
    "pretended-speed": ([{"speed_is_real": False, "speed_mbps": 10, "ifname": "tap0"}], {}),
    "virtual-iommu": ([{"iommu_platform": True}], {}),
    "zero-copy-conditions": ([], {**VHOST, "topology": "host-vm", "zero_copy": True}),
    "long-poll": ([], {**VHOST, "halt_poll": 1000}),
    "datagrams": ([], {**VHOST, "workload": "packets"}),
    "without-effect": ([], {"path": "virtio-vhost", "topology": "host-vm", "rx_usecs": 20}),
}


@pytest.mark.parametrize("rule", [rule.name for rule in RULES])
def test_every_rule_fires_where_it_should_and_says_why(rule):
    facts, settings = FIRES[rule]
    one = rules(*facts, **settings)[rule]
    assert one.severity in SEVERITIES
    assert one.text and one.evidence and "\n" not in one.text
    if facts:
        assert any("file0" in told or "nobody" in told for told in one.evidence)


def test_a_configuration_in_order_gives_no_error_and_no_warning():
    good = sheet(
        [{"queues": 4, "vcpus": 4, "tso": True, "gro": True, "mtu": 1500, "vectors": 10, "rx_ring": 1024}],
        **VHOST, queues=4, vcpus=4, flows=16,
    )  # fmt: skip
    assert [one for one in lint(good) if one.severity != INFO] == []


@pytest.mark.parametrize(
    ("rule", "mended"),
    [
        ("offloads-off", {}),
        ("queues-below-vcpus", {"queues": 4}),
        ("wrong-numa-node", {"numa_local": True}),
        ("moderation-too-high", {"rx_usecs": 10}),
        ("zero-copy-conditions", {"zero_copy": False}),
        ("long-poll", {"halt_poll": 100}),
    ],
)
def test_what_was_mended_is_not_found_again(rule, mended):
    _, settings = FIRES[rule]
    facts = [{"tso": True, "ifname": "eth0"}] if rule == "offloads-off" else []
    assert rule not in rules(*facts, **{**settings, **mended})


def test_severity_follows_the_predicted_gain():
    worst = rules(path="emulated-e1000")["emulated-nic"]
    assert worst.severity == ERROR and worst.gain.factor > 2 and worst.gain.interval.low > 1
    for factor, low, severity in ((3.0, 1.5, ERROR), (3.0, 0.9, WARNING), (1.2, 1.1, WARNING), (1.01, 1.0, INFO)):
        assert weighed(replace(worst.gain, factor=factor, interval=Interval(low=low, high=9.0))) == severity


def test_a_missed_objective_is_an_error_whatever_the_gain():
    found = rules(path="vf", rx_usecs=260, objective=("mean <= 200us",))
    assert found["moderation-too-high"].severity == ERROR
    assert "misses mean <= 200 us" in found["moderation-too-high"].text
    met = rules(path="vf", rx_usecs=10, objective=("mean <= 200us",))
    assert "moderation-too-high" not in met


def test_a_gain_on_one_path_is_surer_than_one_between_paths():
    one, other = scenario(path="vf", rx_usecs=10), scenario(path="vf", rx_usecs=10, posted_interrupts=True)
    same = gain(one, other, "mean")
    between = gain(scenario(path="vf", topology="vm-vm"), scenario(path="virtio-vhost", topology="vm-vm"), "mean")
    width = [g.interval.high / g.interval.low for g in (same, between)]
    assert width[0] < width[1]
    assert same.factor == pytest.approx(same.now / same.then)


def test_findings_come_most_severe_first():
    found = lint(sheet([{"backend": "user"}, {"speed_is_real": False, "speed_mbps": 10}, {"mtu": 1}, {"mtu": 2}]))
    order = [SEVERITIES.index(one.severity) for one in found]
    assert order == sorted(order) and len(found) >= 3


def test_the_command_exits_with_one_on_errors_and_prints_evidence_gain_and_remedy(capsys):
    assert main(["lint", str(FILES / "c36_domain.xml")]) == 1
    text = capsys.readouterr().out
    for part in ("error: emulated-nic", "because", "times better (90 %:", 'model type="virtio"', "1 error"):
        assert part in text
    assert main(["lint", str(FILES / "c24_domain.xml")]) == 0


def test_json_holds_every_finding(capsys):
    assert main(["lint", str(FILES / "c28_firewall.xml"), "--profile", "generic", "--json"]) == 1
    record = json.loads(capsys.readouterr().out)
    assert record["errors"] >= 1 and record["path"] == "virtio-vhost"
    one = record["findings"][0]
    assert set(one) == {"rule", "severity", "text", "evidence", "gain", "mend"}
    assert set(one["gain"]) == {"quantity", "workload", "now", "then", "factor", "interval90"}


def test_without_a_path_findings_have_no_gain_and_the_answer_says_so(capsys):
    assert main(["lint", str(INGESTED / "ethtool_6.1_k_tap.txt")]) == 0
    text = capsys.readouterr().out
    assert "path not known" in text and "offloads-off" in text


def test_names_of_the_user_go_into_the_commands(capsys):
    main(["lint", str(FILES / "c28_firewall.xml"), "--guest-interface", "vtnet0"])
    assert "ethtool -K vtnet0 tso on" in capsys.readouterr().out


def test_all_faults_come_at_once(capsys, tmp_path):
    missing, empty = tmp_path / "none.xml", tmp_path / "empty.txt"
    empty.write_text("")
    arguments = [str(missing), str(empty), "--objective", "p99 < quick", "--rx-usecs", "-1", "--path", "vf"]
    assert main(["lint", *arguments]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) >= 3 and all(line.startswith("vmodel: ") for line in lines)
    assert main(["lint"]) == 2
    assert "at least one file" in capsys.readouterr().err


def test_a_measurement_is_no_configuration(capsys):
    assert main(["lint", str(INGESTED / "iperf3_3.12_tcp_1stream.json")]) == 2
    assert "this is a measurement" in capsys.readouterr().err


def test_the_documentation_lists_every_rule():
    text = (HOME / "docs" / "lint.md").read_text("utf-8")
    assert "\n".join(rules_markdown()) in text


def test_every_shipped_configuration_file_can_be_linted(capsys):
    read = 0
    for file in sorted(INGESTED.glob("*.xml")) + sorted(INGESTED.glob("qemu_*")) + sorted(INGESTED.glob("ethtool*")):
        code = main(["lint", str(file), "--json"])
        printed = capsys.readouterr()
        if code == 2:
            assert printed.err.count("\n") == 1, file  # refused in one line
        else:
            read += 1
            json.loads(printed.out)
    assert read > 40
