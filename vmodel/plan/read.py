"""Fleet files to a Fleet: TOML or CSV, several files laid together, and all their faults in one report."""

import csv
import io
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from vmodel.config import knob_value
from vmodel.errors import ConfigError, Fault, UnitError, VmodelError, nearest
from vmodel.files import content
from vmodel.library import tables
from vmodel.library.profile import profile as read_profile
from vmodel.plan.fleet import PERCENTILES, Fleet, HostType, Nic, Rules, Running, VmClass, guest_paths
from vmodel.units import BITS_PER_BYTE

LARGEST_BYTES = 8 << 20
LEAST_LOAD, MOST_LOAD = 1e-5, 1e13  # messages per second of one VM: one in a day, and ten each picosecond
LISTS: Mapping[str, type[BaseModel]] = {"host": HostType, "vm": VmClass, "running": Running}
NIC_PREFIX, SETTING_PREFIX, VM_PREFIX = "nic_", "set_", "vms_"
MANY = ("paths", "n_minus_1")
CHOSEN_ELSEWHERE = {  # knobs that a fleet file says in other words
    "size": "size", "link_gbps": "nics", "vcpus": "vcpus", "in_flight": "in_flight", "flows": "flows",
}  # fmt: skip


def read_fleet(files: Sequence[str]) -> Fleet:
    """Read one fleet from TOML and CSV files; raises ConfigError with every fault of all of them."""
    faults: list[Fault] = []
    body: dict[str, Any] = {}
    origin: dict[tuple[str, int], str] = {}
    for file in files:
        found = _csv_body(file, faults) if file.lower().endswith(".csv") else _toml_body(file, faults)
        _lay(body, found, file, origin, faults)
    where = files[0] if len(files) == 1 else ", ".join(files)
    if faults and not body:
        raise ConfigError(faults)
    fleet = _validated(body, where, origin, faults)
    faults.extend(_crossed(body, where, origin))
    faults.extend(_growth_faults(fleet.vm, fleet.rules, where) if fleet is not None else [])
    if faults or fleet is None:
        raise ConfigError(faults)
    return fleet


def fleet_of(body: Mapping[str, Any], where: str = "fleet") -> Fleet:
    """A fleet from a table in memory; raises ConfigError with every fault."""
    faults: list[Fault] = []
    fleet = _validated(dict(body), where, {}, faults)
    faults.extend(_crossed(dict(body), where, {}))
    faults.extend(_growth_faults(fleet.vm, fleet.rules, where) if fleet is not None else [])
    if faults or fleet is None:
        raise ConfigError(faults)
    return fleet


def _content(file: str, faults: list[Fault]) -> str | None:
    try:
        return content(file, LARGEST_BYTES, "a fleet file").decode("utf-8-sig")
    except ConfigError as error:
        faults.extend(error.faults)
    except UnicodeDecodeError:
        faults.append(Fault(file=file, key="", expected="text in UTF-8"))
    return None


def _toml_body(file: str, faults: list[Fault]) -> dict[str, Any]:
    text = _content(file, faults)
    if text is None:
        return {}
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        faults.append(Fault(file=file, key="", expected=f"TOML ({error})"))
    return {}


def _csv_body(file: str, faults: list[Fault]) -> dict[str, Any]:
    """Rows with a column `table` (host, vm, running, rules); the other columns are keys, empty cells are left out."""
    text = _content(file, faults)
    if text is None:
        return {}
    body: dict[str, Any] = {}
    try:
        rows = csv.reader(io.StringIO(text), strict=True)
        head = [cell.strip() for cell in next(rows, [])]
        if "table" not in head:
            guess = nearest("table", head)
            faults.append(
                Fault(file=file, key="", expected="a column `table` (host, vm, running, rules)", nearest=guess)
            )
            return {}
        for row in rows:
            if any(cell.strip() for cell in row):
                _put_row(body, head, row, f"{file}:{rows.line_num}", faults)
    except csv.Error as error:
        faults.append(Fault(file=file, key="", expected=f"CSV ({error})"))
    return body


