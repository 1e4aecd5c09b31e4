"""Backups after each game: the last ten, without pictures, and no turn waits for them."""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from device.storage.archive import import_zip
from device.storage.backups import MAX_BACKUPS, BackupTask, delete_from_backups, list_backups, make_backup
from device.storage.database import Database
from device.storage.errors import StoreError
from device.storage.store import GameStore
from engine.events import GameStarted, Passed, to_json
from tests.support.archives import export_to_memory
from tests.support.full_disk import file_size_limit

STARTED = to_json(GameStarted(("Anna", "Ben")))


def test_backup_with_pictures_has_everything(tmp_path: Path) -> None:
    with GameStore(tmp_path / "games.db") as store:
        number = store.begin_game(STARTED)
        store.append_events(number, [to_json(Passed(0))], {1: {"board": b"\xff\xd8\xff" + bytes(50_000)}})
        store.copy_to(tmp_path / "backup.db")
        with GameStore(tmp_path / "backup.db") as copied:
            assert copied.list_games() == store.list_games() and copied.read_events(number) == store.read_events(number)
            assert (
                copied.list_pictures(number) == store.list_pictures(number)
                and copied.list_players() == store.list_players()
            )
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.skipif(os.geteuid() != 0, reason="only the system's owner can give files away")
def test_backup_made_by_root_belongs_to_the_owner_of_its_folder(tmp_path: Path) -> None:
    os.chown(tmp_path, 65534, 65534)
    with GameStore(":memory:") as store:
        backup = make_backup(store, tmp_path / "backups")
    assert backup.stat().st_uid == backup.parent.stat().st_uid == 65534


def test_backup_goes_over_nothing(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with GameStore(tmp_path / "games.db") as store:
        with pytest.raises(StoreError, match="already exists"):
            store.copy_to(tmp_path / "letter.txt")
        with pytest.raises(StoreError, match="already exists"):
            store.copy_to(Path())  # for `tilekeeper backup ""`
        with pytest.raises(StoreError, match="nowhere"):
            store.copy_to(tmp_path / "nowhere" / "backup.db")


def test_turns_are_kept_while_a_backup_runs(tmp_path: Path) -> None:
    with GameStore(tmp_path / "games.db") as store:
        number = store.begin_game(STARTED)
        for n in range(1, 41):
            store.append_events(number, [{"kind": "note"}], {n: {"photo": bytes(200_000)}})
        turns = 0
        backup = threading.Thread(target=store.copy_to, args=(tmp_path / "backup.db",))
        backup.start()
        while backup.is_alive():
            store.append_events(number, [{"kind": "note"}])
            turns += 1
        assert turns
        with GameStore(tmp_path / "backup.db") as copied:
            assert len(copied.read_events(number)) >= 41


def test_backup_has_whole_log_and_no_pictures(tmp_path: Path) -> None:
    with GameStore(tmp_path / "games.db") as store:
        for _ in range(3):
            number = store.begin_game(STARTED)
            store.append_events(number, [to_json(Passed(0))], {1: {"board": b"\xff\xd8\xff" + bytes(50_000)}})
        store.delete_game(2)
        store.save_note(3, "clock", "12 minutes")
        store.save_colour("Ben", "#ff8800")
        path = make_backup(store, tmp_path / "backups")
        store.append_events(3, [to_json(Passed(1))])  # the store is not held up
        with GameStore(path) as copy:
            assert [(game.id, game.length) for game in copy.list_games()] == [(3, 2), (1, 2)]
            assert copy.read_events(3) == store.read_events(3)[:2] and copy.list_pictures(3) == ()
            assert copy.read_note(3, "clock") == "12 minutes" and copy.list_players() == store.list_players()
        assert path.stat().st_size < 50_000


def test_last_ten_backups_are_kept_in_order(tmp_path: Path) -> None:
    (tmp_path / "games-old.db").write_bytes(b"somebody's own")
    with GameStore(tmp_path / "games.db") as store:
        for n in range(12):
            store.begin_game(STARTED)
            make_backup(store, tmp_path)
            assert len(list_backups(tmp_path)) == min(n + 1, MAX_BACKUPS)
    assert [path.name for path in list_backups(tmp_path)] == [f"games-{n:06}.db" for n in range(3, 13)]
    assert sorted(path.suffix for path in tmp_path.iterdir() if "games-" in path.name) == [".db"] * 11
    with GameStore(list_backups(tmp_path)[-1]) as newest:
        assert len(newest.list_games()) == 12


def test_backup_with_games_that_the_store_lost_is_kept(tmp_path: Path) -> None:
    for name, count in (("before.db", 2), ("games.db", 2 * MAX_BACKUPS)):  # the card lost the first file
        with GameStore(tmp_path / name) as store:
            for _ in range(count):
                store.begin_game(STARTED)
                make_backup(store, tmp_path)
    assert [path.name for path in list_backups(tmp_path)] == [
        f"games-{n:06}.db" for n in (1, 2, *range(MAX_BACKUPS + 3, 2 * MAX_BACKUPS + 3))
    ]


def test_game_is_deleted_though_there_is_a_backup_of_an_older_version(tmp_path: Path) -> None:
    old = tmp_path / "games-000001.db"
    with closing(sqlite3.connect(old)) as db:
        db.execute("PRAGMA user_version = 2")
    before = old.read_bytes()
    with GameStore(tmp_path / "games.db") as store:
        store.begin_game(STARTED)
        make_backup(store, tmp_path)
        delete_from_backups(store.list_games()[0].started, False, tmp_path)
    with GameStore(list_backups(tmp_path)[-1]) as newest:
        assert newest.list_games() == () and old.read_bytes() == before


def test_backup_from_which_a_game_was_deleted_is_not_kept(tmp_path: Path) -> None:
    with GameStore(tmp_path / "games.db") as store:
        store.delete_listeners.append(lambda *game: delete_from_backups(*game, tmp_path))
        for _ in range(2):
            store.begin_game(STARTED)
        make_backup(store, tmp_path)
        store.delete_game(1)
        for _ in range(MAX_BACKUPS):
            make_backup(store, tmp_path)
    assert list_backups(tmp_path)[0].name == "games-000002.db"


def test_backup_after_the_last_number_of_six_digits_gets_the_next_number(tmp_path: Path) -> None:
    (tmp_path / "backups").mkdir()
    (tmp_path / "backups" / "games-999999.db").write_bytes(b"a copy of somebody's own")
    with GameStore(tmp_path / "games.db") as store:
        for _ in range(2):
            make_backup(store, tmp_path / "backups")
    assert [path.name for path in list_backups(tmp_path / "backups")] == [
        f"games-{number}.db" for number in (999_999, 1_000_000, 1_000_001)
    ]


def test_failed_backup_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "backups").write_bytes(b"a file is in the way")
    with GameStore(tmp_path / "games.db") as store, BackupTask(store, tmp_path / "backups") as task:
        task.request()
    assert [record.levelno for record in caplog.records] == [
        logging.WARNING
    ] and "the backups are not up to date" in caplog.text


