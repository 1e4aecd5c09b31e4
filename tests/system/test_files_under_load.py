"""Backups, exports and imports while turns are confirmed: none of these is lost or torn, and each file opens."""

from __future__ import annotations

import io
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import pytest

from device.cli import main
from device.session.commands.games import StartGame
from device.session.commands.turns import ExchangeTiles
from device.storage.archive import import_zip
from device.storage.store import GameStore
from tests.support.api_table import STARTED, WebTable, open_web_table
from tests.support.waiting import PATIENCE_S
from tests.web.conftest import pair, token

TURNS = 60


@pytest.fixture
def table(tmp_path: Path) -> Iterator[WebTable]:
    with open_web_table(tmp_path / "data") as table:
        table.session.submit(StartGame(STARTED)).result(PATIENCE_S)
        yield table


@pytest.fixture(autouse=True)
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


@contextmanager
def confirm_turns(table: WebTable) -> Iterator[Future[int]]:
    """Confirm turns as fast as the table can meanwhile; the future has the number of events that were confirmed."""
    has_begun = Event()

    def confirm() -> int:
        events = 0
        for _ in range(TURNS):
            state = table.session.submit(ExchangeTiles(1)).result(PATIENCE_S)
            assert not state.notices and state.events > events
            events = state.events
            has_begun.set()
        return events

    with ThreadPoolExecutor(1) as worker:
        turns = worker.submit(confirm)
        assert has_begun.wait(PATIENCE_S)
        yield turns


def check_whole(table: WebTable, confirmed: int) -> None:
    """Assert that the store of the table has all confirmed turns of the game, undamaged."""
    assert len(table.store.read_events(1)) == confirmed
    assert not any(game.damage for game in table.store.list_games())


def check_copy(copy: GameStore, table: WebTable, game: int = 1) -> None:
    """Assert that a copy has the turns of the table up to a moment."""
    stored = next(one for one in copy.list_games() if one.id == game)
    events = [event.body for event in copy.read_events(game)]
    assert not stored.damage and len(events) == stored.length > 1
    assert events == [event.body for event in table.store.read_events(1)][: len(events)]


def test_backups_while_turns_are_confirmed_are_whole(table: WebTable, data: Path, tmp_path: Path) -> None:
    copies = []
    with confirm_turns(table) as turns:
        while not turns.done():
            copies.append(tmp_path / f"copy-{len(copies)}.db")
            assert main(["backup", str(copies[-1]), "--data", str(data)]) == 0
            copies.append(tmp_path / f"copy-{len(copies)}.db")
            table.store.copy_to(copies[-1], pictures=False)
        confirmed = turns.result()
    check_whole(table, confirmed)
    assert len(copies) > 2
    for path in copies:
        with GameStore(path) as copy:
            check_copy(copy, table)


def test_exports_while_turns_are_confirmed_open_at_another_table(table: WebTable, data: Path, tmp_path: Path) -> None:
    client, archives = table.app.test_client(), list[bytes]()
    with confirm_turns(table) as turns:
        while not turns.done():
            archives.append(client.get("/history/1/game.zip").data)
            path = tmp_path / f"{len(archives)}.zip"
            assert main(["export", "1", str(path), "--data", str(data)]) == 0
            archives.append(path.read_bytes())
        confirmed = turns.result()
    check_whole(table, confirmed)
    assert len(archives) > 2
    for archive in archives:
        with GameStore(":memory:") as other:
            check_copy(other, table, import_zip(other, io.BytesIO(archive)))


def test_imports_while_turns_are_confirmed_are_whole(table: WebTable, data: Path, tmp_path: Path) -> None:
    phone = table.app.test_client()
    pair(phone)
    archives = []
    for _ in range(30):  # games that differ, because no game is imported twice
        table.session.submit(ExchangeTiles(1)).result(PATIENCE_S)
        archives.append(phone.get("/history/1/game.zip").data)
    with confirm_turns(table) as turns:
        for number, archive in enumerate(archives):
            if number % 2:
                form = {"csrf": token(phone), "file": (io.BytesIO(archive), "game.zip")}
                assert phone.post("/history/import", data=form, content_type="multipart/form-data").status_code == 303
            else:
                path = tmp_path / f"{number}.zip"
                path.write_bytes(archive)
                assert main(["import", str(path), "--data", str(data)]) == 0
        confirmed = turns.result()
    check_whole(table, confirmed)
    games = [game for game in table.store.list_games() if game.imported]
    assert len(games) == len(archives)
    for game in games:
        check_copy(table.store, table, game.id)
