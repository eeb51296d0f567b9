"""What leaves the planner: the record, the text, the files, the script, and what comes back from a deployment."""

import csv
import json
import subprocess
from xml.etree import ElementTree

import pytest

from tests.plan import fleets
from vmodel.calibrate.dataset import read_rows
from vmodel.cli.main import main
from vmodel.ingest.read import read
from vmodel.plan.bundle import hands_of, script
from vmodel.plan.plan import plan_fleet
from vmodel.plan.read import read_fleet
from vmodel.plan.verify import Tail, chosen, scenario_of, tail_verdict, verdicts
from vmodel.report.plan_figure import load_figure
from vmodel.report.planned import plan_json, plan_lines
from vmodel.solve import solver

FLEET = """
[[host]]
name = "host"
cores = 32
memory = "256GiB"
numa_nodes = 2
nics = [{ rate = "25Gbit/s", vfs = 16, count = 2 }]
price = 5000

[[vm]]
name = "web"
count = 20
vcpus = 4
memory = "8GiB"
workload = "rr"
rate = "2k/s"
latency = "400us"
must_migrate = true

[[vm]]
name = "backup"
count = 4
vcpus = 2
memory = "4GiB"
workload = "stream"
rate = "1Gbit/s"
size = "64KiB"
"""


@pytest.fixture(scope="module")
def planned():
    return plan_fleet(fleets.fleet(n_minus_1=["host"]))


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "fleet.toml"
    path.write_text(FLEET, encoding="utf-8")
    return path


def ran(capfd, *arguments):
    code = main([str(a) for a in arguments])
    out = capfd.readouterr()
    return code, out.out, out.err


def test_the_record_holds_what_the_plan_says(planned):
    record = plan_json(planned)
    json.dumps(record, allow_nan=False)
    assert record["feasible"] is True
    assert sum(p["hosts"] for p in record["placement"]) == sum(record["hosts"].values())
    for name in ("bound", "gap", "load", "next_bottleneck", "failures", "refusals", "price", "watts", "sources"):
        assert record[name] is not None
    for c in record["classes"]:
        goal, safe = c["latency_us"]["objective"], c["latency_us"]["safe_side"]
        assert goal is None or safe <= goal
        placed = sum(p["hosts"] * p["vms"].get(c["name"], 0) for p in record["placement"])
        assert placed == c["count"]
    for p in record["placement"]:
        assert all(r["used"] <= r["usable"] * (1 + 1e-9) for r in p["resources"].values())


def test_the_text_says_bound_headroom_and_refusals(planned):
    text = "\n".join(plan_lines(planned))
    for part in ("no plan costs less", "headroom", "next bottleneck", "every objective holds", "safe side"):
        assert part in text
    assert max(len(line) for line in text.splitlines()) < 200


def test_each_class_has_commands_and_a_branch_of_a_script_that_a_shell_accepts(planned, tmp_path):
    hands = hands_of(planned)
    assert set(hands) == {"web", "nfv", "backup"}
    assert all(any("interface" in line or "netdev" in line for line in text) for text in hands.values())
    text = script(planned)
    (tmp_path / "verify.sh").write_text(text, encoding="utf-8")
    subprocess.run(["sh", "-n", str(tmp_path / "verify.sh")], check=True)
    for part in ("netperf", "sockperf", "iperf3", "results/web.netperf.txt", "--mps 60000"):
        assert part in text


ROUND_TRIP = (
    ("virtio-vhost", {"queues": 2, "mtu": 1500, "ring_size": 512}, {"queues": 2, "mtu": 1500, "rx_ring": 512}),
    ("macvtap-vhost", {"queues": 4}, {"queues": 4}),
    ("vhost-user", {"page_bytes": 2**21}, {"hugepages": True}),
    ("virtio-qemu", {}, {}),
    ("vdpa", {}, {}),
    ("vf", {}, {}),
    ("emulated-e1000", {}, {}),
)


@pytest.mark.parametrize(("path", "settings", "wanted"), ROUND_TRIP)
def test_the_domain_of_a_class_is_read_back_as_what_was_planned(path, settings, wanted, tmp_path):
    vm = fleets.web(count=1, rate=100.0, latency="1s", paths=[path], settings=settings, flows=4)
    (lines,) = hands_of(plan_fleet(fleets.fleet(vm, confidence=0.5))).values()
    text = "\n".join(lines)
    file = tmp_path / "domain.xml"
    file.write_text(text[text.index("<domain") : text.index("</domain>") + len("</domain>")], encoding="utf-8")
    found = read(str(file)).configuration
    assert found["path"] == path
    assert found["vcpus"] == 4
    assert {name: found[name] for name in wanted} == wanted
    tree = ElementTree.parse(file).getroot()
    assert tree.findtext("memory") == str(8 << 20)
    assert {child.tag for child in tree} <= {
        "name",
        "memory",
        "vcpu",
        "memoryBacking",
        "cputune",
        "features",
        "devices",
    }
    if path == "vhost-user":  # a switch that cannot see the guest's memory carries nothing
        assert tree.find("memoryBacking/access").get("mode") == "shared"
        assert "-chardev socket,id=char0" in text and "share=on" in text
    if path == "vf":
        assert "echo 1 > /sys/class/net/eth0/device/sriov_numvfs" in text


