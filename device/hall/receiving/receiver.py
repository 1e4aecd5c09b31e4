"""The thread that receives the messages of all tables, stores the games and maintains the state of the hall."""

from __future__ import annotations

import json
import logging
import math
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from itertools import filterfalse
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from device.catalogue import get_text
from device.hall.broker_task import BrokerTask
from device.hall.director import (
    KEY_TOPIC,
    DirectorCommand,
    DirectorOrder,
    format_fingerprint,
    make_key_message,
    make_order_message,
)
from device.hall.messages import HallMessage, OrderAnswer, Publication, TableEvent, TableLog, TableState, TableStatus
from device.hall.receiving.hall_recovery import open_received_games
from device.hall.receiving.hall_state import (
    HallState,
    HallTable,
    OrderStatus,
    SentOrder,
    TooManyTablesError,
    is_state_of,
)
from device.hall.receiving.hall_updates import (
    MAX_PROBLEMS,
    apply_answer,
    apply_connection,
    apply_counted_game,
    apply_forgotten_table,
    apply_game,
    apply_new_event,
    apply_orders,
    apply_pairings,
    apply_problem,
    apply_results,
    apply_status,
    apply_table_state,
)
from device.hall.receiving.inbox import MAX_MESSAGE_BYTES, TOPICS, BadMessageError, decode_message, is_deletion
from device.hall.receiving.pairings import PairingsError, Result, check_pairings, parse_pairings
from device.hall.receiving.received_games import (
    MissingEventsError,
    OtherTableError,
    ReceivedGame,
    ReceivedGames,
    TableFullError,
)
from device.settings import HallSettings
from device.storage.errors import StoreError
from device.storage.stored_game import StoredEvent

if TYPE_CHECKING:
    from device.hall.connection import BrokerConnection

_NOTE = "event"


class EventLimits(msgspec.Struct, frozen=True):
    """Games and results that do not count in the hall's current event, because they are older.

    `earlier` are the ids of these games. `begun` is the time at which the event began, in seconds since 1970: results
    that the director entered up to this time do not count. It is not earlier than the last of these
    results, even if the clock was set back. `games_since` is the same time for the games of tables, by the clock alone;
    the games `counted` count although they may have ended before it by the clock of their table.
    """

    earlier: tuple[int, ...] = ()
    begun: float = 0.0
    games_since: float = 0.0
    counted: tuple[int, ...] = ()


def read_limits(games: ReceivedGames) -> EventLimits:
    """Return the limits of the current event. Raises `StoreError`."""
    return msgspec.json.decode(games.read_note(_NOTE) or "{}", type=EventLimits)


def save_limits(games: ReceivedGames, limits: EventLimits) -> None:
    """Save the limits of the current event. Raises `StoreError`."""
    games.save_note(_NOTE, msgspec.json.encode(limits).decode())


PAIRINGS_NOTE = "pairings"
_FORGOTTEN_NOTE = "forgotten"


def load_state(games: ReceivedGames) -> HallState:
    """Return the state of the hall from the file, with the newest game of each table. Raises `StoreError`."""
    newest = {game.table: game for game in games.list_games()}
    limits = read_limits(games)
    earlier, counted = frozenset(limits.earlier), frozenset(limits.counted)
    forgotten = frozenset[str](json.loads(games.read_note(_FORGOTTEN_NOTE) or "[]"))
    state = HallState(earlier=earlier, games_since=limits.games_since, counted=counted, forgotten=forgotten)
    saved = games.list_results()
    entered = [one for one in saved if not one.game and one.ended > limits.begun]
    played = [one for one in saved if one.game and one.game not in earlier]
    late = tuple(filter(state.is_late, played))
    state = apply_results(replace(state, late_results=late), [*entered, *filterfalse(state.is_late, played)])
    try:
        text = games.read_note(PAIRINGS_NOTE) or ""
        state = apply_pairings(state, parse_pairings(text, allows_short_byes=True))
    except PairingsError as error:  # earlier versions accepted other texts
        state = apply_problem(state, str(error))
    for name, game in newest.items():
        if name not in forgotten:
            state = apply_game(state, game, games.read_events(game.id))
    _save_newest_results(games, state)
    return state


def save_forgotten(games: ReceivedGames, forgotten: frozenset[str]) -> None:
    """Save the names of the forgotten tables. Raises `StoreError`."""
    games.save_note(_FORGOTTEN_NOTE, json.dumps(sorted(forgotten)))


def _save_newest_results(games: ReceivedGames, state: HallState) -> None:
    """Save or delete the results of the newest games if a power cut prevented it after the last events."""
    saved = {result.game: result for result in games.list_results()}
    for table in state.tables.values():
        played = table.played
        if played is None or played.game is None or played.received.id in state.earlier:
            continue
        number = played.received.id
        computed = state.find_game_result(number)
        if computed != saved.get(number):
            games.save_result(number, computed)


