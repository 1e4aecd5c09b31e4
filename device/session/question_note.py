"""The open question as a note in the store, so that it survives a power cut.

The events of its turn are in the log at once, but the question itself becomes an event only when it is deferred.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import Any

import msgspec

from device.session.messages import Notice, Trouble, format_sentence, make_notice
from device.session.open_question import OpenQuestion
from device.session.picture_buffer import PictureBuffer
from device.session.snapshot import Moment
from device.storage.errors import GameDeletedError, log_store_errors
from device.storage.game_log import UNREADABLE_GAME_ERRORS, GameLog
from device.storage.notes import load_note
from device.storage.store import TABLE_NOTES, GameStore
from engine.events import Event, from_json, to_json
from engine.messages import read_message, write_message
from engine.validation.deferred_questions import defer_question

_log = logging.getLogger(__name__)

OPEN_QUESTION_NOTE = "open-question"
"""Name of the game's note that contains the open question; its text is empty while no question is open."""


class _StoredQuestion(msgspec.Struct, omit_defaults=True):
    """Contents of the note with the open question.

    - `length`: the number of events in the log of the game.
    - `events`: the events that defer the question; empty if it cannot be deferred.
    - `question` and `answer`: the text of the question, and that of the answer in effect (empty if nothing is
      recorded).
    - `crop`: JPEG data of the question's picture.
    - `is_challenge`: True if the players were to decide a challenge; otherwise they had ended a turn.
    - `moment`: the version of the game. Earlier programs wrote it in place of `length`, into a note of the table.
    """

    question: Any
    answer: Any
    length: int = 0
    moment: str = ""
    events: list[dict[str, Any]] = []
    crop: bytes = b""
    is_challenge: bool = False


class QuestionNote:
    """The note of the current game with its open question; errors of the store are only logged.

    The note contains the texts of the question and, if the question can be deferred, the events that defer it. It does
    not contain the number of the game: a rescue, or a file that can be written again, may give it another one.

    Earlier programs write a note of the table. It is emptied when the note of the game is written: a text in it is
    therefore newer, because an earlier program has continued the game.
    """

    def __init__(self, store: GameStore) -> None:
        self._store = store
        self._saved: tuple[int, str] | None = None
        """The number of the game and the text of the note that was written last."""

    def save(self, log: GameLog, open_question: OpenQuestion | None, pictures: PictureBuffer) -> None:
        """Write the open question, or an empty text if there is none. An unchanged note is not written again.

        A deferred question that is shown again is not written, because it is in the log.
        """
        text = "" if open_question is None or open_question.deferred else _encode_question(log, open_question, pictures)
        before, note = self._saved, (log.number, text)
        if note == before:
            return
        with log_store_errors("the open question is not kept"):
            if before is not None and before[0] != log.number and before[1]:  # an undo may go back to this game
                with suppress(GameDeletedError):  # a game without a turn is deleted when the next one starts
                    self._store.save_note(before[0], OPEN_QUESTION_NOTE, "")
            self._store.save_note(log.number, OPEN_QUESTION_NOTE, text)
            if self._store.read_note(TABLE_NOTES, OPEN_QUESTION_NOTE):
                self._store.save_note(TABLE_NOTES, OPEN_QUESTION_NOTE, "")
            self._saved = note

    def restore(self, log: GameLog, pictures: PictureBuffer) -> tuple[Notice, ...]:
        """Defer the question that was open when the program stopped, or return a notice if it cannot be deferred.

        Nothing is done if the log has changed since the note was written: the question may already be deferred.
        """
        stored = self._load(log)
        if stored is None:
            return ()
        try:
            question, answer = read_message(stored.question), read_message(stored.answer)
            if not stored.events:
                if answer:
                    return (make_notice("question-counts", question, format_sentence(answer)),)
                key = "challenge-lost" if stored.is_challenge else "question-lost"
                return (make_notice(key, question, trouble=Trouble.BOARD),)
            if stored.crop:
                pictures.add_crop(question, stored.crop)
            save_error = log.extend_last_press([from_json(body) for body in stored.events])
        except UNREADABLE_GAME_ERRORS as error:
            _log.warning("the question before the restart is not known: %s", error)
            return ()
        return (make_notice("not-saved", save_error, trouble=Trouble.STORE),) if save_error else ()

    def _load(self, log: GameLog) -> _StoredQuestion | None:
        """Return the question that was open after the last event of the log; None if there was none."""
        warning = "the question before the restart is not known"
        stored = load_note(self._store, TABLE_NOTES, OPEN_QUESTION_NOTE, _StoredQuestion, warning)
        if stored is not None and stored.moment == str(Moment(log.number, log.length)):
            return stored
        stored = load_note(self._store, log.number, OPEN_QUESTION_NOTE, _StoredQuestion, warning)
        return stored if stored is not None and stored.length == log.length else None


def make_deferral(log: GameLog, open_question: OpenQuestion, *, keep: int = 0) -> tuple[Event, ...]:
    """Return the events that defer a question about the last press; none if its turn does not count provisionally.

    The deferred question with the number `keep` is not closed to make room.
    """
    before = log.game_before_last_press
    if open_question.deferred or not open_question.is_deferrable or before is None:
        return ()
    deferred = open_question.make_deferred(log.game.events[len(before.events) :])
    return defer_question(log.game, deferred, open_question.reading, keep=keep)


def _encode_question(log: GameLog, open_question: OpenQuestion, pictures: PictureBuffer) -> str:
    question = open_question.question
    stored = _StoredQuestion(
        length=log.length,
        question=write_message(question.text),
        answer=write_message(question.answers[question.chosen]) if open_question.is_answer_recorded else "",
        events=[to_json(event) for event in make_deferral(log, open_question)],
        crop=pictures.get(question.picture) or b"",
        is_challenge=open_question.is_challenge,
    )
    return msgspec.json.encode(stored).decode()
