"""The Flask application of the hall: all tables, a screen for the foyer, single tables, and data for broadcasts."""

from __future__ import annotations

import time
from dataclasses import dataclass

from flask import Blueprint, Flask, Response, abort
from flask.typing import ResponseReturnValue

from device.hall.receiving.hall_state import HallTable
from device.hall.receiving.receiver import HallReceiver
from device.session.clock import format_clock
from device.session.snapshot import TableSnapshot
from engine.cgp import format_cgp
from engine.errors import NotationError
from engine.limits import MAX_STREAMS
from web.api.operations import encode_json
from web.api.schemas import State
from web.app import make_app
from web.filters import build_editions_css
from web.hall import event
from web.hall.event import export_game
from web.hall.feed import HallFeed
from web.hall.view import COLOURS_PATH, HallPage, HallView, format_table, make_line_id
from web.host_info import HostInfo
from web.i18n import languages, texts
from web.live import LiveUpdates, send_newest_state, send_stream
from web.pages import pairing as pairing_page
from web.responses import render_page
from web.security.pairing import Pairing, find_current_client
from web.streams import EventStreams


def create_hall_app(hall: HallReceiver, pairing: Pairing, *, names: tuple[str, ...] = ()) -> Flask:
    """Create the Flask application of a hall. `names` are additional host names of the page.

    Paired devices see the pages without delay, all others with a delay of `hall.delay_s` seconds. Call
    `app.extensions["live"].start()` to begin the updates, and `app.extensions["live"].close()` at the end.
    """
    app = make_app(pairing, HostInfo(names=names), "tilekeeper-hall")
    app.jinja_env.globals["line_id"] = make_line_id
    app.jinja_env.filters["table_title"] = format_table
    app.context_processor(lambda: {"director": find_current_client()})
    app.jinja_env.globals.update(is_hall=True, table_name=lambda: "Tilekeeper", colours_path=lambda: COLOURS_PATH)
    streams = EventStreams(MAX_STREAMS)
    live = HallView(app.jinja_env, streams, "live", is_director=True)
    delayed = HallView(app.jinja_env, streams, "delayed", is_director=False)
    feed = app.extensions["live"] = HallFeed(hall, live, delayed)
    app.register_blueprint(create_blueprint(live, delayed))
    app.register_blueprint(event.create_blueprint(live, delayed, hall, feed.show_newest))
    app.register_blueprint(pairing_page.routes)
    app.get(COLOURS_PATH, endpoint="editions")(_send_editions_css)
    return app


def _send_editions_css() -> Response:
    return Response(build_editions_css(), mimetype="text/css", headers={"Cache-Control": "max-age=3600"})


TEXT_FIELDS = ("name-1", "name-2", "total-1", "total-2", "clock-1", "clock-2", "last", "bag")


def list_texts(state: TableSnapshot) -> dict[str, str]:
    """Return the texts of a game for broadcasts by their names (`TEXT_FIELDS`), as far as the game has them."""
    fields = {f"name-{seat}": player.name for seat, player in enumerate(state.players, 1)}
    fields |= {f"total-{seat}": str(player.total) for seat, player in enumerate(state.players, 1)}
    if state.clock:
        now = time.monotonic()
        seats = range(len(state.clock.used))
        fields |= {f"clock-{seat + 1}": format_clock(state.clock.compute_left(seat, now)) for seat in seats}
    if turn := state.last_turn:
        word = turn.shown_word or turn.kind
        fields["last"] = f"{state.players[turn.player].name}: {word} {turn.score:+}"
    return fields if state.in_bag is None else fields | {"bag": str(state.in_bag)}


_NO_STORE = {"Cache-Control": "no-store"}


def create_blueprint(live: HallView, delayed: HallView) -> Blueprint:
    """Return the routes of the hall. Paired devices see the view `live`; all others, and broadcasts, see `delayed`."""
    routes = Blueprint("hall", __name__)
    pages, public = HallPages(live, delayed), HallPages(delayed, delayed)
    routes.get("/")(pages.hall)
    routes.get("/foyer")(public.foyer)
    routes.get("/foyer/live/stream", endpoint="foyer_stream")(public.stream)
    routes.get("/foyer/live/state", endpoint="foyer_newest")(public.newest)
    routes.get("/live/stream")(pages.stream)
    routes.get("/live/state")(pages.newest)
    routes.get("/tables/<name>")(pages.table)
    routes.get("/tables/<name>/live/stream")(pages.table_stream)
    routes.get("/tables/<name>/live/state")(pages.table_newest)
    routes.get("/tables/<name>/overlay")(public.overlay)
    routes.get("/tables/<name>/overlay/live/stream", endpoint="overlay_stream")(public.table_stream)
    routes.get("/tables/<name>/overlay/live/state", endpoint="overlay_newest")(public.table_newest)
    routes.get("/tables/<name>/state.json")(public.state)
    routes.get("/tables/<name>/position.cgp")(public.position)
    routes.get("/tables/<name>/game.gcg")(public.gcg)
    routes.get("/tables/<name>/<field>.txt")(public.text)
    return routes


