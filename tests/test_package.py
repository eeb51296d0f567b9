"""What holds for every module of the package, whatever it does."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HOME = Path(__file__).resolve().parents[1]
MODULES = sorted(path.relative_to(HOME) for path in (HOME / "vmodel").rglob("*.py"))
WRITTEN = [path for path in MODULES if path.parts[1] != "compiled"]
HEAVY = ("numpy", "sympy", "scipy", "matplotlib", "networkx", "pydantic")
FORBIDDEN_CALLS = {"eval", "exec", "print"}
FORBIDDEN_MODULES = {"cloudpickle", "dill", "marshal", "pickle", "shelve"}
FACTORS = {1e3, 1e6, 1e9, 1024}  # written in whatever way
FLOAT_FACTORS = {8.0}  # as an integer it counts things


def forbidden(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            yield f"line {node.lineno}: assert"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FORBIDDEN_CALLS:
            yield f"line {node.lineno}: {node.func.id}"
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = [str(node.module)] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
            yield from (f"line {node.lineno}: {name}" for name in names if name.split(".")[0] in FORBIDDEN_MODULES)


def conversion_literals(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            number = node.value
            if number in FACTORS or (isinstance(number, float) and number in FLOAT_FACTORS):
                yield f"line {node.lineno}: {number!r}"


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_no_module_prints_asserts_or_runs_text(path):
    found = forbidden(ast.parse((HOME / path).read_text("utf-8")))
    allowed = "print" if path.parts[1] == "cli" else ""
    assert [fault for fault in found if fault.split(": ")[1] != allowed] == []


@pytest.mark.parametrize("path", [path for path in WRITTEN if path != Path("vmodel/units.py")], ids=str)
def test_conversion_factors_stand_only_in_units(path):
    assert list(conversion_literals(ast.parse((HOME / path).read_text("utf-8")))) == []


def test_the_searches_find_what_they_look_for():
    text = "import pickle\nfrom marshal import loads\nassert x\nprint(eval(y))\nexec(z)\n"
    words = [fault.split(": ")[1] for fault in forbidden(ast.parse(text))]
    assert sorted(words) == ["assert", "eval", "exec", "marshal", "pickle", "print"]
    text = "a = 1000 * b + 1e-3 * 1_000_000 + 1E9 + 1024 + 8.0 + 8 + True"
    assert len(list(conversion_literals(ast.parse(text)))) == 5


def test_importing_the_package_loads_no_heavy_library():
    code = f"import sys, vmodel; sys.exit(' '.join(m for m in {HEAVY!r} if m in sys.modules) or 0)"
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=HOME, capture_output=True, text=True, timeout=60, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")
