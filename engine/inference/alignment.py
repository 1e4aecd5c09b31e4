"""Check that a reading shows this game's board, and correct a grid that was placed one square off."""

from __future__ import annotations

from collections.abc import Collection

from engine.board import Board
from engine.game import Game
from engine.inference.history import MIN_CLEAR_PROBABILITY, is_consistent
from engine.reading import BOARD_SIZE, HIDDEN, BoardReading, SquareReading
from engine.squares import SQUARES, Square
from engine.turns import TurnKind

MIN_TILES_IN_SIGHT = 6  # with fewer visible old tiles the agreement means nothing
MIN_AGREEMENT = 0.5  # a reading with less agreement does not show this board, or not on its grid
MAX_PLAYS_TAKEN_BACK = 4  # plays withdrawn between two readings
MIN_SHIFTED_AGREEMENT = 0.8  # agreement that a shifted reading needs

_HIDDEN_SQUARE = SquareReading(((HIDDEN, 1.0),))
_SHIFTS = ((0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1))


def measure_agreement(board: Board, reading: BoardReading, ignored_squares: Collection[Square] = ()) -> float | None:
    """Return the share (0..1) of the visible old tiles that are read as recorded; None if too few are visible.

    Tiles on `ignored_squares` do not count.
    """
    reads = [(reading.squares[s], board[s]) for s in board.occupied_squares() if s not in ignored_squares]
    in_sight = [(read, tile) for read, tile in reads if read.probability(HIDDEN) <= MIN_CLEAR_PROBABILITY]
    if len(in_sight) < MIN_TILES_IN_SIGHT:
        return None
    return sum(is_consistent(read.symbol, tile) for read, tile in in_sight) / len(in_sight)


def shift_reading(reading: BoardReading, rows: int, columns: int) -> BoardReading:
    """Return the reading moved `rows` down and `columns` to the right; squares without a reading are hidden."""
    squares = []
    for square in SQUARES:
        row, column = square // BOARD_SIZE - rows, square % BOARD_SIZE - columns
        inside = 0 <= row < BOARD_SIZE and 0 <= column < BOARD_SIZE
        squares.append(reading[row, column] if inside else _HIDDEN_SQUARE)
    return BoardReading(tuple(squares))


def align_reading(game: Game, reading: BoardReading) -> BoardReading | None:
    """Return the reading, moved by one square if its grid was off; None if it does not show this game's board."""
    if game.rules.rearrange or game.rules.recycle:
        return reading  # these rules allow any old tile to change
    without = _find_removable_squares(game, reading)
    share = measure_agreement(game.board, reading, without)
    if share is None or share >= MIN_AGREEMENT:
        return reading
    moved = [shift_reading(reading, rows, columns) for rows, columns in _SHIFTS]
    best = max(moved, key=lambda one: measure_agreement(game.board, one, without) or 0.0)
    return best if (measure_agreement(game.board, best, without) or 0.0) >= MIN_SHIFTED_AGREEMENT else None


def _find_removable_squares(game: Game, reading: BoardReading) -> set[Square]:
    """Return the squares of the last play, which may have been withdrawn.

    If no tile is visible at all, those of the last `MAX_PLAYS_TAKEN_BACK` plays.
    """
    plays = [turn.placements for turn in reversed(game.turns) if turn.kind is TurnKind.PLAY and turn.stands]
    few = 1 if any(read.is_tile for read in reading.squares) else MAX_PLAYS_TAKEN_BACK
    return {square for placements in plays[:few] for square, _ in placements}
