"""Sessions with a game of Anna and Ben: in fast time with a painted table, or with a phone as the camera."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from device.cameras.phone import PhoneCamera
from device.session.commands.games import StartGame
from device.session.table_session import TableSession
from device.storage.store import GameStore
from tests.support.fast_time import FastEvent, fast_clock
from tests.support.text_table import STARTED, WORDS, PaintedTable, TextTable
from tests.support.waiting import PATIENCE_S


@contextmanager
def open_fast_session(table: PaintedTable, path: Path) -> Iterator[TableSession]:
    """Open a session whose clock and threads follow the fast time, with a store at `path`."""
    with (
        GameStore(path) as store,
        TableSession(table, table, store, WORDS, clock=fast_clock, closing=FastEvent()) as session,
    ):
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        yield session


@contextmanager
def open_phone_session(board: TextTable) -> Iterator[TableSession]:
    """Open a session whose pictures come from a phone; the board is read as `board` shows it."""
    with GameStore(":memory:") as store, TableSession(PhoneCamera(), board, store, WORDS) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        yield session
