"""Change the code of a package a little, one place at a time, and count how many of the changes its tests notice.

    PYTHONPATH=. nice python benchmarks/mutation.py solve --sample 150 --seed 1 --keep solve.jsonl
    PYTHONPATH=. nice python benchmarks/mutation.py calibrate --sample 150 --seed 1 --keep calibrate.jsonl

A reproducible sample of all changes (comparison, boundary, arithmetic, constant, truth, sign, return) of `vmodel/NAME`
meets the tests of `tests/NAME` that are not slow, but for files named by --without; survivors of that meet the files
named by --again, so that what takes long is asked last. A first round without any change records which tests run which
lines; each change then meets the tests that run its line, quickest first, until one fails. Every change runs in a
process of its own, the files stay as they are. With --keep the results of an interrupted run are used again. Needs
coverage.
"""

import argparse
import ast
import copy
import importlib.abc
import importlib.util
import json
import os
import random
import resource
import signal
import sys
import time
from collections import defaultdict
from pathlib import Path

HOME = Path(__file__).resolve().parents[1]
CPU_S = 60  # of one change: many times what the quickest tests that run a line need
TESTS = {"solve": ("solve",), "calibrate": ("calibrate",)}
BUDGET_S = 25.0  # of baseline time of the tests that one change meets
COMPARE = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}  # fmt: skip
ARITHMETIC = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult, ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult, ast.MatMult: ast.Add, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip


def places(tree):
    """Every node whose value is computed, with what it may become; annotations, docstrings and texts stay."""
    todo = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if isinstance(node, ast.Raise):
            continue  # what an error says is not arithmetic
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list"):
                continue
            if isinstance(value, ast.AST):
                todo.append(value)
            elif isinstance(value, list):
                todo.extend(item for item in value if isinstance(item, ast.AST))
        yield from ((node, what, make) for what, make in changes(node))


def changes(node):
    """What a node may become, as (description, function that changes a copy in place)."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        for new in COMPARE.get(type(node.ops[0]), ()):
            yield f"{type(node.ops[0]).__name__} -> {new.__name__}", lambda n, new=new: n.ops.__setitem__(0, new())
    elif isinstance(node, ast.Compare):
        for place, op in enumerate(node.ops):
            for new in COMPARE.get(type(op), ())[:1]:
                yield (
                    f"{type(op).__name__} {place} -> {new.__name__}",
                    lambda n, p=place, new=new: n.ops.__setitem__(p, new()),
                )
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in ARITHMETIC:
        new = ARITHMETIC[type(node.op)]
        if not any(isinstance(side, ast.JoinedStr) for side in ast.walk(node)):
            yield f"{type(node.op).__name__} -> {new.__name__}", lambda n, new=new: setattr(n, "op", new())
    elif isinstance(node, ast.BoolOp):
        new = ast.Or if isinstance(node.op, ast.And) else ast.And
        yield f"{type(node.op).__name__} -> {new.__name__}", lambda n, new=new: setattr(n, "op", new())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        if isinstance(node.op, ast.USub):
            yield "minus dropped", lambda n: setattr(n, "op", ast.UAdd())
        else:
            yield "not doubled", lambda n: setattr(n, "operand", ast.UnaryOp(ast.Not(), n.operand))
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float, bool):
        value = node.value
        new = (not value) if isinstance(value, bool) else value + 1 if isinstance(value, int) else value * 1.5 or 0.5
        yield f"{value!r} -> {new!r}", lambda n, new=new: setattr(n, "value", new)
    elif isinstance(node, ast.Return) and node.value is not None and not _none(node.value):
        yield "return -> None", lambda n: setattr(n, "value", ast.Constant(None))
    elif isinstance(node, ast.IfExp):
        yield "branches swapped", lambda n: n.__dict__.update(body=n.orelse, orelse=n.body)


def _none(node):
    return isinstance(node, ast.Constant) and node.value is None


def mutants(package):
    """All changes of a package: (module file, number in the file, line, what)."""
    for path in sorted((HOME / "vmodel" / package).glob("*.py")):
        for number, (node, what, _) in enumerate(places(ast.parse(path.read_text("utf-8")))):
            yield path, number, node.lineno, what


def changed(path, number):
    """The code of a module with one change."""
    tree = ast.parse(path.read_text("utf-8"))
    for place, (node, _, make) in enumerate(places(tree)):
        if place == number:
            before = copy.deepcopy(node)
            make(node)
            ast.copy_location(node, before)
            break
    return compile(ast.fix_missing_locations(tree), str(path), "exec")


class Instead(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads one module from given code."""

    def __init__(self, name, path, code):
        self.name, self.path, self.code = name, path, code

    def find_spec(self, fullname, path=None, target=None):
        if fullname != self.name:
            return None
        return importlib.util.spec_from_loader(fullname, self, origin=str(self.path))

    def exec_module(self, module):
        module.__file__ = str(self.path)
        exec(self.code, module.__dict__)


class Chosen:
    """A pytest plugin that keeps the named tests, in the order of the names."""

    def __init__(self, names):
        self.order = {name: place for place, name in enumerate(names)}

    def pytest_collection_modifyitems(self, items):
        items[:] = sorted((i for i in items if i.nodeid in self.order), key=lambda i: self.order[i.nodeid])


class Watching:
    """A pytest plugin that notes which lines each test runs, how long it takes and whether it passes."""

    def __init__(self, coverage):
        self.coverage, self.seconds, self.failed = coverage, {}, []

    def pytest_runtest_protocol(self, item):
        self.coverage.switch_context(item.nodeid)

    def pytest_runtest_logreport(self, report):
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self.failed.append(report.nodeid)


