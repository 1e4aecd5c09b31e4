"""Decode and check the messages that the hall receives from tables. Tables are not trusted."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from device.hall.messages import (
    TOPIC_ROOT,
    HallMessage,
    OrderAnswer,
    TableLog,
    TableState,
    TableStatus,
)
from device.player_names import MAX_PLAYER_NAME_LENGTH, is_displayable
from device.settings import TABLE_PATTERN
from engine.errors import TilekeeperError

MAX_MESSAGE_BYTES = 1_000_000
"""Size of the largest message that is read, in bytes. The log of a long game has 50 kB."""
_MAX_DEPTH = 20
"""Largest depth of lists and objects in each other in an event; events of games have less than ten. Python reads deeper
ones than it can write, so that the hall could not store them, and would receive them again and again."""
_TYPES = {kind.channel: kind for kind in (TableStatus, TableState, TableLog, OrderAnswer)}
TOPICS = tuple(f"{TOPIC_ROOT}/+/{channel}" for channel in _TYPES)
_TOPIC = re.compile(rf"{re.escape(TOPIC_ROOT)}/(?P<table>[^/]+)/(?P<channel>{'|'.join(_TYPES)})")


class BadMessageError(TilekeeperError):
    """Error for a message that no table can have sent; the text gives the reason."""


def is_deletion(topic: str, payload: bytes) -> bool:
    """Return True if a message without contents has deleted the message of a table that the broker kept."""
    match = _TOPIC.fullmatch(topic)
    return not payload and match is not None and _TYPES[match["channel"]].is_retained


def decode_message(topic: str, payload: bytes) -> HallMessage:
    """Decode a table's message from `payload`; the topic determines the type. Raises `BadMessageError`."""
    match = _TOPIC.fullmatch(topic)
    if match is None or not TABLE_PATTERN.fullmatch(match["table"]):
        raise BadMessageError("no topic of a table")
    if len(payload) > MAX_MESSAGE_BYTES:
        raise BadMessageError(f"{len(payload)} bytes")
    try:
        message = msgspec.json.decode(payload, type=_TYPES[match["channel"]])
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
        case TableLog(events=events) if any(_is_deeper(one.event, _MAX_DEPTH) for one in events):
            return "an event that no game has"
        case TableState():
            return _find_state_problem(message)
        case _:
            return ""


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
    """Return what is wrong with the state of a table, or an empty string. Tables are not trusted."""
    if state.name and not TABLE_PATTERN.fullmatch(state.name):
        return "a name that no table has"
    if not all(_is_stored_name(player.name) for player in state.players):
        return "players that no game has"
    seats = [*state.winners, state.turn_of, state.clock.running if state.clock else None]
    has_clocks = state.clock is None or len(state.clock.used) == len(state.players)
    is_sound = has_clocks and all(seat is None or 0 <= seat < len(state.players) for seat in seats)
    return "" if is_sound else "seats that no game has"
