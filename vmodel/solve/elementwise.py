"""Elementary functions that take a float or an array, so that each formula of this package is written once.

Plain floats go through `math` alone: a short command never loads numpy. Anything else is an array of any broadcastable
shape. Limits are values here: a quotient without room is infinite, an exponential beyond range is infinite or zero.
A tuple of types is asked faster than a union, and this module asks thousands of times a prediction.
"""

import math
from typing import Any, TypeAlias

Number: TypeAlias = Any
"""A float, or an array of floats; a function of several answers in their common shape."""

LARGEST_EXPONENT = 700.0  # exp of it is the last power of ten that a double holds comfortably
STIRLING_FROM = 9.0  # from here on the series below is exact to a double
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)  # AbramowitzStegun1964, 6.1.41
HALF_LOG_TWO_PI = math.log(2 * math.pi) / 2


def scalar(value: Number, other: Number = 0.0) -> bool:
    """Whether one or two values are plain numbers."""
    return isinstance(value, (float, int)) and isinstance(other, (float, int))


def exp(x: Number) -> Number:
    """The exponential; infinite where a double cannot hold it."""
    if isinstance(x, (float, int)):
        return math.exp(x) if x < LARGEST_EXPONENT else math.inf
    import numpy

    with numpy.errstate(over="ignore", under="ignore"):
        return numpy.exp(x)


def expm1(x: Number) -> Number:
    """The exponential minus one, exact near zero."""
    if isinstance(x, (float, int)):
        return math.expm1(x) if x < LARGEST_EXPONENT else math.inf
    import numpy

    with numpy.errstate(over="ignore", under="ignore"):
        return numpy.expm1(x)


def log(x: Number) -> Number:
    """The natural logarithm; minus infinity at zero."""
    if isinstance(x, (float, int)):
        return math.log(x) if x > 0 else -math.inf
    import numpy

    with numpy.errstate(divide="ignore"):
        return numpy.log(x)


def log1p(x: Number) -> Number:
    """The logarithm of one plus x, exact near zero; minus infinity at minus one."""
    if isinstance(x, (float, int)):
        return math.log1p(x) if x > -1 else -math.inf
    import numpy

    with numpy.errstate(divide="ignore"):
        return numpy.log1p(x)


def sqrt(x: Number) -> Number:
    """The square root."""
    if isinstance(x, (float, int)):
        return math.sqrt(x)
    import numpy

    return numpy.sqrt(x)


def floor(x: Number) -> Number:
    """The largest whole number that is not above x; infinity stays."""
    if isinstance(x, (float, int)):
        return float(math.floor(x)) if math.isfinite(x) else x
    import numpy

    return numpy.floor(x)


def least(a: Number, b: Number) -> Number:
    """The smaller of two, element by element."""
    if isinstance(a, (float, int)) and isinstance(b, (float, int)):
        return a if a <= b else b
    import numpy

    return numpy.minimum(a, b)


def most(a: Number, b: Number) -> Number:
    """The larger of two, element by element."""
    if isinstance(a, (float, int)) and isinstance(b, (float, int)):
        return a if a >= b else b
    import numpy

    return numpy.maximum(a, b)


def choose(condition: Any, yes: Number, no: Number) -> Number:
    """One value where the condition holds, the other elsewhere; both are computed before."""
    if not getattr(condition, "ndim", 0) and isinstance(chosen := yes if condition else no, (float, int)):
        return chosen
    import numpy

    return numpy.where(condition, yes, no)


def over(a: Number, room: Number) -> Number:
    """A quotient by the room that is left: infinite where none is."""
    if isinstance(a, (float, int)) and isinstance(room, (float, int)):
        return a / room if room > 0 else math.inf
    import numpy

    a, room = numpy.broadcast_arrays(numpy.asarray(a, float), numpy.asarray(room, float))
    with numpy.errstate(over="ignore"):
        return numpy.divide(a, room, out=numpy.full(a.shape, math.inf), where=room > 0)


def power(base: Number, exponent: Number) -> Number:
    """A positive base to any exponent through logarithms, so that no intermediate power leaves the range."""
    return exp(exponent * log(most(base, math.ulp(0.0))))


def lgamma(x: Number) -> Number:
    """Logarithm of the gamma function of a positive number (AbramowitzStegun1964, 6.1.41 after shifting upwards)."""
    if isinstance(x, (float, int)):
        return math.lgamma(x)
    import numpy

    small: Number = numpy.asarray(x, float)
    shift: Number = 0.0
    for _ in range(int(STIRLING_FROM)):
        low = small < STIRLING_FROM
        shift = shift - numpy.where(low, numpy.log(small), 0.0)
        small = numpy.where(low, small + 1, small)
    series = sum(c / small ** (2 * i + 1) for i, c in enumerate(STIRLING))
    return shift + (small - 1 / 2) * numpy.log(small) - small + HALF_LOG_TWO_PI + series


def settled(change: Number, tolerance: float) -> bool:
    """Whether every element of an iteration's relative change is below the tolerance."""
    if isinstance(change, (float, int)):
        return bool(abs(change) <= tolerance)
    return bool((abs(change) <= tolerance).all())