def test_deleted_game_is_deleted_from_backups(tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    with GameStore(tmp_path / "games.db") as store:
        with BackupTask(store, folder) as task:
            for name in ("Xaver", "Yvonne"):
                store.begin_game(to_json(GameStarted((name, "Ben"))))
                task.request()
            store.delete_game(1)
        for path in list_backups(folder):
            with GameStore(path) as backup:
                assert 1 not in {game.id for game in backup.list_games()}
    assert b'"Xaver"' not in b"".join(path.read_bytes() for path in folder.iterdir())


def test_deleted_copy_of_a_game_leaves_the_game_in_the_backups(tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    with GameStore(tmp_path / "games.db") as store, BackupTask(store, folder) as task:
        game = store.begin_game(STARTED)
        earlier = export_to_memory(store, game)
        store.append_events(game, [to_json(Passed(0))])
        copy = import_zip(store, earlier)
        task.request()
        store.delete_game(copy)
    with GameStore(list_backups(folder)[0]) as backup:
        assert [stored.id for stored in backup.list_games()] == [game]


def test_game_of_a_new_store_does_not_delete_an_earlier_game_of_its_number(tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    for name in ("before.db", "games.db"):  # the card lost the first file
        with GameStore(tmp_path / name) as store, BackupTask(store, folder) as task:
            store.begin_game(STARTED)
            if name == "before.db":
                task.request()
            else:
                store.delete_game(1)
    with GameStore(list_backups(folder)[0]) as backup:
        assert [game.id for game in backup.list_games()] == [1]


def test_damaged_backup_keeps_no_game_in_the_others(tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    with GameStore(tmp_path / "games.db") as store:
        store.begin_game(STARTED)
        started = store.list_games()[0].started
        damaged, other = make_backup(store, folder), make_backup(store, folder)
    damaged.write_bytes(b"no store" * 1000)
    with pytest.raises(StoreError, match="damaged"):
        delete_from_backups(started, False, folder)
    with GameStore(other) as backup:
        assert backup.list_games() == ()


@pytest.mark.parametrize("max_bytes", [20_000, 100_000])
@pytest.mark.parametrize("pictures", [False, True])
def test_full_disk_leaves_no_part_of_a_backup(tmp_path: Path, max_bytes: int, pictures: bool) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    with GameStore(tmp_path / "games.db") as store:
        number = store.begin_game(STARTED)
        for _ in range(10):
            store.append_events(number, [{"kind": "pass", "player": 0, "text": "x" * 30_000}])
        with file_size_limit(max_bytes), pytest.raises(StoreError):
            store.copy_to(folder / "games-000001.db", pictures=pictures)
        assert list(folder.iterdir()) == []
        assert make_backup(store, folder) == folder / "games-000001.db"


def test_backup_without_its_end_replaces_no_earlier_backup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "backups"
    with GameStore(tmp_path / "games.db") as store:
        store.begin_game({"n": 0})
        for _ in range(MAX_BACKUPS):
            make_backup(store, folder)
        earlier = list_backups(folder)
        copy = Database._copy_without_pictures

        def copy_and_fail(database: Database, path: Path) -> None:
            copy(database, path)
            Path(f"{path}-wal").write_bytes(b"the last pages")  # the disk failed when SQLite closed the file

        monkeypatch.setattr(Database, "_copy_without_pictures", copy_and_fail)
        with pytest.raises(StoreError, match="does not work properly"):
            make_backup(store, folder)
        assert list_backups(folder) == earlier
