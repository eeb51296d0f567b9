"""The Python API: every public name with its signature, docstring, fields and their units, from the code itself."""

import ast
import dataclasses
import inspect
import re
import textwrap
import typing
from collections.abc import Iterator

import vmodel
from docs.generate import places
from docs.generate.markup import block, code, link, marked, prose, table
from vmodel import errors

# How a name says its unit: the house rule, so the page needs no list of fields.
SUFFIXES = {
    "_interval_bps": "bit/s",
    "_bound_bps": "bit/s",
    "_bps": "bit/s",
    "_interval_pps": "packets/s",
    "_pps": "packets/s",
    "_per_gbps": "per Gbit/s",
    "_per_mpps": "per Mpackets/s",
    "_interval_per_s": "1/s",
    "_per_s": "1/s",
    "_bytes_s": "B/s",
    "_interval_s": "s",
    "_s": "s",
    "_us": "us",
    "_bytes": "B",
    "_ghz": "GHz",
    "_gbps": "Gbit/s",
    "_hz": "Hz",
    "watts": "W",
    "_sd": "logarithm",
    "_error": "logarithm",
    "log_values": "logarithm of SI",
    "worth": "share of the objective",
}
UNITS = {  # of fields whose names do not say it
    "Fit": {
        "covariance": "of logarithms", "jacobian": "logarithm / logarithm", "predicted": "of the row's metric",
        "residuals": "logarithm", "weights": "0 to 1", "noise": "logarithm", "repeat_noise": "logarithm",
        "effective": "parameters",
    },
    "Plan": {"price": "of the fleet file"},
    "Sweep": {"columns": "see `units`"},
    "Tuning": {"optimum": "SI", "fixed": "of each knob", "searched": "of each knob"},
}  # fmt: skip
BACKGROUND = {  # where the law behind a name is told
    "predict": "model.md", "explain": "model.md", "compare": "model.md", "Prediction": "model.md",
    "fit": "model.md", "Fit": "model.md", "diagnose": "diagnose.md", "suggest": "suggest.md", "tune": "tune.md",
    "Tuning": "tune.md", "plan_fleet": "planning.md", "Plan": "planning.md", "read_fleet": "planning.md",
    "run_sweep": "sweep.md", "Sweep": "sweep.md", "figure": "sweep.md", "read_output": "ingest.md",
    "settings_from": "ingest.md", "read_rows": places.FILES, "profile": places.PROFILES,
    "Profile": places.PROFILES, "bibliography": places.SOURCES, "VmodelError": places.ERRORS,
    "path_names": places.PATHS, "scenario": places.KNOBS, "Scenario": places.KNOBS,
}  # fmt: skip


def unit_of(name: str) -> str:
    """The unit that a field's name says; empty where it says none."""
    return next((unit for suffix, unit in SUFFIXES.items() if name.endswith(suffix)), "")


