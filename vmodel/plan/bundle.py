"""Output for hands: how each class is set up, and a script that measures whether it does what was predicted."""

import shlex

from vmodel.library import commands
from vmodel.plan.plan import Plan
from vmodel.plan.records import Option
from vmodel.solve.apply import apply_settings
from vmodel.units import BITS_PER_BYTE

SECONDS = 30
HEAD = """#!/bin/sh
# Measures whether each VM class does what the plan predicted. Copy it to one VM of each class and run
#   PEER=address sh {name} CLASS
# against a host that runs `netserver`, `iperf3 -s` and `sockperf server --tcp` (or `sockperf server` for packets).
# Results are left in ./results; bring them together and ask
#   vmodel plan FLEET.toml --verify results/*
set -eu
: "${{PEER:?set PEER to the address of the other end}}"
SECONDS_PER_RUN="${{SECONDS_PER_RUN:-{seconds}}}"
mkdir -p results
case "${{1:?name a VM class}}" in
"""
TAIL = """*)
    echo "no such class: $1" >&2
    exit 2
    ;;
esac
"""


def hands_of(p: Plan) -> dict[str, list[str]]:
    """VM class -> the commands and snippets that set it up on its path."""
    if p.placement is None:
        return {}
    found = {}
    for index in p.placement.chosen:
        option = p.known.options[index]
        asked = next(iter(option.asked.values()))
        names = (*option.vm.settings, *(name for name, _ in option.settings))
        hands = apply_settings(asked.scenario(), dict.fromkeys(names), attach=True)
        found[option.vm.name] = commands.lines(hands)
    return found


def script(p: Plan, name: str = "verify.sh") -> str:
    """A shell script with one branch for each class: the tool that measures its workload, at the planned load."""
    if p.placement is None:
        return HEAD.format(name=name, seconds=SECONDS) + TAIL
    branches = [_branch(p.known.options[o]) for o in p.placement.chosen]
    return HEAD.format(name=name, seconds=SECONDS) + "".join(branches) + TAIL


def file_of(option: Option) -> str:
    """The file that the script leaves a class's result in; its name is how the result finds its class again."""
    ending = {"rr": "netperf.txt", "stream": "iperf3.json", "packets": "sockperf.txt"}[option.vm.workload]
    return f"{option.vm.name}.{ending}"


def _branch(option: Option) -> str:
    command = {"rr": _netperf, "stream": _iperf3, "packets": _sockperf}[option.vm.workload](option)
    target = shlex.quote(f"results/{file_of(option)}")
    return f"{shlex.quote(option.vm.name)})\n    # {option.path}\n    {command} > {target}\n    ;;\n"


def _netperf(option: Option) -> str:
    vm = option.vm
    burst = f" -b {vm.in_flight - 1}" if vm.in_flight > 1 else ""
    size = int(vm.size)
    return (
        'netperf -H "$PEER" -l "$SECONDS_PER_RUN" -t TCP_RR -j -- '
        f"-r {size},{size}{burst} -k THROUGHPUT,THROUGHPUT_UNITS,REQUEST_SIZE,RESPONSE_SIZE,BURST_SIZE,"
        "MEAN_LATENCY,P50_LATENCY,P90_LATENCY,P99_LATENCY,STDDEV_LATENCY,PROTOCOL,DIRECTION"
    )


def _iperf3(option: Option) -> str:
    """At full speed: the plan needs a part of it, the prediction is of all of it."""
    reverse = " -R" if option.vm.direction == "to-vm" else ""
    return f'iperf3 -c "$PEER" -J -t "$SECONDS_PER_RUN" -l {int(option.vm.size)}{reverse}'


def _sockperf(option: Option) -> str:
    kind, value = option.vm.rate
    rate = value / (option.vm.size * BITS_PER_BYTE) if kind == "throughput_bps" else value
    return (
        f'sockperf under-load -i "$PEER" -t "$SECONDS_PER_RUN" -m {max(14, int(option.vm.size))} '
        f"--mps {max(1, round(rate))} --reply-every 50"
    )
