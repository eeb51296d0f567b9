"""Numbers that carry their derivatives by name, so that the laws written once also give the exact Jacobian."""

from collections.abc import Callable, Mapping
from typing import Any, Union

Number = Any


class Dual:
    """A value (float or array) with its partial derivatives: parameter name -> float or array."""

    __slots__ = ("gradient", "value")

    def __init__(self, value: Number, gradient: Mapping[str, Number]) -> None:
        self.value = value
        self.gradient = gradient

    def _combine(self, other: Union["Dual", Number], value: Number, mine: Number, theirs: Number) -> "Dual":
        gradient = {name: mine * d for name, d in self.gradient.items()}
        if isinstance(other, Dual):
            for name, d in other.gradient.items():
                gradient[name] = gradient[name] + theirs * d if name in gradient else theirs * d
        return Dual(value, gradient)

    def __add__(self, other: Union["Dual", Number]) -> "Dual":
        return self._combine(other, self.value + plain(other), 1.0, 1.0)

    def __radd__(self, other: Number) -> "Dual":
        return self._combine(other, other + self.value, 1.0, 1.0)

    def __neg__(self) -> "Dual":
        return Dual(-self.value, {name: -d for name, d in self.gradient.items()})

    def __sub__(self, other: Union["Dual", Number]) -> "Dual":
        return self._combine(other, self.value - plain(other), 1.0, -1.0)

    def __rsub__(self, other: Number) -> "Dual":
        return self._combine(other, other - self.value, -1.0, 1.0)

    def __mul__(self, other: Union["Dual", Number]) -> "Dual":
        b = plain(other)
        return self._combine(other, self.value * b, b, self.value)

    __rmul__ = __mul__

    def __truediv__(self, other: Union["Dual", Number]) -> "Dual":
        b = plain(other)
        return self._combine(other, self.value / b, 1.0 / b, -self.value / (b * b))

    def __rtruediv__(self, other: Number) -> "Dual":
        return Dual(other / self.value, {n: -other * d / (self.value * self.value) for n, d in self.gradient.items()})

    __array_ufunc__ = None  # array * Dual must come to __rmul__


def plain(x: Dual | Number) -> Number:
    """The value without derivatives."""
    return x.value if isinstance(x, Dual) else x


def is_float(x: Number) -> bool:
    """Whether x is a single number and not an array."""
    return isinstance(x, (float, int))


def _pick(a: Dual | Number, b: Dual | Number, first: Number, best: Callable[[Number, Number], Number]) -> Any:
    """Take a where `first`, else b; derivatives follow the one taken (the left one in a tie)."""
    if not isinstance(a, Dual) and not isinstance(b, Dual):
        return best(plain(a), plain(b))
    gradient: dict[str, Number] = {}
    for x, share in ((a, first), (b, ~first)):
        if isinstance(x, Dual):
            for name, d in x.gradient.items():
                gradient[name] = gradient.get(name, 0.0) + share * d
    return Dual(best(plain(a), plain(b)), gradient)


def _array_best(name: str) -> Callable[[Number, Number], Number]:
    import numpy  # only arrays come here, and whoever made them has paid for it

    best: Callable[[Number, Number], Number] = getattr(numpy, name)
    return best


def larger(a: Dual | Number, b: Dual | Number) -> Any:
    """The larger of two numbers, elementwise for arrays."""
    first = plain(a) >= plain(b)
    if isinstance(first, bool):
        return a if first else b
    return _pick(a, b, first, _array_best("maximum"))


def smaller(a: Dual | Number, b: Dual | Number) -> Any:
    """The smaller of two numbers, elementwise for arrays."""
    first = plain(a) <= plain(b)
    if isinstance(first, bool):
        return a if first else b
    return _pick(a, b, first, _array_best("minimum"))


def total(values: list[Any]) -> Any:
    """The sum of several numbers; derivatives are added up once, which is what a long sum of duals costs."""
    gradient: dict[str, Number] = {}
    numbers = [plain(x) for x in values]
    value: Any = sum(x for x in numbers if is_float(x))
    arrays = [x for x in numbers if not is_float(x)]
    if arrays:
        value = value + arrays[0]  # a new array, so the rest may be added in place
        for x in arrays[1:]:
            value = value + x if x.shape != value.shape else value.__iadd__(x)
    for x in values:
        if isinstance(x, Dual):
            for name, d in x.gradient.items():
                gradient[name] = gradient[name] + d if name in gradient else d
    return Dual(value, gradient) if gradient else value


def largest(values: list[Any]) -> Any:
    """The largest of several numbers."""
    top = values[0]
    for value in values[1:]:
        top = larger(top, value)
    return top
