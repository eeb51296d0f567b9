"""What could be measured to learn about a question: its path at other sizes and loads, other settings, other paths.

Each candidate is a row that a fit would take, with the commands that produce it and what they cost in time.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from vmodel.config import scenario
from vmodel.core.records import Scenario
from vmodel.errors import VmodelError
from vmodel.library import tables
from vmodel.library.commands import DOMAIN, PLACES, QEMU
from vmodel.solve.apply import apply_settings

METRICS = {"rr": "latency_us", "stream": "throughput_mbps", "packets": "rate_pps"}
SIZES = {"rr": (64, 4096, 32768), "stream": (256, 4096, 65536), "packets": (64, 512, 1500)}
PARTS = ("loopback",)  # measured anywhere in a minute, and part of every path with a stack
OTHERWISE = {"rx_usecs": 0.0, "halt_poll": 200.0, "worker_poll": 50.0, "tso": 0.0}  # settings that lay a cost bare
OWN_HOST = ("loopback", "veth", "veth-bridge", "tap")  # what `vmodel measure` lays itself
POLL_MODE = ("vhost-user", "virtio-user", "vdpa", "dpdk")
REPEATS, RUN_S = 3, 10
# Effort beside the runs themselves, in seconds of a person who knows the tools: assumed, and printed with each command.
BOTH_ENDS_S, SETTING_S, GENERATOR_S, OTHER_PATH_S = 60, 60, 600, 600
OTHER_WAY = {"to-vm": "from-vm", "from-vm": "to-vm"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One measurement that could be made: the question it answers, its metric, the commands, its cost."""

    label: str
    scenario: Scenario
    metric: str
    commands: tuple[str, ...]
    seconds: float


def candidates(targets: Sequence[Scenario], without: Sequence[str]) -> tuple[Candidate, ...]:
    """Every measurement worth thinking of for some questions, each once; without: paths that cannot be measured."""
    found: dict[tuple[object, ...], Candidate] = {}
    differing = {
        name for name in targets[0].knobs if any(t.knobs[name] != targets[0].knobs[name] for t in targets[1:])
    } - {"size"}
    for target in targets:
        held = {name: target.knobs[name] for name in sorted(differing) if target.knobs[name] is not None}
        for one in _around(target, held):
            if one.scenario.path not in without and one.scenario.peer not in without:
                key = (one.metric, *_key(one.scenario))
                if key not in found or one.seconds < found[key].seconds:
                    found[key] = one
    return tuple(found.values())


def _key(s: Scenario) -> tuple[object, ...]:
    knobs = tuple(sorted((k, v) for k, v in s.knobs.items() if v is not None))
    return (s.path, s.peer, s.topology, s.workload, s.direction, knobs)


def _around(target: Scenario, held: Mapping[str, float]) -> Iterator[Candidate]:
    """held: settings in which a decision's sides differ, which must be in force."""
    for workload, sizes in SIZES.items():
        own = (target.knobs["size"],) if workload == target.workload else ()
        one_way = workload != "rr" and target.topology in ("host-vm", "cross-host-vm")
        for direction in (target.direction, OTHER_WAY[target.direction]) if one_way else (target.direction,):
            for size in sorted({*map(float, sizes), *map(float, own)}):
                yield from _candidate(_asked(target, workload, direction, size=size), held)
    for name, value in OTHERWISE.items():
        if target.knobs[name] != value:
            size = float(target.knobs["size"])
            changed = _asked(target, target.workload, target.direction, size=size, **{name: value})
            yield from _candidate(changed, {**held, name: value})
    for part in PARTS:
        for workload in ("rr", "stream"):
            for size in SIZES[workload]:
                yield from _candidate(_part(target, part, workload, size), {})
    for other in tables.path_names():
        if other not in (*PARTS, target.path):
            for one in _candidate(_other(target, other), {}):
                yield replace(one, seconds=one.seconds + OTHER_PATH_S * (other not in OWN_HOST))


