"""The thread that receives the messages of all tables, stores the games and maintains the state of the hall."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from device.hall.broker_task import BrokerTask
from device.hall.director import (
    KEY_TOPIC,
    DirectorCommand,
    DirectorOrder,
    SetTableName,
    format_fingerprint,
    make_key_message,
    make_order_message,
)
from device.hall.messages import (
    HallMessage,
    OfferPairing,
    OrderAnswer,
    Publication,
    TableLog,
    TableState,
    TableStatus,
)
from device.hall.receiving.event import NO_EVENT, Event
from device.hall.receiving.hall_recovery import open_received_games
from device.hall.receiving.hall_state import MAX_PROBLEMS, HallState, TooManyTablesError, is_state_of
from device.hall.receiving.inbox import MAX_MESSAGE_BYTES, TOPICS, BadMessageError, decode_message, is_deletion
from device.hall.receiving.received_games import (
    OtherTableError,
    ReceivedGames,
    TableFullError,
)
from device.settings import HallSettings
from device.storage.errors import StoreError
from device.storage.store import StoredEvent

if TYPE_CHECKING:
    from device.hall.connection import BrokerConnection


def load_state(games: ReceivedGames) -> HallState:
    """Return the state of the hall from the file, with the newest game of each table. Raises `StoreError`."""
    forgotten = games.read_note("forgotten", frozenset[str], frozenset())
    undo = games.read_note("undo", tuple[Event, ...], ())
    event = games.read_note("event", Event, undo[-1] if undo else NO_EVENT)  # damage of the file may have lost it
    state = HallState(event=event, undo=undo, forgotten=forgotten).apply_results(games.list_results())
    for name, game in {game.table: game for game in games.list_games()}.items():
        if name not in forgotten:
            state = state.apply_game(game, games.read_events(game.id))
    return state


_log = logging.getLogger(__name__)
SESSION_S = 7 * 24 * 3600
"""Time for which the broker keeps messages while the hall is offline, in seconds."""
CHECK_INTERVAL_S = 5.0
MAX_PACKET_BYTES = 8 * MAX_MESSAGE_BYTES
"""Size of the largest packet that the broker sends to the hall, in bytes. It is above `MAX_MESSAGE_BYTES`, so that
messages that are too large still arrive, and the hall reports them as problems."""
MAX_STATE_AGE_S = 86_400.0
"""Largest age of a state that the broker had kept, in seconds; an older state counts as being of this age."""


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
        super().__init__(report, "hall-broker-refused")
        self._settings = settings
        self._key = key or Ed25519PrivateKey.generate()
        self._orders: deque[Publication] = deque()
        self._lock = threading.RLock()
        self._known_problems: set[str] = set()
        self._sent: dict[str, int] = {}
        """The number of the last order to each table, until the table has answered it."""
        self._offers: dict[str, OfferPairing] = {}
        """The last pairing that was sent to each table since it has connected."""
        self.state = load_state(self.games)
        if games_since:
            self._save(replace(self.state, event=Event(begun=games_since)))
        if problem:
            self.state = self.state.apply_problem(problem)
            report(problem)
        self.delay_s = self.games.read_note("delay", float, 0.0)
        self._client = self.games.read_note("client", str, f"hall-{secrets.token_hex(6)}")
        self.games.save_note("client", self._client)
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
                if not isinstance(message, OrderAnswer):
                    self._follow_table(message.table)
        except (BadMessageError, OtherTableError) as error:
            self._note_refusal(topic, str(error))
        except (TableFullError, TooManyTablesError) as error:
            self._note_problem(str(error))

    def edit_event(self, edit: Callable[[Event], Event]) -> None:
        """Change the event, so that the change can be undone. Raises `StoreError` and what `edit` raises."""
        with self._lock:
            self._save(self.state.apply_event(edit(self.state.event)))
        self.offer_pairings()

    def begin_event(self) -> None:
        """Begin a new event without rounds; games that have already ended do not count in it. Raises `StoreError`."""
        last = max((game.id for game in self.games.list_games()), default=0)
        self.edit_event(lambda _: Event(begun=time.time(), last_game=last))

    def undo_edit(self) -> None:
        """Undo the director's last change of the event. Raises `StoreError`."""
        with self._lock:
            self._save(self.state.apply_undo())
        self.offer_pairings()

    def _save(self, state: HallState) -> None:
        """Make `state` the state of the hall after what the director has decided is saved. Raises `StoreError`."""
        for name, value in (("undo", state.undo), ("event", state.event), ("forgotten", sorted(state.forgotten))):
            self.games.save_note(name, value)
        self.state = state

    def set_delay(self, seconds: float) -> None:
        """Set the delay, in seconds, with which viewers see the hall. Raises `StoreError`."""
        self.games.save_note("delay", seconds)
        self.delay_s = seconds

    def forget_table(self, name: str) -> None:
        """Remove a table that is not online from the state, until it connects again. Raises `StoreError`."""
        with self._lock:
            self._save(self.state.apply_forgotten_table(name))

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the hall's key; the admin of a table compares it before accepting the hall."""
        return format_fingerprint(self._key.public_key().public_bytes_raw())

    def name_table(self, name: str, title: str) -> bool:
        """Send a name to a table that is online; return False if it is not. Raises `StoreError`."""
        with self._lock:
            return self._send_order(name, SetTableName(title))

    def offer_pairings(self, names: Iterable[str] | None = None) -> None:
        """Send to the tables (by default, to all) what they should know of the event and do not know yet.

        What a table has not received is sent when it connects or reports. Raises `StoreError`.
        """
        with self._lock:
            for name in list(self.state.tables) if names is None else names:
                table, offer = self.state.tables.get(name), self.state.find_offer(name)
                if table is None or table.state is None or offer in (None, table.state.offer, self._offers.get(name)):
                    continue
                if offer and self._send_order(name, offer):
                    self._offers[name] = offer

    def _send_order(self, name: str, command: DirectorCommand) -> bool:
        """Send a command to a table; return False if the table or the broker is not connected.

        The order names the table's store. So the table's last state must have arrived, with the id of this store.
        """
        table = self.state.tables.get(name)
        if not (table and table.is_online and table.state and table.state.store and self.state.is_connected):
            return False
        # A table refuses a number that is not larger than the last one. The clock makes it larger if the note is lost.
        number = max(self.games.read_note("order", int, 0) + 1, int(time.time() * 1000))
        self.games.save_note("order", number)
        order = DirectorOrder(table=name, store=table.state.store, number=number, command=command)
        self._orders.append(make_order_message(self._key, order))
        self._sent[name] = number
        self._wake_thread()
        return True

    def _publish_orders(self, connection: BrokerConnection) -> None:
        while self._orders:
            order = self._orders.popleft()
            connection.publish([order], partial(self._note_refusal, order.topic))

    def _apply(self, message: HallMessage, is_retained: bool) -> HallState:
        """Return the state after a message of a table. `is_retained` is True for a message that the broker has kept."""
        if message.table in self.state.forgotten:
            is_old = is_retained and not (isinstance(message, TableStatus) and message.online)
            is_old |= isinstance(message, OrderAnswer)  # the table's doctor sends one, too
            if is_old:  # the broker has kept it from the time before, or the table does not play
                return self.state
            self._save(replace(self.state, forgotten=self.state.forgotten - {message.table}))
        match message:
            case TableStatus(table=table, online=online):
                self._offers.pop(table, None)
                return self.state.apply_status(table, is_online=online)
            case TableState():
                age_s = min(max(0.0, time.time() - message.time), MAX_STATE_AGE_S) if is_retained else 0.0
                return self._follow_game(self.state.apply_table_state(message, time.monotonic() - age_s), message)
            case OrderAnswer():
                if self._sent.get(message.table) != message.number:
                    return self.state
                del self._sent[message.table]  # a table also answers a copy of the order
                if not message.accepted:  # it is sent again with the next report of the table
                    self._offers.pop(message.table, None)
                return self.state.apply_answer(message)
            case TableLog():
                return self._add_log(message)
        return self.state

    def _follow_table(self, name: str) -> None:
        """Give the game of a table its round, and offer the table its pairing. Raises `StoreError`."""
        state = self.state.apply_assignment()
        if state is not self.state:
            self._save(state)
        self.offer_pairings([name])

    def _follow_game(self, hall: HallState, state: TableState) -> HallState:
        """Return the hall after the game to which a table's state refers has become the newest game of the table.

        If the hall has not received this game, the hall is returned unchanged.
        """
        played = hall.tables[state.table].played
        if played is not None and is_state_of(state, played.received):
            return hall
        game = self.games.find_game(state.table, state.game, state.store)
        return hall if game is None else hall.apply_game(game, self.games.read_events(game.id))

    def _add_log(self, log: TableLog) -> HallState:
        """Store the events of a game's log that are new; return the state with this game and its result."""
        self.state.find_table(log.table)  # before anything is written
        events = [StoredEvent(number, one.time, one.event) for number, one in enumerate(log.events)]
        with self.games.transaction():  # after an error, the broker sends the log again
            changed = self.games.add_log(log.table, log.store, log.game, events, self._is_online)
            if changed is None:
                return self.state
            state = self.state.apply_game(changed, self.games.read_events(changed.id))
            result = state.find_game_result(changed.id)
            if result != self.state.find_game_result(changed.id):
                self.games.save_result(changed.id, result)
        return state

    def _is_online(self, table: str) -> bool:
        return table in self.state.tables and bool(self.state.tables[table].is_online)

    def _note_refusal(self, topic: str, reason: str) -> None:
        """Show that a message was refused."""
        self._note_problem(f"{topic[:100]}: {reason}")

    def _note_problem(self, text: str) -> None:
        """Show a problem to the director, unless it was shown before."""
        if text not in self._known_problems and len(self._known_problems) < MAX_PROBLEMS * 10:
            self._known_problems.add(text)
            _log.warning("%s", text)
            with self._lock:
                self.state = self.state.apply_problem(text)

    def _note_store_error(self, error: StoreError) -> None:
        self._note_problem(str(error))

    def _set_connected(self, is_connected: bool) -> None:
        with self._lock:
            self.state = self.state.apply_connection(is_connected=is_connected)

    def _use_broker(self) -> None:
        """Connect and receive until `close`. Raises `BrokerLostError`, `BrokerRefusedError`, `StoreError`."""
        from device.hall.connection import BrokerConnection, Subscription

        subscription = Subscription(TOPICS, self.receive, SESSION_S, MAX_PACKET_BYTES)
        connection = BrokerConnection(self._settings, self._client, self._wake_up, subscription=subscription)
        self._has_delivered = True
        self._orders.clear()
        self._set_connected(True)
        try:
            connection.publish([make_key_message(self._key)], partial(self._note_refusal, KEY_TOPIC))
            while not self._closing.is_set():
                connection.wait(CHECK_INTERVAL_S)
                self._publish_orders(connection)
        finally:
            connection.close()
            self._set_connected(False)
