"""Tile enrolment: every tile of the set is laid out once, so that the profile has examples before the first game.

Enrolment is optional. It helps most with tiles that the networks find hard: unusual typefaces, or a letter that is not
in their training.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from engine.reading import BLANK, BOARD_SIZE, EMPTY, HIDDEN, BoardReading

_TILE_ROWS: Final = ((7,), (5, 9), (3, 7, 11), (1, 5, 9, 13), (1, 4, 7, 10, 13))
"""Rows of the board to use, by the number of rows needed: spread out, because light and perspective differ."""
_PREFERRED_TILES_PER_ROW: Final = 10
"""Tiles in a row, if five rows are enough for all; easier to count than a full row."""
_MIN_MISREAD_CONFIDENCE: Final = 0.9
"""Confidence from which another letter than the expected one is reported."""


@dataclass(frozen=True, slots=True)
class EnrolmentCheck:
    """Differences between the expected layout and a picture; squares are 0..224."""

    missing: tuple[int, ...]
    """Squares that should have a tile and have none."""
    extra: tuple[int, ...]
    """Squares that should be empty and have a tile."""
    hidden: tuple[int, ...]
    """Squares that should have a tile and cannot be seen."""
    mismatched: tuple[tuple[int, str], ...]
    """Squares clearly read as another symbol, with that symbol: a wrong tile or a wrong reading; the players decide."""

    @property
    def is_complete(self) -> bool:
        """True if exactly the expected squares have tiles; the profile can learn once `mismatched` is resolved."""
        return not (self.missing or self.extra or self.hidden)

    @property
    def is_clean(self) -> bool:
        """True if there is nothing to ask."""
        return self.is_complete and not self.mismatched


def enrolment_rows(letters: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return the layout as 15 rows of 15 faces: each of `letters` and a blank once, in order, row by row.

    Raises ValueError if `letters` is empty, has duplicates, or has more letters than five rows can hold.
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
    """Compare the expected layout with the reading of a picture."""
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
