"""Likelihood of tiles given a reading (`Evidence`), its sum over several readings (`ReadingHistory`), and alignment.

The likelihoods mix the probabilities of the camera with the ways in which it errs: a letter read as another, a letter
washed out by glare and read as a blank, a printed square read as a tile, a tile missed. So no single square can decide
alone, however high its probability. Alignment (`align_reading`) corrects a grid that was placed one square off.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import log

from engine.board import NEIGHBOURS, SQUARES, Board, Square
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
MIN_FAINT_PROBABILITY = 0.002  # tile probability from which an empty square is remembered as one that may hold a tile
_MIN_LOG_LIKELIHOOD = log(0.01)  # floor: the weight of one reading of a square against a symbol

# Log-odds (nats), over all readings, from which a symbol replaces the recorded one.
_MIN_CORRECTION_LOG_ODDS = log(20)

_MIN_LIKELIHOOD = 1e-9  # keeps the logarithm finite
_NO_SYMBOL = ""  # stands for a symbol that is not among the candidates of a square

MIN_TILES_IN_SIGHT = 6  # with fewer visible old tiles the agreement means nothing
MIN_AGREEMENT = 0.5  # a reading with less agreement does not show this board, or not on its grid
MAX_PLAYS_TAKEN_BACK = 4  # plays withdrawn between two readings
MIN_SHIFTED_AGREEMENT = 0.8  # agreement that a shifted reading needs

_HIDDEN_SQUARE = SquareReading(((HIDDEN, 1.0),))
_SHIFTS = ((0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1))


def new_tile_likelihood(square: SquareReading, face: str) -> float:
    """Return the likelihood of `face` newly on a square: a letter, `?` for a blank, `.` for an empty square."""
    empty, hidden, tile = square.occupancy()
    if face == EMPTY:
        return empty + hidden / 2 + P_TILE_MISSED_OR_INVENTED * tile + _MIN_LIKELIHOOD
    seen = square.probability(face)
    misread = P_NEW_TILE_MISREAD * (tile - seen)
    return seen + hidden / 2 + misread + P_TILE_MISSED_OR_INVENTED * empty + _MIN_LIKELIHOOD


def old_tile_likelihood(square: SquareReading, face: str) -> float:
    """Return the likelihood of `face` on a square if it was there before this reading.

    An old tile is known, so another symbol is taken for an error of the camera more readily than for a new tile.
    """
    if face == EMPTY:
        return new_tile_likelihood(square, face)
    washed = P_LETTER_READ_AS_BLANK * square.probability(BLANK) if face != BLANK else 0.0
    _, _, tile = square.occupancy()
    misread = P_OLD_TILE_MISREAD * (tile - square.probability(face))
    return new_tile_likelihood(square, face) + washed + misread


def _has_adjacent_tile(evidence: Evidence, board: Board, square: Square) -> bool:
    return any(board[near] or near in evidence.candidate_squares for near in NEIGHBOURS[square])


def face_of(tile: Tile | None) -> str:
    """Return the symbol of a correct reading: `.` for no tile, `?` for a blank."""
    return EMPTY if tile is None else tile.face


def is_consistent(symbol: str, tile: Tile | None) -> bool:
    """Return True if `symbol` is a correct reading of `tile`; a blank may be read as its letter."""
    return symbol == EMPTY if tile is None else symbol in (tile.face, tile.letter)


def find_inconsistent_squares(reading: BoardReading, board: Board) -> list[Square]:
    """Return the squares whose most likely symbol is not a correct reading of the board."""
    pairs = zip(reading.symbols, board.squares, strict=True)
    return [
        square
        for square, (symbol, tile) in enumerate(pairs)
        if (symbol != EMPTY if tile is None else symbol not in (tile.face, tile.letter))
    ]


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
        """The log-likelihood of each square without a tile: that of `new_tile_likelihood`, and of false readings."""
        likelihoods = [
            empty + hidden / 2 + P_TILE_MISSED_OR_INVENTED * tile + _MIN_LIKELIHOOD
            for empty, hidden, tile in self.reading.occupancy
        ]
        for square in self.false_readings:
            likelihoods[square] += P_FALSE_TILE_REPEATED * self._repeated_false_probability(square)
        return tuple(map(log, likelihoods))

    def _repeated_false_probability(self, square: Square) -> float:
        """Return the tile probability that an earlier false reading of the square has in common with this one."""
        if square not in self.false_readings:
            return 0.0
        before, now = self.false_readings[square], self.reading.squares[square]
        return sum(min(p, before.probability(symbol)) for symbol, p in now.candidates if symbol not in (EMPTY, HIDDEN))

    @cached_property
    def _old_board_log_likelihoods(self) -> tuple[float, ...]:
        """The log-likelihood of each square as on the old board."""
        values = list(self._empty_log_likelihoods)
        for square in self.old_board.occupied_squares():
            tile, read = self.old_board.tile(square), self.reading.squares[square]
            symbols = {tile.face, tile.letter} if self.has_marked_blanks else {tile.face}
            values[square] = log(max([old_tile_likelihood(read, symbol) for symbol in symbols]))
        return tuple(values)

    @cached_property
    def candidate_squares(self) -> frozenset[Square]:
        """The squares that may hold a tile."""
        chances = enumerate(self.reading.occupancy)
        return frozenset([square for square, (_, _, tile) in chances if tile >= MIN_CANDIDATE_PROBABILITY])

    @cached_property
    def empty_squares(self) -> frozenset[Square]:
        """The squares that are clearly read as empty."""
        chances = enumerate(self.reading.occupancy)
        return frozenset([square for square, (empty, _, _) in chances if empty > 1 - MIN_CANDIDATE_PROBABILITY])

    @cached_property
    def hidden_squares(self) -> frozenset[Square]:
        """The squares that are clearly hidden."""
        chances = enumerate(self.reading.occupancy)
        return frozenset([square for square, (_, hidden, _) in chances if hidden > MIN_CLEAR_PROBABILITY])

    @cached_property
    def clear_tile_squares(self) -> frozenset[Square]:
        """The squares clearly read as a tile, beyond what an earlier false reading explains."""
        chances = {square: self.reading.occupancy[square][2] for square in self.candidate_squares}
        return frozenset(
            [s for s, tile in chances.items() if tile - self._repeated_false_probability(s) > MIN_CLEAR_PROBABILITY]
        )

    def board_log_likelihood(self, board: Board) -> float:
        """Return the log-likelihood (nats) of a board given the whole reading."""
        values = list(self._old_board_log_likelihoods)
        for square in board.differences(self.old_board):
            values[square] = self.tile_log_likelihood(square, board[square])
        return sum(values)

    def tile_log_likelihood(self, square: Square, tile: Tile | None) -> float:
        """Return the log-likelihood (nats) of `tile` on a square; the tile of `old_board` counts as old."""
        if tile is None:
            return self._empty_log_likelihoods[square]
        if tile == self.old_board[square]:
            return self._old_board_log_likelihoods[square]
        return self.new_tile_log_likelihood(square, tile)

    def empty_log_likelihood(self, square: Square) -> float:
        """Return the log-likelihood (nats) of no tile on a square."""
        return self._empty_log_likelihoods[square]

    def new_tile_log_likelihood(self, square: Square, tile: Tile) -> float:
        """Return the log-likelihood (nats) of a tile newly on a square."""
        marked = P_BLANK_MARKED if tile.is_blank and tile.letter != BLANK else 1.0
        return log(marked * self.symbol_likelihoods(square)[tile.letter])

    def symbol_likelihoods(self, square: Square) -> Mapping[str, float]:
        """Return the likelihood of each symbol for a tile newly on a square; it has a value for any symbol."""
        if square not in self._symbol_likelihoods:
            read = self.reading.squares[square]
            other = new_tile_likelihood(read, _NO_SYMBOL)
            values = {symbol: new_tile_likelihood(read, symbol) for symbol, _ in read.candidates}
            if before := self.false_readings.get(square):
                for symbol, probability in read.candidates:
                    values[symbol] -= P_FALSE_TILE_REPEATED * min(probability, before.probability(symbol))
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


def _add_log_likelihoods(before: Mapping[str, float], read: SquareReading) -> dict[str, float]:
    """Return the sums of log-likelihoods of an old tile's symbols after one more reading of its square."""
    symbols = set(before) | {symbol for symbol, _ in read.candidates} - {HIDDEN}
    never = min(_MIN_LOG_LIKELIHOOD, *before.values()) if before else 0.0
    return {s: before.get(s, never) + max(_MIN_LOG_LIKELIHOOD, log(old_tile_likelihood(read, s))) for s in symbols}


