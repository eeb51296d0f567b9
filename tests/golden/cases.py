"""The questions whose answers are frozen, and the answers as the model gives them now."""

from vmodel.library import tables
from vmodel.library.profile import shipped
from vmodel.solve.ask import predict

DIGITS = 7  # significant digits that are kept


def questions():
    """Each path in each topology and workload on the machine it is best known on, and its usual case on every other."""
    for path in tables.path_names():
        end = tables.endpoint(path)
        for topology in end.topologies:
            for workload in tables.WORKLOADS:
                yield {"path": path, "topology": topology, "workload": workload, "profile": end.best}
        for profile in shipped():
            if profile != end.best:
                yield {"path": path, "topology": end.topology, "workload": end.workload, "profile": profile}


def name(question):
    return " ".join(question.values())


def answer(question):
    """The numbers of one prediction that a change of the model would move."""
    found = predict(**question)
    kept = {
        "latency_s": found.latency_s,
        "p99_s": found.percentiles_s[0.99],
        "rate_pps": found.rate_pps,
        "throughput_bps": found.throughput_bps,
        "interrupts_per_s": found.interrupts_per_s,
        "cpu_host": found.cpu_host,
        "cpu_guest": found.cpu_guest,
        "log_sd": found.log_sd,
    }
    return {key: float(f"{value:.{DIGITS}g}") for key, value in kept.items()} | {
        "bottleneck": found.bottleneck,
        "standing": found.standing,
    }


def answers():
    """All answers by the name of their question."""
    return {name(question): answer(question) for question in questions()}
