"""The file of a hall with damages: what is intact is copied, and what is missing is reported."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from unittest.mock import Mock

import pytest
from msgspec.structs import replace

from device.hall.messages import make_table_log
from device.hall.receiving.event import Result
from device.hall.receiving.hall_recovery import open_received_games
from device.hall.receiving.received_games import HALL_SCHEMA, ReceivedGames
from device.hall.receiving.receiver import HallReceiver
from device.settings import HallSettings
from device.storage.archive import make_ledger
from device.storage.errors import StoreLockedError, StoreVersionError
from device.storage.game_log import write_ledger
from device.storage.store import StoredEvent
from engine.events import GameStarted, Passed
from engine.gcg import build_game, parse_gcg
from engine.messages import key_of
from tests.support.archives import write_acts
from tests.system.flip_bits import GCG_FILES

STARTED, PASSED = write_acts(GameStarted(("Anna", "Ben")), Passed(0))
EVENTS = [StoredEvent(0, 1e9, STARTED), StoredEvent(1, 1e9 + 1, PASSED)]
RESULT = Result("A", ("Anna", "Ben"), (10, 20), (1,), 3e9, 1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Write a file with two games, each with a result."""
    path = tmp_path / "hall.db"
    games, problem = open_received_games(path)
    assert not problem
    with closing(games):
        for number in (1, 2):
            games.add_log("A", "store", number, [StoredEvent(0, 1e9 + number, STARTED), EVENTS[1]])
        for number in (1, 2):
            games.save_result(number, replace(RESULT, game=number))
        games.save_note("delay", 60.0)
    return path


def damage(path: Path, sql: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(sql)


@pytest.mark.parametrize(
    ("sql", "games_left", "results_left"),
    [
        ("UPDATE game SET events = replace(events, 'Anna', 'Enna') WHERE id = 1", [2], 2),
        ("UPDATE game SET number = 7 WHERE id = 1", [2], 2),
        ("DELETE FROM game WHERE id = 1", [2], 2),
        ("DELETE FROM note WHERE name = 'result-1'", [1, 2], 1),
        ("UPDATE note SET text = replace(text, '20', '80') WHERE name = 'result-1'", [1, 2], 1),
        ("UPDATE note SET text = '90.0' WHERE name = 'delay'", [1, 2], 2),
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
        (new,) = [games.add_log("B", "other", 1, [StoredEvent(0, 5.0, STARTED)])]
        assert new is not None and new.id == 3, "no id of a lost game is used again"
        assert len(games.list_results()) == results_left
        assert games.read_note("delay", float, 0.0) in (60.0, 0.0)
    again, problem = open_received_games(path)
    with closing(again):
        assert not problem and [game.number for game in again.list_games() if game.table == "A"] == games_left


def test_rescue_that_a_power_cut_interrupted_begins_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    damage(path, "UPDATE game SET number = 7 WHERE id = 1")
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(ReceivedGames, "add_row", Mock(side_effect=KeyboardInterrupt))
        open_received_games(path)
    games, problem = open_received_games(path)
    with closing(games):
        assert key_of(problem) == "hall-rescued" and len(games.list_games()) == 1 and len(games.list_results()) == 2


def test_file_that_is_no_file_of_a_hall_is_reported_and_a_new_one_begun(path: Path) -> None:
    path.write_bytes(b"no file of a hall")
    games, problem = open_received_games(path)
    with closing(games):
        assert key_of(problem) == "hall-rescued"
        assert games.add_log("A", "store", 1, EVENTS)


def test_result_of_a_damaged_game_counts_once_after_the_table_sent_it_again(path: Path) -> None:
    game = build_game(parse_gcg(GCG_FILES[0].read_bytes()))
    log = make_table_log(
        "B", "store", 1, [StoredEvent(n, 1e9 + n, body) for n, body in enumerate(write_ledger(make_ledger(game)))]
    ).publication
    with HallReceiver(path, HallSettings("127.0.0.1", 1), report=lambda _: None) as hall:
        hall.receive(log.topic, log.payload, True)
        assert [result.table for result in hall.state.results].count("B") == 1
    damage(path, "UPDATE game SET number = 7 WHERE id = 3")
    with HallReceiver(path, HallSettings("127.0.0.1", 1), report=lambda _: None) as hall:
        assert [key_of(problem) for problem in hall.state.problems] == ["hall-rescued"]
        assert [result.table for result in hall.state.results].count("B") == 1, "the result itself is intact"
        hall.receive(log.topic, log.payload, True)
        assert [result.table for result in hall.state.results].count("B") == 1
        assert [result.table for result in hall.games.list_results()].count("B") == 1


@pytest.mark.parametrize(("file_id", "version"), HALL_SCHEMA.old_versions)
def test_older_file_is_refused_and_not_changed(tmp_path: Path, file_id: int, version: int) -> None:
    path = tmp_path / "hall.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(f"PRAGMA application_id = {file_id}")
        db.execute(f"PRAGMA user_version = {version}")
    before = path.read_bytes()
    with pytest.raises(StoreVersionError, match="export them as GCG with that version"):
        open_received_games(path)
    assert path.read_bytes() == before


def test_second_hall_with_the_same_file_is_refused(path: Path) -> None:
    first, _ = open_received_games(path)
    with closing(first), pytest.raises(StoreLockedError):
        open_received_games(path)
