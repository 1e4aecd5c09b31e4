"""Questions that the players answer later."""

from __future__ import annotations

from engine.validation.deferred_questions import find_open_questions, find_provisional_turns
from tests.support.engine_table import defer, new_game, play


def test_deferred_question_makes_its_turn_provisional() -> None:
    game = play(defer(play(new_game(), "8F HARN"), "8F HORN"), "H6 FA.M")
    assert [question.number for question in find_open_questions(game)] == [1]
    assert find_provisional_turns(game).keys() == {0}


def test_fourth_deferred_question_closes_the_oldest() -> None:
    game = new_game()
    for notation in ("8F HORN", "H6 FA.M", "10F PASTE", "11E BIT"):
        game = defer(play(game, notation))
    assert [question.number for question in find_open_questions(game)] == [2, 3, 4]
