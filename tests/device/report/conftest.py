"""A store with a game of three turns that a rendered table has read."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from device.session.commands.games import StartGame
from device.session.commands.turns import EndTurn
from device.session.table_session import TableSession
from device.storage.store import GameStore
from tests.support.rendered_table import RenderedTable
from tests.support.text_table import FARM, HORN, PASTE, STARTED, WORDS
from tests.support.waiting import PATIENCE_S


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, RenderedTable]:
    """The folder of a store with game 1, and the table after it; do not change them."""
    folder, table = tmp_path_factory.mktemp("played"), RenderedTable()
    with GameStore(folder / "games.db") as store, TableSession(table, table, store, WORDS) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        for words in ((HORN,), (HORN, FARM), (HORN, FARM, PASTE)):
            table.lay(*words)
            session.submit(EndTurn()).result(PATIENCE_S)
    return folder, table


@pytest.fixture
def table(played: tuple[Path, RenderedTable]) -> RenderedTable:
    """The table on which HORN, FARM and PASTE lie."""
    return played[1].copy()


@pytest.fixture
def store(tmp_path: Path, played: tuple[Path, RenderedTable]) -> Iterator[GameStore]:
    """A store with game 1: HORN, FARM and PASTE by Anna and Ben, with pictures of the events 1 to 3."""
    shutil.copytree(played[0], tmp_path, dirs_exist_ok=True)
    with GameStore(tmp_path / "games.db") as store:
        yield store
