"""Who is busy, and what polling costs: shares of time per resource, processors of host and guest."""

from collections.abc import Mapping
from typing import Any

from vmodel.solve.dual import larger, plain

GUEST_CPU = "guest vCPU"
HOST_KINDS = ("host CPU", "vhost worker", "QEMU I/O thread", "poll-mode core", "host softirq CPU")
WORKERS = ("vhost worker", "QEMU I/O thread")
ENDS = ("guest vCPU", "host CPU")


def use(demands_s: Mapping[str, Any], rate: Any, polls: Mapping[str, Any], spinning: set[str]) -> dict[str, Any]:
    """Share of time each resource is busy: rate times demand, and its idle time as far as it polls.

    U = rho + q (1 - rho), q the share of idle gaps that polling covers, one where a resource spins.

    demands_s: D_r by resource [s].  rate: messages [1/s].  polls: shares of gaps by poll word [-].
    """
    out = {}
    for key, demand in demands_s.items():
        busy = plain(demand) * rate
        word = "busy_poll" if key.startswith(ENDS) else "worker_poll" if key.startswith(WORKERS) else None
        covered = 1.0 if key in spinning else polls.get(word, 0.0) if word else 0.0
        out[key] = busy + covered * larger(0.0 * busy, 1 - busy)
    return out


def processors(shares: Mapping[str, Any], polls: Mapping[str, Any]) -> tuple[Any, Any]:
    """Processors of host and guest that are busy [cores]; halt polling is the host's work while a vCPU idles."""
    host: Any = 0.0
    guest: Any = 0.0
    halted: Any = 0.0
    for key, share in shares.items():
        if key.startswith(HOST_KINDS):
            host = host + share
        elif key.startswith(GUEST_CPU):
            guest = guest + share
            halted = halted + larger(0.0 * share, 1 - share)
    return host + polls.get("halt_poll", 0.0) * halted, guest
