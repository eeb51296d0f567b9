"""Rules about the way of a packet: offloads, MTU, NUMA, IOMMU, copies, polling, and settings that do nothing."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from vmodel.core.records import Load, Scenario
from vmodel.library import tables
from vmodel.lint.sheet import (
    INFO,
    WARNING,
    Fact,
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
from vmodel.solve.explain import idle_settings
from vmodel.units import US_PER_S, format_bitrate, format_rate, format_seconds, format_share

OFFLOADS = ("tso", "gro")
SMALL_BYTES = 256.0  # zero-copy transmit is not tried for messages below (VHOST_GOODCOPY_LEN)
ON_WIRE = ("cross-host-vm", "cross-vm-vm")
# what describes the question, and what other rules look at
QUESTION = ("size", "vcpus", "link_gbps", "in_flight", "arrival_scv", "burst", "queues", "flows", "ring_size")
LONG_POLL_US = 200.0  # the kernel's own limit for growing halt_poll_ns
SAME = 1.001


def offloads_off(sheet: Sheet) -> Iterator[Finding]:
    """Without segmentation offload every frame pays what a segment of 64 KiB would pay."""
    s = sheet.scenario
    off = {name: _off(sheet, name) for name in OFFLOADS}
    off = {name: facts for name, facts in off.items() if facts}
    if not off:
        return
    evidence = [fact.told for facts in off.values() for fact in facts]
    every = [fact for facts in off.values() for fact in facts]
    wished = [fact for fact in every if fact.tool.startswith(("ethtool", "ip")) and _tap(fact)]
    why = " (a tap without vnet_hdr cannot pass segments, whatever is requested)" if wished else ""
    named = " and ".join(off)
    if s is None:
        yield finding(
            f"{named} off{why}: packets cost one by one; give --path for the gain", evidence, severity=WARNING
        )
        return
    settings = {name: 1.0 for name in off if name not in tables.endpoint(s.path).fixed}
    now = changed(bulk(s), dict.fromkeys(settings, 0.0))
    then = changed(now, settings)
    found = gain(now, then, "throughput")
    jumbo = predicted(changed(now, {"mtu": 9000.0})).throughput_bps
    yield finding(
        f"{named} off{why}: packets cost one by one, {format_bitrate(found.now)} at MTU"
        f" {now.knobs['mtu']:g}; MTU 9000 alone"
        f" would give {format_bitrate(jumbo)}",
        evidence,
        gain=found,
        mend=mending(sheet, then, tuple(settings)),
    )


def _off(sheet: Sheet, name: str) -> list[Fact]:
    """Where an offload is off on a device that is on the way."""
    told = [f for f in sheet.all(name) if f.value is False and (f.facts.get("ifname") or "") != "lo"]
    if name == "tso":
        told += [f for f in sheet.all("vnet_hdr") if f.value is False and f.facts.get("kind") == "tap"]
    s = sheet.scenario
    if not told and s is not None and name in sheet.given and s.knobs[name] == 0:
        place = sheet.places.get(name, name)
        told = [Fact(key=name, value=False, file=place, tool="", facts={})]
    return told


def _tap(fact: Fact) -> bool:
    return str(fact.facts.get("ifname") or "").startswith(("tap", "vnet", "macvtap"))


def datagrams(sheet: Sheet) -> Iterator[Finding]:
    """Datagrams are not segmented by the device: figures of TCP say nothing about UDP."""
    s = sheet.scenario
    facts = [f for f in sheet.all("tx_udp_segmentation") if f.value is False and not _tap(f)]
    if s is None or not (facts or s.workload == "packets"):
        return
    if s.path not in ("virtio-qemu", "virtio-vhost", "macvtap-vhost", "vhost-user"):
        return
    frames = changed(replace(s, workload="packets", load=Load()), {"size": s.knobs["mtu"]})
    rate = predicted(frames)
    offloaded = {name: 1.0 for name in OFFLOADS if name not in tables.endpoint(s.path).fixed}
    bytes_rate = predicted(changed(bulk(s), offloaded)).throughput_bps
    yield finding(
        f"UDP, and a guest with XDP, send frame by frame: {format_rate(rate.rate_pps)} or"
        f" {format_bitrate(rate.throughput_bps)}"
        f" here, while TCP with offloads reaches {format_bitrate(bytes_rate)}: figures of one must not be"
        f" used for the other",
        [f.told for f in facts] or list(sheet.told("path")),
    )


def mtu_mismatch(sheet: Sheet) -> Iterator[Finding]:
    """The smallest MTU on the way holds; a larger one elsewhere does nothing, or loses frames."""
    s = sheet.scenario
    told = [f for f in sheet.all("mtu") if f.facts.get("kind") != "loopback" and f.facts.get("ifname") != "lo"]
    values = {float(f.value) for f in told}
    if len(values) < 2:
        return
    small, large = min(values), max(values)
    evidence = [
        f"{f.file}: {f.facts.get('ifname') or f.facts.get('network') or 'interface'} mtu {f.value}" for f in told
    ]
    better = None
    mend: Sequence[str] = ()
    if s is not None:
        now, then = (changed(bulk(s), {"mtu": value}) for value in (small, large))
        better = gain(now, then, "throughput")
        mend = mending(sheet, then, ("mtu",))
    one = finding(
        f"MTU {small:g} and {large:g} on one way: {large:g} is not in force end to end, and frames above"
        f" {small:g} may be"
        " lost without a word. If a larger MTU changed nothing, this is the first suspect",
        evidence,
        severity=WARNING,
        gain=better,
        mend=mend,
    )
    yield one if one.severity != INFO else replace(one, severity=WARNING)


def wrong_node(sheet: Sheet) -> Iterator[Finding]:
    """Memory, worker and NIC on different NUMA nodes: every byte crosses between them."""
    s = sheet.scenario
    if s is None or s.knobs["numa_local"] or "numa_local" not in sheet.given:
        return
    then = changed(s, {"numa_local": 1.0})
    found = max(
        (gain(bulk(s), bulk(then), "throughput"), gain(pingpong(s), pingpong(then), "mean")), key=lambda g: g.factor
    )
    none = "" if found.factor > SAME else ". The model predicts no gain here"
    measured = "Reported for a polling core: half the rate (openNetVM issue 285); larger rings hide bursts, not cost"
    one = finding(
        f"guest and NIC are on different NUMA nodes{none}. {measured}",
        sheet.told("numa_local"),
        severity=WARNING,
        gain=found if found.factor > SAME else None,
        mend=mending(sheet, then, ("numa_local",)),
    )
    yield one if one.severity != INFO else replace(one, severity=WARNING)


def virtual_iommu(sheet: Sheet) -> Iterator[Finding]:
    """Behind a virtual IOMMU each buffer is mapped before it is used."""
    on = [f for key in ("viommu", "iommu_platform") for f in sheet.all(key) if f.value is True]
    if on:
        yield finding(
            "a virtual IOMMU maps every buffer, or bounces it, before the device may use it; that cost is"
            " not in the model,"
            " so predictions are too good. Needed only for nested assignment, user-space drivers or"
            " isolation in the guest",
            [f.told for f in on],
            severity=WARNING if any(f.key == "iommu_platform" for f in on) else INFO,
            mend=[
                "# libvirt: remove <iommu/> and <driver iommu='on'/>; QEMU: remove -device intel-iommu,"
                " iommu_platform=on"
            ],
        )


def zero_copy_conditions(sheet: Sheet) -> Iterator[Finding]:
    """Zero-copy transmit helps large messages that leave the host, and only the host's processors."""
    s = sheet.scenario
    if s is None or not s.knobs["zero_copy"] or "zero_copy" not in sheet.given:
        return
    missing = []
    if s.topology not in ON_WIRE:
        missing.append(f"traffic must leave the host ({s.topology} copies all the same)")
    if s.knobs["size"] < SMALL_BYTES:
        missing.append(f"messages must be large ({s.knobs['size']:g} B are copied)")
    if not s.knobs["tso"]:
        missing.append("segmentation offload must be on")
    if s.direction == "to-vm" and s.workload != "rr":
        missing.append("it acts on what the guest sends")
    without = changed(s, {"zero_copy": 0.0})
    now, then = predicted(without), predicted(s)
    saved = gain(without, s, "host_cpu")
    what = (
        f"nothing is won: {'; '.join(missing)}"
        if missing
        else f"{format_bitrate(now.throughput_bps)} with copies and {format_bitrate(then.throughput_bps)} without"
    )
    yield finding(
        f"zero-copy transmit saves the copy, not the wake-ups: {what}",
        sheet.told("zero_copy", "topology", "size"),
        severity=WARNING if missing else INFO,
        gain=None if missing else saved,
        mend=mending(sheet, without, ("zero_copy",)) if missing else (),
    )


