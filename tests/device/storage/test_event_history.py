"""Undo and redo of events in a log."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from device.storage.game_log import EventHistory, replay_log
from engine.board import parse_square
from engine.errors import RulesError
from engine.events import GameStarted, Passed, PositionEntered, Redone, ScoreCorrected, SquareCorrected, Undone
from engine.game import Game
from engine.tiles import Tile
from tests.support.engine_table import new_game, play
from tests.support.play_at_random import random_game

START = GameStarted(("Anna", "Ben"))


def make_history(game: Game) -> EventHistory:
    history = EventHistory(game.events[0])
    for event in game.events[1:]:
        history.apply_event(event)
    return history


def test_undo_and_redo_of_a_play() -> None:
    game = play(new_game(), "8F HORN", "H6 FA.M")
    history = make_history(game)
    history.apply_event(Undone())
    assert history.game == play(new_game(), "8F HORN")
    history.apply_event(Redone())
    assert history.game == game


def test_undo_of_a_correction() -> None:
    game = play(new_game(), "8F NORN", "8J S")
    history = make_history(game)
    for event in (SquareCorrected(parse_square("8F"), Tile("H")), Undone()):
        history.apply_event(event)
    assert history.game.totals == game.totals


def test_new_event_after_undo_cannot_be_redone() -> None:
    history = make_history(play(new_game(), "8F HORN"))
    for event in (Undone(), Passed(0)):
        history.apply_event(event)
    with pytest.raises(RulesError, match="nothing to redo"):
        history.apply_event(Redone())


def test_start_cannot_be_undone() -> None:
    with pytest.raises(RulesError, match="nothing to undo"):
        EventHistory(START).apply_event(Undone())


def test_impossible_event_changes_nothing() -> None:
    history = make_history(play(new_game(), "8F HORN"))
    history.apply_event(Undone())
    with pytest.raises(RulesError):
        history.apply_event(START)
    history.apply_event(Redone())
    assert history.game.totals == (14, 0)


def test_copy_is_independent() -> None:
    history = EventHistory(START)
    history.copy().apply_event(Passed(0))
    assert history.game.events == (START,)


def test_log_with_undo_and_redo_is_replayed() -> None:
    game = play(new_game(), "8F HORN", "H6 FA.M")
    log = [*game.events, Undone(), Undone(), Redone()]
    assert replay_log(log).totals == (14, 0)
    assert replay_log([*log, Redone()]) == game


def test_empty_log_is_no_game() -> None:
    with pytest.raises(RulesError):
        replay_log([])


@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(0, 3))
@settings(max_examples=30, deadline=None)
def test_undo_to_a_position_and_before_it_is_the_empty_game(seed: int, turns: int, more: int) -> None:
    rng = random.Random(seed)
    board = random_game(rng, turns).board
    if not board:
        return
    placements = tuple((square, board.tile(square)) for square in board.occupied_squares())
    empty = Game.from_events([START])
    position = PositionEntered(placements, (rng.randrange(300), rng.randrange(300)), rng.randrange(2))
    game = random_game(rng, more, empty.push(position))
    letter = next(face for face in game.unseen if face != "?")
    game = game.push(ScoreCorrected(rng.randrange(2), 7)).push(SquareCorrected(placements[0][0], Tile(letter)))
    history = make_history(game)
    for _ in game.events[1:]:
        history.apply_event(Undone())
    assert history.game == empty and history.game.state == empty.state
    for _ in game.events[1:]:
        history.apply_event(Redone())
    assert history.game == game and history.game.state == game.state


@given(st.integers(0, 10**6), st.integers(1, 12))
@settings(max_examples=30, deadline=None)
def test_as_many_redos_as_undos_change_nothing(seed: int, steps: int) -> None:
    game = random_game(random.Random(seed), 12)
    steps = min(steps, len(game.events) - 1)
    history = make_history(game)
    for event in [Undone()] * steps:
        history.apply_event(event)
    assert history.game.state == Game.from_events(history.game.events).state
    for event in [Redone()] * steps:
        history.apply_event(event)
    assert history.game == game and history.game.state == game.state
