"""Live updates of the web page: the changing parts are rendered once per state and sent to all clients.

Three ways give the same HTML. Server-Sent Events deliver each state with an id. After an interruption, a client sends
the id of its last state and receives the changes since that state. If all streams are in use, clients poll
`/live/state`. Without JavaScript, users can reload the page, which contains all parts.

Open streams need no threads: a view registers a stream with `EventStreams.open` and returns the first bytes of the
response. After these bytes, `deliver_events` keeps the connection open and sends new events in the event loop of the
server. Clients that need the same event share one message.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from flask import Blueprint, Response, request
from flask.typing import ResponseReturnValue
from jinja2 import Environment

from device.session.snapshot import TableSnapshot
from device.session.table_session import TableSession
from device.system.voice import describe_change
from engine.errors import TilekeeperError
from engine.limits import MAX_STREAMS, MAX_STREAMS_PER_ADDRESS
from web.colours import make_colours_path
from web.filters import build_score_charts, flags
from web.i18n import Texts, texts
from web.security.addresses import is_this_machine, make_client_key

HEARTBEAT_INTERVAL_S = 5.0
"""Seconds between heartbeats on a stream without events, so that both ends detect a broken connection."""
MAX_EVENTS_PER_STEP = 8
"""Number of events that are sent before the event loop serves other requests."""
MAX_SHARED_EVENTS = 16
"""Number of cached events for clients that need the same event."""

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApp = Callable[[Scope, Receive, Send], Awaitable[None]]

_STREAM_KEY = "tilekeeper.stream"

PARTS = ("status", "talk", "scores", "last", "board", "camera", "unseen", "chart", "turns", "rules")
"""The changing parts of the page. Each name is a template name and the id of an HTML element."""
BOARD_FIELDS = ("board", "question", "in_bag", "edition", "tile_set", "board_colours")
"""The fields of a snapshot that the template of the board uses; its 225 squares take longer than all other parts."""
NO_STREAM_TEXT = f"All streams are taken, {MAX_STREAMS} in all and {MAX_STREAMS_PER_ADDRESS} for each device"
POLL_INTERVAL_S = 2
MAX_CACHE_ENTRIES = 16
"""Number of cached states and of cached messages. Earlier states are needed to send only the changed parts."""


class NoStreamError(TilekeeperError):
    """The limit of open streams is reached, in total or for one address."""


@dataclass(frozen=True, slots=True)
class EventStream:
    """The stream of a client. `kind` is the kind of events, `since` the id of the last event that the client received.

    `make_event` returns id and data of the newest event for a client that last received the event of the given id. It
    runs in a thread, once for all clients of the same kind that last received the same event.
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
        self._sent_in_step = 0
        self._closed = False

    @property
    def count(self) -> int:
        """Number of open streams."""
        return self._counts.total()

    def open(self, stream: EventStream, environ: MutableMapping[str, Any]) -> None:
        """Count a new stream and attach the stream to the ASGI scope of its request. Raises `NoStreamError`."""
        scope = environ.get("asgi.scope")
        with self._lock:
            full = self.count >= self._limit or (
                self._counts[stream.address] >= MAX_STREAMS_PER_ADDRESS and not is_this_machine(stream.address)
            )
            if scope is None or full or self._closed:
                self._counts += Counter()  # removes addresses without a stream
                raise NoStreamError
            self._counts[stream.address] += 1
        scope[_STREAM_KEY] = stream

    def release(self, stream: EventStream) -> None:
        """Remove a closed stream from the count of open streams."""
        with self._lock:
            self._counts[stream.address] -= 1
            self._counts += Counter()

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

    async def deliver(
        self, stream: EventStream, gone: asyncio.Future[Any], send: Callable[[str], Awaitable[None]]
    ) -> None:
        """Send events until the client disconnects or the streams are closed."""
        known, spoke = stream.since, time.monotonic()
        wake_up = asyncio.Event()
        gone.add_done_callback(lambda _: wake_up.set())
        self._wake_ups.add(wake_up)
        try:
            while not self._closed and not gone.done():
                wake_up.clear()
                if self._current_id() != known:
                    known, data = await self._make_event(stream, known)
                    await self._limit_pace()
                    await send(f"id: {known}\ndata: {data}\n\n")
                    spoke = time.monotonic()
                elif time.monotonic() - spoke >= HEARTBEAT_INTERVAL_S:
                    await send(f"event: beat\ndata: {time.monotonic():.2f}\n\n")
                    spoke = time.monotonic()
                with suppress(TimeoutError):
                    await asyncio.wait_for(wake_up.wait(), HEARTBEAT_INTERVAL_S)
        finally:
            self._wake_ups.discard(wake_up)

    async def _limit_pace(self) -> None:
        """Wait while `MAX_EVENTS_PER_STEP` events were sent in this step of the event loop.

        Otherwise a turn on 128 streams keeps the loop busy for 70 ms, in which no request is answered.
        """
        while self._sent_in_step >= MAX_EVENTS_PER_STEP:
            await asyncio.sleep(0)
        if self._sent_in_step == 0:
            asyncio.get_running_loop().call_soon(self._begin_step)
        self._sent_in_step += 1

    def _begin_step(self) -> None:
        self._sent_in_step = 0

    def _wake_all(self) -> None:
        self._events.clear()
        for wake_up in self._wake_ups:
            wake_up.set()

    async def _make_event(self, stream: EventStream, known: str) -> tuple[str, str]:
        """Return the newest event, from the cache if another client of the same kind has the same `known` event."""
        key = self._current_id(), stream.kind, known
        event = self._events.get(key)
        if event is None:
            loop = asyncio.get_running_loop()
            event = loop.run_in_executor(self._renderer, stream.make_event, known)
            self._events[key] = event
            while len(self._events) > MAX_SHARED_EVENTS:  # a client may send many invented ids
                del self._events[next(iter(self._events))]
        return await asyncio.shield(event)


