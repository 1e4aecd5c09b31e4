"""ASGI middleware that limits body sizes and concurrent requests before a worker thread handles a request.

A small body is read completely before a worker thread starts, so that slow clients do not occupy workers. A large body
(an imported game) is read only after the application has checked that the client is paired, and only a few large bodies
are read at the same time.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress

from engine.limits import BODY_TIMEOUT_S, MAX_BODY_BYTES, MAX_LARGE_BODIES, MAX_REQUESTS_PER_ADDRESS, SEND_TIMEOUT_S
from web.live import AsgiApp, Message, Receive, Scope, Send
from web.security.addresses import is_this_machine, make_client_key
from web.security.csrf import MAX_BODY_BYTES_BY_PATH

ABORT_KEY = "abort"
"""Key of the function in the ASGI state that closes the connection at once (`web.security.connections`)."""
_DISCONNECT: Message = {"type": "http.disconnect"}


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
            await self._take_turn(address, scope, body.receive, _close_unless_complete(body, send))
        finally:
            body.release()

    async def _take_turn(self, address: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request as soon as fewer than `MAX_REQUESTS_PER_ADDRESS` requests of its address are in progress."""
        if is_this_machine(address):  # this address may be a proxy with many clients
            return await self._app(scope, receive, send)
        self._waiting[address] += 1
        try:
            async with self._in_progress.setdefault(address, asyncio.Semaphore(MAX_REQUESTS_PER_ADDRESS)):
                await self._app(scope, receive, send)
        finally:
            self._waiting[address] -= 1
            if not self._waiting[address]:
                del self._waiting[address], self._in_progress[address]
        return None


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
        """Read the body until it is complete, too large, or late."""
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
    """A request body that is read while the application runs, with a limit on the number of large bodies."""

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


def limit_send_time(app: AsgiApp) -> AsgiApp:
    """Wrap an ASGI application to close connections whose client receives no data for `SEND_TIMEOUT_S`."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_or_abort(message: Message) -> None:
            try:
                async with asyncio.timeout(SEND_TIMEOUT_S):
                    await send(message)
            except TimeoutError:
                scope["state"][ABORT_KEY]()
                await asyncio.sleep(0)  # lets the server notice the closed connection

        await app(scope, receive, send_or_abort)

    return serve
