"""Turns whose pictures are taken by phones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from device.cameras.phone import PhoneCamera
from device.session.commands.answers import AnswerQuestion
from device.session.commands.games import EndGame, ResumeGame, StartGame, Undo
from device.session.commands.turns import EndTurn, EndTurnWithPicture
from device.session.messages import CommandRefusedError, Trouble
from device.session.table_session import TableSession
from device.storage.store import GameStore
from engine.messages import make_message
from engine.reading import BoardReading
from tests.support.sessions import open_phone_session
from tests.support.text_table import FARM, HORN, STARTED, WORDS, TextTable, rows
from tests.support.waiting import PATIENCE_S
from vision.detection.location import CUT_OFF_MESSAGES
from vision.recognition.problems import EXTRA_TILES, FOREIGN_TILES, MIRRORED, OTHER_SET

PICTURE, NEXT_PICTURE = (EndTurnWithPicture(np.full((300, 400, 3), level, np.uint8)) for level in (128, 129))


@pytest.fixture
def board() -> TextTable:
    return TextTable()


@pytest.fixture
def session(board: TextTable) -> Iterator[TableSession]:
    with open_phone_session(board) as session:
        yield session


def test_picture_of_a_phone_ends_the_turn(session: TableSession, board: TextTable) -> None:
    board.lay(HORN)
    state = session.submit(PICTURE).result(PATIENCE_S)
    assert [turn.word for turn in state.turns] == ["HORN"] and not state.notices


def test_end_turn_without_a_picture_is_refused_with_what_to_do(session: TableSession) -> None:
    with pytest.raises(CommandRefusedError, match="take a picture of the board") as refusal:
        session.submit(EndTurn()).result(PATIENCE_S)
    assert refusal.value.key == "take-picture"


def test_picture_without_a_turn_has_another_name_than_that_of_another_evening(board: TextTable) -> None:
    board.board = None
    names = set()
    for command in (PICTURE, NEXT_PICTURE):
        with open_phone_session(board) as session:
            state = session.submit(command).result(PATIENCE_S)
            assert state.look is not None and session.find_picture(state.look.picture) is not None
            names.add(state.look.picture)
    assert len(names) == 2


def test_picture_without_a_board_is_no_turn_and_another_one_is_asked_for(
    session: TableSession, board: TextTable
) -> None:
    board.board = None
    state = session.submit(PICTURE).result(PATIENCE_S)
    assert [notice.text for notice in state.notices] == ["No board was found. A cat."]
    assert not state.turns
    board.lay(HORN)
    assert session.submit(PICTURE).result(PATIENCE_S).last_turn is not None


@pytest.mark.parametrize("unusable", [("HORN", 3, 3, True), ("HORN", 7, 5, False)])
def test_picture_after_an_unusable_one_is_of_the_same_player(
    session: TableSession, board: TextTable, unusable: tuple[str, int, int, bool]
) -> None:
    board.lay(unusable)
    state = session.submit(PICTURE).result(PATIENCE_S)
    assert state.question is not None and not state.turns
    board.lay(("HO?N", 7, 5, True))
    state = session.submit(PICTURE).result(PATIENCE_S)
    assert [turn.player for turn in state.turns] == [0]
    assert state.question is not None and state.question.key == "asked-blank-unnamed"


def test_blurred_picture_from_which_nothing_is_recorded_says_so(session: TableSession, board: TextTable) -> None:
    squares = np.kron(np.indices((30, 40)).sum(0) % 2, np.ones((10, 10)))
    grey = cv2.GaussianBlur(np.array(40 + 160 * squares, np.uint8), (0, 0), 3)
    board.lay(("HORN", 3, 3, True))
    state = session.submit(EndTurnWithPicture(np.dstack([grey] * 3))).result(PATIENCE_S)
    assert state.question is None and not state.turns
    assert [notice.text for notice in state.notices] == [
        "The picture is blurred. Hold the camera still, or focus it.",
    ]


def test_second_picture_of_a_turn_is_refused(session: TableSession, board: TextTable) -> None:
    board.lay(HORN)
    seen = session.state.moment
    session.submit(PICTURE, seen).result(PATIENCE_S)
    with pytest.raises(CommandRefusedError) as refusal:
        session.submit(PICTURE, seen).result(PATIENCE_S)
    assert refusal.value.key == "turn-recorded-already" and len(session.state.turns) == 1


def test_second_picture_of_a_recorded_turn_asks_for_no_press(session: TableSession, board: TextTable) -> None:
    """Another press would ask whether the next player has passed."""
    board.lay(HORN)
    seen = session.state.moment
    session.submit(PICTURE, seen).result(PATIENCE_S)
    with pytest.raises(CommandRefusedError) as refusal:
        session.submit(NEXT_PICTURE, seen).result(PATIENCE_S)
    assert "press the button again" not in str(refusal.value)


def test_picture_after_an_undo_by_another_phone_records_nothing(session: TableSession, board: TextTable) -> None:
    board.lay(HORN)
    seen = session.submit(PICTURE).result(PATIENCE_S).moment
    session.submit(Undo(), seen).result(PATIENCE_S)
    with pytest.raises(CommandRefusedError) as refusal:
        session.submit(NEXT_PICTURE, seen).result(PATIENCE_S)
    assert refusal.value.key == "quicker" and "faster" not in str(refusal.value) and not session.state.turns


@pytest.mark.parametrize(("earlier", "words"), [(PICTURE, [HORN]), (NEXT_PICTURE, [HORN, FARM])])
def test_picture_of_an_earlier_turn_is_no_turn(
    session: TableSession, board: TextTable, earlier: EndTurnWithPicture, words: list[tuple[str, int, int, bool]]
) -> None:
    board.lay(HORN)
    session.submit(PICTURE).result(PATIENCE_S)
    board.lay(HORN, FARM)
    session.submit(NEXT_PICTURE).result(PATIENCE_S)
    board.lay(*words)
    state = session.submit(earlier).result(PATIENCE_S)
    assert [turn.word for turn in state.turns] == ["HORN", "FA.M"] and state.question is None
    assert [notice.text for notice in state.notices] == [
        "This is the picture of an earlier turn. Take a new picture of the board.",
    ]


def test_picture_of_a_turn_before_a_restart_is_no_turn(tmp_path: Path, board: TextTable) -> None:
    board.lay(HORN)
    with GameStore(tmp_path / "games.db") as store:
        with TableSession(PhoneCamera(), board, store, WORDS) as session:
            session.submit(StartGame(STARTED)).result(PATIENCE_S)
            session.submit(PICTURE).result(PATIENCE_S)
        with TableSession(PhoneCamera(), board, store, WORDS) as session:
            session.submit(ResumeGame()).result(PATIENCE_S)
            state = session.submit(PICTURE).result(PATIENCE_S)
    assert (
        len(state.turns) == 1
        and state.notices[0].text == "This is the picture of an earlier turn. Take a new picture of the board."
    )


def test_picture_whose_turn_an_answer_recorded_is_no_turn(session: TableSession, board: TextTable) -> None:
    board.board = replace(BoardReading.from_rows(rows(HORN)), orientation_confidence=0.5)
    assert session.submit(PICTURE).result(PATIENCE_S).turns == ()
    state = session.submit(AnswerQuestion(1)).result(PATIENCE_S)
    assert [turn.word for turn in state.turns] == ["HORN"]
    assert (
        session.submit(PICTURE).result(PATIENCE_S).notices[0].text
        == "This is the picture of an earlier turn. Take a new picture of the board."
    )


def test_picture_of_a_turn_that_was_undone_is_read_again(session: TableSession, board: TextTable) -> None:
    board.lay(HORN)
    session.submit(PICTURE).result(PATIENCE_S)
    session.submit(Undo()).result(PATIENCE_S)
    assert [turn.word for turn in session.submit(PICTURE).result(PATIENCE_S).turns] == ["HORN"]


def test_picture_of_the_game_before_is_read_in_the_next_one(session: TableSession, board: TextTable) -> None:
    board.lay(HORN)
    session.submit(PICTURE).result(PATIENCE_S)
    session.submit(EndGame()).result(PATIENCE_S)
    session.submit(StartGame(STARTED)).result(PATIENCE_S)
    assert [turn.word for turn in session.submit(PICTURE).result(PATIENCE_S).turns] == ["HORN"]


def test_answer_that_needs_a_picture_asks_for_it_without_a_camera_fault(
    session: TableSession, board: TextTable
) -> None:
    board.lay(HORN)
    session.submit(PICTURE).result(PATIENCE_S)
    board.lay(("FARMS", 5, 7, False))  # HORN is gone
    state = session.submit(NEXT_PICTURE).result(PATIENCE_S)
    assert state.question is not None
    again = next(i for i, answer in enumerate(state.question.answers) if "again" in answer.lower())
    state = session.submit(AnswerQuestion(again)).result(PATIENCE_S)
    assert [(notice.key, notice.trouble) for notice in state.notices] == [("take-picture", Trouble.NONE)]


def test_table_with_its_own_camera_refuses_a_picture(board: TextTable) -> None:
    with GameStore(":memory:") as store, TableSession(board, board, store) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        board.lay(HORN, FARM)
        with pytest.raises(CommandRefusedError) as refusal:
            session.submit(PICTURE).result(PATIENCE_S)
    assert refusal.value.key == "own-camera"


@pytest.mark.parametrize(
    ("problem", "advice"),
    [
        (
            CUT_OFF_MESSAGES[0],
            "The left edge of the board is missing. Take another picture with the whole board in it.",
        ),
        (
            CUT_OFF_MESSAGES[3],
            "The lower edge of the board is missing. Take another picture with the whole board in it.",
        ),
        (
            make_message("board-small", "The board is too small in the picture.", "5", "8"),
            "The board is too small in the picture. Move closer, and take another picture.",
        ),
        (
            make_message("board-not-found", "No board was found. {0}", CUT_OFF_MESSAGES[0]),
            "The left edge of the board is missing. Take another picture with the whole board in it.",
        ),
    ],
)
def test_picture_that_cannot_be_used_is_answered_with_what_to_change(
    session: TableSession, board: TextTable, problem: str, advice: str
) -> None:
    board.board, board.problems = None, (problem,)
    notices = session.submit(PICTURE).result(PATIENCE_S).notices
    assert [(notice.text, notice.trouble) for notice in notices] == [(advice, Trouble.BOARD)]


def test_question_about_a_cut_board_has_the_advice_too(session: TableSession, board: TextTable) -> None:
    board.lay(HORN)
    session.submit(PICTURE).result(PATIENCE_S)
    board.lay(("FARMS", 5, 7, False))  # HORN is gone
    board.problems = (CUT_OFF_MESSAGES[2],)
    state = session.submit(NEXT_PICTURE).result(PATIENCE_S)
    assert state.question is not None and "take-right" in [notice.key for notice in state.notices]


@pytest.mark.parametrize("key, values", [(FOREIGN_TILES, (2,)), (OTHER_SET, ("pl",)), (EXTRA_TILES, ("Q 2, ? 3",))])
def test_tiles_that_do_not_fit_the_set_are_told_once(
    key: str, values: tuple[object, ...], session: TableSession, board: TextTable
) -> None:
    board.lay(HORN)
    board.problems = (make_message(key, "{0}", *values),)
    assert key in [notice.key for notice in session.submit(PICTURE).result(PATIENCE_S).notices]
    board.lay(HORN, FARM)
    assert key not in [notice.key for notice in session.submit(NEXT_PICTURE).result(PATIENCE_S).notices]


@pytest.mark.parametrize("confidence", [0.9, 1.0])
def test_mirrored_picture_is_named_with_a_question_that_it_may_have_caused(
    confidence: float, session: TableSession, board: TextTable
) -> None:
    board.lay(HORN)
    assert board.board is not None
    board.board = replace(board.board, orientation_confidence=confidence)
    board.problems = (make_message(MIRRORED, "The picture is mirrored."),)
    state = session.submit(PICTURE).result(PATIENCE_S)
    assert (state.question is not None) == (confidence < 1)
    assert (MIRRORED in [notice.key for notice in state.notices]) == (confidence < 1)
