"""Predictions as they were when last looked at: not a proof, a tripwire. Rewritten only by `python -m tests.golden`."""

import json
from pathlib import Path

import pytest

from tests.golden.cases import answer, name, questions

FROZEN = json.loads(Path(__file__).with_name("predictions.json").read_text(encoding="utf-8"))
QUESTIONS = list(questions())


def test_every_question_is_frozen_and_nothing_else():
    assert list(FROZEN) == [name(question) for question in QUESTIONS]


@pytest.mark.parametrize("question", QUESTIONS, ids=name)
def test_prediction_is_what_it_was(question):
    now, then = answer(question), FROZEN[name(question)]
    assert set(now) == set(then)
    for key, value in then.items():
        assert now[key] == (value if isinstance(value, str) else pytest.approx(value, rel=1e-6)), key
