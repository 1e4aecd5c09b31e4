"""Copies of pictures in a folder: those of an earlier turn are no turn, a copy of the last one may be a pass."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest

from device.cameras.folder import FolderCamera
from device.session.commands.games import StartGame
from device.session.commands.turns import EndTurn
from device.session.messages import PASS_OR_EXCHANGE
from device.session.snapshot import TableSnapshot
from device.session.table_session import TableSession
from device.storage.store import GameStore
from tests.support.text_table import FARM, HORN, STARTED, WORDS, TextTable
from tests.support.waiting import PATIENCE_S

PressWithPicture = Callable[..., TableSnapshot]


@pytest.fixture
def press(tmp_path: Path) -> Iterator[PressWithPicture]:
    """Return a function that copies the picture `1.png` or `2.png` into the folder and ends the turn of these words."""
    for number in (1, 2):
        cv2.imwrite(str(tmp_path / f"{number}.png"), np.full((300, 400, 3), 100 + number, np.uint8))
    folder, board = tmp_path / "folder", TextTable()
    folder.mkdir()
    with (
        GameStore(":memory:") as store,
        TableSession(FolderCamera.from_folder(folder), board, store, WORDS) as session,
    ):
        session.submit(StartGame(STARTED)).result(PATIENCE_S)

        def press(picture: str, *words: tuple[str, int, int, bool]) -> TableSnapshot:
            shutil.copy(tmp_path / picture, folder / f"{len(list(folder.iterdir()))}.png")
            board.lay(*words)
            return session.submit(EndTurn()).result(PATIENCE_S)

        yield press


def test_copy_of_the_picture_two_turns_ago_is_no_turn(press: PressWithPicture) -> None:
    press("1.png", HORN)
    press("2.png", HORN, FARM)
    state = press("1.png", HORN)
    assert [turn.word for turn in state.turns] == ["HORN", "FA.M"] and state.question is None
    assert [notice.text for notice in state.notices] == [
        "This is the picture of an earlier turn. Take a new picture of the board."
    ]


def test_copy_of_the_last_picture_may_be_a_pass(press: PressWithPicture) -> None:
    press("1.png", HORN)
    state = press("1.png", HORN)
    assert state.question is not None and state.question.key == PASS_OR_EXCHANGE