def test_every_setting_of_a_class_has_a_command_or_a_reason():
    given = {"rx_usecs": 64, "halt_poll": 50, "busy_poll": 20, "segment_limit_bytes": 65536, "batch": 32}
    vm = fleets.web(count=1, rate=100.0, latency="1s", paths=["vf"], settings=given)
    (lines,) = hands_of(plan_fleet(fleets.fleet(vm, confidence=0.5))).values()
    text = "\n".join(lines)
    for part in ("rx-usecs 64", "halt_poll_ns", "busy_read=20", "no command sets batch"):
        assert part in text


def test_the_figure_has_labelled_axes_and_a_cell_for_each_resource(planned):
    axes = load_figure(planned).axes[0]
    assert axes.get_xlabel() and axes.get_ylabel() and axes.get_title()
    assert "cores" in [label.get_text() for label in axes.get_xticklabels()]


def test_the_command_plans_and_says_no_with_reasons(capfd, file):
    code, out, err = ran(capfd, "plan", file)
    assert (code, err) == (0, "")
    assert "web" in out and "refused paths" in out and "must_migrate" in out
    code, out, _ = ran(capfd, "plan", file, "--json")
    assert code == 0
    assert json.loads(out)["feasible"] is True
    file.write_text(FLEET.replace('"400us"', '"4us"'), encoding="utf-8")
    code, out, err = ran(capfd, "plan", file)
    assert (code, err) == (1, "")
    assert "infeasible" in out and "nearest change: latency = " in out


def test_bad_files_are_refused_with_every_fault_and_exit_code_two(capfd, file):
    file.write_text(FLEET.replace("vcpus = 4", "vcpu = 4").replace('"64KiB"', '"64Kx"'), encoding="utf-8")
    code, out, err = ran(capfd, "plan", file)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 3  # the unknown key, the one that is missing, the size
    assert 'did you mean "vcpus"' in err
    assert ran(capfd, "plan", file, "-o", "x.xyz")[0] == 2
    assert ran(capfd, "plan", file.with_name("none.toml"))[0] == 2


@pytest.mark.parametrize("ending", ["json", "csv", "md", "sh", "svg"])
def test_files_are_written_by_their_ending(capfd, file, ending):
    target = file.with_name(f"plan.{ending}")
    assert ran(capfd, "plan", file, "-o", target)[0] == 0
    text = target.read_text("utf-8")
    if ending == "csv":
        rows = list(csv.DictReader(text.splitlines()))
        assert sum(int(r["hosts"]) * int(r["vms_on_each"] or 0) for r in rows if r["vm"] == "web") == 20
    else:
        assert {"json": '"placement"', "md": "## Placement", "sh": "#!/bin/sh", "svg": "<svg"}[ending] in text


def test_the_schema_is_printed(capfd):
    code, out, _ = ran(capfd, "plan", "--schema")
    assert code == 0
    assert json.loads(out)["title"] == "vmodel fleet"


def measured(planned, tmp_path, factor):
    """An observation file of what the model predicts, times a factor."""
    lines = ["id,path,topology,workload,direction,message_bytes,metric,value,series"]
    for index in planned.placement.chosen:
        o = planned.known.options[index]
        p = solver.predict(next(iter(o.asked.values())).scenario())
        value = p.throughput_bps / 1e6 / factor if o.vm.workload == "stream" else p.latency_s * 1e6 * factor
        metric = "throughput_mbps" if o.vm.workload == "stream" else "latency_us"
        lines.append(
            f"{o.vm.name},{o.path},cross-host-vm,{o.vm.workload},to-vm,{o.vm.size:g},{metric},{value},{o.vm.name}"
        )
    path = tmp_path / "measured.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_what_was_predicted_passes_and_what_is_far_worse_fails(planned, tmp_path):
    good = verdicts(planned, read_rows(measured(planned, tmp_path, 1.0)))
    assert [v.verdict for v in good] == ["pass"] * 3
    bad = verdicts(planned, read_rows(measured(planned, tmp_path, 20.0)))
    assert [v.verdict for v in bad] == ["fail"] * 3
    assert {v.vm for v in bad} == {"web", "nfv", "backup"}


def test_a_measurement_on_another_path_fails_and_one_of_no_class_is_not_compared(planned, tmp_path):
    rows = read_rows(measured(planned, tmp_path, 1.0))
    other = tmp_path / "other.csv"
    other.write_text(
        "id,path,workload,metric,value,series\na,emulated-e1000,rr,latency_us,100,web\nb,vsock,rr,latency_us,100,\n",
        encoding="utf-8",
    )
    first, second = verdicts(planned, read_rows(other))
    assert first.verdict == "fail" and "planned on" in first.because
    assert second.verdict == "not compared"
    option = planned.known.options[planned.placement.chosen[0]]
    assert scenario_of(option, rows[0]).path == option.path


