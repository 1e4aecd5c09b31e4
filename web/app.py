"""The application factory: what the page is made of, given the table that it shows."""

from __future__ import annotations

import secrets
from datetime import timedelta
from pathlib import Path

from flask import Flask, render_template
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import HTTPException

from device.session.snapshot import Notice
from device.storage.store import GameStore
from web import api, filters, live
from web.compression import compress
from web.game_archive import Library
from web.host import Place
from web.i18n import remember, texts
from web.pages import actions, dialogs, history, panel, scoreboard, setup
from web.pages import pairing as pairing_page
from web.security import csrf
from web.security.pairing import Pairing
from web.table import Table

STREAMS = 104
"""Event streams open at a time; the server has more threads than that (`web.security.server.THREADS`), or pages would
starve."""


def create_app(
    table: Table,
    *,
    store: GameStore | None = None,
    pairing: Pairing | None = None,
    own_lexicon: Path | None = None,
    place: Place | None = None,
    streams: int = STREAMS,
) -> Flask:
    """The page over `table`: everybody may look, paired phones have the buttons of the table.

    `app.extensions["pairing"].code` is what the table must show for that. `store` holds the games that were played
    (None: none were), `own_lexicon` is the word list that the table's owner named, `place` tells of the machine. The
    key of the session cookies is new with each start. Close the page (`app.extensions["live"].close()`) to end its
    streams before its server.
    """
    app = Flask(__name__)
    app.config.update(
        SECRET_KEY=secrets.token_bytes(32),
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Strict",
        PERMANENT_SESSION_LIFETIME=timedelta(days=2),
        MAX_CONTENT_LENGTH=csrf.BODY_BYTES,
    )
    app.session_interface = csrf.Cookies()
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    filters.add_to(app)
    if pairing is None:
        pairing = Pairing(lambda text: table.tell(Notice(text)))
    app.extensions["pairing"] = pairing
    csrf.add_to(app, pairing)
    page = live.LivePage(app.jinja_env, table, streams)
    app.extensions["live"] = page
    place = place or Place()
    app.register_blueprint(scoreboard.blueprint(page, table, pairing, place))
    app.register_blueprint(live.blueprint(page))
    app.register_blueprint(pairing_page.blueprint(pairing))
    app.register_blueprint(dialogs.blueprint(table, pairing, own_lexicon))
    app.register_blueprint(actions.blueprint(table, own_lexicon))
    app.register_blueprint(panel.blueprint(table, pairing, place))
    app.register_blueprint(setup.blueprint(table, pairing, place))
    library = Library(store or GameStore(":memory:"), lambda: table.state.game)
    app.register_blueprint(history.blueprint(library, pairing))
    api.add_to(app, table, page, pairing, library, own_lexicon)
    app.after_request(remember)
    app.after_request(compress)
    app.register_error_handler(HTTPException, _fail)
    return app


_FAILURES = {404: "page.not_found", 413: "page.too_large", 500: "page.failed"}


def _fail(error: HTTPException) -> ResponseReturnValue:
    """What somebody is told whose request cannot be answered."""
    if (told := api.fail(error)) is not None:
        return told
    text = texts()(_FAILURES.get(error.code or 500, "page.misunderstood"))
    if csrf.is_document():
        return render_template("refused.html", t=texts(), why=text), error.code or 500
    return f"{text}\n", error.code or 500, {"Content-Type": "text/plain; charset=utf-8"}
