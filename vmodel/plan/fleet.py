"""The fleet file: host types, VM classes, hosts that run already, rules. What may stand in it, and its JSON Schema.

Shapes only; `read` turns files into a Fleet and faults into lines. Units are read by the units of the package.
"""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, WithJsonSchema, field_validator

from vmodel.errors import UnitError
from vmodel.library import tables
from vmodel.units import (
    BITS_PER_BYTE,
    BPS_PER_GBPS,
    BYTES_PER_GIB,
    BYTES_PER_KIB,
    parse_bitrate,
    parse_bytes,
    parse_load,
    parse_seconds,
)

FORMAT = 1
PERCENTILES = (50.0, 90.0, 99.0, 99.9, 99.99)
USUAL_PATHS = ("virtio-vhost", "vhost-user", "vf")  # what a class may use that names no paths
LARGEST_COUNT = 10_000_000
MOST_VCPUS = 1 << 10
LARGEST_KINDS = 200  # host types, VM classes or running groups in one fleet


def _text_or(read: Callable[[str], float]) -> BeforeValidator:
    def convert(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return read(value)
        except UnitError as error:
            guess = f"; did you mean {error.nearest}?" if error.nearest else ""
            raise ValueError(f"{error.wanted}{guess}") from None

    return BeforeValidator(convert)


def _bytes_per_second(text: str) -> float:
    return parse_bitrate(text) / BITS_PER_BYTE


def _rate(text: str) -> tuple[str, float]:
    """A rate as people write it: 40kpps, 2Gbit/s, or 5k/s for messages of any kind."""
    kept = text.strip()
    head = kept.removesuffix("/s").rstrip()
    if kept.endswith("/s") and (not head or head[-1:].isdigit() or head[-1:] in "kKMG"):
        kept = head + "pps"
    kind, value = parse_load(kept)
    if kind == "max":
        raise UnitError(text, "a rate that a plan can count on, such as 40kpps or 2Gbit/s, not max")
    return kind, value


def _offered(value: Any) -> Any:
    if isinstance(value, str):
        try:
            return _rate(value)
        except UnitError as error:
            raise ValueError(f"{error.wanted}") from None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < float("inf"):
        raise ValueError("a rate above zero")
    return "rate_pps", float(value)


def _quantity(pattern: str) -> WithJsonSchema:
    return WithJsonSchema(
        {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "string", "pattern": pattern}]}
    )


_NUMBER = r"^\s*\+?[0-9.]+([eE][+-]?[0-9]+)?\s*"
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Whole = Annotated[int, Field(ge=1, le=LARGEST_COUNT)]
Name = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9][A-Za-z0-9._ -]*$")]
Bytes = Annotated[float, _text_or(parse_bytes), Field(gt=0, allow_inf_nan=False), _quantity(_NUMBER + r"[kKMGT]?i?B?$")]
BytesPerSecond = Annotated[
    float, _text_or(_bytes_per_second), Field(gt=0, allow_inf_nan=False), _quantity(_NUMBER + r"[kKMGT]?i?(B|bit)/s$")
]
BitRate = Annotated[
    float, _text_or(parse_bitrate), Field(gt=0, allow_inf_nan=False), _quantity(_NUMBER + r"[kKMGT]?i?(bit/s|B/s|bps)$")
]
Seconds = Annotated[
    float, _text_or(parse_seconds), Field(gt=0, allow_inf_nan=False), _quantity(_NUMBER + r"(s|ms|us|µs|ns)$")
]
Rate = Annotated[
    tuple[Literal["rate_pps", "throughput_bps"], float],
    BeforeValidator(_offered),
    _quantity(_NUMBER + r"[kKMGT]?(pps|/s|bit/s|B/s)$"),
]


