"""Every generated page of the site, by its address."""

import re
from pathlib import Path

from docs.generate import api, catalogue, commands, evidence, files, laws, notebooks, places, records, ways

HOME = Path(__file__).resolve().parents[2]
MOVED = (("](docs/", "]("), ("](../docs/", "]("), ("](benchmarks/README.md", f"]({places.BENCHMARKS}"))


def moved(text: str) -> str:
    """Text of another folder with its links as they are from the top of the site."""
    for before, after in MOVED:
        text = text.replace(before, after)
    return text


def changelog() -> str:
    """The changelog, which stands in the README."""
    text = (HOME / "README.md").read_text("utf-8")
    found = re.search(r"^## Changelog$\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    if found is None:
        raise LookupError("README.md has no section `Changelog`")
    raised = re.sub(r"^#(#+ )", r"\1", found[1], flags=re.MULTILINE)
    return f"# Changelog\n{moved(raised)}"


def benchmarks(name: str) -> str:
    """A page on benchmarks, which stands beside their programs."""
    return moved((HOME / "benchmarks" / name).read_text("utf-8"))


def pages() -> dict[str, str]:
    """Address -> Markdown of every page that is generated."""
    out = {
        places.CHANGES: changelog(),
        places.BENCHMARKS: benchmarks("README.md"),
        places.MEASURED: benchmarks("results.md"),
    }
    for part in (commands, ways, catalogue, evidence, api, files, laws, records, notebooks):
        out |= part.pages()
    return out
