"""Namespaces of our own: they exist while they are held, and nothing of them is left, however the holder ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from vmodel.measure.courses import LAYOUTS, own, vsock_missing
from vmodel.measure.ground import Ground, GroundError, run

HOME = Path(__file__).resolve().parents[2]
PATIENCE_S = 10.0


def allowed():
    """Why no namespace can be had here; empty if one can."""
    try:
        with Ground() as ground:
            ground.space()
    except GroundError as error:
        return str(error)
    return ""


WHY = allowed()
# Real namespaces are what is tested, and a kernel or container may refuse them: then nothing is left to run. The kernel
# is asked first, and the skip tells its answer; where it agrees (as on CI) all of them run.
namespaces = pytest.mark.skipif(bool(WHY), reason=WHY or "namespaces can be had")


def interfaces(space):
    return run(space, "ip", "-o", "link", "show")


def gone(pid):
    """Whether a process has ended (a zombie has)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def wait_until(true):
    end = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < end, "still there"
        time.sleep(0.02)


def named(mark):
    """Processes whose command line holds a text."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if mark in place.joinpath("cmdline").read_bytes().decode(errors="replace"):
                found.append(int(place.name))
        except OSError:
            continue
    return [pid for pid in found if pid != os.getpid() and not gone(pid)]


LAID = [name for name in LAYOUTS if name != "vsock"]


def test_vsock_is_laid_where_the_kernel_has_it_and_refused_with_the_reason_elsewhere():
    with Ground() as ground:
        if vsock_missing():
            with pytest.raises(GroundError, match="vsock"):
                LAYOUTS["vsock"](ground)
        else:
            assert LAYOUTS["vsock"](ground).vsock


@namespaces
@pytest.mark.parametrize("name", LAID)
def test_a_layout_joins_its_ends_and_shows_nothing_on_the_host(name):
    before = os.listdir("/sys/class/net")
    with Ground() as ground:
        course = LAYOUTS[name](ground)
        assert "UP" in interfaces(course.client)
        code = f"import socket; s = socket.create_server(('{course.address}', 5001)); input()"
        server = subprocess.Popen(course.server.inside([sys.executable, "-c", code]), stdin=subprocess.PIPE)
        try:
            ask = f"import socket; socket.create_connection(('{course.address}', 5001), 2).close()"
            wait_until(
                lambda: subprocess.run(course.client.inside([sys.executable, "-c", ask]), stderr=-3).returncode == 0
            )
        finally:
            server.communicate(b"\n", timeout=PATIENCE_S)
        assert os.listdir("/sys/class/net") == before


@namespaces
def test_leaving_ends_the_holder_and_all_that_runs_inside():
    mark = f"sleep 4{os.getpid()}"
    with Ground() as ground:
        space = ground.space()
        inside = subprocess.Popen(space.inside(mark.split()))
        wait_until(lambda: len(named(mark.replace(" ", "\0"))) >= 2)  # nsenter and what it runs
    inside.wait(PATIENCE_S)
    wait_until(lambda: gone(space.pid) and not named(mark.replace(" ", "\0")))


CHILD = """
import subprocess, sys, time
from vmodel.measure.courses import LAYOUTS
from vmodel.measure.ground import Ground
from vmodel.measure.session import ending_on_signals
with ending_on_signals(), Ground() as ground:
    course = LAYOUTS["bridge"](ground)
    inside = subprocess.Popen(course.server.inside(["sleep", sys.argv[1]]))
    print(course.server.pid, flush=True)
    time.sleep(60)
"""


@namespaces
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL], ids=lambda s: s.name)
def test_no_signal_leaves_a_process_or_a_namespace_behind(how):
    seconds = f"5{os.getpid()}{int(how)}"
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, seconds], cwd=HOME, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    holder = int(child.stdout.readline())
    wait_until(lambda: named(f"sleep\0{seconds}"))
    child.send_signal(how)
    child.communicate(timeout=PATIENCE_S)
    wait_until(lambda: gone(holder) and not named(f"sleep\0{seconds}"))


@namespaces
# The test gives up root on the way, which only root can; whoever is not root runs every other test of this file so.
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody without rights")
def test_root_is_needed_only_where_the_kernel_gives_no_user_namespace():
    code = (
        "import os\n"
        "from vmodel.measure.ground import Ground, GroundError, run\n"
        "from vmodel.measure.courses import LAYOUTS\n"
        "os.setgid(65534); os.setuid(65534)\n"
        "try:\n"
        "    with Ground() as ground:\n"
        "        course = LAYOUTS['veth'](ground)\n"
        "        print('up' if 'UP' in run(course.client, 'ip', '-o', 'link', 'show', 'veth0') else 'down')\n"
        "except GroundError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=HOME, env={**os.environ, "PYTHONPATH": str(HOME)}, capture_output=True,
        text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.stdout.startswith("up") or "need root" in done.stdout, done.stderr


@pytest.mark.parametrize("address", ["127.0.0.1", "127.1.2.3"])
def test_an_address_of_this_host_is_taken(address):
    assert own(address).address == address


@pytest.mark.parametrize(
    "address", ["192.0.2.7", "203.0.113.1", "2001:db8::1", "224.0.0.1", "0.0.0.0", "::", "host", ""]
)
def test_any_other_address_is_refused_in_one_line(address):
    with pytest.raises(ValueError) as caught:
        own(address)
    assert str(caught.value).count("\n") == 0
    assert "--address" in str(caught.value)
