"""Which functions a page needs, followed from a few names through every call, and their text in JavaScript.

The sources of the installed package are read; what is not reached is not printed. A name may be provided instead: what
reads files in Python is data in a page.
"""

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from vmodel.translate.expressions import Expressions, Signature, Untranslatable, identifier, literal
from vmodel.translate.statements import Statements

RECORDS = ("dataclass", "NamedTuple")
KNOWN_DECORATORS = ("cache", "dataclass", "property")
RUNTIME: Mapping[tuple[str, str], str] = {("types", "MappingProxyType"): "$py.dict"}
SKIPPED = ("__slots__", "__repr__", "_repr_html_")  # what means nothing in a page


@dataclass(frozen=True, slots=True, kw_only=True)
class _Module:
    name: str
    file: str
    definitions: Mapping[str, ast.stmt]
    imports: Mapping[str, tuple[str, str | None]]


@dataclass(slots=True, kw_only=True)
class _Parts:
    """The text so far: functions and classes are known everywhere, constants are worked out at the end, in order."""

    definitions: list[str] = field(default_factory=list)
    constants: list[str] = field(default_factory=list)


@cache
def _exists(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except (ModuleNotFoundError, ValueError):
        return False


@cache
def _module(name: str) -> _Module:
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise Untranslatable(f"{name}: no such module")
    path = Path(spec.origin)
    file = "/".join((*name.split(".")[:-1], path.name))
    definitions: dict[str, ast.stmt] = {}
    imports: dict[str, tuple[str, str | None]] = {}
    for node in ast.parse(path.read_text(encoding="utf-8"), file).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            definitions[node.name] = node
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                for part in ast.walk(target):
                    if isinstance(part, ast.Name):
                        definitions[part.id] = node
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            definitions[node.target.id] = node
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                stands = (whole, None) if _exists(whole) else (str(node.module), alias.name)
                imports[alias.asname or alias.name] = stands
    return _Module(name=name, file=file, definitions=definitions, imports=imports)


class Program:
    """Collects what is needed and prints it. Serves the printers as the one who knows the global names."""

    def __init__(self, provided: Mapping[tuple[str, str], str], package: str = "vmodel") -> None:
        self._provided = provided
        self._package = package
        self._parts = _Parts()
        self._known: dict[tuple[str, str], str] = {}
        self._signatures: dict[str, Signature] = {}
        self._methods: dict[str, str] = {}
        self._owned: set[str] = set()
        self._waiting: list[tuple[_Module, str, str]] = []

    def text(self, roots: Iterable[tuple[str, str]]) -> str:
        """JavaScript of everything that the roots need; raises Untranslatable, with a place, for what is not known."""
        for module, name in roots:
            if self.constant(module, name) is None:
                raise Untranslatable(f"{module}.{name}: no such name")
        while self._waiting:
            self._define(*self._waiting.pop(0))
        for name, where in self._methods.items():
            if name not in self._owned:
                raise Untranslatable(f"{where}: the method {name} has no translation")
        return "\n\n".join([*self._parts.definitions, *self._parts.constants]) + "\n"

    # what the printers ask

    def constant(self, module: str, name: str) -> str | None:
        """JavaScript of a global name of a module, None if it has none."""
        key = (module, name)
        if key in RUNTIME:
            return RUNTIME[key]
        if not self._ours(module):
            return None
        if key not in self._known:
            found = _module(module)
            if key in self._provided:
                self._known[key] = self._provided[key]
                node = found.definitions.get(name)
                if isinstance(node, ast.FunctionDef):
                    self._signatures[self._provided[key]] = _signature(node)
            elif name in found.definitions:
                self._known[key] = script = f"{'_'.join(module.split('.')[1:])}__{identifier(name)}"
                self._take(found, name, script)
            elif name in found.imports and found.imports[name][1] is not None:
                home, real = found.imports[name]
                return self.constant(home, str(real))
            else:
                return None
        return self._known[key]

    def module_of(self, module: str, name: str) -> str | None:
        """The module that a global name of a module stands for, if it is one."""
        whole = f"{module}.{name}"
        if not self._ours(module):
            return None
        if _exists(whole):
            return whole
        home, real = _module(module).imports.get(name, (None, ""))
        return home if real is None else None

    def _ours(self, module: str) -> bool:
        return module.partition(".")[0] == self._package

    def signature(self, script: str) -> Signature | None:
        """How the thing of this JavaScript name is called."""
        return self._signatures.get(script)

    def method(self, name: str, where: str) -> None:
        """Keep note that objects of ours must have such a method."""
        self._methods.setdefault(name, where)

    # what is printed

    def _take(self, module: _Module, name: str, script: str) -> None:
        """Learn how a name is called, and print it later; constants are printed at once, after what they rest on."""
        node = module.definitions[name]
        if isinstance(node, ast.FunctionDef):
            self._signatures[script] = _signature(node)
        elif isinstance(node, ast.ClassDef):
            self._signatures[script] = _record(node, Expressions(module.name, module.file, self))[0]
        else:
            self._constant(module, name, script, Expressions(module.name, module.file, self))
            return
        self._waiting.append((module, name, script))

    def _define(self, module: _Module, name: str, script: str) -> None:
        node = module.definitions[name]
        words = Expressions(module.name, module.file, self)
        if isinstance(node, ast.FunctionDef):
            decorators = [_decorator(d) for d in node.decorator_list]
            if not set(decorators) <= {"cache"}:
                words.fail(node, f"the decorator {decorators[0]}")
            body = Statements(words).function(node, script)
            if decorators:
                body = f"const {script} = $cache({body.replace(f'function {script}', 'function ', 1)});"
            self._parts.definitions.append(f"// {module.file}:{node.lineno}\n{body}")
        elif isinstance(node, ast.ClassDef):
            body = self._class(node, script, _record(node, words)[1], words)
            self._parts.definitions.append(f"// {module.file}:{node.lineno}\n{body}")

    def _constant(self, module: _Module, name: str, script: str, words: Expressions) -> None:
        """A constant: its value where it is plain, else the expression that makes it."""
        node = module.definitions[name]
        value = getattr(import_module(module.name), name)
        shown = None if isinstance(value, list) else literal(value)
        if shown is None:
            expression = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
            if expression is None:
                words.fail(node, f"the constant {name}")
            shown = words.value(expression)
        self._parts.constants.append(f"const {script} = {shown};")

    def _class(self, node: ast.ClassDef, script: str, fields: Mapping[str, str | None], words: Expressions) -> str:
        statements = Statements(words)
        lines, after = [], []
        self._owned |= set(fields)
        if self._signatures[script].record:
            taken = "\n".join(
                f"    this.{name} = {f'$given.{name}' if default is None else f'$or($given.{name}, () => {default})'};"
                for name, default in fields.items()
            )
            lines.append(f"  constructor($given) {{\n{taken}\n  }}")
            after.append(f"{script}.fields = {literal(tuple(fields))};")
        for part in node.body:
            if isinstance(part, ast.FunctionDef) and part.name not in SKIPPED:
                self._owned.add(part.name)
                prefix = "get " if any(_decorator(d) == "property" for d in part.decorator_list) else ""
                shown = "constructor" if part.name == "__init__" else f"{prefix}{part.name}"
                text = statements.function(part, shown, method=True)
                lines.append("\n".join(f"  {line}" for line in text.split("\n")))
            elif isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name):
                name = part.targets[0].id
                if isinstance(part.value, ast.Name):
                    after.append(f"{script}.prototype.{name} = {script}.prototype.{part.value.id};")
                elif name not in SKIPPED and literal(getattr(part.value, "value", None)) != "null":
                    words.fail(part, f"the class attribute {name}")
        return "\n".join([f"class {script} {{", *lines, "}", *after])


