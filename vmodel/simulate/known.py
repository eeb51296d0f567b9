"""What the model is known to get wrong against simulation, by how much at most, and why.

Stated are the largest errors seen over the grid of `tests/simulation/grid.py` with two seeds, rounded up, be they small
enough to be called an approximation or not; docs/simulation.md shows all of them. Where nothing is said here a mean and
a throughput hold within 2 %, percentiles within 5 %, a loss within 10 %.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from vmodel.core.records import Prediction, Scenario
from vmodel.simulate.network import Network

USUAL: Mapping[str, float] = {"mean": 0.02, "p50": 0.05, "p99": 0.05, "throughput": 0.02, "loss": 0.10}
NEAR = 1.25  # a timer and a round trip meet when neither is this many times the other
BUSY = 0.3  # spare share of the bottleneck from which tandem effects show
HALF = 0.55  # and from which they begin to
EQUAL = 0.95  # two resources of which one needs at least this share of the time of the other are equally slow
SHORT = 0.25  # a ring of which an interval fills this share may overflow in a longer one
WAKE_SHARE = 0.2  # wake-ups that are more than this share of a round trip bend its distribution


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """An approximation: where it is made, what it may cost each figure, and why."""

    name: str
    applies: Callable[[Scenario, Network, Prediction], bool]
    errors: Mapping[str, float]
    reason: str


def _wakes_s(net: Network) -> float:
    return sum(a.part.mean_s for v in net.visits for a in v.alarm)


def _throttles(net: Network) -> list[float]:
    return [v.timer_s for v in net.visits if v.timer is not None and v.timer.kind == "throttle"]


def _alone_with_wakes(s: Scenario, net: Network, p: Prediction) -> bool:
    return s.workload == "rr" and net.in_flight == 1 and _wakes_s(net) > WAKE_SHARE * (p.latency_s or 0.0)


def _trip_s(net: Network) -> float:
    return sum(net.demands().values()) + net.delay_s()


def _locked(s: Scenario, net: Network, p: Prediction) -> bool:
    return s.workload == "rr" and net.in_flight == 1 and any(t > _trip_s(net) / NEAR for t in _throttles(net))


def _timer_meets_trip(s: Scenario, net: Network, p: Prediction) -> bool:
    return _locked(s, net, p) and any(t < _trip_s(net) * NEAR for t in _throttles(net))


def _loaded(s: Scenario, net: Network) -> bool:
    return s.workload == "packets" and net.rate_per_s is not None


def _in_a_row(s: Scenario, net: Network, p: Prediction) -> bool:
    return _loaded(s, net) and not p.saturated and p.slack < BUSY and len(net.demands()) > 1


def _throttled(s: Scenario, net: Network, p: Prediction) -> bool:
    return _loaded(s, net) and not p.saturated and bool(_throttles(net))


def _waking(s: Scenario, net: Network, p: Prediction) -> bool:
    return _loaded(s, net) and not p.saturated and _wakes_s(net) > 0


def _overload(s: Scenario, net: Network, p: Prediction) -> bool:
    return _loaded(s, net) and p.saturated


def _half_loaded(s: Scenario, net: Network, p: Prediction) -> bool:
    return _loaded(s, net) and not p.saturated and p.slack < HALF and len(net.demands()) > 1


def _several(s: Scenario, net: Network, p: Prediction) -> bool:
    return s.workload == "rr" and (net.in_flight or 0) > 1


def _several_wake_one(s: Scenario, net: Network, p: Prediction) -> bool:
    woken = [v.resource for v in net.visits if v.alarm]
    return _several(s, net, p) and len(woken) > len(set(woken))


def _max(s: Scenario, net: Network, p: Prediction) -> bool:
    return s.workload == "packets" and net.rate_per_s is None


def _equally_slow(net: Network) -> bool:
    slowest = sorted(net.demands().values())[-2:]
    return len(slowest) > 1 and slowest[0] >= EQUAL * slowest[1]


def _max_equally_slow(s: Scenario, net: Network, p: Prediction) -> bool:
    return _max(s, net, p) and _equally_slow(net)


def _overload_equally_slow(s: Scenario, net: Network, p: Prediction) -> bool:
    return _overload(s, net, p) and _equally_slow(net)


def _interval_fills_the_ring(s: Scenario, net: Network, p: Prediction) -> bool:
    """Whether so many frames come in an interval, an adaptive one at its longest, that a ring may overflow."""
    intervals = [v.longest_s or v.timer_s for v in net.visits if v.moderated]
    rate = p.messages_per_s or 0.0
    return s.workload == "packets" and any(rate * interval > SHORT * net.places for interval in intervals)


def _again(s: Scenario, net: Network, p: Prediction) -> bool:
    """Whether a frame comes back to a resource that it has left."""
    names = [v.resource for v in net.visits if v.resource is not None]
    runs = [name for before, name in zip([None, *names], names, strict=False) if name != before]
    return _loaded(s, net) and len(runs) > len(set(runs))


def _overload_in_turns(s: Scenario, net: Network, p: Prediction) -> bool:
    return _overload(s, net, p) and any(v.turns for v in net.visits)


KNOWN: tuple[Known, ...] = (
    Known(
        name="rr, wake-ups a large part",
        applies=_alone_with_wakes,
        errors={"p99": 0.08},
        reason="a sum of unequal wake-ups is taken as one gamma law",
    ),
    Known(
        name="rr, locked to a throttle",
        applies=_locked,
        errors={"p99": 0.35},
        reason="the lock holds the mean; a slow wake-up makes one trip longer and the next one shorter",
    ),
    Known(
        name="rr, timer about as long as the trip",
        applies=_timer_meets_trip,
        errors={"mean": 0.12, "p50": 0.10, "throughput": 0.13},
        reason="the larger of two means is taken for the mean of the larger",
    ),
    Known(
        name="packets below capacity, busy stations in a row",
        applies=_in_a_row,
        errors={"mean": 0.12, "p50": 0.12, "p99": 0.26},
        reason="what one station hands to the next is known by two moments only",
    ),
    Known(
        name="packets below capacity, throttle",
        applies=_throttled,
        errors={"mean": 0.20, "p50": 0.20, "p99": 0.30},
        reason="frames that come through with one interrupt queue behind each other",
    ),
    Known(
        name="packets below capacity, wake-ups",
        applies=_waking,
        errors={"mean": 0.20, "p50": 0.20, "p99": 0.20},
        reason="interrupts and turns are shared by chance, wake-ups of one resource are taken apart",
    ),
    Known(
        name="packets above capacity",
        applies=_overload,
        errors={"mean": 0.08, "p50": 0.08, "p99": 0.15},
        reason="the bursts behind a full ring queue again",
    ),
    Known(
        name="packets above capacity, workers that take turns",
        applies=_overload_in_turns,
        errors={"mean": 0.20, "p50": 0.19, "p99": 0.37},
        reason="how full the ring behind a worker is hangs on the batches that it takes",
    ),
    Known(
        name="packets at half the capacity, busy stations in a row",
        applies=_half_loaded,
        errors={"mean": 0.03},
        reason="what one station hands to the next is known by two moments only",
    ),
    Known(
        name="packets that come back to a core",
        applies=_again,
        errors={"mean": 0.25, "p50": 0.27, "p99": 0.25},
        reason="the model lets a frame queue once for a core that it needs twice",
    ),
    Known(
        name="packets, an interval that fills the ring",
        applies=_interval_fills_the_ring,
        errors={"mean": 0.55, "p50": 0.50, "p99": 1.15, "loss": 6.5, "throughput": 0.10},
        reason="how many frames an adaptive interval gathers varies with the rate that the driver has just seen; "
        "the capacity leaves out what the ring loses meanwhile",
    ),
    Known(
        name="packets, max",
        applies=_max,
        errors={"mean": 0.53, "p50": 0.53, "p99": 0.58, "throughput": 0.03},
        reason="only the ring before the slowest resource is taken to be full, and none where that is the sender; the "
        "wait for an interrupt and behind it is left out",
    ),
    Known(
        name="packets, max, two resources equally slow",
        applies=_max_equally_slow,
        errors={"mean": 2.1, "p50": 2.1, "p99": 1.8},
        reason="little decides which ring fills, and it takes long: a longer simulation is closer",
    ),
    Known(
        name="packets above capacity, two resources equally slow",
        applies=_overload_equally_slow,
        errors={"mean": 0.62, "p50": 0.60, "p99": 1.2},
        reason="the second ring fills by what little it is slower; the model takes it as full",
    ),
    Known(
        name="rr, several in flight",
        applies=_several,
        errors={"mean": 0.17, "p50": 0.26, "p99": 0.20, "throughput": 0.20},
        reason="requests meet a wake-up or a timer together, or find the resource awake; their waits are those of "
        "exponential times",
    ),
    Known(
        name="rr, several in flight that wake one resource there and back",
        applies=_several_wake_one,
        errors={"mean": 1.2, "p50": 1.1, "p99": 2.8, "throughput": 0.55},
        reason="a resource that serves both directions may never sleep; the model wakes it for each",
    ),
)


def allowed_errors(s: Scenario, net: Network, p: Prediction) -> dict[str, tuple[float, str]]:
    """Relative error that is stated for each figure of a scenario, and why where it is more than usual."""
    found = {name: (share, "") for name, share in USUAL.items()}
    for known in KNOWN:
        if known.applies(s, net, p):
            for name, share in known.errors.items():
                if share > found[name][0]:
                    found[name] = (share, known.reason)
    return found
