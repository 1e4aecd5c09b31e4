"""The application factory: what the page is made of, given the table that it shows."""

from __future__ import annotations

import secrets

from flask import Flask
from flask.typing import ResponseReturnValue

from web import actions, filters, live, pages, security
from web.table import Table

STREAMS = 104
"""Event streams open at a time; the server has more threads than that (`web.serve.THREADS`), or pages would starve."""
BODY_BYTES = 64 * 1024


def create_app(table: Table, *, panel: bool = False, streams: int = STREAMS) -> Flask:
    """The page over `table`. With `panel` it has the buttons of the table too: end turn, challenge, undo.

    The key of the session cookies is new with each start. Close the page (`app.extensions["live"].close()`) to end
    its streams before its server.
    """
    app = Flask(__name__)
    app.config.update(
        SECRET_KEY=secrets.token_bytes(32),
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Strict",
        SESSION_COOKIE_NAME="tilekeeper",
        MAX_CONTENT_LENGTH=BODY_BYTES,
    )
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    filters.add_to(app)
    app.jinja_env.globals["panel"] = panel
    security.add_to(app)
    page = live.LivePage(app.jinja_env, table, streams)
    app.extensions["live"] = page
    app.register_blueprint(pages.blueprint(page, table, panel=panel))
    app.register_blueprint(live.blueprint(page))
    if panel:
        app.register_blueprint(actions.blueprint(table))
    app.register_error_handler(404, _not_found)
    return app


def _not_found(_: Exception) -> ResponseReturnValue:
    return "There is no such page here. The score is on the first page: /\n", 404, {"Content-Type": "text/plain"}