def _put_row(body: dict[str, Any], head: Sequence[str], row: Sequence[str], place: str, faults: list[Fault]) -> None:
    if len(row) > len(head):
        faults.append(Fault(file=place, key="", expected=f"{len(head)} cells, as in the head"))
        return
    cells = {key: cell.strip() for key, cell in zip(head, row, strict=False) if cell.strip()}
    table = cells.pop("table", "")
    out: dict[str, Any] = {}
    for key, cell in cells.items():
        value = _cell(cell)
        if table == "host" and key.startswith(NIC_PREFIX):
            out.setdefault("nics", [{}])[0][key.removeprefix(NIC_PREFIX)] = value
        elif table == "vm" and key.startswith(SETTING_PREFIX):
            out.setdefault("settings", {})[key.removeprefix(SETTING_PREFIX)] = value
        elif table == "running" and key.startswith(VM_PREFIX):
            out.setdefault("vms", {})[key.removeprefix(VM_PREFIX)] = value
        else:
            out[key] = cell.split() if key in MANY else value
    if table == "rules":
        body.setdefault("rules", {}).update(out)
    elif table in LISTS:
        body.setdefault(table, []).append(out)
    else:
        known = (*LISTS, "rules")
        faults.append(
            Fault(
                file=place,
                key="table",
                value=table,
                expected=f"one of {', '.join(known)}",
                nearest=nearest(table, known),
            )
        )


def _cell(text: str) -> Any:
    """A cell as TOML would read it: number, truth value, or text."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        number = float(text)
    except ValueError:
        return text
    return int(number) if number.is_integer() and abs(number) < float(1 << 53) and "e" not in text.lower() else number


def _lay(
    body: dict[str, Any],
    found: Mapping[str, Any],
    file: str,
    origin: dict[tuple[str, int], str],
    faults: list[Fault],
) -> None:
    """Lay one file's tables beside those of the files before it."""
    for key, value in found.items():
        if key in LISTS and isinstance(value, list):
            rows = body.setdefault(key, [])
            for row in value:
                origin[(key, len(rows))] = file
                rows.append(row)
        elif key == "rules" and isinstance(value, dict):
            rules = body.setdefault("rules", {})
            faults.extend(
                Fault(file=file, key=f"rules.{name}", expected="one value only") for name in value if name in rules
            )
            rules.update(value)
        else:
            body[key] = value


def _validated(
    body: Mapping[str, Any], where: str, origin: Mapping[tuple[str, int], str], faults: list[Fault]
) -> Fleet | None:
    try:
        return Fleet.model_validate(body)
    except ValidationError as error:
        told = error.errors(include_url=False)
        inner = {e["loc"][0] for e in told if len(e["loc"]) > 1}
        faults.extend(  # a list whose tables are wrong is not told to be too short as well
            _fault(e, body, where, origin) for e in told if not (len(e["loc"]) == 1 and e["loc"][0] in inner)
        )
    return None


def _fault(error: Any, body: Mapping[str, Any], where: str, origin: Mapping[tuple[str, int], str]) -> Fault:
    """One line for what the shape refused: where, value, what the field is for, the nearest key."""
    loc: tuple[Any, ...] = tuple(error["loc"])
    model, field = _field(loc)
    file = origin.get((str(loc[0]), loc[1]), where) if len(loc) > 1 and isinstance(loc[1], int) else where
    key, value = _key(loc, body), error["input"]
    if error["type"] == "extra_forbidden":
        known = tuple(model.model_fields) if model is not None else ()
        return Fault(file=file, key=key, expected="a known key", nearest=nearest(str(loc[-1]), known))
    expected = field.description if field is not None and field.description else str(error["msg"])
    if error["type"] == "missing":
        return Fault(file=file, key=key, expected=expected)
    choices = error.get("ctx", {}).get("expected", "") if error["type"] == "literal_error" else ""
    guess = (
        nearest(value, [c.strip(" '") for c in choices.replace(" or ", ",").split(",")])
        if choices and isinstance(value, str)
        else None
    )
    shown = value if isinstance(value, (str, int, float, bool)) else None if value is None else str(value)
    return Fault(file=file, key=key, value=shown, expected=expected, nearest=guess)


