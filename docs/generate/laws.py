"""The laws page: every function and module of the program whose text names a source, and what it says of itself."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from docs.generate import places
from docs.generate.markup import code, prose, table
from vmodel.library import tables

HOME = Path(__file__).resolve().parents[2]
ROOMS = {
    "solve": "From declarations to numbers",
    "sweep": "Sweeps",
    "plan": "Planning and tuning",
    "calibrate": "From measurements to parameters",
    "simulate": "Simulation",
}
Block = ast.Module | ast.FunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """A function, class or module that rests on sources; a module has no name."""

    module: str  # room/module
    name: str
    about: str
    sources: tuple[str, ...]


def _pieces(tree: ast.Module, lines: list[str]) -> Iterator[tuple[Block, str, str]]:
    """The functions and classes of a module with their own text, then the module with what is left."""
    left = list(lines)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node, node.name, "\n".join(lines[node.lineno - 1 : node.end_lineno])
            left[node.lineno - 1 : node.end_lineno] = [""] * ((node.end_lineno or node.lineno) - node.lineno + 1)
    yield tree, "", "\n".join(left)


@cache
def laws() -> tuple[Law, ...]:
    """Every place that names a source, module by module."""
    keys = re.compile(rf"\b({'|'.join(map(re.escape, tables.references()))})\b")
    out = []
    for room in ROOMS:
        for path in sorted((HOME / "vmodel" / room).glob("*.py")):
            text = path.read_text("utf-8")
            for node, name, own in _pieces(ast.parse(text), text.splitlines()):
                found = tuple(dict.fromkeys(keys.findall(own)))
                about = (ast.get_docstring(node) or "").split("\n\n")[0]
                if found:
                    out.append(Law(module=f"{room}/{path.stem}", name=name, about=about, sources=found))
    return tuple(out)


def page() -> str:
    """The page of laws."""
    parts = [
        "# Laws and where they come from\n",
        "Functions of the program that rest on a publication, with the first words of what they say of themselves. "
        "How they are put together is told in [the model](../model.md); costs and stages name their sources on "
        "their own pages.\n",
    ]
    for room, title in ROOMS.items():
        found = [law for law in laws() if law.module.startswith(f"{room}/")]
        rows = [
            (
                code(f"{law.module}.{law.name}" if law.name else law.module),
                prose(law.about).strip().replace("\n\n", " "),
                places.sources(places.LAWS, law.sources),
            )
            for law in found
        ]
        if rows:
            parts.append(f"## {title} {{ #{room} }}\n")
            parts.append(table(("where", "what", "source"), rows))
    return "\n".join(parts)


def resting_on(key: str) -> tuple[str, ...]:
    """The modules that name a source."""
    return tuple(dict.fromkeys(law.module for law in laws() if key in law.sources))


def pages() -> dict[str, str]:
    """Address -> text."""
    return {places.LAWS: page()}
