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
