"""Questions that the players answer later."""

from __future__ import annotations

import pytest

from engine.board import parse_square
from engine.events import BlankNamed, BlankTaken, Passed, PlayMade, QuestionDeferred, TurnCorrected, TurnInserted
from engine.rules import Rules
from engine.validation import deferred_questions
from engine.validation.deferred_questions import (
    defer_question,
    find_corrected_questions,
    find_deferred_questions,
    find_disputed_squares,
    find_provisional_turns,
)
from tests.support.engine_table import defer, new_game, play, written


def test_deferred_question_makes_its_turn_provisional() -> None:
    game = play(defer(play(new_game(), "8F HARN"), "8F HORN"), "H6 FA.M")
    assert [question.number for question in find_deferred_questions(game)] == [1]
    assert find_provisional_turns(game).keys() == {0}


def test_oldest_question_is_closed_if_too_many_are_deferred(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deferred_questions, "MAX_DEFERRED_QUESTIONS", 3)
    game = new_game()
    for notation in ("8F HORN", "H6 FA.M", "10F PASTE", "11E BIT"):
        game = defer(play(game, notation))
    assert [question.number for question in find_deferred_questions(game)] == [2, 3, 4]


def test_provisional_turn_keeps_its_question_when_earlier_turns_are_inserted_or_removed() -> None:
    game = defer(play(new_game(), "8F HORN", "H6 FA.M"), "H6 FA.MS")
    game = game.push(TurnInserted(1, Passed(1)))
    assert find_provisional_turns(game).keys() == {2}
    assert find_provisional_turns(game.push(TurnCorrected(1, None))).keys() == {1}


def test_correction_of_another_turn_with_the_earlier_number_answers_no_question() -> None:
    game = defer(play(new_game(), "8F HORN", "H6 FA.M"), "H6 FA.MS")
    game = game.push(TurnInserted(1, Passed(1)))
    assert not find_corrected_questions(game.push(TurnCorrected(1, Passed(0))))
    assert find_corrected_questions(game.push(TurnCorrected(2, Passed(0))))


def test_correction_of_only_the_player_answers_no_question() -> None:
    game = defer(play(new_game(), "8F HARN"), "8F HORN")
    assert not find_corrected_questions(game.push(TurnCorrected(0, PlayMade(1, written(new_game(), "8F HARN")))))
    assert find_corrected_questions(game.push(TurnCorrected(0, PlayMade(0, written(new_game(), "8F HORN")))))


def test_correction_that_adds_tiles_elsewhere_answers_no_question() -> None:
    """The question whether a later tile is of this play gives it that tile, until the players answer."""
    game = defer(play(new_game(), "8F HARN"), "8F HORN")
    assert not find_corrected_questions(game.push(TurnCorrected(0, PlayMade(0, written(new_game(), "8F HARNS")))))


def test_correction_that_adds_the_tile_in_question_answers_it() -> None:
    game = defer(play(new_game(), "8F HOR"), "8F HORN")
    assert find_corrected_questions(game.push(TurnCorrected(0, PlayMade(0, written(new_game(), "8F HORN")))))


def test_correction_of_a_play_does_not_answer_who_made_it() -> None:
    before = play(new_game(), "8F HORN")
    answers = tuple(play(before, *plays).events[-2:] for plays in (("F8 HAT", "I8 NET"), ("I8 NET", "F8 HAT")))
    game = before.push(*answers[0])
    game = game.push(*defer_question(game, QuestionDeferred(0, "Who?", ("0", "1"), answers, 2), None))
    assert not find_corrected_questions(game.push(TurnCorrected(2, PlayMade(0, written(before, "I6 TEN")))))
    assert find_corrected_questions(game.push(TurnCorrected(2, Passed(0))))


def test_blank_without_a_letter_is_disputed_if_it_may_have_been_taken() -> None:
    game, square = play(new_game(Rules(retake_blanks=True)), "8F H?RN", "H6 FA.M"), parse_square("G8")
    taken = BlankNamed(square, "O"), BlankTaken(0, square)
    assert find_disputed_squares(game, [(*taken, Passed(0)), (Passed(0),)]) == (square,)


def test_letters_of_a_blank_are_not_disputed() -> None:
    game, square = play(new_game(), "8F H?RN"), parse_square("G8")
    assert find_disputed_squares(game, [(BlankNamed(square, "O"),), (BlankNamed(square, "A"),)]) == ()


def test_question_whether_a_blank_was_taken_stays_open_after_the_blank_is_gone() -> None:
    game, square = play(new_game(Rules(retake_blanks=True)), "8F H?RN", "H6 FA.M"), parse_square("G8")
    taken = BlankNamed(square, "O"), BlankTaken(0, square), Passed(0)
    question = QuestionDeferred(0, "Taken?", ("yes", "no"), (taken, (Passed(0),)), len(taken))
    game = game.push(*taken)
    assert not find_corrected_questions(game.push(*defer_question(game, question, None)))
