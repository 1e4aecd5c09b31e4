"""The thread that connects to the broker, for a table and for the hall."""

from __future__ import annotations

import logging
import socket
import threading
import time
from abc import abstractmethod
from collections.abc import Callable
from contextlib import suppress

from device.catalogue import get_text
from device.storage.errors import StoreError
from device.system.closeable import Closeable
from device.system.periodic import Backoff, PeriodicTask

_log = logging.getLogger(__name__)

RECONNECT_DELAYS_S = (1.0, 2.0, 5.0, 10.0, 30.0)
"""Seconds before each attempt to connect to the broker again; the last value is repeated."""
SHORT_CONNECTION_S, MAX_SHORT_CONNECTIONS = 30.0, 3
"""If two clients have the same name, each ends the connection of the other, and not all brokers give the reason. After
`MAX_SHORT_CONNECTIONS` successive connections of less than `SHORT_CONNECTION_S` seconds, this is assumed."""
CLOSE_TIMEOUT_S = 5.0
"""Longest time to wait for the thread at the end, in seconds.

Looking up the name of the broker can take longer, but systemd kills the program after 15 seconds.
"""


class BrokerTask(Closeable):
    """Base class of a thread named `hall` that uses the broker, and connects again when the connection is lost.

    Subclasses call `_start` at the end of their initialisation. If the broker refuses this client, `report` is called,
    once for each reason, with the message `refusal_key`. If the broker cannot be reached, this is only logged: the
    messages are sent later.
    """

    def __init__(self, report: Callable[[str], None], refusal_key: str) -> None:
        self._report = report
        self._refusal_key = refusal_key
        self._reported = ""
        self._backoff = Backoff(RECONNECT_DELAYS_S)
        self._closing = threading.Event()
        self._bell, self._wake_up = socket.socketpair()
        self._bell.setblocking(False)
        self._task: PeriodicTask | None = None
        self._short_connections = 0
        self._has_delivered = False
        """True if the broker has acknowledged a message on the current connection."""

    @abstractmethod
    def _use_broker(self) -> None:
        """Connect, and work until `_closing` is set. Raises `BrokerLostError`, `BrokerRefusedError`."""

    def _note_store_error(self, error: StoreError) -> None:
        """Log an error of the store, such as a full disk. No message is lost: the broker or the store keeps it."""
        _log.warning("the messages of the hall wait: %s", error)

    def _start(self) -> None:
        self._task = PeriodicTask("hall", self._serve_connection, self._closing)

    def close(self) -> None:
        """Stop the thread; wait for its end, for `CLOSE_TIMEOUT_S` at most."""
        self._closing.set()
        self._wake_thread()
        if self._task is None or self._task.close(CLOSE_TIMEOUT_S):
            self._close_sockets()
        else:  # the thread closes its sockets itself
            _log.warning("the connection to the broker has not ended within %.0f s", CLOSE_TIMEOUT_S)

    def _close_sockets(self) -> None:
        self._bell.close()
        self._wake_up.close()

    def _wake_thread(self) -> None:
        """Wake the thread while it waits for the network."""
        with suppress(OSError):  # the thread has been woken already, or has ended
            self._bell.send(b"\0")

    def _serve_connection(self) -> float:
        """Connect and work until the connection ends; return the seconds to wait before the next attempt."""
        from device.hall.connection import BrokerLostError, BrokerRefusedError

        self._has_delivered, begun = False, time.monotonic()
        try:
            self._use_broker()
        except BrokerLostError as error:
            _log.info("the hall cannot be reached: %s", error)
            if self._has_delivered:  # otherwise it was no working connection: the delays continue to grow
                self._note_end(time.monotonic() - begun)
        except StoreError as error:  # the disk is full, for example: the broker keeps the messages
            self._note_store_error(error)
        except BrokerRefusedError as error:
            self._report_refusal(error)
        finally:
            if self._closing.is_set():
                self._close_sockets()
        # Every end is a failure, even that of a connection that has worked for hours: then `_note_end` has reset the
        # delays, so this is the first failure with the shortest delay.
        return self._backoff.record_failure()

    def _note_end(self, lasted_s: float) -> None:
        """Note that a connection has ended after `lasted_s` seconds, although the broker had accepted messages."""
        from device.hall.connection import BrokerRefusedError

        self._short_connections = self._short_connections + 1 if lasted_s < SHORT_CONNECTION_S else 0
        if self._short_connections < MAX_SHORT_CONNECTIONS:
            self._backoff.reset()
        else:
            self._report_refusal(BrokerRefusedError("another program seems to have this name"))

    def _report_refusal(self, error: Exception) -> None:
        _log.warning("the hall refuses this client: %s", error)
        if str(error) != self._reported:
            self._reported = str(error)
            self._report(get_text(self._refusal_key, error))
