"""The true order of a game is among those that fit its final board and its scores."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from engine.board import Board
from engine.game import Game
from engine.play_orders import PlayFinder, PlayOrders, find_orders, pack_squares, unpack_squares
from engine.plays import Play
from engine.scoring import score_play
from engine.state import Turn, TurnKind
from tests.support.examples import try_examples
from tests.support.play_at_random import random_game

SEEDS = st.integers(0, 2**32)


def list_plays(game: Game) -> list[Turn]:
    return [turn for turn in game.turns if turn.kind is TurnKind.PLAY]


def make_finder(game: Game) -> PlayFinder:
    return PlayFinder.build(game.board, game.layout, game.tiles, game.rules)


def rebuild(game: Game) -> PlayOrders:
    return find_orders(make_finder(game), [turn.score for turn in list_plays(game)])


def true_order(game: Game) -> tuple[int, ...]:
    return tuple(pack_squares(turn.play.squares) for turn in list_plays(game) if turn.play)


@given(SEEDS, st.sampled_from(["en", "de", "es"]), st.integers(2, 4))
@try_examples(15)
def test_true_order_of_a_random_game_is_found(seed: int, tiles: str, players: int) -> None:
    names = ("Anna", "Ben", "Clara", "David")[:players]
    game = random_game(random.Random(seed), 14, Game.start(names, tile_set=tiles))
    orders = rebuild(game)
    answered = orders
    for turn, play in enumerate(true_order(game)):
        assert answered.count_plays(turn)[play]
        answered = answered.choose_play(turn, play)
    assert list(answered) == [true_order(game)]


@given(SEEDS)
@try_examples(10)
def test_every_order_has_the_scores_of_the_sheet(seed: int) -> None:
    game = random_game(random.Random(seed), 12)
    scores = [turn.score for turn in list_plays(game)]
    orders = rebuild(game)
    for order, _ in zip(orders, range(5), strict=False):
        board = Board()
        for squares, score in zip(order, scores, strict=True):
            play = Play.from_tiles({square: game.board.tile(square) for square in unpack_squares(squares)})
            assert score_play(board, play, game.layout, game.tiles, game.rules).total == score
            board = play.apply_to(board)
        assert board == game.board


@given(SEEDS)
@try_examples(10)
def test_number_of_orders_is_that_of_the_listed_ones(seed: int) -> None:
    orders = rebuild(random_game(random.Random(seed), 10))
    if orders.count < 1000:
        assert orders.count == len(set(orders)) == len(list(orders))


@given(SEEDS)
@try_examples(10)
def test_questions_end_with_the_true_order(seed: int) -> None:
    game = random_game(random.Random(seed), 12)
    orders, true = rebuild(game), true_order(game)
    while (turn := orders.find_open_turn()) is not None:
        before = orders.count
        orders = orders.choose_play(turn, true[turn])
        assert orders.count < before
    assert list(orders) == [true]


def test_scores_of_another_game_fit_no_order() -> None:
    game = random_game(random.Random(1), 12)
    scores = [turn.score + 1 for turn in list_plays(game)]
    assert find_orders(make_finder(game), scores).count == 0
