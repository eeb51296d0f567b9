"""vmodel: what a virtual machine's network data path costs, predicted from its configuration.

The public names stand in one table and are resolved on first use, so that importing the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vmodel.calibrate.dataset import read_rows as read_rows
    from vmodel.calibrate.diagnose import diagnose as diagnose
    from vmodel.calibrate.fit import Fit as Fit
    from vmodel.calibrate.fit import fit as fit
    from vmodel.calibrate.profile_file import as_profile as as_profile
    from vmodel.calibrate.suggest import suggest as suggest
    from vmodel.config import scenario as scenario
    from vmodel.core.records import Observation as Observation
    from vmodel.core.records import Prediction as Prediction
    from vmodel.core.records import Profile as Profile
    from vmodel.core.records import Scenario as Scenario
    from vmodel.errors import VmodelError as VmodelError
    from vmodel.ingest.read import read_output as read_output
    from vmodel.ingest.scenario import settings_from as settings_from
    from vmodel.library.profile import profile as profile
    from vmodel.library.tables import path_names as path_names
    from vmodel.plan.plan import Plan as Plan
    from vmodel.plan.plan import plan_fleet as plan_fleet
    from vmodel.plan.read import read_fleet as read_fleet
    from vmodel.plan.tune import Tuning as Tuning
    from vmodel.plan.tune import tune as tune
    from vmodel.report.drawn import figure as figure
    from vmodel.solve.ask import predict as predict
    from vmodel.solve.compare import Comparison as Comparison
    from vmodel.solve.compare import compare as compare
    from vmodel.solve.explain import Explanation as Explanation
    from vmodel.solve.explain import bibliography as bibliography
    from vmodel.solve.explain import explain as explain
    from vmodel.sweep.ask import run_sweep as run_sweep
    from vmodel.sweep.engine import Sweep as Sweep

__version__ = "0.1.0"

_PLACES = {
    "Comparison": "vmodel.solve.compare",
    "Explanation": "vmodel.solve.explain",
    "Fit": "vmodel.calibrate.fit",
    "Observation": "vmodel.core.records",
    "Plan": "vmodel.plan.plan",
    "Prediction": "vmodel.core.records",
    "Profile": "vmodel.core.records",
    "Scenario": "vmodel.core.records",
    "Tuning": "vmodel.plan.tune",
    "Sweep": "vmodel.sweep.engine",
    "VmodelError": "vmodel.errors",
    "as_profile": "vmodel.calibrate.profile_file",
    "bibliography": "vmodel.solve.explain",
    "compare": "vmodel.solve.compare",
    "diagnose": "vmodel.calibrate.diagnose",
    "explain": "vmodel.solve.explain",
    "figure": "vmodel.report.drawn",
    "fit": "vmodel.calibrate.fit",
    "path_names": "vmodel.library.tables",
    "plan_fleet": "vmodel.plan.plan",
    "predict": "vmodel.solve.ask",
    "profile": "vmodel.library.profile",
    "read_output": "vmodel.ingest.read",
    "read_fleet": "vmodel.plan.read",
    "read_rows": "vmodel.calibrate.dataset",
    "run_sweep": "vmodel.sweep.ask",
    "scenario": "vmodel.config",
    "settings_from": "vmodel.ingest.scenario",
    "tune": "vmodel.plan.tune",
    "suggest": "vmodel.calibrate.suggest",
}
__all__ = sorted(_PLACES)


def __getattr__(name: str) -> Any:
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module 'vmodel' has no attribute {name!r}")
    return getattr(import_module(place), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
