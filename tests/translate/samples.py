"""Python of the kinds that the package's laws are written in; the tests run it in both languages."""

# ruff: noqa

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, NamedTuple

LIMITS = {"low": 1, "high": 10**3}
ORDER = ("b", "a")
HALF = 1 / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A record with defaults."""

    x: float
    default: float = 2.0  # a word that JavaScript keeps for itself
    tags: Mapping[str, Any] = field(default_factory=dict)

    @property
    def length(self) -> float:
        """A property."""
        return math.sqrt(self.x * self.x + self.default * self.default)

    def moved(self, by: float) -> "Point":
        """A method."""
        return replace(self, x=self.x + by)


class Pair(NamedTuple):
    """A tuple with names."""

    first: int
    second: int


class Money:
    """Arithmetic of its own."""

    def __init__(self, cents: int) -> None:
        self.cents = cents

    def __add__(self, other: Any) -> "Money":
        return Money(self.cents + (other.cents if isinstance(other, Money) else other))

    __radd__ = __add__

    def __rsub__(self, other: int) -> "Money":
        return Money(other - self.cents)

    def __mul__(self, times: int) -> "Money":
        return Money(self.cents * times)

    def __rtruediv__(self, whole: int) -> float:
        return whole / self.cents

    def __neg__(self) -> "Money":
        return Money(-self.cents)


@cache
def remembered(n: int) -> list[int]:
    """The same list each time."""
    return [n]


def arithmetic() -> list[Any]:
    """Numbers."""
    return [
        7 // 2,
        -7 // 2,
        7 % 3,
        -7 % 3,
        2**10,
        2**-1,
        -(2**2),
        1e300 * 1e10,
        True + True,
        3 * (2 > 1),
        [0] * 3,
        "ab" * 2,
        [1] + [2],
        (1,) + (2, 3),
        sorted({1, 2} & {2, 3}),
        (True) & (1 > 2),
        5 - Money(2).cents,
        round(2.5),
        round(3.5),
        round(-0.5),
        round(2.675, 2),
        round(12345.0, -2),
        int(-3.7),
        int(3.7),
        abs(-2),
        float("1e3"),
        max(1, 3, 2),
        min([4, 2, 8]),
        max([], default=-1),
        max(["aaa", "b"], key=len),
        sum([1, 2], 3),
        sum(x * x for x in range(4)),
    ]


def operators() -> list[Any]:
    """Objects that add, multiply and divide."""
    total = sum([Money(1), Money(2)], Money(0))
    return [
        (1 + Money(2)).cents,
        (Money(1) + 2).cents,
        (5 - Money(2)).cents,
        (Money(3) * 2).cents,
        6 / Money(3),
        total.cents,
        (-Money(4)).cents,
    ]


def collections() -> list[Any]:
    """Lists, dicts, sets, slices and unpacking."""
    d = {"a": 1, "b": 2}
    e = {**d, "c": 3}
    d.setdefault("z", 9)
    d.update({"a": 5})
    first, *rest = [1, 2, 3]
    (a, b), c = (1, 2), 3
    xs = [1, 2, 3, 4]
    xs += [5]
    xs[0] = 10
    keys = [k for k in e]
    nested = [(i, j) for i in range(3) for j in range(i) if i + j > 1]
    return [
        list(e.items()),
        e.get("q"),
        e.get("q", 4),
        e["c"],
        "a" in e,
        "q" not in e,
        d,
        first,
        rest,
        [a, b, c],
        xs,
        xs[-1],
        xs[1:],
        xs[:2],
        xs[1:3],
        keys,
        nested,
        sorted(["b", "a"], reverse=True),
        sorted([3, 1, 2], key=lambda v: -v),
        list(zip([1, 2], [3, 4], strict=True)),
        list(enumerate(["x", "y"])),
        list(reversed([1, 2])),
        {k: v * 2 for k, v in d.items() if v > 2},
        next((x for x in xs if x > 3), None),
        next((x for x in xs if x > 99), None),
        any(x > 4 for x in xs),
        all(x > 4 for x in xs),
        len(e),
        len("abc"),
        dict.fromkeys(["p"], 0),
        Pair(1, 2).second,
        Pair(*[3, 4]).first,
        [*xs, *keys],
        list(dict.fromkeys([1, 1, 2])),
        ORDER.index("a"),
        LIMITS["high"],
        tuple(xs)[0],
    ]


def truths() -> list[Any]:
    """What counts as true, and what and, or and comparisons give."""
    nothing: Any = None
    return [
        [bool(x) for x in (0, 0.0, "", [], {}, None, 1, "0", [0], {"a": 0})],
        nothing or "x",
        [] or [1],
        0 and 1,
        2 and 3,
        1 if [] else 2,
        not [],
        1 < 2 < 3,
        1 < 2 > 3,
        1 == 1.0,
        True == 1,
        "1" == 1,
        None is None,
        (1, 2) == (1, 2),
        isinstance(1.5, float | int),
        isinstance("x", (int, str)),
        isinstance(True, bool),
        isinstance({}, dict),
        hasattr(Point(x=1), "x"),
        getattr(Point(x=1), "y", 7),
        HALF if HALF > 0.4 else 0,
    ]


def records() -> list[Any]:
    """Records, methods and caches."""
    p = Point(x=1.5)
    q = p.moved(1)
    wide = Point(**{"x": 4.0, "default": 3.0})
    return [p.x, p.default, q.x, p.x, q.length, wide.length, p.tags, remembered(1) is remembered(1), remembered(2)]


def text() -> list[Any]:
    """Strings and formats."""
    name, value = "queue", 1234.5678
    places = 2
    return [
        f"{name}: {value:.2f}",
        f"{value:.3g}",
        f"{value:g}",
        f"{1e-7:g}",
        f"{0.0001:g}",
        f"{123456789.0:g}",
        f"{value:.{places}e}",
        f"{0.5:.0f} {1.5:.0f} {2.5:.0f}",
        f"{0.125:.2f}",
        f"{5}",
        f"{3:+g}",
        f"{-3:+.1f}",
        f"{name!r}",
        f"{2.0:.6g}",
        f"{1e22:g}",
        name.upper(),
        " x ".strip(),
        "a|b|c".partition("|"),
        "abc".partition("|"),
        "; ".join(["a", "b"]),
        "ab".startswith(("x", "a")),
        "x.toml".endswith(".toml"),
        "x.toml".removesuffix(".toml"),
        "--flag".removeprefix("--"),
        "-3".lstrip("-"),
        "a b".split(),
        "a,b".split(","),
        "u" in "queue",
        "x".ljust(3) + "|",
        "x".rjust(3),
        str(True),
        str(None),
        f"{0.1 + 0.2:.12g}",
        f"{1e-300:.3e}",
    ]


def loops() -> list[Any]:
    """Statements."""
    found = []
    for i in range(2, 6):
        if i == 3:
            continue
        if i == 5:
            break
        found.append(i)
    n = 100
    while n > 1:
        n //= 7
    total = low = 0
    for k, v in {"a": 1, "b": 2}.items():
        total += v
        low = low - 1
        found.append(k)

    def inner(x: int) -> int:
        return x + total

    a, b = 1, 2
    a, b = b, a
    if (m := len(found)) > 3:
        found.append(m)
    return [found, i, n, total, low, inner(1), a, b]


def elementary() -> list[float]:
    """Functions of the standard library over their range."""
    xs = [10 ** (k / 4) for k in range(-40, 24)]
    out = [math.lgamma(x) for x in xs] + [
        math.lgamma(x) for x in (0.999, 1.0, 1.001, 1.5, 1.999, 2.0, 2.001, 0.25, 13.5)
    ]
    out += [math.erfc(sign * x) for x in xs if x < 27 for sign in (-1, 1)]
    out += [math.expm1(-x) for x in xs] + [math.log1p(x) for x in xs] + [math.sqrt(x) for x in xs]
    return [*out, float(math.floor(-1.5)), float(math.ceil(1.2)), math.inf, math.pi, math.log(3.0), math.ulp(0.0)]


def for_arrays(x: float) -> float:
    """What follows is for arrays, and not printed."""
    if isinstance(x, float):
        return x
    import numpy

    return numpy.nonsense(x, key=1)