def deliver_events(app: AsgiApp, streams: EventStreams) -> AsgiApp:
    """Wrap an ASGI application so that responses with an event stream stay open and receive events."""

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


@dataclass(frozen=True, slots=True)
class RenderedState:
    """The changing parts of the page as HTML, for one state in one language. `id` is unique across restarts."""

    id: str
    t: Texts
    state: TableSnapshot
    parts: dict[str, str]

    def build_message(self, since: RenderedState | None) -> str:
        """Return a JSON message with the parts that differ from the state `since` (None: with all parts).

        `spoken` describes the change in a few words, for devices that read the game aloud.
        """
        known = since.parts if since else {}
        changed = {name: html for name, html in self.parts.items() if known.get(name) != html}
        state = self.state
        message = {"id": self.id, "phase": state.phase, "seen": str(state.moment), "events": state.events}
        message |= {"flags": flags(state), "colours": make_colours_path(state), "parts": changed}
        if since:
            message["spoken"] = describe_change(since.state, state, self.t.catalogue)
        return json.dumps(message, ensure_ascii=False, separators=(",", ":"))


def add_server_time(message: str) -> str:
    """Add the server's time to a JSON message (`now`, in seconds), for the display of running clocks on phones."""
    return f'{{"now":{time.monotonic():.2f},{message[1:]}'


