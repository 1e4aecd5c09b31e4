"""Turns that a reading showed, but from which nothing was recorded: their tiles are older than other new tiles."""

from __future__ import annotations

import pytest

from engine.board import parse_square
from engine.events import PlayMade
from engine.game import Game
from engine.inference.explain import infer_play
from tests.support.engine_table import new_game, play, seen, written


def start() -> Game:
    return play(new_game(), "8F HORN")


@pytest.mark.parametrize(("first", "second"), [("H6 FA.M", "F8 .AT"), ("F8 .AT", "H6 FA.M"), ("F8 .AT", "I8 .OSTRIL")])
def test_turn_of_the_last_reading_comes_before_a_play_of_new_tiles(first: str, second: str) -> None:
    game = start()
    history = infer_play(game, seen(play(game, first).board)).history
    both = play(game, first, second)
    found = infer_play(game, seen(both.board), history)
    assert game.push(*found.events).totals == both.totals


def test_turn_of_the_last_reading_is_first_if_one_of_its_tiles_was_missed() -> None:
    game = play(new_game(), "8F HORN")
    history = infer_play(game, seen(play(game, "G7 L.CO").board, {"G9": {".": 0.97, "C": 0.03}})).history
    both = play(game, "G7 L.CO", "F8 .AT")
    found = infer_play(game, seen(both.board), history)
    assert game.push(*found.events).totals == both.totals


def test_tile_that_was_isolated_because_its_neighbour_was_missed_is_a_tile() -> None:
    game = start()
    first = infer_play(game, seen(play(game, "J8 SO").board, {"J8": {".": 0.97, "S": 0.03}}))
    assert not first.events and first.best.leftover_squares == (parse_square("J9"),)
    both = play(game, "J8 SO", "F8 .AT")
    found = infer_play(game, seen(both.board), first.history)
    assert game.push(*found.events).totals == both.totals


def test_play_of_which_a_part_was_a_play_at_a_press_is_asked_about() -> None:
    game = start()
    history = infer_play(game, seen(play(game, "H6 FA.M").board, {"H6": {".": 1.0}})).history
    found = infer_play(game, seen(play(game, "H6 FA.M").board), history)
    assert found.events == (PlayMade(1, written(game, "H6 FA.M")),) and not found.is_certain


def test_play_that_a_hand_hid_before_is_one_play() -> None:
    game = start()
    history = infer_play(game, seen(play(game, "H6 FA.M").board, {"H6": {"#": 1.0}, "H7": {"#": 1.0}})).history
    found = infer_play(game, seen(play(game, "H6 FA.M").board), history)
    assert found.events == (PlayMade(1, written(game, "H6 FA.M")),) and found.is_certain
