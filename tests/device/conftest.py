"""A table of text with a session on it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from device.session import TableSession
from device.store import GameStore

from .tables import STARTED, WORDS, TextTable


@pytest.fixture
def table() -> TextTable:
    return TextTable()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "games.db"


@pytest.fixture
def session(table: TextTable, path: Path) -> Iterator[TableSession]:
    with GameStore(path) as store, TableSession(table, table, store, WORDS) as session:
        yield session


@pytest.fixture
def playing(session: TableSession) -> TableSession:
    session.start_game(STARTED).result(5)
    return session
