"""Restore of a backup: its games replace the store, and what the backup lacks is kept and listed."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from device.cli import main
from device.storage.backups import make_backup
from device.storage.errors import StoreDamagedError, StoreError, StoreLockedError
from device.storage.recovery import Restoration, open_store, restore_backup
from device.storage.store import GameStore, StoredEvent
from engine.events import GameStarted, Passed, to_json
from engine.ledger import Entry
from engine.ledger_data import write_entry
from tests.support.full_disk import file_size_limit

STARTED = to_json(GameStarted(("Anna", "Ben")))
PASS = write_entry(Entry(1, 1, ((Passed(None),),)))


@pytest.fixture
def backup(path: Path, tmp_path: Path) -> Path:
    """A backup with two games; afterwards game 2 has one more event, and game 3 has started."""
    with GameStore(path) as store:
        store.append_events(store.begin_game(STARTED), [PASS])
        store.append_events(store.begin_game(STARTED), [PASS])
        made = make_backup(store, tmp_path / "backups")
        store.append_events(2, [PASS])
        store.begin_game(STARTED)
    return made


def list_lengths(path: Path) -> dict[int, int]:
    with GameStore(path) as store:
        return {game.id: game.length for game in store.list_games()}


def list_newer(done: Restoration) -> dict[int, int] | None:
    return None if done.newer is None else {newer.game.id: newer.restored for newer in done.newer}


def test_restored_store_has_the_games_of_the_backup(path: Path, backup: Path) -> None:
    assert restore_backup(backup, path).count == 2
    assert list_lengths(path) == {1: 2, 2: 2}
    assert list_lengths(backup) == {1: 2, 2: 2}


def test_games_that_a_backup_lacks_are_listed_and_kept(path: Path, backup: Path) -> None:
    done = restore_backup(backup, path)
    assert list_newer(done) == {2: 2, 3: 0}
    assert done.aside and list_lengths(done.aside / "games.db") == {1: 2, 2: 3, 3: 1}


def test_imported_copy_with_more_turns_is_not_taken_for_the_game(path: Path, tmp_path: Path) -> None:
    with GameStore(path) as store:
        store.begin_game(STARTED)
        (begun,) = store.read_events(1)
        store.add_game(store.list_games()[0].started, [begun, StoredEvent(1, begun.time, PASS)], ())
        backup = make_backup(store, tmp_path / "backups")
    assert list_newer(restore_backup(backup, path)) == {}


def test_second_restore_of_a_day_keeps_both_replaced_stores(path: Path, backup: Path) -> None:
    first, second = restore_backup(backup, path), restore_backup(backup, path)
    assert list_newer(second) == {}
    assert first.aside and second.aside and first.aside != second.aside
    assert len(list_lengths(first.aside / "games.db")) == 3


def test_restored_store_is_opened_without_a_message(path: Path, backup: Path) -> None:
    restore_backup(backup, path)
    store, trouble = open_store(path)
    store.close()
    assert trouble == ""


def test_game_of_another_store_with_the_same_number_is_no_part_of_the_backup(backup: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "games.db"
    other.parent.mkdir()
    with GameStore(other) as store:
        store.begin_game(STARTED)
    assert list_newer(restore_backup(backup, other)) == {1: 0}


def test_store_in_use_is_not_replaced(path: Path, backup: Path) -> None:
    with GameStore(path) as store:
        with pytest.raises(StoreLockedError, match="in use"):
            restore_backup(backup, path)
        store.append_events(3, [PASS])
    assert list_lengths(path) == {1: 2, 2: 3, 3: 2}


@pytest.mark.parametrize("kind", ["text", "empty", "cut", "foreign"])
def test_file_that_is_no_backup_replaces_nothing(path: Path, backup: Path, tmp_path: Path, kind: str) -> None:
    file = tmp_path / "other.db"
    data = {"text": b"shopping list\n" * 1000, "empty": b"", "cut": backup.read_bytes()[:9000], "foreign": b""}[kind]
    file.write_bytes(data)
    if kind == "foreign":
        with sqlite3.connect(file) as db:
            db.execute("CREATE TABLE photo (name TEXT)")
        db.close()
    before = sorted(entry.name for entry in tmp_path.iterdir())
    with pytest.raises(StoreDamagedError):
        restore_backup(file, path)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == before
    assert list_lengths(path) == {1: 2, 2: 3, 3: 1}


def test_damaged_store_is_kept_as_it_was(path: Path, backup: Path) -> None:
    path.write_bytes(b"damage" * 2000)
    done = restore_backup(backup, path)
    assert done.newer is None and list_lengths(path) == {1: 2, 2: 2}
    assert done.aside and (done.aside / "games.db").read_bytes() == b"damage" * 2000


def test_missing_store_is_restored(path: Path, backup: Path) -> None:
    path.unlink()
    assert restore_backup(backup, path) == Restoration(2, None, ())
    assert list_lengths(path) == {1: 2, 2: 2}


@pytest.mark.skipif(os.geteuid() != 0, reason="only the system's owner can give files away")
def test_store_restored_by_root_belongs_to_the_owner_of_its_folder(backup: Path, tmp_path: Path) -> None:
    folder = tmp_path / "service"
    folder.mkdir()
    os.chown(folder, 65534, 65534)
    for _ in range(2):
        restore_backup(backup, folder / "games.db")
    assert {entry.name.partition("-")[0]: entry.stat().st_uid for entry in folder.iterdir()} == {
        "games.db": 65534,
        "games.db.lock": 65534,
        "replaced": 65534,
    }


def test_command_says_what_the_backup_lacks(path: Path, backup: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["restore", str(backup), "--data", str(path.parent)]) == 0
    out = capsys.readouterr().out
    assert f"2 games are restored from {backup}" in out and "are kept in" in out
    assert "game 2 (Anna, Ben): the backup has 2 of its 3 events" in out
    assert "game 3 (Anna, Ben): the backup does not have it" in out


def test_game_that_a_backup_lacks_is_imported_again(path: Path, backup: Path, tmp_path: Path) -> None:
    done = restore_backup(backup, path)
    zipped = str(tmp_path / "game.zip")
    assert main(["export", "2", zipped, "--data", str(done.aside)]) == 0
    assert main(["import", zipped, "--data", str(path.parent)]) == 0
    assert list_lengths(path) == {1: 2, 2: 2, 3: 3}


@pytest.mark.parametrize(("name", "why"), [("nothing.db", "There is no file"), ("games.db.lock", "no backup")])
def test_command_names_a_file_that_cannot_be_restored(
    path: Path, capsys: pytest.CaptureFixture[str], name: str, why: str
) -> None:
    GameStore(path).close()
    assert main(["restore", str(path.parent / name), "--data", str(path.parent)]) == 2
    assert why in capsys.readouterr().err


def test_full_disk_is_that_of_the_store_and_not_that_of_the_backup(path: Path, backup: Path, tmp_path: Path) -> None:
    stick = tmp_path / "stick.db"
    with GameStore(backup, is_owner=False) as store:
        store.copy_to(stick)
    with file_size_limit(8192), pytest.raises(StoreError) as caught:
        restore_backup(stick, path)
    assert str(path) in str(caught.value) and str(stick) not in str(caught.value)
    assert list_lengths(path) == {1: 2, 2: 3, 3: 1}