class Table(BaseModel):
    """One table of the file: unknown keys are faults, values never change afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)

    @field_validator("*", mode="before")
    @classmethod
    def truth_is_no_number(cls, value: Any, info: ValidationInfo) -> Any:
        """A switch where a number belongs is a mistake, not a one."""
        if isinstance(value, bool) and cls.model_fields[info.field_name or ""].annotation is not bool:
            raise ValueError("no truth value")
        return value


class Nic(Table):
    """Equal network adapters of a host type."""

    rate: BitRate = Field(description="rate of the port with unit, as 25Gbit/s")
    vfs: int = Field(default=0, ge=0, le=65536, description="virtual functions it offers, a whole number from 0")
    count: int = Field(default=1, ge=1, le=64, description="how many of them a host has, 1 to 64")
    node: int | None = Field(default=None, ge=0, le=63, description="NUMA node it is attached to, from 0")


class HostType(Table):
    """A kind of host that can be bought, or of which there is a stock."""

    name: Name = Field(description="a name of letters, digits, dots and dashes")
    count: int | None = Field(
        default=None, ge=0, le=LARGEST_COUNT, description="most there can be, a whole number; without, any number"
    )
    cores: int = Field(ge=1, le=4096, description="processor cores, a whole number from 1 to 4096")
    reserved_cores: int = Field(default=0, ge=0, le=4096, description="cores kept for the host itself, from 0")
    memory: Bytes = Field(description="memory with unit, as 512GiB")
    memory_bandwidth: BytesPerSecond | None = Field(
        default=None, description="memory bandwidth with unit, as 200GB/s; without, that of the profile"
    )
    numa_nodes: int = Field(default=1, ge=1, le=64, description="NUMA nodes, 1 to 64")
    nics: tuple[Nic, ...] = Field(default=(), max_length=16, description="a list of NIC tables")
    price: float | None = Field(
        default=None, ge=0, allow_inf_nan=False, description="price of one host, a number from 0, any currency"
    )
    watts: Positive | None = Field(default=None, description="power when all its cores work [W], above 0")
    watts_idle: Positive | None = Field(default=None, description="power when idle [W], above 0")
    profile: str = Field(default="generic", description="a profile (see `vmodel profiles`) or a file ending in .toml")


class VmClass(Table):
    """Equal virtual machines with equal traffic and one objective."""

    name: Name = Field(description="a name of letters, digits, dots and dashes")
    count: Whole = Field(description="how many, a whole number from 1")
    vcpus: int = Field(ge=1, le=MOST_VCPUS, description=f"vCPUs, a whole number from 1 to {MOST_VCPUS}")
    memory: Bytes = Field(description="memory with unit, as 8GiB")
    workload: Literal["packets", "rr", "stream"] = Field(
        default="packets", description="packets, rr (round trips) or stream"
    )
    rate: Rate = Field(description="traffic of one VM: 40kpps, 2Gbit/s, or messages per second as 5k/s")
    size: Bytes = Field(
        default=float(BYTES_PER_KIB),
        ge=1,
        le=BYTES_PER_GIB,
        description="bytes in one message with unit, as 1KiB, to 1GiB",
    )
    direction: Literal["to-vm", "from-vm"] = Field(default="to-vm", description="to-vm or from-vm")
    topology: Literal["host-vm", "vm-vm", "cross-host-vm", "cross-vm-vm"] = Field(
        default="cross-host-vm", description="host-vm, vm-vm, cross-host-vm or cross-vm-vm"
    )
    in_flight: int = Field(default=1, ge=1, le=65536, description="requests in flight of round trips, 1 to 65536")
    flows: int = Field(default=1, ge=1, le=LARGEST_COUNT, description="flows hashed to the queues, from 1")
    latency: Seconds | None = Field(default=None, description="latency objective with unit, as 200us")
    percentile: float = Field(
        default=99.0,
        description="50, 90, 99, 99.9 or 99.99: the share of messages that must keep the objective",
        json_schema_extra={"enum": list(PERCENTILES)},
    )
    loss: Annotated[float, Field(gt=0, lt=0.5)] = Field(
        default=1e-3, description="largest share of packets lost, above 0 and below 0.5"
    )
    must_migrate: bool = Field(default=False, description="true or false: must be able to migrate while it runs")
    paths: tuple[str, ...] = Field(
        default=USUAL_PATHS, min_length=1, max_length=32, description="allowed paths, a list (see `vmodel paths`)"
    )
    settings: dict[str, float | bool | str] = Field(
        default={}, description="knobs that are given, as { rx_usecs = 10 }"
    )
    uncertainty: float = Field(
        default=0.0, ge=0, le=3, allow_inf_nan=False, description="demand may be off by, as a share: 0.3 is 30 %"
    )


class Running(Table):
    """Hosts that stand there already, with what runs on each of them."""

    name: Name = Field(description="a name of letters, digits, dots and dashes")
    host: str = Field(description="the name of a host type of this file")
    count: Whole = Field(default=1, description="how many hosts look like this, from 1")
    vms: dict[str, Annotated[int, Field(ge=1)]] = Field(
        default={}, description="VM class -> how many run on each of these hosts"
    )
    cores: Share | None = Field(default=None, description="measured share of busy cores, 0 to 1")
    memory: Share | None = Field(default=None, description="measured share of used memory, 0 to 1")
    memory_bandwidth: Share | None = Field(default=None, description="measured share of memory bandwidth, 0 to 1")
    nic: Share | None = Field(default=None, description="measured share of the busier NIC direction, 0 to 1")


class Rules(Table):
    """What a plan must keep to."""

    minimise: Literal["price", "hosts", "watts"] = Field(default="hosts", description="price, hosts or watts")
    confidence: float = Field(
        default=0.95, ge=0.5, le=0.999, description="chance that the model errs on the safe side, 0.5 to 0.999"
    )
    spare_hosts: int = Field(default=0, ge=0, le=999, description="hosts kept empty beyond need, from 0")
    n_minus_1: tuple[Literal["host", "nic", "numa"], ...] = Field(
        default=(), description="a list of host, nic, numa: what may fail while every objective is kept"
    )
    growth_per_year: float = Field(
        default=0.0, ge=0, le=10, allow_inf_nan=False, description="growth of every VM's traffic per year, as a share"
    )
    horizon_years: float = Field(
        default=0.0, ge=0, le=20, allow_inf_nan=False, description="years of growth the plan must hold, from 0"
    )
    overcommit: float = Field(
        default=1.0, ge=1, le=64, allow_inf_nan=False, description="vCPUs on one core, from 1 (pinned)"
    )
    move_price: float = Field(
        default=0.0, ge=0, allow_inf_nan=False, description="price of moving one running VM, from 0"
    )
    late_factor: float = Field(
        default=2.0, ge=1, le=100, allow_inf_nan=False, description="a host bought late costs so many times its price"
    )
    correlation: Share = Field(default=0.5, description="correlation of the classes' demands, 0 to 1")
    draws: int = Field(default=512, ge=16, le=65536, description="draws of uncertain demand, 16 to 65536")


class Fleet(Table):
    """A fleet: what there is to host, on what, under which rules."""

    format: Literal[1] = Field(default=1, description="the number 1")
    title: str = Field(default="", max_length=200, description="a line of text")
    host: tuple[HostType, ...] = Field(
        min_length=1, max_length=LARGEST_KINDS, description=f"[[host]] tables, 1 to {LARGEST_KINDS}"
    )
    vm: tuple[VmClass, ...] = Field(
        min_length=1, max_length=LARGEST_KINDS, description=f"[[vm]] tables, 1 to {LARGEST_KINDS}"
    )
    running: tuple[Running, ...] = Field(
        default=(), max_length=LARGEST_KINDS, description=f"[[running]] tables, at most {LARGEST_KINDS}"
    )
    rules: Rules = Field(default=Rules(), description="a [rules] table")


def schema() -> dict[str, Any]:
    """The JSON Schema of a fleet file; the same text ships as `fleet.schema.json`."""
    found: dict[str, Any] = Fleet.model_json_schema()
    found["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    found["title"] = "vmodel fleet"
    paths = found["$defs"]["VmClass"]["properties"]["paths"]
    paths["items"] = {"anyOf": [{"enum": list(guest_paths())}, {"type": "string", "pattern": r"\.toml$"}]}
    return found


def guest_paths() -> tuple[str, ...]:
    """The paths that a VM can have."""
    return tuple(name for name in tables.path_names() if tables.endpoint(name).place == "guest")


def fastest_gbps(host: HostType) -> float:
    """The rate of the fastest port [Gbit/s]."""
    return max((nic.rate for nic in host.nics), default=BPS_PER_GBPS) / BPS_PER_GBPS
