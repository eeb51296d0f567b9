"""Which settings a path of a VM may be given: interrupt moderation as its driver takes it, and queues.

Only what the fleet file leaves open is varied, and only where it does something on that path.
"""

from itertools import product

from vmodel.core.records import Scenario
from vmodel.library.moderation import devices
from vmodel.plan.fleet import VmClass
from vmodel.plan.respond import SPREAD_BY_QUEUES
from vmodel.solve import compose

TIMERS_US = (0, 8, 16, 32, 64, 128)  # roughly doubling: the optimum is flat
MOST_QUEUES = 16
Settings = tuple[tuple[str, float], ...]


def candidates(s: Scenario, vm: VmClass) -> list[Settings]:
    """Settings to try on a path, the driver's own default first."""
    return [tuple((*timer, *queues)) for timer, queues in product(_timers(s, vm), _queues(s, vm))]


def _timers(s: Scenario, vm: VmClass) -> list[Settings]:
    """The default, and numbers within the driver's limits where it takes any."""
    found = dict.fromkeys(_drivers(s))
    if not found or {"rx_usecs", "adaptive_rx", "pf_rx_usecs"} & set(vm.settings):
        return [()]
    driver = devices()[next(iter(found))]
    if not driver.honoured:
        return [()]
    fixed: Settings = (("adaptive_rx", 0.0),) if driver.adaptive_switch else ()
    modes = {special.rx_usecs for special in driver.special}
    least, most = driver.min_rx_usecs, driver.max_rx_usecs
    wanted = dict.fromkeys(min(max(float(x), least), most) for x in TIMERS_US)
    return [(), *((*fixed, ("rx_usecs", x)) for x in wanted if x == 0 or x not in modes)]


def _drivers(s: Scenario) -> list[str]:
    ways = compose.scenario_ways(s)
    found = [compose.device_of(s, way) for way in (ways.forward, ways.reverse)]
    return [name for name in (found if s.workload == "rr" else found[:1]) if name is not None]


def _queues(s: Scenario, vm: VmClass) -> list[Settings]:
    """Powers of two up to vCPUs and flows, where a resource of the way is shared by queues."""
    most = min(vm.vcpus, vm.flows, MOST_QUEUES)
    kinds = {(node.resource or "").partition("|")[0] for node in compose.scenario_ways(s).forward.nodes}
    if "queues" in vm.settings or most < 2 or s.workload == "rr" or not kinds & {*SPREAD_BY_QUEUES, "guest vCPU"}:
        return [()]
    counts = [1 << k for k in range(most.bit_length()) if 1 << k <= most]
    return [() if n == 1 else (("queues", float(n)),) for n in counts]
