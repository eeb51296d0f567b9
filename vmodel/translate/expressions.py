"""Python text -> JavaScript text, for the functions of this package: a strict printer that knows few words.

What a person wrote once in Python is printed, not written again. Anything that is not understood is an error that names
file and line; nothing is guessed. Values keep Python's meaning through the small run-time library of the page
(`report/page/python.js`): operators dispatch to `__add__` and its like, dicts are Maps, tuples and lists are arrays,
truth is Python's. What follows an `import numpy` is for arrays only and is not printed.
"""

import ast
import json
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import NoReturn, Protocol


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


RESERVED = _words(
    "arguments await break case catch class const continue debugger default delete do else enum eval export extends"
    " false finally for function if implements import in instanceof interface let new null package private protected"
    " public return static super switch this throw true try typeof undefined var void while with yield"
)
BINARY = {
    ast.Add: "$add", ast.Sub: "$sub", ast.Mult: "$mul", ast.Div: "$div", ast.FloorDiv: "$floordiv", ast.Mod: "$mod",
    ast.Pow: "$pow", ast.BitAnd: "$bitand", ast.BitOr: "$bitor",
}  # fmt: skip
ORDER = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
BUILTINS = _words(
    "abs all any bool dict enumerate float frozenset id int iter len list map max min next range repr reversed round"
    " set sorted str sum tuple zip"
)
KEYWORDS = {  # builtins that take keywords, in the order in which the run-time library has them after the arguments
    "max": ("key", "default"), "min": ("key", "default"), "sorted": ("key", "reverse"), "enumerate": ("start",),
    "zip": ("strict",), "sum": ("start",), "next": (),
}  # fmt: skip
PACKED = frozenset(("max", "min", "zip", "map"))  # take any number of arguments, handed over as one array
METHODS = _words(
    "add append copy endswith extend fromkeys get index isdisjoint items join keys ljust lower lstrip partition pop"
    " removeprefix removesuffix reverse rjust rstrip setdefault split startswith strip union update upper"
    " values"
)
KINDS = {
    "float": "number", "int": "integer", "str": "string", "bool": "boolean", "dict": "map", "Mapping": "map",
    "list": "array", "tuple": "array",
}  # fmt: skip
ARRAY_METHODS = ("all", "any", "max", "min")  # numbers have none: the branch is never taken in a page
LIBRARIES = ("math", "sys")
TRUTHS = frozenset(("isinstance", "any", "all", "bool", "hasattr"))


class Untranslatable(TypeError):
    """Python that the printer does not know."""


class Names(Protocol):
    """Who knows what a global name is, and keeps note of what is needed."""

    def constant(self, module: str, name: str) -> str | None:
        """JavaScript of a global name of a module, None if it has none."""

    def module_of(self, module: str, name: str) -> str | None:
        """The module that a global name of a module stands for, if it is one."""

    def signature(self, script: str) -> "Signature | None":
        """How the thing of this JavaScript name is called."""

    def method(self, name: str, where: str) -> None:
        """Keep note that objects of ours must have such a method."""


class Signature:
    """How a function or class is called: parameters in order, or the fields of a record."""

    def __init__(self, parameters: Sequence[str], *, record: bool = False, made: bool = False, rest: bool = False):
        self.parameters = tuple(parameters)
        self.record = record  # one object with the fields by name
        self.made = made  # a class: `new`
        self.rest = rest  # takes any number of further arguments


def identifier(name: str) -> str:
    """A Python name as a JavaScript one."""
    return f"{name}$" if name in RESERVED else name


def text(value: str) -> str:
    """A string as a JavaScript literal."""
    return json.dumps(value, ensure_ascii=True).replace("</", "<\\/")


