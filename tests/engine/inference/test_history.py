"""What the readings since the settled board have shown."""

from __future__ import annotations

import pytest

from engine.board import parse_square
from engine.events import SquareCorrected
from engine.inference.history import EMPTY_HISTORY, Observation, find_next_ref
from tests.support.engine_table import seen, with_plays

F8, I8 = parse_square("F8"), parse_square("I8")


@pytest.mark.parametrize(("symbol", "is_overruled"), [("H", False), ("N", True), (".", True)])
def test_told_tile_is_overruled_only_if_no_reading_shows_it(symbol: str, is_overruled: bool) -> None:
    game = with_plays("8F HORN")
    reading = seen(game.board, {"F8": {symbol: 1.0}})
    history = EMPTY_HISTORY.add_observation(Observation(reading, find_next_ref(with_plays())), with_plays())
    assert (F8 in history.find_overruled(game, [F8])) is is_overruled


@pytest.mark.parametrize(("symbol", "is_false"), [("N", True), (".", False)])
def test_removed_tile_is_a_false_reading_until_its_square_is_seen_empty(symbol: str, is_false: bool) -> None:
    before = with_plays("8F HORN")
    correction = SquareCorrected(I8, None)
    after = before.push(correction)
    history = EMPTY_HISTORY.with_entered_events([correction], before, after)
    reading = seen(after.board, {"I8": {symbol: 1.0}})
    history = history.add_observation(Observation(reading, find_next_ref(after)), after)
    assert (I8 in history.find_false_readings(after)) is is_false
