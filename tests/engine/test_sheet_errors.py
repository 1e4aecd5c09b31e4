"""One mistake on a score sheet or in the reading of the board is found."""

from __future__ import annotations

import random

from hypothesis import assume, given
from hypothesis import strategies as st

from engine.board import Board
from engine.game import Game
from engine.play_orders import PlayFinder, find_orders
from engine.sheet_errors import Mistake, SheetError, find_sheet_errors, group_by_place
from tests.engine.test_play_orders import list_plays, true_order
from tests.support.examples import try_examples
from tests.support.play_at_random import random_game

SEEDS = st.integers(0, 2**32)


def find_errors(game: Game, board: Board, points: list[int]) -> list[SheetError]:
    finder = PlayFinder.build(board, game.layout, game.tiles, game.rules)
    assume(find_orders(finder, points).count == 0)
    return find_sheet_errors(finder, game.tiles, points)


def draw_game(seed: int) -> tuple[random.Random, Game, list[int]]:
    """Return a random game, and the points of its plays."""
    rng = random.Random(seed)
    game = random_game(rng, 5)
    return rng, game, [turn.score for turn in list_plays(game)]


@given(SEEDS, st.integers(1, 60))
@try_examples(3)
def test_wrong_score_is_found_with_the_right_one(seed: int, slip: int) -> None:
    rng, game, points = draw_game(seed)
    turn = rng.randrange(len(points))
    right, points[turn] = points[turn], points[turn] + slip
    errors = find_errors(game, game.board, points)
    found = [(error.turn, error.value, error.play) for error in errors if error.mistake is Mistake.SCORE]
    assert (turn, right, true_order(game)[turn]) in found


@given(SEEDS)
@try_examples(3)
def test_missing_turn_is_found_with_its_squares_and_score(seed: int) -> None:
    rng, game, points = draw_game(seed)
    turn = rng.randrange(len(points))
    score = points.pop(turn)
    errors = find_errors(game, game.board, points)
    found = [(error.turn, error.value, error.play) for error in errors if error.mistake is Mistake.TURN_MISSING]
    assert (turn, score, true_order(game)[turn]) in found


@given(SEEDS)
@try_examples(3)
def test_lost_tile_is_found_with_its_value(seed: int) -> None:
    rng, game, points = draw_game(seed)
    square = rng.choice(game.board.occupied_squares())
    errors = find_errors(game, game.board.without_tiles([square]), points)
    value = game.tiles.values[game.board.tile(square).face]
    assert (square, value) in [(error.square, error.value) for error in errors]


@given(SEEDS)
@try_examples(3)
def test_misread_tile_is_found_with_its_value(seed: int) -> None:
    rng, game, points = draw_game(seed)
    square = rng.choice(game.board.occupied_squares())
    value = game.tiles.values[game.board.tile(square).face]
    other = game.board.tile(rng.choice(game.board.occupied_squares()))
    assume(game.tiles.values[other.face] != value)
    errors = find_errors(game, game.board.with_tiles({square: other}), points)
    assert (square, value) in [(error.square, error.value) for error in errors]


def test_wrong_score_and_tile_of_the_same_play_are_one_place() -> None:
    score = SheetError(Mistake.SCORE, 2, 0b111, 0b110, 9)
    tile = SheetError(Mistake.TILE, 2, 0b1111, 0b1110, 4, 3)
    missing = SheetError(Mistake.TURN_MISSING, 2, 0b111, 0b110, 9)
    assert group_by_place([missing, score, tile], full=0b111) == [[score, tile], [missing]]
