"""Messages that the hall does not accept from a table."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from device.hall.broker_task import RETRY_DELAYS_S, BrokerTask
from device.hall.messages import TableStatus, make_status_message
from device.hall.receiving.hall_state import MAX_TABLES, HallState, TooManyTablesError, apply_status
from device.hall.receiving.inbox import MAX_MESSAGE_BYTES, BadMessageError, decode_message
from device.hall.receiving.receiver import DOUBLE_CLICK_S, HallReceiver
from device.hall.receiving.results import Result
from device.hall.receiving.standings import PairingsError
from device.settings import HallSettings
from device.storage.errors import StoreFullError
from engine.events import (
    EndReason,
    Event,
    Exchanged,
    GameEnded,
    GameStarted,
    Passed,
    RackRevealed,
    ScoreCorrected,
    Undone,
    to_json,
)
from engine.messages import key_of
from engine.rules import Rules, UnplayedRule

EVENT = {"table": "7", "v": 1, "store": "a", "game": 1, "number": 0, "time": 1.0, "event": {}}
STATE = {
    "table": "7",
    "v": 1,
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
    one = make_status_message("Table 7", online=True)
    assert decode_message(one.topic, one.payload) == TableStatus(table="Table 7", online=True)
    decode_message("tilekeeper/v1/7/state", json.dumps({**STATE, "clock": CLOCK, "later": 1}).encode())


@pytest.mark.parametrize(
    ("topic", "message", "reason"),
    [
        ("7/status", {"table": "8", "online": True}, "another table"),
        ("7/status", {"table": "7"}, "online"),
        ("#/status", {"table": "#", "online": True}, "no topic"),
        ("7/director", {"table": "7"}, "no topic"),
        ("7/status", [1], "object"),
        ("7/events", {**EVENT, "number": -1}, "no game has"),
        ("7/events", {**EVENT, "number": 10**6}, "no game has"),
        ("7/events", {**EVENT, "game": 10**17}, "no game has"),
        ("7/events", {**EVENT, "time": 1e300}, "no game has"),
        ("7/log", {"table": "7", "store": "a", "game": 1, "events": []}, "no game has"),
        ("7/state", {**STATE, "players": [{"name": "A\n", "total": 0}]}, "players"),
        ("7/state", {**STATE, "players": [{"name": "A" * 99, "total": 0}]}, "players"),
        ("7/state", {**STATE, "turn_of": 2}, "seats"),
        ("7/state", {**STATE, "name": "<b>"}, "names"),
        ("7/state", {**STATE, "store": "a" * 999}, "names"),
        ("7/events", {**EVENT, "store": "a" * 999}, "names"),
        ("7/log", {"table": "7", "store": "a" * 999, "game": 1, "events": [{"time": 1.0, "event": {}}]}, "names"),
        ("7/state", {**STATE, "game": 10**20}, "no game has"),
        ("7/state", {**STATE, "clock": {**CLOCK, "used": [1]}}, "clocks"),
    ],
)
def test_impossible_message_is_refused(topic: str, message: object, reason: str) -> None:
    with pytest.raises(BadMessageError, match=reason):
        decode_message(f"tilekeeper/v1/{topic}", json.dumps(message).encode())


@pytest.mark.parametrize("payload", [b"", b"\xff", b"{", b"[" * 200_000, b" " * (MAX_MESSAGE_BYTES + 1)])
def test_payload_without_a_message_is_refused(payload: bytes) -> None:
    with pytest.raises(BadMessageError):
        decode_message("tilekeeper/v1/7/log", payload)


@pytest.mark.parametrize("depth", [30, 900, 940, 950])  # near 1000, Python can read but not write it
def test_event_that_is_nested_too_deeply_is_refused(depth: int) -> None:
    event = '{"a": ' * depth + "1" + "}" * depth
    message = json.dumps({**EVENT, "event": "EVENT"}).replace('"EVENT"', event)
    with HallReceiver(":memory:", HallSettings("127.0.0.1", 1)) as hall:
        hall.receive("tilekeeper/v1/7/events", message.encode(), False)
        assert len(hall.state.problems) == 1 and not hall.state.tables


def test_names_of_tables_are_limited() -> None:
    hall = HallState()
    for number in range(MAX_TABLES):
        hall = apply_status(hall, str(number), is_online=True)
    with pytest.raises(TooManyTablesError):
        apply_status(hall, "one more", is_online=True)
    assert list(hall.tables)[:3] == ["0", "1", "2"]


def test_problem_is_noted_once_and_the_events_of_no_game_are_harmless() -> None:
    with HallReceiver(":memory:", HallSettings("127.0.0.1", 1)) as hall:
        for _ in range(2):
            hall.receive("tilekeeper/v1/7/status", b"{", False)
        hall.receive("tilekeeper/v1/7/events", json.dumps(EVENT).encode(), False)
        assert len(hall.state.problems) == 1
        (table,) = hall.state.tables.values()
        assert table.played is not None and table.played.game is None and table.snapshot.players == ()
        hall.receive("tilekeeper/v1/7/state", json.dumps(STATE).encode(), False)
        assert [player.name for player in hall.state.tables["7"].snapshot.players] == ["Anna", "Ben"]


def test_problem_that_is_repeated_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    with HallReceiver(":memory:", HallSettings("127.0.0.1", 1)) as hall:
        for _ in range(5):
            hall.receive("tilekeeper/v1/7/status", b"{", False)
    assert [record.message for record in caplog.records if "7/status" in record.message][1:] == []


def test_table_that_begins_games_without_end_is_reported_once_and_shown_live(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("device.hall.receiving.received_games.MAX_TABLE_GAMES", 3)
    with HallReceiver(":memory:", HallSettings("127.0.0.1", 1)) as hall:
        for game in range(1, 9):
            started = {
                **EVENT,
                "game": game,
                "time": float(game),
                "event": to_json(GameStarted((f"Anna {game}", "Ben"))),
            }
            log = {"table": "7", "store": "a", "game": game, "events": [{"time": game, "event": started["event"]}]}
            hall.receive("tilekeeper/v1/7/events", json.dumps(started).encode(), False)
            hall.receive("tilekeeper/v1/7/log", json.dumps(log).encode(), True)
            hall.receive("tilekeeper/v1/7/state", json.dumps({**STATE, "game": game}).encode(), False)
        assert len(hall.games.list_games()) == 3
        assert [key_of(problem) for problem in hall.state.problems] == ["hall-table-full"]
        assert [player.name for player in hall.state.tables["7"].snapshot.players] == ["Anna", "Ben"], "the game now"
    assert sum("table 7" in record.message for record in caplog.records) == 1


def test_game_that_began_after_the_clock_was_put_back_is_the_newest(tmp_path: Path) -> None:
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        for game, time, players in ((1, 9000.0, ("Anna", "Ben")), (2, 60.0, ("Cleo", "Dan"))):
            event = {**EVENT, "game": game, "time": time, "event": to_json(GameStarted(players))}
            hall.receive("tilekeeper/v1/7/events", json.dumps(event).encode(), False)
            hall.receive("tilekeeper/v1/7/state", json.dumps({**STATE, "game": game}).encode(), False)
        assert [player.name for player in hall.state.tables["7"].snapshot.players] == ["Cleo", "Dan"]
        passed = {**EVENT, "game": 2, "time": 70.0, "number": 1, "event": to_json(Passed(0))}
        hall.receive("tilekeeper/v1/7/events", json.dumps(passed).encode(), False)
        assert len(hall.state.tables["7"].snapshot.turns) == 1
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        hall.receive("tilekeeper/v1/7/state", json.dumps({**STATE, "game": 2}).encode(), True)
        assert len(hall.state.tables["7"].snapshot.turns) == 1


def send_game(hall: HallReceiver, store: str, game: int, *players: str) -> None:
    """Let the device with this store begin a game at table 7."""
    started = {"time": float(game), "event": to_json(GameStarted(players))}
    log = {"table": "7", "store": store, "game": game, "events": [started]}
    hall.receive("tilekeeper/v1/7/log", json.dumps(log).encode(), False)
    hall.receive("tilekeeper/v1/7/state", json.dumps({**STATE, "game": game, "store": store}).encode(), False)


@pytest.mark.parametrize("game", [1, 9])
def test_device_that_replaces_another_is_shown(game: int) -> None:
    with HallReceiver(":memory:", HallSettings("127.0.0.1", 1)) as hall:
        send_game(hall, "old", game, "Anna", "Ben")
        lobby = {**STATE, "game": 0, "events": 0, "phase": "lobby", "players": [], "turn_of": None, "store": "new"}
        hall.receive("tilekeeper/v1/7/state", json.dumps(lobby).encode(), False)
        table = hall.state.tables["7"]
        assert (table.snapshot.players, table.phase, table.is_playing) == ((), "lobby", False)
        send_game(hall, "new", 1, "Cleo", "Dan")
        assert [player.name for player in hall.state.tables["7"].snapshot.players] == ["Cleo", "Dan"]
        send_game(hall, "old", game, "Anna", "Ben")
        assert [player.name for player in hall.state.tables["7"].players] == ["Anna", "Ben"], "the first one is back"
        assert len(hall.games.list_games()) == 2


def test_two_devices_with_the_same_name_are_reported_once() -> None:
    with HallReceiver(":memory:", HallSettings("127.0.0.1", 1)) as hall:
        for store in ("old", "new"):
            send_game(hall, store, 1, "Anna", "Ben")
        assert hall.state.problems == (), "a device was replaced"
        for store in ("old", "new", "old", "new"):
            send_game(hall, store, 1, "Anna", "Ben")
        assert [key_of(problem) for problem in hall.state.problems] == ["hall-two-devices"]


@pytest.mark.parametrize("state", [{}, {"phase": "paused"}, {"events": 7}, {"game": 2}, {"phase": "later"}])
def test_phase_and_players_are_those_of_the_snapshot(state: dict[str, object]) -> None:
    with HallReceiver(":memory:", HallSettings("127.0.0.1", 1)) as hall:
        send_game(hall, "a", 1, "Anna", "Ben")
        hall.receive("tilekeeper/v1/7/state", json.dumps({**STATE, **state}).encode(), False)
        table = hall.state.tables["7"]
    assert (table.phase, table.players) == (table.snapshot.phase, table.snapshot.players)


def test_tables_above_the_limit_are_reported_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("device.hall.receiving.hall_state.MAX_TABLES", 2)
    with HallReceiver(":memory:", HallSettings("127.0.0.1", 1)) as hall:
        for name in "1234":
            one = make_status_message(name, online=True)
            hall.receive(one.topic, one.payload, False)
        assert [key_of(problem) for problem in hall.state.problems] == ["hall-too-many-tables"]


def test_game_that_takes_long_to_replay_is_not_replayed() -> None:
    events: list[Event] = [GameStarted(("Anna", "Ben")), *[Exchanged(i % 2, 1) for i in range(400)]]
    events += [ScoreCorrected(3, score) for score in range(400)]
    logged = [{"time": 1.0, "event": to_json(event)} for event in events]
    log = {"table": "7", "store": "a", "game": 1, "events": logged}
    with HallReceiver(":memory:", HallSettings("127.0.0.1", 1)) as hall:
        hall.receive("tilekeeper/v1/7/log", json.dumps(log).encode(), False)
        played = hall.state.tables["7"].played
    assert played is not None and played.game is None


def test_game_with_rules_of_other_types_is_not_shown() -> None:
    started = to_json(GameStarted(("Anna", "Ben"))) | {"rules": {"clock_seconds": "x"}}
    with HallReceiver(":memory:", HallSettings("127.0.0.1", 1)) as hall:
        hall.receive("tilekeeper/v1/7/events", json.dumps({**EVENT, "event": started}).encode(), False)
        played = hall.state.tables["7"].played
    assert played is not None and played.game is None


def test_result_of_a_form_that_is_sent_twice_counts_once(tmp_path: Path) -> None:
    first = Result("", ("Cleo", "Dan"), (300, 410), (1,), 1000.0)
    again, later = (msgspec.structs.replace(first, ended=first.ended + seconds) for seconds in (0.3, DOUBLE_CLICK_S))
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        for result in (first, again, later):
            hall.add_result(result)
        assert hall.state.results == (first, later)


def test_deleted_result_stays_deleted(tmp_path: Path) -> None:
    wrong, right = (Result("", ("Cleo", "Dan"), (points, 410), (1,), float(points)) for points in (300, 310))
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        for result in (wrong, right):
            hall.add_result(result)
        hall.remove_result(wrong)
        assert hall.state.results == (right,)
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        assert hall.state.results == (right,)


def test_result_counts_after_the_disk_was_full_at_the_end_of_the_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The broker sends the last event again, which the file has already."""

    def fail(*_: object) -> None:
        raise StoreFullError("the disk is full")

    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        with monkeypatch.context() as full, pytest.raises(StoreFullError):
            full.setattr(hall.games, "save_result", fail)
            send_ended_game(hall, 1)
        send_ended_game(hall, 1)
        assert [result.game for result in hall.state.results] == [1]
        assert [result.game for result in hall.games.list_results()] == [1]


