"""Formulas -> text: a generated module for each room of the library, and a script for pages, all shipped.

The text is a function of the library alone, so nothing is compiled or cached at run time: paths, also those that a
user writes, are made of stages that are here. `python -m vmodel.solve.compile` rewrites all; a test compares.
Each module is a function of the five elementary functions that formulas use, so that floats (math) and arrays (NumPy)
share one text.
"""

import hashlib
import json
import textwrap
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import sympy
from sympy.printing.jscode import JavascriptCodePrinter
from sympy.printing.pycode import PythonCodePrinter

from vmodel.core.stage import Stage, Traffic
from vmodel.library.catalog import ROOMS, STAGES
from vmodel.library.traffic import TRAFFIC

PACKAGE = Path(__file__).resolve().parents[1]
FORMAT = 2
VSOCK_WORDS = ("vsock_packets", "vsock_fill", "vsock_large", "vsock_cold_bytes", "first_packet_bytes")
HEADER = '"""Generated from the formulas of vmodel.library.{room} by vmodel.solve.compile; do not edit. Key {key}."""\n'
FUNCTIONS = ("ceil", "floor", "maximum", "minimum", "sqrt")
SCRIPT_HEADER = "// Generated from the formulas of vmodel.library by vmodel.solve.compile; do not edit. Key {key}.\n"
SCRIPT = """
const { ceil, floor, sqrt } = Math;
const maximum = (a, b) => (a >= b ? a : b);
const minimum = (a, b) => (a <= b ? a : b);

"""


class _Calls:
    """Max and Min become nested calls of two arguments; the names of functions are the same in every language."""

    _print: Callable[[sympy.Expr], str]

    def _nested(self, call: str, arguments: Iterable[sympy.Expr]) -> str:
        first, *rest = (self._print(a) for a in arguments)
        text = str(first)
        for argument in rest:
            text = f"{call}({text}, {argument})"
        return text

    def _print_Max(self, expression: sympy.Expr) -> str:
        return self._nested("maximum", expression.args)

    def _print_Min(self, expression: sympy.Expr) -> str:
        return self._nested("minimum", expression.args)

    def _print_ceiling(self, expression: sympy.Expr) -> str:
        return f"ceil({self._print(expression.args[0])})"

    def _print_floor(self, expression: sympy.Expr) -> str:
        return f"floor({self._print(expression.args[0])})"


class _Printer(_Calls, PythonCodePrinter):
    """Python text that works on floats and on arrays."""

    def _print_Pow(self, expression: sympy.Expr, rational: bool = False) -> str:
        half = sympy.Rational(1, 2)
        if expression.exp == half:
            return f"sqrt({self._print(expression.base)})"
        if expression.exp == -half:
            return f"1/sqrt({self._print(expression.base)})"
        return str(super()._print_Pow(expression, rational=rational))


class _ScriptPrinter(_Calls, JavascriptCodePrinter):
    """JavaScript text."""


SCRIPT_PRINTER = _ScriptPrinter()
PRINTER = _Printer({"fully_qualified_modules": False})


def python(expression: sympy.Expr) -> str:
    """Return the expression as Python text over maximum, minimum, ceil and sqrt."""
    return str(PRINTER.doprint(expression))


def _stage_text(stage: Stage) -> str:
    arguments = ", ".join((*stage.words, *stage.parameters))
    partials = [python(sympy.diff(stage.seconds, sympy.Symbol(p, nonnegative=True))) for p in stage.parameters]
    gradient = "(" + "".join(f"{text}, " for text in partials) + ")"
    text = f"def {stage.name}({arguments}):\n    return {python(stage.seconds)}\n\n\n"
    text += f"def {stage.name}_gradient({arguments}):\n    return {gradient}\n\n\n"
    if stage.bus_bytes != 0:
        text += f"def {stage.name}_bus({', '.join(stage.words)}):\n    return {python(stage.bus_bytes)}\n\n\n"
    return text


def javascript(expression: sympy.Expr) -> str:
    """Return the expression as JavaScript text over maximum, minimum, ceil, floor and sqrt."""
    return str(SCRIPT_PRINTER.doprint(expression))


def _parts(traffic: Traffic) -> dict[str, tuple[str, ...]]:
    """The words of a traffic in two parts, since few paths need those of vsock."""
    special = tuple(word for word in traffic.counts if word in VSOCK_WORDS)
    return {
        traffic.name: tuple(word for word in traffic.counts if word not in special),
        f"{traffic.name}_vsock": special,
    }


