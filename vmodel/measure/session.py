"""One session: servers up, every run in random order within its round, until the rounds or the time are over."""

import math
import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from vmodel.errors import ConfigError, Fault, VmodelError
from vmodel.measure.courses import Course
from vmodel.measure.ground import Space
from vmodel.measure.tools import Tool, over_vsock, speaks_vsock

SETTLE_S = 0.3  # a server listens after this
OVERHEAD_S = 0.6  # of a run beside the time it measures: start, handshake, results
SLACK_S = 10.0  # after which a run that should have ended is ended
ENDED_S = 2.0
LEAST_ROUNDS = 2  # without a repeat there is no spread
LEAST_SIZES = 3  # of a sweep
SIZES: Mapping[str, tuple[int, ...]] = {
    "rr": (64, 512, 2048, 8192, 32768),
    "stream": (256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 128 << 10),
}


class Stopped(KeyboardInterrupt):
    """A signal asked us to end; what is open is closed on the way out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """One thing to measure."""

    course: Course
    tool: Tool
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of a tool: what it was told, what it said, how long it took."""

    number: int
    round: int
    configuration: Configuration
    command: tuple[str, ...]
    started_s: float
    seconds: float
    code: int
    output: str
    complaint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Processors that client and server are held on; None leaves them to the scheduler."""

    client: int
    server: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long and how often: seconds of the whole, seconds of one run, rounds, seed of the order."""

    budget_s: float
    run_s: int
    rounds: int
    seed: int


def configurations(courses: Sequence[Course], tools: Sequence[Tool]) -> tuple[Configuration, ...]:
    """Every size of every tool on every course that it can measure."""
    return tuple(
        Configuration(course=course, tool=tool, size=max(size, tool.least_bytes))
        for course in courses
        for tool in tools
        if not course.vsock or speaks_vsock(tool)
        for size in SIZES[tool.workload]
    )


def within(wanted: Sequence[Configuration], limits: Limits) -> tuple[Configuration, ...]:
    """As many sizes of each tool and course as LEAST_ROUNDS rounds have time for, the ends kept. Raises ConfigError."""
    affordable = int((limits.budget_s - SETTLE_S * len(_servers(wanted))) / (limits.run_s + OVERHEAD_S))
    kept = tuple(wanted)
    while LEAST_ROUNDS * len(kept) > affordable:
        fewer = _thinned(kept)
        if fewer == kept:
            needed = LEAST_ROUNDS * len(kept) * (limits.run_s + OVERHEAD_S) + SETTLE_S * len(_servers(kept))
            expected = f"at least {math.ceil(needed)} s for {len(kept)} configurations, {LEAST_ROUNDS} times each"
            raise ConfigError([Fault(file="", key="--budget", value=f"{limits.budget_s:g}", expected=expected)])
        kept = fewer
    return kept


def _servers(wanted: Sequence[Configuration]) -> dict[tuple[str, str], Configuration]:
    """One configuration for each server that is needed."""
    return {(c.course.path, c.tool.name): c for c in reversed(wanted)}


def _thinned(wanted: Sequence[Configuration]) -> tuple[Configuration, ...]:
    """One size less for the tool and course that has most; never fewer than LEAST_SIZES."""
    groups: dict[tuple[str, str], list[Configuration]] = {}
    for c in wanted:
        groups.setdefault((c.course.path, c.tool.name), []).append(c)
    most = max(groups.values(), key=len)
    if len(most) <= LEAST_SIZES:
        return tuple(wanted)
    dropped = most[len(most) // 2]
    return tuple(c for c in wanted if c is not dropped)


def order(wanted: Sequence[Configuration], limits: Limits) -> Iterator[tuple[int, Configuration]]:
    """Rounds of everything, each shuffled for itself, so that drift of the host does not look like an effect."""
    dice = random.Random(limits.seed)
    for number in range(limits.rounds):
        shuffled = list(wanted)
        dice.shuffle(shuffled)
        for one in shuffled:
            yield number, one


def placed(processor: int | None, arguments: Sequence[str]) -> list[str]:
    """The command on one processor."""
    return list(arguments) if processor is None else ["taskset", "--cpu-list", str(processor), *arguments]


def _told(course: Course, arguments: list[str]) -> list[str]:
    return over_vsock(arguments) if course.vsock else arguments


def _command(space: Space | None, arguments: Sequence[str]) -> list[str]:
    """The command in its namespace; on the host itself it is told to end with us."""
    return ["setpriv", "--pdeathsig", "KILL", *arguments] if space is None else space.inside(arguments)


@contextmanager
def serving(course: Course, tool: Tool, processor: int | None) -> Iterator[subprocess.Popen[bytes]]:
    """The server of a tool while the block runs. Raises VmodelError where it does not start."""
    command = _command(course.server, placed(processor, _told(course, tool.server(course.address))))
    server = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    )
    try:
        time.sleep(SETTLE_S)
        if server.poll() is not None:
            said = server.stderr.read().decode(errors="replace").split() if server.stderr else []
            raise VmodelError(f"{tool.server_program} did not start: {' '.join(said) or 'no reason given'}")
        yield server
    finally:
        end(server)


def end(process: subprocess.Popen[Any]) -> None:
    """End a process and all that it started."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, how)
        except ProcessLookupError:
            break
        try:
            process.wait(ENDED_S)
        except subprocess.TimeoutExpired:
            continue
    process.wait()
    if process.stderr is not None:
        process.stderr.close()


def one_run(number: int, round_: int, c: Configuration, limits: Limits, processor: int | None) -> Run:
    """Run a client once. A tool that fails or hangs gives a run that says so."""
    arguments = tuple(_told(c.course, c.tool.client(c.course.address, c.size, limits.run_s)))
    started = time.monotonic()
    client = subprocess.Popen(
        _command(c.course.client, placed(processor, arguments)),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
        start_new_session=True,
    )  # fmt: skip
    try:
        output, complaint = client.communicate(timeout=limits.run_s + SLACK_S)
        code = client.returncode
    except subprocess.TimeoutExpired:
        end(client)
        output, complaint, code = "", f"no end within {limits.run_s + SLACK_S:g} s", -signal.SIGKILL
    except BaseException:
        end(client)
        raise
    return Run(
        number=number, round=round_, configuration=c, command=arguments, started_s=started,
        seconds=time.monotonic() - started, code=code, output=output, complaint=complaint,
    )  # fmt: skip


@contextmanager
def ending_on_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP unwind like an interrupt from the keyboard, so that everything is closed."""

    def stop(number: int, frame: Any) -> None:
        raise Stopped(signal.Signals(number).name)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def measure(
    wanted: Sequence[Configuration],
    limits: Limits,
    placement: Placement | None,
    told: Callable[[float], None] = lambda share: None,
) -> tuple[Run, ...]:
    """Every run until rounds or time are over; a run that could not end in time is not begun.

    told: is given the share of the work that is done, after each run.
    """
    start = time.monotonic()
    runs: list[Run] = []
    whole = len(wanted) * limits.rounds
    with ExitStack() as stack:
        for c in _servers(wanted).values():
            stack.enter_context(serving(c.course, c.tool, None if placement is None else placement.server))
        for round_, c in order(wanted, limits):
            used = time.monotonic() - start
            if used + limits.run_s + OVERHEAD_S > limits.budget_s:
                break
            runs.append(one_run(len(runs), round_, c, limits, None if placement is None else placement.client))
            told(max((time.monotonic() - start) / limits.budget_s, len(runs) / whole))
    return tuple(runs)
