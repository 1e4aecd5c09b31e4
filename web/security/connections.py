"""Limits on TCP connections: per device, in total, and on idle time."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from engine.limits import IDLE_TIMEOUT_S, MAX_CONNECTIONS, MAX_CONNECTIONS_PER_ADDRESS
from web.security.addresses import is_this_machine, make_client_key
from web.security.gate import ABORT_KEY

SWEEP_INTERVAL_S = 1.0
"""Interval of the search for idle connections, in seconds."""
MAX_CLOSED_PER_SWEEP = 40
"""Largest number of connections closed in one search. Hundreds of clients that reconnect at once would delay others."""
_REFUSAL = f"This device has {MAX_CONNECTIONS_PER_ADDRESS} connections already, which is the limit.\n"
_REFUSAL_RESPONSE = (
    "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n"
    f"Content-Length: {len(_REFUSAL)}\r\n\r\n{_REFUSAL}"
).encode()


class ConnectionLimiter:
    """Counter of the open connections of a server. Use it only in the event loop of the server."""

    def __init__(self, max_connections: int = MAX_CONNECTIONS, idle_timeout_s: float = IDLE_TIMEOUT_S) -> None:
        self._max_connections = max_connections
        self._idle_timeout_s = idle_timeout_s
        self._idle_since: dict[LimitedProtocol, float] = {}
        self._counts: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._idle_since)

    def add(self, connection: LimitedProtocol) -> bool:
        """Count a new connection. Return False if its device or the server has too many connections.

        At the limit of the server, the connection with the longest idle time is closed first.
        """
        key = connection.client_key
        if self._counts[key] >= MAX_CONNECTIONS_PER_ADDRESS and not is_this_machine(key):
            return False
        if len(self._idle_since) >= self._max_connections and not self._close_idle(0.0, limit=1):
            return False
        self._idle_since[connection] = time.monotonic()
        self._counts[key] += 1
        return True

    def remove(self, connection: LimitedProtocol) -> None:
        """Remove a closed connection from the count."""
        if self._idle_since.pop(connection, None) is not None:
            self._counts[connection.client_key] -= 1
            self._counts += Counter()  # removes addresses without a connection

    def note_request(self, connection: LimitedProtocol) -> None:
        """Start the idle time of a connection after a complete request."""
        if connection in self._idle_since:
            del self._idle_since[connection]
            self._idle_since[connection] = time.monotonic()

    async def close_idle_connections(self) -> None:
        """Close idle connections periodically until the task is cancelled."""
        while True:
            await asyncio.sleep(SWEEP_INTERVAL_S)
            self._close_idle(self._idle_timeout_s, MAX_CLOSED_PER_SWEEP)

    def close_all(self) -> None:
        """Close all connections at once."""
        for connection in tuple(self._idle_since):
            connection.abort()

    def _close_idle(self, seconds: float, limit: int | None = None) -> int:
        """Close at most `limit` connections that were idle for `seconds`; return the number of closed connections."""
        latest, closed = time.monotonic() - seconds, 0
        for connection, since in tuple(self._idle_since.items()):
            if since > latest or closed == limit:
                break
            if not connection.is_busy:
                self.remove(connection)
                connection.abort()
                closed += 1
        return closed


class LimitedProtocol(H11Protocol):
    """The asyncio protocol of an HTTP/1.1 connection, counted by a `ConnectionLimiter`."""

    limiter: ConnectionLimiter

    @property
    def client_key(self) -> str:
        """The key of the client's device in the `ConnectionLimiter`."""
        return make_client_key(self.client[0] if self.client else "")

    @property
    def is_busy(self) -> bool:
        """True while a request is in progress."""
        return self.cycle is not None and not self.cycle.response_complete

    def abort(self) -> None:
        """Close the connection and discard buffered data."""
        self.transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count the new connection, or close the connection with status 503 (called by asyncio)."""
        super().connection_made(transport)  # type: ignore[arg-type]
        self.app_state = {**self.app_state, ABORT_KEY: self.abort}
        if not self.limiter.add(self):
            self.transport.write(_REFUSAL_RESPONSE)
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove the closed connection from the count (called by asyncio)."""
        super().connection_lost(exc)
        self.limiter.remove(self)

    def on_response_complete(self) -> None:
        """Start the idle time of the connection (called by uvicorn)."""
        self.limiter.note_request(self)
        super().on_response_complete()


def make_protocol_class(limiter: ConnectionLimiter) -> type[LimitedProtocol]:
    """Return a subclass of `LimitedProtocol` that counts its connections in `limiter`."""
    attributes: dict[str, Any] = {"limiter": limiter}
    return type("LimitedProtocol", (LimitedProtocol,), attributes)
