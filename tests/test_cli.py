"""The command line: answers, files, exit codes, and one line for every fault."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

import vmodel
from vmodel.cli.main import COMMANDS, main
from vmodel.library import tables
from vmodel.report.record import as_json

HOME = Path(__file__).resolve().parents[1]
VF = ["--path", "vf", "--rx-usecs", "10"]


def ran(capsys, *arguments):
    code = main(list(arguments))
    out = capsys.readouterr()
    return code, out.out, out.err


def shell(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "vmodel", *arguments], cwd=HOME, capture_output=True, text=True, timeout=120,
        check=False, **options,
    )  # fmt: skip


def test_predict_prints_the_record_of_the_python_function(capsys):
    code, out, err = ran(capsys, "predict", *VF, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out) == json.loads(json.dumps(as_json(vmodel.predict(path="vf", rx_usecs=10))))


def test_predict_says_what_was_chosen_and_prints_units(capsys):
    code, out, err = ran(capsys, "predict", *VF)
    assert (code, err) == (0, "")
    for part in (
        "known on",
        "best known",
        "latency",
        " us",
        "bit/s",
        "pps",
        "90 %",
        "bottleneck",
        "standing",
        "sources",
    ):
        assert part in out
    assert out.count("\n") < 45


def test_the_breakdown_shown_adds_up_to_the_mean(capsys):
    _, out, _ = ran(capsys, "predict", *VF)
    rows = out.split("-------\n")[1].split("\n\n")[0].splitlines()
    times = [float(row.split()[-3]) for row in rows]
    assert sum(times[:-1]) == pytest.approx(times[-1], abs=0.2)


def test_a_knob_without_effect_is_named_with_its_reason(capsys):
    code, out, _ = ran(capsys, "predict", "--path", "virtio-vhost", "--rx-usecs", "10", "--load", "1kpps")
    assert code == 0
    assert "rx_usecs does not change the answer: no NIC" in out
    assert "load does not change the answer: an offered load acts on packets only" in out


def test_a_knob_that_did_its_work_is_not_called_idle(capsys):
    assert "does not change" not in ran(capsys, "predict", *VF)[1]


def test_set_reaches_knobs_and_costs(capsys):
    record = json.loads(ran(capsys, "predict", *VF, "--set", "halt-poll=500", "--set", "vcpu_wake_s=1e-6", "--json")[1])
    same = vmodel.predict(path="vf", rx_usecs=10, halt_poll=500, vcpu_wake_s=1e-6)
    assert record["latency_us"]["mean"] == as_json(same)["latency_us"]["mean"]


def test_a_configuration_file_says_the_same_as_flags_and_flags_go_first(capsys, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('path = "vf"\nrx-usecs = 10\nlink = "10Gbit/s"\nsize = "4KiB"\ntso = false\nload = "1Gbit/s"\n')
    from_file = ran(capsys, "predict", "--config", str(file), "--json")[1]
    flags = ["--link", "10Gbit/s", "--size", "4096", "--no-tso", "--load", "1Gbit/s"]
    assert ran(capsys, "predict", *VF, *flags, "--json")[1] == from_file
    over = json.loads(ran(capsys, "predict", "--config", str(file), "--size", "64", "--json")[1])
    assert over["settings"]["size"] == 64


@pytest.mark.parametrize("kind", ["json", "csv", "md"])
def test_predict_writes_a_file_by_its_ending_and_nothing_beside_it(capsys, tmp_path, kind):
    target = tmp_path / f"answer.{kind}"
    code, out, _ = ran(capsys, "predict", *VF, "-o", str(target))
    assert (code, out) == (0, "")
    assert [p.name for p in tmp_path.iterdir()] == [target.name]
    text = target.read_text("utf-8")
    if kind == "json":
        assert json.loads(text)["path"] == "vf"
    elif kind == "csv":
        row = next(csv.DictReader(text.splitlines()))
        assert float(row["latency_us_mean"]) > 0 and float(row["throughput_bps_interval90_low"]) > 0
    else:
        assert text.startswith("# vf") and "| stage |" in text


def test_explain_tells_everything_as_json(capsys):
    code, out, _ = ran(capsys, "explain", *VF, "--json")
    record = json.loads(out)
    assert code == 0
    assert {"prediction", "closed_form", "formulas", "parameters", "knobs_that_matter", "knobs_without_effect"} == set(
        record
    )
    assert all(row["reason"] for row in record["knobs_without_effect"])
    hidden = next(row for row in record["knobs_without_effect"] if row["knob"] == "rx_usecs")
    assert hidden["begins_at"][0] == pytest.approx(record["prediction"]["latency_us"]["mean"], rel=0.01)


@pytest.mark.parametrize("workload", tables.WORKLOADS)
def test_explain_prints_its_parts(capsys, workload):
    code, out, err = ran(capsys, "explain", "--path", "virtio-vhost", "--workload", workload)
    assert (code, err) == (0, "")
    for part in ("█", "Closed form", "Formula sheet", "elasticity", "Settings that matter", "do not change the answer"):
        assert part in out


def test_explain_prints_the_closed_form_alone(capsys):
    assert ran(capsys, "explain", *VF, "--latex")[1].startswith("\\begin{align*}")
    space = {}
    exec(ran(capsys, "explain", *VF, "--python")[1], space)
    assert space["rr"]() == pytest.approx(vmodel.predict(path="vf", rx_usecs=10).latency_s, rel=1e-9)


@pytest.mark.parametrize(
    ("command", "kinds"), [("explain", ("png", "svg", "json", "md")), ("graph", ("png", "svg", "json", "md"))]
)
def test_pictures_and_texts_are_written(capsys, tmp_path, command, kinds):
    for kind in kinds:
        target = tmp_path / f"out.{kind}"
        assert ran(capsys, command, *VF, "-o", str(target))[0] == 0
        head = target.read_bytes()[:400]
        assert {"png": b"\x89PNG", "svg": b"<svg", "json": b"{", "md": b"#" if command == "explain" else b"```"}[
            kind
        ] in head


def test_compare_shows_differing_inputs_first_and_verdicts(capsys):
    code, out, _ = ran(capsys, "compare", "--path", "vf", "--path", "virtio-vhost", "--case", "path=vf,rx_usecs=10")
    assert code == 0
    assert out.index("What differs") < out.index("rx_usecs") < out.index("Answers") < out.index("latency")
    assert "differ" in out


def test_a_case_without_a_path_starts_from_the_only_one(capsys):
    code, out, _ = ran(capsys, "compare", "--path", "vf", "--case", "rx_usecs=10", "--case", "rx_usecs=100", "--json")
    record = json.loads(out)
    assert code == 0
    assert record["differing"]["rx_usecs"] == [None, 10.0, 100.0]
    latency = next(row for row in record["answers"] if row["name"] == "latency")
    assert latency["unit"] == "us" and latency["ratio_to_first"][0] == 1
    assert latency["verdict"] == ["first", "differ", "differ"]


def test_compare_writes_one_row_for_each_case(capsys, tmp_path):
    target = tmp_path / "both.csv"
    assert ran(capsys, "compare", "--path", "vf", "--path", "pf", "-o", str(target))[0] == 0
    assert [row["path"] for row in csv.DictReader(target.read_text().splitlines())] == ["vf", "pf"]


def test_graph_prints_mermaid_and_its_json_is_a_chain(capsys):
    assert ran(capsys, "graph", *VF)[1].startswith("flowchart LR")
    record = json.loads(ran(capsys, "graph", *VF, "--json")[1])
    ids = {node["id"] for node in record["nodes"]}
    assert len(record["edges"]) == len(ids) - 2  # two ways, each a chain
    assert all({edge["from"], edge["to"]} <= ids for edge in record["edges"])


def test_cite_prints_text_bibtex_and_json(capsys):
    keys = [entry["key"] for entry in json.loads(ran(capsys, "cite", *VF, "--json")[1])]
    assert "ahern2011" in keys and "linux-igbvf" in keys
    text, bibtex = ran(capsys, "cite", *VF)[1], ran(capsys, "cite", *VF, "--bibtex")[1]
    assert all(f"[{key}]" in text and f"@misc{{{key}," in bibtex for key in keys)


@pytest.mark.parametrize("command", ["paths", "profiles", "knobs", "devices", "datasets"])
@pytest.mark.parametrize("narrow", [[], ["--path", "vf"]])
def test_lists_print_tables_and_records(capsys, monkeypatch, command, narrow):
    monkeypatch.chdir(HOME)
    code, out, err = ran(capsys, command, *narrow)
    assert (code, err) == (0, "") and out.strip()
    assert json.loads(ran(capsys, command, *narrow, "--json")[1])


def test_knobs_of_a_path_are_those_that_act_on_it(capsys):
    names = [row["knob"] for row in json.loads(ran(capsys, "knobs", "--path", "virtio-vhost", "--json")[1])]
    assert "batched_fetch" in names and "rx_usecs" not in names


def test_devices_of_a_path_are_those_that_it_could_use(capsys):
    names = [row["device"] for row in json.loads(ran(capsys, "devices", "--path", "vf", "--json")[1])]
    assert "igbvf" in names and "mlx5" in names
    assert "igb" not in names and "virtio" not in names
    assert json.loads(ran(capsys, "devices", "--path", "dpdk", "--json")[1]) == []


def test_a_folder_without_studies_is_a_no_in_one_line(capsys, tmp_path):
    code, out, err = ran(capsys, "datasets", "--calibration", str(tmp_path))
    assert (code, out, err.count("\n")) == (1, "", 1)


BAD = [
    (["predict"], "--path"),
    (["predict", "--path", "vff"], 'did you mean "vf"?'),
    (["predict", "--path", ""], "--path"),
    (["predict", "--path", "x" * 5000], "--path"),
    (["predict", "--path", "vf", "--rx-usec", "1"], "--rx-usecs"),
    (["predict", "--path", "vf", "extra"], "unexpected"),
    (["predct"], 'did you mean "predict"?'),
    (["predict", "--path", "vf", "--set", "rx_usec=1"], 'did you mean "rx_usecs"?'),
    (["predict", "--path", "vf", "--set", "rx_usecs"], "name=value"),
    (["predict", "--path", "vf", "--set", "=1"], "name=value"),
    (["predict", "--path", "vf", "--set", "mtu=1500", "--set", "mtu=2000"], "one value only"),
    (["predict", "--path", "vf", "--rx-usecs", "1", "--set", "rx-usecs=2"], "one value only"),
    (["predict", "--path", "vf", "--set", "vcpu_wake_s=-1"], "positive"),
    (["predict", "--path", "vf", "--set", "vcpu_wake_s=nan"], "positive"),
    (["predict", "--path", "vf", "--set", "tso=perhaps"], "true or false"),
    (["predict", "--path", "vf", "--profile", "e5620-82576"], 'did you mean "e5620-82576-2011"?'),
    (["predict", "--path", "vf", "--profile", "missing.toml"], "readable file"),
    (["predict", "--path", "vf", "--topology", "loopback"], "--topology"),
    (["predict", "--path", "vf", "--topology", "vmvm"], 'did you mean "vm-vm"?'),
    (["predict", "--path", "vsock", "--topology", "vm-vm"], "host-vm"),
    (["predict", "--path", "vsock", "--peer", "native"], "native"),
    (["predict", "--path", "vf", "--workload", "streem"], 'did you mean "stream"?'),
    (["predict", "--path", "vf", "--direction", "up"], "to-vm"),
    (["predict", "--path", "vf", "--peer", "nobody"], "--peer"),
    (["predict", "--path", "vf", "--device", "igbfv"], 'did you mean "igbvf"?'),
    (["predict", "--path", "vf", "--size", "0"], "--size"),
    (["predict", "--path", "vf", "--size", "-1"], "--size"),
    (["predict", "--path", "vf", "--size", ""], "--size"),
    (["predict", "--path", "vf", "--size", "nan"], "--size"),
    (["predict", "--path", "vf", "--size", "1e400"], "--size"),
    (["predict", "--path", "vf", "--size", "1 parsec"], "--size"),
    (["predict", "--path", "vf", "--mtu", "1e30"], "--mtu"),
    (["predict", "--path", "vf", "--rx-usecs", "-3"], "--rx-usecs"),
    (["predict", "--path", "vf", "--queues", "nan"], "--queues"),
    (["predict", "--path", "vf", "--queues", "inf"], "--queues"),
    (["predict", "--path", "vf", "--link", "10Gbps/s"], "--link"),
    (["predict", "--path", "vf", "--load", "100"], "--load"),
    (["predict", "--path", "vf", "--load", "-1kpps"], "--load"),
    (["predict", "--path", "virtio-user", "--set", "event_idx=off"], "event_idx"),
    (["predict", "--path", "vf", "--set", "zero_copy_rx=on"], "dedicated_nic"),
    (["predict", "--path", "vf", "-o", "answer.txt"], ".json"),
    (["predict", "--path", "vf", "-o", "answer"], ".json"),
    (["predict", "--path", "vf", "-o", "missing/answer.json"], "missing"),
    (["predict", "--path", "vf", "-o", "folder.json"], "folder"),
    (["predict", "--path", "vf", "--config", "absent.toml"], "absent.toml"),
    (["predict", "--path", "vf", "--config", "folder.json"], "readable file"),
    (["predict", "--path", "vf", "--config", "binary.toml"], "TOML"),
    (["predict", "--path", "vf", "--config", "broken.toml"], "TOML"),
    (["predict", "--path", "vf", "--config", "deep.toml"], "TOML"),
    (["predict", "--path", "vf", "--config", "large.toml"], "1 MiB"),
    (["predict", "--path", "vf", "--profile", "binary.toml"], "TOML"),
    (["predict", "--path", "vf", "--profile", "folder.toml"], "readable file"),
    (["explain", "--path", "vf", "--json", "--latex"], "exclude"),
    (["explain", "--path", "vf", "-o", "x.csv"], ".png"),
    (["compare", "--path", "vf"], "two cases"),
    (["compare", "--path", "vf", "--case", "rx_usec=1"], 'did you mean "rx_usecs"?'),
    (["compare", "--path", "vf", "--case", ""], "name=value"),
    (["compare", "--case", "size=1", "--case", "size=2"], "--path"),
    (["graph", "--path", "vf", "--workload", "stream", "--back"], "--back"),
    (["graph", "--path", "vf", "-o", "x.gif"], ".svg"),
    (["cite", "--path", "nothing"], "--path"),
    (["knobs", "--path", "vff"], 'did you mean "vf"?'),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with hostile files, as the current one."""
    monkeypatch.chdir(tmp_path)
    for name in ("folder.json", "folder.toml"):
        (tmp_path / name).mkdir()
    (tmp_path / "binary.toml").write_bytes(bytes(range(256)))
    (tmp_path / "broken.toml").write_text("rx_usecs = = 1")
    (tmp_path / "deep.toml").write_text("a = " + "[" * 100_000)
    (tmp_path / "large.toml").write_text("# " + "x" * (1 << 21))
    return tmp_path


