"""Align a reading with the recorded board: correct a grid that was placed one square off, and reject other boards."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from itertools import islice

from engine.board import SQUARES, Board, Square
from engine.game import Game
from engine.inference.evidence import MIN_CLEAR_PROBABILITY, find_inconsistent_squares
from engine.reading import BOARD_SIZE, HIDDEN, BoardReading, SquareReading

MIN_TILES_IN_SIGHT = 6
"""Minimum number of visible old tiles for a reliable agreement."""
MIN_AGREEMENT = 0.5
"""Minimum agreement of a reading with the board; if it is lower, the picture shows another board, or the grid is
misplaced."""
MAX_PLAYS_TAKEN_BACK = 4
"""Maximum number of plays that are withdrawn between two readings."""
MIN_SHIFTED_AGREEMENT = 0.8
"""Minimum agreement of a shifted reading that replaces a reading which does not match the board."""

_HIDDEN_SQUARE = SquareReading(((HIDDEN, 1.0),))
_SHIFTS = ((0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1))


def measure_agreement(board: Board, reading: BoardReading, ignored_squares: Collection[Square]) -> float | None:
    """Return the share (0..1) of the visible old tiles that are read correctly.

    If fewer than `MIN_TILES_IN_SIGHT` old tiles are visible, return None. Tiles on `ignored_squares` are not counted.
    """
    in_sight = {
        square
        for square in board.occupied_squares()
        if square not in ignored_squares and reading.occupancy[square].hidden <= MIN_CLEAR_PROBABILITY
    }
    if len(in_sight) < MIN_TILES_IN_SIGHT:
        return None
    wrong = in_sight.intersection(find_inconsistent_squares(reading, board))
    return (len(in_sight) - len(wrong)) / len(in_sight)


def shift_reading(reading: BoardReading, rows: int, columns: int) -> BoardReading:
    """Return a reading moved `rows` squares down and `columns` squares to the right.

    Squares that get no reading are hidden (`#`).
    """
    squares = []
    for square in SQUARES:
        row, column = square // BOARD_SIZE - rows, square % BOARD_SIZE - columns
        inside = 0 <= row < BOARD_SIZE and 0 <= column < BOARD_SIZE
        squares.append(reading[row, column] if inside else _HIDDEN_SQUARE)
    return replace(reading, squares=tuple(squares))


def align_reading(game: Game, reading: BoardReading) -> BoardReading | None:
    """Return the reading aligned with the board of the game.

    If the grid was one square off, the returned reading is moved by one square. If the reading does not match the
    board of the game, return None.
    """
    if game.rules.rearrange or game.rules.recycle:
        return reading  # these rules allow any old tile to change
    removable = _find_removable_squares(game, reading)
    agreement = measure_agreement(game.board, reading, removable)
    if agreement is None or agreement >= MIN_AGREEMENT:
        return reading
    best, best_agreement = None, 0.0
    for rows, columns in _SHIFTS:
        shifted = shift_reading(reading, rows, columns)
        agreement = measure_agreement(game.board, shifted, removable) or 0.0
        if agreement > best_agreement:
            best, best_agreement = shifted, agreement
    return best if best_agreement >= MIN_SHIFTED_AGREEMENT else None


def _find_removable_squares(game: Game, reading: BoardReading) -> set[Square]:
    """Return the squares on which tiles may be missing: those of the last play, which may have been withdrawn.

    If no tile is visible on the whole board, return the squares of the last `MAX_PLAYS_TAKEN_BACK` plays.
    """
    plays = islice(game.state.standing_plays(), 1 if reading.shows_tiles else MAX_PLAYS_TAKEN_BACK)
    return {square for turn in plays for square, _ in turn.placements}
