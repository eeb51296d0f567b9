"""The figures of one prediction, by name."""

from collections.abc import Callable, Mapping

from matplotlib.figure import Figure

from vmodel.core.records import Prediction
from vmodel.report.figures import prediction_waterfall
from vmodel.report.graph import path_figure
from vmodel.report.judged import tornado_figure

DRAWINGS: Mapping[str, Callable[[Prediction], Figure]] = {
    "waterfall": prediction_waterfall,
    "tornado": tornado_figure,
    "path": path_figure,
}
