"""Likelihood of tiles given a reading (`Evidence`), its sum over several readings (`ReadingHistory`), and alignment.

The likelihoods mix the probabilities of the camera with the ways in which it errs: a letter read as another, a letter
washed out by glare and read as a blank, a printed square read as a tile, a tile missed. So no single square can decide
alone, however high its probability. Alignment (`align_reading`) corrects a grid that was placed one square off.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import log

from engine.board import SQUARES, Board, Square
from engine.game import Game
from engine.reading import BLANK, BOARD_SIZE, EMPTY, HIDDEN, BoardReading, SquareReading
from engine.state import TurnKind
from engine.tiles import Tile

P_OLD_TILE_MISREAD = 0.01  # an old tile is read as another letter
P_NEW_TILE_MISREAD = 0.0005  # a new tile is read as another letter: for each letter that it might be
P_LETTER_READ_AS_BLANK = 0.1  # an old letter is read as a blank: glare, a shadow, a hand
P_TILE_MISSED_OR_INVENTED = 0.002  # an empty square is read as a tile, or a tile as an empty square
P_BLANK_MARKED = 0.02  # a letter is written on a blank
P_FALSE_TILE_REPEATED = 0.8  # an empty square that was once read as a tile is read as a tile again
MIN_CANDIDATE_PROBABILITY = 0.05  # tile probability from which a square may hold a tile
MIN_CLEAR_PROBABILITY = 0.5  # probability above which a symbol counts as clearly read
_MIN_LOG_LIKELIHOOD = log(0.01)  # floor: the weight of one reading of a square against a symbol

# Log-odds (nats), over all readings, from which a symbol replaces the recorded one.
_MIN_CORRECTION_LOG_ODDS = log(20)

MIN_TILES_IN_SIGHT = 6  # with fewer visible old tiles the agreement means nothing
MIN_AGREEMENT = 0.5  # a reading with less agreement does not show this board, or not on its grid
MAX_PLAYS_TAKEN_BACK = 4  # plays withdrawn between two readings
MIN_SHIFTED_AGREEMENT = 0.8  # agreement that a shifted reading needs

_HIDDEN_SQUARE = SquareReading(((HIDDEN, 1.0),))
_SHIFTS = ((0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1))


def tile_probability(square: SquareReading) -> float:
    """Return the probability that a square holds a tile, whatever its letter."""
    return sum(p for symbol, p in square.candidates if symbol not in (EMPTY, HIDDEN))


def new_tile_likelihood(square: SquareReading, face: str) -> float:
    """Return the likelihood of `face` newly on a square: a letter, `?` for a blank, `.` for an empty square."""
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
    """Return the likelihood of `face` on a square if it was there before this reading.

    An old tile is known, so another symbol is taken for an error of the camera more readily than for a new tile.
    """
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
    """Return the symbol of a correct reading: `.` for no tile, `?` for a blank."""
    return EMPTY if tile is None else tile.face


def is_consistent(symbol: str, tile: Tile | None) -> bool:
    """Return True if `symbol` is a correct reading of `tile`; a blank may be read as its letter."""
    return symbol == face_of(tile) or (tile is not None and symbol == tile.letter)


@dataclass(frozen=True)
class Evidence:
    """A reading made after `old_board` was recorded, and the log-likelihood of boards given it.

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
        """Return the symbol that can be read on a tile: the letter of a blank if blanks may be marked."""
        return tile.letter if tile and self.has_marked_blanks else face_of(tile)

    def _repeated_false_probability(self, square: Square) -> float:
        """Return the tile probability that an earlier false reading of the square has in common with this one."""
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
        """The squares that may hold a tile."""
        return frozenset(s for s in SQUARES if tile_probability(self.reading.squares[s]) >= MIN_CANDIDATE_PROBABILITY)

    @cached_property
    def empty_squares(self) -> frozenset[Square]:
        """The squares that are clearly read as empty."""
        return frozenset(
            s for s in SQUARES if self.reading.squares[s].probability(EMPTY) > 1 - MIN_CANDIDATE_PROBABILITY
        )

    @cached_property
    def clear_tile_squares(self) -> frozenset[Square]:
        """The squares clearly read as a tile, beyond what an earlier false reading explains."""
        return frozenset(
            s
            for s in self.candidate_squares
            if tile_probability(self.reading.squares[s]) - self._repeated_false_probability(s) > MIN_CLEAR_PROBABILITY
        )

    def board_log_likelihood(self, board: Board) -> float:
        """Return the log-likelihood (nats) of a board given the whole reading."""
        return sum(self.tile_log_likelihood(square, tile) for square, tile in enumerate(board.squares))

    def tile_log_likelihood(self, square: Square, tile: Tile | None) -> float:
        """Return the log-likelihood (nats) of `tile` on a square; the tile of `old_board` counts as old."""
        if tile is None:
            return self._empty_log_likelihoods[square]
        return (
            self._old_log_likelihoods[square]
            if tile == self.old_board[square]
            else self.new_tile_log_likelihood(square, tile)
        )

    def empty_log_likelihood(self, square: Square) -> float:
        """Return the log-likelihood (nats) of no tile on a square."""
        return self._empty_log_likelihoods[square]

    def new_tile_log_likelihood(self, square: Square, tile: Tile) -> float:
        """Return the log-likelihood (nats) of a tile newly on a square."""
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
        """Return the evidence with the readings of two squares exchanged."""
        squares = list(self.reading.squares)
        squares[one], squares[other] = squares[other], squares[one]
        return replace(self, reading=BoardReading(tuple(squares)))

    def is_hidden(self, square: Square) -> bool:
        """Return True if the square is clearly hidden."""
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
        """Return the history after one more reading; squares without a tile on `old` start again from it."""
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
        """Return the history after a reading has been explained by `board`.

        An isolated tile that was read where the board has none counts as a false reading.
        """
        squares = evidence.reading.squares
        known = {
            s: read for s, read in self.false_readings.items() if board[s] is None and s not in evidence.empty_squares
        }
        alone = (
            s for s in evidence.candidate_squares if board[s] is None and not _has_adjacent_tile(evidence, board, s)
        )
        return replace(self, false_readings={**{s: squares[s] for s in alone}, **known})

    def find_contradictions(self, board: Board) -> dict[Square, str]:
        """Return the squares of old tiles that all readings together contradict, with the symbol that they support."""
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


