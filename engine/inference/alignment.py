"""Whether a reading is of this game's board at all, and whether its grid lies a square beside the real one."""

from __future__ import annotations

from collections.abc import Collection

from engine.board import Board
from engine.game import Game
from engine.inference.history import CLEAR, agrees
from engine.reading import HIDDEN, SIZE, BoardReading, SquareReading
from engine.squares import SQUARES, Square
from engine.turns import Kind

ENOUGH = 6  # with fewer old tiles in sight nothing can be said
STRANGE = 0.5  # a reading that agrees with less of the old tiles is not of this board as it should be
MOST_BACK = 4  # plays that are taken back between two looks
ALIKE = 0.8  # a shifted reading that agrees with so much of them is

_OUTSIDE = SquareReading(((HIDDEN, 1.0),))
_SHIFTS = ((0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1))


def agreement(board: Board, reading: BoardReading, without: Collection[Square] = ()) -> float | None:
    """The share of the old tiles in sight that are read as they are; None when too few are in sight."""
    reads = [(reading.squares[s], board[s]) for s in board.occupied() if s not in without]
    in_sight = [(read, tile) for read, tile in reads if read.probability(HIDDEN) <= CLEAR]
    if len(in_sight) < ENOUGH:
        return None
    return sum(agrees(read.symbol, tile) for read, tile in in_sight) / len(in_sight)


def shifted(reading: BoardReading, rows: int, columns: int) -> BoardReading:
    """The reading moved down and to the right; what was outside the picture of the board is hidden."""
    squares = []
    for square in SQUARES:
        row, column = square // SIZE - rows, square % SIZE - columns
        inside = 0 <= row < SIZE and 0 <= column < SIZE
        squares.append(reading[row, column] if inside else _OUTSIDE)
    return BoardReading(tuple(squares))


def fitted(game: Game, reading: BoardReading) -> BoardReading | None:
    """The reading, moved by a square if its grid lay beside the board's; None when it is not of this game's board."""
    if game.rules.rearrange or game.rules.recycle:
        return reading  # old tiles may change as the players like
    without = _may_be_gone(game, reading)
    share = agreement(game.board, reading, without)
    if share is None or share >= STRANGE:
        return reading
    moved = [shifted(reading, rows, columns) for rows, columns in _SHIFTS]
    best = max(moved, key=lambda one: agreement(game.board, one, without) or 0.0)
    return best if (agreement(game.board, best, without) or 0.0) >= ALIKE else None


def _may_be_gone(game: Game, reading: BoardReading) -> set[Square]:
    """The tiles of the last play, which may have been taken back; of the last few, when no tile is in sight at all."""
    plays = [turn.placements for turn in reversed(game.turns) if turn.kind is Kind.PLAY and turn.stands]
    few = 1 if any(read.is_tile for read in reading.squares) else MOST_BACK
    return {square for placements in plays[:few] for square, _ in placements}
