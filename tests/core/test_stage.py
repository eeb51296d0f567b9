"""The decorators refuse wrong declarations when they are made, and say which word was probably meant."""

import pickle
from dataclasses import FrozenInstanceError

import pytest
import sympy

from vmodel.core.stage import Cost, stage, traffic
from vmodel.core.symbols import KNOB_WORDS, TRAFFIC_WORDS, UNITS, Words
from vmodel.errors import StageError


def make(formula, uses=None, **options):
    return stage(occupies=None, uses={"exit_s": "s"} if uses is None else uses, **options)(formula)


def test_a_stage_is_named_after_its_function_and_described_by_its_docstring():
    @stage(occupies="wire", uses={"exit_s": "s"}, cites=("somebody1999",), when="idle", variability=0.5)
    def knock(w, p):
        """Somebody knocks
        twice."""
        return 2 * p.exit_s * w.packets

    assert (knock.name, knock.about, knock.occupies, knock.when) == ("knock", "Somebody knocks twice.", "wire", "idle")
    assert (knock.words, knock.parameters, knock.cites) == (("packets",), ("exit_s",), ("somebody1999",))
    assert knock.variability == 0.5 and knock.bus_bytes == 0
    with pytest.raises(FrozenInstanceError):
        knock.name = "other"


def test_a_cost_may_move_bytes_over_the_bus():
    def haul(w, p):
        """Bytes move."""
        return Cost(seconds=p.exit_s, bus_bytes=2 * w.bytes)

    made = make(haul)
    assert made.bus_bytes == 2 * sympy.Symbol("bytes", nonnegative=True) and made.words == ("bytes",)


def test_a_misspelt_word_fails_with_the_one_that_was_meant():
    def wrong(w, p):
        """Wrong."""
        return w.packet * p.exit_s

    with pytest.raises(StageError, match="packets") as error:
        make(wrong)
    assert error.value.stage == "wrong"


def test_an_undeclared_parameter_fails():
    def wrong(w, p):
        """Wrong."""
        return p.exit_seconds

    with pytest.raises(StageError, match="exit_s"):
        make(wrong)


def test_a_declared_parameter_that_is_not_used_fails():
    def wrong(w, p):
        """Wrong."""
        return p.exit_s

    with pytest.raises(StageError, match="signal_s"):
        make(wrong, {"exit_s": "s", "signal_s": "s"})


def test_a_stage_without_a_docstring_fails():
    with pytest.raises(StageError, match="docstring"):
        make(lambda w, p: p.exit_s)


def test_a_stage_is_paid_at_a_known_time_only():
    def wrong(w, p):
        """Wrong."""
        return p.exit_s

    with pytest.raises(StageError, match="always, idle, blocked"):
        make(wrong, when="sometimes")


def test_traffic_gives_every_word_and_no_other():
    def partial(k):
        """Too little."""
        return {"bytes": k.size_bytes, "wrds": 1}

    with pytest.raises(StageError, match="wrds"):
        traffic(partial)


def test_words_are_declared_once_with_a_unit_and_are_not_negative():
    assert not set(KNOB_WORDS) & set(TRAFFIC_WORDS)
    assert set(UNITS.values()) <= {"", "s", "B", "B/s"}
    words = Words({"packets": ""}, "somebody")
    assert words.packets.is_nonnegative and words.used == {"packets"}
    with pytest.raises(AttributeError):
        _ = words._packets


def test_a_stage_error_travels_between_processes():
    error = pickle.loads(pickle.dumps(StageError(stage="a", fault="b")))
    assert (error.stage, error.fault) == ("a", "b")
