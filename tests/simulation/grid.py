"""The cases that model and simulation are compared on: every path under every workload."""

from vmodel.config import scenario
from vmodel.library import tables
from vmodel.simulate.check import check
from vmodel.solve.solver import predict

KINDS = {
    "rr": {"workload": "rr"},
    "rr, 8 in flight": {"workload": "rr", "in_flight": 8},
    "stream": {"workload": "stream"},
    "packets at 0.1": {"workload": "packets", "share": 0.1},
    "packets at 0.5": {"workload": "packets", "share": 0.5},
    "packets at 0.9": {"workload": "packets", "share": 0.9},
    "packets at 1.3": {"workload": "packets", "share": 1.3},
    "packets, max": {"workload": "packets"},
}
# Latencies that are off by more than can be called an approximation, and why; rates and losses hold there too.
BUNCHED = (
    "requests meet a wake-up or a timer together, or find the resource awake; queueing is that of exponential times"
)
GATHERED = "wake-ups and timers gather frames, which then share interrupts and turns more than the model lets them"
SENDER = "no ring fills when the sender is the slowest; the model counts a full one"
RINGS = "more than one ring fills"
FORWARDED = "frames that pass a core twice, and cores that work side by side, are simulated as one pass of one core"
OFF = {(path, "rr, 8 in flight"): BUNCHED for path in tables.path_names()}
OFF |= {
    (path, kind): GATHERED
    for kind, paths in {
        "packets at 0.5": ("vhost-user", "af-xdp", "xdp"),
        "packets at 0.9": ("vhost-user", "vdpa", "af-xdp", "xdp"),
        "packets at 1.3": ("af-xdp", "xdp"),
    }.items()
    for path in paths
}
OFF |= {
    (path, "packets, max"): SENDER
    for path in ("loopback", "virtio-vhost", "xen-pv", "xen-hvm-pv", "vsock", "vsock-virtio-net", "af-packet")
}
OFF |= {
    (path, kind): FORWARDED for path in ("router", "vhost-user-dpdk", "memif", "xdp") for kind in KINDS if "at" in kind
}
OFF |= {("virtio-vhost", "packets at 1.3"): RINGS, ("dpdk", "packets, max"): RINGS}
CASES = [(path, kind) for path in tables.path_names() for kind in KINDS]


def question(path, kind):
    """The scenario of a case; a load is a share of the capacity that the model sees."""
    settings = dict(KINDS[kind])
    share = settings.pop("share", None)
    if share is not None:
        capacity = predict(scenario(path=path, workload="packets")).messages_per_s
        settings["load"] = f"{share * capacity:.6f}pps"
    return scenario(path=path, **settings)


def checked(case, messages=20_000, seed=1):
    """The check of a case."""
    return check(question(*case), messages=messages, seed=seed)
