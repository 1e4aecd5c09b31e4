"""The thread that publishes the games of a table to the broker of the hall."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from importlib.util import find_spec

from device.hall.event_queue import EventQueue
from device.hall.messages import TableEvent, publish_state, publish_status
from device.session.snapshot import TableSnapshot
from device.session.table_session import TableSession
from device.settings import HallSettings
from device.storage.store import GameStore
from device.system.backoff import Backoff
from device.system.periodic import PeriodicTask
from engine.messages import make_message

_log = logging.getLogger(__name__)

RETRY_DELAYS_S = (1.0, 2.0, 5.0, 10.0, 30.0)
CHECK_INTERVAL_S = 5.0
"""Interval, in seconds, of reading the store without a new snapshot."""


def open_hall(
    session: TableSession, store: GameStore, settings: HallSettings, report: Callable[[str], None]
) -> AbstractContextManager[object]:
    """Start publishing; without the library, report this and publish nothing."""
    if find_spec("paho") is None:
        text = "nothing is published to the hall: install its library with pip install 'tilekeeper[hall]'"
        report(make_message("hall-missing", text))
        return nullcontext()
    return HallPublisher(session, store, settings, report)


class HallPublisher:
    """Publishes the events of the store, the newest snapshot and the status of a table.

    One thread named `hall` connects, sends and waits. `report` is called once with each reason for which the broker
    refuses the table; an unreachable broker is only logged, because the events are sent later.
    """

    def __init__(
        self, session: TableSession, store: GameStore, settings: HallSettings, report: Callable[[str], None]
    ) -> None:
        self._session = session
        self._store = store
        self._settings = settings
        self._report = report
        self._reported = ""
        self._backoff = Backoff(RETRY_DELAYS_S)
        self._has_delivered = False
        """True if the broker has acknowledged messages on the present connection."""
        self._closing = threading.Event()
        self._bell, self._wake_up = socket.socketpair()
        self._bell.setblocking(False)
        session.add_listener(self._handle_state)
        self._task = PeriodicTask("hall", self._serve_connection, self._closing)

    def __enter__(self) -> HallPublisher:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Publish that the table is offline, and stop the thread."""
        self._session.remove_listener(self._handle_state)
        self._closing.set()
        self._ring()
        self._task.close()
        self._bell.close()
        self._wake_up.close()

    def _handle_state(self, _: TableSnapshot) -> None:
        self._ring()

    def _ring(self) -> None:
        with suppress(BlockingIOError):  # the thread has been woken already
            self._bell.send(b"\0")

    def _serve_connection(self) -> float:
        """Connect and publish until the connection ends; return the seconds to wait before the next attempt."""
        from device.hall.connection import BrokerLostError, BrokerRefusedError

        try:
            self._publish_until_closed()
        except BrokerLostError as error:
            _log.info("the hall cannot be reached: %s", error)
            if self._has_delivered:
                self._backoff.reset()
        except BrokerRefusedError as error:
            _log.warning("the hall refuses this table: %s", error)
            if str(error) != self._reported:
                self._reported = str(error)
                text = "The hall refuses this table ({0}). The game goes on; check [hall] in the settings."
                self._report(make_message("hall-refused", text, error))
        return self._backoff.record_failure()

    def _publish_until_closed(self) -> None:
        """Publish until `close`. Raises `BrokerLostError`, `BrokerRefusedError`, `StoreError`."""
        from device.hall.connection import BrokerConnection

        settings = self._settings
        queue = EventQueue(self._store, settings.table, f"{settings.host}:{settings.port}/{settings.table}")
        self._has_delivered = False
        will = publish_status(settings.table, online=False)
        connection = BrokerConnection(settings, settings.table, self._wake_up, will)
        last: TableSnapshot | None = None
        sent: TableEvent | None = None
        try:
            connection.publish([publish_status(settings.table, online=True)])
            while not self._closing.is_set():
                if connection.is_acknowledged:
                    if sent:
                        queue.acknowledge(sent)
                    batch, state = queue.read_batch(), self._session.state
                    sent = batch[-1].message if batch and isinstance(batch[-1].message, TableEvent) else None
                    if state is not last:
                        batch.append(publish_state(settings.table, state, time.monotonic(), time.time()))
                        last = state
                    connection.publish(batch)
                connection.wait(CHECK_INTERVAL_S)
                self._has_delivered = self._has_delivered or connection.is_acknowledged
            connection.publish([will])
        finally:
            connection.close()