def _decorator(node: ast.expr) -> str:
    inner = node.func if isinstance(node, ast.Call) else node
    return inner.id if isinstance(inner, ast.Name) else ast.unparse(inner)


def _signature(node: ast.FunctionDef, *, made: bool = False) -> Signature:
    names = [a.arg for a in (*node.args.args, *node.args.kwonlyargs)]
    return Signature(names[1:] if made else names, made=made, rest=node.args.vararg is not None)


def _record(node: ast.ClassDef, words: Expressions) -> tuple[Signature, dict[str, str | None]]:
    """How a class is made, and the fields of a record with the JavaScript of their defaults."""
    bases = {base.id for base in node.bases if isinstance(base, ast.Name)}
    kinds = bases | {_decorator(d) for d in node.decorator_list}
    if kinds.isdisjoint(RECORDS):
        maker = next((n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"), None)
        if node.bases or maker is None:
            words.fail(node, f"the class {node.name}")
        return _signature(maker, made=True), {}
    fields: dict[str, str | None] = {}
    for part in node.body:
        if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
            fields[part.target.id] = None if part.value is None else _default(part.value, words)
    return Signature(tuple(fields), record=True, made=True), fields


def _default(node: ast.expr, words: Expressions) -> str:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "field":
        factory = next((k.value for k in node.keywords if k.arg == "default_factory"), None)
        if isinstance(factory, ast.Name) and factory.id in ("dict", "list"):
            return "new Map()" if factory.id == "dict" else "[]"
        words.fail(node, "such a default")
    return words.value(node)
