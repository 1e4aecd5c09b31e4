"""Games that are rebuilt from a final board and a score sheet."""

from __future__ import annotations

import random

import pytest

from device.rebuilt_game import PaperGame, parse_score_sheet, rebuild
from engine.board import Board, load_layout
from engine.game import Game
from engine.gcg import build_record, format_gcg
from engine.state import TurnKind
from engine.tiles import Tile, load_tile_set
from tests.support.play_at_random import random_game

ENGLISH = load_tile_set("en")
ROWS = {7: ".....HORN......"}


def make_paper(game: Game, end: str = "") -> PaperGame:
    """Return the final board and the scores of a game."""
    points = [str(turn.score) for turn in game.turns if turn.kind in (TurnKind.PLAY, TurnKind.PASS)]
    rows = [",".join(points[at : at + 2]) for at in range(0, len(points), 2)]
    return PaperGame(
        parse_score_sheet("\n".join(["Anna,Ben", *rows, end])), unname_blanks(game.board), game.tiles, game.layout
    )


def unname_blanks(board: Board) -> Board:
    tiles = {square: Tile.unnamed() for square in board.occupied_squares() if board.tile(square).is_blank}
    return board.with_tiles(tiles)


def first_word(scores: str) -> PaperGame:
    board = Board.from_rows([ROWS.get(row, "." * 15) for row in range(15)])
    return PaperGame(parse_score_sheet(scores), board, ENGLISH, load_layout())


@pytest.mark.parametrize("seed", range(3))
def test_rebuilt_game_has_the_board_and_the_scores(seed: int) -> None:
    game = random_game(random.Random(seed), 9)
    paper, orders = rebuild(make_paper(game))
    rebuilt = paper.build_game(next(iter(orders)))
    assert rebuilt.board == unname_blanks(game.board)
    assert [turn.score for turn in rebuilt.turns] == [turn.score for turn in game.turns]
    assert ">Anna:" in format_gcg(build_record(rebuilt))


def test_turn_without_points_is_a_pass() -> None:
    paper, orders = rebuild(first_word("Anna,Ben\n0,14"))
    kinds = [turn.kind for turn in paper.build_game(next(iter(orders))).turns]
    assert kinds == [TurnKind.PASS, TurnKind.PLAY]


def test_points_for_a_challenge_are_added_to_the_play() -> None:
    paper, orders = rebuild(first_word("Anna,Ben\n14+5,"))
    assert paper.build_game(next(iter(orders))).totals == (19, 0)


def test_last_score_of_all_other_letters_is_no_play() -> None:
    left = first_word("Anna,Ben\n14").unplayed_points
    paper, orders = rebuild(first_word(f"Anna,Ben\n14,{2 * left}"))
    assert (orders.count, paper.sheet.end) == (1, (0, 2 * left))


def test_wrong_score_is_a_mistake_of_its_turn() -> None:
    paper, orders = rebuild(first_word("Anna,Ben\n15,"))
    assert orders.count == 0
    assert [(error.turn, error.value) for error in paper.find_mistakes()[0] if error.square is None] == [(0, 14)]


def test_letters_that_were_on_the_board_are_in_parentheses() -> None:
    paper = first_word("Anna,Ben\n14,")
    horn = paper.board.occupied_squares()
    view = paper.view_play(sum(1 << square for square in horn[:3]), 1 << horn[3])
    assert (view.at, view.word) == ("8F", "(HOR)N")
