"""The thread that publishes the games of a table to the broker of the hall."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, Protocol

from device.hall.broker_task import BrokerTask
from device.hall.director import KEY_TOPIC, MAX_PACKET_BYTES, make_director_topic
from device.hall.messages import (
    Publication,
    TableEvent,
    TableStatus,
    make_table_state,
)
from device.hall.publishing.directed_table import DirectedTable, Direction
from device.hall.publishing.event_queue import EventQueue
from device.hall.publishing.home_assistant import make_discovery_message, make_removal_messages
from device.session.commands.base import TableCommand
from device.session.snapshot import SnapshotSource, TableSnapshot
from device.session.table_session import TableSession
from device.settings import HallSettings
from device.storage.errors import log_store_errors
from device.storage.store import TABLE_NOTES, GameStore

if TYPE_CHECKING:
    from device.hall.connection import BrokerConnection, Subscription

_log = logging.getLogger(__name__)

_KNOWN_NOTE = "home-assistant"
"""Name of the store's note with the broker and the name under which Home Assistant knows the table."""

CHECK_INTERVAL_S = 5.0
"""Interval at which the store is read even if there is no new snapshot, in seconds."""


class PublishedTable(SnapshotSource, Protocol):
    """A table that is published: its session, or a table that is played from a script."""

    def submit(self, command: TableCommand, /) -> Future[TableSnapshot]:
        """Carry out a command."""


def open_hall(
    session: TableSession, store: GameStore, settings: HallSettings, report: Callable[[str], None]
) -> HallPublisher:
    """Return a context manager that publishes the games and carries out the orders of an accepted hall."""
    publisher = HallPublisher(session, store, settings, report)
    session.director = publisher.directed
    return publisher


class HallPublisher(BrokerTask):
    """Publisher of a table: it sends the events of games, the log of the newest game, and the table's state and status.

    `calls_director` is True while the players call the director. `directed` receives the messages of the director.
    """

    def __init__(
        self,
        session: PublishedTable,
        store: GameStore,
        settings: HallSettings,
        report: Callable[[str], None],
        directed: DirectedTable | None = None,
    ) -> None:
        super().__init__(report, "hall-refused")
        self._session = session
        self._store = store
        self._settings = settings
        self.calls_director = False
        self.directed = directed or DirectedTable(settings.table, store, session.submit, report)
        self.directed.on_answer = self._wake_thread
        self._is_state_new = threading.Event()
        """Set if the hall does not have the newest state of the table."""
        self._published = self.directed.direction
        """What the director had ordered in the last state that was published."""
        session.add_listener(self._send_state)
        self._start()

    def close(self) -> None:
        """Publish that the table is offline, and stop the thread."""
        self._session.remove_listener(self._send_state)
        super().close()

    def call_director(self, *, is_on: bool) -> None:
        """Call the director of the hall, or cancel the call."""
        self.calls_director = is_on
        self._send_state()

    def _send_state(self, *_: object) -> None:
        self._is_state_new.set()
        self._wake_thread()

    def _make_subscription(self, queue: EventQueue) -> Subscription:
        """Return the subscription to the director's messages.

        The broker does not keep the director's messages for a table that is offline.
        """
        from device.hall.connection import Subscription

        return Subscription(
            (KEY_TOPIC, make_director_topic(self._settings.table)),
            partial(self._receive, queue),
            session_s=0,
            max_bytes=MAX_PACKET_BYTES,
            is_required=False,
        )

    def _receive(self, queue: EventQueue, topic: str, payload: bytes, is_retained: bool) -> None:
        """Pass a message of the director to `directed`.

        A hall that connects sends its key. The table then publishes its state again: the broker has only kept an older
        one, in which a running clock is wrong if the time of day differs between hall and table.
        """
        if topic == KEY_TOPIC and not is_retained:  # not a copy that the broker has kept: the hall connects just now
            self._is_state_new.set()
        self.directed.receive(topic, payload, is_retained, queue.store_id)

    def _publish_answers(self, connection: BrokerConnection) -> None:
        """Publish the answers to the director; if the broker does not allow them, this is only logged."""
        connection.publish(
            [answer.publication for answer in self.directed.take_answers()],
            lambda reason: _log.warning("the director gets no answer from this table: %s", reason),
        )

    def _make_state_message(self, store: str, direction: Direction) -> Publication:
        state = make_table_state(
            self._settings.table,
            store,
            self._session.state,
            time.monotonic(),
            time.time(),
            calls_director=self.calls_director,
            name=direction.name,
            offer=direction.offer,
        )
        return state.publication

    def _use_broker(self) -> None:
        """Connect and publish until `close`. Raises `BrokerLostError`, `BrokerRefusedError`, `StoreError`."""
        from device.hall.connection import BrokerConnection

        settings = self._settings
        queue = EventQueue(self._store, settings.table, f"{settings.host}:{settings.port}/{settings.table}")
        will = TableStatus(table=settings.table, online=False).publication
        connection = BrokerConnection(settings, settings.table, self._wake_up, will, self._make_subscription(queue))
        last_event: TableEvent | None = None
        self._is_state_new.set()
        try:
            connection.publish([TableStatus(table=settings.table, online=True).publication])
            self._update_home_assistant(connection)
            connection.publish(queue.read_log())
            while not self._closing.is_set():
                if connection.is_acknowledged:
                    if last_event:
                        queue.acknowledge(last_event)
                    last_event = self._publish_news(connection, queue)
                connection.wait(CHECK_INTERVAL_S)
                self._has_delivered = self._has_delivered or connection.is_acknowledged
            connection.publish([will])
        finally:
            connection.close()

    def _update_home_assistant(self, connection: BrokerConnection) -> None:
        """Let Home Assistant know the table by its present name, or not at all; remove a former name at this broker."""
        settings = self._settings
        broker, name = f"{settings.host}:{settings.port}", settings.table if settings.home_assistant else ""
        known = self._store.read_note(TABLE_NOTES, _KNOWN_NOTE) or ""
        known_broker, _, known_name = known.partition("/")
        if known_name and known_broker == broker and known_name != name:
            connection.publish(
                make_removal_messages(known_name, has_left=known_name != settings.table),
                lambda reason: _log.warning("Home Assistant may still show the table %s: %s", known_name, reason),
            )
        if name:
            connection.publish([make_discovery_message(name)])
        if known != (now := f"{broker}/{name}" if name else ""):
            with log_store_errors("Home Assistant may show a former name of this table"):
                self._store.save_note(TABLE_NOTES, _KNOWN_NOTE, now)

    def _publish_news(self, connection: BrokerConnection, queue: EventQueue) -> TableEvent | None:
        """Publish the next events, the answers to orders, and the state if the hall does not have it yet.

        The state is also published after each order, and after a hall was accepted, which then sends what the table has
        refused before. Return the last of the events, if any.
        """
        batch, direction = queue.read_batch(), self.directed.direction
        last_event = next((one.message for one in batch[::-1] if isinstance(one.message, TableEvent)), None)
        if self._is_state_new.is_set() or direction != self._published:
            self._is_state_new.clear()
            self._published = direction
            batch.append(self._make_state_message(queue.store_id, direction))
        connection.publish(batch)
        self._publish_answers(connection)
        return last_event
