"""Statements and functions of Python as JavaScript: lines of text, indented by two spaces."""

import ast
from collections.abc import Callable, Iterable, Sequence

from vmodel.translate.expressions import BINARY, Expressions, identifier, text


class Statements:
    """Prints the functions of one module."""

    def __init__(self, words: Expressions) -> None:
        self.words = words

    def function(self, node: ast.FunctionDef, name: str, *, method: bool = False) -> str:
        """A function (or, without the word, a method) as JavaScript."""
        return f"{'' if method else 'function '}{name}{self.body_of(node, method=method)}"

    def body_of(self, node: ast.FunctionDef, *, method: bool = False) -> str:
        """Parameters and body of a function."""
        parameters = node.args
        if parameters.kwarg is not None or parameters.posonlyargs:
            self.words.fail(node, f"** in {node.name}")
        names = [a.arg for a in (*parameters.args, *parameters.kwonlyargs)]
        if parameters.vararg is not None and parameters.kwonlyargs:
            self.words.fail(node, f"* before keywords in {node.name}")
        local = _assigned(node) | set(names) | ({parameters.vararg.arg} if parameters.vararg else set())
        self.words.locals.append(local)
        self.words.aliases.append({})
        defaults: dict[str, ast.expr] = {}
        last = parameters.args[len(parameters.args) - len(parameters.defaults) :]
        defaults.update(zip((a.arg for a in last), parameters.defaults, strict=True))
        defaults.update(
            {a.arg: d for a, d in zip(parameters.kwonlyargs, parameters.kw_defaults, strict=True) if d is not None}
        )
        if method:
            names = names[1:]
        listed = [identifier(n) + (f" = {self.words.value(defaults[n])}" if n in defaults else "") for n in names]
        if parameters.vararg is not None:
            listed.append(f"...{identifier(parameters.vararg.arg)}")
        inner = {n.name for n in ast.walk(node) if isinstance(n, ast.FunctionDef)}  # these declare themselves
        given = {a.arg for a in (*parameters.args, *parameters.kwonlyargs)}
        declared = sorted(_assigned(node) - given - inner)
        lines = [f"let {', '.join(identifier(n) for n in declared)};"] if declared else []
        if method:
            lines.insert(0, "const self = this;")
        lines += self.block(node.body)
        self.words.locals.pop()
        self.words.aliases.pop()
        return f"({', '.join(listed)}) {{\n{_indented(lines)}\n}}"

    def block(self, body: Sequence[ast.stmt]) -> list[str]:
        """Statements as lines; what follows an import of NumPy is left out."""
        lines: list[str] = []
        for node in body:
            if isinstance(node, ast.Import) and any(alias.name == "numpy" for alias in node.names):
                return [*lines, "$arrays();"]
            lines += self.statement(node)
        return lines

    def statement(self, node: ast.stmt) -> list[str]:
        """One statement."""
        printer: Callable[[ast.stmt], list[str]] | None = getattr(self, f"_do_{type(node).__name__.lower()}", None)
        if printer is None:
            self.words.fail(node, f"the statement {type(node).__name__}")
        return printer(node)

    def _do_expr(self, node: ast.Expr) -> list[str]:
        if isinstance(node.value, ast.Constant):
            return []
        return [f"{self.words.value(node.value)};"]

    def _do_pass(self, node: ast.Pass) -> list[str]:
        return []

    def _do_break(self, node: ast.Break) -> list[str]:
        return ["break;"]

    def _do_continue(self, node: ast.Continue) -> list[str]:
        return ["continue;"]

    def _do_return(self, node: ast.Return) -> list[str]:
        return [f"return {'null' if node.value is None else self.words.value(node.value)};"]

    def _do_raise(self, node: ast.Raise) -> list[str]:
        name = "error"
        if isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name):
            name = node.exc.func.id
        return [f"throw new $Raised({text(name)}, {text(f'{self.words.file}:{node.lineno}')});"]

    def _do_importfrom(self, node: ast.ImportFrom) -> list[str]:
        for alias in node.names:
            home = self.words.names.module_of(str(node.module), alias.name)
            found = (str(node.module), alias.name) if home is None else (home, None)
            self.words.aliases[-1][alias.asname or alias.name] = found
        return []

    def _do_functiondef(self, node: ast.FunctionDef) -> list[str]:
        return [*self.function(node, identifier(node.name)).split("\n")]

    def _do_if(self, node: ast.If) -> list[str]:
        lines = [f"if ({self.words.truth(node.test)}) {{", *_deeper(self.block(node.body))]
        if node.orelse:
            lines += ["} else {", *_deeper(self.block(node.orelse))]
        return [*lines, "}"]

    def _do_while(self, node: ast.While) -> list[str]:
        if node.orelse:
            self.words.fail(node, "while with else")
        return [f"while ({self.words.truth(node.test)}) {{", *_deeper(self.block(node.body)), "}"]

    def _do_for(self, node: ast.For) -> list[str]:
        if node.orelse:
            self.words.fail(node, "for with else")
        head = self._range_head(node)
        if head is None:
            item = self.words.fresh()
            head = f"for (const {item} of {self.words.source(node.iter)}) {{"
            first = self.assign(node.target, item)
        else:
            first = []
        return [head, *_deeper([*first, *self.block(node.body)]), "}"]

    def _range_head(self, node: ast.For) -> str | None:
        """A loop over numbers without a list of them."""
        call = node.iter
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"):
            return None
        if self.words.local("range") or not isinstance(node.target, ast.Name) or len(call.args) > 2 or call.keywords:
            return None
        bounds = [self.words.value(a) for a in call.args]
        start, stop = bounds if len(bounds) == 2 else ("0", bounds[0])
        step, end, name = self.words.fresh(), self.words.fresh(), identifier(node.target.id)
        return f"for (let {step} = {start}, {end} = {stop}; {step} < {end} && ({name} = {step}, true); {step}++) {{"

    def _do_assign(self, node: ast.Assign) -> list[str]:
        if len(node.targets) == 1:
            return self.assign(node.targets[0], self.words.value(node.value))
        kept = self.words.fresh()
        lines = [f"const {kept} = {self.words.value(node.value)};"]
        for target in node.targets:
            lines += self.assign(target, kept)
        return lines

    def _do_annassign(self, node: ast.AnnAssign) -> list[str]:
        return [] if node.value is None else self.assign(node.target, self.words.value(node.value))

    def _do_augassign(self, node: ast.AugAssign) -> list[str]:
        call = "$iadd" if isinstance(node.op, ast.Add) else BINARY.get(type(node.op))
        if call is None:
            self.words.fail(node, f"the operator {type(node.op).__name__}")
        if not isinstance(node.target, ast.Name):
            self.words.fail(node, "an operator assignment to anything but a name")
        name = identifier(node.target.id)
        return [f"{name} = {call}({name}, {self.words.value(node.value)});"]

    def assign(self, target: ast.expr, value: str) -> list[str]:
        """Give a value to a name, an item, an attribute, or several names."""
        if isinstance(target, ast.Name):
            return [f"{identifier(target.id)} = {value};"]
        if isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Slice):
            return [f"$set({self.words.value(target.value)}, {self.words.value(target.slice)}, {value});"]
        if isinstance(target, ast.Attribute):
            return [f"{self.words.value(target.value)}.{target.attr} = {value};"]
        if isinstance(target, ast.Tuple | ast.List):
            return [f"{self.words.pattern(target)} = $list({value});"]
        self.words.fail(target, f"an assignment to {type(target).__name__}")


def _assigned(function: ast.FunctionDef) -> set[str]:
    """The names that a function gives values to, without those of functions and comprehensions inside it."""
    found: set[str] = set()
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
            continue
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            found |= {n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr)}
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        waiting += ast.iter_child_nodes(node)
    return found


def _deeper(lines: Iterable[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _indented(lines: Iterable[str]) -> str:
    return "\n".join(_deeper(lines))
