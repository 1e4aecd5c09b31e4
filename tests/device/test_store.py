"""The store: what append returned from is there after any end of the program."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from device.store import GameStore, StoreError

ROOT = Path(__file__).parents[2]
STARTED = {"n": -1}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "games.db"


def test_log_comes_back_in_order_after_reopening(path: Path) -> None:
    with GameStore(path, clock=lambda: 12.5) as store:
        game = store.begin({"kind": "started", "players": ["Anna", "Bär"]})
        store.append(game, [{"kind": "pass"}])
        store.append(game, [{"kind": "withdrawn"}, {"kind": "play", "letters": "ÄH"}])
    with GameStore(path) as store:
        events = store.events(game)
        assert [(e.number, e.time, e.body["kind"]) for e in events] == [
            (0, 12.5, "started"),
            (1, 12.5, "pass"),
            (2, 12.5, "withdrawn"),
            (3, 12.5, "play"),
        ]
        assert events[3].body["letters"] == "ÄH"
        assert store.games()[0].first["players"] == ["Anna", "Bär"]


def test_games_do_not_mix_and_the_newest_is_first(path: Path) -> None:
    with GameStore(path) as store:
        first, second = store.begin(STARTED), store.begin(STARTED)
        store.append(first, [{"n": 1}])
        store.append(second, [{"n": 2}])
        assert [e.body["n"] for e in store.events(first)] == [-1, 1]
        assert [g.id for g in store.games()] == [second, first]


def test_pictures_go_with_the_last_event_of_a_turn(path: Path) -> None:
    with GameStore(path) as store:
        game = store.begin(STARTED)
        events = store.append(game, [{"n": 1}, {"n": 2}], {"board": b"jpeg"})
        assert store.picture(game, events[-1].number, "board") == b"jpeg"
        assert store.picture(game, events[0].number, "board") is None


def test_turn_is_written_whole_or_not_at_all(path: Path) -> None:
    with GameStore(path) as store:
        game = store.begin(STARTED)
        with pytest.raises(TypeError):
            store.append(game, [{"n": 1}, {"n": object()}])
        assert [e.body for e in store.events(game)] == [STARTED]
        store.append(game, [{"n": 3}])
        assert [e.number for e in store.events(game)] == [0, 1]


@pytest.mark.parametrize("sql", ["UPDATE event SET body = '{}'", "DELETE FROM event"])
def test_log_only_grows(path: Path, sql: str) -> None:
    with GameStore(path) as store:
        store.append(store.begin(STARTED), [{"n": 1}])
    db = sqlite3.connect(path)
    with pytest.raises(sqlite3.IntegrityError, match="only grows"):
        db.execute(sql)
    db.close()


def test_event_of_no_game_is_refused(path: Path) -> None:
    with GameStore(path) as store, pytest.raises(StoreError):
        store.append(99, [{"n": 1}])


def test_second_program_is_told_so(path: Path) -> None:
    with GameStore(path), pytest.raises(StoreError, match="in use by another"):
        GameStore(path)


def test_file_that_is_no_store_is_named_and_left_alone(path: Path) -> None:
    path.write_bytes(b"shopping list\n" * 100)
    with pytest.raises(StoreError, match="no Tilekeeper store"):
        GameStore(path)
    assert path.read_bytes().startswith(b"shopping")


def test_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="--data"):
        GameStore(tmp_path / "nowhere" / "games.db")


def test_newer_store_is_left_alone(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(StoreError, match="newer"):
        GameStore(path)


def test_full_disk_loses_nothing_earlier(path: Path) -> None:
    with GameStore(path) as store:
        game = store.begin(STARTED)
        store.append(game, [{"n": 1}])
        store._db.execute("PRAGMA max_page_count = 20")  # the file may not grow: what SQLite says of a full disk
        with pytest.raises(StoreError, match="full"):
            store.append(game, [{"n": 2}], {"photo": bytes(400_000)})
        assert [e.body["n"] for e in store.events(game)] == [-1, 1]


def test_many_threads_write_one_unbroken_log(path: Path) -> None:
    with GameStore(path) as store:
        game = store.begin(STARTED)

        def write() -> None:
            for n in range(10):
                store.append(game, [{"n": n}])

        threads = [threading.Thread(target=write) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [e.number for e in store.events(game)] == list(range(51))


WRITER = """
import sys
from device.store import GameStore
store = GameStore(sys.argv[1])
game = store.begin({"n": -1})
n = 0
while True:
    store.append(game, [{"n": n}], {"board": bytes(20_000)})
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
            kept = [e.body["n"] for e in store.events(store.games()[0].id)][1:]
        assert kept[: len(confirmed)] == confirmed
        assert len(kept) <= len(confirmed) + 1


def test_a_number_that_no_game_can_have_has_no_picture(path: Path) -> None:
    with GameStore(path) as store:
        assert store.picture(2**63, 0, "board") is None
