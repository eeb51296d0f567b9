"""Generated code: what is shipped is what the formulas give today, for floats and for arrays alike."""

import numpy
import pytest
import sympy

from tests.strategies import counted
from vmodel.config import scenario
from vmodel.library import tables
from vmodel.library.catalog import ROOMS, STAGES
from vmodel.library.traffic import TRAFFIC
from vmodel.solve import compile as generator
from vmodel.solve import compose, evaluate

MEDIANS = {name: prior.median for name, prior in tables.priors().items()}
SIZES = (1.0, 64.0, 1449.0, 65_537.0)


def words(size):
    asked = scenario(path="vsock", profile="generic", size=size)
    return compose.words(asked, compose.scenario_ways(asked).forward, dict.fromkeys(compose.POLLS, 0.0))


def columns():
    one = [words(size) for size in SIZES]
    return {key: numpy.array([w[key] for w in one]) for key in one[0]}


@pytest.fixture(scope="module")
def generated():
    return generator.generate()


@pytest.mark.parametrize("name", [*(f"{room}.py" for room in (*evaluate.ROOMS, "traffic")), "stages.js"])
def test_shipped_module_is_what_the_formulas_give(generated, name):
    shipped = (generator.PACKAGE / "compiled" / name).read_text(encoding="utf-8")
    assert shipped == generated[name], "run `python -m vmodel.solve.compile`"


def test_written_modules_are_the_generated_ones(generated, tmp_path):
    generator.write(tmp_path)
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == generated


def test_formulas_import_nothing_so_that_floats_need_no_numpy_and_arrays_no_math(generated):
    assert not any("import" in text for name, text in generated.items() if name.endswith(".py"))
    assert set(evaluate.ROOMS) == set(ROOMS)


@pytest.mark.parametrize("law", TRAFFIC, ids=lambda law: law.name)
def test_counts_of_floats_and_arrays_are_those_of_the_formula(law):
    table = counted(law.name, columns(), arrays=True)
    symbols = [sympy.Symbol(k, nonnegative=True) for k in law.knobs]
    exact = {word: sympy.lambdify(symbols, formula, "math") for word, formula in law.counts.items()}
    for i, size in enumerate(SIZES):
        given = words(size)
        single = counted(law.name, given)
        for word, formula in exact.items():
            assert single[word] == pytest.approx(formula(*[given[k] for k in law.knobs]), rel=1e-12), word
            assert numpy.broadcast_to(table[word], len(SIZES))[i] == pytest.approx(single[word], rel=1e-12), word


@pytest.mark.slow
@pytest.mark.parametrize("name", STAGES)
def test_costs_of_floats_and_arrays_are_those_of_the_formula(name):
    stage = STAGES[name]
    table = counted("stream", columns(), arrays=True)
    together = evaluate.module(True).STAGES[name]
    singly = evaluate.module(False).STAGES[name]
    for i, size in enumerate(SIZES):
        known = counted("stream", words(size)) | MEDIANS
        one = [known[w] for w in (*stage.words, *stage.parameters)]
        many = [(table | MEDIANS)[w] for w in (*stage.words, *stage.parameters)]
        values = {sympy.Symbol(k, nonnegative=True): v for k, v in known.items()}
        exact = float(stage.seconds.subs(values))
        assert singly[0](*one) == pytest.approx(exact, rel=1e-12)
        assert numpy.broadcast_to(together[0](*many), len(SIZES))[i] == pytest.approx(exact, rel=1e-12)
        for a, b in zip(singly[1](*one), together[1](*many), strict=True):
            assert numpy.broadcast_to(b, len(SIZES))[i] == pytest.approx(float(a), rel=1e-12)


@pytest.mark.parametrize(("text", "value"), [
    (sympy.Max(1, sympy.Symbol("x"), evaluate=False), 3.0), (sympy.sqrt(sympy.Symbol("x")), 3.0**0.5),
    (1 / sympy.sqrt(sympy.Symbol("x")), 3.0**-0.5), (sympy.ceiling(sympy.Symbol("x") / 2), 2.0),
    (sympy.Min(4, sympy.Symbol("x"), 2, evaluate=False), 2.0),
])  # fmt: skip
def test_printed_text_means_the_formula(text, value):
    for arrays in (False, True):
        names = dict(zip(generator.FUNCTIONS, evaluate.elementary(arrays), strict=True))
        assert eval(generator.python(text), names, {"x": 3.0}) == pytest.approx(value)
