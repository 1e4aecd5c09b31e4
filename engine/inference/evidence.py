"""Compute likelihoods of tiles and boards, given one reading.

The likelihoods combine the probabilities in a reading with the probabilities of reading errors. Errors are: a letter
read as another letter, a letter read as a blank because of glare, a printed square read as a tile, and a missed tile.
So even a very high probability on a single square cannot decide between explanations.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import log

from engine.board import Board, Square
from engine.reading import BLANK, EMPTY, HIDDEN, BoardReading, SquareReading
from engine.tiles import Tile

P_OLD_TILE_MISREAD = 0.01
"""Probability that an old tile is read as another letter."""
P_NEW_TILE_MISREAD = 0.0005
"""Probability that a new tile is read as one particular other letter."""
P_LETTER_READ_AS_BLANK = 0.1
"""Probability that an old letter is read as a blank, because of glare, a shadow or a hand."""
P_TILE_MISSED_OR_INVENTED = 0.002
"""Probability that an empty square is read as a tile, and that a tile is read as an empty square."""
P_BLANK_MARKED = 0.02
"""Probability that a letter is written on a blank."""
P_FALSE_TILE_REPEATED = 0.8
"""Probability that an empty square that was once read as a tile is read as a tile again."""
MIN_TILE_PROBABILITY = 0.05
"""Minimum tile probability of a square that may hold a tile."""
MIN_CLEAR_PROBABILITY = 0.5
"""Minimum probability of a symbol that counts as clearly read."""
_MIN_LIKELIHOOD = 1e-9
"""Minimum likelihood, which keeps the logarithm finite."""
_NO_SYMBOL = ""
"""Stands for a symbol that is not among the candidates of a square."""


def new_tile_likelihood(square: SquareReading, face: str) -> float:
    """Return the likelihood of a new tile with `face` on a square: a letter, `?` for a blank, `.` for no tile.

    A hidden square counts half for every face, so it speaks neither for a tile nor against it.
    """
    empty, hidden, tile = square.occupancy()
    if face == EMPTY:
        return _empty_likelihood(empty, hidden, tile)
    correct = square.probability(face)
    misread = P_NEW_TILE_MISREAD * (tile - correct)
    return correct + hidden / 2 + misread + P_TILE_MISSED_OR_INVENTED * empty + _MIN_LIKELIHOOD


def _empty_likelihood(empty: float, hidden: float, tile: float) -> float:
    return empty + hidden / 2 + P_TILE_MISSED_OR_INVENTED * tile + _MIN_LIKELIHOOD


def old_tile_likelihood(square: SquareReading, face: str) -> float:
    """Return the likelihood of an old tile with `face`, a tile that was recorded before the reading.

    A reading error is assumed to be more probable for an old tile than for a new tile.
    """
    if face == EMPTY:
        return new_tile_likelihood(square, face)
    misread = P_OLD_TILE_MISREAD * (square.occupancy().tile - square.probability(face))
    return new_tile_likelihood(square, face) + glare_likelihood(square, face) + misread


def glare_likelihood(square: SquareReading, face: str) -> float:
    """Return the likelihood of a letter `face` that is read as a blank, because of glare, a shadow or a hand."""
    return P_LETTER_READ_AS_BLANK * square.probability(BLANK) if face != BLANK else 0.0


def face_of(tile: Tile | None) -> str:
    """Return the symbol for a tile in a correct reading: a letter, `?` for a blank, or `.` for no tile."""
    return EMPTY if tile is None else tile.face


def tile_confidence(read: SquareReading, tile: Tile | None) -> float:
    """Return the probability of `tile` in the reading of a square. A blank may be read as its letter."""
    return max(read.probability(face_of(tile)), read.probability(tile.letter) if tile else 0.0)


def is_consistent(symbol: str, tile: Tile | None) -> bool:
    """Return True if `symbol` is a correct reading of `tile`. The letter of a blank is also a correct reading."""
    return symbol == EMPTY if tile is None else symbol in (tile.face, tile.letter)


def find_inconsistent_squares(reading: BoardReading, board: Board) -> list[Square]:
    """Return the squares on which `reading` differs from `board`. A blank may be read as a blank or as its letter."""
    pairs = zip(reading.symbols, board.squares, strict=True)
    return [square for square, (symbol, tile) in enumerate(pairs) if not is_consistent(symbol, tile)]


@dataclass(frozen=True)
class Evidence:
    """A reading made after `old_board` was recorded, with methods for the log-likelihood of boards and tiles.

    `false_readings` has earlier readings of tiles on empty squares: print, a stain, or a tile of the next play.
    `has_marked_blanks` is True if players may write the letter of a named blank on the tile; that letter is then also a
    correct reading of the blank.
    """

    reading: BoardReading
    old_board: Board
    false_readings: Mapping[Square, SquareReading] = field(default_factory=dict)
    has_marked_blanks: bool = True

    @cached_property
    def empty_log_likelihoods(self) -> tuple[float, ...]:
        """The log-likelihood (nats) that each square is empty.

        A repeated false reading (`false_readings`) hardly reduces the log-likelihood, because print or a stain stays on
        its square.
        """
        likelihoods = [_empty_likelihood(*occupancy) for occupancy in self.reading.occupancy]
        for square in self.false_readings:
            likelihoods[square] += P_FALSE_TILE_REPEATED * self._repeated_false_probability(square)
        return tuple(map(log, likelihoods))

    def _repeated_false_probability(self, square: Square) -> float:
        """Return the part (0..1) of a square's tile probability that repeats an earlier false reading.

        This is the sum over all tile symbols. For each symbol, the lower of the earlier and the present probability
        counts.
        """
        if square not in self.false_readings:
            return 0.0
        before, now = self.false_readings[square], self.reading.squares[square]
        return sum(min(p, before.probability(symbol)) for symbol, p in now.candidates if symbol not in (EMPTY, HIDDEN))

    @cached_property
    def _old_board_log_likelihoods(self) -> tuple[float, ...]:
        """The log-likelihood (nats) that each square is the same as on the old board."""
        values = list(self.empty_log_likelihoods)
        for square in self.old_board.occupied_squares():
            tile, read = self.old_board.tile(square), self.reading.squares[square]
            symbols = {tile.face, tile.letter} if self.has_marked_blanks else {tile.face}
            values[square] = log(max([old_tile_likelihood(read, symbol) for symbol in symbols]))
        return tuple(values)

    @cached_property
    def candidate_squares(self) -> frozenset[Square]:
        """The squares with a tile probability of at least `MIN_TILE_PROBABILITY`."""
        squares = enumerate(self.reading.occupancy)
        return frozenset([s for s, occupancy in squares if occupancy.tile >= MIN_TILE_PROBABILITY])

    @cached_property
    def empty_squares(self) -> frozenset[Square]:
        """The squares that are clearly read as empty."""
        squares = enumerate(self.reading.occupancy)
        return frozenset([s for s, occupancy in squares if occupancy.empty > 1 - MIN_TILE_PROBABILITY])

    @cached_property
    def hidden_squares(self) -> frozenset[Square]:
        """The squares that are clearly hidden."""
        squares = enumerate(self.reading.occupancy)
        return frozenset([s for s, occupancy in squares if occupancy.hidden > MIN_CLEAR_PROBABILITY])

    @cached_property
    def clear_tile_squares(self) -> frozenset[Square]:
        """The squares that are clearly read as a tile. Tiles that repeat an earlier false reading are left out."""
        occupancy, repeated = self.reading.occupancy, self._repeated_false_probability
        return frozenset([s for s in self.candidate_squares if occupancy[s].tile - repeated(s) > MIN_CLEAR_PROBABILITY])

    def board_log_likelihood(self, board: Board) -> float:
        """Return the log-likelihood (nats) of a board given the whole reading."""
        values = list(self._old_board_log_likelihoods)
        for square in board.differences(self.old_board):
            values[square] = self.tile_log_likelihood(square, board[square])
        return sum(values)

    def tile_log_likelihood(self, square: Square, tile: Tile | None) -> float:
        """Return the log-likelihood (nats) that `tile` is on a square; None means that the square is empty."""
        if tile is None:
            return self.empty_log_likelihoods[square]
        if tile == self.old_board[square]:
            return self._old_board_log_likelihoods[square]
        return self.new_tile_log_likelihood(square, tile)

    def new_tile_log_likelihood(self, square: Square, tile: Tile) -> float:
        """Return the log-likelihood (nats) of a new tile on a square."""
        marked = P_BLANK_MARKED if tile.is_blank and tile.letter != BLANK else 1.0
        return log(marked * self.symbol_likelihoods(square)[tile.letter])

    def drop_unseen_letter(self, square: Square, tile: Tile) -> Tile:
        """Return `tile`; a blank that is read as a blank on this square is returned without its letter."""
        is_read_as_blank = tile.is_blank and self.reading.squares[square].symbol == BLANK
        return Tile.unnamed() if is_read_as_blank else tile

    def symbol_likelihoods(self, square: Square) -> Mapping[str, float]:
        """Return the likelihood of each symbol for a new tile on a square.

        The mapping also has a value for symbols that are not in the reading.
        """
        if square not in self._symbol_likelihoods:
            read = self.reading.squares[square]
            other = new_tile_likelihood(read, _NO_SYMBOL)
            values = {symbol: new_tile_likelihood(read, symbol) for symbol, _ in read.candidates}
            self._symbol_likelihoods[square] = defaultdict(lambda: other, values)
        return self._symbol_likelihoods[square]

    @cached_property
    def _symbol_likelihoods(self) -> dict[Square, Mapping[str, float]]:
        """Cache of `symbol_likelihoods`."""
        return {}

    def with_swapped_squares(self, one: Square, other: Square) -> Evidence:
        """Return the evidence with the readings of two squares exchanged."""
        squares = list(self.reading.squares)
        squares[one], squares[other] = squares[other], squares[one]
        return replace(self, reading=BoardReading(tuple(squares)))
