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
    """Parameter values of one machine and its software."""

    name: str
    title: str
    clock_ghz: float
    machine: Mapping[str, Any]
    drivers: Mapping[str, str]
    defaults: Mapping[str, Any]
    values: Mapping[str, Value]
    correlated: tuple[str, ...]
    covariance: tuple[tuple[float, ...], ...]
    seen: Mapping[str, Seen]
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
    knobs: Mapping[str, Any]
    chosen: tuple[str, ...]
    load: Load
    profile: Profile
    parameters: Mapping[str, float] = field(default_factory=dict)
    device: str | None = None
    notes: tuple[str, ...] = ()
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
    """What the model says about one scenario; SI units, None where a value does not apply."""

    scenario: Scenario
    latency_s: float | None
    percentiles_s: Mapping[float, float]
    latency_interval_s: Interval | None
    lower_bound_s: float | None
    throughput_bps: float
    throughput_interval_bps: Interval
    throughput_bound_bps: float
    rate_pps: float
    rate_interval_pps: Interval
    transactions_per_s: float | None
    transactions_interval_per_s: Interval | None
    messages_per_s: float
    interrupts_per_s: float
    loss: float
    busy: Mapping[str, float]
    demands_s: Mapping[str, float]
    cpu_host: float
    cpu_guest: float
    bus_bytes_s: float
    bottleneck: str
    slack: float
    saturated: bool
    shares: tuple[StageShare, ...]
    regime: str
    standing: str
    log_sd: float
    elasticities: Mapping[str, float]
    warnings: tuple[str, ...]
    sources: tuple[str, ...]
    percentile_method: str = ""
    kicks_per_s: float | None = None
    batch_taken: float | None = None
    ring_mean: float | None = None
    ring_full: float | None = None
    ring_percentiles: Mapping[float, float] = field(default_factory=dict)
    core_watts: float | None = None  # of a busy core, where the profile knows it
    cores_per_gbps: float | None = None
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
    """One measured number with everything that is known about how it was obtained; empty fields are unknown."""

    id: str
    path: str
    peer: str
    topology: str
    workload: str
    direction: str
    metric: str
    value: float
    sd: float | None
    knobs: Mapping[str, Any]
    session: str
    series: str
    profile: str
    source: str
    excluded: str
    note: str