def _field(loc: Sequence[Any]) -> tuple[type[BaseModel] | None, Any]:
    """The model and the field that a place speaks of."""
    models: dict[str, type[BaseModel]] = {**LISTS, "rules": Rules}
    model: type[BaseModel] | None = Fleet
    field: Any = None
    for step in loc:
        if not isinstance(step, str) or model is None:
            continue
        found = model.model_fields.get(step)
        if found is None:
            break
        field = found
        nested = models.get(step) if model is Fleet else Nic if step == "nics" else None
        if nested is None:
            return model, field
        model = nested
    return model, field


def _key(loc: Sequence[Any], body: Mapping[str, Any]) -> str:
    """`vm "web": latency` rather than `vm.3.latency`."""
    parts = [str(step) for step in loc]
    if len(loc) > 1 and loc[0] in LISTS and isinstance(loc[1], int):
        rows = body.get(str(loc[0]))
        row = rows[loc[1]] if isinstance(rows, list) and loc[1] < len(rows) else None
        name = row.get("name") if isinstance(row, dict) else None
        told = f'"{name}"' if isinstance(name, str) else str(loc[1] + 1)
        return ".".join([f"{loc[0]} {told}", *parts[2:]])
    return ".".join(parts)


def _crossed(body: Mapping[str, Any], where: str, origin: Mapping[tuple[str, int], str]) -> list[Fault]:
    """What single tables cannot see: names that must be known or unique, settings, rules that ask for prices."""
    found: list[Fault] = []

    def add(place: tuple[str, int] | None, key: str, expected: str, value: Any = None, near: str | None = None) -> None:
        file = origin.get(place, where) if place is not None else where
        head = _key(place, body) + "." if place is not None else ""
        found.append(Fault(file=file, key=head + key, value=value, expected=expected, nearest=near))

    rows = {kind: _rows(body, kind) for kind in LISTS}
    names = {kind: [r.get("name") for r in rows[kind]] for kind in LISTS}
    for kind, given in names.items():
        for i, name in enumerate(given):
            if isinstance(name, str) and name in given[:i]:
                add((kind, i), "name", "a name that is used once", name)
    for i, row in enumerate(rows["vm"]):
        _vm_faults(i, row, add)
    for i, row in enumerate(rows["host"]):
        _host_faults(i, row, add)
    hosts, vms = [n for n in names["host"] if isinstance(n, str)], [n for n in names["vm"] if isinstance(n, str)]
    for i, row in enumerate(rows["running"]):
        host = row.get("host")
        if isinstance(host, str) and host not in hosts:
            add(("running", i), "host", "the name of a host type of this file", host, nearest(host, hosts))
        placed = row.get("vms")
        for name in placed if isinstance(placed, dict) else ():
            if name not in vms:
                add(("running", i), f"vms.{name}", "the name of a VM class of this file", None, nearest(str(name), vms))
    for i, name in enumerate(names["vm"]):
        _counted(i, name, rows, add)
    rules = body.get("rules")
    wanted = rules.get("minimise") if isinstance(rules, dict) else None
    if wanted in ("price", "watts"):
        for i, row in enumerate(rows["host"]):
            if row.get(wanted) is None:
                add(("host", i), wanted, f"a number, since rules.minimise is {wanted}")
    return found


def _counted(i: int, name: Any, rows: Mapping[str, list[dict[str, Any]]], add: Any) -> None:
    """More VMs of a class cannot run today than the fleet has."""
    try:
        today = sum(int(r.get("count", 1)) * int(r.get("vms", {}).get(name, 0)) for r in rows["running"])
        wanted = 0 if isinstance(rows["vm"][i]["count"], bool) else int(rows["vm"][i]["count"])
    except (KeyError, TypeError, ValueError, AttributeError):
        return
    if today > wanted > 0:
        add(("vm", i), "count", f"at least {today}, which run today according to [[running]]", wanted)


def _rows(body: Mapping[str, Any], kind: str) -> list[dict[str, Any]]:
    rows = body.get(kind)
    return [row if isinstance(row, dict) else {} for row in rows] if isinstance(rows, list) else []


