"""The Flask application of the hall: all tables, a screen for the foyer, single tables, and data for broadcasts."""

from __future__ import annotations

import time

from flask import Blueprint, Flask, Response, abort
from flask.typing import ResponseReturnValue

from device.hall.receiving.hall_state import HallTable
from device.hall.receiving.receiver import HallReceiver
from device.session.clock import format_clock
from device.session.snapshot import TableSnapshot
from engine.cgp import format_cgp
from engine.errors import NotationError
from engine.game import Game
from engine.limits import MAX_STREAMS
from web.api.operations import encode_json
from web.api.schemas import State
from web.app import make_app
from web.filters import build_editions_css
from web.hall import event
from web.hall.event import export_game
from web.hall.feed import HallFeed, choose_view, hall
from web.hall.view import COLOURS_PATH, HallPage, HallView, make_line_id
from web.host_info import HostInfo
from web.i18n import languages, texts
from web.live import LiveUpdates, add_live_routes
from web.pages import pairing as pairing_page
from web.responses import render_page
from web.security.pairing import Pairing, find_current_client
from web.streams import EventStreams


def create_hall_app(receiver: HallReceiver, pairing: Pairing, *, names: tuple[str, ...] = ()) -> Flask:
    """Create the Flask application of a hall. `names` are additional host names of the page.

    Paired devices see the pages without delay, all others with a delay of `receiver.delay_s` seconds. Call
    `app.extensions["live"].start()` to begin the updates, and `app.extensions["live"].close()` at the end.
    """
    app = make_app(pairing, HostInfo(names=names), "tilekeeper-hall")
    app.jinja_env.globals["line_id"] = make_line_id
    app.context_processor(lambda: {"director": find_current_client()})
    app.jinja_env.globals.update(is_hall=True, table_name=lambda: "Tilekeeper", colours_path=lambda: COLOURS_PATH)
    streams = EventStreams(MAX_STREAMS)
    live = HallView(app.jinja_env, streams, "live", is_director=True)
    delayed = HallView(app.jinja_env, streams, "delayed", is_director=False)
    app.extensions["live"] = HallFeed(receiver, live, delayed)
    for blueprint in (routes, event.routes, pairing_page.routes):
        app.register_blueprint(blueprint)
    return app


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


routes = Blueprint("hall", __name__)


@routes.get("/")
def show_hall() -> Response:
    """Return the page with all tables."""
    return _render_hall("hall/hall.html", choose_view())


@routes.get("/foyer")
def show_foyer() -> Response:
    """Return the page for a screen in the foyer, which shows the tables one after the other."""
    return _render_hall("hall/foyer.html", hall.delayed)


@routes.get("/tables/<name>")
def show_table(name: str) -> Response:
    """Return the page of one table."""
    return _render_table("hall/table.html", name, choose_view())


@routes.get("/tables/<name>/overlay")
def show_overlay(name: str) -> Response:
    """Return a page for OBS with scores and last play on a transparent background."""
    return _render_table("hall/overlay.html", name, hall.delayed, overlay=True)


@routes.get("/tables/<name>/state.json")
def send_state(name: str) -> Response:
    """Return the game of a table as JSON, in the format of `State` in a table's API."""
    snapshot = _find_table(name).make_snapshot(hall.delayed.delay_s)
    return Response(encode_json(State.of(snapshot)), mimetype="application/json", headers=_NO_STORE)


@routes.get("/tables/<name>/position.cgp")
def send_position(name: str) -> ResponseReturnValue:
    """Return the position of a table in the CGP format, which analysis engines read."""
    try:
        return Response(f"{format_cgp(_find_game(name))}\n", mimetype="text/plain", headers=_NO_STORE)
    except NotationError as error:
        return Response(f"{error}\n", status=409, mimetype="text/plain")


@routes.get("/tables/<name>/game.gcg")
def send_gcg(name: str) -> Response:
    """Return the game of a table as a GCG file, which grows with each turn."""
    return Response(export_game(_find_game(name))[1], mimetype="text/plain", headers=_NO_STORE)


@routes.get("/tables/<name>/<field>.txt")
def send_text(name: str, field: str) -> Response:
    """Return the text with the name `field` from `list_texts`; empty while the table has no game."""
    snapshot = _find_table(name).make_snapshot(hall.delayed.delay_s)
    if field not in TEXT_FIELDS:
        abort(404)
    return Response(list_texts(snapshot).get(field, ""), mimetype="text/plain", headers=_NO_STORE)


@routes.get(COLOURS_PATH)
def send_editions_css() -> Response:
    """Return the style sheet with the colours of each edition's board."""
    return Response(build_editions_css(), mimetype="text/css", headers={"Cache-Control": "max-age=3600"})


def _find_table(name: str) -> HallTable:
    return hall.delayed.state.tables.get(name) or abort(404)


def _find_game(name: str) -> Game:
    played = _find_table(name).played
    return (played and played.game) or abort(404)


def _find_updates(view: HallView, name: str) -> LiveUpdates:
    return view.find_updates(name) or abort(404)


def _render_hall(template: str, view: HallView) -> Response:
    live_id, parts = view.newest_id, view.render_parts(texts())
    return _render(template, live_id=live_id, parts=parts)


def _render_table(template: str, name: str, view: HallView, **values: object) -> Response:
    updates = _find_updates(view, name)
    rendered_state = updates.render_newest(texts())
    parts = updates.refresh_parts(rendered_state)
    title = view.state.find_title(name)
    return _render(template, name=name, title=title, rendered_state=rendered_state, parts=parts, watch=True, **values)


def _render(template: str, **values: object) -> Response:
    return render_page(template, now=time.monotonic(), languages=languages().values(), **values)


add_live_routes(routes, "", lambda: HallPage("hall", choose_view(), HallView.render_parts))
add_live_routes(routes, "/foyer", lambda: HallPage("hall", hall.delayed, HallView.render_parts))
add_live_routes(routes, "/tables/<name>", lambda name: _find_updates(choose_view(), name))
add_live_routes(routes, "/tables/<name>/overlay", lambda name: _find_updates(hall.delayed, name))