class Expressions:
    """Prints the expressions of one module."""

    def __init__(self, module: str, file: str, names: Names) -> None:
        self.module = module
        self.file = file
        self.names = names
        self.locals: list[set[str]] = []
        self.aliases: list[dict[str, tuple[str, str | None]]] = []
        self.count = 0

    def fail(self, node: ast.AST, what: str) -> NoReturn:
        """Refuse a piece of Python, with its place."""
        raise Untranslatable(f"{self.file}:{getattr(node, 'lineno', 0)}: {what} has no translation")

    def fresh(self) -> str:
        self.count += 1
        return f"${self.count}"

    def local(self, name: str) -> bool:
        return any(name in scope for scope in self.locals)

    def _alias(self, name: str) -> tuple[str, str | None] | None:
        return next((table[name] for table in reversed(self.aliases) if name in table), None)

    def known(self, node: ast.AST) -> str | None:
        """The JavaScript name of a global function, class or constant that an expression stands for."""
        if isinstance(node, ast.Name) and not self.local(node.id):
            alias = self._alias(node.id)
            if alias is not None:
                return None if alias[1] is None else self.names.constant(alias[0], alias[1])
            return self.names.constant(self.module, node.id)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and not self.local(node.value.id):
            alias = self._alias(node.value.id)
            home = alias[0] if alias is not None and alias[1] is None else None
            home = home or self.names.module_of(self.module, node.value.id)
            return None if home is None else self.names.constant(home, node.attr)
        return None

    def pattern(self, target: ast.expr) -> str:
        """A target as a destructuring pattern."""
        if isinstance(target, ast.Name):
            return identifier(target.id)
        if isinstance(target, ast.Starred):
            return f"...{self.pattern(target.value)}"
        if isinstance(target, ast.Tuple | ast.List):
            return f"[{', '.join(self.pattern(t) for t in target.elts)}]"
        self.fail(target, f"{type(target).__name__} among several targets")

    def value(self, node: ast.expr) -> str:
        """One expression."""
        printer: Callable[[ast.expr], str] | None = getattr(self, f"_of_{type(node).__name__.lower()}", None)
        if printer is None:
            self.fail(node, f"the expression {type(node).__name__}")
        return printer(node)

    def truth(self, node: ast.expr) -> str:
        """An expression as a JavaScript condition with Python's idea of truth."""
        return self.value(node) if _boolean(node) else f"$truth({self.value(node)})"

    def _of_constant(self, node: ast.Constant) -> str:
        return literal(node.value) or self.fail(node, f"the constant {node.value!r}")

    def _of_name(self, node: ast.Name) -> str:
        if self.local(node.id):
            return identifier(node.id)
        found = self.known(node)
        if found is not None:
            return found
        if node.id in BUILTINS:
            return f"$py.{node.id}"
        self.fail(node, f"the name {node.id}")

    def _number_of(self, node: ast.Attribute) -> str | None:
        """A number of the standard library, as `math.inf` or `sys.float_info.epsilon`."""
        root, _, rest = ast.unparse(node).partition(".")
        if root not in LIBRARIES or self.local(root):
            return None
        found: object = import_module(root)
        for part in rest.split("."):
            found = getattr(found, part, None)
        return literal(found) if isinstance(found, int | float) else None

    def _of_attribute(self, node: ast.Attribute) -> str:
        found = self.known(node)
        if found is not None:
            return found
        number = self._number_of(node)
        if number is not None:
            return number
        if isinstance(node.value, ast.Name) and node.value.id == "math" and not self.local("math"):
            return f"$math.{node.attr}"
        if node.attr == "__getitem__":
            return f"$getter({self.value(node.value)})"
        return f"{self.value(node.value)}.{node.attr}"

    def _of_subscript(self, node: ast.Subscript) -> str:
        if isinstance(node.slice, ast.Slice):
            if node.slice.step is not None:
                self.fail(node, "a slice with a step")
            ends = ["null" if end is None else self.value(end) for end in (node.slice.lower, node.slice.upper)]
            return f"$slice({self.value(node.value)}, {', '.join(ends)})"
        return f"$get({self.value(node.value)}, {self.value(node.slice)})"

    def _of_binop(self, node: ast.BinOp) -> str:
        call = BINARY.get(type(node.op))
        if call is None:
            self.fail(node, f"the operator {type(node.op).__name__}")
        return f"{call}({self.value(node.left)}, {self.value(node.right)})"

    def _of_unaryop(self, node: ast.UnaryOp) -> str:
        if isinstance(node.op, ast.Not):
            return f"!({self.truth(node.operand)})"
        if isinstance(node.op, ast.USub):
            return f"$neg({self.value(node.operand)})"
        if isinstance(node.op, ast.Invert):
            return f"$invert({self.value(node.operand)})"
        return self.value(node.operand)

    def _of_boolop(self, node: ast.BoolOp) -> str:
        sign = " && " if isinstance(node.op, ast.And) else " || "
        if all(_boolean(v) for v in node.values[:-1]):
            return f"({sign.join(self.value(v) for v in node.values)})"
        call = "$both" if isinstance(node.op, ast.And) else "$either"
        found = self.value(node.values[-1])
        for operand in reversed(node.values[:-1]):
            found = f"{call}({self.value(operand)}, () => {found})"
        return found

    def _of_compare(self, node: ast.Compare) -> str:
        operands = [node.left, *node.comparators]
        if len(node.ops) > 1 and not all(_plain(o) for o in operands[1:-1]):
            self.fail(node, "a chain of comparisons with a call inside")
        parts = [self._comparison(op, a, b) for op, a, b in zip(node.ops, operands[:-1], operands[1:], strict=True)]
        return f"({' && '.join(parts)})"

    def _comparison(self, op: ast.cmpop, left: ast.expr, right: ast.expr) -> str:
        a, b = self.value(left), self.value(right)
        if type(op) in ORDER:
            return f"{a} {ORDER[type(op)]} {b}"
        calls: dict[type[ast.cmpop], str] = {
            ast.Eq: f"$eq({a}, {b})", ast.NotEq: f"!$eq({a}, {b})", ast.Is: f"{a} === {b}", ast.IsNot: f"{a} !== {b}",
            ast.In: f"$in({a}, {b})", ast.NotIn: f"!$in({a}, {b})",
        }  # fmt: skip
        return calls[type(op)]

    def _of_ifexp(self, node: ast.IfExp) -> str:
        return f"({self.truth(node.test)} ? {self.value(node.body)} : {self.value(node.orelse)})"

    def _of_namedexpr(self, node: ast.NamedExpr) -> str:
        return f"({identifier(node.target.id)} = {self.value(node.value)})"

    def _items(self, nodes: Iterable[ast.expr]) -> str:
        return ", ".join(
            f"...$list({self.value(n.value)})" if isinstance(n, ast.Starred) else self.value(n) for n in nodes
        )

    def _of_list(self, node: ast.List) -> str:
        return f"[{self._items(node.elts)}]"

    def _of_tuple(self, node: ast.Tuple) -> str:
        return f"[{self._items(node.elts)}]"

    def _of_set(self, node: ast.Set) -> str:
        return f"new Set([{self._items(node.elts)}])"

    def _of_dict(self, node: ast.Dict) -> str:
        pairs = [
            f"...$pairs({self.value(v)})" if k is None else f"[{self.value(k)}, {self.value(v)}]"
            for k, v in zip(node.keys, node.values, strict=True)
        ]
        return f"new Map([{', '.join(pairs)}])"

    def _of_lambda(self, node: ast.Lambda) -> str:
        arguments = node.args
        if arguments.defaults or arguments.vararg or arguments.kwonlyargs:
            self.fail(node, "a lambda with more than plain arguments")
        names = [a.arg for a in arguments.args]
        self.locals.append(set(names))
        found = f"(({', '.join(identifier(n) for n in names)}) => ({self.value(node.body)}))"
        self.locals.pop()
        return found

    def _of_joinedstr(self, node: ast.JoinedStr) -> str:
        parts = []
        for value in node.values:
            if isinstance(value, ast.Constant):
                parts.append(text(str(value.value)))
                continue
            if not isinstance(value, ast.FormattedValue) or value.conversion not in (-1, ord("r")):
                self.fail(node, "such a piece of an f-string")
            shown = self.value(value.value)
            if value.conversion == ord("r"):
                shown = f"$py.repr({shown})"
            spec = '""' if value.format_spec is None else self.value(value.format_spec)
            parts.append(f"$format({shown}, {spec})")
        return f"({' + '.join(parts)})" if parts else '""'

    def source(self, node: ast.expr) -> str:
        """What a loop runs over; the pairs of a dict are not copied first."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "items":
            return f"$entries({self.value(node.func.value)})"
        return f"$list({self.value(node)})"

    def _comprehension(self, generators: Sequence[ast.comprehension], empty: str, keep: Callable[[], str]) -> str:
        """Nested loops around one statement that keeps a result."""
        opened, closed, depth = "", "", 0
        for generator in generators:
            source = self.source(generator.iter)
            self.locals.append(_targets(generator.target))
            depth += 1
            opened += f"for (const {self.pattern(generator.target)} of {source}) {{ "
            for condition in generator.ifs:
                opened += f"if (!({self.truth(condition)})) continue; "
            closed += " }"
        kept = keep()
        del self.locals[-depth:]
        return f"(() => {{ const $r = {empty}; {opened}{kept}{closed} return $r; }})()"

    def _of_listcomp(self, node: ast.ListComp | ast.GeneratorExp) -> str:
        return self._comprehension(node.generators, "[]", lambda: f"$r.push({self.value(node.elt)});")

    _of_generatorexp = _of_listcomp

    def _of_setcomp(self, node: ast.SetComp) -> str:
        return self._comprehension(node.generators, "new Set()", lambda: f"$r.add({self.value(node.elt)});")

    def _of_dictcomp(self, node: ast.DictComp) -> str:
        def pair() -> str:
            return f"$r.set({self.value(node.key)}, {self.value(node.value)});"

        return self._comprehension(node.generators, "new Map()", pair)

    def _of_call(self, node: ast.Call) -> str:
        found = self.known(node.func)
        if found is not None:
            return self._known_call(node, found)
        if isinstance(node.func, ast.IfExp):
            choice = node.func
            yes, no = (
                self._of_call(ast.copy_location(ast.Call(f, node.args, node.keywords), node))
                for f in (choice.body, choice.orelse)
            )
            return f"({self.truth(choice.test)} ? {yes} : {no})"
        if isinstance(node.func, ast.Name) and not self.local(node.func.id):
            return self._builtin(node, node.func.id)
        if isinstance(node.func, ast.Attribute):
            return self._method(node, node.func)
        if node.keywords:
            self.fail(node, "keywords for a function that is not known by name")
        return f"{self.value(node.func)}({self._items(node.args)})"

    def _known_call(self, node: ast.Call, found: str) -> str:
        signature = self.names.signature(found)
        if signature is None:  # something of the run-time library
            if node.keywords:
                self.fail(node, f"keywords for {found}")
            return f"{found}({self._items(node.args)})"
        made = "new " if signature.made else ""
        if signature.record:
            return f"{made}{found}({self._fields(node, signature)})"
        if any(isinstance(a, ast.Starred) for a in node.args):
            if node.keywords:
                self.fail(node, "* together with keywords")
            return f"{made}{found}({self._items(node.args)})"
        given = dict(zip(signature.parameters, node.args, strict=False))
        for keyword in node.keywords:
            if keyword.arg is None or keyword.arg not in signature.parameters:
                self.fail(node, f"the keyword {keyword.arg} of {found}")
            given[keyword.arg] = keyword.value
        if len(node.args) > len(signature.parameters) and not signature.rest:
            self.fail(node, f"so many arguments of {found}")
        last = max((signature.parameters.index(n) for n in given), default=-1)
        listed = [self.value(given[n]) if n in given else "undefined" for n in signature.parameters[: last + 1]]
        listed += [self.value(a) for a in node.args[len(signature.parameters) :]]
        return f"{made}{found}({', '.join(listed)})"

    def _fields(self, node: ast.Call, signature: Signature) -> str:
        """The fields of a record as one object."""
        if len(node.args) == 1 and isinstance(node.args[0], ast.Starred):
            names = ", ".join(text(p) for p in signature.parameters)
            return f"$record([{names}], {self.value(node.args[0].value)})"
        parts = [f"{name}: {self.value(a)}" for name, a in zip(signature.parameters, node.args, strict=False)]
        return "{" + ", ".join([*parts, *self._keywords(node, signature)]) + "}"

    def _keywords(self, node: ast.Call, signature: Signature | None) -> list[str]:
        parts = []
        for keyword in node.keywords:
            if keyword.arg is None:
                parts.append(f"...$object({self.value(keyword.value)})")
            elif signature is None or keyword.arg in signature.parameters:
                parts.append(f"{keyword.arg}: {self.value(keyword.value)}")
            else:
                self.fail(node, f"the field {keyword.arg}")
        return parts

    def _builtin(self, node: ast.Call, name: str) -> str:
        if name == "isinstance":
            return f"({self._kind(node.args[1], self.value(node.args[0]))})"
        if name in ("getattr", "hasattr"):
            return f"${name}({self._items(node.args)})"
        if name == "replace":
            return f"$replace({self.value(node.args[0])}, {{{', '.join(self._keywords(node, None))}}})"
        if name not in BUILTINS:
            self.fail(node, f"a call of {name}")
        order = KEYWORDS.get(name, ())
        given = {k.arg: self.value(k.value) for k in node.keywords}
        if not set(given) <= set(order):
            self.fail(node, f"keywords of {name}")
        arguments = f"[{self._items(node.args)}]" if name in PACKED else self._items(node.args)
        found = [arguments] if arguments else []
        found += [given.get(k, "undefined") for k in order] if given else []
        return f"$py.{name}({', '.join(found)})"

    def _method(self, node: ast.Call, function: ast.Attribute) -> str:
        if isinstance(function.value, ast.Name) and not self.local(function.value.id):
            if function.value.id == "math":
                return f"$math.{function.attr}({self._items(node.args)})"
            if function.value.id == "dict" and function.attr == "fromkeys":
                return f"$py.fromkeys({self._items(node.args)})"
        if node.keywords:
            self.fail(node, f"keywords of the method {function.attr}")
        if function.attr in METHODS:
            rest = self._items(node.args)
            return f"$m.{function.attr}({self.value(function.value)}{', ' if rest else ''}{rest})"
        if function.attr in ARRAY_METHODS:
            return "$arrays()"
        if function.attr == "__iadd__":
            return f"$iadd({self.value(function.value)}, {self._items(node.args)})"
        self.names.method(function.attr, f"{self.file}:{node.lineno}")
        return f"{self.value(function.value)}.{function.attr}({self._items(node.args)})"

    def _kind(self, node: ast.expr, value: str) -> str:
        if isinstance(node, ast.Tuple):
            return " || ".join(self._kind(n, value) for n in node.elts)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return f"{self._kind(node.left, value)} || {self._kind(node.right, value)}"
        if isinstance(node, ast.Name) and node.id in KINDS:
            return f"$is.{KINDS[node.id]}({value})"
        found = self.known(node)
        if found is None:
            self.fail(node, "isinstance of such a type")
        return f"{value} instanceof {found}"


def literal(value: object) -> str | None:
    """A constant as JavaScript; None if it has no place there."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return text(value)
    if isinstance(value, int | float):
        return {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}.get(repr(value), repr(value))
    if isinstance(value, tuple | list):
        parts = [literal(v) for v in value]
        return None if None in parts else f"[{', '.join(str(p) for p in parts)}]"
    return None


def _boolean(node: ast.expr) -> bool:
    """Whether an expression is a truth value already."""
    if isinstance(node, ast.BoolOp):
        return all(_boolean(v) for v in node.values)
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in TRUTHS
    return (
        isinstance(node, ast.Compare)
        or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))
        or (isinstance(node, ast.Constant) and isinstance(node.value, bool))
    )


def _plain(node: ast.expr) -> bool:
    """Whether an expression may be written twice: names, attributes, items and arithmetic of such."""
    return not any(isinstance(n, ast.Call | ast.NamedExpr | ast.ListComp | ast.GeneratorExp) for n in ast.walk(node))


def _targets(node: ast.expr) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
