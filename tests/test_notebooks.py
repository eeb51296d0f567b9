"""The notebooks run, carry no outputs, and use the public API only."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

import vmodel

HOME = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted(path.relative_to(HOME) for path in (HOME / "notebooks").glob("*.ipynb"))
TIMEOUT_S = 300
# in a process of its own: warnings are errors here, and those of the notebook machinery are not ours
RUNNER = """
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

place = Path(sys.argv[1])
notebook = nbformat.read(place, as_version=4)
with TemporaryDirectory() as sockets:  # short, as names of sockets must be
    file = str(Path(sockets) / "k.json")
    manager = AsyncKernelManager(kernel_name="python3", transport="ipc", ip=f"{sockets}/k", connection_file=file)
    NotebookClient(notebook, km=manager, resources={"metadata": {"path": str(place.parent)}}).execute()
nbformat.write(notebook, sys.argv[2])
"""


def read(path):
    return nbformat.read(HOME / path, as_version=4)


def code(notebook):
    return "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 4


@pytest.mark.parametrize("path", NOTEBOOKS, ids=str)
def test_notebook_is_valid_and_carries_no_outputs(path):
    notebook = read(path)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == [None] * len(cells)
    assert [cell.outputs for cell in cells] == [[]] * len(cells)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=str)
def test_notebook_uses_the_public_api_only(path):
    tree = ast.parse(code(read(path)))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert [name for name in imported if name.startswith("vmodel.")] == []
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "vmodel"
    }
    assert used <= set(vmodel.__all__)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=str)
def test_every_figure_has_labelled_axes(path):
    for cell in read(path).cells:
        if "plt.subplots" in cell.source:
            assert "set_xlabel" in cell.source
            assert "set_ylabel" in cell.source


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=str)
def test_notebook_runs(path, tmp_path):
    done = tmp_path / "done.ipynb"
    paths = (str(HOME), os.environ.get("PYTHONPATH", ""))
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(p for p in paths if p),
        "IPYTHONDIR": str(tmp_path / "ipython"),
        "OPENBLAS_NUM_THREADS": "1",
    }
    ran = subprocess.run(
        [sys.executable, "-c", RUNNER, str(HOME / path), str(done)],
        env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    shown = [output for cell in nbformat.read(done, as_version=4).cells for output in cell.get("outputs", [])]
    assert [o.text for o in shown if o.output_type == "stream" and o.name == "stderr"] == []
    assert any("image/png" in o.get("data", {}) for o in shown)
