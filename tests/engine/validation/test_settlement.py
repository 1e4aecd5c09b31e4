"""Readings that settle a deferred question, and readings that do not."""

from __future__ import annotations

from engine.board import parse_square
from engine.events import BlankNamed, PlayMade, PlayWithdrawn, QuestionDeferred, TurnCorrected
from engine.reading import BoardReading
from engine.tiles import Tile
from engine.validation.deferred_questions import defer_question, find_deferred_questions
from engine.validation.late_answers import answer_deferred_question
from engine.validation.settlement import settle_questions
from tests.support.engine_table import defer, new_game, play, seen, written


def read_board(*notations: str) -> BoardReading:
    """Return a clear reading of the board after these plays."""
    return seen(play(new_game(), *notations).board)


MISREAD = {"G8": {"A": 0.97, "O": 0.02}}


def test_reading_of_another_letter_settles_the_question() -> None:
    game = defer(play(new_game(), "8F HARN"), "8F HORN", doubts=MISREAD)
    game = settle_questions(game, read_board("8F HORN", "H6 FA.M"))
    assert game.turns[0].word == "HORN" and not find_deferred_questions(game)


def test_reading_settles_a_question_that_was_not_about_a_reading() -> None:
    game = play(new_game(), "8F HARN")
    answers = (game.events[-1],), (PlayMade(0, written(new_game(), "8F HORN")),)
    question = QuestionDeferred(0, "Which word?", ("0", "1"), answers, 1)
    game = settle_questions(game.push(*defer_question(game, question, None)), read_board("8F HORN"))
    assert game.turns[0].word == "HORN" and not find_deferred_questions(game)


def test_same_error_again_settles_nothing() -> None:
    game = defer(play(new_game(), "8F HARN"), "8F HORN", doubts=MISREAD)
    assert settle_questions(game, seen(play(new_game(), "8F HARN", "H6 FA.M").board, MISREAD)) == game


def test_clear_reading_confirms_a_doubtful_letter() -> None:
    game = defer(play(new_game(), "8F HARN"), "8F HORN", doubts={"G8": {"A": 0.6, "O": 0.4}})
    game = settle_questions(game, read_board("8F HARN"))
    assert game.turns[0].word == "HARN" and not find_deferred_questions(game)


def test_hand_over_the_tile_settles_nothing() -> None:
    game = defer(play(new_game(), "8F HARN"), "8F HORN", doubts=MISREAD)
    assert settle_questions(game, seen(play(new_game(), "8F HORN").board, {"G8": {"#": 0.95, "O": 0.05}})) == game


def test_empty_square_under_a_hand_settles_the_question() -> None:
    game = defer(play(new_game(), "8F HORE"), "8F HOR", doubts={"I8": {"#": 0.99, "E": 0.01}})
    game = settle_questions(game, read_board("8F HOR"))
    assert game.turns[0].word == "HOR" and not find_deferred_questions(game)


def test_tile_that_fits_no_answer_is_no_tile_of_the_next_play() -> None:
    game = defer(play(new_game(), "8F HORE"), "8F HOR", doubts={"I8": {"#": 0.95, "E": 0.05}})
    assert settle_questions(game, read_board("8F HORN")) == game


def test_plays_that_look_alike_are_not_settled_by_a_reading() -> None:
    game = play(new_game(), "8F HORN")
    first = PlayMade(0, written(new_game(), "8F HORN"))
    other = PlayMade(1, written(new_game(), "8F HORN"))
    question = QuestionDeferred(0, "Whose turn was it?", ("Anna", "Ben"), ((first,), (other,)), 1)
    for event in defer_question(game, question, seen(game.board)):
        game = game.push(event)
    assert settle_questions(game, read_board("8F HORN", "H6 FA.M")) == game


def test_named_blank_closes_the_question_for_its_letter() -> None:
    game = new_game()
    event = PlayMade(0, written(game, "8F HORN").from_tiles({parse_square("F8"): Tile.unnamed()}))
    game = game.push(event)
    named = BlankNamed(parse_square("F8"), "H")
    question = QuestionDeferred(0, "Which letter?", ("blank", "H"), ((event,), (event, named)), 1)
    for deferred in defer_question(game, question, None):
        game = game.push(deferred)
    assert settle_questions(game, seen(game.board)) == game
    assert not find_deferred_questions(settle_questions(game.push(named), seen(game.board)))


def test_reading_that_removes_a_turn_keeps_a_later_question_about_the_turns_after_it() -> None:
    game = play(new_game(), "8F HORN", "H6 FA.M").push(PlayWithdrawn(1))
    removed = QuestionDeferred(0, "Taken back?", ("yes", "no"), ((PlayWithdrawn(1),), ()), 1)
    game = play(game.push(*defer_question(game, removed, seen(game.board))), "I7 A.T", "9I .E")
    *_, last, lengthened = game.turns
    assert last.play is not None and lengthened.play is not None
    longer = PlayMade(0, last.play.with_tile(*lengthened.placements[0]))
    answers = ((PlayMade(1, lengthened.play),), (TurnCorrected(last.number, longer),))
    earlier = QuestionDeferred(0, "Whose tile?", ("Ben", "Anna"), answers, 1)
    game = game.push(*defer_question(game, earlier, seen(game.board)))
    game = settle_questions(game, seen(play(answer_deferred_question(game, 1, 1), "J9 .ND").board))
    assert [question.number for question in find_deferred_questions(game)] == [2]
    assert [turn.word for turn in game.turns] == ["HORN", "FA.M", "A.T", "..E"]
