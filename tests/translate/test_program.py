"""The printer of JavaScript: what it does not know it refuses, with a place. What it prints is run in tests/browser."""

import importlib
import sys

import pytest

from vmodel.report import explorer
from vmodel.translate.expressions import Untranslatable
from vmodel.translate.program import Program

REFUSED = {
    "async def f():\n    return 1": "no such name",
    "def f(x):\n    with x:\n        return 1": "the statement With",
    "def f(x):\n    try:\n        return 1\n    except ValueError:\n        return 2": "the statement Try",
    "def f():\n    yield 1": "the expression Yield",
    "def f(x):\n    return x[::2]": "a slice with a step",
    "def f(**x):\n    return x": "** in f",
    "def f(x):\n    return x @ x": "the operator MatMult",
    "def f():\n    return open('x')": "a call of open",
    "def f(x):\n    return x.frobnicate()": "the method frobnicate",
    "def f(x):\n    return unknown": "the name unknown",
    "def f():\n    return 1j": "the constant 1j",
    "def f(x):\n    global y\n    return x": "the statement Global",
    "def g(x):\n    return x\n\n\ndef f():\n    return g(y=1)": "the keyword y",
    "def f(x):\n    for i in x:\n        pass\n    else:\n        return 1": "for with else",
    "import functools\n\n\n@functools.lru_cache\ndef f():\n    return 1": "the decorator functools.lru_cache",
    "def f(x):\n    return f'{x!s}'": "such a piece of an f-string",
    "def f(x):\n    return x(a=1)": "keywords for a function that is not known by name",
    "def f(x):\n    del x": "the statement Delete",
    "def f(x):\n    return 0 < x() < 1": "a chain of comparisons with a call inside",
    "class Odd(dict):\n    pass\n\n\ndef f():\n    return Odd()": "the class Odd",
    "def f(x):\n    return sorted(x, reversed=True)": "keywords of sorted",
    "def f(x, *y, z):\n    return x": "* before keywords",
}


@pytest.mark.parametrize("number", range(len(REFUSED)), ids=list(REFUSED.values()))
def test_what_is_not_known_is_refused_with_its_place(tmp_path, monkeypatch, number):
    source, fault = list(REFUSED.items())[number]
    package = f"odd_samples_{number}"
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").touch()
    (tmp_path / package / "case.py").write_text(source + "\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    try:
        with pytest.raises(Untranslatable) as caught:
            Program({}, package=package).text([(f"{package}.case", "f")])
    finally:
        for name in [name for name in sys.modules if name.startswith(package)]:
            del sys.modules[name]
    assert package in str(caught.value) and fault in str(caught.value)


def test_what_follows_numpy_is_left_out():
    text = Program({}, package="tests").text([("tests.translate.samples", "for_arrays")])
    assert "$arrays();" in text and "nonsense" not in text


def test_the_laws_of_the_model_are_printed_whole():
    text = explorer.laws()
    for name in ("solver__predict", "load__packets", "workloads__rr", "rings__mg1k", "dual__Dual"):
        assert f" solve_{name}" in text
    assert "numpy" not in text


def test_no_two_things_share_a_name():
    lines = [line for line in explorer.laws().splitlines() if line.startswith(("function ", "const ", "class "))]
    names = [line.replace("(", " ").split()[1] for line in lines]
    assert len(names) == len(set(names)) > 200
