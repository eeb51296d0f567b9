"""The explicit table of stages, with their formulas. Needs sympy; what a prediction needs stands in library.tables."""

from collections.abc import Mapping

from vmodel.core.stage import Stage
from vmodel.library import device, guest, host, transport, vsock

STAGES: Mapping[str, Stage] = {
    s.name: s for s in (*guest.STAGES, *transport.STAGES, *vsock.STAGES, *host.STAGES, *device.STAGES)
}
