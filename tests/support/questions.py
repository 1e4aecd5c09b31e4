"""The open question of a session."""

from __future__ import annotations

from device.session.commands.answers import AnswerDeferred, AnswerQuestion
from device.session.snapshot import TableSnapshot
from device.session.table_session import TableSession
from tests.support.waiting import PATIENCE_S


def answer(session: TableSession, text: str) -> TableSnapshot:
    """Choose the answer that contains this text."""
    question = session.state.question
    assert question is not None
    number = next(number for number, answer in enumerate(question.answers) if text in answer)
    return session.submit(AnswerQuestion(number)).result(PATIENCE_S)


def answer_late(session: TableSession, answer: int, question: int = 0) -> TableSnapshot:
    """Choose an answer, by its number, of one of the questions that were left open; `question` is its index."""
    number = session.state.open_questions[question].number
    return session.submit(AnswerDeferred(number, answer)).result(PATIENCE_S)


def get_key(state: TableSnapshot) -> str:
    """Return the key of the open question; empty if there is none."""
    return state.question.key if state.question else ""