def test_result_is_kept_after_a_power_cut_at_the_end_of_the_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        monkeypatch.setattr(hall.games, "save_result", lambda *_: None)
        send_ended_game(hall, 1)
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        send_ended_game(hall, 1)  # the log of the table, after each connection
        send_ended_game(hall, 2)
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        assert [result.game for result in hall.state.results] == [1, 2]


def test_result_of_a_game_that_goes_on_is_gone_after_a_power_cut_at_the_undo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        send_ended_game(hall, 1)
        monkeypatch.setattr(hall.games, "save_result", lambda *_: None)
        undone = {**EVENT, "number": 4, "event": to_json(Undone())}
        hall.receive("tilekeeper/v1/7/events", json.dumps(undone).encode(), False)
        assert hall.state.results == ()
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        send_ended_game(hall, 2)
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        assert [result.game for result in hall.state.results] == [2]


def test_game_that_a_table_sends_again_under_a_new_name_counts_once(tmp_path: Path) -> None:
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        for table in ("7", "8"):
            send_ended_game(hall, 1, table)
        assert [result.table for result in hall.state.results] == ["7"]
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        assert [result.table for result in hall.state.results] == ["7"]
        send_ended_game(hall, 2, "8")
        assert [result.table for result in hall.state.results] == ["7", "8"]


