"""The file of a hall with damages: what is intact is copied, and what is missing is reported."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from unittest.mock import Mock

import pytest

from device.hall.messages import make_log_message
from device.hall.receiving.hall_recovery import open_received_games
from device.hall.receiving.pairings import Result
from device.hall.receiving.received_games import ReceivedGames
from device.hall.receiving.receiver import HallReceiver
from device.settings import HallSettings
from device.storage.errors import StoreLockedError
from device.storage.stored_game import StoredEvent
from engine.events import GameStarted, Passed, to_json
from engine.gcg import build_game, parse_gcg
from engine.messages import key_of
from tests.system.flip_bits import GCG_FILES

STARTED, PASSED = to_json(GameStarted(("Anna", "Ben"))), to_json(Passed(0))
EVENTS = [StoredEvent(0, 1e9, STARTED), StoredEvent(1, 1e9 + 1, PASSED)]
ENTERED = Result("X", ("Cleo", "Dan"), (300, 200), (0,), 2e9)
OLD_SCHEMA = """
CREATE TABLE IF NOT EXISTS game (
    id        INTEGER PRIMARY KEY,
    place     TEXT NOT NULL,    -- name of the table
    store     TEXT NOT NULL,    -- id of the table's store, and the number of the game in it
    number    INTEGER NOT NULL,
    started   REAL NOT NULL     -- time of event 0
) STRICT;
CREATE INDEX IF NOT EXISTS game_of_place ON game (place, store, number);
CREATE TABLE IF NOT EXISTS event (
    game   INTEGER NOT NULL REFERENCES game(id),
    number INTEGER NOT NULL,
    time   REAL NOT NULL,
    body   TEXT NOT NULL,
    PRIMARY KEY (game, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS result (
    id   INTEGER PRIMARY KEY,
    game INTEGER UNIQUE,          -- NULL: entered by the director
    body TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS note (name TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO game VALUES (1, 'A', 'store', 1, 1e9);
INSERT INTO event VALUES (1, 0, 1e9, '{"kind":"started","players":["Anna","Ben"],"v":1}');
INSERT INTO result VALUES (1, NULL,
    '{"table":"X","players":["Cleo","Dan"],"totals":[300,200],"winners":[0],"ended":2e9}');
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Write a file with two games, of which the second has a result, and a result that the director entered."""
    path = tmp_path / "hall.db"
    games, problem = open_received_games(path)
    assert not problem
    with closing(games):
        for number in (1, 2):
            games.add_events("A", "store", number, [StoredEvent(0, 1e9 + number, STARTED), EVENTS[1]])
        games.save_result(2, Result("A", ("Anna", "Ben"), (10, 20), (1,), 3e9, 2))
        games.save_result(0, ENTERED)
        games.save_note("delay", "60.0")
    return path


def damage(path: Path, sql: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(sql)


@pytest.mark.parametrize(
    ("sql", "games_left", "results_left"),
    [
        ("UPDATE event SET body = replace(body, 'Anna', 'Enna') WHERE game = 1", [2], 2),
        ("DELETE FROM event WHERE game = 1 AND number = 1", [2], 2),
        ("UPDATE game SET number = 7 WHERE id = 1", [2], 2),
        ("DELETE FROM game WHERE id = 1", [2], 2),
        ("DELETE FROM result WHERE game IS NULL", [1, 2], 1),
        ("UPDATE result SET body = replace(body, '300', '800') WHERE game IS NULL", [1, 2], 1),
        ("UPDATE note SET text = '90.0'", [1, 2], 2),
        ("DELETE FROM total", [1, 2], 2),
    ],
)
def test_damaged_row_is_left_out_and_all_others_are_copied(
    path: Path, sql: str, games_left: list[int], results_left: int
) -> None:
    damage(path, sql)
    games, problem = open_received_games(path)
    with closing(games):
        assert key_of(problem) == "hall-rescued" and "hall.db.damaged-" in problem
        assert [game.number for game in games.list_games()] == games_left
        assert len(games.list_results()) == results_left
        assert games.read_note("delay") in ("60.0", None)
    again, problem = open_received_games(path)
    with closing(again):
        assert not problem and [game.number for game in again.list_games()] == games_left


def test_rescue_that_a_power_cut_interrupted_begins_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    damage(path, "DELETE FROM event WHERE game = 1 AND number = 1")
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(ReceivedGames, "save_note", Mock(side_effect=KeyboardInterrupt))
        open_received_games(path)
    games, problem = open_received_games(path)
    with closing(games):
        assert key_of(problem) == "hall-rescued" and len(games.list_games()) == 1 and len(games.list_results()) == 2


@pytest.mark.parametrize("content", [b"no file of a hall", b""])
def test_file_that_is_no_file_of_a_hall_is_reported_and_a_new_one_begun(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    games, problem = open_received_games(path)
    with closing(games):
        assert key_of(problem) in ("hall-rescued", "hall-tail-lost")
        assert games.add_events("A", "store", 1, EVENTS)


def test_lost_last_changes_are_reported(path: Path) -> None:
    before = path.read_bytes()
    games, _ = open_received_games(path)
    with closing(games):
        games.save_result(0, ENTERED)
        games.save_note("delay", "0.0")
    path.write_bytes(before)
    games, problem = open_received_games(path)
    with closing(games):
        assert key_of(problem) == "hall-tail-lost" and "(2)" in problem
    games, problem = open_received_games(path)
    games.close()
    assert not problem, "once"


def test_result_of_a_damaged_game_counts_once_after_the_table_sent_it_again(path: Path) -> None:
    game = build_game(parse_gcg(GCG_FILES[0].read_bytes()))
    log = make_log_message(
        "B", "store", 1, [StoredEvent(n, 1e9 + n, to_json(event)) for n, event in enumerate(game.events)]
    )
    with HallReceiver(path, HallSettings("127.0.0.1", 1), report=lambda _: None) as hall:
        hall.receive(log.topic, log.payload, True)
        assert [result.table for result in hall.state.results].count("B") == 1
    damage(path, "DELETE FROM event WHERE game = 3 AND number = 2")
    with HallReceiver(path, HallSettings("127.0.0.1", 1), report=lambda _: None) as hall:
        assert [key_of(problem) for problem in hall.state.problems] == ["hall-rescued"]
        assert [result.table for result in hall.state.results].count("B") == 1, "the result itself is intact"
        hall.receive(log.topic, log.payload, True)
        assert [result.table for result in hall.state.results].count("B") == 1
        assert [result.table for result in hall.games.list_results()].count("B") == 1


def test_file_without_checksums_is_read_and_gets_checksums(tmp_path: Path) -> None:
    path = tmp_path / "hall.db"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(OLD_SCHEMA)
    for _ in range(2):
        games, problem = open_received_games(path)
        with closing(games):
            assert not problem
            assert [game.table for game in games.list_games()] == ["A"] and games.list_results() == [ENTERED]


def test_second_hall_with_the_same_file_is_refused(path: Path) -> None:
    first, _ = open_received_games(path)
    with closing(first), pytest.raises(StoreLockedError):
        open_received_games(path)
