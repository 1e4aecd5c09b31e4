"""Delivery of server-sent events by the event loop of the page's server: an open page costs no thread.

A view hands its stream over with `EventStreams.open` and returns the first bytes of the response. Once they are sent,
`deliver_events` keeps the connection open and sends what is new. Clients that ask for the same thing share one message.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from engine.errors import TilekeeperError
from engine.limits import MAX_STREAMS_PER_ADDRESS
from web.security.addresses import is_this_machine

HEARTBEAT_INTERVAL_S = 5.0
"""Seconds between heartbeats on a stream without news, so that both ends notice a broken connection."""
MAX_SHARED_EVENTS = 16
"""Number of events that are kept for further clients that ask for the same."""

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApp = Callable[[Scope, Receive, Send], Awaitable[None]]

_STREAM_KEY = "tilekeeper.stream"


class NoStreamError(TilekeeperError):
    """All streams are taken: of the table, or those of one address."""


@dataclass(frozen=True, slots=True)
class EventStream:
    """A client's stream: `kind` names what it gets, `since` is the id of the last event that it has.

    `make_event` returns id and data of the newest event for a client that has the event of the given id. It is called
    in a thread, once for all clients of the same kind that have the same event.
    """

    kind: str
    since: str
    make_event: Callable[[str], tuple[str, str]]
    address: str


class EventStreams:
    """The open streams of one application. `current_id` returns the id of the newest event."""

    def __init__(self, limit: int, current_id: Callable[[], str]) -> None:
        self._limit = limit
        self._current_id = current_id
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake_ups: set[asyncio.Event] = set()
        self._events: dict[tuple[str, str, str], asyncio.Future[tuple[str, str]]] = {}
        self._renderer = ThreadPoolExecutor(1, "events")
        self._closed = False

    @property
    def count(self) -> int:
        """Number of open streams."""
        return self._counts.total()

    def open(self, stream: EventStream, environ: MutableMapping[str, Any]) -> None:
        """Reserve a place and hand the stream over to the server of this request. Raises `NoStreamError`."""
        scope = environ.get("asgi.scope")
        with self._lock:
            full = self.count >= self._limit or (
                self._counts[stream.address] >= MAX_STREAMS_PER_ADDRESS and not is_this_machine(stream.address)
            )
            if scope is None or full or self._closed:
                self._counts += Counter()  # forgets addresses without a stream
                raise NoStreamError
            self._counts[stream.address] += 1
        scope[_STREAM_KEY] = stream

    def release(self, stream: EventStream) -> None:
        """Free the place of a stream."""
        with self._lock:
            self._counts[stream.address] -= 1
            self._counts += Counter()

    def run_in(self, loop: asyncio.AbstractEventLoop) -> None:
        """Deliver events in this loop from now on."""
        self._loop = loop

    def notify(self) -> None:
        """Deliver the newest event to all streams; may be called from any thread."""
        loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # the loop is closed: there are no streams
                loop.call_soon_threadsafe(self._wake_all)

    def close(self) -> None:
        """End all streams; no more can be opened."""
        self._closed = True
        self.notify()
        self._renderer.shutdown(wait=False)

    async def deliver(
        self, stream: EventStream, gone: asyncio.Future[Any], send: Callable[[str], Awaitable[None]]
    ) -> None:
        """Send events until the client is gone or the streams are closed."""
        known, spoke = stream.since, time.monotonic()
        wake_up = asyncio.Event()
        gone.add_done_callback(lambda _: wake_up.set())
        self._wake_ups.add(wake_up)
        try:
            while not self._closed and not gone.done():
                wake_up.clear()
                if self._current_id() != known:
                    known, data = await self._make_event(stream, known)
                    await send(f"id: {known}\ndata: {data}\n\n")
                    spoke = time.monotonic()
                elif time.monotonic() - spoke >= HEARTBEAT_INTERVAL_S:
                    await send(f"event: beat\ndata: {time.monotonic():.2f}\n\n")
                    spoke = time.monotonic()
                with suppress(TimeoutError):
                    await asyncio.wait_for(wake_up.wait(), HEARTBEAT_INTERVAL_S)
        finally:
            self._wake_ups.discard(wake_up)

    def _wake_all(self) -> None:
        self._events.clear()
        for wake_up in self._wake_ups:
            wake_up.set()

    async def _make_event(self, stream: EventStream, known: str) -> tuple[str, str]:
        """Return the newest event; clients of one kind with the same `known` event wait for one and the same."""
        key = self._current_id(), stream.kind, known
        event = self._events.get(key)
        if event is None:
            loop = asyncio.get_running_loop()
            event = loop.run_in_executor(self._renderer, stream.make_event, known)
            self._events[key] = event
            while len(self._events) > MAX_SHARED_EVENTS:  # `known` comes from the client and may be anything
                del self._events[next(iter(self._events))]
        return await asyncio.shield(event)


def deliver_events(app: AsgiApp, streams: EventStreams) -> AsgiApp:
    """Return the application with its streams kept open after the first bytes of the response."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_open(message: Message) -> None:
            if _STREAM_KEY in scope and message["type"] == "http.response.body":
                message = {**message, "more_body": True}
            await send(message)

        async def send_text(text: str) -> None:
            await send({"type": "http.response.body", "body": text.encode(), "more_body": True})

        try:
            await app(scope, receive, send_open)
            if (stream := scope.get(_STREAM_KEY)) is not None:
                gone = asyncio.ensure_future(_wait_until_gone(receive))
                try:
                    await streams.deliver(stream, gone, send_text)
                finally:
                    gone.cancel()
                await send({"type": "http.response.body", "body": b""})
        finally:
            if (stream := scope.pop(_STREAM_KEY, None)) is not None:
                streams.release(stream)

    return serve


async def _wait_until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