def test_game_that_was_sent_again_under_a_new_name_does_not_count_in_the_next_event(tmp_path: Path) -> None:
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        for table in ("7", "8"):
            send_ended_game(hall, 1, table)
        hall.begin_event()
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        assert hall.state.results == ()


def test_game_that_ended_without_a_turn_has_no_result() -> None:
    """The table deletes such a game without an event when the next one begins."""
    events = [GameStarted(("Anna", "Ben"), Rules(unplayed=UnplayedRule.NONE)), GameEnded(EndReason.AGREED)]
    logged = [{"time": 1.0, "event": to_json(event)} for event in events]
    log = {"table": "7", "store": "a", "game": 1, "events": logged}
    with HallReceiver(":memory:", HallSettings("127.0.0.1", 1)) as hall:
        hall.receive("tilekeeper/v1/7/log", json.dumps(log).encode(), False)
        assert hall.state.results == ()


def test_new_event_is_kept_and_unsound_pairings_of_an_earlier_version_are_read(tmp_path: Path) -> None:
    entered = Result("", ("Cleo", "Dan"), (300, 410), (1,), 1.0)
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        hall.add_result(entered)
        send_ended_game(hall, 1)
        assert len(hall.state.results) == 2
        hall.begin_event()
        send_ended_game(hall, 1)
        send_ended_game(hall, 2)
        assert [result.game for result in hall.state.results] == [2]
        with pytest.raises(PairingsError):
            hall.set_pairings("1,1,Anna,Ben\n1,2,Anna,Cleo")
        hall.games.save_note("pairings", "1,1,Anna,Ben\n1,2,Anna,Cleo")
        kept = hall.state.results
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        assert hall.state.results == kept and len(hall.state.pairings) == 2


