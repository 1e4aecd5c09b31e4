"""Limits on connections and requests of each device, checked before a worker thread handles a request.

Connections are limited per device, in total, and by their idle time (`ConnectionLimiter`). Requests are limited by the
size of their body and by number (`RequestGate`). A small body is read completely before a worker thread starts, so that
slow clients do not occupy workers. A large body (an imported game) is read only after the application has checked that
the client is paired; only a few are read at the same time.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from engine.limits import (
    BODY_TIMEOUT_S,
    IDLE_TIMEOUT_S,
    LINK_LOCAL_SHARE,
    MAX_BODY_BYTES,
    MAX_CONNECTIONS,
    MAX_CONNECTIONS_PER_ADDRESS,
    MAX_LARGE_BODIES,
    MAX_REQUESTS_PER_ADDRESS,
    MAX_UNSENT_BYTES,
    SEND_TIMEOUT_S,
)
from web.security.addresses import is_link_local, is_share_used, is_this_machine, make_client_key
from web.security.csrf import MAX_BODY_BYTES_BY_PATH
from web.streams import AsgiApp, Message, Receive, Scope, Send

SWEEP_INTERVAL_S = 1.0
"""Interval of the search for idle connections, in seconds."""
MAX_CLOSED_PER_SWEEP = 40
"""Largest number of connections that one search closes, so that their clients do not all reconnect at once."""
MIN_LARGE_BYTES = 64 * 1024
"""Size, in bytes, from which a part of a response counts as large; smaller ones fit in the buffers of a connection."""

ABORT_KEY = "abort"
"""Key in the ASGI state for the function that closes the connection at once."""
_DISCONNECT: Message = {"type": "http.disconnect"}


class ConnectionLimiter:
    """Counter of the open connections of a server, with limits. Use it only in the event loop of the server."""

    def __init__(self, max_connections: int = MAX_CONNECTIONS, idle_timeout_s: float = IDLE_TIMEOUT_S) -> None:
        self._max_connections = max_connections
        self._idle_timeout_s = idle_timeout_s
        self._idle_since: dict[LimitedProtocol, float] = {}
        self._counts: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._idle_since)

    def add(self, connection: LimitedProtocol) -> bool:
        """Count a new connection. Return False if its device, all link-local ones or the server have too many.

        If the server or the link-local addresses have reached their limit, the connection of theirs with the longest
        idle time is closed first.
        """
        key = connection.client_key
        if self._is_device_full(key):
            return False
        if is_share_used(key, self._counts, self._max_connections) and not self._close_idle(0.0, 1, is_link_local):
            return False
        if len(self._idle_since) >= self._max_connections and not self._close_idle(0.0, limit=1):
            return False
        self._idle_since[connection] = time.monotonic()
        self._counts[key] += 1
        return True

    def describe_limit(self, connection: LimitedProtocol) -> str:
        """Return a sentence with the limit for which a connection was refused."""
        if self._is_device_full(connection.client_key):
            return f"This device has {MAX_CONNECTIONS_PER_ADDRESS} connections already, which is the limit."
        if is_share_used(connection.client_key, self._counts, self._max_connections):
            share = math.ceil(self._max_connections * LINK_LOCAL_SHARE)
            return f"Devices with link-local addresses have {share} connections already, which is the limit."
        return f"The table has {self._max_connections} connections already, which is the limit."

    def remove(self, connection: LimitedProtocol) -> None:
        """Remove a closed connection from the count."""
        if self._idle_since.pop(connection, None) is not None:
            self._counts[connection.client_key] -= 1
            self._counts += Counter()  # removes addresses without a connection

    def note_request(self, connection: LimitedProtocol) -> None:
        """Start the idle time of a connection, because its request is complete."""
        if connection in self._idle_since:
            del self._idle_since[connection]
            self._idle_since[connection] = time.monotonic()

    async def close_idle_connections(self) -> None:
        """Close idle connections every `SWEEP_INTERVAL_S` seconds, until the task is cancelled."""
        while True:
            await asyncio.sleep(SWEEP_INTERVAL_S)
            self._close_idle(self._idle_timeout_s, MAX_CLOSED_PER_SWEEP)

    def close_all(self) -> None:
        """Close all connections at once."""
        for connection in tuple(self._idle_since):
            connection.abort()

    def _is_device_full(self, key: str) -> bool:
        return self._counts[key] >= MAX_CONNECTIONS_PER_ADDRESS and not is_this_machine(key)

    def _close_idle(self, seconds: float, limit: int, selects: Callable[[str], bool] = lambda _: True) -> int:
        """Close at most `limit` connections that were idle for `seconds` seconds; return how many were closed.

        Only connections of devices whose key `selects` accepts are closed.
        """
        latest, closed = time.monotonic() - seconds, 0
        for connection, since in tuple(self._idle_since.items()):
            if since > latest or closed == limit:
                break
            if not connection.is_busy and selects(connection.client_key):
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
        """Count the new connection; if it exceeds a limit, close it with status 503 (called by asyncio)."""
        super().connection_made(transport)  # type: ignore[arg-type]
        self.transport.set_write_buffer_limits(MIN_LARGE_BYTES)  # https has larger buffers otherwise
        self.app_state = {**self.app_state, ABORT_KEY: self.abort}
        if not self.limiter.add(self):
            self.transport.write(_make_refusal(self.limiter.describe_limit(self)))
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove the closed connection from the count (called by asyncio)."""
        super().connection_lost(exc)
        self.limiter.remove(self)

    def on_response_complete(self) -> None:
        """Start the idle time of the connection (called by uvicorn)."""
        self.limiter.note_request(self)
        super().on_response_complete()


