"""From a scenario to the hands that set it up: the drivers its receivers wait for, the commands of its settings."""

from collections.abc import Iterable

from vmodel.core.path import Chain
from vmodel.core.records import Scenario
from vmodel.library import commands, tables
from vmodel.solve import compose


def target_of(s: Scenario, names: commands.Names | None = None) -> commands.Target:
    """What commands for a scenario act on: its path, and the driver at each place that is interrupted by a NIC."""
    timers: dict[str, tuple[str, bool]] = {}
    ways = compose.scenario_ways(s)
    for chain in (ways.forward, ways.reverse):
        device = compose.device_of(s, chain)
        if device is not None:
            end = tables.endpoint(chain.receiver.name)
            timers[_place(s, chain)] = (device, end.device == "vf")
    return commands.Target(path=s.path, timers=timers, names=names or commands.Names())


def _place(s: Scenario, chain: Chain) -> str:
    """Who owns the NIC at the receiving end of a chain: a guest with a function of its own, its host, or the peer."""
    end = tables.endpoint(chain.receiver.name)
    if end.place == "guest":
        return commands.GUEST if end.attach == "nic" else commands.HOST
    return commands.PEER if tables.endpoint(s.path).place == "guest" else commands.HOST


def apply_settings(
    s: Scenario, settings: Iterable[str], names: commands.Names | None = None, *, attach: bool = False
) -> commands.Hands:
    """The commands that put some of a scenario's settings in force, by name; a setting left open has none.

    attach: also how the guest is attached on this path.  Raises UnknownName for a setting that is no knob.
    """
    chosen = {name: s.knobs[tables.knob(name).name] for name in settings}
    values = {name: float(value) for name, value in chosen.items() if value is not None}
    return commands.hands(values, target_of(s, names), attach=attach)
