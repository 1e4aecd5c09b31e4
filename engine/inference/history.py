"""Compute likelihoods of tiles, given one reading (`Evidence`) or several (`ReadingHistory`), and align readings.

The likelihoods combine the probabilities in a reading with the probabilities of reading errors. Errors are: a letter
read as another letter, a letter read as a blank because of glare, a printed square read as a tile, and a missed tile.
So even a very high probability on a single square cannot decide between explanations. Alignment (`align_reading`)
corrects a grid that was placed one square off.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from math import log

from engine.board import NEIGHBOURS, SQUARES, Board, Square
from engine.game import Game
from engine.reading import BLANK, BOARD_SIZE, EMPTY, HIDDEN, BoardReading, SquareReading
from engine.tiles import Tile

P_OLD_TILE_MISREAD = 0.01  # an old tile is read as another letter
P_NEW_TILE_MISREAD = 0.0005  # a new tile is read as one particular other letter
P_LETTER_READ_AS_BLANK = 0.1  # an old letter is read as a blank because of glare, a shadow or a hand
P_TILE_MISSED_OR_INVENTED = 0.002  # an empty square is read as a tile, or a tile as an empty square
P_BLANK_MARKED = 0.02  # a letter is written on a blank
P_FALSE_TILE_REPEATED = 0.8  # an empty square that was once read as a tile is read as a tile again
MIN_CANDIDATE_PROBABILITY = 0.05  # minimum tile probability of a square that may hold a tile
MIN_CLEAR_PROBABILITY = 0.5  # minimum probability of a symbol that counts as clearly read
MIN_EARLIER_TILE_PROBABILITY = 0.005  # minimum tile probability, in the last reading, of a tile there
MIN_FAINT_PROBABILITY = 0.002  # minimum tile probability of a square in `faint_tiles`
_MIN_LOG_LIKELIHOOD = log(0.01)  # floor for one reading of a square, so that one reading cannot exclude a symbol
NO_EVIDENCE = _MIN_LOG_LIKELIHOOD  # for a guessed letter: as for all other letters, so that the first reading decides

# Minimum log-odds (nats), over all readings, with which another symbol replaces the recorded tile.
_MIN_CORRECTION_LOG_ODDS = log(20)

_MIN_LIKELIHOOD = 1e-9  # keeps the logarithm finite
_NO_SYMBOL = ""  # stands for a symbol that is not among the candidates of a square

MIN_TILES_IN_SIGHT = 6  # minimum number of visible old tiles for a reliable agreement
MIN_AGREEMENT = 0.5  # if it is lower, the reading shows another board, or its grid is misplaced
MAX_PLAYS_TAKEN_BACK = 4  # maximum number of plays withdrawn between two readings
MIN_SHIFTED_AGREEMENT = 0.8  # agreement that a shifted reading needs

_HIDDEN_SQUARE = SquareReading(((HIDDEN, 1.0),))
_SHIFTS = ((0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1))


def new_tile_likelihood(square: SquareReading, face: str) -> float:
    """Return the likelihood of a new tile with `face` on a square: a letter, `?` for a blank, `.` for no tile."""
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
    read_as_blank = P_LETTER_READ_AS_BLANK * square.probability(BLANK) if face != BLANK else 0.0
    misread = P_OLD_TILE_MISREAD * (square.occupancy().tile - square.probability(face))
    return new_tile_likelihood(square, face) + read_as_blank + misread


def _has_adjacent_tile(evidence: Evidence, board: Board, square: Square) -> bool:
    return any(board[near] or near in evidence.candidate_squares for near in NEIGHBOURS[square])


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

    `false_readings` has earlier readings of squares that looked like a tile by mistake (print or a stain).
    `has_marked_blanks` is True if players may write the letter of a named blank on the tile; that letter is then also a
    correct reading of the blank. `early_squares` are the squares of new tiles that may already have been on the board
    at the last reading (`ReadingHistory.find_early_squares`).
    """

    reading: BoardReading
    old_board: Board
    false_readings: Mapping[Square, SquareReading] = field(default_factory=dict)
    has_marked_blanks: bool = True
    early_squares: frozenset[Square] = frozenset()

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
        """The squares with a tile probability of at least `MIN_CANDIDATE_PROBABILITY`."""
        squares = enumerate(self.reading.occupancy)
        return frozenset([s for s, occupancy in squares if occupancy.tile >= MIN_CANDIDATE_PROBABILITY])

    @cached_property
    def empty_squares(self) -> frozenset[Square]:
        """The squares that are clearly read as empty."""
        squares = enumerate(self.reading.occupancy)
        return frozenset([s for s, occupancy in squares if occupancy.empty > 1 - MIN_CANDIDATE_PROBABILITY])

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

    def symbol_likelihoods(self, square: Square) -> Mapping[str, float]:
        """Return the likelihood of each symbol for a new tile on a square.

        The mapping also has a value for symbols that are not in the reading.
        """
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
    """Return the log-likelihoods of an old tile's possible symbols: `before` plus those of one more reading."""
    symbols = set(before) | {symbol for symbol, _ in read.candidates} - {HIDDEN}
    # A symbol that no earlier reading had is as unlikely as the unlikeliest of the earlier symbols.
    floor = min(_MIN_LOG_LIKELIHOOD, *before.values()) if before else 0.0
    return {s: before.get(s, floor) + max(_MIN_LOG_LIKELIHOOD, log(old_tile_likelihood(read, s))) for s in symbols}