def long_poll(sheet: Sheet) -> Iterator[Finding]:
    """Polling for longer than the gap between packets keeps a core busy; for less it costs the window each time."""
    s = sheet.scenario
    if s is None or "halt_poll" not in sheet.given or s.knobs["halt_poll"] <= LONG_POLL_US:
        return
    window = s.knobs["halt_poll"]
    then = changed(pingpong(s), {"halt_poll": LONG_POLL_US})
    found = gain(pingpong(s), then, "host_cpu")
    share = min(1.0, LONG_POLL_US / window)
    yield finding(
        f"halt polling of {format_seconds(window / US_PER_S)}: a vCPU woken at gaps just below that polls all the time,"
        f" min(gap, window) / gap of a core; with {LONG_POLL_US:g} us at most {format_share(share, 0.01)} at such gaps",
        sheet.told("halt_poll"),
        gain=found if found.factor > SAME else None,
        severity=WARNING,
        mend=mending(sheet, then, ("halt_poll",)),
    )


def without_effect(sheet: Sheet) -> Iterator[Finding]:
    """A setting that somebody made and that does nothing here."""
    s = sheet.scenario
    if s is None:
        return
    made = [name for name in sheet.given if name in tables.knobs() and name not in QUESTION]
    for name, reason in idle_settings(s, made).items():
        if _in_bulk_too(s, name):
            yield finding(f"{name} changes nothing here: {reason}", sheet.told(name))


def _in_bulk_too(s: Scenario, name: str) -> bool:
    """Whether a setting is idle for round trips and for bulk: on the path, and not just in a question."""
    others = [other for other in (bulk(s), pingpong(s)) if other.workload != s.workload]
    return all(name in idle_settings(other, [name]) for other in others)
