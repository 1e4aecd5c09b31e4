"""Squares of the board and their names.

A square is an int, `row * 15 + column`, both from 0 at the top left: the centre, `H8`, is 112. A position is the square
and the direction of a play in GCG notation: `8H` (row first) is across, `H8` (column first) is down.
"""

from __future__ import annotations

import re

from engine.errors import NotationError
from engine.messages import said
from engine.reading import BOARD_SIZE

Square = int

SQUARES = range(BOARD_SIZE * BOARD_SIZE)
COLUMNS = "ABCDEFGHIJKLMNO"
CENTRE: Square = (BOARD_SIZE * BOARD_SIZE) // 2

_POSITION = re.compile(r"(?:(?P<row1>\d{1,2})(?P<column1>[A-Oa-o])|(?P<column2>[A-Oa-o])(?P<row2>\d{1,2}))\Z")


def square_at(row: int, column: int) -> Square:
    """Return the square in this row and column, both from 0.

    >>> square_at(7, 7)
    112
    """
    return row * BOARD_SIZE + column


def row_of(square: Square) -> int:
    """Return the row of a square, from 0 at the top."""
    return square // BOARD_SIZE


def column_of(square: Square) -> int:
    """Return the column of a square, from 0 at the left."""
    return square % BOARD_SIZE


def transpose(square: Square) -> Square:
    """Return the square mirrored in the diagonal from A1 to O15: rows become columns."""
    return (square % BOARD_SIZE) * BOARD_SIZE + square // BOARD_SIZE


def square_name(square: Square) -> str:
    """Return the name of a square: the letter of its column and the number of its row.

    >>> square_name(112)
    'H8'
    """
    return f"{COLUMNS[square % BOARD_SIZE]}{square // BOARD_SIZE + 1}"


def position_name(square: Square, across: bool) -> str:
    """Return the position of a play in GCG notation, from its first square and its direction.

    >>> position_name(112, across=True), position_name(112, across=False)
    ('8H', 'H8')
    """
    column, row = COLUMNS[square % BOARD_SIZE], square // BOARD_SIZE + 1
    return f"{row}{column}" if across else f"{column}{row}"


def parse_position(text: str) -> tuple[Square, bool]:
    """Return the first square of a position and True if it is across. Raises `NotationError`.

    >>> parse_position("8H")
    (112, True)
    """
    match = _POSITION.match(text.strip())
    if match:
        row = int(match["row1"] or match["row2"])
        column = COLUMNS.index((match["column1"] or match["column2"]).upper())
        if 1 <= row <= BOARD_SIZE:
            return square_at(row - 1, column), match["row1"] is not None
    wrong = "{0} is no square of the board: write A1 to O15 (down) or 1A to 15O (across)"
    raise NotationError(said("no-square", wrong, repr(text)))


def parse_square(text: str) -> Square:
    """Return the square of this name; letter and number may be in either order. Raises `NotationError`.

    >>> parse_square("H8")
    112
    """
    return parse_position(text)[0]