def _likeliest_symbol(log_likelihoods: Mapping[str, float]) -> str:
    return max(log_likelihoods, key=lambda symbol: log_likelihoods[symbol])


@dataclass(frozen=True, slots=True)
class ReadingHistory:
    """The combined readings of each tile since the tile was placed on the board.

    - `log_likelihoods`: for each square, the symbols in the readings, each with the sum of its log-likelihoods (nats).
      An old tile without an entry counts as read once, clearly and correctly.
    - `false_readings`: readings of empty squares that showed a tile by mistake. The tile had no neighbour.
    - `faint_tiles`: tile probabilities of squares that the last reading shows as empty. Probabilities below
      `MIN_FAINT_PROBABILITY` are left out.
    - `strange_count`: number of consecutive readings that do not match this game's board.
    - `turn_count`: number of turns recorded before the last reading; None before the first reading.

    The history is not stored with the events, so it is empty after a restart. After a restart, a misread tile is
    corrected one reading later, and the question about a false reading is asked again.
    """

    log_likelihoods: Mapping[Square, Mapping[str, float]] = field(default_factory=dict)
    false_readings: Mapping[Square, SquareReading] = field(default_factory=dict)
    strange_count: int = 0
    faint_tiles: Mapping[Square, float] = field(default_factory=dict)
    turn_count: int | None = None

    def find_early_squares(self, game: Game, reading: BoardReading) -> frozenset[Square]:
        """Return the squares of new tiles in `reading` that may already have been on the board at the last reading.

        At the last reading, these squares had the same symbol, were hidden, or had a tile probability of at least
        `MIN_EARLIER_TILE_PROBABILITY`. If a turn was recorded from the last reading, return an empty set.
        """
        if self.turn_count != len(game.turns):
            return frozenset()
        faint = {square for square, tile in self.faint_tiles.items() if tile >= MIN_EARLIER_TILE_PROBABILITY}
        hidden = {square for square, log_likelihoods in self.log_likelihoods.items() if not log_likelihoods}
        same = {
            square
            for square in self.log_likelihoods.keys() - hidden
            if _likeliest_symbol(self.log_likelihoods[square]) == reading.squares[square].symbol
        }
        return frozenset(s for s in faint | hidden | same if game.board[s] is None and reading.squares[s].is_tile)

    def find_false_readings(self, early_squares: Collection[Square]) -> Mapping[Square, SquareReading]:
        """Return the false readings, except those beside an early tile.

        Early tiles may have been on the board at the last reading; `early_squares` are their squares
        (`find_early_squares`). A false reading beside an early tile is probably a real tile: it had no neighbour only
        because the last reading missed the early tile.
        """
        missed = {square for square in early_squares if square not in self.false_readings}
        return {s: read for s, read in self.false_readings.items() if missed.isdisjoint(NEIGHBOURS[s])}

    def with_early_tile(self, square: Square) -> ReadingHistory:
        """Return a copy of this history in which a tile may have been on `square` at the last reading."""
        return replace(self, faint_tiles={**self.faint_tiles, square: 1.0})

    def with_reading(self, reading: BoardReading, old: Board, squares: Iterable[Square] = SQUARES) -> ReadingHistory:
        """Return the history of `squares` after one more reading.

        `old` is the recorded board. On squares that are empty in it, earlier readings are dropped.
        """
        log_likelihoods: dict[Square, Mapping[str, float]] = {}
        for square in squares:
            tile, occupancy = old.squares[square], reading.occupancy[square]
            if tile is not None:
                log_likelihoods[square] = self.log_likelihoods.get(square) or {tile.face: 0.0}
            elif occupancy.empty <= 1 - MIN_CANDIDATE_PROBABILITY:
                log_likelihoods[square] = {}
            else:
                continue
            if occupancy.hidden <= MIN_CLEAR_PROBABILITY:
                log_likelihoods[square] = _add_log_likelihoods(log_likelihoods[square], reading.squares[square])
        by_square = enumerate(reading.occupancy)
        faint = {square: tile for square, (empty, _, tile) in by_square if MIN_FAINT_PROBABILITY <= tile < empty}
        return replace(self, log_likelihoods=log_likelihoods, faint_tiles=faint)

    def with_false_readings(self, evidence: Evidence, board: Board) -> ReadingHistory:
        """Return the history with the false readings in `evidence`, on the assumption that `board` is correct.

        A false reading is a square that is empty on `board`, is read as a tile, and has no tile beside it.
        """
        kept = {
            s: read for s, read in self.false_readings.items() if board[s] is None and s not in evidence.empty_squares
        }
        isolated = {
            square: evidence.reading.squares[square]
            for square in evidence.candidate_squares
            if board[square] is None and not _has_adjacent_tile(evidence, board, square)
        }
        return replace(self, false_readings={**isolated, **kept})

    def find_contradictions(self, board: Board) -> dict[Square, str]:
        """Return the squares on which all readings together contradict the recorded tile, with the likelier symbol."""
        found: dict[Square, str] = {}
        for square in board.occupied_squares():
            log_likelihoods = self.log_likelihoods.get(square)
            if not log_likelihoods:
                continue
            best = _likeliest_symbol(log_likelihoods)
            recorded = log_likelihoods.get(face_of(board[square]), min(log_likelihoods.values()))
            log_odds = log_likelihoods[best] - recorded
            if log_odds > _MIN_CORRECTION_LOG_ODDS and not is_consistent(best, board[square]):
                found[square] = best
        return found


