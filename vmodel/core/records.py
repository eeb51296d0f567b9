"""Records that cross layers: scenario, profile, observation, prediction, fit. Fields only; nothing is computed here."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vmodel.core import show

Number = Any  # a float, or an array of floats where many scenarios are asked at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """One physical cost of a profile: value, relative standard error (of its logarithm), where it comes from."""

    value: float
    log_error: float
    unit: str
    standing: str
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What the calibration of a profile has seen of one path and workload."""

    topologies: tuple[str, ...]
    directions: tuple[str, ...]
    size_bytes: tuple[float, float]
    rows: int
    log_sd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Parameter values of one machine and its software.

    A cost that is not among `values` has its prior, taken over by the clock. Covariance is of natural logarithms.
    """

    name: str
    title: str
    clock_ghz: float
    machine: Mapping[str, Any]  # what is known of it; core_watts and path_defaults are read
    drivers: Mapping[str, str]  # NIC driver by role: vf, pf
    defaults: Mapping[str, Any]  # settings that it has unless asked otherwise
    values: Mapping[str, Value]  # costs that were learned: value [SI], error, standing, sources
    correlated: tuple[str, ...]  # the costs of the covariance, in its order
    covariance: tuple[tuple[float, ...], ...]  # lower triangle, of the logarithms [-]
    seen: Mapping[str, Seen]  # "path/workload" -> what it was compared with, and how far off the model was
    sources: tuple[str, ...]
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Offered load: as fast as possible, or a rate in messages or bits per second."""

    kind: str = "max"
    value: float = float("inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One question: path, peer, topology, workload, settings and machine, all names resolved."""

    path: str
    peer: str
    topology: str
    workload: str
    direction: str
    knobs: Mapping[str, Any]  # every setting in its own unit; None: the driver's or the law's own default
    chosen: tuple[str, ...]  # the settings that were asked for
    load: Load
    profile: Profile
    parameters: Mapping[str, float] = field(default_factory=dict)  # costs that were given [SI], over the profile's
    device: str | None = None
    notes: tuple[str, ...] = ()  # what was filled in, and why
    origins: Mapping[str, str] = field(default_factory=dict)  # setting -> file or flag that gave it


@dataclass(frozen=True, slots=True, kw_only=True)
class StageShare:
    """One row of a breakdown."""

    stage: str
    resource: str | None
    seconds: Number
    owner: str
    direction: str
    when: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a workload law makes of the stage times: floats, arrays or duals; rates are messages per second."""

    latency_s: Number
    rate_per_s: Number
    upper_rate_per_s: Number
    demands_s: Mapping[str, Number]  # memory bus included; times rate: busy shares
    shares: tuple[StageShare, ...]
    regime: tuple[str, ...]
    saturated: bool
    interrupts_per_s: Number
    loss: Number = 0.0
    kicks_per_s: Number | None = None
    batch_taken: Number | None = None
    ring_mean: Number | None = None  # frames at the bottleneck, the one in service included
    ring_full: Number | None = None
    ring_spread: Any = None  # distribution of the frames there
    time: Any = None  # distribution of the latency where the law gives one


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A 90 % prediction interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Prediction:
    """What the model says about one scenario; SI units, None where a value does not apply.

    Latency is a round trip for `rr`, one way else. Intervals are of the mean, 90 %, from the errors of the costs, from
    what the model was off by on the same path, and from extrapolation.
    """

    scenario: Scenario
    latency_s: float | None
    percentiles_s: Mapping[float, float]  # share of single messages -> latency they keep below
    latency_interval_s: Interval | None
    lower_bound_s: float | None  # work and transit alone: no queue, wake-up or timer
    throughput_bps: float  # payload
    throughput_interval_bps: Interval
    throughput_bound_bps: float  # the slowest resource alone
    rate_pps: float
    rate_interval_pps: Interval
    transactions_per_s: float | None
    transactions_interval_per_s: Interval | None
    messages_per_s: float
    interrupts_per_s: float
    loss: float  # share of the offered frames [-]
    busy: Mapping[str, float]  # resource -> share of the time [-]
    demands_s: Mapping[str, float]  # resource -> work of one message
    cpu_host: float  # busy cores of hosts [cores]
    cpu_guest: float  # busy vCPUs [cores]
    bus_bytes_s: float  # moved over the memory bus
    bottleneck: str
    slack: float  # what the bottleneck has to spare [-]
    saturated: bool
    shares: tuple[StageShare, ...]  # the breakdown: seconds of each stage; sums to the mean
    regime: str
    standing: str  # of the weakest cost that matters
    log_sd: float  # of the latency (rr) or the rate; of its natural logarithm
    elasticities: Mapping[str, float]  # cost -> per cent of the answer for one per cent of it [-]
    warnings: tuple[str, ...]
    sources: tuple[str, ...]  # keys; see `bibliography`
    percentile_method: str = ""
    kicks_per_s: float | None = None
    batch_taken: float | None = None  # frames that a worker finds at once [-]
    ring_mean: float | None = None  # frames at the bottleneck, the one in service included [-]
    ring_full: float | None = None  # share of frames that find it full [-]
    ring_percentiles: Mapping[float, float] = field(default_factory=dict)  # share -> frames [-]
    core_watts: float | None = None  # of a busy core, where the profile knows it
    cores_per_gbps: float | None = None  # host and guest together
    cores_per_mpps: float | None = None

    @property
    def watts(self) -> float | None:
        """What the busy cores of host and guest draw [W]; None where the profile does not know."""
        return None if self.core_watts is None else self.core_watts * (self.cpu_host + self.cpu_guest)

    def __repr__(self) -> str:
        return show.line(self)

    def _repr_html_(self) -> str:
        return show.html(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One measured number with everything that is known about how it was obtained; empty fields are unknown.

    The unit of `value` and `sd` is in the name of the metric: `latency_us` (of `rr` a round trip), `rate_pps`,
    `transactions_per_s`, `throughput_mbps`, `cpu_cores`.
    """

    id: str
    path: str
    peer: str
    topology: str
    workload: str
    direction: str
    metric: str  # what was measured, and its unit
    value: float  # [unit of the metric]
    sd: float | None  # standard deviation [unit of the metric]
    knobs: Mapping[str, Any]  # settings that are known, each in its own unit
    session: str  # rows taken together
    series: str  # rows that vary one thing
    profile: str
    source: str
    excluded: str  # why the row is not compared; empty if it is
    note: str
