"""The application factory: what the page is made of, given the table that it shows."""

from __future__ import annotations

import secrets
from datetime import timedelta
from pathlib import Path

from flask import Flask
from flask.typing import ResponseReturnValue

from device.state import Notice
from web import actions, dialogs, filters, live, pages, phones, security
from web.languages import remember, texts
from web.pairing import Pairing
from web.table import Table

STREAMS = 104
"""Event streams open at a time; the server has more threads than that (`web.serve.THREADS`), or pages would starve."""
BODY_BYTES = 64 * 1024


def create_app(
    table: Table, *, pairing: Pairing | None = None, own_lexicon: Path | None = None, streams: int = STREAMS
) -> Flask:
    """The page over `table`: everybody may look, paired phones have the buttons of the table.

    `app.extensions["pairing"].code` is what the table must show for that. `own_lexicon` is the word list that the
    table's owner named. The key of the session cookies is new with each start. Close the page
    (`app.extensions["live"].close()`) to end its streams before its server.
    """
    app = Flask(__name__)
    app.config.update(
        SECRET_KEY=secrets.token_bytes(32),
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Strict",
        SESSION_COOKIE_NAME="tilekeeper",
        PERMANENT_SESSION_LIFETIME=timedelta(days=2),
        MAX_CONTENT_LENGTH=BODY_BYTES,
    )
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    filters.add_to(app)
    if pairing is None:
        pairing = Pairing(lambda text: table.tell(Notice(text)))
    app.extensions["pairing"] = pairing
    security.add_to(app, pairing)
    page = live.LivePage(app.jinja_env, table, streams)
    app.extensions["live"] = page
    app.register_blueprint(pages.blueprint(page, table, pairing))
    app.register_blueprint(live.blueprint(page))
    app.register_blueprint(phones.blueprint(pairing))
    app.register_blueprint(dialogs.blueprint(table, pairing, own_lexicon))
    app.register_blueprint(actions.blueprint(table, own_lexicon))
    app.after_request(remember)
    app.register_error_handler(404, _not_found)
    return app


def _not_found(_: Exception) -> ResponseReturnValue:
    return f"{texts()('page.not_found')}\n", 404, {"Content-Type": "text/plain; charset=utf-8"}
