"""The notebooks as pages: their text and code, without outputs, which the tests make again each time."""

import json
from functools import cache
from pathlib import Path

from docs.generate.markup import block

HOME = Path(__file__).resolve().parents[2]
FOLDER = HOME / "notebooks"


def address(path: Path) -> str:
    """The page of a notebook."""
    return f"notebooks/{path.stem}.md"


@cache
def files() -> tuple[Path, ...]:
    """Every notebook, in order."""
    return tuple(sorted(FOLDER.glob("*.ipynb")))


def title(path: Path) -> str:
    """The heading of a notebook."""
    first = "".join(json.loads(path.read_text("utf-8"))["cells"][0]["source"])
    return first.splitlines()[0].removeprefix("# ")


def page(path: Path) -> str:
    """Text and code of one notebook."""
    parts = []
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        text = "".join(cell["source"])
        parts.append(f"{text}\n" if cell["cell_type"] == "markdown" else block(text, "python"))
    parts.append(
        f"\nTo run it: `jupyter lab notebooks/{path.name}`, with sliders where `pip install '.[notebook]'` was done.\n"
    )
    return "\n".join(parts)


def pages() -> dict[str, str]:
    """Address -> text of every notebook."""
    return {address(path): page(path) for path in files()}
