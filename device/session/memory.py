"""Data of the session besides the events of the game: colours of players, questions, and the last pictures.

- Colours, and the words of earlier questions, are stored and used in later games.
- The squares of questions belong to the current game.
- Pictures are only kept in memory.
- The open question is stored in a note, so that it survives a power cut. (Its events are in the log at once, but the
  question itself becomes an event only when it is deferred.)
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from device.cameras import Image
from device.capture.question_crop import crop_squares, make_crop_name
from device.session.letter_doubts import LetterDoubts
from device.session.messages import (
    OLD_TILE_KEYS,
    DeferredQuestion,
    Notice,
    OpenQuestion,
    Trouble,
    format_sentence,
    make_notice,
)
from device.session.snapshot import Moment, PlayerView
from device.session.turns.decision import Decision
from device.storage.errors import log_store_errors
from device.storage.game_log import UNREADABLE_GAME_ERRORS, GameLog
from device.storage.notes import load_note
from device.storage.store import TABLE_NOTES, GameStore, StoreError
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
    from_json,
    to_json,
)
from engine.game import Game
from engine.messages import key_of, read_message, write_message
from engine.reading import BoardReading
from engine.validation import QuestionHistory
from engine.validation.deferred_questions import defer_question, find_corrected_questions
from vision.geometry import Floats

_log = logging.getLogger(__name__)

ASKED_WORDS_NOTE = "asked-words"
"""Name of the table's note that contains the words about which the players were asked, as a JSON list."""

OPEN_QUESTION_NOTE = "open-question"
"""Name of the table's note that contains the open question; its text is empty while no question is open."""

LAST_PRESS_NOTE = "last-press"
"""Name of the game's note about the last press, see `_LastPress`."""

MAX_PICTURES = 16
"""Maximum number of pictures in memory; each further picture replaces the oldest one."""
MAX_PICTURE_NAME_LENGTH = 40
"""Maximum length of the name of a stored picture; a longer name belongs to no picture."""


class PlayerColours:
    """The colours of all players in the store, by name; errors of the store are only logged."""

    def __init__(self, store: GameStore) -> None:
        self._store = store
        self._colours: dict[str, str] = {}

    def load(self) -> None:
        """Load the colours from the store."""
        with log_store_errors("the colours of the players are not known"):
            self._colours = dict(self._store.list_players())

    def save(self, colours: Iterable[tuple[str, str]]) -> None:
        """Save the colours of players, given as (name, colour), for this game and later games."""
        with log_store_errors("the colours of the players are not kept"):
            for name, colour in colours:
                self._colours[name] = colour
                self._store.save_colour(name, colour)

    def get(self, name: str) -> str:
        """Return the colour of a player, or an empty string if the player has no colour."""
        return self._colours.get(name, "")

    def colour_player(self, player: PlayerView) -> PlayerView:
        """Return the view of a player with the player's colour."""
        return replace(player, colour=self.get(player.name))


class _LastPress(msgspec.Struct, frozen=True):
    """Contents of the note about the last press of a game.

    - `has_own_button`: the press was on the button or phone of one player.
    - `has_missed_press`, `unanswered_pass`: see `QuestionHistory`.
    """

    has_own_button: bool = False
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
        """True if the last press was on the button or phone of one player."""
        self._saved: tuple[int, _LastPress] | None = None

    def start_game(self, log: GameLog) -> None:
        """Forget the squares of the previous game's questions, and collect those of the game `log` from its events."""
        self.doubts.start_game(log.number)
        history = self.history.for_new_game()
        if self._saved is None or self._saved[0] != log.number:
            history = self._load_last_press(log.number, history)
        asked = [event for event in log.game.events if isinstance(event, QuestionDeferred)]
        squares = {square for event in asked if key_of(event.text) in OLD_TILE_KEYS for square in event.squares}
        self._before = self.history = replace(history, squares=frozenset(squares))

    def _load_last_press(self, number: int, history: QuestionHistory) -> QuestionHistory:
        """Load the note about the last press of the game `number`; return `history` with what it says."""
        warning = "it is not known which questions about the last turns are open"
        last = load_note(self._store, number, LAST_PRESS_NOTE, _LastPress, warning) or _LastPress()
        self._saved, self.has_own_buttons = (number, last), last.has_own_button
        return replace(history, has_missed_press=last.has_missed_press, unanswered_pass=last.unanswered_pass)

    def save_last_press(self, number: int) -> None:
        """Write the note about the last press of the game `number`, unless it is unchanged."""
        last = _LastPress(self.has_own_buttons, self.history.has_missed_press, self.history.unanswered_pass)
        if self._saved == (number, last):
            return
        with log_store_errors("the questions about the last turns are not kept"):
            self._store.save_note(number, LAST_PRESS_NOTE, msgspec.json.encode(last).decode())
            self._saved = number, last

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

    def close_question(self, squares: Iterable[int]) -> None:
        """Forget that `squares` are doubtful, because the question about them was answered."""
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
            self.close_question(question.squares)
        return tuple(QuestionClosed(question.number) for question in questions)