@dataclass(frozen=True, slots=True)
class ReadingHistory:
    """The sum of all readings of each tile on the board since it was placed.

    `log_likelihoods` maps a square to the symbols reported there and the sum of their log-likelihoods, in nats. An old
    tile without an entry counts as read once, clearly, as recorded. `false_readings` maps squares where an isolated
    tile was seen and judged to be a mistake to those readings. `faint_tiles` maps the squares that the last reading
    took for empty to the probability of a tile there, from `MIN_FAINT_PROBABILITY`. `strange_count` counts the readings
    since the last one of this game's board.

    The history is not stored with the events: after a restart it is empty. A misread tile is then corrected one reading
    later, and the question about a false reading is asked once more.
    """

    log_likelihoods: Mapping[Square, Mapping[str, float]] = field(default_factory=dict)
    false_readings: Mapping[Square, SquareReading] = field(default_factory=dict)
    strange_count: int = 0
    faint_tiles: Mapping[Square, float] = field(default_factory=dict)

    def with_reading(self, reading: BoardReading, old: Board, squares: Iterable[Square] = SQUARES) -> ReadingHistory:
        """Return the history of `squares` after one more reading; those without a tile on `old` start again from it."""
        sums: dict[Square, Mapping[str, float]] = {}
        for square in squares:
            tile, (empty, hidden, _) = old.squares[square], reading.occupancy[square]
            if tile is None and empty > 1 - MIN_CANDIDATE_PROBABILITY:
                continue
            before = (self.log_likelihoods.get(square) or {tile.face: 0.0}) if tile else {}
            sums[square] = (
                before if hidden > MIN_CLEAR_PROBABILITY else _add_log_likelihoods(before, reading.squares[square])
            )
        chances = enumerate(reading.occupancy)
        faint = {s: tile for s, (empty, _, tile) in chances if MIN_FAINT_PROBABILITY <= tile < empty}
        return replace(self, log_likelihoods=sums, faint_tiles=faint)

    def with_false_readings(self, evidence: Evidence, board: Board) -> ReadingHistory:
        """Return the history after a reading has been explained by `board`.

        An isolated tile that was read where the board has none counts as a false reading.
        """
        squares = evidence.reading.squares
        known = {
            s: read for s, read in self.false_readings.items() if board[s] is None and s not in evidence.empty_squares
        }
        loose = [s for s in evidence.candidate_squares if board.squares[s] is None]
        alone = {s: squares[s] for s in loose if not _has_adjacent_tile(evidence, board, s)}
        return replace(self, false_readings={**alone, **known})

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
    in_sight = {
        square
        for square, (tile, (_, hidden, _)) in enumerate(zip(board.squares, reading.occupancy, strict=True))
        if tile and square not in ignored_squares and hidden <= MIN_CLEAR_PROBABILITY
    }
    if len(in_sight) < MIN_TILES_IN_SIGHT:
        return None
    wrong = in_sight.intersection(find_inconsistent_squares(reading, board))
    return (len(in_sight) - len(wrong)) / len(in_sight)


def shift_reading(reading: BoardReading, rows: int, columns: int) -> BoardReading:
    """Return the reading moved `rows` down and `columns` to the right; squares without a reading are hidden."""
    squares = []
    for square in SQUARES:
        row, column = square // BOARD_SIZE - rows, square % BOARD_SIZE - columns
        inside = 0 <= row < BOARD_SIZE and 0 <= column < BOARD_SIZE
        squares.append(reading[row, column] if inside else _HIDDEN_SQUARE)
    return replace(reading, squares=tuple(squares))


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
    few = 1 if reading.shows_tiles else MAX_PLAYS_TAKEN_BACK
    return {square for placements in plays[:few] for square, _ in placements}
