"""The explicit table of stages, with their formulas. Needs sympy; what a prediction needs stands in library.tables."""

from collections.abc import Mapping

from vmodel.core.stage import Stage
from vmodel.library import device, guest, host, transport, vsock

ROOMS: Mapping[str, tuple[Stage, ...]] = {
    "guest": guest.STAGES,
    "transport": transport.STAGES,
    "vsock": vsock.STAGES,
    "host": host.STAGES,
    "device": device.STAGES,
}
STAGES: Mapping[str, Stage] = {s.name: s for stages in ROOMS.values() for s in stages}
