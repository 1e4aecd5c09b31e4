"""Previews of plays that players enter: words, score and problems, without a change of the game."""

from __future__ import annotations

import pytest

from device.session.lookups import preview_play
from device.session.messages import CommandRefusedError
from engine.game import Game
from tests.support.text_table import STARTED, WORDS

GAME = Game.begin(STARTED)


def test_preview_of_a_valid_play_has_its_score_and_no_problem() -> None:
    preview = preview_play(GAME, WORDS, "8F", "HORN")
    assert (preview.turn.word, preview.turn.score, preview.problems) == ("HORN", 14, ())


def test_preview_of_an_unlisted_word_names_it() -> None:
    assert preview_play(GAME, WORDS, "8F", "HORQ").turn.invalid_words == ("HORQ",)


def test_preview_of_a_play_against_the_rules_has_the_reason() -> None:
    problems = preview_play(GAME, WORDS, "1A", "HORN").problems
    assert [problem.key for problem in problems if hasattr(problem, "key")] == ["noted-centre-missed"]


def test_preview_of_small_letters_scores_blanks() -> None:
    assert preview_play(GAME, WORDS, "8F", "hORN").turn.score == 6


def test_preview_of_a_play_off_the_board_is_refused() -> None:
    with pytest.raises(CommandRefusedError, match="does not fit"):
        preview_play(GAME, WORDS, "8N", "HORN")
