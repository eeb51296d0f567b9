"""Every collected tool output gives the values, the error line or the warning that the table lists.

`expected.csv` was filled from the tools' documentation and the files themselves, not from this program. `values` are
dotted names in the first observation (or in the observation that a leading number names) or in the configuration;
`unknown` is None, `a..b` a range. `says` are fragments of the error line or of a warning.
"""

import csv
import json
from pathlib import Path

import pytest

from vmodel.cli.main import main
from vmodel.errors import DatasetError
from vmodel.ingest import keys
from vmodel.ingest.read import read

HOME = Path(__file__).parent
ROWS = list(csv.DictReader((HOME / "expected.csv").read_text("utf-8").splitlines()))
DIGITS = 2e-5  # the table has six digits
ANY = {row["file"]: row for row in ROWS}
SWITCH = {"on": True, "off": False}


def value_of(found, name):
    """The value of a dotted name."""
    parts = name.split(".")
    if found.kind == "observations":
        place = int(parts.pop(0)) if parts[0].isdigit() else 0
        here = found.observations[place]
    else:
        here = found.configuration
    if parts == ["version"]:
        return found.version
    for part in parts:
        here = here[int(part)] if isinstance(here, (list, tuple)) else here[part]
    return here


def agrees(value, text):
    """Whether a value is what the table says."""
    if text == "unknown":
        return value is None
    if text in SWITCH:
        return value is SWITCH[text]
    low, dots, high = text.partition("..")
    if dots:
        return float(low) <= value <= float(high)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value) == pytest.approx(
            float(text), rel=DIGITS if float(text) else 0, abs=5e-3 if value < 100 else 0
        )
    return str(value) == text


def test_the_table_has_every_file():
    assert sorted(ANY) == sorted(path.name for path in (HOME / "files").iterdir())


@pytest.mark.parametrize("row", ROWS, ids=[row["file"] for row in ROWS])
def test_file(row, capsys):
    file = HOME / "files" / row["file"]
    code = main(["ingest", str(file), "--json"])
    out, err = capsys.readouterr()
    fragments = [text for text in row["says"].split("|") if text]
    if row["outcome"] == "error":
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert [text for text in fragments if text not in err] == []
        assert err.startswith(f"vmodel: {file}")
        return
    assert (code, err) == (0, "")
    record = json.loads(out)
    assert list(record) == ["tool", "version", "kind", "observations", "configuration", "warnings"]
    assert [text for text in fragments if not any(text in warning for warning in record["warnings"])] == []
    if row["outcome"] == "warning":
        assert fragments
        assert record["warnings"]
    found = read(file)
    pairs = [pair.strip().partition("=") for pair in row["values"].split(";") if pair.strip()]
    assert pairs, "a row without values tests nothing"
    wrong = [(name, value_of(found, name), text) for name, _, text in pairs if not agrees(value_of(found, name), text)]
    assert wrong == []


@pytest.mark.parametrize("row", [r for r in ROWS if r["outcome"] != "error"], ids=lambda r: r["file"])
def test_every_key_is_described(row):
    found = read(HOME / "files" / row["file"])
    known = {key.name for key in keys.CONFIGURATION}
    assert [name for name in found.configuration if name not in known] == []
    known = {key.name for key in keys.OBSERVATION}
    named = [name for seen in found.observations for name in seen]
    assert [n for n in named if n not in known and not n.startswith(("half_rtt_", "rtt_"))] == []


def test_the_same_machine_gives_the_same_values_in_every_form_of_lscpu():
    files = ["lscpu_2.36_J_flat.json", "lscpu_2.38.txt", "lscpu_2.38_J_nested.json", "lscpu_2.41_J_B_bytes.json"]
    forms = [dict(read(HOME / "files" / file).configuration) for file in files]
    for form in forms:
        form.pop("mhz")  # 2.36 still prints the clock of the moment
    assert all(form == forms[0] for form in forms)


@pytest.mark.parametrize(
    ("file", "name", "wanted"),
    [
        ("ethtool_c_two_devices.txt", "ens1f1", {"rx_usecs": 64, "adaptive_rx": True}),
        ("ethtool_c_two_devices.txt", "ens1f0", {"rx_usecs": 20, "adaptive_rx": False}),
        ("libvirt_three_nics.xml", "52:54:00:00:53:03", {"path": "vf", "host_bus_info": "0000:65:02.4"}),
        ("libvirt_three_nics.xml", "2", {"device_model": "e1000e"}),
        ("qemu_two_nics.txt", "net1", {"device_model": "e1000"}),
        ("ip_6.15_j_d_link.json", "tap0", {"kind": "tap", "master": "br0"}),
    ],
)
def test_a_name_picks_one_device_of_several(file, name, wanted):
    found = read(HOME / "files" / file, pick=(name,)).configuration
    assert {key: found[key] for key in wanted} == wanted


def test_a_number_picks_one_report_of_a_server():
    file = HOME / "files" / "iperf3_3.12_server_side_concatenated.json"
    assert read(file, pick=("1",)).observations[0]["received_bps"] == pytest.approx(14.876e9, rel=1e-3)


def test_the_user_can_name_the_test_that_the_output_does_not():
    for name in ("netperf:TCP_RR", "netperf TCP_RR", "TCP_RR"):
        found = read(HOME / "files" / "netperf_2.7.0_tcp_rr_P0.txt", tool=name)
        assert found.observations[0]["transactions_per_s"] == 47282.53


@pytest.mark.parametrize("row", [r for r in ROWS if r["outcome"] != "error"], ids=lambda r: r["file"])
def test_the_tool_that_a_record_names_reads_the_file_again(row):
    file = HOME / "files" / row["file"]
    assert read(file, tool=read(file).tool) == read(file)


def test_another_tool_is_refused_with_its_forms():
    with pytest.raises(DatasetError, match="not recognised as output of lspci"):
        read(HOME / "files" / "lscpu_2.38.txt", tool="lspci")
