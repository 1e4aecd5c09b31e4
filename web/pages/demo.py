"""The way from the demo to a game of one's own."""

from __future__ import annotations

from collections.abc import Callable

from flask import Blueprint, Response

from web.pages.setup import SETUP_PATH
from web.responses import render_page, require_admin
from web.security.pairing import Pairing


def create_blueprint(start_own_game: Callable[[], None], pairing: Pairing) -> Blueprint:
    """Return the route `POST /demo/own`, with which the admin ends the demo and starts the table."""
    routes = Blueprint("demo", __name__, url_prefix="/demo")
    routes.before_request(lambda: require_admin(pairing))

    def start() -> Response:
        start_own_game()
        return render_page("restart.html", goes_to=SETUP_PATH)

    routes.post("/own")(start)
    return routes
