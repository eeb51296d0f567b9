"""The flags that questions share, from flags and configuration file to a Scenario; every fault at once."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import click

from vmodel.config import knob_value, scenario
from vmodel.core.records import Scenario
from vmodel.errors import ConfigError, Fault, UnitError, UnknownName, VmodelError, nearest
from vmodel.library import tables

F = TypeVar("F", bound=Callable[..., Any])
# knobs with a flag of their own, in the order of the help; the others are reached by --set
FLAGS: Mapping[str, str] = {
    "size": "--size", "in_flight": "--in-flight", "mtu": "--mtu", "link_gbps": "--link", "rx_usecs": "--rx-usecs",
    "rx_frames": "--rx-frames", "adaptive_rx": "--adaptive-rx", "batch": "--batch", "queues": "--queues",
    "flows": "--flows", "vcpus": "--vcpus", "tso": "--tso", "gro": "--gro", "nodelay": "--nodelay",
    "zero_copy": "--zero-copy", "busy_poll": "--busy-poll",
}  # fmt: skip
WORDS: Mapping[str, tuple[str, str]] = {
    "path": ("PATH", "data path (see `vmodel paths`)"),
    "peer": ("PATH", "path of the other end, where it differs"),
    "topology": ("WHERE", "where the ends stand: " + ", ".join(tables.TOPOLOGIES)),
    "workload": ("KIND", "rr (round trips), stream or packets"),
    "direction": ("WAY", "to-vm or from-vm"),
    "load": ("RATE", "offered load of packets: 200kpps, 3Gbit/s or max"),
    "profile": ("NAME|FILE", "machine (see `vmodel profiles`) or a profile file"),
    "device": ("NAME", "NIC driver (see `vmodel devices`)"),
}
METAVARS = {"number": "N", "count": "N", "size": "BYTES", "bitrate": "RATE", "microseconds": "US"}
ALIASES = {"link": "link_gbps"}
TEXT_ONLY = tuple(name for name in WORDS if name != "load")


def _choices(name: str) -> Iterable[str]:
    """What completes a word."""
    if name == "profile":
        from vmodel.library.profile import shipped

        return shipped()
    if name == "device":
        from vmodel.library.moderation import devices

        return devices()
    fixed = {"topology": tables.TOPOLOGIES, "workload": tables.WORKLOADS, "direction": tables.DIRECTIONS}
    return fixed.get(name, ()) if name not in ("path", "peer") else tables.path_names()


def complete(name: str) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """A completion function of one word."""
    return lambda ctx, parameter, incomplete: [c for c in _choices(name) if c.startswith(incomplete)]


def path_option(about: str, *, multiple: bool = False) -> Callable[[F], F]:
    """The --path flag."""
    return click.option(
        "--path", "path", metavar="PATH", multiple=multiple, help=about, shell_complete=complete("path")
    )


def json_option(function: F) -> F:
    """The --json flag."""
    return click.option("--json", "as_json", is_flag=True, help="print the record as JSON")(function)


def output_option(endings: str) -> Callable[[F], F]:
    """The -o flag."""
    return click.option("-o", "--output", metavar="FILE", help=f"write a file by its ending ({endings})")


def plot_option(about: str) -> Callable[[F], F]:
    """The --plot flag."""
    return click.option("--plot", metavar="FILE", help=f"draw {about} (png, svg or pdf by its ending)")


def _knob_option(name: str, flag: str) -> Callable[[F], F]:
    knob = tables.knobs()[name]
    if knob.kind == "switch":
        off = f"--no-{flag.removeprefix('--')}"
        return click.option(f"{flag}/{off}", name, default=None, help=knob.about)
    default = "" if knob.default is None else f" [default: {knob.default:g}]"
    return click.option(flag, name, metavar=METAVARS[knob.kind], help=knob.about + default)


def scenario_options(*, several_paths: bool = False) -> Callable[[F], F]:
    """Decorate a command with the shared flags."""

    def decorate(function: F) -> F:
        options = [
            path_option(WORDS["path"][1] + ("; repeatable" if several_paths else ""), multiple=several_paths),
            *(
                click.option(f"--{name}", name, metavar=metavar, help=about, shell_complete=complete(name))
                for name, (metavar, about) in WORDS.items()
                if name != "path"
            ),
            *(_knob_option(name, flag) for name, flag in FLAGS.items()),
            click.option(
                "--set", "set_", metavar="NAME=VALUE", multiple=True, help="any other knob or cost; repeatable"
            ),
            click.option("--config", metavar="FILE", help="TOML file with the same names; flags go first"),
            click.option(
                "--from",
                "from_",
                metavar="FILE",
                multiple=True,
                help="output of ethtool, libvirt, QEMU, lscpu ... to take settings from; repeatable; flags go first",
            ),
            click.option(
                "--interface",
                "interfaces",
                metavar="NAME",
                multiple=True,
                help="device to take from a --from file that holds several; repeatable",
            ),
        ]
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


class Question:
    """Settings by name with the place each came from, and the faults found so far."""

    def __init__(self) -> None:
        self.settings: dict[str, Any] = {}
        self.places: dict[str, tuple[str, str]] = {}
        self.faults: list[Fault] = []
        self.notes: list[str] = []
        self.files: dict[str, tuple[str, str]] = {}  # setting -> place and value that an output of a tool gave
        self.outputs = False  # whether outputs of tools were read, and
        self.unread = False  # whether one of them could not be

    def put(self, name: str, value: Any, file: str, key: str) -> None:
        """Take a setting over an earlier one; a file that said otherwise is told."""
        if name in self.files and name in self.settings:
            place, before = self.files.pop(name)
            self.notes.append(f"{name}: {key} goes before {place}, which says {before}")
        self.settings[name] = value
        self.places[name] = (file, key)

    def copy(self) -> "Question":
        """Another question that starts from this one."""
        other = Question()
        other.settings, other.places = dict(self.settings), dict(self.places)
        other.notes, other.files = list(self.notes), dict(self.files)
        return other

    def placed(self, fault: Fault) -> Fault:
        """A fault of the scenario with the flag or file that brought the value."""
        if fault.file != "scenario":
            return fault
        file, key = self.places.get(fault.key, ("", fault.key))
        return replace(fault, file=file, key=key)

    def take(self, error: VmodelError, key: str = "") -> None:
        """Collect the faults of an error."""
        file, shown = self.places.get(key, ("", key))
        if isinstance(error, ConfigError):
            self.faults.extend(f for fault in error.faults if (f := self.placed(fault)) not in self.faults)
        elif isinstance(error, UnknownName):
            expected = f"a known {error.kind} (see `vmodel {error.kind}s`)"
            self.faults.append(Fault(file=file, key=shown, value=error.name, expected=expected, nearest=error.nearest))
        elif isinstance(error, UnitError):
            self.faults.append(
                Fault(file=file, key=shown, value=error.text, expected=error.wanted, nearest=error.nearest)
            )
        else:
            raise error

    def scenario(self) -> Scenario:
        """Resolve; raises ConfigError with every fault of flags, file and scenario."""
        settings = dict(self.settings)
        if settings.get("path") is None:
            if not self.unread:
                told = "; the files do not decide it" if self.outputs else ""
                self.faults.append(Fault(file="", key="--path", expected=f"a path (see `vmodel paths`){told}"))
        elif settings["path"] not in tables.path_names() and not str(settings["path"]).endswith(".toml"):
            self._unknown_path(settings)
        else:
            found = self._resolve(settings)
            if found is not None and not self.faults:
                return replace(found, notes=(*found.notes, *self.notes), origins=self._origins())
        raise ConfigError(self.faults)

    def _origins(self) -> dict[str, str]:
        """Where each setting came from, a flag or a file and its key; empty where no output of a tool was read."""
        if not self.outputs:
            return {}
        return {name: f"{file}: {key}" if file else key for name, (file, key) in self.places.items()}

    def _unknown_path(self, settings: Mapping[str, Any]) -> None:
        """Without a path the rest can still be read one by one."""
        try:
            scenario(path=settings["path"])
        except VmodelError as error:
            self.take(error, "path")
        for name, value in settings.items():
            if name in tables.knobs():
                try:
                    knob_value(name, value)
                except VmodelError as error:
                    self.take(error, name)

    def _resolve(self, settings: dict[str, Any]) -> Scenario | None:
        profile = settings.get("profile")
        if profile is not None:
            from vmodel.library.profile import profile as read_profile

            try:
                settings["profile"] = read_profile(profile)
            except VmodelError as error:
                self.take(error, "profile")
                settings["profile"] = None
        try:
            return scenario(**settings)
        except VmodelError as error:
            self.take(error)
        return None


def settable() -> tuple[str, ...]:
    """Names that --set takes."""
    return (*tables.knobs(), *tables.priors())


def _name(text: str) -> str:
    """A name as people write it: hyphens or underscores, `link` for `link_gbps`."""
    name = text.strip().replace("-", "_")
    return ALIASES.get(name, name)


def collect(flags: Mapping[str, Any]) -> Question:
    """Flags over configuration file; the faults of names and pairs are kept for later."""
    question = Question()
    if flags.get("config") is not None:
        from vmodel.cli.configfile import read_into

        read_into(question, flags["config"], (*WORDS, *settable()))
    if flags.get("from_"):
        from vmodel.cli.fromfiles import read_into as read_outputs_into

        read_outputs_into(question, flags["from_"], flags.get("interfaces", ()))
    named: set[str] = set()
    for name in (*WORDS, *FLAGS):
        value = flags.get(name)
        if value is not None and value != ():
            flag = FLAGS.get(name, f"--{name}")
            if value is False and name in tables.knobs():
                flag = f"--no-{flag.removeprefix('--')}"
            question.put(name, value, "", flag)
            named.add(name)
    for pair in flags.get("set_", ()):
        _put_pair(question, pair, "--set", settable(), named)
    return question


def _put_pair(question: Question, pair: str, flag: str, known: Iterable[str], named: set[str]) -> None:
    text, equals, value = pair.partition("=")
    name = _name(text)
    if not equals or not name:
        question.faults.append(Fault(file="", key=flag, value=pair, expected="name=value"))
    elif name not in known:
        guess = nearest(name, known)
        question.faults.append(Fault(file="", key=f"{flag} {text.strip()}", expected="a knob or a cost", nearest=guess))
    elif name in named:
        question.faults.append(Fault(file="", key=f"{flag} {name}", value=value, expected="one value only"))
    else:
        question.put(name, value.strip(), "", f"{flag} {name}")
        named.add(name)


def asked(flags: Mapping[str, Any]) -> tuple[Scenario, tuple[str, ...]]:
    """The scenario that the flags describe, and the names that the user set."""
    question = collect(flags)
    return question.scenario(), tuple(question.settings)


def case_of(base: Question, text: str, flag: str = "--case") -> Question:
    """A question with the pairs of one --case (or another flag) laid over; pairs are separated by commas."""
    question = base.copy()
    named: set[str] = set()
    for pair in text.split(","):
        _put_pair(question, pair, flag, (*WORDS, *settable()), named)
    return question
