"""The decision about a turn after the board was read: which events are recorded, and which question is asked.

`inferred_turn` decides by the inference alone, and `turn_validation` checks the events and chooses the question.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from device.session.messages import (
    Notice,
)
from device.session.questions import TurnQuestion
from engine.board import Square
from engine.events import Event
from engine.game import Game
from engine.inference.history import EMPTY_HISTORY, ReadingHistory, Rest
from engine.ledger import Ledger, Source
from engine.lexicon import WordList
from engine.reading import BoardReading
from engine.validation import Proposal, QuestionHistory


@dataclass(frozen=True, slots=True)
class TurnContext:
    """Context for the validation of a turn, in addition to the reading of the board.

    - `ledger`: the turns recorded so far.
    - `words`: the word list in use; None means that words are not checked.
    - `reading_history`: the earlier readings. `question_history`: the questions asked before.
    - `seat`: the player whose own button ended the turn; None for a shared button.
    - `rests`: the readings of the board at rest since the last turn.
    - `is_quick`: True if the last turn was pressed only seconds ago.
    """

    ledger: Ledger
    words: WordList | None = None
    reading_history: ReadingHistory = EMPTY_HISTORY
    question_history: QuestionHistory = field(default_factory=QuestionHistory)
    seat: int | None = None
    rests: tuple[Rest, ...] = ()
    is_quick: bool = False

    def is_same(self, other: TurnContext) -> bool:
        """Return True if `other` leads to the same decision. Large values are compared by identity."""
        return (
            self.ledger is other.ledger
            and self.words is other.words
            and self.reading_history is other.reading_history
            and (self.question_history, self.seat) == (other.question_history, other.seat)
            and (self.rests, self.is_quick) == (other.rests, other.is_quick)
        )

    def propose(
        self, game: Game, events: tuple[Event, ...], source: Source, reading: BoardReading | None = None
    ) -> Proposal:
        """Return the proposal to add `events` to `game` in this context, for `validate_turn`."""
        return Proposal(
            game, events, source, reading, self.reading_history, self.words, self.question_history, self.seat
        )


@dataclass(frozen=True, slots=True)
class Decision:
    """Decision after a reading of the board: the events to record, the question to ask, notices and a warning.

    A doubt without answers to choose from is a warning instead of a question. If the warning is about recorded tiles
    that are no longer seen, `lost_squares` are their squares.
    """

    events: tuple[Event, ...]
    open_question: TurnQuestion | None = None
    warning: str = ""
    notices: tuple[Notice, ...] = ()
    lost_squares: tuple[Square, ...] = ()

    @property
    def is_clear(self) -> bool:
        """True if no other picture is needed: nothing is in doubt, or another picture would not answer the question."""
        open_question = self.open_question
        if self.warning or open_question is None:
            return not self.warning
        if open_question.finding is not None:
            return not open_question.finding.needs_picture
        return open_question.question.is_about_pass
