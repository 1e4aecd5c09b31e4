"""Games with tiles that no camera can read yet, such as Hebrew."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from device.session.commands.answers import AnswerQuestion
from device.session.commands.games import StartGame
from device.session.commands.turn_corrections import InsertTurn
from device.session.commands.turns import EndTurn, EnterBoard
from device.session.messages import CommandRefusedError
from device.session.table_session import TableSession
from device.storage.store import GameStore
from engine.events import GameStarted
from tests.support.text_table import HORN, TextTable
from tests.support.waiting import PATIENCE_S


@pytest.fixture
def session(table: TextTable, tmp_path: Path) -> Iterator[TableSession]:
    with GameStore(tmp_path / "games.db") as store, TableSession(table, table, store) as session:
        session.submit(StartGame(GameStarted(("Dana", "Noam"), tile_set="he"))).result(PATIENCE_S)
        yield session


def test_camera_turn_is_refused_with_a_sentence(session: TableSession, table: TextTable) -> None:
    table.lay(HORN)
    with pytest.raises(CommandRefusedError) as refusal:
        session.submit(EndTurn()).result(PATIENCE_S)
    assert refusal.value.key == "by-hand-only"
    assert str(refusal.value) == "The camera cannot read these tiles yet. Enter the turn by hand."
    assert not session.state.turns and session.state.turn_of == 0


def test_turns_are_entered_by_hand(session: TableSession) -> None:
    session.submit(InsertTurn(1, at="8G", word="שלום")).result(PATIENCE_S)
    state = session.submit(InsertTurn(2, at="I7", word="כ.ל")).result(PATIENCE_S)
    assert [(turn.at, turn.word, turn.score) for turn in state.turns] == [("8G", "שלומ", 14), ("I7", "כ.ל", 15)]


def test_board_entered_by_hand_names_the_blank(session: TableSession) -> None:
    rows = [["."] * 15 for _ in range(15)]
    rows[7][6:10] = ["ש", "ל*", "ו", "מ"]
    state = session.submit(EnterBoard(tuple(map(tuple, rows)))).result(PATIENCE_S)
    assert [turn.score for turn in state.turns] == [10]
    assert state.turns[0].word == "ש[ל*]ומ"


def test_set_up_reads_the_picture_with_letters_that_a_camera_knows(session: TableSession) -> None:
    assert session.capture_setup_view().result(PATIENCE_S)


def test_tiles_that_no_camera_reads_are_not_enrolled(session: TableSession) -> None:
    with pytest.raises(CommandRefusedError) as refusal:
        session.enrol_tiles([["א"] * 15] * 15).result(PATIENCE_S)
    assert refusal.value.key == "by-hand-only"


def test_question_about_an_entered_board_offers_no_picture(session: TableSession) -> None:
    session.submit(InsertTurn(1, at="8G", word="שלום")).result(PATIENCE_S)
    state = session.submit(EnterBoard(tuple(("." * 15) for _ in range(15)))).result(PATIENCE_S)  # type: ignore[arg-type]
    assert state.question is not None and "Look again." not in state.question.answers
    state = session.submit(AnswerQuestion(1)).result(PATIENCE_S)
    assert [(turn.kind, turn.stands) for turn in state.turns] == [("play", True)] and state.question is None
