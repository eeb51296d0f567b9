"""The tutorial and the guides tell the truth: every block runs, in order, and prints what is shown.

`python -m tests.docs.test_guides` renders what they print again; look at the difference before committing it.
"""

import shutil
import tempfile
from pathlib import Path

import pytest

from tests.blocks import HOME, check, refreshed

DOCS = HOME / "docs"
GUIDES = sorted([DOCS / "tutorial.md", *(DOCS / "how-to").glob("*.md")])
COPIED = ("vmodel", "calibration")  # what a guide that changes the project may change


def prepared(guide, folder):
    """Where the blocks of a guide run; those that change the project get a copy of it."""
    work = folder / "work"
    if not guide.name.startswith("add-"):
        work.mkdir()
        return HOME
    for name in COPIED:
        shutil.copytree(HOME / name, work / name, ignore=shutil.ignore_patterns("__pycache__"))
    return work


@pytest.mark.slow
@pytest.mark.parametrize("guide", GUIDES, ids=lambda g: g.stem)
def test_every_block_runs_and_prints_what_is_shown(guide, tmp_path):
    text = guide.read_text("utf-8")
    assert "```sh" in text or "```console" in text
    check(text, tmp_path, prepared(guide, tmp_path))


if __name__ == "__main__":
    for page in GUIDES:
        with tempfile.TemporaryDirectory() as name:
            place = Path(name)
            page.write_text(refreshed(page.read_text("utf-8"), place, prepared(page, place)), encoding="utf-8")