def _asked(target: Scenario, workload: str, direction: str, **knobs: float) -> Scenario:
    knobs = {"in_flight": 1.0, **knobs}
    return replace(target, workload=workload, direction=direction, knobs={**target.knobs, **knobs}, notes=())


def _part(target: Scenario, path: str, workload: str, size: float) -> Scenario:
    return scenario(path=path, workload=workload, size=float(size), mtu=65535, tso=True, profile=target.profile)


def _other(target: Scenario, path: str) -> Scenario:
    """The same test on another path, where that is best known; its stages may be those in doubt."""
    size = float(target.knobs["size"])
    return scenario(path=path, workload=target.workload, size=size, profile=target.profile)


def _candidate(s: Scenario, changed: Mapping[str, float]) -> Iterator[Candidate]:
    """The candidate of a question; none where its settings have no command on this path."""
    before = [f"{text}  # {PLACES[place]}" for place, text in _steps(s, changed)] if changed else []
    if changed and not before:
        return
    run, effort = _run(s)
    told = "".join(f", {name} {value:g}" for name, value in changed.items())
    way = f" {s.direction}" if s.workload != "rr" and s.topology in ("host-vm", "cross-host-vm") else ""
    yield Candidate(
        label=f"{s.path} {s.topology} {s.workload}{way}, {s.knobs['size']:g} B{told}",
        scenario=s,
        metric=METRICS[s.workload],
        commands=(*before, run),
        seconds=effort + len(before) * SETTING_S,
    )


def _steps(s: Scenario, changed: Mapping[str, float]) -> list[tuple[str, str]]:
    """Place and text of what puts settings in force; QEMU options only where libvirt has no words for it."""
    try:
        steps = apply_settings(s, changed).steps
    except VmodelError:
        return []
    libvirt = any(step.place == DOMAIN for step in steps)
    return [(step.place, " ".join(step.text.split())) for step in steps if not (libvirt and step.place == QEMU)]


def _run(s: Scenario) -> tuple[str, float]:
    """The command that measures, and its cost with the runs."""
    size, runs = f"{s.knobs['size']:.0f}", float(REPEATS * RUN_S)
    if s.path in OWN_HOST and s.workload != "packets":
        tool = "sockperf" if s.workload == "rr" else "iperf3"
        name = "bridge" if s.path == "veth-bridge" else s.path
        return f"vmodel measure --path {name} --tool {tool} --budget 60 -o {s.path}", 2 * runs
    if s.workload == "packets":
        return _packets(s, size), runs + GENERATOR_S
    at = "in the guest" if tables.endpoint(s.path).place == "guest" else "on one host"
    if s.path.startswith("vsock"):
        back = " -R" if s.direction == "to-vm" else ""
        test = f"iperf3 --vsock -c 2{back} -l {size} -t {RUN_S} -J"
    elif s.workload == "rr":
        test = f"netperf -H $PEER -t TCP_RR -l {RUN_S} -- -r {size},{size}"
    else:
        back = " -R" if s.direction == "to-vm" and tables.endpoint(s.path).place == "guest" else ""
        test = f"iperf3 -c $PEER{back} -l {size} -t {RUN_S} -J"
    file = shlex.quote(f"{s.path}-{s.workload}-{size}")
    return f"for i in 1 2 3; do {test} > {file}-$i; done  # {at}", runs + BOTH_ENDS_S


def _packets(s: Scenario, size: str) -> str:
    if s.path in POLL_MODE:
        mode = "rxonly" if s.direction == "to-vm" else "txonly"
        return f"dpdk-testpmd -l 0-1 -- --forward-mode={mode} --txpkts={size} --stats-period=1  # {RUN_S} s"
    at = "on the host" if s.direction == "to-vm" else "in the guest"
    device = "/proc/net/pktgen/$IF@0"
    lines = [f'echo "{word}" > {device}' for word in (f"pkt_size {size}", "count 10000000", "clone_skb 0")]
    return "; ".join([*lines, "echo start > /proc/net/pktgen/pgctrl", f"cat {device}"]) + f"  # {at}"
