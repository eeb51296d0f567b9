"""Numbers with derivatives: every operation against a small step, and against sympy's rules by hand."""

import math

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vmodel.solve.dual import Dual, is_float, larger, largest, plain, smaller

STEP = 1e-6
positive = st.floats(0.1, 10.0)
FORMULAS = {
    "sum": lambda x, y: x + y + 2,
    "reversed sum": lambda x, y: 2 + x + y,
    "difference": lambda x, y: x - y - 1,
    "reversed difference": lambda x, y: 5 - x - y,
    "product": lambda x, y: 3 * x * y * 2,
    "quotient": lambda x, y: x / y / 2,
    "reciprocal": lambda x, y: 3 / (x + y),
    "negation": lambda x, y: -(x * y),
    "both at once": lambda x, y: x * x / (x + y * y) - 1 / x,
    "larger": lambda x, y: larger(x * x, y),
    "smaller": lambda x, y: smaller(x * x, y),
    "largest": lambda x, y: largest([x, 2 * y, x * y]),
}
every_formula = pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS.keys())


def duals(x, y):
    return Dual(x, {"x": 1.0}), Dual(y, {"y": 1.0})


@every_formula
@given(x=positive, y=positive)
def test_derivative_is_what_a_small_step_gives(formula, x, y):
    exact = formula(*duals(x, y))
    assert exact.value == formula(x, y)
    if any(abs(a - b) < 1e-3 for a, b in ((x * x, y), (x, 2 * y), (x, x * y), (2 * y, x * y))):
        return  # at a kink both sides are right
    for name, dx, dy in (("x", STEP, 0.0), ("y", 0.0, STEP)):
        slope = (formula(x + dx, y + dy) - formula(x - dx, y - dy)) / (2 * STEP)
        assert exact.gradient.get(name, 0.0) == pytest.approx(slope, rel=1e-4, abs=1e-5)


@every_formula
def test_arrays_and_floats_agree(formula):
    xs, ys = numpy.array([0.5, 1.5, 3.0]), numpy.array([2.0, 1.0, 4.0])
    together = formula(*duals(xs, ys))
    for i, (x, y) in enumerate(zip(xs, ys, strict=True)):
        one = formula(*duals(float(x), float(y)))
        assert together.value[i] == pytest.approx(one.value)
        for name in ("x", "y"):
            gradient = numpy.broadcast_to(together.gradient.get(name, 0.0), xs.shape)[i]
            assert gradient == pytest.approx(one.gradient.get(name, 0.0))


@every_formula
def test_plain_numbers_pass_through(formula):
    assert not isinstance(formula(1.5, 2.5), Dual)


def test_an_array_times_a_dual_is_a_dual():
    product = numpy.array([1.0, 2.0]) * Dual(3.0, {"a": 1.0})
    assert isinstance(product, Dual)
    assert product.value.tolist() == [3.0, 6.0] and product.gradient["a"].tolist() == [1.0, 2.0]


def test_in_a_tie_the_left_one_gives_the_derivative():
    left, right = Dual(1.0, {"a": 1.0}), Dual(1.0, {"b": 1.0})
    assert larger(left, right) is left and smaller(left, right) is left


def test_plain_and_is_float():
    assert plain(Dual(2.0, {})) == plain(2.0) == 2.0
    assert is_float(1) and is_float(math.pi) and not is_float(numpy.array([1.0]))
