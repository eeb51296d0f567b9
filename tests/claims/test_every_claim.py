"""docs/claims.md lists every claim once, and each has a test that exists or a reason why it cannot."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
TABLE = HERE.parents[1] / "docs" / "claims.md"
NUMBERS = [*map(str, range(1, 87)), *(f"O{n}" for n in range(1, 16))]
QUESTIONS = [f"Q{n}" for n in range(1, 27)]
LEAST_REASON = 20  # characters


def listed():
    """Number -> (claim, how it is shown) of every table row."""
    found = {}
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if len(cells) == 3 and re.fullmatch(r"[OQ]?\d+", cells[0]):
            assert cells[0] not in found, cells[0]
            found[cells[0]] = (cells[1], cells[2])
    return found


@cache
def written():
    """Names of all tests of this folder."""
    trees = (ast.parse(f.read_text(encoding="utf-8")) for f in sorted(HERE.glob("test_*.py")))
    return {
        n.name for tree in trees for n in tree.body if isinstance(n, ast.FunctionDef) and n.name.startswith("test_")
    }


def prefix(number):
    """How the tests of a number begin."""
    if number.startswith("O"):
        return f"test_observation_o{number[1:]}_"
    return f"test_question_{int(number[1:]):02}_" if number.startswith("Q") else f"test_claim_{int(number):02}_"


def test_the_table_is_complete():
    assert list(listed()) == [*NUMBERS, *QUESTIONS]


@pytest.mark.parametrize("number", [*NUMBERS, *QUESTIONS])
def test_each_number_has_a_test_or_a_reason(number):
    claim, shown = listed()[number]
    assert 0 < len(claim.split()) <= 12
    named = re.findall(r"`(test_\w+)`", shown)
    if not named:
        assert shown.startswith("no test: ") and len(shown) > LEAST_REASON
    assert set(named) <= written()
    assert set(named) == {t for t in written() if t.startswith(prefix(number))}