class PictureBuffer:
    """Buffer of the last pictures (JPEG data) by the names that the snapshots contain.

    The pictures of recorded turns are in the store, too, under the number of the game and that of the event.
    """

    def __init__(self, store: GameStore) -> None:
        self._store = store
        self._pictures: dict[str, bytes] = {}
        self._crop_names: dict[str, str] = {}

    def add(self, name: str, jpeg: bytes) -> None:
        """Add a picture."""
        self._pictures = dict([*self._pictures.items(), (name, jpeg)][-MAX_PICTURES:])

    def get(self, name: str) -> bytes | None:
        """Return a picture by its name, or None if it is not in the buffer any more."""
        return self._pictures.get(name)

    def find(self, name: str) -> bytes | None:
        """Return a picture by its name from the buffer or the store, or None if there is no such picture.

        Raises `StoreError`.
        """
        if jpeg := self._pictures.get(name):
            return jpeg
        game, _, number = name.partition("-")
        if len(name) > MAX_PICTURE_NAME_LENGTH or not (game.isdecimal() and number.isdecimal()):
            return None
        return self._store.read_picture(int(game), int(number), "board")

    def add_question_crop(self, decision: Decision, image: Image, corners: Floats | None) -> Decision:
        """Add the part of `image` with the question's squares, and return the decision with the name of this crop.

        If the question is not about squares, or if `corners` is None, the decision is returned unchanged. `corners` are
        the corners of the grid in `image`, `(4, 2)` in pixels.
        """
        open_question = decision.open_question
        if open_question is None or not open_question.question.squares or corners is None:
            return decision
        question = open_question.question
        name = self.add_crop(question.text, crop_squares(image, corners, question.squares))
        return replace(decision, open_question=replace(open_question, question=replace(question, picture=name)))

    def add_crop(self, text: str, jpeg: bytes) -> str:
        """Add the crop (JPEG data) that belongs to the question with the text `text`, and return its name."""
        name = make_crop_name(jpeg)
        self.add(name, jpeg)
        available = {text: crop for text, crop in self._crop_names.items() if crop in self._pictures}
        self._crop_names = {**available, str(text): name}
        return name

    def find_crop(self, deferred: DeferredQuestion) -> DeferredQuestion:
        """Return the deferred question with the name of its crop, if the crop is still in the buffer."""
        name = self._crop_names.get(str(deferred.question.text), "")
        picture = name if name in self._pictures else ""
        return replace(deferred, question=replace(deferred.question, picture=picture))


class _StoredQuestion(msgspec.Struct, omit_defaults=True):
    """Contents of the note with the open question.

    - `moment`: the version of the game.
    - `events`: the events that defer the question; empty if it cannot be deferred.
    - `question` and `answer`: the text of the question, and that of the answer in effect (empty if nothing is
      recorded).
    - `crop`: JPEG data of the question's picture.
    - `is_challenge`: True if the players were to decide a challenge; otherwise they had ended a turn.
    """

    moment: str
    question: Any
    answer: Any
    events: list[dict[str, Any]] = []
    crop: bytes = b""
    is_challenge: bool = False


class QuestionNote:
    """The note with the open question; errors of the store are only logged.

    The note contains the texts of the question and, if the question can be deferred, the events that defer it.
    """

    def __init__(self, store: GameStore) -> None:
        self._store = store
        self._saved: str | None = None

    def save(self, log: GameLog, question: OpenQuestion | None, pictures: PictureBuffer) -> None:
        """Write the open question, or an empty text if there is none. An unchanged note is not written again.

        A deferred question that is shown again is not written, because it is in the log.
        """
        text = _encode_question(log, question, pictures) if question is not None and not question.deferred else ""
        if text == self._saved:
            return
        with log_store_errors("the open question is not kept"):
            self._store.save_note(TABLE_NOTES, OPEN_QUESTION_NOTE, text)
            self._saved = text

    def restore(self, log: GameLog, pictures: PictureBuffer) -> tuple[Notice, ...]:
        """Defer the question that was open when the program stopped, or return a notice if it cannot be deferred.

        Nothing is done if the log has changed since the note was written: the question may already be deferred.
        """
        try:
            self._saved = text = self._store.read_note(TABLE_NOTES, OPEN_QUESTION_NOTE)
            stored = msgspec.json.decode(text, type=_StoredQuestion) if text else None
            if stored is None or stored.moment != str(Moment(log.number, log.length)):
                return ()
            question, answer = read_message(stored.question), read_message(stored.answer)
            if not stored.events:
                if answer:
                    return (make_notice("question-counts", question, format_sentence(answer)),)
                key = "challenge-lost" if stored.is_challenge else "question-lost"
                return (make_notice(key, question, trouble=Trouble.BOARD),)
            if stored.crop:
                pictures.add_crop(question, stored.crop)
            save_error = log.extend_last_press([from_json(body) for body in stored.events])
        except (StoreError, msgspec.MsgspecError, *UNREADABLE_GAME_ERRORS) as error:
            _log.warning("the question before the restart is not known: %s", error)
            return ()
        return (make_notice("not-saved", save_error, trouble=Trouble.STORE),) if save_error else ()


def make_deferral(log: GameLog, question: OpenQuestion) -> tuple[Event, ...]:
    """Return the events that defer a question about the last press; none if its turn does not count provisionally."""
    before = log.game_before_last_press
    if question.deferred or not question.is_deferrable or before is None:
        return ()
    deferred = question.make_deferred(log.game.events[len(before.events) :])
    return defer_question(log.game, deferred, question.reading)


def _encode_question(log: GameLog, open_question: OpenQuestion, pictures: PictureBuffer) -> str:
    question = open_question.question
    stored = _StoredQuestion(
        moment=str(Moment(log.number, log.length)),
        question=write_message(question.text),
        answer=write_message(question.answers[question.chosen]) if open_question.chosen_counts else "",
        events=[to_json(event) for event in make_deferral(log, open_question)],
        crop=pictures.get(question.picture) or b"",
        is_challenge=open_question.stops_clock and not open_question.offers_wait,
    )
    return msgspec.json.encode(stored).decode()
