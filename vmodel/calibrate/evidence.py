"""Where the evidence lies and what a study folder says: observations, and the machine its profile is made for."""

from dataclasses import dataclass
from pathlib import Path

from vmodel.calibrate.dataset import read_rows, read_toml, studies
from vmodel.core.records import Observation, Profile
from vmodel.errors import ConfigError, Fault
from vmodel.files import format_fault
from vmodel.library.profile import FORMAT, from_tables

PACKAGE = Path(__file__).resolve().parents[1]
SOURCE_FORMAT = 1
PLACES = (Path("calibration"), PACKAGE / "evidence", PACKAGE.parent / "calibration")


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """One publication: all its rows, and the profile seed of its machine.

    public: collected from another publication than the documents.  shipped: its fit is a profile of the package.
    """

    name: str
    rows: tuple[Observation, ...]
    seed: Profile
    public: bool = False
    shipped: bool = True

    @property
    def compared(self) -> tuple[Observation, ...]:
        """Rows that are fit for comparison."""
        return tuple(row for row in self.rows if not row.excluded)


def folder(given: Path | None = None) -> Path:
    """The calibration folder: the one named, else ./calibration, else the one that came with the package."""
    for place in PLACES if given is None else (given,):
        try:
            if place.is_dir():
                return place
        except OSError:  # a name that no folder can have
            continue
    raise ConfigError([Fault(file=str(given or "calibration"), key="", expected="a folder with study folders")])


def load(given: Path | None = None, *, public: bool = False) -> tuple[Study, ...]:
    """The studies of a calibration folder: the documents, and with `public` those of other publications as well.

    A study is public where its source.toml names what it was collected from (`public`). Raises ConfigError.
    """
    found = []
    for place in studies(folder(given)):
        told = place / "source.toml"
        source = read_toml(told) if told.is_file() else {}
        newer = format_fault(source, SOURCE_FORMAT, str(told))
        if newer is not None:
            raise ConfigError([newer])
        collected = "public" in source
        if collected and not public:
            continue
        body = {"format": FORMAT, **read_toml(place / "profile.toml")}
        shipped = bool(body.pop("shipped", True))
        seed = from_tables(body, str(place / "profile.toml"))
        rows = read_rows(place / "observations.csv")
        found.append(Study(name=place.name, rows=rows, seed=seed, public=collected, shipped=shipped))
    return tuple(found)
