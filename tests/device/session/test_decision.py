"""What people are asked when letters are in doubt."""

from __future__ import annotations

from device.session.decision import decide
from engine.inference.explain import infer_play
from tests.support.engine_table import new_game, play, seen


def test_letters_that_are_each_a_little_in_doubt_are_asked_about_with_something_to_choose() -> None:
    game = new_game()
    board = play(game, "8E DARTERS").board
    others = [dict.fromkeys("LMVW", 0.0075) for _ in "DARTERS"]
    doubts = {
        f"{column}8": {tile: 0.97, **rest} for column, tile, rest in zip("EFGHIJK", "DARTERS", others, strict=False)
    }
    reading = seen(board, doubts)
    verdict = decide(game, infer_play(game, reading), reading)
    assert verdict.open_question is not None and len(verdict.open_question.answers) == 2
    assert not verdict.warning


def test_explanations_with_several_events_are_listed_as_answers_only() -> None:
    game = play(play(new_game(), "8F HORN"), "H6 FA.M")
    reading = seen(play(play(new_game(), "8F HORN"), "I8 .FAM").board)
    verdict = decide(game, infer_play(game, reading), reading)
    assert verdict.open_question is not None and len(verdict.open_question.answers) == 2
    assert verdict.open_question.question.text == "Which of these is right?"
