"""The questions that are asked if letters are in doubt."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from device.session.turns.decision import Decision, TurnContext
from device.session.turns.turn_validation import decide
from engine.board import Board, parse_square
from engine.events import Event
from engine.inference.explain import infer_play
from engine.lexicon import WordList
from engine.tiles import Tile
from tests.support.engine_table import as_ledger, new_game, new_ledger, play, seen, written

BLANK_OR_I = {"?": 0.93, "I": 0.07}


def test_letters_that_are_each_a_little_in_doubt_are_asked_about_with_something_to_choose() -> None:
    game = new_game()
    board = play(game, "8E DARTERS").board
    others = [dict.fromkeys("LMVW", 0.0075) for _ in "DARTERS"]
    doubts = {
        f"{column}8": {tile: 0.97, **rest} for column, tile, rest in zip("EFGHIJK", "DARTERS", others, strict=False)
    }
    reading = seen(board, doubts)
    verdict = decide(game, infer_play(game, reading), reading, TurnContext(as_ledger(game)))
    assert verdict.open_question is not None and len(verdict.open_question.answers) == 2
    assert not verdict.warning


def test_explanations_with_several_events_are_listed_as_answers_only() -> None:
    game = play(play(new_game(), "8F HORN"), "H6 FA.M")
    reading = seen(play(play(new_game(), "8F HORN"), "I8 .FAM").board)
    verdict = decide(game, infer_play(game, reading), reading, TurnContext(as_ledger(game)))
    assert verdict.open_question is not None
    question = verdict.open_question.question
    assert question.text == "FARM is no longer where it was. What happened?"
    assert question.answers[-1] == "No: look again."
    assert question.answers[:3] == (
        "Tiles were placed elsewhere: Ben played NFAM at I8 for 13.",
        "Tiles were placed elsewhere: Ben played NFAM at I8 for 13, Anna passed.",
        "Anna played NFAM at I8 for 24.",
    )


def test_pass_with_hidden_squares_is_asked_about_even_if_an_old_tile_is_in_doubt() -> None:
    game = play(play(new_game(), "8F HORN"), "8F ....S")
    reading = seen(game.board, {"J8": {"#": 0.895, "S": 0.104}, **{f"{column}9": {"#": 1.0} for column in "GHIJ"}})
    inference = infer_play(game, reading)
    decision = decide(game, inference, reading, TurnContext(as_ledger(game)))
    assert inference.question is not None and not decision.events
    assert decision.open_question is not None and decision.open_question.question.key == "hidden-pass"


NEXT_PLAYED, SAME_PLAYED = "Ben played HORNS at 8F for 8.", "Anna played HORNS at 8F for 16."


def ask_who_lengthened(
    doubts: Mapping[str, Mapping[str, float]], seat: int | None = None, words: WordList | None = None
) -> tuple[str, ...]:
    """Return the answers of the question about an S that lengthens the last play; none if there is no question."""
    game = play(new_game(), "8F HORN")
    reading = seen(play(game, "8F ....S").board, doubts)
    inference = infer_play(game, reading, seat=seat, words=words)
    asked = decide(game, inference, reading, TurnContext(as_ledger(game), words, seat=seat)).open_question
    return asked.question.answers if asked is not None else ()


def test_clear_tile_that_lengthens_the_last_play_is_the_play_of_the_next_player() -> None:
    assert not ask_who_lengthened({})


@pytest.mark.parametrize(
    ("seat", "words", "first"),
    [(None, frozenset({"HORNS"}), SAME_PLAYED), (0, None, SAME_PLAYED)],
    ids=["unlisted", "own button"],
)
def test_tile_that_lengthens_the_last_play_is_asked_about_if_something_speaks_for_its_player(
    seat: int | None, words: WordList | None, first: str
) -> None:
    answers = ask_who_lengthened({}, seat, words)
    assert answers[0] == first and {NEXT_PLAYED, SAME_PLAYED} <= {*answers}


def test_letter_in_doubt_of_a_lengthened_word_is_asked_about_with_its_player() -> None:
    answers = ask_who_lengthened({"J8": {"S": 0.7, "E": 0.3}})
    assert answers[:3] == (NEXT_PLAYED, "Ben played HORNE at 8F for 8.", SAME_PLAYED)


def test_question_about_a_letter_or_a_blank_has_words_for_the_blank() -> None:
    game = play(new_game(), "8F HORN")
    reading = seen(play(game, "8F ....S").board, {"J8": {"?": 0.6, "S": 0.4}})
    question = decide(game, infer_play(game, reading), reading, TurnContext(as_ledger(game))).open_question
    assert question is not None
    assert question.question.text == "Is the tile on J8 the letter S, or a blank?"


def test_answers_about_an_exchanged_play_know_whose_button_was_pressed() -> None:
    before = play(new_game(), "8F HORN")
    game, reading = play(before, "J8 IL"), seen(play(before, "J8 ET").board)
    found = infer_play(game, reading, seat=1)
    asked = decide(game, found, reading, TurnContext(as_ledger(game), seat=1)).open_question
    assert asked is not None and asked.question.answers == (
        "Ben played ET at J8 for 10.",
        "No: End turn was pressed by mistake.",
        "Anna passed.",
        "No: look again.",
    )


def decide_about_blank(words: WordList | None) -> Decision:
    """Return the decision about H?RN, whose blank may also be an I."""
    reading = seen(play(new_game(), "8F H?RN").board, {"G8": BLANK_OR_I})
    return decide(new_game(), infer_play(new_game(), reading), reading, TurnContext(new_ledger(), words))


def test_every_letter_that_a_blank_may_be_is_an_answer() -> None:
    reading = seen(play(new_game(), "8F H?RN").board, {"G8": {"?": 0.93, **dict.fromkeys("LMVW", 0.0175)}})
    decision = decide(
        new_game(), infer_play(new_game(), reading), reading, TurnContext(new_ledger(), frozenset({"HORN"}))
    )
    assert decision.open_question is not None and decision.open_question.question.key == "letter-or-blank"
    words = ("H?RN", "HLRN", "HMRN", "HVRN")
    boards = [play(new_game(), f"8F {word}").board for word in words]
    assert [_lay(events) for events in decision.open_question.answers] == boards


def _lay(events: tuple[Event, ...]) -> Board:
    return new_game().push(*events).board


@pytest.mark.parametrize("words", [None, frozenset({"HORN"}), frozenset({"HORN", "HIRN"}), frozenset({"HARDEN"})])
def test_blank_that_may_stand_for_the_letter_is_asked_about_first(words: WordList | None) -> None:
    asked = decide_about_blank(words).open_question
    assert asked is not None and asked.question.text == "Is the tile on G8 the letter I, or a blank?"


def test_tile_that_was_overlooked_in_one_of_two_plays_is_an_answer_for_each_of_them() -> None:
    game = play(new_game(), "8F HORN", "H6 FA.M", "6H .LAT", "J5 P.T")
    board = written(game, "10F PASTE").apply_to(game.board.with_tiles({parse_square("J8"): Tile("S")}))
    decision = decide(game, infer_play(game, seen(board)), seen(board), TurnContext(as_ledger(game)))
    assert decision.open_question is not None
    assert {*decision.open_question.question.answers[:2]} == {
        "Anna played HORNS at 8F for 16, Anna played PASTE at 10F for 25.",
        "Ben played PATS at J5 for 14, Anna played PASTE at 10F for 25.",
    }
    assert decision.events == decision.open_question.answers[0]
