"""Combine the readings of each tile since it was placed, and find recorded tiles that later readings contradict."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log

from engine.board import NEIGHBOURS, SQUARES, Board, Square
from engine.events import Event, ScoreCorrected, SquareCorrected, TurnCorrected, filter_plays
from engine.game import Game
from engine.inference.evidence import (
    MIN_CLEAR_PROBABILITY,
    MIN_TILE_PROBABILITY,
    Evidence,
    face_of,
    is_consistent,
    old_tile_likelihood,
)
from engine.reading import HIDDEN, BoardReading, SquareReading
from engine.state import TurnKind

MIN_EARLIER_TILE_PROBABILITY = 0.005
"""Minimum tile probability of a square in the last reading for a tile to have been there already."""
MIN_FAINT_PROBABILITY = 0.002
"""Minimum tile probability of a square in `ReadingHistory.faint_tiles`."""
_MIN_LOG_LIKELIHOOD = log(0.01)
"""Minimum log-likelihood (nats) of a symbol in one reading of a square, so that one reading cannot exclude a symbol."""
NO_EVIDENCE = _MIN_LOG_LIKELIHOOD
"""Log-likelihood (nats) of a guessed letter: that of all other letters, so that the first reading decides."""
_MIN_CORRECTION_LOG_ODDS = log(20)
"""Minimum log-odds (nats), over all readings, with which another symbol replaces the recorded tile."""


def _has_adjacent_tile(evidence: Evidence, board: Board, square: Square) -> bool:
    return any(board[near] or near in evidence.candidate_squares for near in NEIGHBOURS[square])


def _add_log_likelihoods(before: Mapping[str, float], read: SquareReading) -> dict[str, float]:
    """Return the log-likelihoods of an old tile's possible symbols: `before` plus those of one more reading."""
    symbols = set(before) | {symbol for symbol, _ in read.candidates} - {HIDDEN}
    # A symbol that no earlier reading had is as unlikely as the unlikeliest of the earlier symbols.
    floor = min(_MIN_LOG_LIKELIHOOD, *before.values()) if before else 0.0
    return {s: before.get(s, floor) + max(_MIN_LOG_LIKELIHOOD, log(old_tile_likelihood(read, s))) for s in symbols}


def _select_new_tiles(squares: Collection[Square], game: Game, reading: BoardReading) -> frozenset[Square]:
    return frozenset([s for s in squares if game.board[s] is None and reading.squares[s].is_tile])


def _likeliest_symbol(log_likelihoods: Mapping[str, float]) -> str:
    return max(log_likelihoods, key=lambda symbol: log_likelihoods[symbol])


@dataclass(frozen=True, slots=True)
class ReadingHistory:
    """The combined readings of each tile since the tile was placed on the board.

    - `log_likelihoods`: for each square, the symbols in the readings, each with the sum of its log-likelihoods (nats).
      The mapping is empty for a square in `hidden_squares`. An old tile without an entry counts as read once, clearly
      and correctly.
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

    @property
    def hidden_squares(self) -> frozenset[Square]:
        """The squares without a recorded tile that were hidden at the last reading."""
        return frozenset([square for square, values in self.log_likelihoods.items() if not values])

    def find_early_squares(self, game: Game, reading: BoardReading) -> frozenset[Square]:
        """Return the squares of new tiles in `reading` that may already have been on the board at the last reading.

        At the last reading, these squares had the same symbol, were hidden, or had a tile probability of at least
        `MIN_EARLIER_TILE_PROBABILITY`. If a turn was recorded from the last reading, return an empty set.
        """
        if self.turn_count != len(game.turns):
            return frozenset()
        same = {
            square
            for square, log_likelihoods in self.log_likelihoods.items()
            if log_likelihoods and _likeliest_symbol(log_likelihoods) == reading.squares[square].symbol
        }
        return _select_new_tiles(self.find_missable_squares() | same, game, reading)

    def find_missable_squares(self) -> frozenset[Square]:
        """Return the squares on which the last reading may have missed a tile.

        They were hidden, or had a tile probability of at least `MIN_EARLIER_TILE_PROBABILITY`.
        """
        faint = {square for square, tile in self.faint_tiles.items() if tile >= MIN_EARLIER_TILE_PROBABILITY}
        return self.hidden_squares | faint

    def with_entered_events(self, events: Sequence[Event], before: Game, after: Game) -> ReadingHistory:
        """Return the history after events that players have entered; `before` and `after` are the games around them.

        - The last reading missed no tile of a play that was entered.
        - A tile that players removed by correcting its square or its play was never on the board, so it is a false
          reading. If they removed a whole play, the next reading may show its tiles as a play of another turn.
        - The tiles of a play that is withdrawn are on the board until the players take them off.
        """
        if filter_plays(events):
            hidden = self.hidden_squares
            seen = {square: values for square, values in self.log_likelihoods.items() if square not in hidden}
            return replace(self, log_likelihoods=seen, faint_tiles={})
        corrections = (SquareCorrected, ScoreCorrected, TurnCorrected)
        if not events or not all(isinstance(event, corrections) for event in events):
            return self
        plays_before, plays_after = (sum(turn.kind is TurnKind.PLAY for turn in game.turns) for game in (before, after))
        if plays_after < plays_before:
            return replace(self, false_readings={})
        withdrawn = {square for turn in after.turns if turn.play and not turn.stands for square in turn.play.squares}
        removed = {square for square in before.board.occupied_squares() if after.board[square] is None} - withdrawn
        reads = {square: SquareReading(((face_of(before.board[square]), 1.0),)) for square in removed}
        return replace(self, false_readings={**self.false_readings, **reads})

    def find_false_readings(self, game: Game, reading: BoardReading) -> Mapping[Square, SquareReading]:
        """Return the false readings, except those beside a new tile that the last reading may have missed.

        Such a false reading is probably a real tile: it had no neighbour only because the tile beside it was missed.
        """
        missable = _select_new_tiles(self.find_missable_squares(), game, reading)
        missed = (missable | self.find_early_squares(game, reading)) - self.false_readings.keys()
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
            elif occupancy.empty <= 1 - MIN_TILE_PROBABILITY:
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