@pytest.mark.parametrize(("arguments", "part"), BAD, ids=lambda x: " ".join(x)[:60] if isinstance(x, list) else "")
def test_bad_input_is_one_line_with_exit_code_2_and_writes_nothing(capsys, folder, arguments, part):
    before = sorted(folder.rglob("*"))
    code, out, err = ran(capsys, *arguments)
    assert (code, out) == (2, "")
    assert part in err
    assert len(err.splitlines()) == 1 and err.startswith("vmodel: ")
    assert sorted(folder.rglob("*")) == before


def test_all_faults_of_flags_are_told_at_once(capsys):
    flags = ["--path", "vf", "--size", "0", "--mtu", "x", "--workload", "r", "--profile", "no", "--set", "foo=1"]
    code, _, err = ran(capsys, "predict", *flags)
    assert code == 2
    assert [line.split()[1] for line in sorted(err.splitlines())] == [
        "--mtu",
        "--profile",
        "--set",
        "--size",
        "--workload",
    ]


def test_all_faults_of_a_file_are_told_at_once_with_its_name(capsys, tmp_path):
    file = tmp_path / "mine.toml"
    lines = [
        'path = "vf"',
        "rx-usec = 1",
        "mtu = true",
        "size = [1]",
        "topology = 3",
        "link = nan",
        "tso = 2",
        "[nested]",
    ]
    file.write_text("\n".join(lines))
    code, _, err = ran(capsys, "predict", "--config", str(file))
    assert code == 2
    assert len(err.splitlines()) == 7
    assert all(line.startswith(f"vmodel: {file}: ") for line in err.splitlines())
    assert 'did you mean "rx_usecs"?' in err


