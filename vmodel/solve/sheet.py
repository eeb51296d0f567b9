"""Formulas on paper: an expression as text and as LaTeX, and the sheet of the stages that a prediction used."""

import re
from dataclasses import dataclass

import sympy

from vmodel.core.records import Prediction
from vmodel.library.catalog import STAGES
from vmodel.solve import compose


@dataclass(frozen=True, slots=True, kw_only=True)
class StageFormula:
    """One stage of the formula sheet."""

    stage: str
    about: str
    resource: str
    when: str
    text: str
    latex: str
    cites: tuple[str, ...]


def text_of(expression: sympy.Expr) -> str:
    """The expression as plain text, whole numbers without a point."""
    return re.sub(r"\b(\d+)\.0+\b", r"\1", str(expression))


def latex_name(name: str) -> str:
    """A name of a setting or cost in LaTeX."""
    return r"\mathrm{" + name.replace("_", r"\_") + "}"


def latex_of(expression: sympy.Expr) -> str:
    """The expression as LaTeX."""
    return str(sympy.latex(expression, symbol_names={x: latex_name(str(x)) for x in expression.free_symbols}))


def formula_sheet(p: Prediction) -> tuple[StageFormula, ...]:
    """The formula of every stage that a prediction used, in order of the way."""
    way = compose.scenario_ways(p.scenario)
    both = p.scenario.workload == "rr" or p.scenario.knobs["forwards"]
    chains = (way.forward, way.reverse) if both else (way.forward,)
    names = dict.fromkeys(node.stage for chain in chains for node in chain.nodes)
    return tuple(
        StageFormula(
            stage=name,
            about=STAGES[name].about,
            resource=STAGES[name].occupies or "",
            when=STAGES[name].when,
            text=text_of(STAGES[name].seconds),
            latex=latex_of(STAGES[name].seconds),
            cites=STAGES[name].cites,
        )
        for name in names
    )
