"""Neighbours and worst cases on the command line."""

import json

import pytest

from vmodel.cli.main import main

ASKED = ("predict", "--path", "vhost-user", "--workload", "packets", "--profile", "generic", "--load", "250kpps")


def said(capsys, *arguments, code=0):
    assert main(arguments) == code
    return capsys.readouterr()


def test_neighbours_on_a_poll_mode_core_slow_each_other_down(capsys):
    record = json.loads(said(capsys, *ASKED, "--beside", "count=4,load=60kpps", "--json").out)["shared"]
    assert [t["name"] for t in record["tenants"]] == ["asked", *(f"beside 1.{k}" for k in range(1, 5))]
    asked = record["tenants"][0]
    assert asked["latency_us"] > asked["alone_latency_us"] and asked["messages_per_s"] == pytest.approx(250e3)
    alone = json.loads(said(capsys, *ASKED, "--shared-worker", "--json").out)["shared"]["tenants"]
    assert len(alone) == 1 and alone[0]["latency_us"] == pytest.approx(alone[0]["alone_latency_us"], rel=0.01)


def test_too_many_neighbours_take_from_each_other_and_the_resource_is_named(capsys):
    out = said(capsys, *ASKED, "--beside", "count=8,load=120kpps").out
    assert "Beside the others:" in out and "poll-mode core" in out and "assumed: " in out
    record = json.loads(said(capsys, *ASKED, "--beside", "count=8,load=120kpps", "--json").out)["shared"]
    assert max(record["busy"].values()) == pytest.approx(1.0, abs=1e-6)
    assert any(name.startswith("poll-mode core") for name in record["suffering"].values())


def test_a_token_bucket_has_a_worst_case_above_the_mean_and_grows_with_the_burst(capsys):
    found = [json.loads(said(capsys, *ASKED, "--bucket", str(n), "--json").out) for n in (1, 8, 64)]
    delays = [record["worst_case"]["delay_us"] for record in found]
    assert found[0]["latency_us"]["mean"] < delays[0] < delays[1] < delays[2]
    assert all(record["worst_case"]["assumptions"] for record in found)
    assert "worst case" in said(capsys, *ASKED, "--bucket", "8").out


def test_a_source_that_sends_too_much_has_no_worst_case_and_the_reason_is_said(capsys):
    record = json.loads(said(capsys, *ASKED[:-1], "9Mpps", "--bucket", "8", "--json").out)["worst_case"]
    assert record["delay_us"] is None and record["reason"].startswith("unbounded")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--beside", "count=2.5"), 'vmodel: --beside count = "2.5": expected a whole number from 1'),
        (("--beside", "count=5000"), "vmodel: --beside count = 5000: expected at most 999 in all"),
        (("--beside", "pth=vf"), "vmodel: --beside pth: expected a knob or a cost"),
        (("--bucket", "0"), 'vmodel: --bucket = "0": expected a number from 1'),
        (("--bucket", "nan"), 'vmodel: --bucket = "nan": expected a number from 1'),
    ],
)
def test_faults_are_one_line_each(capsys, arguments, expected):
    assert said(capsys, *ASKED, *arguments, code=2).err.strip().startswith(expected)


def test_a_bucket_asks_for_packets_at_a_load(capsys):
    err = said(capsys, "predict", "--path", "vf", "--bucket", "8", code=2).err
    assert "expected the workload packets" in err and "expected a --load" in err
