"""Limits on requests, checked before a worker thread handles a request.

A connection without a complete request is closed after a time (`ImpatientProtocol`). A small body is read completely
before a worker thread starts, so that slow clients do not occupy workers. A large body (an imported game) is read only
after the application has checked that the client is paired, and few are read at the same time (`read_bodies`).
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from engine.limits import BODY_TIMEOUT_S, IDLE_TIMEOUT_S, MAX_BODY_BYTES, MAX_LARGE_BODIES, MIN_BODY_RATE
from web.security.csrf import MAX_BODY_BYTES_BY_PATH
from web.streams import AsgiApp, Message, Receive, Scope, Send

_DISCONNECT: Message = {"type": "http.disconnect"}


class ImpatientProtocol(H11Protocol):
    """The asyncio protocol of an HTTP/1.1 connection, closed if no complete request comes for `IDLE_TIMEOUT_S`.

    The time-out of uvicorn ends with the first byte of a request and begins only after the first response.
    """

    _idle_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the first request (called by asyncio)."""
        super().connection_made(transport)  # type: ignore[arg-type]
        self._wait_for_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer (called by asyncio)."""
        super().connection_lost(exc)
        if self._idle_timer:
            self._idle_timer.cancel()

    def on_response_complete(self) -> None:
        """Wait for the next request (called by uvicorn)."""
        self._wait_for_request()
        super().on_response_complete()

    def shutdown(self) -> None:
        """Close the connection when the server ends (called by uvicorn), unless it is closing already.

        A TLS connection that is closed twice cannot be aborted any more (asyncio.sslproto), and may never be lost.
        """
        if not self.transport.is_closing():
            super().shutdown()

    def _wait_for_request(self) -> None:
        if self._idle_timer:
            self._idle_timer.cancel()
        self._idle_timer = self.loop.call_later(IDLE_TIMEOUT_S, self._close_if_idle, self.cycle)

    def _close_if_idle(self, last: RequestResponseCycle | None) -> None:
        """Close the connection if no request has begun since the request `last`."""
        if self.cycle is last:
            self.transport.abort()


def read_bodies(app: AsgiApp) -> AsgiApp:
    """Wrap an ASGI application so that request bodies are limited in size and in time.

    A body of at most `MAX_BODY_BYTES` is read before the application starts. A larger one, on a path that accepts
    files, is read by the application. If a body was not read completely, the connection is closed after the response.
    """
    large_bodies = asyncio.Semaphore(MAX_LARGE_BODIES)

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        declared = int(dict(scope["headers"]).get(b"content-length", b"0"))
        limit = MAX_BODY_BYTES_BY_PATH.get(scope["path"], MAX_BODY_BYTES)
        if MAX_BODY_BYTES < declared <= limit:
            async with large_bodies:
                await app(scope, _limit_time(receive, declared), _close_after(send))
            return
        parts = [] if declared > limit else await _read_small_body(receive)
        size = max(declared, sum(len(part.get("body", b"")) for part in parts))
        others = [header for header in scope["headers"] if header[0] not in (b"content-length", b"transfer-encoding")]
        scope["headers"] = [*others, (b"content-length", str(size if size <= MAX_BODY_BYTES else limit + 1).encode())]
        is_whole = bool(parts) and not parts[-1].get("more_body")

        async def receive_part() -> Message:
            return parts.pop(0) if parts else _DISCONNECT

        await app(scope, receive_part, send if is_whole else _close_after(send))

    return serve


async def _read_small_body(receive: Receive) -> list[Message]:
    """Return the ASGI messages of a body until it is complete, larger than `MAX_BODY_BYTES`, or late."""
    parts: list[Message] = []
    size = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(BODY_TIMEOUT_S):
            while size <= MAX_BODY_BYTES and (not parts or parts[-1].get("more_body")):
                parts.append(await receive())
                size += len(parts[-1].get("body", b""))
    return parts


def _limit_time(receive: Receive, size: int) -> Receive:
    """Wrap the ASGI function `receive` to return a disconnect message after `BODY_TIMEOUT_S` without data.

    The body of `size` bytes as a whole must not be slower than `MIN_BODY_RATE` either: others wait for it.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + BODY_TIMEOUT_S + size / MIN_BODY_RATE

    async def receive_in_time() -> Message:
        try:
            async with asyncio.timeout_at(min(end, loop.time() + BODY_TIMEOUT_S)):
                return await receive()
        except TimeoutError:
            return _DISCONNECT

    return receive_in_time


def _close_after(send: Send) -> Send:
    """Wrap the ASGI function `send` to add `Connection: close`, so that the rest of a body is not received."""

    async def send_closing(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], (b"connection", b"close")]}
        await send(message)

    return send_closing
