"""Pure functions that apply messages to the state of the hall and return the new state.

Nothing here depends on the network or on a file. The engine replays the events of games, so totals are computed as at
the table. No word list is used, so the hall cannot reveal whether a word is valid.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from types import MappingProxyType

import msgspec

from device.hall.director import ORDER_REASONS
from device.hall.messages import MAX_REASON_CHARS, OrderAnswer, TableState
from device.hall.receiving.event import MAX_UNDO, Event, Result, assign_games, make_result, undo_change
from device.hall.receiving.hall_state import (
    HallState,
    HallTable,
    is_state_of,
    replay_game,
    sort_key,
)
from device.hall.receiving.received_games import ReceivedGame
from device.storage.stored_game import StoredEvent
from engine.messages import Message

MAX_PROBLEMS = 50
"""Largest number of refused messages that are kept for the pages."""


def apply_status(hall: HallState, name: str, *, is_online: bool) -> HallState:
    """Return the hall after the table `name` has come online or gone offline."""
    return _replace_table(hall, replace(hall.find_table(name), is_online=is_online))


def apply_table_state(hall: HallState, state: TableState, arrived: float) -> HallState:
    """Return the hall after a state was received from a table at the time `arrived` (`time.monotonic()`)."""
    return _replace_table(hall, replace(hall.find_table(state.table), state=state, arrived=arrived))


def apply_forgotten_table(hall: HallState, name: str) -> HallState:
    """Return the hall without a table until it connects again; its results stay.

    A table that cannot be forgotten is kept (`HallTable.can_be_forgotten`).
    """
    table = hall.tables.get(name)
    if table is None or not table.can_be_forgotten:
        return hall
    tables = MappingProxyType({key: one for key, one in hall.tables.items() if key != name})
    return _advance(hall, "names", tables=tables, forgotten=hall.forgotten | {name})


def apply_connection(hall: HallState, *, is_connected: bool) -> HallState:
    """Return the hall after the connection to the broker was made or lost."""
    return _advance(hall, is_connected=is_connected)


def apply_problem(hall: HallState, text: str) -> HallState:
    """Return the hall with one more text about a refused message."""
    return _advance(hall, problems=(*hall.problems[1 - MAX_PROBLEMS :], text))


def apply_answer(hall: HallState, answer: OrderAnswer) -> HallState:
    """Return the hall after a table has answered the last order to it."""
    text = answer.reason[:MAX_REASON_CHARS]
    reason = Message(text, answer.key, text) if answer.key in ORDER_REASONS else text
    others = {name: one for name, one in hall.refusals.items() if name != answer.table}
    refusals = MappingProxyType(others if answer.accepted else {**others, answer.table: reason})
    return hall if refusals == hall.refusals else _advance(hall, "results", refusals=refusals)


def apply_results(hall: HallState, results: Iterable[Result]) -> HallState:
    """Return the hall with `results` as its results, sorted by time."""
    return _advance(hall, "results", results=tuple(sorted(results, key=lambda result: result.ended)))


def apply_event(hall: HallState, event: Event) -> HallState:
    """Return the hall after a change of its event by the director, which can be undone."""
    is_content = (event.rounds, event.begun) != (hall.event.rounds, hall.event.begun)
    undo = (*hall.undo, hall.event)[-MAX_UNDO:] if is_content else hall.undo
    return apply_assignment(_advance(hall, "results", event=event, undo=undo))


def apply_undo(hall: HallState) -> HallState:
    """Return the hall before the director's last change, with the games that have come since."""
    if not hall.undo:
        return hall
    *undo, before = hall.undo
    return replace(apply_event(hall, undo_change(hall.event, before)), undo=tuple(undo))


def apply_assignment(hall: HallState) -> HallState:
    """Return the hall after each of its games that has no round got one, if the event has rounds."""
    if not hall.event.rounds:
        return hall
    event = assign_games(hall.event, hall.all_results, hall.find_name)
    return hall if event == hall.event else _advance(hall, "results", event=event)


def replace_game_result(hall: HallState, game: int, result: Result | None) -> HallState:
    """Return the hall with `result` as the result of a game, or without one if it is None."""
    others = [one for one in hall.results if one.game != game]
    return apply_results(hall, [*others, result] if result else others)


def apply_game(hall: HallState, received: ReceivedGame, events: Sequence[StoredEvent]) -> HallState:
    """Return the hall after events of a game were received; `events` are all events of the game.

    If the table has a newer game, only the result of the received game is updated. A result keeps the name that the
    table had when the game ended.
    """
    hall = _remove_from_earlier_name(hall, received)
    table, played = hall.find_table(received.table), replay_game(received, events)
    result = make_result(received.table, received.id, played.game, events[-1].time) if played.game else None
    before = hall.find_game_result(received.id)
    if result and before:
        result = msgspec.structs.replace(result, table=before.table)
    elif result and any(_is_same_game(result, one) for one in hall.results):
        result = None  # the events of the game were lost by damage of the file, and the table has sent them again
    if result != before:
        hall = replace_game_result(hall, received.id, result)
    return _replace_table(hall, replace(table, played=played)) if _is_newest(table, received) else hall


def _remove_from_earlier_name(hall: HallState, received: ReceivedGame) -> HallState:
    """Return the hall without the game `received` at a table with another name, which is no longer updated."""
    for table in hall.tables.values():
        is_there = table.played is not None and table.played.received.id == received.id
        if is_there and table.name != received.table:
            hall = _replace_table(hall, replace(table, played=None))
    return hall


def _is_same_game(result: Result, other: Result) -> bool:
    """Return True if two results are those of one game: the time of its end is equal, too."""
    return (result.players, result.totals, result.ended) == (other.players, other.totals, other.ended)


def _is_newest(table: HallTable, received: ReceivedGame) -> bool:
    """Return True if no other game of the table is newer.

    `received` is compared with the newest game so far. If the table's state names one of the two games, the named game
    is newer; otherwise the start times decide. Start times can be wrong: after the clock of a table was set back, a new
    game seems to start before earlier games.
    """
    shown = table.played.received if table.played else None
    if shown is None:
        return True
    if table.state and any(is_state_of(table.state, game) for game in (shown, received)):
        return is_state_of(table.state, received)
    return shown.started <= received.started


def _replace_table(hall: HallState, table: HallTable) -> HallState:
    tables = {**hall.tables, table.name: replace(table, revision=hall.revision + 1)}
    if table.name in hall.tables:
        return _advance(hall, tables=MappingProxyType(tables))
    return _advance(
        hall, "names", tables=MappingProxyType(dict(sorted(tables.items(), key=lambda item: sort_key(item[0]))))
    )


def _advance(hall: HallState, part: str = "", **changes: object) -> HallState:
    """Return the hall with changed fields and the next revision, also that of its `names` or `results`."""
    revision = hall.revision + 1
    changes |= {f"{part}_revision": revision} if part else {}
    return replace(hall, revision=revision, **changes)  # type: ignore[arg-type]
