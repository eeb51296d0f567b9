"""What is run, in which order and for how long; what becomes of runs that fail."""

import sys
from collections import Counter

import pytest

from vmodel.errors import ConfigError, VmodelError
from vmodel.measure import study
from vmodel.measure.courses import Course
from vmodel.measure.session import (
    LEAST_ROUNDS,
    LEAST_SIZES,
    Configuration,
    Limits,
    configurations,
    measure,
    one_run,
    order,
    serving,
    within,
)
from vmodel.measure.tools import TOOLS, Tool

HERE = Course(path="loopback", client=None, server=None, address="127.0.0.1", knobs={"mtu": 65535})
VETH = Course(path="veth", client=None, server=None, address="127.0.0.1")
LIMITS = Limits(budget_s=60, run_s=1, rounds=3, seed=5)


def fake(client, server="import time; time.sleep(60)"):
    """A tool that is a Python program."""
    return Tool(
        name="fake", server_program="fake", workload="rr", metric="latency_us", package="none",
        server=lambda address: [sys.executable, "-c", server],
        client=lambda address, size, seconds: [sys.executable, "-c", client, str(size)],
    )  # fmt: skip


def test_every_round_holds_everything_once_in_an_order_of_its_own():
    wanted = configurations([HERE, VETH], list(TOOLS.values()))
    ordered = list(order(wanted, LIMITS))
    rounds = [[c for number, c in ordered if number == k] for k in range(LIMITS.rounds)]
    for one in rounds:
        assert Counter(map(id, one)) == Counter(map(id, wanted))
    assert rounds[0] != rounds[1] != list(wanted)
    assert ordered == list(order(wanted, LIMITS))


def test_a_short_budget_thins_the_sweep_and_keeps_its_ends():
    wanted = configurations([HERE, VETH], list(TOOLS.values()))
    kept = within(wanted, Limits(budget_s=75, run_s=1, rounds=3, seed=5))
    assert len(kept) < len(wanted)
    for tool in TOOLS.values():
        whole = [c.size for c in wanted if c.tool is tool and c.course is HERE]
        left = [c.size for c in kept if c.tool is tool and c.course is HERE]
        assert (min(left), max(left)) == (min(whole), max(whole))
        assert len(left) >= LEAST_SIZES
    assert within(wanted, Limits(budget_s=1e6, run_s=1, rounds=3, seed=5)) == wanted


def test_a_budget_too_short_for_repeats_says_what_is_needed():
    wanted = configurations([HERE], list(TOOLS.values()))
    with pytest.raises(ConfigError, match=r"--budget.*at least"):
        within(wanted, Limits(budget_s=5, run_s=1, rounds=3, seed=5))
    needed = LEAST_ROUNDS * LEAST_SIZES * len(TOOLS)
    assert len(within(wanted, Limits(budget_s=2 * needed, run_s=1, rounds=2, seed=5))) >= LEAST_SIZES * len(TOOLS)


def test_no_run_begins_that_could_not_end_in_time():
    tool = fake("print(1)")
    wanted = [Configuration(course=HERE, tool=tool, size=1)]
    assert measure(wanted, Limits(budget_s=1.5, run_s=1, rounds=9, seed=1), None) == ()
    runs = measure(wanted, Limits(budget_s=4, run_s=1, rounds=2, seed=1), None)
    assert [run.output.strip() for run in runs] == ["1", "1"]


def test_a_run_that_fails_keeps_what_it_said_and_becomes_no_row():
    broken = fake("import sys; sys.exit('cannot connect')")
    run = one_run(0, 0, Configuration(course=HERE, tool=broken, size=1), LIMITS, None)
    assert run.code != 0 and "cannot connect" in run.complaint
    assert study.with_spread([run], {}) == []
    assert study.failures([run], {}) == {"fake on loopback": "1 of 1 runs gave nothing: cannot connect"}


def test_a_server_that_does_not_start_is_told_with_its_reason():
    tool = fake("", server="import sys; sys.exit('port in use')")
    with pytest.raises(VmodelError, match=r"did not start: .*port in use"), serving(HERE, tool, None):
        pass


def test_a_server_ends_with_its_block_even_if_it_ignores_the_first_signal():
    stubborn = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
    with serving(HERE, fake("", server=stubborn), None) as server:
        assert server.poll() is None
    assert server.poll() is not None


def test_rows_carry_the_spread_of_their_repeats():
    tool = fake("print(1)")
    runs = [one_run(k, k, Configuration(course=HERE, tool=tool, size=64), LIMITS, None) for k in range(2)]
    made = {number: {**study.known(runs[number], "mine"), "value": value} for number, value in ((0, "100"), (1, "110"))}
    rows = study.with_spread(runs, made)
    assert [row["value"] for row in rows] == ["100", "110"]
    assert float(rows[0]["sd"]) == pytest.approx(100 * 0.0674, rel=0.01)  # ln 1.1 over the root of 2
    assert rows[0]["mtu"] == "65535" and rows[0]["message_bytes"] == "64"


def test_over_vsock_only_a_tool_that_speaks_it_is_run_and_told_so(monkeypatch, tmp_path):
    """A stand-in for the fork of iperf3 that knows --vsock; it prints what it was told."""
    local = Course(path="vsock-loopback", client=None, server=None, address="1", vsock=True)
    for words, sizes in (("no such option", 0), ("  --vsock  use vsock", 6)):
        tool = tmp_path / "iperf3"
        tool.write_text(f"#!/bin/sh\necho '{words}' \"$@\"\n")
        tool.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        assert len(configurations([local], list(TOOLS.values()))) == sizes
    run = one_run(0, 0, Configuration(course=local, tool=TOOLS["iperf3"], size=4096), LIMITS, None)
    assert run.command[:4] == ("iperf3", "--vsock", "-c", "1")
    assert "-l 4096" in run.output
