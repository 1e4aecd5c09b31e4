"""Messages that the hall does not accept from a table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from device.hall.broker_task import RECONNECT_DELAYS_S, BrokerTask
from device.hall.messages import TableStatus
from device.hall.receiving.hall_state import MAX_TABLES, HallState, TooManyTablesError
from device.hall.receiving.inbox import MAX_MESSAGE_BYTES, BadMessageError, decode_message
from device.hall.receiving.receiver import HallReceiver
from device.settings import HallSettings
from device.storage.errors import StoreFullError
from engine.events import Act, Edit, Exchanged, GameStarted, Passed, Ref, ScoreCorrected, to_json
from engine.messages import key_of
from tests.support.archives import write_act, write_acts

LOGGED = {"time": 1.0, "event": {}}
LOG = {"table": "7", "v": 1, "store": "a", "game": 1, "events": [LOGGED]}
STATE = {
    "table": "7",
    "v": 1,
    "store": "a",
    "game": 1,
    "events": 1,
    "phase": "turn",
    "players": [{"name": "Anna", "total": 0}, {"name": "Ben", "total": 0}],
    "turn_of": 0,
    "in_bag": 86,
    "winners": [],
    "clock": None,
    "trouble": [],
    "time": 1.0,
}
CLOCK = {"limit": 1500, "used": [1, 2], "running": 0, "paused": False}


def test_message_of_a_table_is_decoded() -> None:
    one = TableStatus(table="Table 7", online=True).publication
    assert decode_message(one.topic, one.payload) == TableStatus(table="Table 7", online=True)
    decode_message("tilekeeper/v2/7/state", json.dumps({**STATE, "clock": CLOCK, "later": 1}).encode())


@pytest.mark.parametrize(
    ("topic", "message", "reason"),
    [
        ("7/status", {"table": "8", "online": True}, "another table"),
        ("7/status", {"table": "7"}, "online"),
        ("#/status", {"table": "#", "online": True}, "no topic"),
        ("7/director", {"table": "7"}, "no topic"),
        ("7/status", [1], "object"),
        ("7/log", {**LOG, "events": [LOGGED] * 3001}, "Expected"),
        ("7/log", {**LOG, "game": 10**17}, "Expected"),
        ("7/log", {**LOG, "events": [{**LOGGED, "time": 1e300}]}, "Expected"),
        ("7/log", {**LOG, "events": []}, "Expected"),
        ("7/state", {**STATE, "players": [{"name": "A\n", "total": 0}]}, "players"),
        ("7/state", {**STATE, "players": [{"name": "A" * 99, "total": 0}]}, "players"),
        ("7/state", {**STATE, "turn_of": 2}, "seats"),
        ("7/state", {**STATE, "name": "<b>"}, "Expected|name that no table"),
        ("7/state", {**STATE, "store": "a" * 999}, "Expected|name that no table"),
        ("7/log", {**LOG, "store": "a" * 999}, "Expected"),
        ("7/events", LOG, "no topic"),
        ("7/state", {**STATE, "game": 10**20}, "Expected"),
        ("7/state", {**STATE, "clock": {**CLOCK, "used": [1]}}, "Expected|seats"),
        ("7/state", {**STATE, "clock": {**CLOCK, "used": [-1e308, 0]}}, "Expected|seats"),
        ("7/state", {**STATE, "clock": {**CLOCK, "limit": 1e308}}, "Expected|seats"),
    ],
)
def test_impossible_message_is_refused(topic: str, message: object, reason: str) -> None:
    with pytest.raises(BadMessageError, match=reason):
        decode_message(f"tilekeeper/v2/{topic}", json.dumps(message).encode())


def test_table_with_an_invisible_name_of_an_earlier_version_is_shown() -> None:
    players = [{"name": "Anna\ufe0f", "total": 0}, {"name": "\u034f", "total": 0}]
    decode_message("tilekeeper/v2/7/state", json.dumps({**STATE, "players": players}).encode())


@pytest.mark.parametrize("payload", [b"", b"\xff", b"{", b"[" * 200_000, b" " * (MAX_MESSAGE_BYTES + 1)])
def test_payload_without_a_message_is_refused(payload: bytes) -> None:
    with pytest.raises(BadMessageError):
        decode_message("tilekeeper/v2/7/log", payload)


@pytest.mark.parametrize("depth", [30, 900, 940, 950])  # near 1000, Python can read but not write it
def test_event_that_is_nested_too_deeply_is_refused(depth: int) -> None:
    event = '{"a": ' * depth + "1" + "}" * depth
    message = json.dumps({**LOG, "events": [{**LOGGED, "event": "EVENT"}]}).replace('"EVENT"', event)
    with HallReceiver(":memory:", HallSettings("127.0.0.1", 1)) as hall:
        hall.receive("tilekeeper/v2/7/log", message.encode(), False)
        assert len(hall.state.problems) == 1 and not hall.state.tables


def test_names_of_tables_are_limited() -> None:
    hall = HallState()
    for number in range(MAX_TABLES):
        hall = hall.apply_status(str(number), is_online=True)
    with pytest.raises(TooManyTablesError):
        hall.apply_status("one more", is_online=True)
    assert list(hall.tables)[:3] == ["0", "1", "2"]


def test_problem_is_noted_once_and_the_events_of_no_game_are_harmless() -> None:
    with HallReceiver(":memory:", HallSettings("127.0.0.1", 1)) as hall:
        for _ in range(2):
            hall.receive("tilekeeper/v2/7/status", b"{", False)
        hall.receive("tilekeeper/v2/7/log", json.dumps(LOG).encode(), False)
        assert len(hall.state.problems) == 1
        (table,) = hall.state.tables.values()
        assert table.played is not None and table.played.game is None and table.snapshot.players == ()
        hall.receive("tilekeeper/v2/7/state", json.dumps(STATE).encode(), False)
        assert [player.name for player in hall.state.tables["7"].snapshot.players] == ["Anna", "Ben"]


def test_problem_that_is_repeated_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    with HallReceiver(":memory:", HallSettings("127.0.0.1", 1)) as hall:
        for _ in range(5):
            hall.receive("tilekeeper/v2/7/status", b"{", False)
    assert [record.message for record in caplog.records if "7/status" in record.message][1:] == []


def test_table_that_begins_games_without_end_is_reported_once_and_shown_live(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("device.hall.receiving.received_games.MAX_TABLE_GAMES", 3)
    with HallReceiver(":memory:", HallSettings("127.0.0.1", 1)) as hall:
        for game in range(1, 9):
            send_game(hall, "a", game, f"Anna {game}", "Ben")
        assert len(hall.games.list_games()) == 3
        assert [key_of(problem) for problem in hall.state.problems] == ["hall-table-full"]
        assert [player.name for player in hall.state.tables["7"].snapshot.players] == ["Anna", "Ben"], "the game now"
    assert sum("table 7" in record.message for record in caplog.records) == 1


def test_game_that_began_after_the_clock_was_put_back_is_the_newest(tmp_path: Path) -> None:
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        for game, time, players in ((1, 9000.0, ("Anna", "Ben")), (2, 60.0, ("Cleo", "Dan"))):
            started = {"time": time, "event": to_json(GameStarted(players))}
            send_log(hall, game, started)
            hall.receive("tilekeeper/v2/7/state", json.dumps({**STATE, "game": game}).encode(), False)
        assert [player.name for player in hall.state.tables["7"].snapshot.players] == ["Cleo", "Dan"]
        send_log(hall, 2, started, {"time": 70.0, "event": write_act(Passed(0))})
        assert len(hall.state.tables["7"].snapshot.turns) == 1
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        hall.receive("tilekeeper/v2/7/state", json.dumps({**STATE, "game": 2}).encode(), True)
        assert len(hall.state.tables["7"].snapshot.turns) == 1


def send_log(hall: HallReceiver, game: int, *events: object) -> None:
    """Let table 7 send the log of a game."""
    hall.receive("tilekeeper/v2/7/log", json.dumps({**LOG, "game": game, "events": events}).encode(), False)


def send_game(hall: HallReceiver, store: str, game: int, *players: str) -> None:
    """Let the device with this store begin a game at table 7."""
    started = {"time": float(game), "event": to_json(GameStarted(players))}
    log = {"table": "7", "store": store, "game": game, "events": [started]}
    hall.receive("tilekeeper/v2/7/log", json.dumps(log).encode(), False)
    hall.receive("tilekeeper/v2/7/state", json.dumps({**STATE, "game": game, "store": store}).encode(), False)


@pytest.mark.parametrize("game", [1, 9])
def test_device_that_replaces_another_is_shown(game: int) -> None:
    with HallReceiver(":memory:", HallSettings("127.0.0.1", 1)) as hall:
        send_game(hall, "old", game, "Anna", "Ben")
        lobby = {**STATE, "game": 0, "events": 0, "phase": "lobby", "players": [], "turn_of": None, "store": "new"}
        hall.receive("tilekeeper/v2/7/state", json.dumps(lobby).encode(), False)
        table = hall.state.tables["7"]
        assert (table.snapshot.players, table.snapshot.phase, table.is_playing) == ((), "lobby", False)
        send_game(hall, "new", 1, "Cleo", "Dan")
        assert [player.name for player in hall.state.tables["7"].snapshot.players] == ["Cleo", "Dan"]
        send_game(hall, "old", game, "Anna", "Ben")
        assert [player.name for player in hall.state.tables["7"].snapshot.players] == ["Anna", "Ben"], (
            "the first one is back"
        )
        assert len(hall.games.list_games()) == 2


def test_tables_above_the_limit_are_reported_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("device.hall.receiving.hall_state.MAX_TABLES", 2)
    with HallReceiver(":memory:", HallSettings("127.0.0.1", 1)) as hall:
        for name in "1234":
            one = TableStatus(table=name, online=True).publication
            hall.receive(one.topic, one.payload, False)
        assert [key_of(problem) for problem in hall.state.problems] == ["hall-too-many-tables"]


def test_game_that_takes_long_to_replay_is_not_replayed() -> None:
    acts: list[Act | Edit] = [Exchanged(i % 2, 1) for i in range(400)]
    acts += [ScoreCorrected(Ref(3, 0), score) for score in range(400)]
    logged = [{"time": 1.0, "event": body} for body in write_acts(GameStarted(("Anna", "Ben")), *acts)]
    log = {"table": "7", "store": "a", "game": 1, "events": logged}
    with HallReceiver(":memory:", HallSettings("127.0.0.1", 1)) as hall:
        hall.receive("tilekeeper/v2/7/log", json.dumps(log).encode(), False)
        played = hall.state.tables["7"].played
    assert played is not None and played.game is None


def test_game_with_rules_of_other_types_is_not_shown() -> None:
    started = to_json(GameStarted(("Anna", "Ben"))) | {"rules": {"clock_seconds": "x"}}
    with HallReceiver(":memory:", HallSettings("127.0.0.1", 1)) as hall:
        send_log(hall, 1, {**LOGGED, "event": started})
        played = hall.state.tables["7"].played
    assert played is not None and played.game is None


class FullDisk(BrokerTask):
    """A task of a broker that works, on a disk that does not."""

    def _use_broker(self) -> None:
        raise StoreFullError("the disk is full")


def test_full_disk_lets_the_hall_try_again_less_often(caplog: pytest.LogCaptureFixture) -> None:
    with FullDisk(print, "hall-refused") as task:
        assert [task._serve_connection() for _ in range(3)] == list(RECONNECT_DELAYS_S[:3])
    assert not any(record.exc_info for record in caplog.records)
