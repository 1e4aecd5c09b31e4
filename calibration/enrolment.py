"""Tile enrolment: the players lay out each letter once, so that the profile has examples before the first game.

Enrolment is optional. It is most useful for tiles with many reading errors: unusual typefaces, or letters that are not
in the training data of the letter network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

from engine.reading import BLANK, BOARD_SIZE, EMPTY, HIDDEN, BoardReading

_TILE_ROWS: Final = ((7,), (5, 9), (3, 7, 11), (1, 5, 9, 13), (1, 4, 7, 10, 13))
"""Board rows (0..14) to use for 1 to 5 rows of tiles. They are spread out, because lighting and perspective vary over
the board."""
_PREFERRED_TILES_PER_ROW: Final = 10
"""Number of tiles per row if all tiles fit in five rows; rows of ten tiles are easier to count than full rows."""
_MIN_MISREAD_CONFIDENCE: Final = 0.9
"""Minimum confidence of a reading that differs from the expected letter; a less certain reading is not reported."""


@dataclass(frozen=True, slots=True)
class EnrolmentCheck:
    """Differences between the expected enrolment layout and a board reading; squares are indices 0..224."""

    missing: tuple[int, ...]
    """Squares that are read as empty and should have a tile."""
    extra: tuple[int, ...]
    """Squares that are read as a tile and should be empty."""
    hidden: tuple[int, ...]
    """Squares that are read as hidden and should have a tile."""
    mismatched: tuple[tuple[int, str], ...]
    """Pairs (square, symbol in the reading) where the symbol has a high confidence, but is not the expected one. The
    players decide whether the tile is in the wrong place or was misread."""

    @property
    def is_complete(self) -> bool:
        """True if exactly the expected squares have tiles; the letters may still differ."""
        return not (self.missing or self.extra or self.hidden)

    @property
    def is_clean(self) -> bool:
        """True if the reading agrees with the layout, so that the players need not decide anything."""
        return self.is_complete and not self.mismatched


def make_enrolment_rows(letters: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return the enrolment layout, 15 rows of 15 faces: each of `letters` once, then a blank, row by row.

    Raises ValueError if `letters` is empty, has duplicates, or has more letters than fit in five rows.
    """
    tiles = [*letters, BLANK] if BLANK not in letters else list(letters)
    if not letters or len(set(tiles)) != len(tiles):
        raise ValueError("an enrolment layout needs each letter of the tile set once")
    row_length = max(_PREFERRED_TILES_PER_ROW, ceil(len(tiles) / len(_TILE_ROWS)))
    if row_length > BOARD_SIZE:
        raise ValueError(f"an enrolment layout has room for {BOARD_SIZE * len(_TILE_ROWS)} tiles, got {len(tiles)}")
    tile_rows = [tiles[start : start + row_length] for start in range(0, len(tiles), row_length)]
    board = [[EMPTY] * BOARD_SIZE for _ in range(BOARD_SIZE)]
    left = (BOARD_SIZE - row_length) // 2
    for row, tile_row in zip(_TILE_ROWS[len(tile_rows) - 1], tile_rows, strict=True):
        board[row][left : left + len(tile_row)] = tile_row
    return tuple(tuple(row) for row in board)


def check_enrolment(rows: Sequence[Sequence[str]], reading: BoardReading) -> EnrolmentCheck:
    """Compare the expected layout `rows` (15 rows of 15 faces) with a board reading; return the differences."""
    expected = [face for row in rows for face in row]
    missing, extra, hidden, mismatched = [], [], [], []
    for square, (face, read) in enumerate(zip(expected, reading.squares, strict=True)):
        if face == EMPTY:
            if read.is_tile:
                extra.append(square)
        elif read.symbol == HIDDEN:
            hidden.append(square)
        elif not read.is_tile:
            missing.append(square)
        elif read.symbol != face and read.confidence >= _MIN_MISREAD_CONFIDENCE:
            mismatched.append((square, read.symbol))
    return EnrolmentCheck(tuple(missing), tuple(extra), tuple(hidden), tuple(mismatched))