def test_pairings_that_an_earlier_version_accepted_do_not_stop_the_hall(tmp_path: Path) -> None:
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        hall.games.save_note("pairings", "Round 1,1,Anna,Ben")
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        assert hall.state.pairings == () and [key_of(one) for one in hall.state.problems] == ["pairings-line"]


def make_result(points: int, ended: float) -> Result:
    """Return a result that the director enters at the time `ended`."""
    return Result("", ("Cleo", "Dan"), (points, 410), (1,), ended)


def test_result_entered_after_the_clock_was_set_back_counts_after_a_restart(tmp_path: Path) -> None:
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        hall.begin_event()
        for points in (300, 310):
            hall.add_result(make_result(points, ended=1.0))
        assert len({result.ended for result in hall.state.results}) == 2, "each can be deleted alone"
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        assert [result.totals[0] for result in hall.state.results] == [300, 310]


def test_result_of_an_earlier_event_from_a_clock_that_was_ahead_does_not_count(tmp_path: Path) -> None:
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        hall.add_result(make_result(300, ended=9e9))
        hall.begin_event()
        hall.add_result(make_result(310, ended=8e9))
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        assert [result.totals[0] for result in hall.state.results] == [310]


def send_ended_game(hall: HallReceiver, game: int, table: str = "7") -> None:
    """Let a table send a game that has ended."""
    events = [GameStarted(("Anna", "Ben")), RackRevealed(1, ()), RackRevealed(0, ("A",)), GameEnded(EndReason.AGREED)]
    logged = [{"time": float(10 * game + i), "event": to_json(event)} for i, event in enumerate(events)]
    log = {"table": table, "store": "a", "game": game, "events": logged}
    hall.receive(f"tilekeeper/v1/{table}/log", json.dumps(log).encode(), False)


class FullDisk(BrokerTask):
    """A task of a broker that works, on a disk that does not."""

    def _use_broker(self) -> None:
        raise StoreFullError("the disk is full")

    def _describe_refusal(self, error: Exception) -> str:
        return str(error)


def test_full_disk_lets_the_hall_try_again_less_often(caplog: pytest.LogCaptureFixture) -> None:
    with FullDisk(print) as task:
        assert [task._serve_connection() for _ in range(3)] == list(RETRY_DELAYS_S[:3])
    assert not any(record.exc_info for record in caplog.records)
