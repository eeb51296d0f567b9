"""The architecture, as a test: a module imports only from layers below its own."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

HOME = Path(__file__).resolve().parents[1]
ROOT = HOME / "vmodel"
LAYERS = (  # bottom first; different names in one set do not import each other
    {"errors"},
    {"units", "sources"},
    {"files"},
    {"core", "compiled"},
    {"library"},
    {"config"},
    {"solve"},
    {"calibrate", "ingest", "lint", "measure", "plan", "simulate", "sweep", "translate"},
    {"report"},
    {"cli"},
    {"__main__"},
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
ONLY_IN = {
    "sympy": {"core", "library", "solve"},
    "networkx": {"core", "solve", "report"},
    "matplotlib": {"report"},
    "rich": {"report", "cli"},
    "click": {"cli"},
    "scipy": {"calibrate", "plan", "solve", "sweep"},
    "distributed": {"sweep"},
    "pyarrow": {"sweep"},
}
MOST_LINES = 500
MODULES = sorted(path.relative_to(HOME) for path in ROOT.rglob("*.py"))
LAYERED = [path for path in MODULES if path != Path("vmodel/__init__.py")]


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                yield "." * node.level + (node.module or "")
            elif node.module == "vmodel":
                yield from (f"vmodel.{alias.name}" for alias in node.names)
            else:
                yield str(node.module)


def wrong(here: str, name: str) -> str | None:
    """What is wrong with an import of this name in this part of the package, if anything is."""
    package, _, rest = name.partition(".")
    there = rest.partition(".")[0]
    if name.startswith("."):
        return "write absolute imports"
    if here not in ONLY_IN.get(package, {here}):
        return f"{package} is not for {here}"
    if package != "vmodel" or there == here:
        return None
    if here == "compiled":
        return "generated code imports nothing of ours"
    if there == "compiled" and RANK[here] < RANK["solve"]:
        return "generated code is for solve and above"
    return None if RANK.get(there, len(LAYERS)) < RANK[here] else "this goes up or sideways"


@pytest.mark.parametrize("path", LAYERED, ids=str)
def test_imports_point_down(path):
    here = path.relative_to("vmodel").with_suffix("").parts[0]
    assert here in RANK, f"{path} has no layer"
    names = imported(ast.parse((HOME / path).read_text("utf-8")))
    assert [f"{path}: {name}: {fault}" for name in names if (fault := wrong(here, name))] == []


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_modules_stay_small(path):
    assert len((HOME / path).read_text("utf-8").splitlines()) <= MOST_LINES


def test_initialisers_of_sub_packages_hold_no_code():
    for path in MODULES:
        if path.name == "__init__.py" and path != Path("vmodel/__init__.py"):
            body = ast.parse((HOME / path).read_text("utf-8")).body
            assert [node for node in body if not isinstance(node, ast.Expr)] == [], f"{path} holds code"


@pytest.mark.parametrize(
    ("here", "line"),
    [
        ("core", "from vmodel.solve.solver import predict"),
        ("units", "from vmodel.sources import Source"),
        ("plan", "import vmodel.sweep.grid"),
        ("plan", "import vmodel"),
        ("plan", "from vmodel import predict"),
        ("core", "from .stage import Stage"),
        ("report", "import sympy"),
        ("plan", "from matplotlib import pyplot"),
        ("config", "import scipy.optimize"),
        ("compiled", "from vmodel.units import US_PER_S"),
        ("library", "from vmodel.compiled import vf"),
        ("solve", "def f():\n    from vmodel.cli import main"),
    ],
)
def test_the_rule_catches_a_wrong_import(here, line):
    assert [fault for name in imported(ast.parse(line)) if (fault := wrong(here, name))]


@pytest.mark.parametrize(
    ("here", "line"),
    [
        ("solve", "from vmodel.compiled import vf"),
        ("solve", "import sympy"),
        ("cli", "from vmodel.report.tables import table"),
        ("core", "from vmodel.core.stage import Stage"),
        ("units", "from vmodel.errors import UnitError"),
        ("__main__", "from vmodel.cli.main import main"),
        ("compiled", "import numpy"),
    ],
)
def test_the_rule_lets_a_right_import_pass(here, line):
    assert [fault for name in imported(ast.parse(line)) if (fault := wrong(here, name))] == []
