"""What people install: wheel and sdist with all they need, and a command that works away from the checkout."""

import ast
import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

HOME = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((HOME / "pyproject.toml").read_text("utf-8"))["project"]
ROWS = """id,path,topology,workload,direction,message_bytes,metric,value,sd,rx_usecs
a,vf,cross-host-vm,rr,to-vm,1,latency_us,55,1,10
b,vf,cross-host-vm,rr,to-vm,1,latency_us,110,2,50
c,vf,cross-host-vm,stream,to-vm,16384,throughput_mbps,940,10,
"""


def names(requirements):
    return {re.match(r"[A-Za-z0-9_.-]+", line)[0].lower().replace("_", "-") for line in requirements}


def test_every_import_is_a_declared_dependency():
    extras = {name for lines in PROJECT["optional-dependencies"].values() for name in names(lines)}
    declared = names(PROJECT["dependencies"])
    known = {module: {d.lower().replace("_", "-") for d in found} for module, found in packages_distributions().items()}
    for path in sorted((HOME / "vmodel").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                roots = {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                roots = {str(node.module).partition(".")[0]}
            else:
                continue
            for root in roots - set(sys.stdlib_module_names) - {"vmodel"}:
                wanted = known.get(root, {root.replace("_", "-")})
                assert wanted & (declared | extras), f"{path}: {root} is not declared in pyproject.toml"
                if not wanted & declared:
                    assert root in ("IPython", "bokeh", "distributed", "line_solver", "simpy", "ipywidgets"), root


def test_citation_and_version_agree_with_the_package():
    import vmodel

    text = (HOME / "CITATION.cff").read_text("utf-8")
    facts = dict(re.findall(r"^([a-z-]+): (.+)$", text, flags=re.MULTILINE))
    assert facts["cff-version"] == "1.2.0"
    assert facts["version"] == PROJECT["version"] == vmodel.__version__
    assert facts["license"] == PROJECT["license"] == "MIT"
    assert (HOME / "LICENSE").read_text("utf-8").startswith("MIT License")
    assert (HOME / "vmodel" / "py.typed").is_file()


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A wheel made of an sdist made of the checkout, by the build backend that pyproject.toml names."""
    pytest.importorskip("hatchling")
    out = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "-d", str(out), "-t"]
    subprocess.run([*build, "sdist"], cwd=HOME, check=True, capture_output=True, timeout=120)
    sdist = next(out.glob("*.tar.gz"))
    with tarfile.open(sdist) as packed:
        packed.extractall(out / "unpacked", filter="data")
    source = next((out / "unpacked").iterdir())
    subprocess.run([*build, "wheel"], cwd=source, check=True, capture_output=True, timeout=120)
    return sdist, next(out.glob("*.whl")), source


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    """The wheel in a new virtual environment, whose dependencies are those of this one; nothing is downloaded."""
    place = tmp_path_factory.mktemp("elsewhere")
    venv.create(place / "venv", with_pip=True)
    python = place / "venv" / "bin" / "python"
    pip = [str(python), "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", str(built[1])]
    subprocess.run(pip, check=True, capture_output=True, timeout=120, cwd=place)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    extra = place / "venv" / "lib" / version / "site-packages" / "dependencies.pth"
    extra.write_text(sysconfig.get_path("purelib") + "\n")  # a plain line: the checkout's own .pth is not read
    return place


def run(installed, *arguments, **more):
    environment = {"PATH": os.environ["PATH"], "HOME": str(installed), "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.run(
        [str(installed / "venv" / "bin" / "vmodel"), *arguments], cwd=installed, env=environment, capture_output=True,
        text=True, timeout=120, check=False, **more,
    )  # fmt: skip


@pytest.mark.slow
def test_the_archives_hold_everything(built):
    sdist, wheel, source = built
    held = set(zipfile.ZipFile(wheel).namelist())
    tracked = {p.relative_to(HOME).as_posix() for p in (HOME / "vmodel").rglob("*") if p.is_file()}
    assert {name for name in tracked if "__pycache__" not in name} <= held
    evidence = {p.relative_to(HOME / "calibration").as_posix() for p in (HOME / "calibration").rglob("*.csv")}
    assert evidence and {f"vmodel/evidence/{name}" for name in evidence} <= held
    assert any(name.endswith("licenses/LICENSE") for name in held)
    for name in ("vmodel/py.typed", "vmodel/library/schemas/profile.schema.json", "vmodel/plan/fleet.schema.json"):
        assert name in held
    assert not [name for name in held if name.startswith(("tests/", "benchmarks/")) or "__pycache__" in name]
    for name in ("LICENSE", "CITATION.cff", "README.md", "pyproject.toml", "calibration", "tests", "vmodel/py.typed"):
        assert (source / name).exists(), name
    assert wheel.stat().st_size < 8 << 20 and sdist.stat().st_size < 32 << 20
    metadata = zipfile.ZipFile(wheel).read(next(n for n in held if n.endswith("METADATA"))).decode()
    assert "Requires-Python: >=3.11" in metadata and "License-Expression: MIT" in metadata
    assert "Classifier: Typing :: Typed" in metadata and "# vmodel" in metadata


@pytest.mark.slow
def test_the_installed_command_works_away_from_the_checkout(installed):
    where = subprocess.run(
        [str(installed / "venv" / "bin" / "python"), "-c", "import vmodel; print(vmodel.__file__)"],
        cwd=installed, capture_output=True, text=True, check=True, timeout=60, env={"PATH": os.environ["PATH"]},
    )  # fmt: skip
    assert str(installed) in where.stdout

    predicted = run(installed, "predict", "--path", "vf", "--rx-usecs", "10", "--json")
    assert (predicted.returncode, predicted.stderr) == (0, "")
    assert json.loads(predicted.stdout)["latency_us"]["mean"] > 0
    paths = run(installed, "paths", "--json")
    assert paths.returncode == 0 and len(json.loads(paths.stdout)) >= 22
    assert json.loads(run(installed, "schema", "profile").stdout)["title"] == "vmodel profile"

    (installed / "mine.csv").write_text(ROWS)
    fitted = run(installed, "fit", "mine.csv", "--prior", "generic", "-o", "mine.toml")
    assert fitted.returncode in (0, 1) and "Traceback" not in fitted.stderr
    assert (installed / "mine.toml").is_file()
    again = run(installed, "predict", "--path", "vf", "--profile", "mine.toml", "--json")
    assert again.returncode == 0 and json.loads(again.stdout)["profile"] == "mine"
    own = run(installed, "validate", "mine.csv", "--profile", "mine.toml", "--json")
    assert own.returncode == 0 and json.loads(own.stdout)["all"]["rows"] == 3
    known = run(installed, "datasets", "--json")  # the evidence comes along
    assert known.returncode == 0 and len(json.loads(known.stdout)) > 20
