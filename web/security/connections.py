"""Limits on connections: of one device, of all devices, and the time that one may be idle."""

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
"""Seconds between searches for connections that have been idle too long."""
MAX_CLOSED_PER_SWEEP = 40
"""Connections that one search closes: hundreds at once, opened again at once, would make others wait."""
_REFUSAL = f"This device has {MAX_CONNECTIONS_PER_ADDRESS} connections already, which is the limit.\n"
_REFUSAL_RESPONSE = (
    "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n"
    f"Content-Length: {len(_REFUSAL)}\r\n\r\n{_REFUSAL}"
).encode()


class ConnectionLimiter:
    """The open connections of one server, used in its event loop."""

    def __init__(self, max_connections: int = MAX_CONNECTIONS, idle_timeout_s: float = IDLE_TIMEOUT_S) -> None:
        self._max_connections = max_connections
        self._idle_timeout_s = idle_timeout_s
        self._idle_since: dict[LimitedProtocol, float] = {}
        self._counts: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._idle_since)

    def add(self, connection: LimitedProtocol) -> bool:
        """Count a new connection; return False if its device has too many, or all have and none is idle."""
        key = connection.client_key
        if self._counts[key] >= MAX_CONNECTIONS_PER_ADDRESS and not is_this_machine(key):
            return False
        if len(self._idle_since) >= self._max_connections and not self._close_idle(0.0, limit=1):
            return False
        self._idle_since[connection] = time.monotonic()
        self._counts[key] += 1
        return True

    def remove(self, connection: LimitedProtocol) -> None:
        """Forget a connection that is closed."""
        if self._idle_since.pop(connection, None) is not None:
            self._counts[connection.client_key] -= 1
            self._counts += Counter()  # forgets addresses without a connection

    def note_request(self, connection: LimitedProtocol) -> None:
        """Note that a request of this connection is complete now: it is idle from now on."""
        if connection in self._idle_since:
            del self._idle_since[connection]
            self._idle_since[connection] = time.monotonic()

    async def close_idle_connections(self) -> None:
        """Close connections that are idle for too long, until cancelled."""
        while True:
            await asyncio.sleep(SWEEP_INTERVAL_S)
            self._close_idle(self._idle_timeout_s, MAX_CLOSED_PER_SWEEP)

    def close_all(self) -> None:
        """Close all connections at once."""
        for connection in tuple(self._idle_since):
            connection.abort()

    def _close_idle(self, seconds: float, limit: int | None = None) -> int:
        """Close connections that have been idle for so long, the longest idle first; return their number."""
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
    """HTTP/1.1 on one connection that a `ConnectionLimiter` counts."""

    limiter: ConnectionLimiter

    @property
    def client_key(self) -> str:
        """The key under which the device is counted."""
        return make_client_key(self.client[0] if self.client else "")

    @property
    def is_busy(self) -> bool:
        """True while a request is answered."""
        return self.cycle is not None and not self.cycle.response_complete

    def abort(self) -> None:
        """Close the connection without sending what is buffered."""
        self.transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count the connection, or refuse it (called by asyncio)."""
        super().connection_made(transport)  # type: ignore[arg-type]
        self.app_state = {**self.app_state, ABORT_KEY: self.abort}
        if not self.limiter.add(self):
            self.transport.write(_REFUSAL_RESPONSE)
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection (called by asyncio)."""
        super().connection_lost(exc)
        self.limiter.remove(self)

    def on_response_complete(self) -> None:
        """Count the connection as idle (called by uvicorn)."""
        self.limiter.note_request(self)
        super().on_response_complete()


def make_protocol_class(limiter: ConnectionLimiter) -> type[LimitedProtocol]:
    """Return the protocol for connections that `limiter` counts."""
    attributes: dict[str, Any] = {"limiter": limiter}
    return type("LimitedProtocol", (LimitedProtocol,), attributes)
