"""Tile enrolment: the players lay out each letter once, so that the profile has examples before the first game.

Enrolment is optional. It is most useful for tiles with many reading errors: unusual typefaces, or letters that are not
in the training data of the letter network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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


def enrolment_rows(letters: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return the enrolment layout, 15 rows of 15 faces: each of `letters` once, then a blank, row by row.

    Raises ValueError if `letters` is empty, has duplicates, or has more letters than fit in five rows.
    """
    tiles = [*letters, BLANK] if BLANK not in letters else list(letters)
    if not letters or len(set(tiles)) != len(tiles):
        raise ValueError("a lesson needs each letter of the tile set once")
    wide = max(_PREFERRED_TILES_PER_ROW, -(-len(tiles) // len(_TILE_ROWS)))
    if wide > BOARD_SIZE:
        raise ValueError(f"a lesson has room for {BOARD_SIZE * len(_TILE_ROWS)} tiles, got {len(tiles)}")
    lines = [tiles[k : k + wide] for k in range(0, len(tiles), wide)]
    rows = [[EMPTY] * BOARD_SIZE for _ in range(BOARD_SIZE)]
    for at, line in zip(_TILE_ROWS[len(lines) - 1], lines, strict=True):
        left = (BOARD_SIZE - wide) // 2
        rows[at][left : left + len(line)] = line
    return tuple(tuple(row) for row in rows)


def check_enrolment(rows: Sequence[Sequence[str]], reading: BoardReading) -> EnrolmentCheck:
    """Compare the expected layout `rows` (15 rows of 15 faces) with a board reading; return the differences."""
    asked = [face for row in rows for face in row]
    missing, extra, hidden, unlike = [], [], [], []
    for at, (face, square) in enumerate(zip(asked, reading.squares, strict=True)):
        if face == EMPTY:
            if square.is_tile:
                extra.append(at)
        elif square.symbol == HIDDEN:
            hidden.append(at)
        elif not square.is_tile:
            missing.append(at)
        elif square.symbol != face and square.confidence >= _MIN_MISREAD_CONFIDENCE:
            unlike.append((at, square.symbol))
    return EnrolmentCheck(tuple(missing), tuple(extra), tuple(hidden), tuple(unlike))