def test_a_key_twice_in_two_spellings_is_a_fault(capsys, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('path = "vf"\nrx-usecs = 1\nrx_usecs = 2\n')
    assert ran(capsys, "predict", "--config", str(file))[0] == 2


def test_a_file_cannot_hide_control_characters_in_an_error_line(capsys, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('path = "v\\u001b[31mf\\nx"\n')
    err = ran(capsys, "predict", "--config", str(file))[2]
    assert len(err.splitlines()) == 1 and "\x1b" not in err


def test_an_unwritable_target_leaves_the_old_file(capsys, tmp_path, monkeypatch):
    target = tmp_path / "old.json"
    target.write_text("old")
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    code, _, err = ran(capsys, "predict", *VF, "-o", str(target))
    assert (code, target.read_text()) == (2, "old")
    assert "No space left" in err and [p.name for p in tmp_path.iterdir()] == ["old.json"]


def test_every_command_of_the_table_has_help(capsys):
    for name in COMMANDS:
        code, out, err = ran(capsys, name, "--help")
        assert (code, err) == (0, "") and "Usage: vmodel " + name in out


def test_help_names_every_command_and_completion(capsys):
    out = ran(capsys, "--help")[1]
    assert all(name in out for name in COMMANDS) and "_VMODEL_COMPLETE" in out


def test_no_command_at_all_shows_the_help_and_is_bad_input(capsys):
    code, out, err = ran(capsys)
    assert (code, out) == (2, "") and "Usage: vmodel" in err


def test_the_flags_for_switches_and_knobs_are_those_of_the_table():
    from vmodel.cli.options import FLAGS
    from vmodel.cli.predict import predict_command

    options = {p.name: p for p in predict_command.params}
    assert set(FLAGS) <= set(options) and set(FLAGS) <= set(tables.knobs())
    for name, flag in FLAGS.items():
        assert flag in options[name].opts
        assert bool(options[name].secondary_opts) == (tables.knobs()[name].kind == "switch")


def test_completion_offers_paths_and_profiles():
    from vmodel.cli.options import complete

    assert complete("path")(None, None, "vir") == ["virtio-vhost", "virtio-qemu", "virtio-user"]
    assert complete("profile")(None, None, "gen") == ["generic"]
    assert complete("device")(None, None, "igb") == ["igb", "igbvf"]


def test_the_shell_gets_exit_codes_and_no_traceback():
    good, bad = shell("predict", *VF), shell("predict", "--path", "vff")
    assert (good.returncode, good.stderr) == (0, "")
    assert (bad.returncode, bad.stdout, bad.stderr.count("\n")) == (2, "", 1)


def test_help_and_predict_load_no_heavy_library():
    heavy = ("numpy", "sympy", "scipy", "matplotlib", "networkx", "rich", "pydantic")
    for arguments in (["--help"], ["predict", *VF], ["predict", *VF, "--json"]):
        code = f"import sys; from vmodel.cli.main import main; main({arguments!r})"
        code += f"; sys.exit(' '.join(m for m in {heavy!r} if m in sys.modules) or 0)"
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=HOME, capture_output=True, text=True, timeout=60, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")


def test_a_closed_pipe_is_silent():
    command = f"{sys.executable} -m vmodel explain --path vf | head -1"
    done = subprocess.run(["bash", "-c", command], cwd=HOME, capture_output=True, text=True, timeout=120, check=False)
    assert done.stderr == "" and done.stdout.count("\n") == 1


def test_a_terminal_without_our_characters_gets_a_plain_answer():
    done = shell("explain", "--path", "vf", env={"PYTHONIOENCODING": "ascii", "PATH": "/usr/bin:/bin"})
    assert done.returncode == 0 and "vcpu_wake" in done.stdout