def signature(name: str) -> str:
    """A function's signature as it is written, without the homes of its types."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(getattr(vmodel, name))))
    function = next(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    returns = "" if function.returns is None else f" -> {ast.unparse(function.returns)}"
    text = f"vmodel.{name}({ast.unparse(function.args)}){returns}"
    if len(text) <= 100:
        return text
    inner = [f"    {part}," for part in _arguments(function.args)]
    return "\n".join([f"vmodel.{name}(", *inner, f"){returns}"])


def _arguments(a: ast.arguments) -> Iterator[str]:
    given = [None] * (len(a.args) - len(a.defaults)) + list(a.defaults)
    for argument, default in zip(a.args, given, strict=True):
        yield ast.unparse(argument) + (f" = {ast.unparse(default)}" if default is not None else "")
    if a.kwonlyargs:
        yield "*"
    for argument, default in zip(a.kwonlyargs, a.kw_defaults, strict=True):
        yield ast.unparse(argument) + (f" = {ast.unparse(default)}" if default is not None else "")
    if a.kwarg:
        yield f"**{ast.unparse(a.kwarg)}"


def remarks(cls: type) -> dict[str, str]:
    """Field -> the remark beside it in the code."""
    found = {}
    for line in inspect.getsource(cls).splitlines():
        match = re.match(r"\s+(\w+):[^#]*#\s+(.*)$", line)
        if match:
            found[match[1]] = match[2]
    return found


def fields(cls: type) -> list[tuple[str, str, str, str]]:
    """Name, type, unit and remark of every field of a record, then of its properties."""
    beside = remarks(cls)
    written = {f.name: f.type if isinstance(f.type, str) else _type(f.type) for f in dataclasses.fields(cls)}
    units = UNITS.get(cls.__name__, {})
    rows = [(n, kind, units.get(n) or unit_of(n), beside.get(n, "")) for n, kind in written.items()]
    for name, value in vars(cls).items():
        if isinstance(value, property) and not name.startswith("_"):
            kind = _type(typing.get_type_hints(value.fget).get("return", ""))
            rows.append((name, f"property, {kind}", units.get(name) or unit_of(name), inspect.getdoc(value) or ""))
    return rows


def _type(kind: object) -> str:
    text = kind.__name__ if isinstance(kind, type) and not typing.get_args(kind) else str(kind)
    text = re.sub(r"numpy\.ndarray\[.*\]", "array", text.replace("typing.", ""))
    return re.sub(r"\b(?:\w+\.)+(?=\w)", "", text).replace("'", "")


def entry(name: str) -> str:
    """Everything about one public name."""
    thing = getattr(vmodel, name)
    parts = [f"### `{name}` {{ #{'class-' if inspect.isclass(thing) else ''}{name.lower()} }}\n"]
    if not inspect.isclass(thing):
        parts.append(block(signature(name), "python"))
    arguments = () if inspect.isclass(thing) else inspect.signature(thing).parameters
    parts.append(prose(inspect.getdoc(thing) or "", arguments))
    if dataclasses.is_dataclass(thing):
        rows = [(code(n), code(kind), unit, prose(told).strip()) for n, kind, unit, told in fields(thing)]
        parts.append(table(("field", "type", "unit", ""), rows))
    if name in BACKGROUND:
        page = BACKGROUND[name]
        told = page.removesuffix(".md").removesuffix("/index").removeprefix("reference/")
        parts.append(f"\nBackground: {link(places.API, told, page)}.\n")
    return "\n".join(parts)


def api() -> str:
    """The page of the public names."""
    functions = [n for n in vmodel.__all__ if not inspect.isclass(getattr(vmodel, n))]
    records = [n for n in vmodel.__all__ if n not in functions]
    return "\n".join(
        [
            "# Python API\n",
            "`import vmodel` gives these names; all else may move. Everything inside is SI, and the unit is in the "
            "name: `_s` seconds, `_bps` bits per second, `_pps` packets per second, `_per_s` per second. Names "
            "with `log_` are natural logarithms; an error of a logarithm is a relative error. Settings have the "
            f"units of the {link(places.API, 'knobs', places.KNOBS)}. What the user can mend is raised as a "
            f"{link(places.API, 'VmodelError', places.ERRORS)}.\n",
            "## Functions\n",
            *(entry(name) for name in functions),
            "## Records\n",
            *(entry(name) for name in records),
        ]
    )


def error_classes() -> list[type]:
    """Every exception that is raised on purpose, parents first."""
    found = [c for _, c in inspect.getmembers(errors, inspect.isclass) if issubclass(c, errors.VmodelError)]
    return sorted(found, key=lambda c: (len(c.__mro__), c.__name__))


def error_page() -> str:
    """The exceptions."""
    rows = []
    for cls in error_classes():
        own = [c.__name__ for c in cls.__mro__[1:] if c.__module__ == "builtins" and c not in (object, BaseException)]
        holds = [] if cls is errors.VmodelError else list(inspect.signature(cls).parameters)
        held = ", ".join(code(h) for h in holds)
        rows.append((marked(cls.__name__), prose(inspect.getdoc(cls) or "").strip(), held, ", ".join(own[:1])))
    return "\n".join(
        [
            "# Errors\n",
            "`str()` of each is one line for every fault, fit to be shown to a person; the command line prints it "
            "and ends with exit code 2. A path without capacity or a fleet without room is no error but an answer "
            "with a reason.\n",
            table(("class", "means", "fields", "is also a"), rows),
        ]
    )


def pages() -> dict[str, str]:
    """Address -> text."""
    return {places.API: api(), places.ERRORS: error_page()}
