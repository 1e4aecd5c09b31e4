"""What a validation takes and returns: proposals, findings and verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Protocol

from engine.board import Square
from engine.events import Event, PlayMade
from engine.game import Game
from engine.inference.history import ReadingHistory
from engine.plays import Play
from engine.reading import BoardReading, SquareReading
from engine.tiles import Tile

MIN_LETTER_CONFIDENCE = 0.98
"""Confidence of a letter below which the reader itself gives reason to ask: 1 % of the letters of photographs."""


class Source(StrEnum):
    """Where a turn comes from."""

    CAMERA = "camera"
    HAND = "hand"  # entered by a player on the page, or by a program
    IMPORT = "import"  # never asks: what would be a question becomes a notice


class Reason(StrEnum):
    """Why a turn is questioned or noted."""

    # The picture as a whole: nothing is recorded before the answer.
    OTHER_BOARD = "other-board"
    BOARD_CLEARED = "board-cleared"
    BOARD_ALREADY_FULL = "board-already-full"
    TILES_UNEXPLAINED = "tiles-unexplained"
    WHICH_SIDE_UP = "which-side-up"
    GRID_MISPLACED = "grid-misplaced"
    PASS_UNSURE = "pass-unsure"
    # Turns that were recorded before.
    TILES_REMOVED = "tiles-removed"
    OLD_TILE_DIFFERS = "old-tile-differs"
    TILE_ADDED = "tile-added"
    TILE_OF_EARLIER_PLAY = "tile-of-earlier-play"
    # The play.
    RACK_TOO_SMALL = "rack-too-small"
    BLANK_UNNAMED = "blank-unnamed"
    BLANK_OR_LETTER = "blank-or-letter"
    WORD_UNLISTED = "word-unlisted"
    TILE_BESIDE = "tile-beside"
    LETTER_UNSURE = "letter-unsure"
    # A turn that was entered by hand or imported.
    CENTRE_MISSED = "centre-missed"
    NOT_JOINED = "not-joined"
    NOT_IN_LINE = "not-in-line"
    GAP = "gap"
    FIRST_WORD_SHORT = "first-word-short"
    TOO_MANY_TILES = "too-many-tiles"
    MORE_THAN_SET = "more-than-set"
    OUT_OF_TURN = "out-of-turn"
    TOO_MANY_EXCHANGED = "too-many-exchanged"


class WordList(Protocol):
    """Anything that can be asked with `in` if it has a word."""

    def __contains__(self, word: str, /) -> bool:
        """Return True if the word is in the list."""
        ...


@dataclass(frozen=True, slots=True)
class Option:
    """An answer to choose from: the events that it records. Without events the board is read again."""

    events: tuple[Event, ...] = ()


LOOK_AGAIN = Option()


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check: a question if it has options, otherwise a notice.

    `values` are the parameters of the sentence that describes it, `squares` those that it is about, `words` the
    unlisted words. The events of the first option count until another one is chosen; if that is `LOOK_AGAIN`, nothing
    is recorded before the answer. `needs_picture` is True if another picture might settle it.
    """

    reason: Reason
    values: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    squares: tuple[Square, ...] = ()
    words: tuple[str, ...] = ()
    needs_picture: bool = False


@dataclass(frozen=True, slots=True)
class QuestionHistory:
    """What was asked before: each word and each old tile is asked about once.

    `words` are kept from game to game, the others for one game. `squares` are those of old tiles. `open_squares` are
    those of questions about plays: they are open until later readings settle them. `doubtful_squares` were read with
    less than certainty when their tile was laid.
    """

    words: frozenset[str] = frozenset()
    squares: frozenset[Square] = frozenset()
    open_squares: frozenset[Square] = frozenset()
    doubtful_squares: frozenset[Square] = frozenset()

    def with_finding(self, finding: Finding) -> QuestionHistory:
        """Return the history after a question."""
        if finding.reason is Reason.OLD_TILE_DIFFERS:
            return replace(self, squares=self.squares | {*finding.squares})
        return replace(self, words=self.words | {*finding.words}, open_squares=self.open_squares | {*finding.squares})

    def with_play(self, play: Play, reading: BoardReading) -> QuestionHistory:
        """Return the history after a play was read."""
        unsure = {s for s, tile in play.tiles if read_confidence(reading, s, tile) < MIN_LETTER_CONFIDENCE}
        return replace(self, doubtful_squares=self.doubtful_squares | unsure)

    def without_squares(self, squares: Iterable[Square]) -> QuestionHistory:
        """Return the history after the question about these squares was answered."""
        gone = {*squares}
        return replace(self, open_squares=self.open_squares - gone, doubtful_squares=self.doubtful_squares - gone)

    def settle_reading(self, game: Game, reading: BoardReading) -> BoardReading:
        """Return the reading with the old tiles that the players were asked about as they are on record."""
        known = [square for square in self.squares if game.board[square] is not None]
        if not known:
            return reading
        squares = list(reading.squares)
        for square in known:
            squares[square] = SquareReading(((game.board.tile(square).face, 1.0),))
        return replace(reading, squares=tuple(squares))

    def for_new_game(self) -> QuestionHistory:
        """Return what is still known at the next game."""
        return QuestionHistory(self.words)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A turn that is about to be recorded: the events that would follow in `game`.

    `reading` is the picture that they were inferred from, `earlier` what earlier readings of this board say, `words`
    the word list in use; each is None if there is none. `seat` is the player whose button or phone ended the turn, None
    if it belongs to none.
    """

    game: Game
    events: tuple[Event, ...]
    source: Source
    reading: BoardReading | None = None
    earlier: ReadingHistory | None = None
    words: WordList | None = None
    asked: QuestionHistory = field(default_factory=QuestionHistory)
    seat: int | None = None

    @property
    def game_after(self) -> Game:
        """The game once the events are recorded. Raises `RulesError`, `NotationError` for impossible events."""
        return push_events(self.game, self.events)

    @property
    def single_play(self) -> PlayMade | None:
        """The play if there is exactly one among the events."""
        plays = [event for event in self.events if isinstance(event, PlayMade)]
        return plays[0] if len(plays) == 1 else None

    def iterate_events(self) -> Iterator[tuple[Game, Event]]:
        """Yield each event with the game before it."""
        game = self.game
        for event in self.events:
            yield game, event
            game = game.push(event)

    def iterate_plays(self) -> Iterator[tuple[Game, PlayMade]]:
        """Yield each play with the game before it."""
        return ((game, event) for game, event in self.iterate_events() if isinstance(event, PlayMade))


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a validation: the events that count now, the most urgent question (None: accepted), all notices."""

    events: tuple[Event, ...]
    question: Finding | None = None
    notices: tuple[Finding, ...] = ()


def read_confidence(reading: BoardReading, square: Square, tile: Tile) -> float:
    """Return the confidence (0..1) that a square holds this tile; a blank may be read as its letter."""
    read = reading.squares[square]
    return max(read.probability(tile.face), read.probability(tile.letter))


def push_events(game: Game, events: Iterable[Event]) -> Game:
    """Return the game after the events. Raises `RulesError`, `NotationError` for impossible ones."""
    for event in events:
        game = game.push(event)
    return game