def in_child(work, cpu_s=None):
    """Run a function in a fork without output; returns its exit status, or None where it was ended for its time."""
    child = os.fork()
    if child == 0:
        os.setsid()
        if cpu_s is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 5))
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        code = 70
        try:
            code = int(work())
        finally:
            os._exit(code)
    end = time.monotonic() + (cpu_s or 3600) * 8
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else None
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


ARGUMENTS = [
    "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not slow",
    "-W", "ignore::pytest.PytestAssertRewriteWarning",
]  # fmt: skip


def baseline(package, files, store):
    """Which test runs which line, and for how long: written to a file, since the fork that finds it ends."""

    def work():
        import coverage
        import pytest

        found = coverage.Coverage(data_file=None, include=[f"{HOME}/vmodel/{package}/*"], config_file=False)
        watching = Watching(found)
        found.start()
        code = pytest.main([*ARGUMENTS, *files], plugins=[watching])
        found.stop()
        data = found.get_data()
        lines = {}
        for name in data.measured_files():
            for line, contexts in data.contexts_by_lineno(name).items():
                lines.setdefault(Path(name).name, {})[line] = [c for c in contexts if c]
        body = {"code": int(code), "seconds": watching.seconds, "failed": watching.failed, "lines": lines}
        store.write_text(json.dumps(body), "utf-8")
        return 0

    if not store.exists():
        in_child(work)
    found = json.loads(store.read_text("utf-8"))
    if found["failed"]:
        sys.exit(f"without any change these fail: {found['failed'][:5]}")
    return found


def meets(found, path, line):
    """The tests that run a line, quickest first, up to the budget; all quick ones where it runs on import."""
    names = found["lines"].get(path.name, {}).get(str(line), [])
    at_import = not names
    names = sorted(names or found["seconds"], key=lambda name: found["seconds"].get(name, 0.0))
    if at_import:  # a constant or a table: everything that runs some line of its module
        module = {c for contexts in found["lines"].get(path.name, {}).values() for c in contexts}
        names = [name for name in names if name in module]
    kept, spent = [], 0.0
    for name in names:
        spent += found["seconds"].get(name, 0.0)
        if spent > BUDGET_S and kept:
            break
        kept.append(name)
    return kept


def judge(package, path, number, names):
    """Whether the tests notice a change: killed, timeout or survived."""

    def work():
        import pytest

        sys.meta_path.insert(0, Instead(f"vmodel.{package}.{path.stem}", path, changed(path, number)))
        return pytest.main([*ARGUMENTS, "-x", *sorted({n.split("::")[0] for n in names})], plugins=[Chosen(names)])

    code = in_child(work, CPU_S)
    return "timeout" if code is None else "survived" if code in (0, 5) else "killed"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("package", choices=("solve", "calibrate"))
    parser.add_argument("--sample", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path)
    parser.add_argument(
        "--without", nargs="*", default=[], help="test files that the first round leaves out: slow ones"
    )
    parser.add_argument("--again", nargs="*", default=[], help="test files that the survivors of --keep meet as well")
    chosen = parser.parse_args()
    os.chdir(HOME)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for name in ("pytest", "hypothesis", "numpy", "scipy.optimize", "scipy.stats", "sympy", "networkx", "pydantic"):
        importlib.import_module(name)  # once for all forks; nothing of vmodel

    files = [
        str(p)
        for folder in TESTS[chosen.package]
        for p in sorted(Path("tests", folder).glob("test_*.py"))
        if p.name not in chosen.without
    ]
    keep = chosen.keep or Path(f"mutation-{chosen.package}.jsonl")
    found = baseline(chosen.package, files, keep.with_suffix(".lines.json"))
    further = baseline(chosen.package, chosen.again, keep.with_suffix(".again.json")) if chosen.again else {}
    every = list(mutants(chosen.package))
    sample = sorted(random.Random(chosen.seed).sample(range(len(every)), min(chosen.sample, len(every))))
    random.Random(chosen.seed).shuffle(sample)  # so that an interrupted run is a sample too
    known = [json.loads(line) for line in keep.read_text("utf-8").splitlines()] if keep.exists() else []
    results = {row["place"]: row for row in known}
    for place in sample:
        path, number, line, what = every[place]
        row = results.get(place)
        if row is None:
            names = meets(found, path, line)
            fate = judge(chosen.package, path, number, names) if names else "survived"
            row = {"place": place, "module": path.name, "line": line, "what": what, "tests": len(names), "found": fate}
        elif chosen.again and row["found"] == "survived":
            names = meets(further, path, line)
            row = {**row, "again": len(names)}
            if names:
                row["found"] = judge(chosen.package, path, number, names)
        else:
            continue
        if row is not results.get(place):
            results[place] = row
            with keep.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
    return told(chosen.package, [results[place] for place in sample], len(every))


def told(package, rows, total):
    """Print the rate by module and the survivors."""
    by_module = defaultdict(list)
    for row in rows:
        by_module[row["module"]].append(row["found"] != "survived")
    for module, noticed in sorted(by_module.items()):
        print(f"{module:24s} {sum(noticed):4d} of {len(noticed):4d}")
    for row in sorted(rows, key=lambda r: (r["module"], r["line"])):
        if row["found"] == "survived":
            met = row["tests"] + row.get("again", 0)
            print(f"survived: vmodel/{package}/{row['module']}:{row['line']}: {row['what']} ({met} tests)")
    noticed = sum(row["found"] != "survived" for row in rows)
    late = sum(row["found"] == "timeout" for row in rows)
    print(f"{package}: {noticed} of {len(rows)} noticed ({noticed / len(rows):.1%}), {late} by time; {total} in all")
    return 0


if __name__ == "__main__":
    sys.exit(main())
