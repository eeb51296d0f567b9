"""The figure of a record, whichever record it is: `figure`."""

from collections.abc import Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any

from matplotlib.figure import Figure

from vmodel.core.records import Observation
from vmodel.report.figures import picture

# record -> (module, function) that draws it; imported when it is drawn
DRAWN: Mapping[str, tuple[str, str]] = {
    "vmodel.core.records.Prediction": ("vmodel.report.figures", "prediction_waterfall"),
    "vmodel.solve.explain.Explanation": ("vmodel.report.judged", "explanation_figure"),
    "vmodel.calibrate.fit.Fit": ("vmodel.report.judged", "fit_figure"),
    "vmodel.sweep.sensitivity.Sensitivity": ("vmodel.report.sensitive", "sensitivity_figure"),
    "vmodel.plan.tune.Tuning": ("vmodel.report.tuned", "front_figure"),
    "vmodel.plan.plan.Plan": ("vmodel.report.plan_figure", "load_figure"),
}
SWEEP = "vmodel.sweep.engine.Sweep"


def figure(record: Any, *, answer: str | None = None, measured: Sequence[Observation] = ()) -> Figure:
    """Draw a record as a matplotlib Figure.

    A Prediction as a waterfall, an Explanation as a tornado of elasticities, a Fit as costs before and after, a Tuning
    as its Pareto front, a Plan as how full its hosts are, a Sweep as what suits: load curve, map of regimes, lines with
    intervals, or the Pareto front of a crowd.  answer: the column of a Sweep to show.  measured: rows to draw over its
    lines.  Raises TypeError for what has no figure, ConfigError for a Sweep that no figure can show.
    """
    name = f"{type(record).__module__}.{type(record).__qualname__}"
    place = DRAWN.get(name)
    if place is not None:
        made: Figure = getattr(import_module(place[0]), place[1])(record)
    elif name == SWEEP:
        from vmodel.report.pictures import default_answer, sweep_picture

        made = sweep_picture(record, answer or default_answer(record.grid), measured)
    else:
        kinds = ", ".join(kind.rpartition(".")[2] for kind in (*DRAWN, SWEEP))
        raise TypeError(f"no figure for a {type(record).__name__}; there is one for {kinds}")
    setattr(made, "_repr_png_", partial(picture, made, "png"))  # noqa: B010 - a notebook shows it without pyplot too
    return made
