"""Responses that stay open without occupying a worker thread: event streams (Server-Sent Events) and downloads.

A view registers the rest of its response with `open_stream` or `open_download`, and returns the beginning. Then
`deliver_rests` keeps the connection open and sends the rest in the event loop of the server. Clients that need the same
event share one message. Each part of a file is made when the client has received the part before, so a slow client
costs one part in memory.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from flask import Response, request

from engine.errors import TilekeeperError
from engine.limits import MAX_STREAMS

HEARTBEAT_INTERVAL_S = 5.0
"""Time between heartbeats on a stream without events, in seconds. Heartbeats let both ends detect a lost connection."""
MAX_SHARED_EVENTS = 16
"""Largest number of events in the cache. Clients that need the same event share one cached event."""

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApp = Callable[[Scope, Receive, Send], Awaitable[None]]

SendBytes = Callable[[bytes], Awaitable[None]]

_REST_KEY = "tilekeeper.rest"
NO_STREAM_TEXT = f"All {MAX_STREAMS} streams are taken"
RECONNECT_DELAY_S = 2
"""Time, in seconds, after which a browser opens an interrupted stream again."""


class NoStreamError(TilekeeperError):
    """Error if the limit of open streams is reached."""


@dataclass(frozen=True, slots=True)
class _Rest:
    """The rest of a response: a function that sends it, and a function that is called when no more is sent."""

    deliver: Callable[[asyncio.Future[Any], SendBytes], Awaitable[None]]
    release: Callable[[], object]


@dataclass(frozen=True, slots=True, eq=False)
class EventStream:
    """The stream of a client. `kind` is the kind of its events, `since` the id of the last event that the client has.

    `current_id` returns the id of the newest event of this kind. `make_event` returns id and data of the newest event;
    its argument is the id of the last event that the client has. Clients with the same kind and the same last event
    share one call of `make_event`, which runs in another thread.
    """

    kind: str
    since: str
    current_id: Callable[[], str]
    make_event: Callable[[str], tuple[str, str]]


class EventStreams:
    """The open streams of one application."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._open: set[EventStream] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake_ups: set[asyncio.Event] = set()
        self._events: dict[tuple[str, str, str], asyncio.Future[tuple[str, str]]] = {}
        self._renderer = ThreadPoolExecutor(1, "events")
        self._closed = False

    def open(self, stream: EventStream, environ: MutableMapping[str, Any]) -> None:
        """Attach a new stream to the ASGI scope of its request. Raises `NoStreamError`."""
        scope = environ.get("asgi.scope")
        if scope is None or self._closed or len(self._open) >= self._limit:
            raise NoStreamError
        self._open.add(stream)
        scope[_REST_KEY] = _Rest(partial(self.deliver, stream), partial(self._open.discard, stream))

    def run_in(self, loop: asyncio.AbstractEventLoop) -> None:
        """Set the event loop that delivers the events."""
        self._loop = loop

    def notify(self) -> None:
        """Deliver the newest event to all streams. Thread-safe."""
        loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # the loop is closed: there are no streams
                loop.call_soon_threadsafe(self._wake_all)

    def close(self) -> None:
        """End all streams and refuse new streams."""
        self._closed = True
        self.notify()
        self._renderer.shutdown(wait=False)

    async def deliver(self, stream: EventStream, gone: asyncio.Future[Any], send: SendBytes) -> None:
        """Send events to the client until it disconnects (`gone`) or the streams are closed."""
        known_id, last_sent = stream.since, time.monotonic()
        wake_up = asyncio.Event()
        gone.add_done_callback(lambda _: wake_up.set())
        self._wake_ups.add(wake_up)
        try:
            while not self._closed and not gone.done():
                wake_up.clear()
                if stream.current_id() != known_id:
                    known_id, data = await self._make_event(stream, known_id)
                    await send(f"id: {known_id}\ndata: {data}\n\n".encode())
                    last_sent = time.monotonic()
                elif time.monotonic() - last_sent >= HEARTBEAT_INTERVAL_S:
                    await send(f"event: beat\ndata: {time.monotonic():.2f}\n\n".encode())
                    last_sent = time.monotonic()
                with suppress(TimeoutError):
                    await asyncio.wait_for(wake_up.wait(), HEARTBEAT_INTERVAL_S)
        finally:
            self._wake_ups.discard(wake_up)

    def _wake_all(self) -> None:
        self._events.clear()
        for wake_up in self._wake_ups:
            wake_up.set()

    async def _make_event(self, stream: EventStream, known_id: str) -> tuple[str, str]:
        """Return id and data of the newest event for a client whose last event has the id `known_id`.

        The event is cached for other clients with the same kind and the same last event.
        """
        key = stream.current_id(), stream.kind, known_id
        event = self._events.get(key)
        if event is None:
            loop = asyncio.get_running_loop()
            event = loop.run_in_executor(self._renderer, stream.make_event, known_id)
            self._events[key] = event
            while len(self._events) > MAX_SHARED_EVENTS:  # a client may send many invented ids
                del self._events[next(iter(self._events))]
        return await asyncio.shield(event)


def deliver_rests(app: AsgiApp) -> AsgiApp:
    """Wrap an ASGI application so that a response with a rest remains open until the rest is sent."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_open(message: Message) -> None:
            if _REST_KEY in scope and message["type"] == "http.response.body":
                message = {**message, "more_body": True}
            await send(message)

        async def send_part(part: bytes) -> None:
            await send({"type": "http.response.body", "body": part, "more_body": True})

        try:
            await app(scope, receive, send_open)
            if (rest := scope.get(_REST_KEY)) is not None:
                gone = asyncio.ensure_future(_wait_until_gone(receive))
                try:
                    await rest.deliver(gone, send_part)
                finally:
                    gone.cancel()
                await send({"type": "http.response.body", "body": b""})
        finally:
            if (rest := scope.pop(_REST_KEY, None)) is not None:
                rest.release()

    return serve


async def _wait_until_gone(receive: Receive) -> None:
    """Return when the client of a request has disconnected."""
    while (await receive())["type"] != "http.disconnect":
        pass


def open_stream(streams: EventStreams, stream: EventStream) -> Response:
    """Open a stream for the client of the request, and return the response. Raises `NoStreamError`."""
    streams.open(stream, request.environ)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    start = iter([f"retry: {RECONNECT_DELAY_S * 1000}\n\n"])  # an iterator, so that Flask sends no Content-Length
    return Response(start, mimetype="text/event-stream", headers=headers)


def open_download(parts: Iterator[bytes], media_type: str) -> Response:
    """Return the response to the request with a file that is made part by part."""
    scope = request.environ.get("asgi.scope")
    if scope is None or request.method == "HEAD":  # without a scope: a test client
        return Response(parts, mimetype=media_type)
    scope[_REST_KEY] = _Rest(partial(_deliver_parts, parts), lambda: None)
    return Response(iter(()), mimetype=media_type)  # an iterator, so that Flask sends no Content-Length


async def _deliver_parts(parts: Iterator[bytes], gone: asyncio.Future[Any], send: SendBytes) -> None:
    """Send the parts of a file, which are made in another thread, until the client is gone."""
    while not gone.done() and (part := await asyncio.to_thread(next, parts, None)) is not None:
        await send(part)