def measure_agreement(board: Board, reading: BoardReading, ignored_squares: Collection[Square] = ()) -> float | None:
    """Return the share (0..1) of the visible old tiles that are read as recorded; None if too few are visible.

    Tiles on `ignored_squares` do not count.
    """
    reads = [(reading.squares[s], board[s]) for s in board.occupied_squares() if s not in ignored_squares]
    in_sight = [(read, tile) for read, tile in reads if read.probability(HIDDEN) <= MIN_CLEAR_PROBABILITY]
    if len(in_sight) < MIN_TILES_IN_SIGHT:
        return None
    return sum(is_consistent(read.symbol, tile) for read, tile in in_sight) / len(in_sight)


def shift_reading(reading: BoardReading, rows: int, columns: int) -> BoardReading:
    """Return the reading moved `rows` down and `columns` to the right; squares without a reading are hidden."""
    squares = []
    for square in SQUARES:
        row, column = square // BOARD_SIZE - rows, square % BOARD_SIZE - columns
        inside = 0 <= row < BOARD_SIZE and 0 <= column < BOARD_SIZE
        squares.append(reading[row, column] if inside else _HIDDEN_SQUARE)
    return BoardReading(tuple(squares))


def align_reading(game: Game, reading: BoardReading) -> BoardReading | None:
    """Return the reading, moved by one square if its grid was off; None if it does not show this game's board."""
    if game.rules.rearrange or game.rules.recycle:
        return reading  # these rules allow any old tile to change
    without = _find_removable_squares(game, reading)
    share = measure_agreement(game.board, reading, without)
    if share is None or share >= MIN_AGREEMENT:
        return reading
    moved = [shift_reading(reading, rows, columns) for rows, columns in _SHIFTS]
    best = max(moved, key=lambda one: measure_agreement(game.board, one, without) or 0.0)
    return best if (measure_agreement(game.board, best, without) or 0.0) >= MIN_SHIFTED_AGREEMENT else None


def _find_removable_squares(game: Game, reading: BoardReading) -> set[Square]:
    """Return the squares of the last play, which may have been withdrawn.

    If no tile is visible at all, those of the last `MAX_PLAYS_TAKEN_BACK` plays.
    """
    plays = [turn.placements for turn in reversed(game.turns) if turn.kind is TurnKind.PLAY and turn.stands]
    few = 1 if any(read.is_tile for read in reading.squares) else MAX_PLAYS_TAKEN_BACK
    return {square for placements in plays[:few] for square, _ in placements}
