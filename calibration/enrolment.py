"""The tile lesson: every tile of the set laid out once, so that the table knows its own tiles before the first game.

It is never needed. It helps most with tiles that the networks find hard: unusual lettering, a letter that they were
never taught.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from engine.reading import BLANK, EMPTY, HIDDEN, SIZE, BoardReading

_ROWS: Final = ((7,), (5, 9), (3, 7, 11), (1, 5, 9, 13), (1, 4, 7, 10, 13))
"""Rows that tiles are laid in, for as many rows as they need: spread over the board, where light and view differ."""
_COMFORT: Final = 10
"""Tiles in a row, if five rows hold all; easier to count than a full row."""
_CLEAR: Final = 0.9
"""A letter that is read with this probability where another was asked for is worth a second look."""


@dataclass(frozen=True, slots=True)
class LessonCheck:
    """What a picture of the lesson shows; squares are 0..224."""

    missing: tuple[int, ...]
    """Asked for, and nothing lies there."""
    extra: tuple[int, ...]
    """A tile lies there that nobody asked for."""
    hidden: tuple[int, ...]
    """Asked for, and it cannot be seen."""
    unlike: tuple[tuple[int, str], ...]
    """Clearly read as something else than was asked for: laid wrong, or read wrong, which the people know."""

    @property
    def complete(self) -> bool:
        """Tiles lie where they were asked for and nowhere else: with the people's word for `unlike`, it can teach."""
        return not (self.missing or self.extra or self.hidden)

    @property
    def ok(self) -> bool:
        """Nothing is left to ask."""
        return self.complete and not self.unlike


def lesson_rows(letters: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """What to lay where: 15 rows of 15 faces, each of `letters` and a blank once, in their order, row by row.

    Raises ValueError for none, for a letter twice, and for more than five rows hold.
    """
    tiles = [*letters, BLANK] if BLANK not in letters else list(letters)
    if not letters or len(set(tiles)) != len(tiles):
        raise ValueError("a lesson needs each letter of the tile set once")
    wide = max(_COMFORT, -(-len(tiles) // len(_ROWS)))
    if wide > SIZE:
        raise ValueError(f"a lesson has room for {SIZE * len(_ROWS)} tiles, got {len(tiles)}")
    lines = [tiles[k : k + wide] for k in range(0, len(tiles), wide)]
    rows = [[EMPTY] * SIZE for _ in range(SIZE)]
    for at, line in zip(_ROWS[len(lines) - 1], lines, strict=True):
        left = (SIZE - wide) // 2
        rows[at][left : left + len(line)] = line
    return tuple(tuple(row) for row in rows)


def check_lesson(rows: Sequence[Sequence[str]], reading: BoardReading) -> LessonCheck:
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
        elif square.symbol != face and square.confidence >= _CLEAR:
            unlike.append((at, square.symbol))
    return LessonCheck(tuple(missing), tuple(extra), tuple(hidden), tuple(unlike))