EMPTY_HISTORY = ReadingHistory()
"""The history before the first reading."""


def measure_agreement(board: Board, reading: BoardReading, ignored_squares: Collection[Square] = ()) -> float | None:
    """Return the share (0..1) of the visible old tiles that are read correctly.

    If fewer than `MIN_TILES_IN_SIGHT` old tiles are visible, return None. Tiles on `ignored_squares` are not counted.
    """
    in_sight = {
        square
        for square in board.occupied_squares()
        if square not in ignored_squares and reading.occupancy[square].hidden <= MIN_CLEAR_PROBABILITY
    }
    if len(in_sight) < MIN_TILES_IN_SIGHT:
        return None
    wrong = in_sight.intersection(find_inconsistent_squares(reading, board))
    return (len(in_sight) - len(wrong)) / len(in_sight)


def shift_reading(reading: BoardReading, rows: int, columns: int) -> BoardReading:
    """Return a reading moved `rows` squares down and `columns` squares to the right.

    Squares that get no reading are hidden (`#`).
    """
    squares = []
    for square in SQUARES:
        row, column = square // BOARD_SIZE - rows, square % BOARD_SIZE - columns
        inside = 0 <= row < BOARD_SIZE and 0 <= column < BOARD_SIZE
        squares.append(reading[row, column] if inside else _HIDDEN_SQUARE)
    return replace(reading, squares=tuple(squares))


def align_reading(game: Game, reading: BoardReading) -> BoardReading | None:
    """Return the reading aligned with the board of the game.

    If the grid was one square off, the returned reading is moved by one square. If the reading does not match the
    board of the game, return None.
    """
    if game.rules.rearrange or game.rules.recycle:
        return reading  # these rules allow any old tile to change
    removable = _find_removable_squares(game, reading)
    agreement = measure_agreement(game.board, reading, removable)
    if agreement is None or agreement >= MIN_AGREEMENT:
        return reading
    best, best_agreement = None, 0.0
    for rows, columns in _SHIFTS:
        shifted = shift_reading(reading, rows, columns)
        agreement = measure_agreement(game.board, shifted, removable) or 0.0
        if agreement > best_agreement:
            best, best_agreement = shifted, agreement
    return best if best_agreement >= MIN_SHIFTED_AGREEMENT else None


def _find_removable_squares(game: Game, reading: BoardReading) -> set[Square]:
    """Return the squares on which tiles may be missing: those of the last play, which may have been withdrawn.

    If no tile is visible on the whole board, return the squares of the last `MAX_PLAYS_TAKEN_BACK` plays.
    """
    plays = islice(game.state.standing_plays(), 1 if reading.shows_tiles else MAX_PLAYS_TAKEN_BACK)
    return {square for turn in plays for square, _ in turn.placements}
