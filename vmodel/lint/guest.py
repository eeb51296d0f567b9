"""Rules about how the guest is attached: its device, back end, queues, and where its traffic turns round."""

from collections.abc import Iterator

from vmodel.core.records import Scenario
from vmodel.errors import VmodelError
from vmodel.library import commands, tables
from vmodel.lint.sheet import (
    ERROR,
    INFO,
    WARNING,
    Finding,
    Sheet,
    bulk,
    changed,
    finding,
    gain,
    mending,
    pingpong,
    predicted,
)

BEST_KERNEL_PATH = "virtio-vhost"
VECTORS_PER_PAIR, VECTORS_BESIDE = 2, 2  # one for each queue of a pair; configuration and control
MOST_QUEUES = 256
SAME = 1.001  # factors below are no gain
USER_NETWORKS = ("user", "passt", "slirp")


def emulated_nic(sheet: Sheet) -> Iterator[Finding]:
    """An emulated NIC leaves the guest for every register."""
    s = sheet.scenario
    if s is None or not s.path.startswith("emulated"):
        return
    then = _on(s, BEST_KERNEL_PATH)
    if then is None:
        return
    model = sheet.first("model_is_default")
    why = "no model is named, and the hypervisor's default is an emulated NIC" if model else f"{s.path} is emulated"
    yield finding(
        f"{why}: every register access leaves the guest; use virtio. What is far below the prediction is a"
        f" fault on top",
        sheet.told("path"),
        gain=gain(bulk(s), bulk(then), "throughput"),
        mend=mending(sheet, then, (), attach=True),
    )


def vhost_off(sheet: Sheet) -> Iterator[Finding]:
    """virtio-net without vhost: each packet passes the user-space device model."""
    s = sheet.scenario
    if s is None or s.path != "virtio-qemu":
        return
    then = _on(s, BEST_KERNEL_PATH)
    if then is not None:
        yield finding(
            "vhost is off: packets pass the user-space device model, one read or write of the tap each",
            sheet.told("path"),
            gain=gain(bulk(s), bulk(then), "throughput"),
            mend=mending(sheet, then, (), attach=True),
        )


def user_network(sheet: Sheet) -> Iterator[Finding]:
    """A user-mode network is TCP in a process: no tap, no offloads, no queues."""
    for fact in sheet.all("backend"):
        if fact.value in USER_NETWORKS:
            queues = sheet.first("queues")
            beside = "; its queues have no effect" if queues is not None and queues.value > 1 else ""
            found = commands.hands({}, commands.Target(path=BEST_KERNEL_PATH, names=sheet.names), attach=True)
            yield finding(
                f"a user-mode network is none of the model's paths: TCP in user space without offloads{beside}."
                " Reported: 1.6 Gbit/s, a tap with vhost 14.4 on the same host (asterinas pull request 1612)",
                [fact.told],
                severity=ERROR,
                mend=commands.lines(found),
            )


def queues_below_vcpus(sheet: Sheet) -> Iterator[Finding]:
    """One queue is served by one worker and one vCPU, however many there are."""
    s, fact = sheet.scenario, sheet.first("queues")
    if s is None or s.path not in commands.group("virtio") or s.knobs["vcpus"] <= s.knobs["queues"]:
        return
    queues, vcpus = s.knobs["queues"], min(s.knobs["vcpus"], MOST_QUEUES)
    flows = s.knobs["flows"] if "flows" in sheet.given else vcpus
    many = changed(bulk(s), {"flows": max(flows, 1.0)})
    then = changed(many, {"queues": vcpus})
    assumed = "" if "flows" in sheet.given else f", with {vcpus:g} flows (one flow gains nothing)"
    evidence = [fact.told] if fact is not None else list(sheet.told("queues"))
    found = gain(many, then, "throughput")
    nothing = "" if found.factor > SAME else f". Predicted to gain nothing here: {predicted(then).bottleneck} limits"
    yield finding(
        f"{queues:g} queue pair{'s' if queues > 1 else ''} for {s.knobs['vcpus']:g} vCPUs: one worker and one vCPU"
        f" serve each queue{assumed}. A guest that forwards pays reception and transmission on it{nothing}",
        [*evidence, *sheet.told("vcpus")],
        gain=None if nothing else found,
        mend=mending(sheet, then, ("queues",)),
    )


def one_flow(sheet: Sheet) -> Iterator[Finding]:
    """A flow is hashed to one queue, so one flow uses one queue."""
    s, fact = sheet.scenario, sheet.first("queues")
    if s is None or s.knobs["queues"] <= 1 or s.knobs["flows"] >= s.knobs["queues"]:
        return
    one = bulk(s)
    rate = gain(one, changed(one, {"queues": 1.0}), "throughput")
    known = "flows" in sheet.given
    number = f"{s.knobs['flows']:g} flow{'s' if s.knobs['flows'] > 1 else ''}"
    text = (
        f"{number} on {s.knobs['queues']:g} queues: a flow stays on its queue"
        if known
        else (
            f"{s.knobs['queues']:g} queues, and nothing says how many flows there are: ask that first"
            f" (--flows). One flow"
            f" uses one queue and ends at {rate.quantity.write(rate.now)}"
        )
    )
    evidence = [fact.told] if fact is not None else list(sheet.told("queues"))
    yield finding(text, [*evidence, *sheet.told("flows")], severity=WARNING if known else INFO)


def too_few_vectors(sheet: Sheet) -> Iterator[Finding]:
    """N queue pairs need 2 N + 2 interrupt vectors."""
    for fact in sheet.all("vectors"):
        queues = fact.facts.get("queues") or 1
        vcpus = fact.facts.get("vcpus") or queues
        wanted = VECTORS_PER_PAIR * max(queues, min(vcpus, MOST_QUEUES)) + VECTORS_BESIDE
        needed = VECTORS_PER_PAIR * queues + VECTORS_BESIDE
        if fact.value < needed or (fact.value < wanted and queues < vcpus):
            short = fact.value < needed
            yield finding(
                f"{fact.value} vectors, {queues} queue pair{'s' if queues > 1 else ''} need {needed}"
                + ("" if short else f"; with a queue pair for each of {vcpus} vCPUs it is {wanted}")
                + ": queues without a vector of their own share interrupts (not modelled)",
                [fact.told, f"{fact.file}: queues {queues}"],
                severity=WARNING if short else INFO,
                mend=[f"-device virtio-net-pci,mq=on,vectors={wanted}"],
            )


def vf_between_guests(sheet: Sheet) -> Iterator[Finding]:
    """Between two guests of one host a VF goes down to the adapter and back."""
    s = sheet.scenario
    if s is None or s.topology not in ("vm-vm", "host-vm") or tables.endpoint(s.path).attach != "nic":
        return
    then = _on(s, BEST_KERNEL_PATH)
    if then is None:
        return
    rates, times = gain(bulk(s), bulk(then), "throughput"), gain(pingpong(s), pingpong(then), "mean")
    better = max((rates, times), key=lambda g: g.factor)
    worse = better.factor <= 1
    yield finding(
        "both ends are on one host, but a function of the NIC goes down to the adapter and back: its embedded switch, "
        "PCIe and interrupt moderation are on the way"
        + (". virtio is predicted not to be better here" if worse else ""),
        sheet.told("path", "topology"),
        gain=better,
        mend=() if worse else mending(sheet, then, (), attach=True),
    )


def _on(s: Scenario, path: str) -> Scenario | None:
    """The same question on another path, if that path can have it."""
    try:
        return changed(s, {}, path)
    except VmodelError:
        return None
