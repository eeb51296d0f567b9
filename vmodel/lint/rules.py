"""The rules of `vmodel lint`, in the order of what to mend first, each with its explanation and its source."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from vmodel.lint import guest, nic, way
from vmodel.lint.sheet import SEVERITIES, Finding, Sheet


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule: what it looks for, why that matters, and who says so."""

    name: str
    look: Callable[[Sheet], Iterator[Finding]]
    why: str
    source: str


def _rule(name: str, look: Callable[[Sheet], Iterator[Finding]], why: str, source: str) -> Rule:
    return Rule(name=name, look=look, why=why, source=source)


RULES: tuple[Rule, ...] = (
    _rule("emulated-nic", guest.emulated_nic,
          "each register access of an emulated NIC is an exit; virtio needs one for many packets",
          "dykman2007; anserinae.net, terrible libvirt network performance"),
    _rule("user-network", guest.user_network,
          "a user-mode network runs TCP in a process and knows no offload", "asterinas pull request 1612"),
    _rule("vhost-off", guest.vhost_off,
          "without vhost each packet passes the user-space device model", "ahern2011"),
    _rule("offloads-off", way.offloads_off,
          "without TSO and GRO each frame of 1500 bytes pays what 64 KiB would pay",
          "Mirantis virtlet issue 882; opnsense src issues 163 and 259"),
    _rule("queues-below-vcpus", guest.queues_below_vcpus,
          "one worker and one vCPU serve one queue", "cozystack issue 2801; cloudblog.switch.ch 2016-09"),
    _rule("one-flow", guest.one_flow,
          "a hash keeps a flow on one queue", "tymonx virtio issue 1; cloud-hypervisor pull request 5059"),
    _rule("too-few-vectors", guest.too_few_vectors,
          "N queue pairs need 2 N + 2 vectors, or they share interrupts", "kata-containers issue 10834"),
    _rule("vf-between-guests", guest.vf_between_guests,
          "a VF goes down to the adapter and back even inside one host", "ahern2011"),
    _rule("wrong-numa-node", way.wrong_node,
          "every byte crosses between the nodes", "openNetVM issue 285"),
    _rule("moderation-too-high", nic.moderation_too_high,
          "a lone packet waits for the whole timer; a throttle locks a ping-pong to it",
          "ahern2011; blog.dan.drown.org, NIC interrupt coalesce impact on NTP"),
    _rule("moderation-too-low", nic.moderation_too_low,
          "an interrupt for each packet costs processor time and carries nothing more", "amzn-drivers issue 272"),
    _rule("special-value", nic.special_value,
          "1 and 3 are modes on drivers of the igb and ixgbe families", "linux-igb, linux-igbvf, linux-ixgbevf"),
    _rule("moderation-not-honoured", nic.not_honoured,
          "some devices accept the number and ignore it", "amzn-drivers issue 159"),
    _rule("small-ring", nic.small_ring,
          "a burst longer than the ring is lost while the receiver is late",
          "virtio-win kvm-guest-drivers-windows issue 1012"),
    _rule("mtu-mismatch", way.mtu_mismatch,
          "the smallest MTU on the way holds", "churchers vm-bhyve issue 265"),
    _rule("narrow-slot", nic.narrow_slot,
          "PCIe lanes carry less than their rate after packet headers, and must carry all ports",
          "neugebauer2018; raspberry-pi-pcie-devices issue 3"),
    _rule("rate-limit", nic.rate_limit,
          "a configured limit decides, whatever else is tuned", "amzn-drivers issue 68"),
    _rule("pretended-speed", nic.pretended_speed,
          "the speed of tap, veth and virtio is a constant of the driver", "linux tun, veth and virtio_net drivers"),
    _rule("virtual-iommu", way.virtual_iommu,
          "each buffer is mapped before the device may use it", "virtio-spec, VIRTIO_F_ACCESS_PLATFORM"),
    _rule("zero-copy-conditions", way.zero_copy_conditions,
          "zero-copy transmit needs large messages that leave the host",
          "Red Hat Enterprise Linux 7 virtualization tuning guide, networking techniques"),
    _rule("long-poll", way.long_poll,
          "polling costs min(gap, window) / gap of a core", "launchpad bug 1724614"),
    _rule("datagrams", way.datagrams,
          "a device segments TCP, not datagrams", "firecracker issue 3707"),
    _rule("without-effect", way.without_effect,
          "a setting without effect misleads whoever reads it", "the model"),
)  # fmt: skip


def lint(sheet: Sheet) -> tuple[Finding, ...]:
    """All findings, the most severe first, then in the order of the rules."""
    found = [replace(one, rule=rule.name) for rule in RULES for one in rule.look(sheet)]
    return tuple(sorted(found, key=lambda one: SEVERITIES.index(one.severity)))
