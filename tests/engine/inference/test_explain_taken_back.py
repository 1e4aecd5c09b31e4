"""Plays that were taken back or challenged off, from what the camera saw."""

from __future__ import annotations

import pytest

from engine.board import Board, parse_square
from engine.events import Challenged, PlayMade, PlayWithdrawn
from engine.inference.explain import infer_play
from tests.support.engine_table import board_after, play, seen, with_plays, written


def test_a_play_taken_back() -> None:
    game = with_plays("8F HORN", "H6 FA.M")
    found = infer_play(game, seen(with_plays("8F HORN").board))
    assert found.events == (PlayWithdrawn(1),) and found.is_certain
    assert found.best.game.totals == (14, 0)
    assert found.best.game.to_move == 0


def test_a_play_taken_back_and_a_new_play_on_the_same_picture() -> None:
    game = with_plays("8F HORN", "H6 FA.M")
    found = infer_play(game, seen(board_after(with_plays("8F HORN"), "I8 .OT")))
    assert [type(event) for event in found.events] == [PlayWithdrawn, PlayMade]
    assert found.best.game.turns[-1].player == 0
    assert found.question and found.question.text == (
        "Which is right: Ben took back the play at H6 for -9, Anna played NOT at I8 for 4, "
        "or tiles were placed elsewhere: Ben played NOT at I8 for 4?"
    )


def test_a_new_play_over_squares_of_the_play_taken_back() -> None:
    game = with_plays("8F HORN", "H6 FA.M")
    found = infer_play(game, seen(board_after(with_plays("8F HORN"), "H7 B.G")))
    assert [type(event) for event in found.events] == [PlayWithdrawn, PlayMade]
    assert found.best.game.turns[-1].word == "B.G"


def test_a_play_that_its_player_lays_elsewhere_is_still_that_play() -> None:
    game = with_plays("8F HORN", "H6 FA.M")
    shifted = board_after(with_plays("8F HORN"), "I8 .FAM")
    found = infer_play(game, seen(shifted))
    assert found.best.game.board == shifted and found.best.game.to_move == 0
    assert [(turn.player, turn.word) for turn in found.best.game.turns] == [(0, "HORN"), (1, ".FAM")]
    assert found.question and found.question.text == (
        "Which is right: tiles were placed elsewhere: Ben played NFAM at I8 for 13, "
        "or Ben took back the play at H6 for -9, Anna played NFAM at I8 for 13?"
    )


def test_a_play_challenged_off_whose_tiles_still_lie_there() -> None:
    game = with_plays("8F HORN", "H6 FA.M").push(Challenged(0, upheld=True))
    found = infer_play(game, seen(with_plays("8F HORN", "H6 FA.M").board))
    assert found.events == () and found.best.is_uncleared
    assert found.question and found.question.text == "the tiles that Ben must take back are still on the board"


def test_tiles_that_must_be_taken_back_still_lie_there_though_one_is_read_wrong() -> None:
    game = with_plays("8F HRON").push(Challenged(1, upheld=True))
    found = infer_play(game, seen(with_plays("8F HRON").board, {"I8": {"M": 0.97, "N": 0.02}}))
    assert found.events == () and found.best.is_uncleared


@pytest.mark.parametrize("symbol", ["?", "O"])
def test_blank_that_must_be_taken_back_still_lies_there_with_or_without_its_letter(symbol: str) -> None:
    game = with_plays("8F HRoN").push(Challenged(1, upheld=True))
    found = infer_play(game, seen(with_plays("8F HRoN").board, {"H8": {symbol: 1.0}}))
    assert found.events == () and found.best.is_uncleared


@pytest.mark.parametrize("left", ["F10 G10 H10 I10 J10", "F10 G10 H10", "G10 H10", "H10"])
def test_a_play_beside_tiles_that_must_be_taken_back_waits_until_they_are_gone(left: str) -> None:
    before = with_plays("8F HORN", "H6 FA.M")
    phony = play(before, "10F PASTZ")
    game = phony.push(Challenged(1, upheld=True))
    board = board_after(before, "6H .AT")
    lying = {parse_square(name): phony.board.tile(parse_square(name)) for name in left.split()}
    found = infer_play(game, seen(board.with_tiles(lying)))
    assert found.events == () and found.best.is_uncleared


def test_letters_of_a_play_that_must_be_taken_back_are_asked_about_in_a_play_over_its_squares() -> None:
    before = with_plays("8F HORN", "H6 FA.M")
    game = play(before, "10F PASTZ").push(Challenged(1, upheld=True))
    found = infer_play(game, seen(board_after(before, "10F PASTE")))
    assert "Ben played PASTE at 10F for 25" in {one.text for one in found.explanations[:2]} and not found.is_certain


def test_question_about_tiles_that_are_no_play_names_the_reason_and_the_squares() -> None:
    found = infer_play(with_plays("8F HORN"), seen(board_after(with_plays("8F HORN"), "8K CAT")))
    assert found.question and found.question.text == (
        "This is not a valid play. The tiles do not touch the words on the board. What was played on K8, L8 and M8?"
    )


@pytest.mark.parametrize("notation", ["8F FARM", "8E FARM", "8F HORN", "8G HORN", "8F HEN", "H6 FARM"])
def test_a_play_over_the_squares_of_one_challenged_off_is_one_play(notation: str) -> None:
    game = with_plays("8F HRON").push(Challenged(1, upheld=True))
    found = infer_play(game, seen(with_plays(notation).board))
    assert found.events == (PlayMade(1, written(game, notation)),) and found.is_certain


@pytest.mark.parametrize("notation", ["10D CASTER", "10E SPARTE"])
def test_later_in_the_game_too(notation: str) -> None:
    before = with_plays("8F HORN", "H6 FA.M")
    game = play(before, "10F PASTZ").push(Challenged(1, upheld=True))
    found = infer_play(game, seen(play(before, notation).board))
    assert found.events == (PlayMade(1, written(before, notation)),) and found.is_certain


def test_a_play_almost_like_the_one_challenged_off_is_asked_about() -> None:
    game = with_plays("8F HORN", "H6 VA.M").push(Challenged(0, upheld=True))
    found = infer_play(game, seen(with_plays("8F HORN", "H6 FA.M").board))
    assert found.question is not None
    assert {one.text for one in found.explanations[:2]} == {
        "Anna played FARM at H6 for 9",
        "the tiles that Ben must take back are still on the board",
    }


def test_names_laid_out_before_the_game_are_taken_back_with_the_tiles() -> None:
    game = with_plays("8F ANNA", "H8 .INA", "I8 .DAM")
    found = infer_play(game, seen(Board()))
    assert found.events == (PlayWithdrawn(0), PlayWithdrawn(1), PlayWithdrawn(0))
    assert found.best.game.totals == (0, 0)