def _make_refusal(reason: str) -> bytes:
    """Return the response to a connection that is refused."""
    head = "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n"
    return f"{head}Content-Length: {len(reason) + 1}\r\n\r\n{reason}\n".encode()


def make_protocol_class(limiter: ConnectionLimiter) -> type[LimitedProtocol]:
    """Return a subclass of `LimitedProtocol` that counts its connections in `limiter`."""
    attributes: dict[str, Any] = {"limiter": limiter}
    return type("LimitedProtocol", (LimitedProtocol,), attributes)


class RequestGate:
    """ASGI middleware with limits on body sizes and on concurrent requests per device."""

    def __init__(self, app: AsgiApp) -> None:
        self._app = app
        self._in_progress: dict[str, asyncio.Semaphore] = {}
        self._waiting: Counter[str] = Counter()
        self._large_bodies = asyncio.Semaphore(MAX_LARGE_BODIES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request (ASGI)."""
        declared = int(dict(scope["headers"]).get(b"content-length", b"0"))
        limit = MAX_BODY_BYTES_BY_PATH.get(scope["path"], MAX_BODY_BYTES)
        body: _SmallBody | _LargeBody
        if limit > MAX_BODY_BYTES and declared > MAX_BODY_BYTES:
            body = _LargeBody(receive, self._large_bodies)
        else:
            body = _SmallBody()
            await body.read(receive, declared)
            rest = [header for header in scope["headers"] if header[0] not in (b"content-length", b"transfer-encoding")]
            size = limit + 1 if body.is_too_large else max(declared, body.size)
            scope["headers"] = [*rest, (b"content-length", str(size).encode())]
        try:
            address = make_client_key((scope["client"] or ("", 0))[0])
            await self._handle_in_turn(address, scope, body.receive, _close_unless_complete(body, send))
        finally:
            body.release()

    async def _handle_in_turn(self, address: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request as soon as its address has fewer than `MAX_REQUESTS_PER_ADDRESS` requests in progress."""
        if is_this_machine(address):  # this address may be a proxy with many clients
            await self._app(scope, receive, send)
            return
        self._waiting[address] += 1
        try:
            async with self._in_progress.setdefault(address, asyncio.Semaphore(MAX_REQUESTS_PER_ADDRESS)):
                await self._app(scope, receive, send)
        finally:
            self._waiting[address] -= 1
            if not self._waiting[address]:
                del self._waiting[address], self._in_progress[address]


class _SmallBody:
    """A request body that is read completely before the application starts, with a size limit and a timeout."""

    def __init__(self) -> None:
        self._received: list[Message] = []
        self._parts: list[Message] = []
        self.size = 0
        self.is_too_large = False

    @property
    def is_complete(self) -> bool:
        """True if the whole body was received."""
        return bool(self._received) and not self._received[-1].get("more_body")

    async def read(self, receive: Receive, declared: int) -> None:
        """Read the body until it is complete, too large, or too late; `declared` is its declared length in bytes."""
        self.is_too_large = declared > MAX_BODY_BYTES
        with suppress(TimeoutError):
            async with asyncio.timeout(BODY_TIMEOUT_S):
                while not self.is_too_large and not self.is_complete:
                    self._received.append(await receive())
                    self.size += len(self._received[-1].get("body", b""))
                    self.is_too_large = self.size > MAX_BODY_BYTES
        self._parts = list(self._received)

    async def receive(self) -> Message:
        """Return the next ASGI message of the body. An incomplete body ends with a disconnect message."""
        return self._parts.pop(0) if self._parts and not self.is_too_large else _DISCONNECT

    def release(self) -> None:
        """Do nothing, because small bodies need no semaphore."""


class _LargeBody:
    """A large request body, read while the application runs. Only a few large bodies are read at the same time."""

    def __init__(self, receive: Receive, turns: asyncio.Semaphore) -> None:
        self._receive, self._turns = receive, turns
        self._has_turn = False
        self.is_complete = False

    async def receive(self) -> Message:
        """Return the next ASGI message of the body, or a disconnect message after `BODY_TIMEOUT_S` without data."""
        if not self._has_turn:
            await self._turns.acquire()
            self._has_turn = True
        try:
            async with asyncio.timeout(BODY_TIMEOUT_S):
                message = await self._receive()
        except TimeoutError:
            return _DISCONNECT
        self.is_complete = not message.get("more_body")
        return message

    def release(self) -> None:
        """Release the semaphore, so that the next large body can be read."""
        if self._has_turn:
            self._turns.release()
            self._has_turn = False


def _close_unless_complete(body: _SmallBody | _LargeBody, send: Send) -> Send:
    """Wrap the ASGI function `send` to add `Connection: close` if the request body was not read completely."""

    async def send_closing(message: Message) -> None:
        if message["type"] == "http.response.start" and not body.is_complete:
            message = {**message, "headers": [*message["headers"], (b"connection", b"close")]}
        await send(message)

    return send_closing


def limit_sending(app: AsgiApp) -> AsgiApp:
    """Wrap an ASGI application to close connections of clients that do not receive their responses.

    A connection is closed if its client receives no data for `SEND_TIMEOUT_S`, or if `MAX_UNSENT_BYTES` is exceeded.
    """
    unsent = _UnsentBytes()

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        abort = scope["state"][ABORT_KEY]

        async def send_counted(message: Message) -> None:
            size = len(message.get("body", b""))
            if size < MIN_LARGE_BYTES:
                await send_or_abort([message])
                return
            unsent.add(abort, size)
            await send_or_abort(_split_body(message))
            if message.get("more_body"):
                unsent.remove(abort)

        async def send_or_abort(messages: Iterable[Message]) -> None:
            try:
                async with asyncio.timeout(SEND_TIMEOUT_S):
                    for message in messages:
                        await send(message)
            except TimeoutError:
                abort()
                await asyncio.sleep(0)  # lets the server notice the closed connection

        try:
            await app(scope, receive, send_counted)
        finally:
            unsent.remove(abort)

    return serve


def _split_body(message: Message) -> Iterator[Message]:
    """Yield a large part of a response as parts that fit in the buffers of a connection, and an empty last one.

    A part is sent as soon as the client has received those before it. So after the empty one, the client has received
    the whole body. (A connection over https would buffer any body at once without a wait.)
    """
    body = message["body"]
    for start in range(0, len(body), MIN_LARGE_BYTES):
        yield {**message, "body": body[start : start + MIN_LARGE_BYTES], "more_body": True}
    yield {**message, "body": b""}


class _UnsentBytes:
    """The sizes of large parts of responses that are being sent, by the function that closes the connection.

    A part is in memory until its client has received it. Use it only in the event loop of the server.
    """

    def __init__(self) -> None:
        self._sizes: dict[Callable[[], None], int] = {}

    def add(self, abort: Callable[[], None], size: int) -> None:
        """Note that `size` bytes are sent to a connection; close those that wait longest if the limit is exceeded."""
        self._sizes.pop(abort, None)
        self._sizes[abort] = size
        while len(self._sizes) > 1 and sum(self._sizes.values()) > MAX_UNSENT_BYTES:
            longest_waiting = next(iter(self._sizes))
            del self._sizes[longest_waiting]
            longest_waiting()

    def remove(self, abort: Callable[[], None]) -> None:
        """Forget a connection whose client has received everything."""
        self._sizes.pop(abort, None)
