"""A changed or missing event damages its own game only, shows, and never changes a total silently."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from device.storage.archive import export_gcg, export_zip
from device.storage.game_log import GameLog
from device.storage.recovery import open_store
from device.storage.store import GameStore, StoreError
from device.storage.summary_cache import SummaryCache
from engine.events import GameStarted, Passed, to_json
from tests.support.damaged_store import change_store

STARTED = to_json(GameStarted(("Anna", "Ben")))
PASSES = [to_json(Passed(n % 2)) for n in range(4)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store of two games with five events each."""
    path = tmp_path / "games.db"
    with GameStore(path) as store:
        for _ in range(2):
            store.append_events(store.begin_game(STARTED), PASSES)
    return path


@pytest.fixture(params=[
    "UPDATE event SET body = replace(body, 'pass', 'pasS') WHERE game = 1 AND number = 3",
    "UPDATE event SET time = time + 1 WHERE game = 1 AND number = 3",
    "UPDATE event SET body = CAST(X'7BFF' AS TEXT) WHERE game = 1 AND number = 3",
    "UPDATE event SET checksum = 'x' || checksum WHERE game = 1 AND number = 3",
    "DELETE FROM event WHERE game = 1 AND number >= 3",
])  # fmt: skip
def damaged(path: Path, request: pytest.FixtureRequest) -> Iterator[GameStore]:
    change_store(path, request.param)
    with GameStore(path) as store:
        yield store


def test_damaged_game_keeps_events_before_damage(damaged: GameStore) -> None:
    newest, oldest = damaged.list_games()
    assert not newest.damage and newest.length == 5
    assert "Game 1 is damaged, and only the first 3 of its events can be read" in oldest.damage and oldest.length == 3
    assert [event.body for event in damaged.read_events(1)] == [STARTED, *PASSES[:2]]


def test_damaged_game_has_no_standing_and_can_be_exported_and_deleted(damaged: GameStore) -> None:
    assert SummaryCache(damaged).get_standing(damaged.list_games()[1]) is None
    assert export_gcg(damaged, 1).count("\n>") == 2 and b"".join(export_zip(damaged, 1))
    damaged.delete_game(1)
    assert [game.id for game in damaged.list_games()] == [2]


@pytest.mark.parametrize("column", ["started = started + 1", "imported = 1", "deleted = 1", "length = 4", "seal = ''"])
def test_damaged_row_in_list_of_games_shows(path: Path, column: str) -> None:
    change_store(path, f"UPDATE game SET {column} WHERE id = 1")
    store, problem = open_store(path)
    with store:
        assert "Game 1 is damaged" in problem and store.list_games()[1].damage and len(store.read_events(1)) == 5
        store.delete_game(1)
        assert [game.id for game in store.list_games()] == [2]


def test_damaged_newest_game_is_not_resumed(path: Path) -> None:
    change_store(path, "UPDATE event SET body = '{}' WHERE game = 2 AND number = 0")
    with GameStore(path) as store:
        assert store.list_games()[0].players == () and store.list_games()[0].length == 0
        with pytest.raises(StoreError, match="Game 2 is damaged, and only the first 0 of its events"):
            GameLog.load_newest(store)
        assert store.begin_game(STARTED) == 3 and GameLog.load_newest(store) is not None


def test_damaged_note_is_ignored(path: Path) -> None:
    with GameStore(path) as store:
        store.save_note(1, "sum", "450")
        assert store.read_note(1, "sum") == "450"
    change_store(path, "UPDATE note SET text = '451'")
    with GameStore(path) as store:
        assert store.read_note(1, "sum") is None and store.read_notes_by_game("sum") == {}


def test_lost_last_events_are_reported_once(path: Path) -> None:
    copy = path.read_bytes()
    with GameStore(path) as store:
        store.append_events(2, PASSES[:1])
    path.write_bytes(copy)
    store, problem = open_store(path)
    store.close()
    assert "The last events of game 2 are lost: 5 of 6 are left" in problem
    store, problem = open_store(path)
    store.close()
    assert problem == ""


def test_damaged_tail_record_is_ignored(path: Path) -> None:
    tail = path.with_name("games.db.tail")
    tail.write_bytes(tail.read_bytes().replace(b"5", b"9"))
    store, problem = open_store(path)
    store.close()
    assert problem == ""


def test_damaged_version_is_no_newer_store(path: Path) -> None:
    change_version = sqlite3.connect(path)
    change_version.execute("PRAGMA user_version = 7")
    change_version.close()
    store, problem = open_store(path)
    with store:
        assert "Number of games recovered from it: 2." in problem and len(store.list_games()) == 2
