"""Tiles of recorded plays that are read wrong, moved, overlooked or gone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.board import parse_square
from engine.events import Challenged, PlayMade, PositionEntered, SquareCorrected, TileRecycled
from engine.inference.explain import infer_play
from engine.inference.history import EMPTY_HISTORY
from engine.rules import STANDARD_RULES
from engine.tiles import Tile
from tests.support.engine_table import board_after, new_game, play, seen, with_plays, written


def test_a_tile_of_an_older_play_that_was_overlooked() -> None:
    game = with_plays("8F HORN", "H6 FA.M", "10F PASTE")
    found = infer_play(game, seen(board_after(with_plays("8F HORNS", "H6 FA.M", "10F PASTE"), "11E BIT")))
    assert [type(event) for event in found.events] == [SquareCorrected, PlayMade]
    assert [turn.word for turn in found.best.game.turns] == ["HORNS", "FA.M", "PASTE", "BIT"]


def test_an_old_tile_that_is_read_wrong_once_stays() -> None:
    game = with_plays("8F HORN", "H6 FA.M")
    found = infer_play(game, seen(board_after(game, "10F PASTE"), {"F8": {"N": 0.97, "H": 0.02}}))
    assert found.events == (PlayMade(0, written(game, "10F PASTE")),)
    assert found.best.misread_squares == (parse_square("F8"),)


def test_a_letter_of_the_last_play_that_is_read_wrong_once_stays() -> None:
    game = with_plays("8F HORN", "H6 FA.M")
    found = infer_play(game, seen(game.board, {"H6": {"P": 0.97, "F": 0.02}}))
    assert found.events == ()


def test_an_old_tile_that_is_glared_out_stays() -> None:
    game = with_plays("8F HORN", "H6 FA.M")
    found = infer_play(game, seen(board_after(game, "10F PASTE"), {"F8": {"?": 0.97, "H": 0.02}}))
    assert found.events == (PlayMade(0, written(game, "10F PASTE")),)


def test_letter_that_was_in_doubt_is_corrected_by_a_clear_reading() -> None:
    game = with_plays()
    first = infer_play(game, seen(board_after(game, "8F HORN"), {"F8": {"N": 0.6, "H": 0.35}}))
    game = game.push(*first.events)
    assert game.totals[0] == 8
    board = board_after(with_plays(), "8F HORN", "H6 FA.M")
    second = infer_play(game, seen(board), first.history)
    assert SquareCorrected(parse_square("F8"), Tile("H"), game.turns[0].ref) in second.events
    assert second.best.game.totals == (14, 9)


def test_covered_letter_that_was_read_as_a_blank_is_corrected_by_later_readings() -> None:
    game = with_plays()
    first = infer_play(game, seen(board_after(game, "8F HORN"), {"F8": {"?": 0.95, "H": 0.02}}))
    game, memory = game.push(*first.events), first.history
    board = board_after(with_plays(), "8F HORN")
    for _ in range(3):
        later = infer_play(game, seen(board), memory)
        game, memory = game.push(*later.events), later.history
    assert game.totals == (14, 0)
    assert [turn.kind for turn in game.turns] == ["play"]


def test_answer_of_the_players_is_not_corrected_by_readings() -> None:
    game = with_plays("8F HORN").push(SquareCorrected(parse_square("F8"), Tile("B"), told=True))
    memory = EMPTY_HISTORY
    for _ in range(5):
        found = infer_play(game, seen(with_plays("8F HORN").board), memory)
        game, memory = game.push(*found.events), found.history
    assert game.board[parse_square("F8")] == Tile("B")


def test_a_tile_that_was_never_there_is_taken_off_the_record() -> None:
    game = with_plays()
    first = infer_play(game, seen(board_after(game, "8F HORN"), {"J8": {"I": 0.8, ".": 0.2}}))
    game, memory = game.push(*first.events), first.history
    assert game.turns[0].word == "HORNI"
    for _ in range(2):
        later = infer_play(game, seen(board_after(with_plays(), "8F HORN")), memory)
        game, memory = game.push(*later.events), later.history
    assert game.turns[0].word == "HORN" and len(game.turns) == 1


def test_a_nudged_tile_is_named() -> None:
    game = with_plays("8F HORN", "H6 FA.M")
    board = game.board.with_tiles({parse_square("I8"): None, parse_square("I7"): Tile("N")})
    found = infer_play(game, seen(board))
    assert found.events == ()
    assert found.best.moved_tiles == ((parse_square("I8"), parse_square("I7")),)
    assert found.question and found.question.text == "Was the tile on I8 moved to I7? If so, please put it back."


def test_a_nudged_tile_does_not_hide_a_play() -> None:
    game = with_plays("8F HORN", "H6 FA.M")
    board = board_after(game, "10F PASTE").with_tiles({parse_square("F8"): None, parse_square("E7"): Tile("H")})
    found = infer_play(game, seen(board))
    assert found.events == (PlayMade(0, written(game, "10F PASTE")),)
    assert found.best.moved_tiles == ((parse_square("F8"), parse_square("E7")),)


def test_missing_tile_of_the_newest_two_plays_was_taken_back_or_is_not_seen() -> None:
    game = with_plays("8F HORN", "H6 FA.M")
    found = infer_play(game, seen(game.board.without_tiles([parse_square("F8")])))
    taken_back = SquareCorrected(parse_square("F8"), None, game.turns[0].ref)
    assert [explanation.events for explanation in found.explanations[:2]] == [(taken_back,), ()]
    assert found.question
    assert found.question.text == "Which is right: Anna played ORN at 8G for 6, or nothing was added?"


def test_missing_tile_of_an_older_play_is_asked_about() -> None:
    game = with_plays("8F HORN", "H6 FA.M", "10F PASTE")
    found = infer_play(game, seen(game.board.without_tiles([parse_square("F8")])))
    assert found.events == ()
    assert (
        found.question
        and found.question.text == "A tile was played on F8, but the camera does not see it there. Was it moved?"
    )


def test_a_tile_of_the_last_play_that_was_overlooked() -> None:
    game = with_plays("8F HORN")
    full = with_plays("8F HORNS")
    found = infer_play(game, seen(board_after(full, "H6 FA.M")))
    assert [type(event) for event in found.events] == [SquareCorrected, PlayMade]
    assert found.best.game.turns[0].word == "HORNS"
    assert found.best.game.board == board_after(full, "H6 FA.M")


@pytest.mark.parametrize("is_clear", [False, True])
def test_only_one_of_two_changed_tiles_may_have_been_recycled(is_clear: bool) -> None:
    """The other one was misread, unless its new letter is clear."""
    game = play(new_game(replace(STANDARD_RULES, recycle=True)), "8F HORN", "H6 FA.M")
    swaps = TileRecycled(0, parse_square("H6"), Tile("P")), TileRecycled(0, parse_square("G8"), Tile("E"))
    board = board_after(game.push(swaps[1]), "10F PASTE")
    found = infer_play(game, seen(board, {"H6": {"P": 0.999, "F": 0.001} if is_clear else {"P": 0.8, "F": 0.2}}))
    paste = PlayMade(0, written(game, "10F PASTE"))
    one, both = (swaps[1], paste), (*swaps, paste)
    assert [explanation.events for explanation in found.explanations[:2]] == ([both, one] if is_clear else [one, both])


def test_recycled_tile_of_a_position_is_played_again() -> None:
    """The only J was in the position, so it is no tile that was overlooked there."""
    position = board_after(new_game(replace(STANDARD_RULES, recycle=True)), "8F JORN")
    tiles = tuple((square, position.tile(square)) for square in position.occupied_squares())
    game = new_game(replace(STANDARD_RULES, recycle=True)).push(
        PositionEntered(tiles, (0, 0), 0), TileRecycled(0, parse_square("F8"), Tile("H"))
    )
    assert infer_play(game, seen(board_after(game, "G7 J."))).best.events == (PlayMade(0, written(game, "G7 J.")),)


def test_a_record_that_is_wrong_from_the_beginning_is_doubted_in_the_end() -> None:
    game = with_plays("8D XYLEM", "D7 A.E", "12F QUOTE")  # the camera looked at something else
    memory, board = EMPTY_HISTORY, board_after(with_plays(), "8F HORN", "H6 FA.M", "10F PASTE")
    for _ in range(4):
        found = infer_play(game, seen(board), memory)
        memory = found.history
    assert found.best.text != "this does not look like the board of this game"


def test_tile_of_a_play_that_was_challenged_in_vain_is_not_corrected() -> None:
    game = with_plays("8F HORN", "H6 FA.M")
    without = board_after(game, "10F PASTE")
    game = play(play(game, "8F ....S").push(Challenged(1, upheld=False)), "10F PASTE")
    first = infer_play(game, seen(without))
    again = infer_play(game, seen(without), first.history)
    assert again.events == () and again.best.missing_squares == (parse_square("J8"),)