def _rests_on(traffic: Traffic, names: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Knob words that each count of a traffic rests on."""
    return {name: tuple(sorted(str(s) for s in traffic.counts[name].free_symbols)) for name in names}


def _traffic_text(all_of_them: Iterable[Traffic]) -> str:
    """The functions of every part; a part that counts what one before it counts is that one under another name."""
    text = ""
    written: dict[str, str] = {}
    for part, names, traffic in [(part, names, t) for t in all_of_them for part, names in _parts(t).items()]:
        wanted = [traffic.counts[word] for word in names]
        knobs = sorted({str(s) for e in wanted for s in e.free_symbols})
        shared, counts = sympy.cse(wanted, order="canonical")
        steps = "".join(f"    {symbol} = {python(e)}\n" for symbol, e in shared)
        lines = "".join(f"        {word!r}: {python(e)},\n" for word, e in zip(names, counts, strict=True))
        body = f"({', '.join(knobs)}):\n{steps}    return {{\n{lines}    }}\n\n\n"
        same = written.setdefault(body, part)
        if same == part:
            text += f"def traffic_{part}{body}traffic_{part}_knobs = {tuple(knobs)!r}\n\n\n"
        else:
            text += f"traffic_{part}, traffic_{part}_knobs = traffic_{same}, traffic_{same}_knobs\n\n\n"
    return text


def _stage_rows(stages: Iterable[Stage]) -> str:
    rows = []
    for s in stages:
        bus = f"{s.name}_bus" if s.bus_bytes != 0 else "None"
        rows.append(
            f"    {s.name!r}: ({s.name}, {s.name}_gradient, {bus}, {s.words!r}, {s.parameters!r}, {s.occupies!r},"
            f" {s.when!r}, {s.variability!r}, {s.cites!r}, {s.about!r}, {s.spins!r}),\n"
        )
    return "{\n" + "".join(rows) + "}\n"


def _traffic_rows() -> str:
    rows = (
        f"    {part!r}: (traffic_{part}, traffic_{part}_knobs, {names!r}, {_rests_on(t, names)!r}),\n"
        for t in TRAFFIC
        for part, names in _parts(t).items()
    )
    return "{\n" + "".join(rows) + "}\n"


def _module(room: str, functions: str, rows: str) -> str:
    """A module with one function, which defines the formulas of a room and gives their table."""
    body = textwrap.indent(f"{functions}return {rows}", "    ")
    key = hashlib.sha256(f"{FORMAT}{sympy.__version__}{body}".encode()).hexdigest()[:16]
    return f"{HEADER.format(room=room, key=key)}\n\ndef formulas({', '.join(FUNCTIONS)}):\n{body}"


def _script_stage(stage: Stage) -> str:
    """One row of the script's table of stages, in the order of the fields of `evaluate.Row`."""
    arguments = ", ".join((*stage.words, *stage.parameters))
    partials = [javascript(sympy.diff(stage.seconds, sympy.Symbol(p, nonnegative=True))) for p in stage.parameters]
    bus = f"({', '.join(stage.words)}) => {javascript(stage.bus_bytes)}" if stage.bus_bytes != 0 else "null"
    facts = (
        stage.words, stage.parameters, stage.occupies, stage.when, stage.variability, stage.cites, stage.about,
        stage.spins,
    )  # fmt: skip
    rows = [f"({arguments}) => {javascript(stage.seconds)}", f"({arguments}) => [{', '.join(partials)}]", bus]
    return f"  [{json.dumps(stage.name)}, [{', '.join([*rows, *(json.dumps(fact) for fact in facts)])}]],\n"


def _script_traffic(traffic: Traffic) -> str:
    text = ""
    for part, names in _parts(traffic).items():
        wanted = [traffic.counts[word] for word in names]
        knobs = sorted({str(s) for e in wanted for s in e.free_symbols})
        shared, counts = sympy.cse(wanted, order="canonical")
        steps = "".join(f"const {symbol} = {javascript(e)}; " for symbol, e in shared)
        lines = ", ".join(f"[{json.dumps(word)}, {javascript(e)}]" for word, e in zip(names, counts, strict=True))
        function = f"({', '.join(knobs)}) => {{ {steps}return new Map([{lines}]); }}"
        rests = json.dumps(list(_rests_on(traffic, names).items()))
        text += f"  [{json.dumps(part)}, [{function}, {json.dumps(knobs)}, {json.dumps(names)}, new Map({rests})]],\n"
    return text


def _script(stages: Mapping[str, Stage]) -> str:
    """The stages and counts as two tables, with the text of each stage's formula for people to read."""
    formulas = {s.name: python(s.seconds) for s in stages.values()}
    text = "const STAGES = new Map([\n" + "".join(_script_stage(s) for s in stages.values()) + "]);\n"
    text += "const TRAFFIC = new Map([\n" + "".join(_script_traffic(t) for t in TRAFFIC) + "]);\n"
    return text + f"const FORMULAS = {json.dumps(formulas, indent=1)};\n"


def generate() -> dict[str, str]:
    """Return file name -> text of the generated modules and of the script."""
    found = {
        f"{room}.py": _module(room, "".join(_stage_text(s) for s in stages), _stage_rows(stages))
        for room, stages in ROOMS.items()
    }
    found["traffic.py"] = _module("traffic", _traffic_text(TRAFFIC), _traffic_rows())
    body = SCRIPT + _script(STAGES)
    key = hashlib.sha256(f"{FORMAT}{sympy.__version__}{body}".encode()).hexdigest()[:16]
    return {**found, "stages.js": SCRIPT_HEADER.format(key=key) + body}


def write(folder: Path = PACKAGE / "compiled") -> None:
    """Write the generated modules beside the package's other code."""
    for name, text in generate().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
