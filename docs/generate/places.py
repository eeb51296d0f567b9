"""Where each kind of thing has its page, and links to them."""

from collections.abc import Iterable

from docs.generate.markup import link

COMMANDS = "reference/commands/index.md"
API = "reference/api.md"
ERRORS = "reference/errors.md"
FILES = "reference/files.md"
PATHS = "reference/paths/index.md"
STAGES = "reference/stages.md"
WORDS = "reference/words.md"
KNOBS = "reference/knobs.md"
COSTS = "reference/costs.md"
PROFILES = "reference/profiles/index.md"
DEVICES = "reference/devices.md"
RECORDS = "reference/records.md"
NOTEBOOKS = "notebooks"
LAWS = "reference/laws.md"
STUDIES = "reference/studies.md"
SOURCES = "reference/sources.md"
BENCHMARKS = "benchmarks.md"
MEASURED = "results.md"
CHANGES = "changelog.md"


def command_page(name: str) -> str:
    """The page of a command."""
    return f"reference/commands/{name}.md"


def path_page(name: str) -> str:
    """The page of a path."""
    return f"reference/paths/{name}.md"


def profile_page(name: str) -> str:
    """The page of a profile."""
    return f"reference/profiles/{name}.md"


def stages(here: str, names: Iterable[str]) -> str:
    """Links to stages."""
    return ", ".join(link(here, f"`{name}`", STAGES, name) for name in names)


def knobs(here: str, names: Iterable[str]) -> str:
    """Links to knobs."""
    return ", ".join(link(here, f"`{name}`", KNOBS, name) for name in names)


def costs(here: str, names: Iterable[str]) -> str:
    """Links to physical costs."""
    return ", ".join(link(here, f"`{name}`", COSTS, name) for name in names)


def paths(here: str, names: Iterable[str]) -> str:
    """Links to paths."""
    return ", ".join(link(here, f"`{name}`", path_page(name)) for name in names)


def profile(here: str, name: str) -> str:
    """A link to a profile."""
    return link(here, f"`{name}`", profile_page(name))


def sources(here: str, keys: Iterable[str]) -> str:
    """Links to sources."""
    return ", ".join(link(here, key, SOURCES, key) for key in keys)
