"""Model against simulation, figure by figure: inside the confidence interval, within the stated error, or off."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from vmodel.core.records import Prediction, Scenario
from vmodel.errors import ConfigError, Fault
from vmodel.simulate.known import allowed_errors
from vmodel.simulate.network import MEMORY_BUS, Network, network
from vmodel.simulate.run import Estimate, Progress, Seen, product_form, simpy_package, simulate
from vmodel.solve.mva import exact_mva
from vmodel.solve.solver import predict

INSIDE, STATED, OFF, NOT_PREDICTED = "inside confidence", "within stated error", "off", "not predicted"
FEWEST, DEFAULT_MESSAGES, DEFAULT_SEED = 2000, 20_000, 1
RARE_LOSS = 1e-4  # loss below it is not compared
ROUNDING = 1e-9  # relative; two ways to add the same numbers
EXACT = 1e-6  # relative; two exact solvers
LATENCIES = {"mean": "mean_s", "p50": "p50_s", "p99": "p99_s"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure, simulated and predicted; seconds, messages per second or a share."""

    name: str
    unit: str
    simulated: float
    half_width: float  # of the 95 % confidence interval
    predicted: float | None
    gap: float | None  # predicted against simulated, relative
    allowed: float  # relative error that the model states for this figure
    reason: str  # why, where it is more than usual
    verdict: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What a simulation says to a prediction."""

    scenario: Scenario
    messages: int
    seed: int
    stations: Mapping[str, float]  # resource -> seconds per message
    figures: tuple[Figure, ...]
    lost_at: tuple[tuple[str, int], ...]
    notes: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        """Whether nothing is off."""
        return all(figure.verdict != OFF for figure in self.figures)


def check(
    s: Scenario,
    *,
    messages: int = DEFAULT_MESSAGES,
    seed: int = DEFAULT_SEED,
    progress: Progress | None = None,
) -> Check:
    """Simulate a scenario and compare; raises ConfigError for too few messages, NotInstalled without SimPy."""
    if messages < FEWEST:
        raise ConfigError([Fault(file="", key="--messages", value=messages, expected=f"at least {FEWEST}")])
    simpy_package()
    prediction = predict(s)
    net = network(s)
    seen = simulate(net, messages, seed, progress)
    allowed = allowed_errors(s, net, prediction)
    notes = _notes(net, prediction)
    figures = [_figure(*row, allowed) for row in _pairs(s, seen, prediction)]
    if net.workload == "rr" and (net.in_flight or 1) > 1:
        figures += _product_form(net, messages, seed, notes)
    return Check(
        scenario=s,
        messages=messages,
        seed=seed,
        stations=net.demands(),
        figures=tuple(figures),
        lost_at=seen.lost_at,
        notes=tuple(notes),
    )


def _pairs(s: Scenario, seen: Seen, p: Prediction) -> list[tuple[str, str, Estimate, float | None]]:
    """Name, unit, what was seen, what was predicted."""
    times = {"mean": p.latency_s, "p50": p.percentiles_s[0.5], "p99": p.percentiles_s[0.99]}
    rows: list[tuple[str, str, Estimate, float | None]] = [
        (name, "s", getattr(seen, attribute), None if s.workload == "stream" else times[name])
        for name, attribute in LATENCIES.items()
    ]
    rows.append(("throughput", "1/s", seen.throughput_per_s, p.messages_per_s))
    if s.workload == "packets":
        rows.append(("loss", "1", seen.loss, None if s.load.kind == "max" else p.loss))
    return rows


def _figure(
    name: str, unit: str, seen: Estimate, predicted: float | None, allowed: Mapping[str, tuple[float, str]]
) -> Figure:
    share, reason = allowed[name]
    gap = None
    if predicted is not None and seen.value > 0:
        gap = predicted / seen.value - 1
    return Figure(
        name=name,
        unit=unit,
        simulated=seen.value,
        half_width=seen.half_width,
        predicted=predicted,
        gap=gap,
        allowed=share,
        reason=reason,
        verdict=_verdict(name, seen, predicted, share),
    )


def _verdict(name: str, seen: Estimate, predicted: float | None, allowed: float) -> str:
    if predicted is None:
        return NOT_PREDICTED
    distance = abs(predicted - seen.value)
    if name == "loss" and max(predicted, seen.value) < RARE_LOSS:
        return INSIDE
    if distance <= seen.half_width + ROUNDING * abs(seen.value):
        return INSIDE
    return STATED if distance <= allowed * abs(seen.value) + seen.half_width else OFF  # interval and band touch


def _notes(net: Network, p: Prediction) -> list[str]:
    notes = []
    if net.workload == "stream":
        notes.append("a stream fills every queue it finds; the model's latency is that of work and transit alone")
    elif net.workload == "packets" and net.rate_per_s is None:
        notes.append("as fast as possible: a frame begins when the sender takes it up; losses are not predicted")
    if MEMORY_BUS in net.demands():
        notes.append("the memory bus is the slowest resource, and is simulated as a station at the end of the way")
    elif p.bottleneck == MEMORY_BUS:
        notes.append("the memory bus is not simulated here")
    return notes


def _product_form(net: Network, messages: int, seed: int, notes: list[str]) -> list[Figure]:
    """The same demands as a network that mean value analysis solves exactly: our analysis against others' programs."""
    closed = product_form(net)
    customers = net.in_flight or 1
    demands = closed.demands()
    delay = closed.delay_s()
    ours = exact_mva(list(demands.values()), delay, customers).throughput_pps
    seen = simulate(closed, messages, seed).throughput_per_s
    allowed = {"product form, SimPy": (0.02, ""), "product form, LINE": (EXACT, "")}
    figures = [_figure("product form, SimPy", "1/s", seen, ours, allowed)]
    line = line_throughput(demands, delay, customers)
    if line is None:
        notes.append("not compared with LINE's exact analysis: pip install 'vmodel[line]' (some 600 MB)")
    else:
        exact = Estimate(value=line, half_width=0.0)
        figures.append(_figure("product form, LINE", "1/s", exact, ours, allowed))
    return figures


def line_throughput(demands: Mapping[str, float], delay_s: float, customers: int) -> float | None:
    """Throughput by the exact mean value analysis of the LINE solver; None where it is not installed."""
    try:
        import line_solver as line
    except ImportError:
        return None
    longest = max([delay_s, *demands.values()])  # LINE takes times near one
    model = line.Network("closed")
    think = line.Delay(model, "delay")
    queues = [line.Queue(model, f"station {i}", line.SchedStrategy.FCFS) for i in range(len(demands))]
    requests = line.ClosedClass(model, "requests", customers, think)
    think.set_service(requests, line.Exp(longest / delay_s))
    for queue, demand in zip(queues, demands.values(), strict=True):
        queue.set_service(requests, line.Exp(longest / demand))
    model.link(line.Network.serial_routing(think, *queues))
    table: Any = _quietly(lambda: line.MVA(model, method="exact").avg_table())
    return float(next(iter(table["Tput"]))) / longest


def _quietly(run: Callable[[], Any]) -> Any:
    """LINE reports to standard output, which is ours."""
    import contextlib
    import io

    with contextlib.redirect_stdout(io.StringIO()):
        return run()
