"""Rules about a NIC: interrupt moderation, ring, PCIe slot, the speed it claims, the rate it is allowed."""

import math
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace

from vmodel.core.path import Chain
from vmodel.core.records import Load, Scenario
from vmodel.library.moderation import Device, Moderation, devices, moderate
from vmodel.lint.sheet import (
    ERROR,
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
from vmodel.solve import compose
from vmodel.solve.goal import Constraint
from vmodel.units import (
    BITS_PER_BYTE,
    BPS_PER_GBPS,
    US_PER_S,
    format_bitrate,
    format_rate,
    format_seconds,
    format_share,
)

LATENCY = ("mean", "p50", "p90", "p99", "p999", "p9999")
UNUSUAL_S = 1e-4  # a timer longer than that is far above what drivers start with for low latency
MANY_INTERRUPTS = 20_000.0  # a second on one CPU: the bulk tiers of ITR drivers begin below it
CALM_US = 50.0  # what i40e, iavf and ice start with
SMALLEST_PAYLOAD_BYTES = 128.0  # every PCIe device can do it
TLP_OVERHEAD_BYTES = 24.0  # header, sequence number, check sum and framing of a PCIe packet (neugebauer2018)
RX_TIMES = ("rx_usecs", "pf_rx_usecs", "adaptive_rx")
NEGLIGIBLE_LOSS = 1e-9
LARGEST_RING = 2**10  # of virtio, where no tool tells the largest
HALF = 0.5


def _timers(s: Scenario) -> list[tuple[Chain, Moderation]]:
    ways = compose.scenario_ways(s)
    chains = (ways.forward, ways.reverse)
    return [(chain, found) for chain in chains if (found := compose.timer(s, chain)) is not None]


def moderation_too_high(sheet: Sheet) -> Iterator[Finding]:
    """A lone packet waits for the timer: longer than the objective, or than anyone needs."""
    s = sheet.scenario
    if s is None:
        return
    asked = pingpong(s)
    waits = [(t.interval_s or 0.0, t) for _, t in _timers(asked) if t.kind != "none" and t.honoured]
    if not waits:
        return
    longest, timer = max(waits, key=lambda pair: pair[0])
    answer = predicted(asked)
    missed = [c for c in sheet.objective if c.quantity.name in LATENCY and not c.met(c.quantity.of(answer))]
    locked = any(row.stage == "moderation_wait" and row.seconds > 0 for row in answer.shares)
    if not locked or not (missed or longest >= UNUSUAL_S or timer.adaptive):
        return
    usecs = _lower(devices()[timer.device], missed)
    then = changed(asked, _timed(devices()[timer.device], usecs))
    name = missed[0].quantity.name if missed else "mean"
    found = gain(asked, then, name)
    if found.factor <= 1:
        return
    length = f"{format_seconds(longest)} of {timer.device}" if longest else f"the adaptive mode of {timer.device}"
    objective = f", and misses {missed[0].text}" if missed else ""
    reached = "" if not missed or missed[0].met(found.then) else "; shorter timers alone do not reach the objective"
    left = max((t.interval_s or 0.0 for _, t in _timers(then)), default=0.0)
    law = (
        f"each receiving end that is changed gains {format_seconds(longest - left)}"
        if timer.kind == "holdoff"
        else "the longest timer of the receivers decides, so change all"
    )
    one = finding(
        f"a lone packet waits for interrupt moderation ({length}){objective}{reached}; {law}",
        sheet.told("rx_usecs", "adaptive_rx"),
        gain=found,
        mend=mending(sheet, then, [n for n in RX_TIMES if then.knobs[n] != s.knobs[n]]),
    )
    yield replace(one, severity=ERROR) if missed else one


def _lower(device: Device, missed: Sequence[Constraint]) -> float:
    """The shortest time that a device takes and that is a time, not a mode; off where an objective is missed."""
    if missed and any(m.mode == "off" for m in device.special):
        return 0.0
    return _shortest(device)


def _shortest(device: Device) -> float:
    """The smallest number that a device takes as a time."""
    whole = range(math.ceil(max(device.min_rx_usecs, device.step_us)), int(device.max_rx_usecs) + 1)
    return float(next(usecs for usecs in whole if device.mode(usecs) is None))


def _timed(device: Device, usecs: float) -> dict[str, float]:
    """The settings that make a device keep a time."""
    return {"rx_usecs": usecs, **({"adaptive_rx": 0.0} if device.adaptive_switch else {})}


def moderation_too_low(sheet: Sheet) -> Iterator[Finding]:
    """An interrupt for nearly every packet costs processor time that a longer timer saves."""
    s = sheet.scenario
    if s is None or s.load.kind == "max" or s.workload != "packets":
        return
    found = [t for chain, t in _timers(s)[:1] if t.kind != "none"]
    now = predicted(s)
    if not found or found[0].adaptive or now.interrupts_per_s < MANY_INTERRUPTS:
        return
    device = devices()[found[0].device]
    if (found[0].interval_s or 0.0) >= CALM_US / US_PER_S or not device.honoured:
        return
    then = changed(s, _timed(device, CALM_US))
    after = predicted(then)
    broken = [c.text for c in sheet.objective if c.met(c.quantity.of(now)) and not c.met(c.quantity.of(after))]
    saved = gain(s, then, "cpu")
    cost = "" if not broken else f"; it would break {', '.join(broken)}"
    yield finding(
        f"{format_rate(now.interrupts_per_s, unit='/s')} interrupts at this load; {CALM_US:g} us of moderation leave "
        f"{format_rate(after.interrupts_per_s, unit='/s')}. What is carried stays the same{cost}",
        sheet.told("rx_usecs", "load"),
        gain=saved,
        mend=() if broken else mending(sheet, then, ("rx_usecs",)),
    )


def special_value(sheet: Sheet) -> Iterator[Finding]:
    """On some drivers small numbers are modes, not microseconds."""
    s = sheet.scenario
    for fact in sheet.all("rx_usecs"):
        for device in _drivers(sheet, fact):
            mode = device.mode(fact.value)
            if mode is None or mode.mode == "off":
                continue
            what = f"the adaptive mode ({mode.tier})" if mode.mode == "adaptive" else "ignored"
            least = _shortest(device)
            better = None
            mend: tuple[str, ...] = (
                f"ethtool -C {shlex.quote(str(fact.facts.get('ifname') or 'DEV'))} rx-usecs {least:g}",
            )
            if s is not None and any(t.device == device.name for _, t in _timers(pingpong(s))):
                then = changed(pingpong(s), {"rx_usecs": least})
                better = gain(changed(pingpong(s), {"rx_usecs": float(fact.value)}), then, "mean")
                mend = mending(sheet, then, ("rx_usecs",))
            yield finding(
                f"rx-usecs {fact.value:g} on {device.name} means {what}, not {fact.value:g} us",
                [fact.told],
                severity=WARNING,
                gain=better,
                mend=mend,
            )


def _drivers(sheet: Sheet, fact: Fact) -> list[Device]:
    """The driver of the interface that a coalescing output is about: by name, by the scenario, else nobody."""
    interface = fact.facts.get("ifname")
    named = [f for f in sheet.all("device") if f.facts.get("ifname") in (None, interface)]
    names = [f.value for f in named if f.value in devices()]
    s = sheet.scenario
    if not names and s is not None:
        names = [t.device for _, t in _timers(pingpong(s))]
    return [devices()[name] for name in dict.fromkeys(names)]


def not_honoured(sheet: Sheet) -> Iterator[Finding]:
    """Some devices accept or refuse a moderation setting and change nothing."""
    s = sheet.scenario
    names = {s.device} if s is not None and s.device else set()
    names |= {f.value for f in sheet.all("device") if f.value in devices()}
    for name in sorted(names):
        device = devices()[name]
        for fact in sheet.all("rx_usecs"):
            on = fact.value > 0 and fact.value != device.default_rx_usecs
            interface = {f.facts.get("ifname") for f in sheet.all("device") if f.value == name} - {None}
            if not device.honoured and on and (not interface or fact.facts.get("ifname") in interface):
                found = moderate(name, fact.value)
                yield finding(
                    f"rx-usecs {fact.value:g} is not supported by {name}: {found.warnings[0]}. {device.note}",
                    [fact.told, *(f.told for f in sheet.all("device") if f.value == name)],
                    severity=INFO,
                )


def small_ring(sheet: Sheet) -> Iterator[Finding]:
    """A burst longer than the ring is lost while the receiver is late; the rate does not change."""
    s = sheet.scenario
    rings = sheet.all("rx_ring")
    if s is None or not rings:
        return
    fact = min(rings, key=lambda f: f.value)
    largest = float(fact.facts.get("rx_ring_max") or LARGEST_RING)
    if fact.value >= largest:
        return
    frames = changed(s, {"ring_size": float(fact.value), "size": s.knobs["mtu"]})
    frames = replace(frames, workload="packets", load=Load())
    capacity = predicted(frames).rate_pps
    load = s.load if s.load.kind != "max" else Load(kind="rate_pps", value=HALF * capacity)
    burst = s.knobs["burst"] if "burst" in sheet.given else float(fact.value) / 4
    now = changed(replace(frames, load=load), {"burst": burst})
    then = changed(now, {"ring_size": largest})
    lost, kept = predicted(now).loss, predicted(then).loss
    if lost <= NEGLIGIBLE_LOSS:
        return
    full = fact.value / capacity
    yield finding(
        f"a ring of {fact.value:g} entries holds {format_seconds(full)} of frames; bursts of {burst:g} lose"
        f" {format_share(lost, lost / 10)} at this load, with {largest:g} entries"
        f" {format_share(kept, max(kept, lost) / 10)}."
        " Throughput stays the same",
        [fact.told, *sheet.told("burst", "load")],
        severity=WARNING if "burst" in sheet.given or "load" in sheet.given else INFO,
        mend=mending(sheet, then, ("ring_size",)),
    )


def pretended_speed(sheet: Sheet) -> Iterator[Finding]:
    """tap, veth and virtio print a speed that nothing keeps to."""
    for fact in sheet.all("speed_is_real"):
        speed = fact.facts.get("speed_mbps")
        if fact.value is False and speed:
            yield finding(
                f"{fact.facts.get('ifname') or 'the device'} claims {speed:g} Mbit/s; nothing behind it"
                f" has that speed, "
                "and it limits nothing: not taken as a link rate",
                [f"{fact.file}: Speed {speed:g} Mbit/s"],
            )


def narrow_slot(sheet: Sheet) -> Iterator[Finding]:
    """The lanes of the slot carry less than the ports of the NIC, or the NIC has more lanes than the slot gives."""
    s = sheet.scenario
    for fact in sheet.all("pcie_bps"):
        payload = float(fact.facts.get("pcie_payload_bytes") or SMALLEST_PAYLOAD_BYTES)
        usable = fact.value * payload / (payload + TLP_OVERHEAD_BYTES)
        width, most = fact.facts.get("pcie_width"), fact.facts.get("pcie_width_max")
        links = [f.value for f in sheet.all("link_bps")]
        link = (
            s.knobs["link_gbps"] * BPS_PER_GBPS
            if s is not None and "link_gbps" in sheet.given
            else max(links, default=0)
        )
        if not (link > usable or (width and most and width < most)):
            continue
        better = None
        if s is not None and link > usable:
            slow = replace(bulk(s), parameters={**s.parameters, "pcie_bytes_s": usable / BITS_PER_BYTE})
            slow = changed(slow, {"link_gbps": link / BPS_PER_GBPS})
            wide = replace(slow, parameters={**slow.parameters, "pcie_bytes_s": 2 * link / BITS_PER_BYTE})
            better = gain(slow, wide, "throughput")
        lanes = f"x{width:g} of x{most:g}" if width and most else "the slot"
        against = f"; the ports are {format_bitrate(link)}" if link else ""
        yield finding(
            f"PCIe {lanes} carries {format_bitrate(usable)} of frames one way after packet headers"
            f" ({payload:g} B of payload in each){against}",
            [f"{fact.file}: {fact.facts.get('bus_info') or 'device'} pcie_bps {fact.value:g}, width {width}"],
            severity=WARNING if link > usable else INFO,
            gain=better,
            mend=["# move the card to a slot with more lanes, or of a newer generation"],
        )


def rate_limit(sheet: Sheet) -> Iterator[Finding]:
    """A configured limit below what the path carries decides, whatever else is tuned."""
    limits = [f for key in ("rate_limit_in_bps", "rate_limit_out_bps") for f in sheet.all(key)]
    for fact in limits:
        yield _limited(sheet, fact.told, float(fact.value))
    for fact in sheet.all("vfs"):
        for vf in fact.value:
            if vf.get("max_tx_bps"):
                yield _limited(sheet, f"{fact.file}: VF {vf.get('vf')} max_tx_rate", float(vf["max_tx_bps"]))


def _limited(sheet: Sheet, told: str, bps: float) -> Finding:
    s = sheet.scenario
    free = None if s is None else predicted(bulk(s)).throughput_bps
    binds = free is not None and bps < free
    beside = "" if free is None else f"; without it the path carries {format_bitrate(free)}"
    return finding(f"traffic is limited to {format_bitrate(bps)}{beside}", [told], severity=WARNING if binds else INFO)