def test_percentiles_pass_inside_the_interval_and_fail_above_the_objective(planned):
    web = next(o for o in chosen(planned) if o.vm.name == "web")
    p = solver.predict(web.asked[0].scenario())
    for percent in (50.0, 90.0, 99.0):
        us = p.percentiles_s[percent / 100] * 1e6
        found = tail_verdict(planned, Tail(id="a", vm="web", percent=percent, value_us=us))
        assert (found.verdict, found.metric) == ("pass", f"p{percent:g}_us")
        assert found.interval.low < us < found.interval.high
        assert tail_verdict(planned, Tail(id="a", vm="web", percent=percent, value_us=us * 50)).verdict == "fail"
    goal = tail_verdict(planned, Tail(id="a", vm="web", percent=99.0, value_us=401.0))  # the objective is 400 us
    assert goal.verdict == "fail" and "above the objective" in goal.because
    assert tail_verdict(planned, Tail(id="a", vm="nobody", percent=99.0, value_us=1.0)).verdict == "not compared"


NETPERF = """MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 192.0.2.2 () port 0 AF_INET
THROUGHPUT={rate}
THROUGHPUT_UNITS=Trans/s
MEAN_LATENCY={mean}
P50_LATENCY={p50}
P90_LATENCY={p90}
P99_LATENCY={p99}
REQUEST_SIZE=1024
RESPONSE_SIZE=1024
"""


def test_a_netperf_run_whose_tail_breaks_the_objective_fails_though_its_mean_is_right(capfd, file, tmp_path):
    classes = json.loads(ran(capfd, "plan", file, "--json")[1])["classes"]
    web = next(c for c in classes if c["name"] == "web")
    q = plan_fleet(read_fleet([str(file)]))
    option = next(o for o in chosen(q) if o.vm.name == "web")
    p = solver.predict(option.asked[0].scenario())
    run = tmp_path / "web.netperf.txt"
    values = {name: p.percentiles_s[x] * 1e6 for name, x in (("p50", 0.5), ("p90", 0.9))}
    run.write_text(NETPERF.format(rate=1 / p.latency_s, mean=p.latency_s * 1e6, p99=900, **values), encoding="utf-8")
    code, out, err = ran(capfd, "plan", file, "--verify", run, "--json")
    assert (code, err) == (1, "")
    found = {v["metric"]: v for v in json.loads(out)["verdicts"]}
    assert found["transactions_per_s"]["verdict"] == found["p50_us"]["verdict"] == "pass"
    assert found["p99_us"]["verdict"] == "fail"
    assert "above the objective of 400 us" in found["p99_us"]["because"]
    assert web["latency_us"]["objective"] == 400


def test_results_go_back_into_a_fit_that_the_next_plan_uses(capfd, file, tmp_path):
    path = json.loads(ran(capfd, "plan", file, "--json")[1])["classes"][0]["path"]
    results = tmp_path / "results.csv"
    results.write_text(
        "id,path,topology,workload,message_bytes,metric,value,series\n"
        f"web,{path},cross-host-vm,rr,1024,latency_us,95,web\n",
        encoding="utf-8",
    )
    learned, rows = tmp_path / "mine.toml", tmp_path / "rows.csv"
    code, out, _ = ran(capfd, "plan", file, "--verify", results, "--fit", learned, "-o", rows)
    assert code == 0
    assert "fit from 1 measurements" in out
    assert [row.series for row in read_rows(rows)] == ["web"]
    file.write_text(FLEET.replace("price = 5000", f'price = 5000\nprofile = "{learned}"'), encoding="utf-8")
    code, out, _ = ran(capfd, "plan", file, "--json")
    assert code == 0
    assert json.loads(out)["classes"][0]["profile"] == "mine"


def test_outputs_of_tools_are_read_by_the_name_of_their_class(capfd, file, tmp_path):
    result = tmp_path / "backup.iperf3.json"
    result.write_text(
        json.dumps(
            {
                "start": {"version": "iperf 3.16", "test_start": {"protocol": "TCP", "num_streams": 1, "blksize": 65536,
                          "duration": 10, "reverse": 1, "omit": 0}},
                "intervals": [],
                "end": {"sum_sent": {"bytes": 25e9, "seconds": 10.0, "bits_per_second": 2e10, "retransmits": 0},
                        "sum_received": {"bytes": 25e9, "seconds": 10.0, "bits_per_second": 2e10}},
            }
        ),
        encoding="utf-8",
    )  # fmt: skip
    code, out, err = ran(capfd, "plan", file, "--verify", result, "--json")
    assert err == ""
    (verdict,) = json.loads(out)["verdicts"]
    assert (verdict["vm"], verdict["metric"]) == ("backup", "throughput_mbps")
    assert verdict["measured"] == pytest.approx(20000)
    assert code == (0 if verdict["verdict"] != "fail" else 1)
    wrong = tmp_path / "nobody.json"
    wrong.write_text(result.read_text("utf-8"), encoding="utf-8")
    assert ran(capfd, "plan", file, "--verify", wrong)[0] == 2
