"""Readings of a board: the possible symbols of each square, with probabilities. Several readings can be merged.

`vision` creates readings from pictures. The types are in `engine` because `engine.inference` uses readings, and
`engine` does not import `vision`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, compress
from typing import NamedTuple

BOARD_SIZE = 15
EMPTY = "."
BLANK = "?"
HIDDEN = "#"
MAX_CANDIDATES = 8
"""Maximum number of candidate symbols per square, the most probable first."""
MIN_CANDIDATE_PROBABILITY = 1e-4
"""Minimum probability of a candidate symbol that is kept for a square."""


class Occupancy(NamedTuple):
    """The probabilities that a square is empty, that it is hidden, and that it holds a tile."""

    empty: float
    hidden: float
    tile: float


@dataclass(frozen=True, slots=True)
class SquareReading:
    """The reading of one square: its possible symbols with their probabilities, the most likely symbol first.

    A symbol in `candidates` is `.` (empty), `?` (a blank tile), `#` (hidden by a hand or by glare, or outside the
    picture) or a tile of the tile set (`A`, `Ä`, `CH`). The probabilities are in 0..1 and in descending order. Their
    sum is at most 1. Raises `ValueError` if there are no candidates.
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
        """Return the probability of `symbol`, or 0 for a symbol that is not among the candidates."""
        for candidate, probability in self.candidates:
            if candidate == symbol:
                return probability
        return 0.0

    def occupancy(self) -> Occupancy:
        """Return the probabilities that the square is empty, that it is hidden, and that it holds a tile."""
        empty = hidden = tile = 0.0
        for symbol, probability in self.candidates:
            if symbol == EMPTY:
                empty = probability
            elif symbol == HIDDEN:
                hidden = probability
            else:
                tile += probability
        return Occupancy(empty, hidden, tile)

    @property
    def is_tile(self) -> bool:
        """True if the most likely symbol is a tile (a letter or a blank)."""
        return self.symbol not in (EMPTY, HIDDEN)


@dataclass(frozen=True)
class BoardReading:
    """The readings of all 225 squares, row by row from the top left square.

    The board is read in the orientation in which the letters are upright. `orientation_confidence` is the probability
    that this orientation is correct. `offset_confidence` is the probability that the grid is not one square off, so
    that no square is confused with its neighbour. Raises `ValueError` for another number of squares.

    Some cameras mirror their pictures. If only few tiles show this, the reading is that of the flipped picture, and
    `alternative` is the reading of the picture as it is. Otherwise `alternative` is None.
    """

    squares: tuple[SquareReading, ...]
    orientation_confidence: float = 1.0
    offset_confidence: float = 1.0
    alternative: BoardReading | None = None

    def __post_init__(self) -> None:
        if len(self.squares) != BOARD_SIZE * BOARD_SIZE:
            raise ValueError(f"a board reading has {BOARD_SIZE * BOARD_SIZE} squares, got {len(self.squares)}")

    def __repr__(self) -> str:
        return f"<BoardReading with {self.tile_count} tiles, {self.symbols.count(HIDDEN)} squares hidden>"

    def __getitem__(self, at: tuple[int, int]) -> SquareReading:
        """Return the reading of the square at (row, column), both from 0."""
        row, column = at
        return self.squares[row * BOARD_SIZE + column]

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """The most likely symbol of each square."""
        return tuple([square.candidates[0][0] for square in self.squares])

    @cached_property
    def occupancy(self) -> tuple[Occupancy, ...]:
        """The probabilities of each square to be empty, to be hidden, and to hold a tile."""
        return tuple([square.occupancy() for square in self.squares])

    @property
    def tile_count(self) -> int:
        """The number of squares that are read as a tile."""
        return len(self.symbols) - self.symbols.count(EMPTY) - self.symbols.count(HIDDEN)

    @property
    def shows_tiles(self) -> bool:
        """True if at least one square is read as a tile."""
        return not {EMPTY, HIDDEN}.issuperset(self.symbols)

    def rows(self) -> tuple[tuple[str, ...], ...]:
        """Return the most likely symbols as 15 rows of 15 symbols."""
        return tuple(self.symbols[start : start + BOARD_SIZE] for start in range(0, len(self.symbols), BOARD_SIZE))

    @classmethod
    def from_rows(cls, rows: Sequence[Iterable[str]]) -> BoardReading:
        """Return a reading in which every probability is 1.

        `rows` are 15 rows of 15 symbols. A row may be a string if all its symbols have one letter.
        """
        return cls.from_symbols(chain.from_iterable(rows))

    @classmethod
    def from_symbols(cls, symbols: Iterable[str]) -> BoardReading:
        """Return a reading in which every probability is 1, from the symbols of the 225 squares (`Board.symbols`)."""
        return cls(tuple(SquareReading(((symbol, 1.0),)) for symbol in symbols))


def rank_candidates(chances: Mapping[str, float]) -> SquareReading:
    """Build a square reading with the most probable symbols; `chances` maps symbols to probabilities."""
    best = sorted(chances.items(), key=lambda item: -item[1])[:MAX_CANDIDATES]
    return SquareReading(tuple([(s, p) for s, p in best if p >= MIN_CANDIDATE_PROBABILITY] or best[:1]))


def merge_readings(readings: Sequence[BoardReading]) -> BoardReading:
    """Merge upright readings of the same board by averaging probabilities. Raises ValueError for an empty sequence.

    Pictures that one camera takes in quick succession have correlated errors. So probabilities are averaged, not
    multiplied: ten pictures with a probability of 60 % give 60 %. The average is linear (a linear opinion pool; Genest
    and Zidek, Combining probability distributions, 1986), so that one confident but wrong picture (glare, a hand, a
    moving tile) does not outweigh all others.

    A picture has a small weight for squares that are probably hidden in it. The probability that a square is hidden is
    not averaged: the lowest probability in any picture is used.

    If only few tiles show whether the pictures are mirrored, some readings may be of flipped pictures (they have an
    `alternative`) and others not. Then only the readings of the same kind as the last one are merged.
    """
    if not readings:
        raise ValueError("there is nothing to merge")
    is_flip_unsure = readings[-1].alternative is not None
    readings = [reading for reading in readings if (reading.alternative is not None) is is_flip_unsure]
    if len(readings) == 1:
        return readings[0]
    alternatives = [reading.alternative for reading in readings if reading.alternative is not None]
    readings_by_square = zip(*(reading.squares for reading in readings), strict=True)
    return BoardReading(
        tuple(map(_merge_square, readings_by_square)),
        max(reading.orientation_confidence for reading in readings),
        max(reading.offset_confidence for reading in readings),
        merge_readings(alternatives) if alternatives else None,
    )


def _merge_square(squares: Sequence[SquareReading]) -> SquareReading:
    """Merge the readings of one square in several pictures. A picture counts less if the square is hidden in it."""
    hidden_ps = [square.probability(HIDDEN) for square in squares]
    hidden = min(hidden_ps)
    # Leave out pictures in which the square is much more hidden than in the best one: the visible part may be a hand.
    is_used = [p <= hidden + (1 - hidden) / 2 for p in hidden_ps]
    total_weight = sum(1 - p for p in compress(hidden_ps, is_used))
    chances: dict[str, float] = defaultdict(float)
    if total_weight > 0:
        for square in compress(squares, is_used):
            # The probabilities of a square without hidden sum to the square's weight, so they need no factor.
            for symbol, p in square.candidates:
                if symbol != HIDDEN:
                    chances[symbol] += p * (1 - hidden) / total_weight
    if hidden > 0:
        chances[HIDDEN] = hidden
    return rank_candidates(chances)