def _vm_faults(i: int, row: Mapping[str, Any], add: Any) -> None:
    paths = row.get("paths")
    given = [path for path in paths if isinstance(path, str)] if isinstance(paths, list) else []
    for path in dict.fromkeys(given):
        if given.count(path) > 1:
            add(("vm", i), "paths", "each path once", path)
        if path.endswith(".toml"):
            _file_faults(i, path, add)
        elif path not in guest_paths():
            add(("vm", i), "paths", "paths of a VM (see `vmodel paths`)", path, nearest(path, guest_paths()))
    percentile = row.get("percentile", PERCENTILES[2])
    if isinstance(percentile, (int, float)) and percentile not in PERCENTILES:
        add(("vm", i), "percentile", f"one of {', '.join(f'{p:g}' for p in PERCENTILES)}", percentile)
    if row.get("workload") == "stream" and row.get("latency") is not None:
        add(("vm", i), "latency", "no latency objective: a stream has a rate, messages that wait are rr or packets")
    settings = row.get("settings")
    for name, value in settings.items() if isinstance(settings, dict) else ():
        if name in CHOSEN_ELSEWHERE:
            add(("vm", i), f"settings.{name}", f"{CHOSEN_ELSEWHERE[name]} of the fleet file in its place")
            continue
        try:
            if name not in tables.priors():
                knob_value(name, value)
        except VmodelError as error:
            near = nearest(str(name), tables.knobs())
            known = name in tables.knobs()
            expected = "a knob (see `vmodel knobs`)"
            if isinstance(error, (ConfigError, UnitError)):
                expected = error.faults[0].expected if isinstance(error, ConfigError) else error.wanted
            add(("vm", i), f"settings.{name}", expected, value if known else None, None if known else near)


def _file_faults(i: int, path: str, add: Any) -> None:
    """A path of one's own must be one that a VM can have."""
    try:
        place = tables.endpoint(path).place
    except VmodelError as error:
        add(("vm", i), "paths", f"a path that can be read: {error.lines()[0]}", path)
        return
    if place != "guest":
        add(("vm", i), "paths", "a path that begins in a guest", path)


def _growth_faults(vms: Sequence[VmClass], rules: Rules, where: str) -> list[Fault]:
    """Traffic at the horizon that no network could carry is a slip of the pen."""
    factor = (1 + rules.growth_per_year) ** rules.horizon_years
    found = []
    for vm in vms:
        kind, value = vm.rate
        messages = value / (vm.size * BITS_PER_BYTE) if kind == "throughput_bps" else value
        if not LEAST_LOAD <= messages <= MOST_LOAD or not messages * factor <= MOST_LOAD:
            grown = " at rules.horizon_years" if factor > 1 else ""
            expected = f"{LEAST_LOAD:g} to {MOST_LOAD:g} messages per second of one VM{grown}"
            found.append(Fault(file=where, key=f'vm "{vm.name}".rate', value=messages * factor, expected=expected))
    return found


def _host_faults(i: int, row: Mapping[str, Any], add: Any) -> None:
    profile = row.get("profile", "generic")
    if isinstance(profile, str):
        try:
            read_profile(profile)
        except VmodelError as error:
            near = getattr(error, "nearest", None)
            known = "a profile (see `vmodel profiles`) or a file ending in .toml"
            expected = known if profile[-5:] != ".toml" else f"a profile that can be read: {error.lines()[0]}"
            add(("host", i), "profile", expected, profile, near)
    cores, kept = row.get("cores"), row.get("reserved_cores", 0)
    if type(cores) is int and isinstance(kept, int) and kept >= cores > 0:
        add(("host", i), "reserved_cores", f"fewer than the {cores} cores", kept)
    idle, full = row.get("watts_idle"), row.get("watts")
    if isinstance(idle, (int, float)) and (not isinstance(full, (int, float)) or idle > full):
        add(("host", i), "watts_idle", "no more than watts, which must be given too", idle)
    nodes = row.get("numa_nodes", 1)
    nics = row.get("nics")
    for nic in nics if isinstance(nics, list) else ():
        node = nic.get("node") if isinstance(nic, dict) else None
        if isinstance(node, int) and isinstance(nodes, int) and node >= nodes > 0:
            add(("host", i), "nics.node", f"a node from 0 to {nodes - 1}", node)
