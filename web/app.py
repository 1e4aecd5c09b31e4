"""The Flask application factory."""

from __future__ import annotations

import logging
import weakref
from pathlib import Path

from flask import Flask, request
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import HTTPException

from device.session.messages import Notice
from device.session.table_session import TableSession
from device.storage.errors import StoreError
from device.storage.store import GameStore
from engine.limits import MAX_BODY_BYTES, MAX_STREAMS, format_size
from web import api, filters, live
from web.compression import compress_response
from web.game_archive import GameArchive
from web.host_info import HostInfo
from web.i18n import LANGUAGE_KEY, remember_language, texts
from web.pages import (
    actions,
    dialogs,
    director_call,
    panel,
    phone_camera,
    pictures,
    reports,
    scoreboard,
    secure,
    setup,
    stored_data,
    stored_games,
    wifi,
)
from web.pages import pairing as pairing_page
from web.pages import settings as settings_page
from web.problem_reports import ProblemReports
from web.responses import refuse
from web.security import csrf
from web.security.cookies import DatelessCookieSessionInterface
from web.security.hosts import register_host_check
from web.security.pairing import Pairing
from web.streams import EventStreams
from web.template_cache import TemplateCache

_log = logging.getLogger(__name__)


def create_app(
    session: TableSession,
    *,
    store: GameStore | None = None,
    pairing: Pairing | None = None,
    own_lexicon: Path | None = None,
    host_info: HostInfo | None = None,
    max_streams: int = MAX_STREAMS,
    template_cache: Path | None = None,
) -> Flask:
    """Create the Flask application for a table.

    All clients may view the pages; only paired devices may control the table.

    `store` has the stored games; if it is None, the pages show no games. `own_lexicon` is the word list of the table's
    owner, `host_info` describes the machine, and `template_cache` is a folder that keeps compiled templates for the
    next start. `app.extensions["pairing"].code` is the pairing code that the table must show. Call
    `app.extensions["live"].close()` before stopping the server, to end the open streams.
    """
    pairing = pairing or Pairing(lambda text: session.notify(Notice(text)))
    host_info = host_info or HostInfo()
    app = make_app(pairing, host_info, "tilekeeper")
    app.config[LANGUAGE_KEY] = host_info.language
    if template_cache is not None:
        app.jinja_env.bytecode_cache = TemplateCache(template_cache, app.jinja_env)
    page = live.LiveUpdates(app.jinja_env, session, EventStreams(max_streams))
    app.extensions["live"] = page
    app.register_blueprint(scoreboard.create_blueprint(page, session, pairing, host_info))
    app.register_blueprint(live.create_blueprint(page))
    app.register_blueprint(pairing_page.create_blueprint(pairing, session))
    app.register_blueprint(secure.create_blueprint(pairing, host_info))
    app.register_blueprint(dialogs.create_blueprint(session, pairing, own_lexicon, host_info.find_new_game))
    app.register_blueprint(actions.create_blueprint(session, pairing, own_lexicon))
    app.register_blueprint(pictures.create_blueprint(session, pairing))
    phone_camera.register_phone_camera(app, session.phone_stream, pairing, host_info)
    app.register_blueprint(panel.create_blueprint(session, pairing, host_info))
    app.register_blueprint(setup.create_blueprint(session, pairing, host_info))
    archive = GameArchive(store or _open_empty_store(app), lambda: session.state.game)
    app.register_blueprint(stored_games.create_blueprint(archive, pairing, session))
    app.register_blueprint(stored_data.create_blueprint(archive, pairing, host_info))
    _register_optional_pages(app, session, pairing, host_info)
    _set_template_values(app, session, host_info)
    problem_reports = ProblemReports(archive, pairing, host_info)
    app.register_blueprint(reports.create_blueprint(problem_reports, archive, pairing))
    tokens = api.Tokens(pairing, pairing.key)
    api.register_api(app, api.list_operations(session, page, archive, problem_reports, own_lexicon, tokens), tokens)
    return app


def make_app(pairing: Pairing, host_info: HostInfo, cookie_name: str) -> Flask:
    """Create an application without pages, with the filters, checks and error pages of a table and of a hall."""
    app = Flask(__name__)
    app.config.update(SECRET_KEY=pairing.key, MAX_CONTENT_LENGTH=MAX_BODY_BYTES)
    app.session_interface = DatelessCookieSessionInterface(cookie_name)
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    filters.register_filters(app, host_info.board_colours)
    app.extensions["pairing"] = pairing
    register_host_check(app, host_info)
    csrf.register_csrf_protection(app, pairing)
    app.after_request(remember_language)
    app.after_request(compress_response)
    app.register_error_handler(HTTPException, _handle_http_error)
    app.register_error_handler(StoreError, _handle_store_error)
    return app


def _open_empty_store(app: Flask) -> GameStore:
    """Return a store in memory that is closed when the application is no longer used."""
    store = GameStore(":memory:")
    weakref.finalize(app, store.close)
    return store


def _register_optional_pages(app: Flask, session: TableSession, pairing: Pairing, host_info: HostInfo) -> None:
    """Add the pages that only some tables have: for the Wi-Fi, the settings file and the hall."""
    if host_info.wifi_manager is not None:
        routes = wifi.create_blueprint(host_info.wifi_manager, pairing, lambda text: session.notify(Notice(text)))
        app.register_blueprint(routes)
    if host_info.settings is not None:
        app.register_blueprint(settings_page.create_blueprint(host_info.settings, pairing, session))
    if host_info.hall is not None:
        app.register_blueprint(director_call.create_blueprint(host_info.hall, pairing))
    if host_info.directed is not None:
        from web.pages import hall_key  # loads cryptography and the messages of the hall

        app.register_blueprint(hall_key.create_blueprint(host_info.directed, pairing))


def _set_template_values(app: Flask, session: TableSession, host_info: HostInfo) -> None:
    """Give all templates the values that describe the table, such as its name."""
    app.jinja_env.globals.update(
        is_hall=False,
        hall_of_table=host_info.hall,
        has_wifi=host_info.wifi_manager is not None,
        has_settings=host_info.settings is not None,
        directed=host_info.directed,
        table_name=lambda: _find_table_name(host_info),
        colours_path=lambda: filters.make_colours_path(session.state),
    )


def _find_table_name(host_info: HostInfo) -> str:
    given = host_info.directed.name if host_info.directed else ""
    return given or host_info.table_name or "Tilekeeper"


def _handle_store_error(error: StoreError) -> ResponseReturnValue:
    """Return the response to a request that failed because of an error of the store."""
    _log.warning("a request fails: %s", error)
    return refuse(texts().translate(error), 503)


_ERROR_TEXT_KEYS = {404: "page.not_found", 413: "page.too_large", 500: "page.failed"}


def _handle_http_error(error: HTTPException) -> ResponseReturnValue:
    """Return the response to an HTTP error: JSON for the API, a page for browsers, otherwise plain text."""
    limit = format_size(request.max_content_length or MAX_BODY_BYTES)
    if (problem := api.make_problem_response(error, limit)) is not None:
        return problem
    status = error.code or 500
    return refuse(texts()(_ERROR_TEXT_KEYS.get(status, "page.misunderstood"), limit=limit), status)
