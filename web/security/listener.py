"""A listening socket with limits on the connections that it accepts.

`ConnectionLimiter` counts a connection only when the event loop has begun to serve it, and over https only after the
TLS handshake, for which a client may take a minute. Until then, one client with thousands of silent connections could
use up all file descriptors of the program.
"""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Callable
from typing import Any

from engine.limits import MAX_ACCEPTED_PER_ADDRESS
from web.security.addresses import is_this_machine, make_client_key


class LimitedListener(socket.socket):
    """A listening socket that closes new connections beyond the limits, of one device and of all devices together.

    It takes the place of the socket `listening`, which is detached. `limit` is the largest number of connections of all
    devices. Use it only in the event loop of the server.
    """

    def __init__(self, listening: socket.socket, limit: int) -> None:
        super().__init__(fileno=listening.detach())
        self._limit = limit
        self._counts: Counter[str] = Counter()

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection. Raises `ConnectionAbortedError`, which asyncio ignores, if a limit is reached."""
        connection, address = super().accept()
        key = make_client_key(address[0])
        is_device_full = self._counts[key] >= MAX_ACCEPTED_PER_ADDRESS and not is_this_machine(key)
        if is_device_full or self._counts.total() >= self._limit:
            connection.close()
            raise ConnectionAbortedError("too many connections")
        self._counts[key] += 1
        return _CountedConnection(connection, lambda: self._forget(key)), address

    def _forget(self, key: str) -> None:
        self._counts[key] -= 1
        self._counts += Counter()  # removes addresses without a connection


class _CountedConnection(socket.socket):
    """A connection that calls `on_closed` when it is closed; it takes the place of the socket `connection`."""

    def __init__(self, connection: socket.socket, on_closed: Callable[[], None]) -> None:
        super().__init__(fileno=connection.detach())
        self._on_closed: Callable[[], None] | None = on_closed

    def close(self) -> None:
        """Close the connection."""
        super().close()
        if self._on_closed:
            self._on_closed()
            self._on_closed = None
