"""Decode and check the messages that the hall receives from tables. Tables are not trusted."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from device.hall.messages import (
    TOPIC_ROOT,
    HallMessage,
    OrderAnswer,
    TableEvent,
    TableLog,
    TableState,
    TableStatus,
)
from device.player_names import MAX_PLAYER_NAME_LENGTH, is_displayable
from device.settings import TABLE_PATTERN
from engine.errors import TilekeeperError

MAX_MESSAGE_BYTES = 1_000_000
"""Size of the largest message that is read, in bytes. The log of a long game has 50 kB."""
MAX_GAME_EVENTS = 3000
"""Largest number of events of a game, several times that of the longest known games."""
_MAX_NUMBER = 2**53
_MAX_TIME_S = 1e11
_MAX_STORE_CHARS = 64
_MAX_DEPTH = 20
"""Largest depth of lists and objects in each other in an event; events of games have less than ten. Python reads deeper
ones than it can write, so that the hall could not store them, and would receive them again and again."""
TOPICS = tuple(f"{TOPIC_ROOT}/+/{name}" for name in ("status", "state", "events", "log", "answer"))
_TYPES: dict[str, type[HallMessage]] = {
    "status": TableStatus,
    "state": TableState,
    "events": TableEvent,
    "log": TableLog,
    "answer": OrderAnswer,
}
_TOPIC = re.compile(rf"{re.escape(TOPIC_ROOT)}/(?P<table>[^/]+)/(?P<kind>status|state|events|log|answer)")


class BadMessageError(TilekeeperError):
    """Error for a message that no table can have sent; the text gives the reason."""


def is_deletion(topic: str, payload: bytes) -> bool:
    """Return True if a message without contents has deleted the message of a table that the broker kept."""
    match = _TOPIC.fullmatch(topic)
    return not payload and match is not None and match["kind"] in ("status", "state", "log")


def decode_message(topic: str, payload: bytes) -> HallMessage:
    """Decode a table's message from `payload`; the topic determines the type. Raises `BadMessageError`."""
    match = _TOPIC.fullmatch(topic)
    if match is None or not TABLE_PATTERN.fullmatch(match["table"]):
        raise BadMessageError("no topic of a table")
    if len(payload) > MAX_MESSAGE_BYTES:
        raise BadMessageError(f"{len(payload)} bytes")
    try:
        message = msgspec.json.decode(payload, type=_TYPES[match["kind"]])
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise BadMessageError(str(error)[:200]) from None
    if message.table != match["table"]:
        raise BadMessageError("the name of another table")
    if problem := _find_problem(message):
        raise BadMessageError(problem)
    return message


def _find_problem(message: HallMessage) -> str:
    """Return a text about impossible values in a message, or an empty string if there are none."""
    match message:
        case TableEvent(store=store, game=game, number=number, time=time, event=event):
            times, events = [time], [event]
            sound = 0 <= number < MAX_GAME_EVENTS
        case TableLog(store=store, game=game, events=logged):
            times, events = [one.time for one in logged], [one.event for one in logged]
            sound = 0 < len(logged) <= MAX_GAME_EVENTS
        case TableState():
            return _find_state_problem(message)
        case _:
            return ""
    if len(store) > _MAX_STORE_CHARS:
        return "names that no table has"
    if any(_is_deeper(event, _MAX_DEPTH) for event in events):
        return "an event that no game has"
    sound = sound and 0 < game < _MAX_NUMBER and all(0 <= time < _MAX_TIME_S for time in times)
    return "" if sound else "numbers or times that no game has"


def _is_deeper(value: Any, depth: int) -> bool:
    """Return True if more than `depth` lists and objects are in each other in a JSON value."""
    if not isinstance(value, dict | list):
        return False
    inner_values = value.values() if isinstance(value, dict) else value
    return depth == 0 or any(_is_deeper(inner, depth - 1) for inner in inner_values)


def _is_stored_name(name: str) -> bool:
    """Return True for a name that a game may have; games of earlier versions may have invisible ones."""
    return 0 < len(name) <= MAX_PLAYER_NAME_LENGTH and all(map(is_displayable, name))


def _find_state_problem(state: TableState) -> str:
    count = len(state.players)
    if (state.name and not TABLE_PATTERN.fullmatch(state.name)) or len(state.store) > _MAX_STORE_CHARS:
        return "names that no table has"
    if count > 4 or not all(_is_stored_name(player.name) for player in state.players):
        return "players that no game has"
    seats = [*state.winners, *([state.turn_of] if state.turn_of is not None else [])]
    if state.clock:
        seats += [state.clock.running] if state.clock.running is not None else []
        if len(state.clock.used) != count or any(abs(x) >= _MAX_TIME_S for x in (state.clock.limit, *state.clock.used)):
            return "clocks that no game has"
    if not all(0 <= seat < count for seat in seats):
        return "seats that no game has"
    sound = 0 <= state.game < _MAX_NUMBER and 0 <= state.events <= MAX_GAME_EVENTS
    return "" if sound else "numbers that no game has"
