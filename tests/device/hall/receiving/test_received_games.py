"""The log of a game in the hall, whatever is sent twice, too late or after a restored backup."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from device.hall.receiving.received_games import MAX_GAME_BYTES, ReceivedGames, TableFullError
from device.storage.store import StoredEvent
from engine.events import Event, GameStarted, Passed, to_json

STARTED = GameStarted(("Anna", "Ben"))


def log(*events: Event, start_time: float = 1.0) -> list[StoredEvent]:
    return [StoredEvent(i, start_time + i, to_json(event)) for i, event in enumerate(events)]


@pytest.fixture
def games() -> Iterator[ReceivedGames]:
    with closing(ReceivedGames(":memory:")) as games:
        yield games


def read_players(games: ReceivedGames, game: int) -> list[object]:
    return [event.body.get("player") for event in games.read_events(game)]


def test_log_that_comes_twice_changes_nothing(games: ReceivedGames) -> None:
    assert games.add_log("7", "a", 1, log(STARTED, Passed(0)))
    assert games.add_log("7", "a", 1, log(STARTED, Passed(0))) is None
    assert games.add_log("7", "a", 1, log(STARTED)) is None, "an old log is shorter"
    assert read_players(games, 1) == [None, 0]


def test_log_with_other_events_replaces_them(games: ReceivedGames) -> None:
    games.add_log("7", "a", 1, log(STARTED, Passed(0), Passed(1), Passed(0)))
    games.add_log("7", "a", 1, log(STARTED, Passed(0), Passed(0)))
    assert read_players(games, 1) == [None, 0, 0]


def test_other_first_event_is_another_game(games: ReceivedGames) -> None:
    games.add_log("7", "a", 1, log(STARTED, Passed(0)))
    games.add_log("7", "a", 1, log(GameStarted(("Cleo", "Dan")), start_time=9.0))
    assert [len(games.read_events(game.id)) for game in games.list_games()] == [2, 1]


def test_game_of_a_rescued_store_is_the_same_game(games: ReceivedGames) -> None:
    games.add_log("7", "a", 5, log(STARTED, Passed(0)))
    games.add_log("7", "b", 4, log(STARTED, Passed(0), Passed(1)))
    (game,) = games.list_games()
    assert read_players(games, game.id) == [None, 0, 1] and (game.store, game.number) == ("b", 4)


def test_tables_have_games_of_their_own(games: ReceivedGames) -> None:
    games.add_log("7", "a", 1, log(STARTED))
    games.add_log("8", "b", 1, log(STARTED))
    assert [game.table for game in games.list_games()] == ["7", "8"]


def test_game_that_a_renamed_table_sends_again_is_one_game_of_the_new_name(games: ReceivedGames) -> None:
    games.add_log("7", "a", 1, log(STARTED, Passed(0)))
    assert games.add_log("8", "a", 1, log(STARTED, Passed(0)))
    assert games.add_log("8", "a", 1, log(STARTED, Passed(0))) is None
    assert games.add_log("8", "a", 1, log(STARTED, Passed(0), Passed(1)))
    assert [game.table for game in games.list_games()] == ["8"] and read_players(games, 1) == [None, 0, 1]


def fill(games: ReceivedGames, table: str = "7") -> None:
    """Send games without an end, until the hall takes no more."""
    with pytest.raises(TableFullError):
        for number in range(1, 100):
            games.add_log(table, "a", number, log(STARTED, Passed(0), start_time=float(number)))


@pytest.mark.parametrize(("limit", "most"), [("MAX_TABLE_GAMES", 5), ("MAX_TABLE_BYTES", 2000)])
def test_games_of_one_table_are_bounded(monkeypatch: pytest.MonkeyPatch, limit: str, most: int, tmp_path: Path) -> None:
    monkeypatch.setattr(f"device.hall.receiving.received_games.{limit}", most)
    with closing(ReceivedGames(tmp_path / "hall.db")) as games:
        fill(games)
        stored = games.list_games()
        assert 2 < len(stored) < 20 and all(len(games.read_events(game.id)) == 2 for game in stored)
    with closing(ReceivedGames(tmp_path / "hall.db")) as reopened:
        fill(reopened)
        assert reopened.list_games() == stored
        reopened.add_log("8", "b", 1, log(STARTED))
        assert len(reopened.list_games()) == len(stored) + 1, "other tables go on"


def test_game_at_the_limit_can_be_undone_and_goes_on(monkeypatch: pytest.MonkeyPatch, games: ReceivedGames) -> None:
    monkeypatch.setattr("device.hall.receiving.received_games.MAX_TABLE_GAMES", 2)
    fill(games)
    games.add_log("7", "a", 2, log(STARTED, Passed(0), Passed(1), start_time=2.0))
    assert read_players(games, 2) == [None, 0, 1]
    games.add_log("7", "a", 2, log(STARTED, Passed(1), start_time=2.0))
    assert read_players(games, 2) == [None, 1]


def test_size_of_one_game_is_bounded(games: ReceivedGames) -> None:
    games.add_log("7", "a", 1, log(STARTED))
    huge = {"kind": "passed", "player": 0, "text": "x" * (MAX_GAME_BYTES // 2)}
    events = [*log(STARTED), StoredEvent(1, 2.0, huge), StoredEvent(2, 3.0, huge)]
    games.add_log("7", "a", 1, events[:2])
    with pytest.raises(TableFullError):
        games.add_log("7", "a", 1, events)
    assert len(games.read_events(1)) == 2
