"""Live updates of the web page: the changing parts are rendered once for each state and sent to all clients.

Clients can get this HTML in three ways:

- Server-Sent Events deliver each state with an id. After an interruption, a client sends the id of its last state and
  receives the changes since then.
- If all streams are in use, clients poll `/live/state`.
- Without JavaScript, users can reload the page, which contains all parts.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from flask import Blueprint, Response, request
from flask.typing import ResponseReturnValue
from jinja2 import Environment

from device.session.snapshot import TableSnapshot
from device.system.voice import describe_change
from web.filters import build_score_charts, flags, make_colours_path
from web.i18n import Texts, texts
from web.streams import NO_STREAM_TEXT, EventStream, EventStreams, NoStreamError, open_stream

PARTS = ("status", "talk", "scores", "last", "board", "camera", "unseen", "chart", "turns", "rules")
"""The changing parts of the page. Each name is a template name and the id of an HTML element."""
MAX_CACHE_ENTRIES = 16
"""Largest number of states in the cache. A client that shows one of these states gets only the changed parts."""


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
        message["question"] = state.question.id if state.question else 0
        message |= {"flags": flags(state), "colours": make_colours_path(state), "parts": changed}
        if since:
            message["spoken"] = describe_change(since.state, state, self.t.catalogue)
        return json.dumps(message, ensure_ascii=False, separators=(",", ":"))


def add_server_time(message: str) -> str:
    """Add the server's time (`now`, in seconds) to a JSON message, so that phones can show running clocks."""
    return f'{{"now":{time.monotonic():.2f},{message[1:]}'


class LiveUpdates:
    """Updates of the page for the clients of one table: renders each new state, and sends it to the open streams.

    In a hall, `name` is the name of the table.
    """

    def __init__(self, templates: Environment, state: TableSnapshot, streams: EventStreams, name: str = "") -> None:
        self._templates = templates
        self._name = name
        self._run_id = secrets.token_hex(4)
        self._newest_state = state
        self._cache_lock = threading.Lock()
        self._rendered_states: dict[tuple[str, str], RenderedState] = {}
        self.streams = streams

    def close(self) -> None:
        """End all streams."""
        self.streams.close()

    def show(self, state: TableSnapshot) -> None:
        """Make `state` the newest state, and send it to the open streams."""
        self._newest_state = state
        self.streams.notify()

    def render_newest(self, t: Texts) -> RenderedState:
        """Return the newest state with its parts rendered in the language of `t`."""
        state = self._newest_state
        with self._cache_lock:
            key = self._make_state_id(state), t.language
            if key not in self._rendered_states:
                parts = {name: self._render_part(name, state, t) for name in PARTS}
                self._rendered_states[key] = RenderedState(key[0], t, state, parts)
                while len(self._rendered_states) > MAX_CACHE_ENTRIES:
                    del self._rendered_states[next(iter(self._rendered_states))]
            return self._rendered_states[key]

    def refresh_parts(self, rendered_state: RenderedState) -> dict[str, str]:
        """Return the parts of a rendered state for a page load. Running clocks show the current time."""
        clock = rendered_state.state.clock
        if clock is None or clock.running is None or clock.paused:
            return rendered_state.parts
        return {**rendered_state.parts, "scores": self._render_part("scores", rendered_state.state, rendered_state.t)}

    @property
    def kind(self) -> str:
        """The kind of this page among the live pages of the application."""
        return f"page {self._name}"

    @property
    def newest_id(self) -> str:
        """The id of the newest state."""
        return self._make_state_id(self._newest_state)

    def make_event(self, t: Texts, since: str) -> tuple[str, str]:
        """Return the id of the newest state, and the JSON message for a client that shows the state `since` (an id)."""
        rendered_state = self.render_newest(t)
        with self._cache_lock:
            before = self._rendered_states.get((since, t.language))
        return rendered_state.id, add_server_time(rendered_state.build_message(before))

    def open_state_stream(self, since: str, encode: Callable[[TableSnapshot], str]) -> Response:
        """Return a response with a stream of states for a program; `encode` formats a state as one line.

        Raises `NoStreamError`.
        """

        def make_event(_: str) -> tuple[str, str]:
            state = self._newest_state
            return self._make_state_id(state), encode(state)

        return open_stream(self.streams, EventStream("states", since, lambda: self.newest_id, make_event))

    def _make_state_id(self, state: TableSnapshot) -> str:
        return f"{self._run_id}-{state.revision}"

    def _render_part(self, name: str, state: TableSnapshot, t: Texts) -> str:
        charts = build_score_charts(state) if name == "chart" else ()
        return self._templates.get_template(f"parts/{name}.html").render(
            state=state, t=t, charts=charts, now=time.monotonic()
        )


class LivePage(Protocol):
    """A page whose changing parts are sent to its clients: the page of a table, or a page of a hall.

    Pages with the same `kind` have the same events.
    """

    @property
    def streams(self) -> EventStreams:
        """The open streams of the application."""

    @property
    def kind(self) -> str:
        """The kind of this page among the live pages of the application."""

    @property
    def newest_id(self) -> str:
        """The id of the newest state."""

    def make_event(self, t: Texts, since: str, /) -> tuple[str, str]:
        """Return the id of the newest state, and the message for a client that shows the state with the id `since`."""


def add_live_routes(routes: Blueprint, path: str, find_page: Callable[..., LivePage]) -> None:
    """Add the routes below `path` with which clients follow a page: `/live/stream`, and `/live/state` for polling.

    The arguments of `find_page` are the variables of the path.
    """
    for name, send in (("stream", _send_stream), ("state", _send_newest)):
        routes.get(f"{path}/live/{name}", endpoint=f"{path} {name}")(partial(_send_page, send, find_page))


def _send_page(
    send: Callable[[LivePage], ResponseReturnValue], find_page: Callable[..., LivePage], **variables: str
) -> ResponseReturnValue:
    return send(find_page(**variables))


def _send_stream(page: LivePage) -> ResponseReturnValue:
    """Return a stream of the states after that whose id is in the request; status 503 if all streams are in use."""
    t = texts()
    since = request.headers.get("Last-Event-ID") or request.args.get("since", "")
    try:
        kind, make_event = f"{page.kind} {t.language}", partial(page.make_event, t)
        return open_stream(page.streams, EventStream(kind, since, lambda: page.newest_id, make_event))
    except NoStreamError:
        return f"{NO_STREAM_TEXT}: ask /live/state instead.\n", 503, {"Retry-After": "30"}


def _send_newest(page: LivePage) -> ResponseReturnValue:
    """Return the message with the newest state for a client that polls; empty (204) if the client already shows it."""
    since, headers = request.args.get("since", ""), {"Cache-Control": "no-store"}
    if page.newest_id == since:
        return Response(status=204, headers=headers)
    return Response(page.make_event(texts(), since)[1], mimetype="application/json", headers=headers)
