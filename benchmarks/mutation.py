"""Change the code of a package a little, one place at a time, and count how many of the changes the tests notice.

    PYTHONPATH=. nice python benchmarks/mutation.py solve --sample 150 --seed 1 --keep solve.jsonl
    PYTHONPATH=. nice python benchmarks/mutation.py calibrate --sample 150 --seed 1 --keep calibrate.jsonl

A reproducible sample of all changes (comparison, boundary, arithmetic, constant, truth, sign, return) of `vmodel/NAME`
meets all tests that are not slow, but for files named by --without. A first round without any change records which
tests run which lines (kept beside the results); each change then meets the tests that run its line, quickest first and
one case of each before the second, up to BUDGET_S, until one fails. Tests that compare with what vmodel itself once
said (frozen predictions, printed examples) come last and are counted apart. The files stay as they are: every change
runs in a process of its own, in which the changed functions get their new code after the tests are collected; what runs
on import meets the tests in a process that imports the changed module. With --keep the results of an interrupted run
are used again; with --again survivors meet the tests once more, after new ones were written. Needs coverage.
"""

import argparse
import ast
import copy
import gc
import importlib.abc
import importlib.util
import json
import os
import random
import resource
import signal
import sys
import time
import types
from collections import defaultdict
from pathlib import Path

