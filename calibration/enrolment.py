"""The tile lesson: every tile of the set laid out once, so that the table knows its own tiles before the first game.

It is never needed. It helps most with tiles that the networks find hard: unusual lettering, a letter that they were
never taught.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from engine.reading import BLANK, BOARD_SIZE, EMPTY, HIDDEN, BoardReading

_TILE_ROWS: Final = ((7,), (5, 9), (3, 7, 11), (1, 5, 9, 13), (1, 4, 7, 10, 13))
"""Rows that tiles are laid in, for as many rows as they need: spread over the board, where light and view differ."""
_PREFERRED_TILES_PER_ROW: Final = 10
"""Tiles in a row, if five rows hold all; easier to count than a full row."""
_MIN_MISREAD_CONFIDENCE: Final = 0.9
"""A letter that is read with this probability where another was asked for is worth a second look."""


@dataclass(frozen=True, slots=True)
class EnrolmentCheck:
    """What a picture of the lesson shows; squares are 0..224."""

    missing: tuple[int, ...]
    """Asked for, and nothing lies there."""
    extra: tuple[int, ...]
    """A tile lies there that nobody asked for."""
    hidden: tuple[int, ...]
    """Asked for, and it cannot be seen."""
    mismatched: tuple[tuple[int, str], ...]
    """Clearly read as something else than was asked for: laid wrong, or read wrong, which the people know."""

    @property
    def is_complete(self) -> bool:
        """Tiles lie where they were asked for and nowhere else: with the people's word for `unlike`, it can teach."""
        return not (self.missing or self.extra or self.hidden)

    @property
    def is_clean(self) -> bool:
        """Nothing is left to ask."""
        return self.is_complete and not self.mismatched


def enrolment_rows(letters: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """What to lay where: 15 rows of 15 faces, each of `letters` and a blank once, in their order, row by row.

    Raises ValueError for none, for a letter twice, and for more than five rows hold.
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
    """Compare what was asked for with what a picture shows."""
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