_log = logging.getLogger(__name__)
SESSION_S = 7 * 24 * 3600
"""Time for which the broker keeps messages while the hall is offline, in seconds."""
CHECK_INTERVAL_S = 5.0
MAX_PACKET_BYTES = 8 * MAX_MESSAGE_BYTES
"""Size of the largest packet that the broker sends to the hall, in bytes. It is above `MAX_MESSAGE_BYTES`, so that
messages that are too large still arrive, and the hall reports them as problems."""
DOUBLE_CLICK_S = 10.0
"""Time in which an equal result that the director enters is the same form, sent twice, in seconds."""
MAX_STATE_AGE_S = 86_400.0
"""Largest age of a state that the broker had kept, in seconds; an older state counts as being of this age."""
_CLIENT_NOTE = "client"
_DELAY_NOTE = "delay"
_ORDER_NOTE = "order"


class HallReceiver(BrokerTask):
    """Receiver of messages from tables.

    `state` is the newest state of the hall. Viewers see it `delay_s` seconds later.
    """

    def __init__(
        self,
        path: Path | str,
        settings: HallSettings,
        report: Callable[[str], None] = _log.warning,
        key: Ed25519PrivateKey | None = None,
        games_since: float = 0.0,
    ) -> None:
        """Load the games that were received before, and start the thread; `key` signs the director's orders.

        `path` is the file with the received games. Until the first new event, games that ended before `games_since` (s
        since 1970) do not count. Raises `StoreError`.
        """
        self.games, problem = open_received_games(path)
        super().__init__(report)
        self._settings = settings
        self._key = key or Ed25519PrivateKey.generate()
        self._orders: deque[Publication] = deque()
        self._lock = threading.RLock()
        self._known_problems: set[tuple[str, str]] = set()
        self._shown_errors: set[str] = set()
        self._devices: dict[str, tuple[str, ...]] = {}
        """Ids of the last stores (up to four) in the messages of each table, to detect two devices with one name. The
        same id twice in a row counts once."""
        self._unapplied: dict[tuple[str, str, int], ReceivedGame] = {}
        """Games with stored events that are not in `state` yet, because the file could not be written: by table, store
        and number."""
        if games_since:
            save_limits(self.games, msgspec.structs.replace(read_limits(self.games), games_since=games_since))
        self.state = load_state(self.games)
        if problem:
            self.state = apply_problem(self.state, problem)
            report(problem)
        self.delay_s = float(self.games.read_note(_DELAY_NOTE) or 0.0)
        self._client = self.games.read_note(_CLIENT_NOTE) or f"hall-{secrets.token_hex(6)}"
        self.games.save_note(_CLIENT_NOTE, self._client)
        self._start()

    def close(self) -> None:
        """Stop the thread and close the file."""
        super().close()
        self.games.close()

    def receive(self, topic: str, payload: bytes, is_retained: bool) -> None:
        """Apply a message to the state; an invalid message is only reported as a problem. Raises `StoreError`."""
        if is_deletion(topic, payload):
            self.forget_table(topic.split("/")[-2])
            return
        try:
            message = decode_message(topic, payload)
            with self._lock:
                self.state = self._apply(message, is_retained)
        except (BadMessageError, OtherTableError) as error:
            self._note_problem(topic, str(error))
        except (TableFullError, TooManyTablesError) as error:
            self._show_error(str(error))
        except MissingEventsError:
            _log.info("%s: earlier events are missing; the table's log has them", topic)

    def set_pairings(self, text: str) -> None:
        """Replace the pairings of the event by those in `text`, in CSV format. Raises `PairingsError`, `StoreError`."""
        pairings = parse_pairings(text)
        check_pairings(pairings)
        with self._lock:
            self.games.save_note(PAIRINGS_NOTE, text)
            self.state = apply_pairings(self.state, pairings)

    def begin_event(self) -> None:
        """Begin a new event without pairings. Games that have already ended do not count in it. Raises `StoreError`."""
        with self._lock:
            now = time.time()
            state = apply_new_event(self.state, now)
            begun = max(now, self._find_last_entry())
            save_limits(self.games, EventLimits(tuple(sorted(state.earlier)), begun, now, tuple(sorted(state.counted))))
            self.games.save_note(PAIRINGS_NOTE, "")
            self.state = state

    def count_game(self, game: int) -> None:
        """Count a game that ended before the event began by the clock of its table. Raises `StoreError`."""
        with self._lock:
            self.state = self._count_game(self.state, game)

    def _count_game(self, hall: HallState, game: int) -> HallState:
        state = apply_counted_game(hall, game)
        save_limits(self.games, msgspec.structs.replace(read_limits(self.games), counted=tuple(sorted(state.counted))))
        return state

    def set_delay(self, seconds: float) -> None:
        """Set the delay, in seconds, with which viewers see the hall. Raises `StoreError`."""
        self.games.save_note(_DELAY_NOTE, str(seconds))
        self.delay_s = seconds

    def add_result(self, result: Result) -> None:
        """Add a result of a table without a camera, unless the same form was sent twice. Raises `StoreError`.

        If the clock was set back, the result gets a time just after that of the last result and of the event's begin:
        otherwise it would not count after a restart.
        """
        with self._lock:
            if any(_is_sent_again(result, one) for one in self.state.results):
                return
            last = self._find_last_entry()
            if result.ended <= last:
                result = msgspec.structs.replace(result, ended=math.nextafter(last, math.inf))
            self.games.save_result(0, result)
            self.state = apply_results(self.state, [*self.state.results, result])

    def remove_result(self, result: Result) -> None:
        """Remove a result that the director entered. Raises `StoreError`."""
        with self._lock:
            self.games.delete_result(result)
            self.state = apply_results(self.state, [one for one in self.state.results if one != result])

    def forget_table(self, name: str) -> None:
        """Remove a table that is not online from the state, until it connects again. Raises `StoreError`."""
        with self._lock:
            state = apply_forgotten_table(self.state, name)
            if state is not self.state:
                save_forgotten(self.games, state.forgotten)
                self.state = state

    def _find_last_entry(self) -> float:
        """Return the time at which the event began, or at which the last result was entered, if that is later."""
        entered = (one.ended for one in self.state.results if not one.game)
        return max((read_limits(self.games).begun, *entered))

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the hall's key; the admin of a table compares it before accepting the hall."""
        return format_fingerprint(self._key.public_key().public_bytes_raw())

    def send_orders(self, commands: Iterable[tuple[str, DirectorCommand]]) -> int:
        """Send commands to tables that are online. Return the number of commands that were sent. Raises `StoreError`.

        `state.orders` contains all commands with their status. Commands for tables that are offline are not kept for
        later: it is better if a clock does not start than if it starts late.
        """
        with self._lock:
            orders = [self._send_order(name, command) for name, command in commands]
            self.state = apply_orders(self.state, orders)
        self._wake_thread()
        return sum(order.status is OrderStatus.SENT for order in orders)

    def _send_order(self, name: str, command: DirectorCommand) -> SentOrder:
        table = self.state.tables.get(name)
        if table is None or not table.is_online or not self.state.is_connected:
            return SentOrder(name, command, 0, OrderStatus.AWAY)
        store = table.state.store if table.state else ""
        if not store and table.played:  # a table of an earlier version
            store = table.played.received.store
        if not store:
            return SentOrder(name, command, 0, OrderStatus.NO_GAME)
        number = max(int(self.games.read_note(_ORDER_NOTE) or 0) + 1, int(time.time() * 1000))
        self.games.save_note(_ORDER_NOTE, str(number))
        order = DirectorOrder(table=name, store=store, number=number, command=command)
        self._orders.append(make_order_message(self._key, order))
        return SentOrder(name, command, number, OrderStatus.SENT)

    def _publish_orders(self, connection: BrokerConnection) -> None:
        while self._orders:
            order = self._orders.popleft()
            connection.publish([order], partial(self._note_problem, order.topic))

    def _apply(self, message: HallMessage, is_retained: bool) -> HallState:
        if message.table in self.state.forgotten:
            is_old = is_retained and not (isinstance(message, TableStatus) and message.online)
            is_old |= isinstance(message, OrderAnswer)  # the table's doctor sends one, too
            if is_old:  # the broker has kept it from the time before, or the table does not play
                return self.state
            forgotten = self.state.forgotten - {message.table}
            save_forgotten(self.games, forgotten)
            self.state = replace(self.state, forgotten=forgotten)
        match message:
            case TableStatus(table=table, online=online):
                return apply_status(self.state, table, is_online=online)
            case TableState():
                self._note_device(message.table, message.store)
                age_s = min(max(0.0, time.time() - message.time), MAX_STATE_AGE_S) if is_retained else 0.0
                hall = apply_table_state(self.state, message, time.monotonic() - age_s)
                hall = self._follow_game(hall, message)
                return hall if is_retained else self._count_running_game(hall, hall.tables[message.table])
            case OrderAnswer():
                return apply_answer(self.state, message)
            case TableEvent(number=number):
                event = StoredEvent(number, message.time, message.event)
                return self._add_events(message.table, message.store, message.game, [event])
            case TableLog():
                events = [StoredEvent(i, one.time, one.event) for i, one in enumerate(message.events)]
                return self._add_events(message.table, message.store, message.game, events)
        return self.state

    def _note_device(self, table: str, store: str) -> None:
        """Report two devices that use the name of one table.

        The broker ends the connection of one device when the other connects, so the ids of their stores alternate in
        the messages. A replaced device is not reported: the id then changes only once, or twice if the device returns.
        """
        stores = self._devices.get(table, ())
        if not store or store in stores[-1:]:
            return
        stores = self._devices[table] = (*stores, store)[-4:]
        if len(stores) == 4 and stores[:2] == stores[2:]:
            self._show_error(get_text("hall-two-devices", table))

    def _follow_game(self, hall: HallState, state: TableState) -> HallState:
        """Return the hall after the game to which a table's state refers has become the newest game of the table.

        If the hall has not received this game, the hall is returned unchanged.
        """
        played = hall.tables[state.table].played
        if played is not None and is_state_of(state, played.received):
            return hall
        game = self.games.find_game(state.table, state.game, state.store)
        return hall if game is None else apply_game(hall, game, self.games.read_events(game.id))

    def _count_running_game(self, hall: HallState, table: HallTable) -> HallState:
        """Return the hall in which the game in progress at a table counts: the clock of the table may be slow."""
        played = table.played
        if not played or not table.is_playing or not table.state or not is_state_of(table.state, played.received):
            return hall
        game, started = played.received.id, played.received.started
        is_sure = started > hall.games_since or game in hall.counted | hall.earlier
        return hall if is_sure else self._count_game(hall, game)

    def _add_events(self, table: str, store: str, number: int, events: list[StoredEvent]) -> HallState:
        self.state.find_table(table)  # before anything is written
        key = table, store, number
        changed = self.games.add_events(table, store, number, events, self._is_online) or self._unapplied.get(key)
        if changed is None:
            return self.state
        self._unapplied[key] = changed  # until its result is stored: the broker sends the events again after an error
        state = apply_game(self.state, changed, self.games.read_events(changed.id))
        result = state.find_game_result(changed.id)
        if result != self.state.find_game_result(changed.id):
            self.games.save_result(changed.id, result)
            state = self._remove_rescued(state, result) if result else state
        del self._unapplied[key]
        return state

    def _is_online(self, table: str) -> bool:
        return table in self.state.tables and bool(self.state.tables[table].is_online)

    def _remove_rescued(self, hall: HallState, result: Result) -> HallState:
        """Return the hall without the copy of `result` that was rescued from a damaged file, if there is one.

        The rescued copy is not needed, because the table has sent the game of the result again.
        """
        rescued = msgspec.structs.replace(result, game=0)
        if rescued not in hall.results:
            return hall
        self.games.delete_result(rescued)
        return apply_results(hall, [one for one in hall.results if one != rescued])

    def _note_problem(self, topic: str, reason: str) -> None:
        key = topic[:100], reason
        if key not in self._known_problems and len(self._known_problems) < MAX_PROBLEMS * 10:
            self._known_problems.add(key)
            _log.warning("a message to %s is refused: %s", topic[:100], reason)
            with self._lock:
                self.state = apply_problem(self.state, f"{topic[:100]}: {reason}")

    def _show_error(self, text: str) -> None:
        """Add a sentence to the problems, unless it was added before."""
        if text not in self._shown_errors:
            self._shown_errors.add(text)
            _log.warning("%s", text)
            with self._lock:
                self.state = apply_problem(self.state, text)

    def _note_store_error(self, error: StoreError) -> None:
        self._show_error(str(error))

    def _set_connected(self, is_connected: bool) -> None:
        with self._lock:
            self.state = apply_connection(self.state, is_connected=is_connected)

    def _describe_refusal(self, error: Exception) -> str:
        return get_text("hall-broker-refused", error)

    def _use_broker(self) -> None:
        """Connect and receive until `close`. Raises `BrokerLostError`, `BrokerRefusedError`, `StoreError`."""
        from device.hall.connection import BrokerConnection, Subscription

        subscription = Subscription(TOPICS, self.receive, SESSION_S, MAX_PACKET_BYTES)
        connection = BrokerConnection(self._settings, self._client, self._wake_up, subscription=subscription)
        self._has_delivered = True
        self._orders.clear()
        self._set_connected(True)
        try:
            connection.publish([make_key_message(self._key)], partial(self._note_problem, KEY_TOPIC))
            while not self._closing.is_set():
                connection.wait(CHECK_INTERVAL_S)
                self._publish_orders(connection)
        finally:
            connection.close()
            self._set_connected(False)


def _is_sent_again(result: Result, before: Result) -> bool:
    """Return True if two entered results are equal and were entered within `DOUBLE_CLICK_S`."""
    is_soon = abs(result.ended - before.ended) < DOUBLE_CLICK_S
    return is_soon and not before.game and msgspec.structs.replace(before, ended=result.ended) == result
