"""The input and output of a validation: proposals, findings and results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum

from engine.board import Square
from engine.events import Event, PlayMade, filter_plays
from engine.game import Game
from engine.inference.evidence import tile_confidence
from engine.inference.history import EMPTY_HISTORY, ReadingHistory
from engine.ledger import Source
from engine.lexicon import WordList
from engine.plays import Play
from engine.reading import BoardReading, SquareReading

MIN_LETTER_CONFIDENCE = 0.98
"""Minimum confidence of a letter; if it is lower, the letter is doubtful (in photographs, 1 % of the letters)."""


def find_doubtful_squares(play: Play, reading: BoardReading) -> tuple[Square, ...]:
    """Return the squares of a play whose tile has a confidence below `MIN_LETTER_CONFIDENCE` in the reading."""
    squares = reading.squares
    return tuple(s for s, tile in play.tiles if tile_confidence(squares[s], tile) < MIN_LETTER_CONFIDENCE)


class Reason(StrEnum):
    """The reason for a question or a notice about a turn."""

    # Reasons in the whole picture: nothing is recorded before the answer.
    OTHER_BOARD = "other-board"
    BOARD_CLEARED = "board-cleared"
    BOARD_ALREADY_FULL = "board-already-full"
    TILES_UNEXPLAINED = "tiles-unexplained"
    WHICH_SIDE_UP = "which-side-up"
    GRID_MISPLACED = "grid-misplaced"
    LETTERS_UNRELIABLE = "letters-unreliable"
    PASS_UNSURE = "pass-unsure"
    # Reasons in turns that were recorded before.
    TILES_REMOVED = "tiles-removed"
    OLD_TILE_DIFFERS = "old-tile-differs"
    # Reasons in the new play.
    PRESS_MISSED = "press-missed"
    RACK_TOO_SMALL = "rack-too-small"
    BLANK_UNNAMED = "blank-unnamed"
    BLANK_OR_LETTER = "blank-or-letter"
    WORD_UNLISTED = "word-unlisted"
    TILE_BESIDE = "tile-beside"
    LETTER_UNSURE = "letter-unsure"
    # Reasons in a turn that was entered by hand or imported.
    CENTRE_MISSED = "centre-missed"
    NOT_JOINED = "not-joined"
    NOT_IN_LINE = "not-in-line"
    GAP = "gap"
    SQUARE_TAKEN = "square-taken"
    FIRST_WORD_SHORT = "first-word-short"
    TOO_MANY_TILES = "too-many-tiles"
    MORE_THAN_SET = "more-than-set"
    OUT_OF_TURN = "out-of-turn"
    STILL_WITHDRAWN = "still-withdrawn"
    TOO_MANY_EXCHANGED = "too-many-exchanged"
    POSITION_LOOSE = "position-loose"


@dataclass(frozen=True, slots=True)
class Option:
    """A possible answer to a question, with the events to record.

    An answer without events means that the board is read again. If `is_mistake` is True, it means that the button was
    pressed by mistake, so that nothing is recorded.
    """

    events: tuple[Event, ...] = ()
    is_mistake: bool = False


LOOK_AGAIN = Option()
PRESSED_BY_MISTAKE = Option(is_mistake=True)


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check: a question if there are options to choose from, otherwise a notice.

    - `values`: parameters of the sentence that describes the finding.
    - `squares`: the squares that the finding is about. `words`: the unlisted words.
    - `options`: the possible answers. The events of the first option count until the players answer. If the
      first option is `LOOK_AGAIN`, nothing is recorded before the answer.
    - `needs_picture`: True if another picture may answer the question.
    """

    reason: Reason
    values: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    squares: tuple[Square, ...] = ()
    words: tuple[str, ...] = ()
    needs_picture: bool = False


@dataclass(frozen=True, slots=True)
class QuestionHistory:
    """The questions asked before. The players are asked about each word and each old tile only once.

    - `words`: the unlisted words in earlier questions, also of earlier games.
    - `squares`: squares of old tiles in earlier questions.
    - `doubtful_squares`: squares whose tile had a confidence below `MIN_LETTER_CONFIDENCE` in all readings so far.
    - `has_missed_press`: True if the last press of the button recorded nothing, because its question was not answered.
    - `unanswered_pass`: the number of the last entry, if that is a pass from a press and the players have not answered
      the question about it; otherwise None.
    - `open_squares`: squares of questions that are not answered yet: nothing more is asked about them.
    """

    words: frozenset[str] = frozenset()
    squares: frozenset[Square] = frozenset()
    doubtful_squares: frozenset[Square] = frozenset()
    has_missed_press: bool = False
    unanswered_pass: int | None = None
    open_squares: frozenset[Square] = frozenset()

    def settle_reading(self, game: Game, reading: BoardReading) -> BoardReading:
        """Return the reading with the recorded tiles on the squares of earlier questions.

        These tiles have probability 1: the players have been asked about them, so that the reading cannot change them.
        """
        known = [square for square in self.squares if game.board[square] is not None]
        if not known:
            return reading
        squares = list(reading.squares)
        for square in known:
            squares[square] = SquareReading(((game.board.tile(square).face, 1.0),))
        return replace(reading, squares=tuple(squares))


@dataclass(frozen=True, slots=True)
class Proposal:
    """A turn before it is recorded: the new events, and the game to which the events are added.

    - `reading`: the reading from which the events were inferred, or None.
    - `reading_history`: the evidence from earlier readings.
    - `words`: the word list in use, or None.
    - `question_history`: the earlier questions.
    - `seat`: the player whose button or phone ended the turn, or None if the turn was ended in another way.
    """

    game: Game
    events: tuple[Event, ...]
    source: Source
    reading: BoardReading | None = None
    reading_history: ReadingHistory = EMPTY_HISTORY
    words: WordList | None = None
    question_history: QuestionHistory = field(default_factory=QuestionHistory)
    seat: int | None = None

    @property
    def game_after(self) -> Game:
        """The game after the proposed events. Raises `RulesError` or `NotationError` for impossible events."""
        return self.game.push(*self.events)

    @property
    def single_play(self) -> PlayMade | None:
        """The only play among the events, or None if there is no play or more than one play."""
        plays = filter_plays(self.events)
        return plays[0] if len(plays) == 1 else None

    def iterate_events(self) -> Iterator[tuple[Game, Event]]:
        """Yield each event with the game before this event."""
        game = self.game
        for event in self.events:
            yield game, event
            game = game.push(event)

    def iterate_plays(self) -> Iterator[tuple[Game, PlayMade]]:
        """Yield each play with the game before this play."""
        return ((game, event) for game, event in self.iterate_events() if isinstance(event, PlayMade))


@dataclass(frozen=True, slots=True)
class ValidationResult:
    """The result of a validation: the events to record now, the most urgent question, and all notices.

    `question` is None if the turn is accepted.
    """

    events: tuple[Event, ...]
    question: Finding | None = None
    notices: tuple[Finding, ...] = ()
