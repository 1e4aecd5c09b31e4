"""What the hall does not accept as a message of a table."""

from __future__ import annotations

import json

import pytest

from device.hall.hall_state import HallState, TooManyTablesError, apply_status
from device.hall.inbox import MAX_MESSAGE_BYTES, BadMessageError, decode_message
from device.hall.messages import TableStatus, publish_status
from device.hall.receiver import HallReceiver
from device.settings import HallSettings

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
    one = publish_status("Table 7", online=True)
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


def test_names_of_tables_are_limited() -> None:
    hall = HallState()
    for number in range(500):
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
