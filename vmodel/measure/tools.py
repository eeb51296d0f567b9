"""The programs that measure: what each is told, and what it measures. Reading their output is not done here."""

import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

VERSION_LIMIT_S = 10.0
DIGITS = re.compile(r"\d+\.\d+(?:\.\d+)?")
PORTS = {"iperf3": 5201, "netperf": 12865, "sockperf": 11111}
LEAST_SOCKPERF = 14  # bytes of its own header


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One program: workload and metric, the commands of both ends, sizes it can send."""

    name: str
    server_program: str
    workload: str
    metric: str
    package: str
    server: Callable[[str], list[str]]
    client: Callable[[str, int, int], list[str]]  # address, bytes, seconds
    least_bytes: int = 1
    knobs: Mapping[str, bool] | None = None


def _iperf3_server(address: str) -> list[str]:
    return ["iperf3", "-s", "-B", address, "-p", str(PORTS["iperf3"])]


def _iperf3_client(address: str, size: int, seconds: int) -> list[str]:
    options = ["-t", str(seconds), "-l", str(size), "-i", "0", "-J", "-N"]  # else timing decides what is merged
    return ["iperf3", "-c", address, "-p", str(PORTS["iperf3"]), *options]


def over_vsock(arguments: Sequence[str]) -> list[str]:
    """The same iperf3 over vsock, which a fork of it speaks; an address is then a context identifier."""
    return [arguments[0], "--vsock", *arguments[1:]]


def speaks_vsock(tool: Tool) -> bool:
    """Whether the installed tool has the option."""
    if tool.name != "iperf3":
        return False
    try:
        said = subprocess.run(
            [tool.name, "--help"],
            capture_output=True,
            text=True,
            timeout=VERSION_LIMIT_S,
            check=False,
            errors="replace",
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return "--vsock" in said.stdout + said.stderr


def _netperf_server(address: str) -> list[str]:
    return ["netserver", "-D", "-L", address, "-p", str(PORTS["netperf"])]


def _netperf_client(address: str, size: int, seconds: int) -> list[str]:
    test = ["-t", "TCP_RR", "--", "-r", f"{size},{size}"]
    return ["netperf", "-H", address, "-p", str(PORTS["netperf"]), "-l", str(seconds), *test]


def _sockperf_server(address: str) -> list[str]:
    return ["sockperf", "server", "--tcp", "-i", address, "-p", str(PORTS["sockperf"])]


def _sockperf_client(address: str, size: int, seconds: int) -> list[str]:
    options = ["-t", str(seconds), "-m", str(size)]
    return ["sockperf", "ping-pong", "--tcp", "-i", address, "-p", str(PORTS["sockperf"]), *options]


TOOLS: Mapping[str, Tool] = {
    "iperf3": Tool(
        name="iperf3", server_program="iperf3", workload="stream", metric="throughput_mbps", package="iperf3",
        server=_iperf3_server, client=_iperf3_client, knobs={"nodelay": True},
    ),
    "netperf": Tool(
        name="netperf", server_program="netserver", workload="rr", metric="transactions_per_s",
        package="netperf (non-free in Debian)", server=_netperf_server, client=_netperf_client,
    ),
    "sockperf": Tool(
        name="sockperf", server_program="sockperf", workload="rr", metric="latency_us", package="sockperf",
        server=_sockperf_server, client=_sockperf_client, least_bytes=LEAST_SOCKPERF, knobs={"nodelay": True},
    ),
}  # fmt: skip


def installed(names: Sequence[str]) -> tuple[tuple[Tool, ...], tuple[Tool, ...]]:
    """Of the named tools, those that are installed, and those that are not."""
    there: list[Tool] = []
    missing: list[Tool] = []
    for name in names:
        tool = TOOLS[name]
        found = shutil.which(tool.name) and shutil.which(tool.server_program)
        (there if found else missing).append(tool)
    return tuple(there), tuple(missing)


def version(tool: Tool) -> str:
    """The version that a tool tells of itself, or `unknown`."""
    option = {"netperf": "-V"}.get(tool.name, "--version")
    try:
        said = subprocess.run(
            [tool.name, option], capture_output=True, text=True, timeout=VERSION_LIMIT_S, check=False, errors="replace"
        )
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    found = DIGITS.search(said.stdout + said.stderr)
    return found.group() if found else "unknown"
