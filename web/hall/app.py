"""The Flask application of the hall."""

from __future__ import annotations

from dataclasses import dataclass

from flask import Flask, Response

from device.session.snapshot import TableSnapshot
from engine.limits import MAX_STREAMS
from web.app import make_app
from web.colours import build_editions_css
from web.hall import event, pages
from web.hall.event import Hall
from web.hall.feed import HallFeed
from web.hall.view import COLOURS_PATH, HallView, TableFeed
from web.host_info import HostInfo
from web.pages import pairing as pairing_page
from web.security.pairing import Pairing
from web.streams import EventStreams


@dataclass(frozen=True)
class HallLive:
    """The live updates of the hall's pages: the open event streams, and the feed of states. `close` ends both."""

    streams: EventStreams
    feed: HallFeed

    def close(self) -> None:
        """End the feed and all streams."""
        self.feed.close()
        self.streams.close()


def create_hall_app(hall: Hall, pairing: Pairing, *, names: tuple[str, ...] = ()) -> Flask:
    """Create the Flask application of a hall. `names` are additional host names of the page.

    Paired devices see the pages without delay, all others with a delay of `hall.delay_s` seconds. Call
    `app.extensions["live"].feed.start()` to begin the updates, and `app.extensions["live"].close()` at the end.
    """
    app = make_app(pairing, HostInfo(names=names), "tilekeeper-hall")
    app.jinja_env.globals.update(is_hall=True, table_name=lambda: "Tilekeeper", colours_path=lambda: COLOURS_PATH)
    streams = EventStreams(MAX_STREAMS)
    live = HallView(app.jinja_env, streams, "live", is_director=True)
    delayed = HallView(app.jinja_env, streams, "delayed", is_director=False)
    feed = HallFeed(lambda: hall.state, lambda: hall.delay_s, live.show, delayed.show)
    app.extensions["live"] = HallLive(streams, feed)
    app.register_blueprint(pages.create_blueprint(live, delayed, pairing))
    app.register_blueprint(event.create_blueprint(live, delayed, hall, pairing, feed.show_newest))
    app.register_blueprint(pairing_page.create_blueprint(pairing, TableFeed(TableSnapshot())))
    app.get(COLOURS_PATH, endpoint="editions")(_send_editions_css)
    return app


def _send_editions_css() -> Response:
    return Response(build_editions_css(), mimetype="text/css", headers={"Cache-Control": "max-age=3600"})
