"""The store: what append returned from is there after any end of the program."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from device.storage.database import STORE_SCHEMA
from device.storage.errors import GameDeletedError, StoreError, StoreReadOnlyError, StoreVersionError
from device.storage.recovery import open_store
from device.storage.store import MAX_PICTURE_BYTES, GameStore, PictureLimits
from tests.support.damaged_store import get_connection, limit_pages
from tests.support.waiting import until

ROOT = Path(__file__).parents[3]
STARTED = {"n": -1}


def test_log_comes_back_in_order_after_reopening(path: Path) -> None:
    with GameStore(path, clock=lambda: 12.5) as store:
        game = store.begin_game({"kind": "started", "players": ["Anna", "Bär"]})
        store.append_events(game, [{"kind": "pass"}])
        store.append_events(game, [{"kind": "withdrawn"}, {"kind": "play", "letters": "ÄH"}])
    with GameStore(path) as store:
        events = store.read_events(game)
        assert [(e.number, e.time, e.body["kind"]) for e in events] == [
            (0, 12.5, "started"),
            (1, 12.5, "pass"),
            (2, 12.5, "withdrawn"),
            (3, 12.5, "play"),
        ]
        assert events[3].body["letters"] == "ÄH"
        assert store.list_games()[0].first_event["players"] == ["Anna", "Bär"]


def test_games_do_not_mix_and_the_newest_is_first(path: Path) -> None:
    with GameStore(path) as store:
        first, second = store.begin_game(STARTED), store.begin_game(STARTED)
        store.append_events(first, [{"n": 1}])
        store.append_events(second, [{"n": 2}])
        assert [e.body["n"] for e in store.read_events(first)] == [-1, 1]
        assert [g.id for g in store.list_games()] == [second, first]


def test_pictures_go_with_the_event_of_their_number(path: Path) -> None:
    with GameStore(path) as store:
        game = store.begin_game(STARTED)
        store.append_events(game, [{"n": 1}, {"n": 2}], {2: {"board": b"jpeg"}})
        assert store.read_picture(game, 2, "board") == b"jpeg" and store.read_picture(game, 1, "board") is None


def test_notes_are_saved_with_the_events_to_which_they_belong(path: Path) -> None:
    with GameStore(path) as store:
        game = store.begin_game(STARTED)
        store.append_events(game, [{"n": 1}], notes={"evidence": "A1"})
        with pytest.raises(TypeError):
            store.append_events(game, [{"n": object()}], notes={"evidence": "B2"})
        assert store.read_note(game, "evidence") == "A1"


def test_write_ahead_log_is_emptied_after_each_turn(path: Path) -> None:
    log = path.with_name("games.db-wal")
    with GameStore(path) as store:
        game = store.begin_game(STARTED)
        store.append_events(game, [{"n": 1}], {1: {"board": bytes(50_000)}})
        until(lambda: log.stat().st_size == 0)


def test_turn_is_saved_at_once_while_another_program_reads_the_file(path: Path) -> None:
    with GameStore(path) as store, closing(sqlite3.connect(path, isolation_level=None)) as other:
        game = store.begin_game(STARTED)
        other.execute("BEGIN")
        other.execute("SELECT * FROM event").fetchall()
        began = time.monotonic()
        store.append_events(game, [{"n": 1}])
        assert time.monotonic() - began < 2
        other.execute("COMMIT")
        assert len(store.read_events(game)) == 2


def test_turn_is_written_whole_or_not_at_all(path: Path) -> None:
    with GameStore(path) as store:
        game = store.begin_game(STARTED)
        with pytest.raises(TypeError):
            store.append_events(game, [{"n": 1}, {"n": object()}])
        assert [e.body for e in store.read_events(game)] == [STARTED]
        store.append_events(game, [{"n": 3}])
        assert [e.number for e in store.read_events(game)] == [0, 1]


@pytest.mark.parametrize("sql", ["UPDATE event SET body = '{}'", "DELETE FROM event"])
def test_log_only_grows(path: Path, sql: str) -> None:
    with GameStore(path) as store:
        store.append_events(store.begin_game(STARTED), [{"n": 1}])
    db = sqlite3.connect(path)
    with pytest.raises(sqlite3.IntegrityError, match="only grows"):
        db.execute(sql)
    db.close()


def test_event_of_no_game_is_refused(path: Path) -> None:
    with GameStore(path) as store, pytest.raises(StoreError):
        store.append_events(99, [{"n": 1}])


def test_file_that_is_no_store_is_refused_and_kept(path: Path) -> None:
    path.write_bytes(b"shopping list\n" * 100)
    with pytest.raises(StoreError, match="not a file of Tilekeeper"):
        GameStore(path)
    assert path.read_bytes().startswith(b"shopping")


def test_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="--data"):
        GameStore(tmp_path / "nowhere" / "games.db")


def test_full_disk_takes_the_turn_without_its_picture_and_then_says_so(path: Path) -> None:
    with GameStore(path) as store:
        game = store.begin_game(STARTED)
        limit_pages(store, 30)
        kept = 0
        with pytest.raises(StoreError, match="full"):
            for n in range(100):
                store.append_events(game, [{"n": n, "text": "x" * 2000}], {n + 1: {"photo": bytes(400_000)}})
                kept = n
        assert kept > 1
        assert [e.body["n"] for e in store.read_events(game)] == list(range(-1, kept + 1))
        assert store.list_pictures(game) == ()


def test_many_threads_write_one_unbroken_log(path: Path) -> None:
    with GameStore(path) as store:
        game = store.begin_game(STARTED)

        def write() -> None:
            for n in range(10):
                store.append_events(game, [{"n": n}])

        threads = [threading.Thread(target=write) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [e.number for e in store.read_events(game)] == list(range(51))


WRITER = """
import sys
from device.storage.store import GameStore
store = GameStore(sys.argv[1])
game = store.begin_game({"n": -1})
n = 0
while True:
    store.append_events(game, [{"n": n}], {n + 1: {"board": bytes(20_000)}})
    print(n, flush=True)
    n += 1
