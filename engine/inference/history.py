"""What a reading says for and against a tile on a square, and what earlier readings said.

The likelihoods mix what the camera reports with the ways in which it errs: a letter taken for another, a letter washed
out by glare and taken for a blank, a printed square taken for a tile, a tile not seen. So no single square can decide
alone, however sure the camera is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import log

from engine.board import Board
from engine.reading import BLANK, EMPTY, HIDDEN, BoardReading, SquareReading
from engine.squares import SQUARES, Square
from engine.tiles import Tile

P_OLD_TILE_MISREAD = 0.01  # an old tile is reported as another letter
P_NEW_TILE_MISREAD = 0.0005  # a new tile is reported as another letter: this for each letter that it might be
P_LETTER_READ_AS_BLANK = 0.1  # an old letter is reported as a blank: glare, a shadow, a hand
P_TILE_MISSED_OR_INVENTED = 0.002  # a tile is reported where none lies, or none where one lies
P_BLANK_MARKED = 0.02  # a blank bears a letter: somebody wrote on it
P_FALSE_TILE_REPEATED = 0.8  # what was once seen where nothing lies is seen there again
MIN_CANDIDATE_PROBABILITY = 0.05  # a square may hold a tile when at least so much of its probability says so
MIN_CLEAR_PROBABILITY = 0.5
_MIN_LOG_LIKELIHOOD = log(0.01)  # no single reading of a square counts for more than this against a symbol

# How much better than the record another symbol must be, over all readings, before the record is put right.
_MIN_CORRECTION_LOG_ODDS = log(20)


def tile_probability(square: SquareReading) -> float:
    """The probability that a tile, whichever, lies on a square."""
    return sum(p for symbol, p in square.candidates if symbol not in (EMPTY, HIDDEN))


def new_tile_likelihood(square: SquareReading, face: str) -> float:
    """How well a reading agrees with this newly on the square: a tile, `?` a blank, `.` nothing."""
    seen = square.probability(face)
    hidden = square.probability(HIDDEN) / 2
    tile = tile_probability(square)
    if face == EMPTY:
        return seen + hidden + P_TILE_MISSED_OR_INVENTED * tile + 1e-9
    return (
        seen
        + hidden
        + P_NEW_TILE_MISREAD * (tile - seen)
        + P_TILE_MISSED_OR_INVENTED * square.probability(EMPTY)
        + 1e-9
    )


def old_tile_likelihood(square: SquareReading, face: str) -> float:
    """How well a reading agrees with this on the square when it has been there for a while."""
    if face == EMPTY:
        return new_tile_likelihood(square, face)
    washed = P_LETTER_READ_AS_BLANK * square.probability(BLANK) if face != BLANK else 0.0
    return (
        new_tile_likelihood(square, face)
        + washed
        + P_OLD_TILE_MISREAD * (tile_probability(square) - square.probability(face))
    )


def _has_adjacent_tile(evidence: Evidence, board: Board, square: Square) -> bool:
    return any(board[near] or near in evidence.candidate_squares for near in board.neighbours(square))


def face_of(tile: Tile | None) -> str:
    """What a reading should report for a square of the board."""
    return EMPTY if tile is None else tile.face


def is_consistent(symbol: str, tile: Tile | None) -> bool:
    """True when a reading reports what lies there; a blank with a letter on it may be read as that letter."""
    return symbol == face_of(tile) or (tile is not None and symbol == tile.letter)


@dataclass(frozen=True)
class Evidence:
    """A reading made after `old_board` was recorded, with the likelihood of each board that may explain it.

    `false_readings` maps squares where earlier readings reported a tile by mistake (print, a stain) to those readings.
    `has_marked_blanks` is True if a letter may be written on a named blank, so that reading this letter does not
    contradict the blank.
    """

    reading: BoardReading
    old_board: Board
    false_readings: Mapping[Square, SquareReading] = field(default_factory=dict)
    has_marked_blanks: bool = True

    @cached_property
    def _empty_log_likelihoods(self) -> tuple[float, ...]:
        return tuple(
            log(new_tile_likelihood(square, EMPTY) + P_FALSE_TILE_REPEATED * self._repeated_false_probability(place))
            for place, square in enumerate(self.reading.squares)
        )

    def _visible_symbol(self, tile: Tile | None) -> str:
        """What can be read on a tile: a letter on a blank too, if somebody wrote it there."""
        return tile.letter if tile and self.has_marked_blanks else face_of(tile)

    def _repeated_false_probability(self, square: Square) -> float:
        """How much of what is seen on a square was seen there before, though nothing lay there."""
        if square not in self.false_readings:
            return 0.0
        before, now = self.false_readings[square], self.reading.squares[square]
        return sum(min(p, before.probability(symbol)) for symbol, p in now.candidates if symbol not in (EMPTY, HIDDEN))

    @cached_property
    def _old_log_likelihoods(self) -> tuple[float, ...]:
        return tuple(
            log(max(old_tile_likelihood(square, symbol) for symbol in {face_of(tile), self._visible_symbol(tile)}))
            for square, tile in zip(self.reading.squares, self.old_board.squares, strict=True)
        )

    @cached_property
    def candidate_squares(self) -> frozenset[Square]:
        """The squares on which a tile may lie."""
        return frozenset(s for s in SQUARES if tile_probability(self.reading.squares[s]) >= MIN_CANDIDATE_PROBABILITY)

    @cached_property
    def empty_squares(self) -> frozenset[Square]:
        """The squares that are seen to be empty."""
        return frozenset(
            s for s in SQUARES if self.reading.squares[s].probability(EMPTY) > 1 - MIN_CANDIDATE_PROBABILITY
        )

    @cached_property
    def clear_tile_squares(self) -> frozenset[Square]:
        """The squares on which a tile is seen, and not just what was falsely seen there before."""
        return frozenset(
            s
            for s in self.candidate_squares
            if tile_probability(self.reading.squares[s]) - self._repeated_false_probability(s) > MIN_CLEAR_PROBABILITY
        )

    def board_log_likelihood(self, board: Board) -> float:
        """How well the whole reading agrees with a board."""
        return sum(self.tile_log_likelihood(square, tile) for square, tile in enumerate(board.squares))

    def tile_log_likelihood(self, square: Square, tile: Tile | None) -> float:
        """The log-likelihood of a tile on a square, an old one or a new one."""
        if tile is None:
            return self._empty_log_likelihoods[square]
        return (
            self._old_log_likelihoods[square]
            if tile == self.old_board[square]
            else self.new_tile_log_likelihood(square, tile)
        )

    def empty_log_likelihood(self, square: Square) -> float:
        """The log-likelihood of nothing on a square."""
        return self._empty_log_likelihoods[square]

    def new_tile_log_likelihood(self, square: Square, tile: Tile) -> float:
        """The log-likelihood of a tile newly on a square."""
        known = self._new_tile_log_likelihoods.get((square, tile))
        if known is None:
            known = self._new_tile_log_likelihoods[square, tile] = self._compute_new_tile_log_likelihood(square, tile)
        return known

    @cached_property
    def _new_tile_log_likelihoods(self) -> dict[tuple[Square, Tile], float]:
        return {}

    def _compute_new_tile_log_likelihood(self, square: Square, tile: Tile) -> float:
        read, symbol = self.reading.squares[square], tile.letter
        again = (
            min(read.probability(symbol), self.false_readings[square].probability(symbol))
            if square in self.false_readings
            else 0.0
        )
        marked = P_BLANK_MARKED if tile.is_blank and not tile.is_unnamed else 1.0
        return log(marked * (new_tile_likelihood(read, symbol) - P_FALSE_TILE_REPEATED * again))

    def with_swapped_squares(self, one: Square, other: Square) -> Evidence:
        """The evidence if the tile seen on one square lay on the other."""
        squares = list(self.reading.squares)
        squares[one], squares[other] = squares[other], squares[one]
        return replace(self, reading=BoardReading(tuple(squares)))

    def is_hidden(self, square: Square) -> bool:
        """True when the square cannot be seen."""
        return self.reading.squares[square].probability(HIDDEN) > MIN_CLEAR_PROBABILITY


@dataclass(frozen=True, slots=True)
class ReadingHistory:
    """The sum of all readings of each tile on the board since it was placed.

    `log_likelihoods` maps a square to the symbols reported there and the sum of their log-likelihoods, in nats. An old
    tile without an entry counts as read once, clearly, as recorded. `false_readings` maps squares where an isolated
    tile was seen and judged to be a mistake to those readings. `strange_count` counts the readings since the last one
    of this game's board.

    The history is not stored with the events: after a restart it is empty. A misread tile is then corrected one reading
    later, and the question about a false reading is asked once more.
    """

    log_likelihoods: Mapping[Square, Mapping[str, float]] = field(default_factory=dict)
    false_readings: Mapping[Square, SquareReading] = field(default_factory=dict)
    strange_count: int = 0

    def with_reading(self, reading: BoardReading, old: Board) -> ReadingHistory:
        """The memory after one more reading; squares without an `old` tile begin anew with it."""
        said: dict[Square, Mapping[str, float]] = {}
        for square in SQUARES:
            read, tile = reading.squares[square], old[square]
            if tile is None:
                before: Mapping[str, float] = {}
                if read.probability(EMPTY) > 1 - MIN_CANDIDATE_PROBABILITY:
                    continue
            else:
                before = self.log_likelihoods.get(square) or {tile.face: 0.0}
            if read.probability(HIDDEN) > MIN_CLEAR_PROBABILITY:
                said[square] = before
                continue
            symbols = set(before) | {symbol for symbol, _ in read.candidates} - {HIDDEN}
            never = min(_MIN_LOG_LIKELIHOOD, *before.values()) if before else 0.0
            said[square] = {
                s: before.get(s, never) + max(_MIN_LOG_LIKELIHOOD, log(old_tile_likelihood(read, s))) for s in symbols
            }
        return replace(self, log_likelihoods=said)

    def with_false_readings(self, evidence: Evidence, board: Board) -> ReadingHistory:
        """The memory once the reading has been explained by a board: what else was seen, alone, was false."""
        squares = evidence.reading.squares
        known = {
            s: read for s, read in self.false_readings.items() if board[s] is None and s not in evidence.empty_squares
        }
        alone = (
            s for s in evidence.candidate_squares if board[s] is None and not _has_adjacent_tile(evidence, board, s)
        )
        return replace(self, false_readings={**{s: squares[s] for s in alone}, **known})

    def find_contradictions(self, board: Board) -> dict[Square, str]:
        """The old tiles that all readings together contradict, with the symbol that they say instead."""
        found: dict[Square, str] = {}
        for square in board.occupied_squares():
            said = self.log_likelihoods.get(square)
            if not said:
                continue
            best = max(said, key=lambda symbol: said[symbol])
            face = face_of(board[square])
            if (
                not is_consistent(best, board[square])
                and said[best] - said.get(face, min(said.values())) > _MIN_CORRECTION_LOG_ODDS
            ):
                found[square] = best
        return found
