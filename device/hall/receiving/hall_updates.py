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
from device.hall.receiving.hall_state import (
    HallState,
    HallTable,
    OrderStatus,
    SentOrder,
    is_state_of,
    replay_game,
    sort_key,
)
from device.hall.receiving.pairings import Pairing, Result, make_result
from device.hall.receiving.received_games import ReceivedGame
from device.storage.stored_game import StoredEvent
from engine.messages import Message

MAX_PROBLEMS = 50
"""Largest number of refused messages that are kept for the pages."""
MAX_ORDERS = 1000
"""Largest number of the director's orders that are kept for the pages."""


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
    revision = hall.revision + 1
    return replace(hall, revision=revision, tables=tables, names_revision=revision, forgotten=hall.forgotten | {name})


def apply_connection(hall: HallState, *, is_connected: bool) -> HallState:
    """Return the hall after the connection to the broker was made or lost."""
    return replace(hall, revision=hall.revision + 1, is_connected=is_connected)


def apply_problem(hall: HallState, text: str) -> HallState:
    """Return the hall with one more text about a refused message."""
    return replace(hall, revision=hall.revision + 1, problems=(*hall.problems[1 - MAX_PROBLEMS :], text))


def apply_orders(hall: HallState, orders: Sequence[SentOrder]) -> HallState:
    """Return the hall with further orders of the director."""
    return replace(hall, revision=hall.revision + 1, orders=(*hall.orders, *orders)[-MAX_ORDERS:])


def apply_answer(hall: HallState, answer: OrderAnswer) -> HallState:
    """Return the hall after a table has answered an order; only the first answer to an order counts."""
    status = OrderStatus.ACCEPTED if answer.accepted else OrderStatus.REFUSED
    text = answer.reason[:MAX_REASON_CHARS]
    reason = Message(text, answer.key, text) if answer.key in ORDER_REASONS else text

    def answer_order(order: SentOrder) -> SentOrder:
        is_meant = (order.table, order.number, order.status) == (answer.table, answer.number, OrderStatus.SENT)
        return replace(order, status=status, reason=reason) if is_meant else order

    orders = tuple(map(answer_order, hall.orders))
    return hall if orders == hall.orders else replace(hall, revision=hall.revision + 1, orders=orders)


def apply_results(hall: HallState, results: Iterable[Result]) -> HallState:
    """Return the hall with `results` as its results, sorted by time."""
    ordered, revision = tuple(sorted(results, key=lambda result: result.ended)), hall.revision + 1
    return replace(hall, revision=revision, results=ordered, results_revision=revision)


def apply_pairings(hall: HallState, pairings: tuple[Pairing, ...]) -> HallState:
    """Return the hall with `pairings` as its pairings."""
    revision = hall.revision + 1
    return replace(hall, revision=revision, pairings=pairings, results_revision=revision)


def apply_new_event(hall: HallState, now: float) -> HallState:
    """Return the hall for a new event that begins at the time `now`, in seconds since 1970: no pairings, no results.

    Games that have already ended do not count in the new event. Games that are in progress count, even if the clock of
    their table is slow.
    """
    earlier = hall.earlier.union(result.game for result in (*hall.results, *hall.late_results) if result.game)
    # A game that a table has sent again under a new name has ended, too, but has no result of its own.
    played = [table.played for table in hall.tables.values() if table.played is not None]
    earlier = earlier.union(one.received.id for one in played if one.game is not None and one.game.is_over)
    present = [table.played for table in hall.tables.values() if table.played and table.is_online is not False]
    running = frozenset(one.received.id for one in present if one.received.id not in earlier)
    hall = replace(hall, earlier=earlier, games_since=now, late_results=(), counted=running)
    return apply_results(apply_pairings(hall, ()), ())


def apply_counted_game(hall: HallState, game: int) -> HallState:
    """Return the hall in which a game counts, even if it ended before the event began by the clock of its table."""
    hall = replace(hall, counted=hall.counted | {game})
    return replace_game_result(hall, game, hall.find_game_result(game))


def replace_game_result(hall: HallState, game: int, result: Result | None) -> HallState:
    """Return the hall with `result` as the result of a game, or without one if it is None."""
    results = [one for one in hall.results if one.game != game]
    late = [one for one in hall.late_results if one.game != game]
    if result:
        (late if hall.is_late(result) else results).append(result)
    late.sort(key=lambda one: one.ended)
    return apply_results(replace(hall, late_results=tuple(late)), results)


def apply_game(hall: HallState, received: ReceivedGame, events: Sequence[StoredEvent]) -> HallState:
    """Return the hall after events of a game were received; `events` are all events of the game.

    If the table has a newer game, only the result of the received game is updated. A result keeps the name that the
    table had when the game ended.
    """
    hall = _remove_from_earlier_name(hall, received)
    table, played = hall.find_table(received.table), replay_game(received, events)
    game = None if received.id in hall.earlier else played.game
    result = make_result(received.table, received.id, game, events[-1].time) if game else None
    before = hall.find_game_result(received.id)
    if result and before:
        result = msgspec.structs.replace(result, table=before.table)
    elif result and any(_is_same_game(result, one) for one in (*hall.results, *hall.late_results)):
        result = None  # an earlier version of the hall has stored the game twice, because the table has a new name
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
    """Return True if the results of two tables are those of one game: the time of its end is equal, too."""
    is_equal = (result.players, result.totals, result.ended) == (other.players, other.totals, other.ended)
    return is_equal and result.table != other.table


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
    revision = hall.revision + 1
    tables = {**hall.tables, table.name: replace(table, revision=revision)}
    if table.name in hall.tables:
        return replace(hall, revision=revision, tables=MappingProxyType(tables))
    ordered = dict(sorted(tables.items(), key=lambda item: sort_key(item[0])))
    return replace(hall, revision=revision, tables=MappingProxyType(ordered), names_revision=revision)
