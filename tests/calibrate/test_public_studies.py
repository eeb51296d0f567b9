"""The studies of other publications: each of 1,653 figures has its place, and a reason where it is not compared."""

import csv
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from vmodel.calibrate.dataset import read_rows
from vmodel.library import tables

CALIBRATION = Path(__file__).resolve().parents[2] / "calibration"
COLLECTED = {  # figures of each source as they were collected, in that order
    "virtink-2023": 512, "cnf-testbed-2018": 174, "csit-1707": 45, "firecracker-ci-2021": 150,
    "firecracker-doc-2020": 18, "vsock-blog-2019": 4, "vsock-zerocopy-2023": 60, "vsock-skb-2022": 10,
    "virtio-pagepool-2023": 29, "vhost-meta-2019": 14, "virtio-inorder-2025": 12, "virtio-afxdp-2021": 81,
    "virtio-dim-2023": 8, "vhost-weight-2018": 48, "tun-afxdp-2024": 6, "tun-backpressure-2026": 30,
    "napi-threaded-2025": 60, "xl710-xdp-2021": 6, "xdp-paper-2018": 82, "mlx5-rxusecs-2026": 32,
    "e1000-itr-blog": 3, "machnet-report": 40, "azure-accelnet-2020": 1, "amzn-ena-301": 4, "k8s-netperf-246": 1,
    "send-zc-2025": 78, "tcp-lo-vm-2023": 8, "kvmarm-its-2019": 2, "ovs-commits": 15, "dpdk-vmxnet3-2021": 3,
    "cloud-hypervisor": 24, "firecracker-pr937": 2, "virtio-win-mq": 8, "kata-netmodel-2018": 4,
    "microvm-nix-463": 2, "asterinas-1612": 2, "qubes-xen": 9, "home-ops-netkit": 15, "cilium-issues": 15,
    "ixgbe-udp-2020": 3, "vmnet-helper-2026": 33,
}  # fmt: skip
LEAST_REASON = 10  # characters
UNITS = {"us": 1.0, "ms": 1e3, "ns": 1e-3, "Gb/s": 1e3, "Mb/s": 1.0, "GB/s": 8e3, "MB/s": 8.0}
UNITS |= {"pps": 1.0, "Kpps": 1e3, "Mpps": 1e6, "Krps": 1e3, "tps": 1.0, "msg/s": 1.0}


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


def source(folder):
    return tomllib.loads((folder / "source.toml").read_text(encoding="utf-8"))


PUBLIC = sorted(p.parent for p in CALIBRATION.glob("*/source.toml") if "public" in source(p.parent))
every_study = pytest.mark.parametrize("folder", PUBLIC, ids=lambda folder: folder.name)


def observations(folder):
    return read(folder / "observations.csv")


def placed():
    rows = [row for folder in PUBLIC for name in ("observations", "context") for row in read(folder / f"{name}.csv")]
    return [*rows, *read(CALIBRATION / "dropped.csv")]


def test_every_collected_figure_has_its_place_exactly_once():
    expected = [f"{name}-{n:03d}" for name, count in COLLECTED.items() for n in range(1, count + 1)]
    assert len(COLLECTED) == 41 and len(expected) == 1653
    assert Counter(row["id"] for row in placed()) == Counter(expected)


def test_whatever_is_not_compared_says_why():
    for folder in PUBLIC:
        for row in read(folder / "context.csv"):
            assert len(row["excluded"]) >= LEAST_REASON, row["id"]
        for row in observations(folder):
            assert not row["excluded"] or len(row["excluded"]) >= LEAST_REASON, row["id"]
    for row in read(CALIBRATION / "dropped.csv"):
        assert len(row["reason"]) >= LEAST_REASON, row["id"]


@every_study
def test_a_study_says_what_its_source_leaves_open(folder):
    found = source(folder)
    assert found["key"] == folder.name and found["public"] in COLLECTED
    assert found["title"] and found["authors"] and found["venue"] and found["date"] and found["transcription"]
    assert found["machine"] and found["noise"]["basis"] and found["unknown"] and all(found["unknown"])
    assert {row["session"] for row in observations(folder)} <= set(found["sessions"])
    assert folder.name in tables.references()


@every_study
def test_a_study_holds_figures_of_its_own_source_only_and_names_where(folder):
    name = source(folder)["public"]
    for row in observations(folder):
        assert row["id"].rpartition("-")[0] == name and row["source"] and row["series"] and row["printed"], row["id"]


@every_study
def test_rows_are_read_without_a_fault_and_in_the_printed_unit(folder):
    rows = {row.id: row for row in read_rows(folder / "observations.csv")}
    for row in observations(folder):
        number, unit = row["printed"].split()
        doubled = 2 if "doubled" in row["note"] else 1
        assert rows[row["id"]].value == pytest.approx(float(number) * UNITS[unit] * doubled, rel=1e-9), row["id"]


def test_half_round_trips_are_doubled_and_say_so():
    rows = [row for row in observations(CALIBRATION / "virtink2023") if row["instrument"].endswith("_lat")]
    assert len(rows) == 235
    assert all("half of the round trip printed; doubled" in row["note"] for row in rows)


def test_a_datagram_rate_counts_frames_with_their_headers():
    rows = [row for row in observations(CALIBRATION / "virtink2023") if row["workload"] == "packets"]
    assert {int(row["message_bytes"]) for row in rows} == {64, 78, 110, 174, 302, 558, 1070}
    assert all(row["udp"] == "true" for row in rows)


def test_targets_of_both_directions_at_once_are_not_compared():
    rows = observations(CALIBRATION / "firecracker2021a")
    both = [row for row in rows if "/bd/" in row["series"]]
    assert len(both) == 15 and all(row["excluded"] for row in both)