HOME = Path(__file__).resolve().parents[1]
CPU_S = 60  # of one change: many times what the quickest tests that run a line need
PACKAGES = ("solve", "calibrate")
BROKEN = 70  # exit status of a fork that did not come to an end
BUDGET_S = 25.0  # of baseline time of the tests that one change meets
FROZEN_S = 5.0  # the same, of tests that compare with what vmodel itself once said
FROZEN = ("tests/golden/", "tests/test_readme.py", "tests/docs/", "tests/test_notebooks.py")
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
    """All changes of a package: (module file, number in the file, line, first and last line of its statement, what)."""
    for path in sorted((HOME / "vmodel" / package).glob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        span = {}
        for statement in ast.walk(tree):  # outer ones first, so that inner ones have the last word
            if isinstance(statement, ast.stmt):
                body = getattr(statement, "body", None)
                last = body[0].lineno - 1 if body else statement.end_lineno
                span.update(dict.fromkeys(range(statement.lineno, last + 1), (statement.lineno, last)))
        for number, (node, what, _) in enumerate(places(tree)):
            yield path, number, node.lineno, *span.get(node.lineno, (node.lineno, node.lineno)), what


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
    """A pytest plugin that keeps the named tests, in the order of the names, and notes the first that fails."""

    def __init__(self, names, note):
        self.order, self.note = {name: place for place, name in enumerate(names)}, note

    def pytest_collection_modifyitems(self, items):
        items[:] = sorted((i for i in items if i.nodeid in self.order), key=lambda i: self.order[i.nodeid])

    def pytest_runtest_logreport(self, report):
        if report.failed and not self.note.exists():
            self.note.write_text(report.nodeid, "utf-8")


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


class Collected:
    """A pytest plugin that, instead of running the tests, hands them to a function; forks note what fails."""

    def __init__(self, work, note):
        self.work, self.note = work, note

    def pytest_runtest_logreport(self, report):
        if report.failed and not self.note.exists():
            self.note.write_text(report.nodeid, "utf-8")

    def pytest_sessionstart(self):
        from hypothesis import Phase, settings  # after tests/conftest.py has chosen its profile

        settings.register_profile("mutation", settings.default, phases=[Phase.explicit, Phase.generate])
        settings.load_profile("mutation")  # one counter-example is enough, however large

    def pytest_runtestloop(self, session):
        self.work(session)
        return True


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
        code = BROKEN
        try:
            code = int(work())
        finally:
            os._exit(code)
    end = None if cpu_s is None else time.monotonic() + cpu_s * 8
    while end is None or time.monotonic() < end:
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


def baseline(files, store):
    """Which test runs which line, and for how long: written to a file, since the fork that finds it ends."""

    def work():
        import coverage
        import pytest

        include = [f"{HOME}/vmodel/{package}/*" for package in PACKAGES]
        found = coverage.Coverage(data_file=None, include=include, config_file=False)
        watching = Watching(found)
        found.start()
        code = pytest.main([*ARGUMENTS, *files], plugins=[watching])
        found.stop()
        data = found.get_data()
        tests = sorted(watching.seconds)
        number = {name: place for place, name in enumerate(tests)}
        lines = {}
        for name in data.measured_files():
            for line, contexts in data.contexts_by_lineno(name).items():
                of_file = lines.setdefault(str(Path(name).relative_to(HOME)), {})
                of_file[line] = [number[c] if c else -1 for c in contexts if not c or c in number]
        body = {"code": int(code), "files": files, "tests": tests, "lines": lines, "failed": watching.failed}
        store.write_text(json.dumps({**body, "seconds": [watching.seconds[name] for name in tests]}), "utf-8")
        return 0

    if not store.exists() or json.loads(store.read_text("utf-8")).get("files") != files:
        in_child(work)  # lines of other test files say nothing of these
    found = json.loads(store.read_text("utf-8"))
    if found["failed"]:
        print(f"without any change these fail, and are left out: {', '.join(found['failed'])}", file=sys.stderr)
    return found


def meets(found, path, first, last, budget_s=BUDGET_S):
    """The tests that run some of the lines, as `main` orders them, and whether the lines run on import."""
    of_file = found["lines"].get(str(path.relative_to(HOME)), {})
    places = {place for line in range(first, last + 1) for place in of_file.get(str(line), [])}
    on_import = not places or -1 in places
    if on_import:  # a constant or a table: everything that runs some line of its module
        places = {place for contexts in of_file.values() for place in contexts}
    bad, seconds = set(found["failed"]), found["seconds"]
    cases = defaultdict(list)
    for place in sorted(places - {-1}, key=lambda p: seconds[p]):
        if found["tests"][place] not in bad:
            cases[found["tests"][place].split("[")[0]].append(place)
    ranked = [
        (name.startswith(FROZEN), rank > 0, seconds[p], p) for name, ps in cases.items() for rank, p in enumerate(ps)
    ]
    kept, spent, budget = [], 0.0, {False: budget_s, True: budget_s + FROZEN_S}
    for frozen, _, _, place in sorted(ranked):
        spent += seconds[place]
        if spent > budget[frozen]:
            spent -= seconds[place]
            continue
        kept.append(found["tests"][place])
    return kept, on_import


def cold(package, path, number, names, note):
    """How the tests end in a process that imports the changed module."""

    def work():
        import pytest

        sys.meta_path.insert(0, Instead(f"vmodel.{package}.{path.stem}", path, changed(path, number)))
        files = sorted({n.split("::")[0] for n in names})
        return pytest.main([*ARGUMENTS, "-x", *files], plugins=[Chosen(names, note)])

    return in_child(work, CPU_S)


def hot(session, path, number, names, note):
    """How collected tests end in a fork in which the functions of a module have their changed code.

    session: collected tests by name, and functions by file.
    """
    items, functions = session

    def work():
        put(functions[str(path)], changed(path, number))
        chosen = [items[name] for name in names]
        for item, after in zip(chosen, [*chosen[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            if note.exists():
                return 1
        return 0

    return in_child(work, CPU_S)


def put(functions, code):
    """Give existing functions of a file the code that a changed text of the file has for them."""
    new, todo = {}, [code]
    while todo:
        for part in todo.pop().co_consts:
            if isinstance(part, types.CodeType):
                new[part.co_qualname, part.co_firstlineno] = part
                todo.append(part)
    for function in functions:
        own = new.get((function.__code__.co_qualname, function.__code__.co_firstlineno))
        if own is not None and own != function.__code__:
            function.__code__ = own


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("package", choices=PACKAGES)
    parser.add_argument("--sample", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--lines", type=Path, default=Path("mutation-lines.json"), help="where the first round is kept")
    parser.add_argument("--budget", type=float, default=BUDGET_S, help="seconds of tests that one change meets")
    parser.add_argument("--without", nargs="*", default=[], help="test files that are left out")
    parser.add_argument("--only", nargs="*", help="test files that are asked, instead of all")
    parser.add_argument("--again", action="store_true", help="let the survivors of --keep meet the tests once more")
    chosen = parser.parse_args()
    os.chdir(HOME)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for name in ("pytest", "hypothesis", "numpy", "scipy.optimize", "scipy.stats", "sympy", "networkx", "pydantic"):
        importlib.import_module(name)  # once for all forks; nothing of vmodel

    files = chosen.only or [str(p) for p in sorted(Path("tests").rglob("test_*.py")) if p.name not in chosen.without]
    keep = chosen.keep or Path(f"mutation-{chosen.package}.jsonl")
    found = baseline(files, chosen.lines)
    every = list(mutants(chosen.package))
    sample = random.Random(chosen.seed).sample(range(len(every)), min(chosen.sample, len(every)))
    known = [json.loads(line) for line in keep.read_text("utf-8").splitlines()] if keep.exists() else []
    results = {row["place"]: row for row in known}
    todo = [p for p in sample if p not in results or (chosen.again and results[p]["found"] == "survived")]
    note = keep.with_suffix(".failed").resolve()

    def judged(place, run):
        path, number, line, first, last, what = every[place]
        names, _ = meets(found, path, first, last, chosen.budget)
        note.unlink(missing_ok=True)
        start = time.monotonic()
        code = run(path, number, names, note) if names else 0
        if code == BROKEN:
            raise SystemExit(f"{path.name}:{line}: the tests could not be asked")
        fate = "timeout" if code is None else "survived" if code in (0, 5) else "killed"
        row = {"place": place, "module": path.name, "line": line, "what": what, "tests": len(names), "found": fate}
        row["by"] = note.read_text("utf-8") if note.exists() else ""
        row["seconds"] = round(time.monotonic() - start, 2)
        with keep.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")

    def all_hot(session):
        for path in (HOME / "vmodel" / chosen.package).glob("[a-z]*.py"):  # also what is imported on first use only
            importlib.import_module(f"vmodel.{chosen.package}.{path.stem}")
        items = {item.nodeid: item for item in session.items}
        functions = defaultdict(list)
        for thing in gc.get_objects():
            if isinstance(thing, types.FunctionType):
                functions[thing.__code__.co_filename].append(thing)
        gc.freeze()  # so that forks share what is there
        for place in warm:
            judged(place, lambda *change: hot((items, functions), *change))

    on_import = {p: meets(found, every[p][0], *every[p][3:5])[1] for p in todo}
    warm = [p for p in todo if not on_import[p]]
    if warm:

        def collect():
            import pytest

            return pytest.main([*ARGUMENTS, *files], plugins=[Collected(all_hot, note)])

        if in_child(collect) == BROKEN:
            parser.error("the tests could not be asked: a change met none that was collected")
    for place in todo:
        if on_import[place]:
            judged(place, lambda *change: cold(chosen.package, *change))
    results = {row["place"]: row for row in map(json.loads, keep.read_text("utf-8").splitlines())}
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
            print(f"survived: vmodel/{package}/{row['module']}:{row['line']}: {row['what']} ({row['tests']} tests)")
    noticed = sum(row["found"] != "survived" for row in rows)
    late = sum(row["found"] == "timeout" for row in rows)
    frozen = sum(row["by"].startswith(FROZEN) for row in rows)
    print(f"{package}: {noticed} of {len(rows)} noticed ({noticed / len(rows):.1%}), {late} by time,", end=" ")
    print(f"{frozen} only by what vmodel itself once said; {total} in all")
    return 0


if __name__ == "__main__":
    sys.exit(main())