class LiveUpdates:
    """Cache of rendered states, and the event streams that deliver new states to clients."""

    def __init__(self, templates: Environment, session: TableSession, streams: int) -> None:
        self._templates = templates
        self._session = session
        self._run_id = secrets.token_hex(4)
        self._state_lock = threading.Lock()
        self._newest_state = session.state
        self._closed = False
        self._cache_lock = threading.Lock()
        self._rendered_states: dict[tuple[str, str], RenderedState] = {}
        self._messages: dict[tuple[str, str, str], str] = {}
        self.streams = EventStreams(streams, lambda: self._make_state_id(self._newest_state))
        session.add_listener(self._handle_state)

    def close(self) -> None:
        """End all streams."""
        if not self._closed:
            self._closed = True
            self._session.remove_listener(self._handle_state)
            self.streams.close()

    def render_newest(self, t: Texts) -> RenderedState:
        """Return the newest state with its parts rendered in the language of `t`."""
        with self._state_lock:
            state = self._newest_state
        with self._cache_lock:
            key = self._make_state_id(state), t.language
            if key not in self._rendered_states:
                self._rendered_states[key] = RenderedState(key[0], t, state, self._render_parts(state, t))
                while len(self._rendered_states) > MAX_CACHE_ENTRIES:
                    del self._rendered_states[next(iter(self._rendered_states))]
            return self._rendered_states[key]

    def refresh_parts(self, drawing: RenderedState) -> dict[str, str]:
        """Return the parts for a page load, with the current time of a running clock."""
        clock = drawing.state.clock
        if clock is None or clock.running is None or clock.paused:
            return drawing.parts
        return {**drawing.parts, "scores": self._render_part("scores", drawing.state, drawing.t)}

    def build_message(self, drawing: RenderedState, since: str) -> str:
        """Return the cached or new JSON message for phones that show the state with the id `since`."""
        with self._cache_lock:
            before = self._rendered_states.get((since, drawing.t.language))
            key = drawing.id, drawing.t.language, before.id if before else ""
            if key not in self._messages:
                self._messages[key] = drawing.build_message(before)
                while len(self._messages) > MAX_CACHE_ENTRIES:
                    del self._messages[next(iter(self._messages))]
            return self._messages[key]

    def open_message_stream(self, since: str, t: Texts) -> Response:
        """Open a stream of updates for a page that shows the state with the id `since`, and return the response.

        Raises `NoStreamError`.
        """

        def make_event(known: str) -> tuple[str, str]:
            drawing = self.render_newest(t)
            return drawing.id, add_server_time(self.build_message(drawing, known))

        return self._open_stream(f"page {t.language}", since, make_event)

    def open_state_stream(self, since: str, encode: Callable[[TableSnapshot], str]) -> Response:
        """Open a stream of states for a program, and return the response. `encode` formats a state as one line.

        Raises `NoStreamError`.
        """

        def make_event(_: str) -> tuple[str, str]:
            with self._state_lock:
                state = self._newest_state
            return self._make_state_id(state), encode(state)

        return self._open_stream("states", since, make_event)

    def _open_stream(self, kind: str, since: str, make_event: Callable[[str], tuple[str, str]]) -> Response:
        stream = EventStream(kind, since, make_event, make_client_key(request.remote_addr or ""))
        self.streams.open(stream, request.environ)
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        start = iter([f"retry: {POLL_INTERVAL_S * 1000}\n\n"])  # an iterator, so that Flask sends no Content-Length
        return Response(start, mimetype="text/event-stream", headers=headers)

    def _handle_state(self, state: TableSnapshot) -> None:
        with self._state_lock:
            self._newest_state = state
        self.streams.notify()

    def _make_state_id(self, state: TableSnapshot) -> str:
        return f"{self._run_id}-{state.revision}"

    def _render_parts(self, state: TableSnapshot, t: Texts) -> dict[str, str]:
        """Render the parts; the board is that of the last state in the same language if it has not changed."""
        earlier = (drawn for drawn in reversed(self._rendered_states.values()) if drawn.t.language == t.language)
        last = next(earlier, None)
        is_same_board = last is not None and all(getattr(state, x) == getattr(last.state, x) for x in BOARD_FIELDS)
        kept = {"board": last.parts["board"]} if last is not None and is_same_board else {}
        return {name: kept.get(name) or self._render_part(name, state, t) for name in PARTS}

    def _render_part(self, name: str, state: TableSnapshot, t: Texts) -> str:
        charts = build_score_charts(state) if name == "chart" else ()
        return self._templates.get_template(f"parts/{name}.html").render(
            state=state, t=t, charts=charts, now=time.monotonic()
        )


def create_blueprint(page: LiveUpdates) -> Blueprint:
    """Return the routes `/live/stream` (Server-Sent Events) and `/live/state` (polling)."""
    routes = Blueprint("live", __name__, url_prefix="/live")

    @routes.get("/stream")
    def stream() -> ResponseReturnValue:
        since = request.headers.get("Last-Event-ID") or request.args.get("since", "")
        try:
            return page.open_message_stream(since, texts())
        except NoStreamError:
            return f"{NO_STREAM_TEXT}: ask /live/state instead.\n", 503, {"Retry-After": "30"}

    @routes.get("/state")
    def state() -> ResponseReturnValue:
        since = request.args.get("since", "")
        t = texts()
        drawing = page.render_newest(t)
        if drawing.id == since:
            return Response(status=204, headers={"Cache-Control": "no-store"})
        return Response(
            add_server_time(page.build_message(drawing, since)),
            mimetype="application/json",
            headers={"Cache-Control": "no-store"},
        )

    return routes
