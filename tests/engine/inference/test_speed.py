"""The time of an inference in the worst case; `tilekeeper bench engine` measures the usual one."""

from __future__ import annotations

import random
import time

import pytest

from engine.inference.explain import infer_play
from engine.reading import BoardReading, SquareReading
from tests.support.engine_table import seen
from tests.support.play_at_random import random_game

pytestmark = [pytest.mark.slow, pytest.mark.serial]


def test_a_reading_full_of_false_tiles_does_not_hang() -> None:
    rng = random.Random(5)
    game = random_game(rng, 8)
    squares = list(seen(game.board).squares)
    for square in rng.sample([s for s in range(225) if game.board[s] is None], 85):
        squares[square] = SquareReading(((rng.choice("ABCDEFGHIL"), 0.6), (".", 0.4)))
    began = time.process_time()
    infer_play(game, BoardReading(tuple(squares)))
    took = time.process_time() - began
    print(f"\n{took:.1f} s to explain a reading with 85 false tiles")
    assert took < 10
