"""Storage of the open question, so that a power cut does not lose it.

The events of a press are in the log at once, but an open question becomes an event only when it is deferred. Until
then, a note of the table contains the events that defer the question or, if it cannot be answered later, its texts.
"""

from __future__ import annotations

import logging
from typing import Any

import msgspec

from device.session.memory import PictureBuffer
from device.session.messages import Notice, OpenQuestion, Trouble, make_notice
from device.session.snapshot import Moment
from device.storage.game_log import UNREADABLE_GAME_ERRORS, GameLog
from device.storage.store import TABLE_NOTES, GameStore, StoreError
from engine.events import Event, from_json, to_json
from engine.messages import read_message, write_message
from engine.validation.deferred_questions import defer_question

NOTE_NAME = "open-question"
"""Name of the table's note; its text is empty while no question is open."""

_log = logging.getLogger(__name__)


class _KeptQuestion(msgspec.Struct, omit_defaults=True):
    """Contents of the note: the version of the game (`moment`), and the question with the events that defer it.

    `question` is the text of the question, and `answer` that of the answer in effect, empty if nothing is recorded yet.
    `events` is empty if the question cannot be deferred. `crop` is the JPEG data of the question's picture.
    """

    moment: str
    question: Any
    answer: Any
    events: list[dict[str, Any]] = []
    crop: bytes = b""


class QuestionNote:
    """The note with the open question; errors of the store are only logged."""

    def __init__(self, store: GameStore) -> None:
        self._store = store
        self._saved: str | None = None

    def save(self, log: GameLog, question: OpenQuestion | None, pictures: PictureBuffer) -> None:
        """Write the open question, or an empty text if there is none, unless the note is the same already.

        A deferred question that is shown again is not written, because it is in the log.
        """
        text = _write(log, question, pictures) if question is not None and not question.deferred else ""
        if text == self._saved:
            return
        try:
            self._store.save_note(TABLE_NOTES, NOTE_NAME, text)
            self._saved = text
        except StoreError as error:
            _log.warning("the open question is not kept: %s", error)

    def restore(self, log: GameLog, pictures: PictureBuffer) -> tuple[Notice, ...]:
        """Defer the question that was open when the program stopped, or return a notice if it cannot be deferred.

        Nothing is done if the log has changed since the note was written, for example if the question was deferred
        then.
        """
        try:
            self._saved = text = self._store.read_note(TABLE_NOTES, NOTE_NAME)
            kept = msgspec.json.decode(text, type=_KeptQuestion) if text else None
            if kept is None or kept.moment != str(Moment(log.number, log.length)):
                return ()
            question, answer = read_message(kept.question), read_message(kept.answer)
            if not kept.events:
                if answer:
                    return (make_notice("question-counts", question, answer),)
                return (make_notice("question-lost", question, trouble=Trouble.BOARD),)
            if kept.crop:
                pictures.add_crop(question, kept.crop)
            trouble = log.extend_last_press([from_json(body) for body in kept.events])
        except (StoreError, msgspec.MsgspecError, *UNREADABLE_GAME_ERRORS) as error:
            _log.warning("the question before the restart is not known: %s", error)
            return ()
        return (make_notice("not-saved", trouble, trouble=Trouble.STORE),) if trouble else ()


def make_deferral(log: GameLog, question: OpenQuestion) -> tuple[Event, ...]:
    """Return the events that defer a question about the last press; empty if its turn does not count provisionally."""
    before = log.game_before_last_press
    if question.deferred or not question.is_deferrable or before is None:
        return ()
    deferred = question.make_deferred(log.game.events[len(before.events) :])
    return defer_question(log.game, deferred, question.reading)


def _write(log: GameLog, open_question: OpenQuestion, pictures: PictureBuffer) -> str:
    question = open_question.question
    kept = _KeptQuestion(
        str(Moment(log.number, log.length)),
        write_message(question.text),
        write_message(question.answers[question.chosen]) if open_question.first_is_default else "",
        [to_json(event) for event in make_deferral(log, open_question)],
        pictures.get(question.picture) or b"",
    )
    return msgspec.json.encode(kept).decode()
