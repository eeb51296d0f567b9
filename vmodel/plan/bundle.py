"""Output for hands: how each class is set up, and a script that measures whether it does what was predicted."""

import shlex
from collections.abc import Sequence
from dataclasses import replace
from xml.etree import ElementTree as Xml

from vmodel.library import commands, tables
from vmodel.plan.plan import Plan
from vmodel.plan.records import Option
from vmodel.solve.apply import apply_settings
from vmodel.units import BITS_PER_BYTE, BYTES_PER_KIB, BYTES_PER_MIB

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
        found[option.vm.name] = commands.lines(_as_guest(option, hands, _most_on_a_host(p, index)))
    return found


def _most_on_a_host(p: Plan, index: int) -> int:
    return max((int(g.counts[index]) for g in p.groups), default=0)


def _as_guest(option: Option, hands: commands.Hands, most: int) -> commands.Hands:
    """The same with a whole guest: one domain in the place of its pieces, memory and vCPUs for QEMU, functions made."""
    steps = []
    for step in hands.steps:
        if step.place == commands.QEMU:
            steps.append(replace(step, text=f"{_qemu_size(option)} {step.text}"))
        elif step.place != commands.DOMAIN:
            steps.append(step)
    parts = hands.at(commands.DOMAIN)
    notes = tuple(dict.fromkeys(note for step in parts for note in step.notes))
    if tables.endpoint(option.path).attach == "nic":
        notes = (*notes, "the address is that of a free function, another one for each VM")
    if _function(option) and most:
        text = f"echo {most} > /sys/class/net/eth0/device/sriov_numvfs"
        note = (
            f"so many guests of this class stand on a host at most: {most} functions for them, on its adapters in all"
        )
        steps.append(commands.Step(place=commands.HOST, text=text, knobs=(), notes=(note,)))
    knobs = tuple(dict.fromkeys(knob for step in parts for knob in step.knobs))
    text = domain_xml(option, [step.text for step in parts])
    steps.append(commands.Step(place=commands.DOMAIN, text=text, knobs=knobs, notes=notes))
    return replace(hands, steps=tuple(steps))


def _function(option: Option) -> bool:
    return tables.endpoint(option.path).device == "vf"


def _shares_memory(option: Option) -> bool:
    """Whether another process must see the guest's memory: a switch over vhost-user."""
    return tables.endpoint(option.path).attach == "switch"


def _qemu_size(option: Option) -> str:
    vm, size = option.vm, f"{int(option.vm.memory / BYTES_PER_MIB)}M"
    shared = f" -object memory-backend-memfd,id=mem0,size={size},share=on -machine memory-backend=mem0"
    return f"-m {size} -smp {vm.vcpus}{shared if _shares_memory(option) else ''}"


def domain_xml(option: Option, parts: Sequence[str]) -> str:
    """A libvirt domain of a class: its size, what its path needs, its interface; disks are the reader's affair."""
    root = Xml.Element("domain", {"type": "kvm"})
    Xml.SubElement(root, "name").text = option.vm.name
    Xml.SubElement(root, "memory", {"unit": "KiB"}).text = str(int(option.vm.memory / BYTES_PER_KIB))
    Xml.SubElement(root, "vcpu").text = str(option.vm.vcpus)
    if _shares_memory(option):
        backing = Xml.SubElement(root, "memoryBacking")
        Xml.SubElement(backing, "source", {"type": "memfd"})
        Xml.SubElement(backing, "access", {"mode": "shared"})
    devices = Xml.Element("devices")
    for text in parts:
        element = Xml.fromstring(text)  # text of our own
        there = root.find(element.tag)
        if element.tag == "interface":
            devices.append(element)
        elif there is not None:
            there.extend(list(element))
        else:
            root.append(element)
    root.append(devices)
    Xml.indent(root)
    return Xml.tostring(root, encoding="unicode").replace(" />", "/>")


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
