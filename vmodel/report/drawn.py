"""The figure of a record, whichever record it is: `figure`."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from matplotlib.figure import Figure

from vmodel.calibrate.fit import Fit
from vmodel.core.records import Observation, Prediction
from vmodel.plan.tune import Tuning
from vmodel.report.figures import picture, prediction_waterfall
from vmodel.report.judged import learned_of, posterior_figure, tornado_figure
from vmodel.report.pictures import default_answer, sweep_picture
from vmodel.solve.explain import Explanation
from vmodel.sweep.engine import Sweep
from vmodel.sweep.sensitivity import Sensitivity


def figure(record: Any, *, answer: str | None = None, measured: Sequence[Observation] = ()) -> Figure:
    """Draw a record as a matplotlib Figure.

    A Prediction as a waterfall, an Explanation as a tornado of elasticities, a Fit as costs before and after, a Sweep
    as what suits: load curve, map of regimes, or lines with intervals; a Tuning as its Pareto front.  answer:
    the column of a Sweep to show.  measured: rows to draw over its lines.  Raises TypeError for what has no figure,
    ConfigError for a Sweep that no figure can show.
    """
    draw = next((draw for kind, draw in DRAWN.items() if isinstance(record, kind)), None)
    if draw is not None:
        made = draw(record)
    elif isinstance(record, Sweep):
        made = sweep_picture(record, answer or default_answer(record.grid), measured)
    else:
        kinds = ", ".join(kind.__name__ for kind in (*DRAWN, Sweep))
        raise TypeError(f"no figure for a {type(record).__name__}; there is one for {kinds}")
    setattr(made, "_repr_png_", partial(picture, made, "png"))  # noqa: B010 - a notebook shows it without pyplot too
    return made


def _fit(f: Fit) -> Figure:
    return posterior_figure(learned_of(f.estimates), f"{f.profile.name}: {len(f.rows)} rows")


def _sensitivity(s: Sensitivity) -> Figure:
    from vmodel.report.sensitive import sensitivity_figure

    return sensitivity_figure(s)


def _tuning(t: Tuning) -> Figure:
    from vmodel.report.tuned import front_figure

    return front_figure(t)


DRAWN: Mapping[type, Callable[[Any], Figure]] = {
    Prediction: prediction_waterfall,
    Explanation: lambda e: tornado_figure(e.prediction),
    Fit: _fit,
    Sensitivity: _sensitivity,
    Tuning: _tuning,
}
