"""The number of a question: an answer to another question is refused."""

from __future__ import annotations

import pytest

from device.session.commands.answers import AnswerQuestion, ChooseNextAnswer, DeferQuestion, ReadAgain, RecallQuestion
from device.session.commands.base import QuestionCommand
from device.session.commands.challenges import ChallengePlay
from device.session.commands.games import StartGame, Undo
from device.session.commands.turns import EndTurn
from device.session.messages import CommandRefusedError
from device.session.snapshot import TableSnapshot
from device.session.table_session import TableSession
from device.storage.store import GameStore
from engine.reading import BoardReading, SquareReading
from tests.support.text_table import HORN, STARTED, TextTable, play, rows
from tests.support.waiting import PATIENCE_S

CAT, DOG = ("CAT", 1, 1, True), ("DOG", 12, 1, True)
HIDDEN = SquareReading((("#", 0.9), (".", 0.1)))


def get_id(state: TableSnapshot) -> int:
    """Return the number of the open question."""
    assert state.question is not None
    return state.question.id


def replace_question(session: TableSession, table: TextTable) -> tuple[int, TableSnapshot]:
    """Open a question before whose answer nothing is recorded; another phone then lets the table look again."""
    play(session, table, HORN)
    before = play(session, table, HORN, CAT)
    squares = list(BoardReading.from_rows(rows(HORN)).squares)
    squares[8 * 15 + 5] = HIDDEN
    table.board = BoardReading(tuple(squares))
    after = session.submit(ReadAgain(question_id=get_id(before))).result(PATIENCE_S)
    assert after.question != before.question
    return get_id(before), after


@pytest.mark.parametrize("command", [AnswerQuestion(1), DeferQuestion(), ReadAgain(), ChooseNextAnswer(), Undo()])
def test_answer_to_a_question_that_was_replaced_is_refused(
    playing: TableSession, table: TextTable, command: QuestionCommand
) -> None:
    old, state = replace_question(playing, table)
    fields = {name: getattr(command, name) for name in command.__struct_fields__}
    with pytest.raises(CommandRefusedError) as refused:
        playing.submit(type(command)(**fields | {"question_id": old}), state.moment).result(PATIENCE_S)
    assert refused.value.key == "other-question"
    assert playing.state.question == state.question and len(playing.state.turns) == 1


def test_answer_to_the_question_that_is_open_counts(playing: TableSession, table: TextTable) -> None:
    _, state = replace_question(playing, table)
    state = playing.submit(AnswerQuestion(1, question_id=get_id(state))).result(PATIENCE_S)
    assert [turn.kind for turn in state.turns] == ["play", "pass"]


def test_answer_without_a_number_is_for_the_open_question(playing: TableSession, table: TextTable) -> None:
    replace_question(playing, table)
    assert len(playing.submit(AnswerQuestion(1)).result(PATIENCE_S).turns) == 2


def test_second_undo_of_two_phones_does_not_undo_the_play(table: TextTable, playing: TableSession) -> None:
    play(playing, table, HORN)
    state = play(playing, table, HORN, CAT)
    undo = Undo(question_id=get_id(state))
    playing.submit(undo, state.moment).result(PATIENCE_S)
    with pytest.raises(CommandRefusedError):
        playing.submit(undo, state.moment).result(PATIENCE_S)
    assert len(playing.state.turns) == 1


def test_recall_by_the_panel_does_not_replace_an_open_question(playing: TableSession, table: TextTable) -> None:
    _, state = replace_question(playing, table)
    with pytest.raises(CommandRefusedError):
        playing.submit(RecallQuestion(question_id=0)).result(PATIENCE_S)
    assert playing.state.question == state.question


def test_number_stays_while_the_panel_chooses_other_answers(playing: TableSession) -> None:
    state = playing.submit(EndTurn()).result(PATIENCE_S)
    chosen = playing.submit(ChooseNextAnswer(question_id=get_id(state))).result(PATIENCE_S)
    assert chosen.question is not None and chosen.question.chosen == 1 and get_id(chosen) == get_id(state)


def test_question_has_the_same_number_after_a_restart() -> None:
    numbers = []
    for _ in range(2):
        table = TextTable()
        with GameStore(":memory:") as store, TableSession(table, table, store, None) as session:
            session.submit(StartGame(STARTED)).result(PATIENCE_S)
            play(session, table, HORN)
            numbers.append(get_id(session.submit(ChallengePlay()).result(PATIENCE_S)))
    assert numbers[0] == numbers[1] > 0