@dataclass(frozen=True)
class HallPages:
    """The view functions that show the hall and its tables; none of them changes data."""

    live: HallView
    delayed: HallView

    def hall(self) -> Response:
        """Return the page with all tables."""
        return self._render_hall("hall/hall.html", self._choose_view())

    def foyer(self) -> Response:
        """Return the page for a screen in the foyer, which shows the tables one after the other."""
        return self._render_hall("hall/foyer.html", self._choose_view())

    def stream(self) -> ResponseReturnValue:
        """Return the response with a stream of the changes of the hall."""
        return self._make_page().send_stream()

    def newest(self) -> ResponseReturnValue:
        """Return the changes of the hall since the state that the client shows."""
        return self._make_page().send_newest()

    def table(self, name: str) -> Response:
        """Return the page of one table."""
        return self._render_table("hall/table.html", name, self._choose_view())

    def table_stream(self, name: str) -> ResponseReturnValue:
        """Return the response with a stream of the states of a table."""
        return send_stream(self._find_updates(self._choose_view(), name).open_message_stream)

    def table_newest(self, name: str) -> ResponseReturnValue:
        """Return the newest state of a table."""
        return send_newest_state(self._find_updates(self._choose_view(), name))

    def overlay(self, name: str) -> Response:
        """Return a page for OBS with scores and last play on a transparent background."""
        return self._render_table("hall/overlay.html", name, self._choose_view(), overlay=True)

    def state(self, name: str) -> Response:
        """Return the game of a table as JSON, in the format of `State` in a table's API."""
        snapshot = self._find_table(name).make_snapshot(self.delayed.delay_s)
        return Response(encode_json(State.of(snapshot)), mimetype="application/json", headers=_NO_STORE)

    def position(self, name: str) -> ResponseReturnValue:
        """Return the position of a table in the CGP format, which analysis engines read."""
        table = self._find_table(name)
        if table.played is None or table.played.game is None:
            abort(404)
        try:
            return Response(f"{format_cgp(table.played.game)}\n", mimetype="text/plain", headers=_NO_STORE)
        except NotationError as error:
            return Response(f"{error}\n", status=409, mimetype="text/plain")

    def gcg(self, name: str) -> Response:
        """Return the game of a table as a GCG file, which grows with each turn."""
        played = self._find_table(name).played
        if played is None or played.game is None:
            abort(404)
        return Response(export_game(played.game)[1], mimetype="text/plain", headers=_NO_STORE)

    def text(self, name: str, field: str) -> Response:
        """Return one text for the pictures of a broadcast; empty while the table has no game. See `list_texts`."""
        snapshot = self._find_table(name).make_snapshot(self.delayed.delay_s)
        if field not in TEXT_FIELDS:
            abort(404)
        return Response(list_texts(snapshot).get(field, ""), mimetype="text/plain", headers=_NO_STORE)

    def _choose_view(self) -> HallView:
        return self.live if find_current_client() else self.delayed

    def _make_page(self) -> HallPage:
        return HallPage("hall", self._choose_view(), HallView.render_parts)

    def _find_table(self, name: str) -> HallTable:
        return self.delayed.state.tables.get(name) or abort(404)

    def _find_updates(self, view: HallView, name: str) -> LiveUpdates:
        return view.find_updates(name) or abort(404)

    def _render_hall(self, template: str, view: HallView) -> Response:
        live_id, parts = view.newest_id, view.render_parts(texts())
        return self._render(template, live_id=live_id, parts=parts)

    def _render_table(self, template: str, name: str, view: HallView, **values: object) -> Response:
        updates = self._find_updates(view, name)
        rendered_state = updates.render_newest(texts())
        parts = updates.refresh_parts(rendered_state)
        title = view.state.find_title(name)
        return self._render(
            template, name=name, title=title, rendered_state=rendered_state, parts=parts, watch=True, **values
        )

    def _render(self, template: str, **values: object) -> Response:
        return render_page(template, now=time.monotonic(), languages=languages().values(), **values)
