"""The study folders of the four mailing-list threads: complete, reasoned and correctly converted."""

import csv
import tomllib
from collections import Counter
from pathlib import Path

import pytest

CALIBRATION = Path(__file__).resolve().parents[2] / "calibration"

STUDIES = {
    "ahern2011": ("000", 38, "e5620-82576-2011"),
    "garzarella2019": ("002", 145, "vsock-2019"),
    "dykman2007": ("003", 88, "hs21-2007"),
    "perezmartin2020": ("004", 269, "e5-2650v4-2020"),
}
KNOBS = [
    "rx_usecs",
    "bridge",
    "mtu",
    "link_gbps",
    "nodelay",
    "rx_buffer_bytes",
    "credit_per_packet",
    "merge_rx_buffers",
    "scatter_gather",
    "socket_buffer_bytes",
    "batch",
    "batched_fetch",
    "descriptor_batch",
    "buf_api",
    "event_idx",
    "instrument",
]
OBSERVATION_COLUMNS = [
    *["id", "path", "peer", "topology", "workload", "direction", "message_bytes", "metric", "value", "sd"],
    *KNOBS,
    *["session", "series", "profile", "source", "printed", "excluded", "note"],
]
CONTEXT_COLUMNS = ["id", "quantity", "subject", "value", "unit", "source", "excluded", "note", "group"]
BOOLEANS = [
    "bridge",
    "nodelay",
    "credit_per_packet",
    "merge_rx_buffers",
    "scatter_gather",
    "batched_fetch",
    "buf_api",
    "event_idx",
]
NUMBERS = [
    "message_bytes",
    "sd",
    "rx_usecs",
    "mtu",
    "link_gbps",
    "rx_buffer_bytes",
    "socket_buffer_bytes",
    "batch",
    "descriptor_batch",
]
ALLOWED = {
    "path": {
        "loopback", "native", "native-vf", "vf", "virtio-vhost", "vsock", "emulated-rtl8029", "emulated-rtl8139",
        "virtio-qemu", "xen-pv", "xen-hvm-pv", "virtio-user", "af-packet",
    },
    "peer": {"", "native"},
    "topology": {"loopback", "host-vm", "vm-vm", "cross-host-host", "cross-host-vm", "cross-vm-vm"},
    "workload": {"rr", "stream", "packets"},
    "direction": {"", "to-vm", "from-vm"},
    "metric": {"latency_us", "transactions_per_s", "throughput_mbps", "rate_pps"},
    "instrument": {"pktgen", "testpmd", "netperf", "iperf3", "ping", "netcat"},
}  # fmt: skip
GROUPS = {"copy", "tap", "vhost", "descriptor", "translation", "memory", "bridge_stack", "unresolved"}


