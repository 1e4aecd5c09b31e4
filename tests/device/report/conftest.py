"""A store with a game of three turns that a rendered table has read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from device.session.commands.games import StartGame
from device.session.commands.turns import EndTurn
from device.session.table_session import TableSession
from device.storage.store import GameStore
from tests.support.rendered_table import RenderedTable
from tests.support.text_table import FARM, HORN, PASTE, STARTED, WORDS


@pytest.fixture
def table() -> RenderedTable:
    return RenderedTable()


@pytest.fixture
def store(tmp_path: Path, table: RenderedTable) -> Iterator[GameStore]:
    """A store with game 1: HORN, FARM and PASTE by Anna and Ben, with pictures of the events 1 to 3."""
    with GameStore(tmp_path / "games.db") as store:
        with TableSession(table, table, store, WORDS) as session:
            session.submit(StartGame(STARTED)).result(5)
            for words in ((HORN,), (HORN, FARM), (HORN, FARM, PASTE)):
                table.lay(*words)
                session.submit(EndTurn()).result(5)
        yield store
