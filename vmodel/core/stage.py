"""A stage: one formula, seconds per message, at one resource. What it costs, not where it stands in a path."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import sympy

from vmodel.core.symbols import KNOB_WORDS, UNITS, Words
from vmodel.errors import StageError

# When a stage is paid. `always`: in every workload. `idle`: only where the ends wait for each other, since a
# busy worker needs no waking. `blocked`: only for the share of time the sender waits for the receiver.
WHEN = ("always", "idle", "blocked")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a formula returns when the stage also moves bytes over the memory bus."""

    seconds: sympy.Expr
    bus_bytes: sympy.Expr


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One step of a message: `seconds` per message on the resource `occupies` (None is pure delay)."""

    name: str
    about: str
    occupies: str | None
    when: str
    variability: float
    spins: bool
    seconds: sympy.Expr
    bus_bytes: sympy.Expr
    words: tuple[str, ...]
    parameters: tuple[str, ...]
    units: Mapping[str, str]
    cites: tuple[str, ...]


def stage(
    *,
    occupies: str | None,
    uses: Mapping[str, str],
    cites: tuple[str, ...] = (),
    when: str = "always",
    variability: float = 0.1,
    spins: bool = False,
) -> Callable[[Callable[[Words, Words], sympy.Expr | Cost]], Stage]:
    """Make a Stage from a formula of words `w` and parameters `p`.

    occupies: class of resource that is busy; None for a delay.  uses: parameter name -> unit.
    when: see WHEN.  variability: squared coefficient of variation of the time [-].
    spins: whoever does this polls for the next piece and is never idle.
    Raises StageError for a misspelt word, an undeclared or an unused parameter.
    """

    def make(formula: Callable[[Words, Words], sympy.Expr | Cost]) -> Stage:
        name = formula.__name__
        if when not in WHEN:
            raise StageError(stage=name, fault=f"when={when!r} is none of {', '.join(WHEN)}")
        about = " ".join((formula.__doc__ or "").split())
        if not about:
            raise StageError(stage=name, fault="no docstring")
        w, p = Words(UNITS, name), Words(uses, name)
        result = formula(w, p)
        cost = result if isinstance(result, Cost) else Cost(seconds=sympy.sympify(result), bus_bytes=sympy.Integer(0))
        unused = sorted(set(uses) - {str(s) for s in cost.seconds.free_symbols})
        if unused:
            raise StageError(stage=name, fault=f"declares but does not use {', '.join(unused)}")
        free = {str(s) for s in cost.seconds.free_symbols | sympy.sympify(cost.bus_bytes).free_symbols}
        return Stage(
            name=name,
            about=about,
            occupies=occupies,
            when=when,
            variability=variability,
            spins=spins,
            seconds=cost.seconds,
            bus_bytes=sympy.sympify(cost.bus_bytes),
            words=tuple(sorted(free - set(uses))),
            parameters=tuple(sorted(uses)),
            units=dict(uses),
            cites=cites,
        )

    return make


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """How one message of a workload becomes segments, packets and notifications: word -> formula of knobs."""

    name: str
    about: str
    counts: Mapping[str, sympy.Expr]
    knobs: tuple[str, ...]


def traffic(formula: Callable[[Words], Mapping[str, sympy.Expr]]) -> Traffic:
    """Make a Traffic from a function of the knob words; every traffic word must be given.

    Raises StageError when a word is missing or unknown.
    """
    name = formula.__name__
    k = Words(KNOB_WORDS, name)
    counts = {word: sympy.sympify(expression) for word, expression in formula(k).items()}
    expected = set(UNITS) - set(KNOB_WORDS)
    wrong = sorted(expected ^ set(counts))
    if wrong:
        raise StageError(stage=name, fault=f"missing or unknown words {', '.join(wrong)}")
    return Traffic(
        name=name, about=" ".join((formula.__doc__ or "").split()), counts=counts, knobs=tuple(sorted(k.used))
    )
