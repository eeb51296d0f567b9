"""Where the evidence lies and what a study folder says: observations, and the machine its profile is made for."""

from dataclasses import dataclass
from pathlib import Path

from vmodel.calibrate.dataset import read_rows, read_toml, studies
from vmodel.core.records import Observation, Profile
from vmodel.errors import ConfigError, Fault
from vmodel.library.profile import FORMAT, from_tables

PACKAGE = Path(__file__).resolve().parents[1]
PLACES = (Path("calibration"), PACKAGE / "evidence", PACKAGE.parent / "calibration")


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """One publication: all its rows, and the profile seed of its machine."""

    name: str
    rows: tuple[Observation, ...]
    seed: Profile

    @property
    def compared(self) -> tuple[Observation, ...]:
        """Rows that are fit for comparison."""
        return tuple(row for row in self.rows if not row.excluded)


def folder(given: Path | None = None) -> Path:
    """The calibration folder: the one named, else ./calibration, else the one that came with the package."""
    for place in PLACES if given is None else (given,):
        if place.is_dir():
            return place
    raise ConfigError([Fault(file=str(given or "calibration"), key="", expected="a folder with study folders")])


def load(given: Path | None = None) -> tuple[Study, ...]:
    """Every study of a calibration folder that describes the machine of a profile; raises ConfigError."""
    found = []
    for place in studies(folder(given)):
        seed = from_tables({"format": FORMAT, **read_toml(place / "profile.toml")}, str(place / "profile.toml"))
        found.append(Study(name=place.name, rows=read_rows(place / "observations.csv"), seed=seed))
    return tuple(found)
