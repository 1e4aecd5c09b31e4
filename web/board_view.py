"""Template values for the squares of the board."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from device.session.snapshot import TableSnapshot, TileView
from engine.board import SQUARES, column_of, row_of, square_name
from engine.reading import BOARD_SIZE
from web.i18n import Texts

_MAX_CACHED_SQUARES = 4096
"""Number of cached squares: enough for some hundred positions, because most squares do not change in a turn."""


@dataclass(frozen=True, slots=True)
class SquareView:
    """A square of the board: name, drawn column and row (from 0), premium, text of the premium, tile, and label.

    If words are read from right to left, the drawn column is counted from the right.
    The label describes the square and its tile for screen readers.
    """

    name: str
    column: int
    row: int
    premium: str
    premium_text: str
    tile: TileView | None
    label: str


def list_squares(state: TableSnapshot, t: Texts) -> tuple[SquareView, ...]:
    """Return the 225 squares row by row, with texts in the language of `t`."""
    board = state.board
    side = [board.right_to_left] * len(SQUARES)
    return tuple(map(_make_square_view, SQUARES, side, board.premiums, board.tiles, [t] * len(SQUARES)))


@lru_cache(_MAX_CACHED_SQUARES)
def _make_square_view(square: int, is_mirrored: bool, premium: str, tile: TileView | None, t: Texts) -> SquareView:
    column = BOARD_SIZE - 1 - column_of(square) if is_mirrored else column_of(square)
    name = square_name(square)
    if tile is None:
        label = t("board.square_empty", square=name)
    elif tile.blank:
        label = t("board.square_blank", square=name, letter=tile.letter)
    else:
        label = t("board.square", square=name, letter=tile.letter, value=tile.value)
    text = t(f"premium.{premium}") if premium else ""
    return SquareView(name, column, row_of(square), premium, text, tile, label)