def read_csv(key, name):
    with open(CALIBRATION / key / name, encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        rows = list(reader)
    return reader.fieldnames, rows


def observations():
    return [row for key in STUDIES for row in read_csv(key, "observations.csv")[1]]


def context():
    return [row for key in STUDIES for row in read_csv(key, "context.csv")[1]]


def compared():
    return [row for row in observations() if not row["excluded"]]


def by_id():
    return {row["id"]: row for row in observations()}


def test_all_540_rows_are_present_exactly_once():
    expected = [f"{doc}-{n:03d}" for doc, count, _ in STUDIES.values() for n in range(1, count + 1)]
    assert len(expected) == 540
    assert Counter(row["id"] for row in observations() + context()) == Counter(expected)


@pytest.mark.parametrize("key", STUDIES)
def test_a_study_holds_the_rows_of_its_own_document_only(key):
    document, _, _ = STUDIES[key]
    ids = [row["id"] for name in ("observations.csv", "context.csv") for row in read_csv(key, name)[1]]
    assert all(row_id.startswith(document + "-") for row_id in ids)


@pytest.mark.parametrize("key", STUDIES)
def test_columns_are_known_and_in_order(key):
    assert read_csv(key, "observations.csv")[0] == OBSERVATION_COLUMNS
    assert read_csv(key, "context.csv")[0] == CONTEXT_COLUMNS


@pytest.mark.parametrize("key", STUDIES)
def test_every_row_has_as_many_cells_as_the_head(key):
    for name in ("observations.csv", "context.csv"):
        for row in read_csv(key, name)[1]:
            assert None not in row and None not in row.values(), row["id"]


@pytest.mark.parametrize("key", STUDIES)
def test_files_are_utf8_with_plain_newlines(key):
    for path in (CALIBRATION / key).iterdir():
        raw = path.read_bytes()
        raw.decode("utf-8")
        assert b"\r" not in raw and raw.endswith(b"\n"), path.name


@pytest.mark.parametrize("key", STUDIES)
def test_the_source_file_says_what_is_known_and_what_is_not(key):
    document, _, profile = STUDIES[key]
    with open(CALIBRATION / key / "source.toml", "rb") as file:
        source = tomllib.load(file)
    assert source["format"] == 1
    assert (source["key"], source["document"], source["profile"]) == (key, document, profile)
    assert source["title"] and source["authors"] and source["venue"] and source["date"]
    assert source["machine"] and source["noise"]["basis"]
    assert source["unknown"] and all(source["unknown"])


@pytest.mark.parametrize("key", STUDIES)
def test_every_session_is_explained_in_the_source_file(key):
    with open(CALIBRATION / key / "source.toml", "rb") as file:
        explained = set(tomllib.load(file)["sessions"])
    assert {row["session"] for row in read_csv(key, "observations.csv")[1]} == explained


def test_excluded_reasons_are_phrases_and_context_rows_always_have_one():
    for row in observations() + context():
        assert row["excluded"] == row["excluded"].strip(), row["id"]
        assert not row["excluded"] or len(row["excluded"]) >= 10, row["id"]
    assert all(row["excluded"] for row in context())


@pytest.mark.parametrize(
    "ids",
    [
        ["000-002", "000-004", "000-006", "000-008", "000-016", "000-038", "002-093", "003-086", "003-087", "003-088"],
        [f"004-{n:03d}" for n in range(2, 19)],
        [f"004-{n:03d}" for n in (21, 23, 25, 55, 57, 59, 130, 131)],
    ],
)
def test_rows_unfit_for_comparison_carry_a_reason(ids):
    rows = by_id()
    assert all(rows[row_id]["excluded"] for row_id in ids)


def test_doubtful_rows_are_compared_and_say_so():
    rows = by_id()
    doubtful = "000-010 000-012 000-015 000-022 000-025 000-029 000-030 002-047 003-001 003-054 004-068"
    for n in doubtful.split():
        assert not rows[n]["excluded"] and "doubtful:" in rows[n]["note"], n


def test_compared_rows_per_study():
    assert Counter(row["id"][:3] for row in compared()) == {"000": 30, "002": 144, "003": 85, "004": 138}


def test_values_are_positive():
    for row in observations() + context():
        assert float(row["value"]) > 0, row["id"]


def test_numbers_are_numbers_and_booleans_are_true_or_false():
    for row in observations():
        for column in NUMBERS:
            assert row[column] == "" or float(row[column]) >= 0, (row["id"], column)
        for column in BOOLEANS:
            assert row[column] in {"", "true", "false"}, (row["id"], column)


def test_names_come_from_the_known_lists():
    for row in observations():
        for column, allowed in ALLOWED.items():
            assert row[column] in allowed, (row["id"], column, row[column])


def test_every_row_says_where_it_stands_in_the_document():
    for row in observations() + context():
        words = row["source"].split()
        assert words[-2] == "line" and int(words[-1]) > 0, row["id"]


def test_every_observation_has_series_session_and_printed_figure():
    for row in observations():
        assert row["series"] and row["printed"] and row["session"].startswith(row["id"][:3] + "/"), row["id"]


def test_compared_rows_name_their_profile_and_message_size():
    profiles = {document: profile for document, _, profile in STUDIES.values()}
    for row in compared():
        assert row["profile"] == profiles[row["id"][:3]], row["id"]
        assert int(row["message_bytes"]) > 0, row["id"]


def test_a_series_stays_on_one_path_workload_and_metric():
    seen = {}
    for row in compared():
        what = (row["path"], row["workload"], row["metric"], row["direction"] if row["id"][:3] != "000" else "")
        assert seen.setdefault((row["id"][:3], row["series"]), what) == what, row["id"]


def test_a_round_trip_has_no_direction_and_packets_always_have_one():
    for row in observations():
        if row["workload"] == "rr":
            assert row["direction"] == "", row["id"]
        if row["workload"] == "packets":
            assert row["direction"], row["id"]


def test_the_standard_deviation_is_the_noise_of_the_study():
    relative = {"000": 0.10, "002": 0.10}
    for row in compared():
        document = row["id"][:3]
        if document == "003":
            assert row["sd"] == "", row["id"]
            continue
        share = relative.get(document, 0.04 if row["direction"] == "from-vm" else 0.01)
        assert float(row["sd"]) == pytest.approx(share * float(row["value"]), rel=1e-5), row["id"]


@pytest.mark.parametrize(
    ("row_id", "metric", "value"),
    [
        ("000-001", "latency_us", 139.16),
        ("000-002", "throughput_mbps", 10061.2964352),  # 1199.40 MB/sec of 2^20 bytes
        ("000-018", "throughput_mbps", 4282),
        ("002-041", "throughput_mbps", 60),  # 0.060 Gbps
        ("002-018", "throughput_mbps", 14200),
        ("002-145", "throughput_mbps", 29300),
        ("003-001", "transactions_per_s", 2191.47),
        ("003-084", "throughput_mbps", 2605.49),
        ("003-087", "throughput_mbps", 67.2),  # 8.4 decimal MB/s
        ("004-004", "throughput_mbps", 10700),  # ~10.7 gbps
        ("004-008", "rate_pps", 356000),  # 356kpps
        ("004-064", "rate_pps", 2293304.308),
    ],
)
def test_printed_units_are_converted(row_id, metric, value):
    row = by_id()[row_id]
    assert row["metric"] == metric
    assert float(row["value"]) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("row_id", "cells"),
    [
        ("000-012", {"path": "native", "bridge": "true", "rx_usecs": "3"}),
        ("000-027", {"path": "native-vf", "topology": "cross-host-host", "rx_usecs": "3"}),
        ("000-034", {"path": "vf", "topology": "cross-host-vm", "rx_usecs": "10"}),
        ("000-017", {"path": "virtio-vhost", "rx_usecs": "", "nodelay": "true"}),
        ("002-001", {"rx_buffer_bytes": "4096", "credit_per_packet": "true", "merge_rx_buffers": "false"}),
        ("002-002", {"rx_buffer_bytes": "65536", "credit_per_packet": "false", "merge_rx_buffers": "true"}),
        ("002-043", {"mtu": "65520", "nodelay": "true", "direction": "to-vm"}),
        ("003-052", {"path": "virtio-qemu", "scatter_gather": "false", "socket_buffer_bytes": "262144"}),
        ("004-064", {"batch": "1", "batched_fetch": "false", "descriptor_batch": "", "direction": "from-vm"}),
        ("004-072", {"batch": "16", "batched_fetch": "true", "descriptor_batch": "16", "buf_api": "false"}),
        ("004-135", {"batch": "64", "batched_fetch": "false", "descriptor_batch": "0", "message_bytes": "64"}),
        ("004-176", {"batch": "64", "descriptor_batch": "512", "buf_api": "true", "instrument": "pktgen"}),
    ],
)
def test_settings_are_those_of_the_document(row_id, cells):
    row = by_id()[row_id]
    assert {column: row[column] for column in cells} == cells


def test_profile_shares_are_grouped_and_nothing_else_is():
    shares = [row for row in context() if row["quantity"] == "cpu_share"]
    assert len(shares) == 72
    assert {row["group"] for row in shares} == GROUPS
    assert not any(row["group"] for row in context() if row["quantity"] != "cpu_share")


def test_descriptor_work_of_the_profiles_adds_up_as_printed():
    total = Counter()
    for row in context():
        if row["group"] == "descriptor":
            total[row["subject"].rsplit("/", 1)[0]] += float(row["value"])
    assert total["virtio-user/to-vm/#38/base"] == pytest.approx(6.29)
    assert total["virtio-user/to-vm/#38/batch"] == pytest.approx(9.50)
    assert total["virtio-user/from-vm/#38/base"] == pytest.approx(7.87)
    assert total["virtio-user/from-vm/#38/batch"] == pytest.approx(13.72)


def test_the_evidence_names_no_folder_outside_the_repository():
    for path in CALIBRATION.rglob("*"):
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            assert "/work" not in text and "../" not in text, path.name
