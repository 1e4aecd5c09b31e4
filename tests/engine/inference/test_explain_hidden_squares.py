"""Squares that a hand hides."""

from __future__ import annotations

import pytest

from engine.board import parse_square
from engine.events import Exchanged, PlayMade, SquareCorrected
from engine.inference.explain import infer_play
from engine.tiles import Tile
from tests.support.engine_table import board_after, new_game, seen, with_plays, written


def test_hidden_squares_are_no_evidence() -> None:
    game = with_plays("8F HORN", "H6 FA.M")
    hand = {name: {"#": 1.0} for name in ("H6", "H7", "I7", "I6", "G6", "G7", "H5")}
    assert infer_play(game, seen(game.board, hand)).events == ()
    found = infer_play(game, seen(board_after(game, "10F PASTE"), hand))
    assert found.events == (PlayMade(0, written(game, "10F PASTE")),)
    assert found.is_certain


def test_a_square_of_the_play_that_is_hidden_is_asked_for() -> None:
    game = with_plays("8F HORN", "H6 FA.M")
    found = infer_play(game, seen(board_after(game, "10F PASTE"), {"G10": {"#": 1.0}}))
    assert found.question is not None and parse_square("G10") in found.doubtful_squares
    assert len(found.best.game.turns[-1].placements) == 5


def test_a_letter_that_was_guessed_under_a_hand_is_corrected_as_soon_as_it_is_seen() -> None:
    game = with_plays("8F HORN", "H6 FA.M")
    board = board_after(game, "10F PASTE")
    first = infer_play(game, seen(board, {"G10": {"#": 1.0}}))
    guessed = game.push(*first.events)
    letter = guessed.board.tile(parse_square("G10")).letter
    shown = "A" if letter != "A" else "O"
    second = infer_play(guessed, seen(guessed.board, {"G10": {shown: 1.0}}), first.history)
    assert second.events == (SquareCorrected(parse_square("G10"), Tile(shown), guessed.turns[-1].ref),)
    again = infer_play(guessed, seen(guessed.board, {"G10": {letter: 1.0}}), first.history)
    assert again.events == ()


def test_a_hand_at_the_end_of_a_word_may_hide_its_last_letter() -> None:
    game = with_plays("8F HORN", "H6 FA.M")
    found = infer_play(game, seen(board_after(game, "10F PAST"), {"J10": {"#": 0.9, ".": 0.1}}))
    assert found.doubtful_squares == (parse_square("J10"),)
    assert (
        found.question
        and found.question.text == "Anna played PAST at 10F for 22. The camera cannot see J10. Is there a tile, too?"
    )


def test_a_hand_beside_a_word_hides_nothing_of_it() -> None:
    game = with_plays("8F HORN", "H6 FA.M")
    assert infer_play(game, seen(board_after(game, "10F PAST"), {"I11": {"#": 1.0}, "G9": {"#": 1.0}})).is_certain


@pytest.mark.parametrize(
    ("seen_first", "hidden"),
    [("8F HORN", "J8 K8"), ("8G ORNED", "F8"), ("8G ORN", "F8 J8 K8"), ("8H R", "F8 G8 I8 J8 K8")],
)
def test_tiles_that_a_hand_hid_at_the_ends_of_the_last_play_are_of_this_play(seen_first: str, hidden: str) -> None:
    whole = with_plays("8F HORNED")
    first = infer_play(new_game(), seen(whole.board, {name: {"#": 1.0} for name in hidden.split()}))
    game = with_plays(seen_first)
    found = infer_play(game, seen(board_after(whole, "H6 FA.M")), first.history)
    assert [(turn.player, turn.word) for turn in found.best.game.turns] == [(0, "HORNED"), (1, "FA.M")]
    assert not found.is_certain, "the next player may have lengthened the word"


def test_tile_beyond_hidden_ones_is_of_the_last_play_too() -> None:
    """A hand hides the N and E of HORNED, so that the D seems to lie alone. Ben exchanges before the next picture."""
    whole = with_plays("8F HORNED")
    first = infer_play(new_game(), seen(whole.board, {"I8": {"#": 1.0}, "J8": {"#": 1.0}}))
    game = with_plays("8F HOR")
    assert first.events == game.events
    found = infer_play(game.push(Exchanged(1, 2)), seen(board_after(whole, "H6 FA.M")), first.history)
    assert [(turn.player, turn.word) for turn in found.best.game.turns if turn.word] == [(0, "HORNED"), (0, "FA.M")]


@pytest.mark.parametrize("hidden", ["H5", "H11", "G10", "I10"])
def test_a_single_tile_may_be_part_of_a_word_in_either_direction(hidden: str) -> None:
    game = with_plays("8F HORN", "H6 FA.M")
    found = infer_play(game, seen(board_after(game, "H6 ....S"), {hidden: {"#": 1.0}}))
    assert found.doubtful_squares == (parse_square(hidden),) and len(found.events) == 1
