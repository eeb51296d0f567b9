"""What `predict` adds on request: neighbours on the same hosts, and the worst case of a shaped source."""

from collections.abc import Mapping, Sequence
from typing import Any

from vmodel.cli.options import case_of, collect
from vmodel.core.records import Scenario
from vmodel.errors import ConfigError, Fault
from vmodel.solve.bounds import WorstCase, worst_case
from vmodel.solve.shared import Sharing, Tenant, share
from vmodel.units import BITS_PER_BYTE

MOST_TENANTS = 999
MOST = float(2**30)
OWN = "asked"


def shared(asked: Scenario, flags: Mapping[str, Any], beside: Sequence[str], *, shared_worker: bool) -> Sharing:
    """The scenario among its neighbours; each is described by what differs from it. Raises ConfigError."""
    tenants = [Tenant(name=OWN, scenario=asked)]
    base = collect(flags)
    faults: list[Fault] = []
    for number, text in enumerate(beside, 1):
        own, rest = {"count": 1.0, "weight": 1.0}, []
        for pair in text.split(","):
            name, _, value = pair.partition("=")
            if name.strip() in own:
                own[name.strip()] = _number(value, f"--beside {name.strip()}", faults, whole=name.strip() == "count")
            else:
                rest.append(pair)
        try:
            scenario = case_of(base, ",".join(rest), "--beside").scenario() if rest else asked
        except ConfigError as error:
            faults.extend(f for f in error.faults if f not in faults)
            continue
        many = int(own["count"])
        if len(tenants) + many > MOST_TENANTS:
            faults.append(Fault(file="", key="--beside count", value=many, expected=f"at most {MOST_TENANTS} in all"))
            continue
        for k in range(many):
            name = f"beside {number}" if many == 1 else f"beside {number}.{k + 1}"
            tenants.append(Tenant(name=name, scenario=scenario, weight=own["weight"]))
    if faults:
        raise ConfigError(faults)
    return share(tenants, shared_worker=shared_worker)


def bounded(asked: Scenario, bucket: str) -> WorstCase:
    """The worst case of a token bucket on the scenario's way. Raises ConfigError."""
    faults: list[Fault] = []
    burst = _number(bucket, "--bucket", faults)
    if asked.workload != "packets":
        faults.append(Fault(file="", key="--bucket", value=bucket, expected="the workload packets"))
    if asked.load.kind == "max":
        expected = "a --load: what the source sends in the long run"
        faults.append(Fault(file="", key="--bucket", value=bucket, expected=expected))
    if faults:
        raise ConfigError(faults)
    bits = asked.knobs["size"] * BITS_PER_BYTE
    rate = asked.load.value / bits if asked.load.kind == "throughput_bps" else asked.load.value
    return worst_case(asked, burst=burst, rate_per_s=rate)


def _number(text: str, key: str, faults: list[Fault], *, whole: bool = False) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value <= MOST or (whole and value != int(value)) or (key == "--bucket" and value < 1):
        expected = "a whole number from 1" if whole else "a number from 1" if key == "--bucket" else "a number above 0"
        faults.append(Fault(file="", key=key, value=text, expected=expected))
        return 1.0
    return value
