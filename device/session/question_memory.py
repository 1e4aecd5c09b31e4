"""The questions that the players were asked: each word, and each recorded tile, is asked about only once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

import msgspec

from device.session.letter_doubts import LetterDoubts
from device.session.messages import Question
from device.session.turns.decision import Decision
from device.storage.errors import log_store_errors
from device.storage.game_log import GameLog
from device.storage.notes import load_note
from device.storage.store import TABLE_NOTES, GameStore
from engine.board import Square
from engine.events import (
    Event,
    PlayerTurn,
    PlayMade,
    PositionEntered,
    QuestionClosed,
    QuestionDeferred,
    SquareCorrected,
    TurnCorrected,
    TurnInserted,
)
from engine.game import Game
from engine.reading import BoardReading
from engine.validation import QuestionHistory
from engine.validation.deferred_questions import find_corrected_questions

ASKED_WORDS_NOTE = "asked-words"
"""Name of the table's note that contains the words about which the players were asked, as a JSON list."""
LAST_PRESS_NOTE = "last-press"
"""Name of the game's note about the last press, see `_LastPress`."""


class _LastPress(msgspec.Struct, frozen=True, rename={"has_own_buttons": "has_own_button"}):
    """Contents of the note about the last press of a game.

    `has_own_buttons` is that of `QuestionMemory`, `has_missed_press` and `unanswered_pass` are those of
    `QuestionHistory`.
    """

    has_own_buttons: bool = False
    has_missed_press: bool = False
    unanswered_pass: int | None = None


class QuestionMemory:
    """The questions that the players of a table were asked. Each word and recorded tile is asked about only once.

    The words are stored in a note of the table, what is known of the last press in a note of the game, and the squares
    in the events of the game, so all of them survive a restart.
    """

    def __init__(self, store: GameStore) -> None:
        self._store = store
        warning = "the words of earlier questions are not known"
        words = load_note(store, TABLE_NOTES, ASKED_WORDS_NOTE, frozenset[str], warning) or frozenset()
        self._before = self.history = QuestionHistory(words)
        self.doubts = LetterDoubts(store)
        """The letters of the current game that the camera read without certainty."""
        self.has_own_buttons = False
        """True if the players end their turns with buttons or phones of their own, as the last press has shown."""
        self._saved: tuple[int, _LastPress] | None = None

    def start_game(self, log: GameLog) -> None:
        """Forget the squares of the previous game's questions, and collect those of the game `log` from its events."""
        self.doubts.start_game(log)
        history = self.history.for_new_game()
        if self._saved is None or self._saved[0] != log.number:
            history = self._load_last_press(log.number, history)
        questions = [Question.from_event(event) for event in log.game.events if isinstance(event, QuestionDeferred)]
        squares = {square for question in questions if question.is_about_old_tiles for square in question.squares}
        self._before = self.history = replace(history, squares=frozenset(squares))

    def _load_last_press(self, number: int, history: QuestionHistory) -> QuestionHistory:
        """Load the note about the last press of the game `number`; return `history` with what it says."""
        warning = "it is not known which questions about the last turns are open"
        last = load_note(self._store, number, LAST_PRESS_NOTE, _LastPress, warning) or _LastPress()
        self._saved, self.has_own_buttons = (number, last), last.has_own_buttons
        return replace(history, has_missed_press=last.has_missed_press, unanswered_pass=last.unanswered_pass)

    def save_last_press(self, number: int) -> None:
        """Write the note about the last press of the game `number`, unless it is unchanged."""
        last = _LastPress(self.has_own_buttons, self.history.has_missed_press, self.history.unanswered_pass)
        if self._saved == (number, last):
            return
        with log_store_errors("the questions about the last turns are not kept"):
            self._store.save_note(number, LAST_PRESS_NOTE, msgspec.json.encode(last).decode())
            self._saved = number, last

    def note_press(self, seat: int | None) -> None:
        """Store whether a turn was ended by one player (`seat`) or with a shared button or phone (`seat` is None)."""
        self.has_own_buttons = seat is not None

    def add_decision(self, decision: Decision, game: Game, reading: BoardReading | None) -> None:
        """Add the question of a decision to the history, and save the words about which players were asked.

        If the decision is about a reading, also add the doubtful letters of the reading. `game` is the game after the
        events of the decision.
        """
        self._before, self.history = self.history, decision.question_history
        if reading is not None:
            self.doubts.add_turn(game, decision, reading)
        if self.history.words != self._before.words:
            with log_store_errors("the words of a question are not kept"):
                words = json.dumps(sorted(self.history.words), ensure_ascii=False)
                self._store.save_note(TABLE_NOTES, ASKED_WORDS_NOTE, words)

    def forget_last_question(self) -> None:
        """Forget the questions of the last turn, because its reading is discarded."""
        self.history = self._before

    def forget_missed_press(self) -> None:
        """Forget that the last press recorded nothing: its turn is entered now, or the same player presses again."""
        self.history = replace(self.history, has_missed_press=False)

    def confirm_squares(self, squares: Iterable[int]) -> None:
        """Forget that `squares` are doubtful, because the question about them is answered.

        A press without a record and an unconfirmed pass are forgotten, too.
        """
        squares = tuple(squares)
        self.history = self.history.without_squares(squares)
        self.doubts.confirm_squares(squares)

    def confirm_entered(self, events: Sequence[Event]) -> None:
        """Forget doubts about the tiles, and a press without a record, after events that players have entered."""
        squares: set[Square] = set()
        for event in events:
            entered = event.event if isinstance(event, TurnCorrected | TurnInserted) else event
            if isinstance(entered, PlayMade):
                squares.update(entered.play.squares)
            elif isinstance(entered, SquareCorrected):
                squares.add(entered.square)
        self.history = self.history.without_doubts(squares)
        self.doubts.confirm_squares(squares)
        if any(isinstance(event, PlayerTurn | PositionEntered) for event in events):
            self.forget_missed_press()

    def close_corrected_questions(self, game: Game) -> tuple[Event, ...]:
        """Close the deferred questions that the players answered by a correction; return the events to record it."""
        questions = find_corrected_questions(game)
        for question in questions:
            self.confirm_squares(question.squares)
        return tuple(QuestionClosed(question.number) for question in questions)
