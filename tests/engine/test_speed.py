"""How fast the engine is. The bounds are loose, for busy machines; `pytest -s -m slow` prints the figures."""

from __future__ import annotations

import random
import time

import pytest

from engine.explain import explain
from engine.game import Game
from engine.reading import BoardReading, SquareReading
from engine.scoring import play_status, score_play
from tests.engine.play_at_random import random_game, random_play
from tests.engine.table import seen

pytestmark = pytest.mark.slow


def test_plays_scored_and_validated_per_second() -> None:
    rng = random.Random(1)
    game = random_game(rng, 10)
    plays = [play for play in (random_play(game, rng) for _ in range(300)) if play]
    began = time.perf_counter()
    for _ in range(30):
        for play in plays:
            play_status(game.board, play, game.layout, game.rules)
            score_play(game.board, play, game.layout, game.tiles, game.rules)
    rate = 30 * len(plays) / (time.perf_counter() - began)
    print(f"\n{rate:,.0f} plays scored and validated a second; aim 50,000")
    assert rate > 20_000


def test_a_game_of_25_turns_is_rebuilt_from_its_events() -> None:
    game = random_game(random.Random(2), 25)
    began = time.perf_counter()
    for _ in range(20):
        Game.from_events(game.events)
    took = (time.perf_counter() - began) / 20 * 1000
    print(f"\n{took:.1f} ms to rebuild {len(game.turns)} turns; aim 5 ms")
    assert took < 20


def test_a_reading_is_explained_while_nobody_waits() -> None:
    rng = random.Random(3)
    game = random_game(rng, 20)
    play = random_play(game, rng)
    assert play is not None
    reading = seen(play.on(game.board))
    began = time.perf_counter()
    for _ in range(20):
        explain(game, reading)
    took = (time.perf_counter() - began) / 20 * 1000
    print(f"\n{took:.1f} ms to explain a reading")
    assert took < 200


def test_a_reading_full_of_false_tiles_does_not_hang() -> None:
    rng = random.Random(5)
    game = random_game(rng, 8)
    squares = list(seen(game.board).squares)
    for square in rng.sample([s for s in range(225) if game.board[s] is None], 85):
        squares[square] = SquareReading(((rng.choice("ABCDEFGHIL"), 0.6), (".", 0.4)))
    began = time.perf_counter()
    explain(game, BoardReading(tuple(squares)))
    took = time.perf_counter() - began
    print(f"\n{took:.1f} s to explain a reading with 85 false tiles")
    assert took < 10
