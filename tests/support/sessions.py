"""Sessions with a game of Anna and Ben."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from device.cameras.base import Camera
from device.cameras.phone import PhoneCamera
from device.session.commands.games import StartGame
from device.session.table_session import TableSession
from device.storage.store import GameStore
from tests.support.text_table import STARTED, WORDS, TextTable
from tests.support.waiting import PATIENCE_S


@contextmanager
def open_session(camera: Camera, board: TextTable) -> Iterator[TableSession]:
    """Open a session with a game of Anna and Ben; its pictures come from `camera`, and are read as `board` shows it."""
    with GameStore(":memory:") as store, TableSession(camera, board, store, WORDS) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        yield session


def open_phone_session(board: TextTable) -> AbstractContextManager[TableSession]:
    """Open a session whose pictures come from a phone."""
    return open_session(PhoneCamera(), board)
