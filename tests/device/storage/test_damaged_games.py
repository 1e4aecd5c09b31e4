"""A changed or missing event stays in its game as an unreadable entry, shows, and never changes a total silently."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from device.storage.archive import export_gcg, export_zip, load_game
from device.storage.errors import StoreError
from device.storage.game_log import GameLog, write_ledger
from device.storage.recovery import open_store
from device.storage.statistics import SummaryCache
from device.storage.store import GameStore
from engine.board import EMPTY_BOARD
from engine.events import GameStarted, Passed, PlayMade, TurnInserted
from engine.ledger import Entry, Ledger
from engine.ledger_data import UNREADABLE
from engine.plays import Play
from tests.support.damaged_store import change_store

LEDGER = Ledger(
    GameStarted(("Anna", "Ben")), tuple(Entry(number, number, ((Passed(None),),)) for number in range(1, 5))
)
STARTED, *PASSES = write_ledger(LEDGER)


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
    "DELETE FROM event WHERE game = 1 AND number = 3",
])  # fmt: skip
def damaged(path: Path, request: pytest.FixtureRequest) -> Iterator[GameStore]:
    change_store(path, request.param)
    with GameStore(path) as store:
        yield store


def test_damaged_event_stays_in_its_game_as_an_unreadable_entry(damaged: GameStore) -> None:
    newest, oldest = damaged.list_games()
    assert not newest.damage and newest.length == 5
    assert "Game 1 is damaged, and only 4 of its 5 entries can be read" in oldest.damage and oldest.length == 5
    assert [event.body for event in damaged.read_events(1)] == [STARTED, *PASSES[:2], UNREADABLE, PASSES[3]]


def test_damaged_game_has_no_standing_and_can_be_exported_and_deleted(damaged: GameStore) -> None:
    assert SummaryCache(damaged).get_standing(damaged.list_games()[1]) is None
    assert export_gcg(damaged, 1).count("\n>") == 3 and b"".join(export_zip(damaged, 1))
    damaged.delete_game(1)
    assert [game.id for game in damaged.list_games()] == [2]


def test_turn_of_an_unreadable_entry_can_be_entered_again(path: Path) -> None:
    change_store(path, "UPDATE event SET body = '{}' WHERE game = 2 AND number = 3")
    with GameStore(path) as store:
        log = GameLog.load_newest(store)
        assert log is not None and [entry.number for entry in log.ledger.unreadable] == [3]
        horn = PlayMade(0, Play.from_gcg(EMPTY_BOARD, "8F", "HORN", log.game.tiles))
        log.append(log.ledger.record([((TurnInserted(log.game.turns[2].ref, horn),),)]))
        assert log.game.totals == (14, 0)
    with GameStore(path) as store:
        assert store.read_events(2)[3].body == UNREADABLE and load_game(store, 2).totals == (14, 0)


def test_acts_that_are_impossible_without_an_unreadable_entry_are_left_out(path: Path) -> None:
    with GameStore(path) as store:
        log = GameLog.load_newest(store)
        assert log is not None
        log.append(log.ledger.undo())
        log.append(log.ledger.redo())
    change_store(path, "UPDATE event SET body = '{}' WHERE game = 2 AND number = 5")
    with GameStore(path) as store:
        log = GameLog.load_newest(store)
        assert log is not None and len(log.game.turns) == 4 and not log.can_redo


@pytest.mark.parametrize(
    "column", ["started = started + 1", "imported = 1", "deleted = 1", "length = 4", "checksum = ''"]
)
def test_damaged_row_in_list_of_games_shows(path: Path, column: str) -> None:
    change_store(path, f"UPDATE game SET {column} WHERE id = 1")
    store, problem = open_store(path)
    with store:
        assert "Game 1 is damaged" in problem and store.list_games()[1].damage and len(store.read_events(1)) == 5
        store.delete_game(1)
        assert [game.id for game in store.list_games()] == [2]


def test_game_that_is_missing_in_the_list_of_games_is_rescued_as_uncertain(path: Path) -> None:
    change_store(path, "DELETE FROM game WHERE id = 1")
    store, problem = open_store(path)
    with store:
        assert "Number of games recovered from it: 2, some only in part" in problem
        assert [event.body for event in store.read_events(1)] == [STARTED, *PASSES, UNREADABLE]


def test_game_without_its_start_cannot_be_opened(path: Path) -> None:
    change_store(path, "UPDATE event SET body = '{}' WHERE game = 2 AND number = 0")
    with GameStore(path) as store:
        assert store.list_games()[0].players == ()
        with pytest.raises(StoreError, match="Game 2 is damaged, and only 4 of its 5 entries"):
            GameLog.load_newest(store)
        assert store.begin_game(STARTED) == 3 and GameLog.load_newest(store) is not None


def test_damaged_note_is_ignored(path: Path) -> None:
    with GameStore(path) as store:
        store.save_note(1, "sum", "450")
        assert store.read_note(1, "sum") == "450"
    change_store(path, "UPDATE note SET text = '451'")
    with GameStore(path) as store:
        assert store.read_note(1, "sum") is None and store.read_notes_by_game("sum") == {}


def test_lost_last_event_is_an_unreadable_entry(path: Path) -> None:
    change_store(path, "DELETE FROM event WHERE game = 2 AND number = 4")
    with GameStore(path) as store:
        store.append_events(2, PASSES[:1])
        assert [event.body for event in store.read_events(2)] == [STARTED, *PASSES[:3], UNREADABLE, PASSES[0]]


def test_damaged_version_is_no_newer_store(path: Path) -> None:
    change_version = sqlite3.connect(path)
    change_version.execute("PRAGMA user_version = 7")
    change_version.close()
    store, problem = open_store(path)
    with store:
        assert "Number of games recovered from it: 2." in problem and len(store.list_games()) == 2