"""


def test_every_confirmed_turn_survives_a_kill(path: Path) -> None:
    for turns in (1, 4, 9):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, cwd=ROOT, text=True
        )
        assert writer.stdout is not None
        confirmed = [int(writer.stdout.readline()) for _ in range(turns)]
        os.kill(writer.pid, signal.SIGKILL)
        confirmed += [int(line) for line in writer.stdout.read().split()]
        writer.stdout.close()
        writer.wait()
        with GameStore(path) as store:
            kept = [e.body["n"] for e in store.read_events(store.list_games()[0].id)][1:]
        assert kept[: len(confirmed)] == confirmed
        assert len(kept) <= len(confirmed) + 1


@pytest.mark.parametrize(("file_id", "version"), STORE_SCHEMA.old_versions)
def test_older_store_is_refused_with_its_remedy_and_not_changed(path: Path, file_id: int, version: int) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(f"PRAGMA application_id = {file_id}")
        db.execute(f"PRAGMA user_version = {version}")
        db.execute("CREATE TABLE game (id INTEGER PRIMARY KEY, started REAL NOT NULL)")
    before = path.read_bytes()
    with pytest.raises(StoreVersionError, match="export them as GCG with that version"):
        GameStore(path)
    store, problem = open_store(path)
    with store:
        assert store.path == ":memory:" and "export them as GCG" in problem
    assert path.read_bytes() == before


def test_newer_store_of_this_program_is_refused_and_kept(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA application_id = {STORE_SCHEMA.make_file_id(99)}")
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreVersionError, match="newer"):
        GameStore(path)


def test_deleted_game_is_gone_and_the_others_are_not(path: Path) -> None:
    with GameStore(path) as store:
        first, second = store.begin_game(STARTED), store.begin_game(STARTED)
        for game in (first, second):
            store.append_events(game, [{"n": 1}], {1: {"board": b"jpeg of %d" % game * 5000}})
            store.save_note(game, "clock", "ticking")
        store.delete_game(first)
        assert [g.id for g in store.list_games()] == [second]
        assert store.read_events(first) == () and store.read_picture(first, 1, "board") is None
        assert store.read_note(first, "clock") is None and store.read_note(second, "clock") == "ticking"
        assert len(store.read_events(second)) == 2 and store.list_pictures(second) == ((1, "board"),)
        with pytest.raises(StoreError, match="no game"):
            store.delete_game(first)
        with pytest.raises(StoreError, match="deleted"):
            store.append_events(first, [{"n": 2}])
        for file in path.parent.iterdir():
            assert b"jpeg of 1" not in file.read_bytes()
        assert b"jpeg of 2" in path.read_bytes()


def test_nothing_is_noted_of_games_that_were_deleted_meanwhile(path: Path) -> None:
    with GameStore(path) as store:
        first, second = store.begin_game(STARTED), store.begin_game(STARTED)
        store.delete_game(first)
        store.save_notes("sums", {first: "Anna 300", second: "Ben 200"})
        assert store.read_notes_by_game("sums") == {second: "Ben 200"}


def test_number_of_a_deleted_game_is_not_given_again(path: Path) -> None:
    with GameStore(path) as store:
        store.delete_game(store.begin_game(STARTED))
    with GameStore(path) as store:
        assert store.next_game_number == 2 == store.begin_game(STARTED)


def test_notes_are_overwritten_and_kept(path: Path) -> None:
    with GameStore(path) as store:
        assert store.read_note(0, "corners") is None
        store.save_note(0, "corners", "a")
        store.save_note(0, "corners", "b")
        store.save_note(store.begin_game(STARTED), "corners", "c")
    with GameStore(path) as store:
        assert (store.read_note(0, "corners"), store.read_note(1, "corners")) == ("b", "c")


def test_note_of_a_game_that_is_not_in_the_store_is_refused(path: Path) -> None:
    """The next game would get it: its number is free if the table could not save a game before the power failed."""
    with GameStore(path) as store:
        with pytest.raises(GameDeletedError):
            store.save_note(store.next_game_number, "clock", "12 minutes")
        assert store.read_game_notes(store.begin_game(STARTED)) == {}


def test_note_of_a_deleted_game_is_refused(path: Path) -> None:
    with GameStore(path) as store:
        game = store.begin_game(STARTED)
        store.delete_game(game)
        with pytest.raises(GameDeletedError):
            store.save_note(game, "clock", "12 minutes")


def test_players_are_known_with_their_colours_who_played_last_first(path: Path) -> None:
    times = iter([10.0, 20.0, 30.0])
    with GameStore(path, clock=lambda: next(times)) as store:
        store.begin_game({"players": ["Anna", "Ben"]})
        store.save_colour("Ben", "#aa0000")
        store.save_colour("Zoë", "#00aa00")
        store.begin_game({"players": ["Carl", "Anna"]})
    with GameStore(path) as store:
        assert store.list_players() == (("Anna", ""), ("Carl", ""), ("Ben", "#aa0000"), ("Zoë", "#00aa00"))


def test_pictures_of_the_oldest_games_make_room(path: Path) -> None:
    with GameStore(path) as store:
        store.picture_limits = PictureLimits(max_bytes=1_000_000)
        games = []
        for _ in range(5):
            games.append(store.begin_game(STARTED))
            store.append_events(games[-1], [{"n": 1}], {1: {"photo": bytes(300_000)}})
        assert [len(store.list_pictures(game)) for game in games] == [0, 1, 1, 1, 1]
        assert all(len(store.read_events(game)) == 2 for game in games)


def test_picture_of_no_bounded_size_is_left_out(path: Path) -> None:
    with GameStore(path) as store:
        game = store.begin_game(STARTED)
        store.append_events(game, [{"n": 1}], {1: {"photo": bytes(MAX_PICTURE_BYTES + 1), "board": b"small"}})
        assert store.list_pictures(game) == ((1, "board"),)


def test_picture_that_cannot_be_read_is_none(path: Path) -> None:
    with GameStore(path) as store:
        game = store.begin_game(STARTED)
        store.append_events(game, [{"n": 1}], {1: {"board": b"jpeg"}})
    assert store.read_picture(game, 1, "board") is None  # closed: no reading is possible


def test_a_number_that_no_game_can_have_has_no_picture(path: Path) -> None:
    with GameStore(path) as store:
        assert store.read_picture(2**63, 0, "board") is None


def test_transaction_that_cannot_be_rolled_back_blocks_no_later_one(path: Path) -> None:
    with GameStore(path) as store:
        game = store.begin_game(STARTED)

        def deny(action: int, what: str | None, *_: object) -> int:
            return (
                sqlite3.SQLITE_DENY if (action, what) == (sqlite3.SQLITE_TRANSACTION, "ROLLBACK") else sqlite3.SQLITE_OK
            )

        get_connection(store).set_authorizer(deny)
        with pytest.raises(TypeError):
            store.append_events(game, [{"n": 0}, {"n": object()}])
        with ThreadPoolExecutor(1) as other:
            assert other.submit(store._database.fetch_rows, "SELECT 1").result(5) == [(1,)]
        with pytest.raises(StoreError):
            store.append_events(game, [{"n": 1}])
        get_connection(store).set_authorizer(None)
        store.append_events(game, [{"n": 2}])
        assert [event.body["n"] for event in store.read_events(game)] == [-1, 2]


def _delete_file(path: Path) -> None:
    path.unlink()


def _delete_file_with_its_log(path: Path) -> None:
    for file in path.parent.glob("games.db*"):
        file.unlink()


@pytest.mark.parametrize("delete", [_delete_file, _delete_file_with_its_log])
def test_file_that_was_deleted_is_reported(delete: Callable[[Path], object], tmp_path: Path) -> None:
    with GameStore(tmp_path / "games.db") as store:
        game = store.begin_game(STARTED)
        delete(tmp_path / "games.db")
        with pytest.raises(StoreError, match="was deleted while the table was running"):
            store.append_events(game, [{"n": 1}])
        assert len(store.read_events(game)) == 1, "the games can still be read and saved"


def test_file_that_was_replaced_is_reported_instead_of_written(tmp_path: Path) -> None:
    with GameStore(tmp_path / "games.db") as store:
        game = store.begin_game(STARTED)
        (tmp_path / "games.db").rename(tmp_path / "moved.db")
        (tmp_path / "games.db").write_bytes(b"another file")
        with pytest.raises(StoreError, match="was deleted while the table was running"):
            store.append_events(game, [{"n": 1}])
        assert len(store.read_events(game)) == 1, "the games can still be read and saved"
    assert (tmp_path / "games.db").read_bytes() == b"another file"


def test_file_that_was_deleted_with_its_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    with GameStore(tmp_path / "data" / "games.db") as store:
        game = store.begin_game(STARTED)
        shutil.rmtree(tmp_path / "data")
        with pytest.raises(StoreError, match="was deleted while the table was running"):
            store.append_events(game, [{"n": 1}])
        assert len(store.read_events(game)) == 1, "the games can still be read and saved"


def test_lock_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    (tmp_path / "games.db.lock").mkdir()
    with pytest.raises(StoreReadOnlyError, match=r"games\.db\.lock cannot be written"):
        GameStore(tmp_path / "games.db")


def test_read_only_disk_is_no_fault_of_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise OSError(errno.EROFS, "Read-only file system")

    (tmp_path / "games.db.lock").touch()
    with monkeypatch.context() as patch, pytest.raises(StoreReadOnlyError, match=r"games\.db cannot be written"):
        patch.setattr(os, "open", refuse)
        GameStore(tmp_path / "games.db")
