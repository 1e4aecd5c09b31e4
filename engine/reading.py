"""What a camera says of a board, as values: a reading for each square, with probabilities.

The engine owns these types because it explains readings; `vision` makes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

BOARD_SIZE = 15
EMPTY = "."
BLANK = "?"
HIDDEN = "#"


@dataclass(frozen=True, slots=True)
class SquareReading:
    """One square: what may lie there, most likely first.

    `candidates` pairs a symbol with its probability. A symbol is `.` (empty), `?` (a blank tile), `#` (cannot be
    seen: a hand, glare, out of the picture) or a tile of the tile set (`A`, `Ä`, `CH`). Probabilities are in 0..1,
    in falling order, and sum to at most 1. There is at least one; `ValueError` otherwise.
    """

    candidates: tuple[tuple[str, float], ...]

    def __post_init__(self) -> None:
        if not self.candidates:
            raise ValueError("a square reading needs at least one candidate")

    @property
    def symbol(self) -> str:
        """The most likely symbol."""
        return self.candidates[0][0]

    @property
    def confidence(self) -> float:
        """The probability of `symbol`."""
        return self.candidates[0][1]

    def probability(self, symbol: str) -> float:
        """The probability of `symbol`; 0 when it is not among the candidates."""
        return next((p for s, p in self.candidates if s == symbol), 0.0)

    @property
    def is_tile(self) -> bool:
        """True when a tile (a letter or a blank) is the most likely thing here."""
        return self.symbol not in (EMPTY, HIDDEN)


@dataclass(frozen=True, slots=True)
class BoardReading:
    """225 square readings, row by row from the top left as the tiles read upright."""

    squares: tuple[SquareReading, ...]

    def __post_init__(self) -> None:
        if len(self.squares) != BOARD_SIZE * BOARD_SIZE:
            raise ValueError(f"a board reading has {BOARD_SIZE * BOARD_SIZE} squares, got {len(self.squares)}")

    def __getitem__(self, at: tuple[int, int]) -> SquareReading:
        """The reading of the square at (row, column), both from 0."""
        row, column = at
        return self.squares[row * BOARD_SIZE + column]

    def rows(self) -> tuple[tuple[str, ...], ...]:
        """The most likely symbols, 15 rows of 15."""
        symbols = [s.symbol for s in self.squares]
        return tuple(tuple(symbols[i : i + BOARD_SIZE]) for i in range(0, BOARD_SIZE * BOARD_SIZE, BOARD_SIZE))

    @classmethod
    def from_rows(cls, rows: Sequence[Iterable[str]]) -> BoardReading:
        """A reading without doubt, from 15 rows of 15 symbols (a string is a row of one-letter symbols)."""
        return cls(tuple(SquareReading(((symbol, 1.0),)) for row in rows for symbol in row))
