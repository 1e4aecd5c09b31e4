"""The Flask application factory, and the cache of its compiled templates."""

from __future__ import annotations

import hashlib
import io
import logging
import weakref
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import IO

from flask import Blueprint, Flask, Request, request
from flask.typing import ResponseReturnValue
from jinja2 import BytecodeCache, Environment
from jinja2.bccache import Bucket
from werkzeug.exceptions import HTTPException

from device.cameras.base import CameraError
from device.catalogue import DEFAULT_LANGUAGE
from device.session.messages import CommandRefusedError, Notice
from device.session.new_game import FindLexicon
from device.session.table_session import TableSession
from device.settings import SettingsError
from device.settings_editor import SettingsChangedError
from device.storage.errors import ArchiveError, GameNotFoundError, StoreError
from device.storage.files import read_small_file
from device.storage.store import GameStore
from engine.limits import MAX_BODY_BYTES, MAX_STREAMS, format_size
from web import api, filters, live
from web.command_requests import RequestError
from web.game_archive import GameArchive, GameInProgressError, PlayersMetError
from web.host_info import HostInfo
from web.i18n import LANGUAGE_KEY, languages, remember_language, texts
from web.pages import (
    actions,
    dialogs,
    pictures,
    rebuild,
    reports,
    scoreboard,
    setup,
    stored_games,
    wifi,
)
from web.pages import pairing as pairing_page
from web.pages import settings as settings_page
from web.responses import API_PATH, compress_response, refuse
from web.security import csrf
from web.security.csrf import DatelessCookieSessionInterface
from web.security.hosts import register_host_check
from web.security.pairing import Pairing, is_current_owner
from web.served_table import ProblemReports, ServedTable
from web.streams import EventStreams

_MAX_FILE_BYTES = 1_000_000
_DIGEST_BYTES = hashlib.sha256().digest_size


class TemplateCache(BytecodeCache):
    """Compiled templates in a folder, which make a start of the program a tenth shorter.

    The file of each template has the SHA-256 of Jinja's bytecode, then the bytecode. A file is used only if it is
    intact and was made from the same source by the same Jinja (version and options) and Python. Otherwise the template
    is compiled again, and the file is replaced. The files are written without waiting for the disk, so after a power
    cut they may be missing or damaged.
    """

    def __init__(self, folder: Path, environment: Environment) -> None:
        self._folder = folder
        self._compiler = version("jinja2"), environment.trim_blocks, environment.lstrip_blocks

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load the bytecode of a template into `bucket`, if the cache has it."""
        with suppress(OSError):  # the template was not compiled yet
            content = read_small_file(self._folder / bucket.key, _MAX_FILE_BYTES)
            digest, bytecode = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
            if digest == hashlib.sha256(bytecode).digest():
                bucket.bytecode_from_string(bytecode)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Write the bytecode of a template to the cache."""
        bytecode = bucket.bytecode_to_string()
        part = self._folder / f"{bucket.key}.part"
        with suppress(OSError):  # on a read-only card the templates are compiled at each start
            self._folder.mkdir(parents=True, exist_ok=True)
            part.write_bytes(hashlib.sha256(bytecode).digest() + bytecode)
            part.replace(self._folder / bucket.key)

    def get_cache_key(self, name: str, filename: str | None = None) -> str:  # noqa: ARG002
        """Return the name of the file with the bytecode of the template `name`.

        The name does not depend on the source, so that the file is replaced if a new version changes the template.
        """
        return f"{hashlib.sha256(name.encode()).hexdigest()[:32]}.template"

    def get_source_checksum(self, source: str) -> str:
        """Return a checksum of what the bytecode depends on: the source, and the version and options of Jinja."""
        return hashlib.sha256(repr((*self._compiler, source)).encode()).hexdigest()


_log = logging.getLogger(__name__)


class UploadRequest(Request):
    """A request whose uploaded files are kept in memory, so that a full disk does not make requests fail.

    `MAX_LARGE_BODIES` limits the number of such requests at one time.
    """

    def _get_file_stream(self, *_: object, **_more: object) -> IO[bytes]:
        return io.BytesIO()


def create_app(
    session: TableSession,
    *,
    store: GameStore | None = None,
    pairing: Pairing | None = None,
    find_own: FindLexicon = lambda _: None,
    host_info: HostInfo | None = None,
    max_streams: int = MAX_STREAMS,
    template_cache: Path | None = None,
) -> Flask:
    """Create the Flask application for a table.

    All clients may view the pages; only paired devices may control the table.

    `store` has the stored games; if it is None, the pages show no games. `find_own` returns the owner's word list for a
    tile set, `host_info` describes the machine, and `template_cache` is a folder that keeps compiled templates for the
    next start. `app.extensions["pairing"].code` is the pairing code that the table must show. Call
    `app.extensions["live"].close()` before stopping the server, to end the open streams.
    """
    pairing = pairing or Pairing(lambda text: session.notify(Notice(text)))
    host_info = host_info or HostInfo()
    app = make_app(pairing, host_info, "tilekeeper")
    app.config[LANGUAGE_KEY] = host_info.language
    if template_cache is not None:
        app.jinja_env.bytecode_cache = TemplateCache(template_cache, app.jinja_env)
    page = live.LiveUpdates(app.jinja_env, session.state, EventStreams(max_streams))
    session.add_listener(page.show)
    app.extensions["live"] = page
    archive = GameArchive(store or _open_empty_store(app), lambda: session.state.game)
    app.extensions["table"] = ServedTable(
        session, page, archive, ProblemReports(archive, pairing, host_info), host_info, find_own
    )
    session.add_listener(pairing_page.make_rename_listener(pairing, session.state))
    for routes in _list_blueprints(session, host_info):
        app.register_blueprint(routes)
    _set_template_values(app, session, host_info)
    return app


def _list_blueprints(session: TableSession, host_info: HostInfo) -> Iterator[Blueprint]:
    """Yield the blueprints of all tables, and those of the optional parts that this table has."""
    yield from (scoreboard.routes, pairing_page.routes, pairing_page.secure_routes, dialogs.routes)
    yield from (actions.routes, pictures.routes, setup.panel_routes, setup.routes, stored_games.routes)
    yield from (stored_games.data_routes, stored_games.data_admin_routes, rebuild.routes, reports.routes, api.routes)
    if session.phone_stream is not None:
        yield pictures.camera_routes
    if host_info.wifi_manager is not None:
        yield wifi.routes
    if host_info.settings is not None:
        yield from (settings_page.routes, setup.sheet_routes)
    if host_info.start_own_game is not None:
        yield setup.demo_routes
    if host_info.hall is None and host_info.directed is None:
        return
    from web.pages import hall  # loads cryptography and the messages of the hall

    if host_info.hall is not None:
        yield hall.call_routes
    if host_info.directed is not None:
        yield hall.routes


def make_app(pairing: Pairing, host_info: HostInfo, cookie_name: str) -> Flask:
    """Create an application without pages, with the filters, checks and error pages of a table and of a hall."""
    app = Flask(__name__)
    app.config.update(SECRET_KEY=pairing.key, MAX_CONTENT_LENGTH=MAX_BODY_BYTES)
    app.request_class = UploadRequest
    app.session_interface = DatelessCookieSessionInterface(cookie_name)
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    filters.register_filters(app, host_info.board_colours)
    app.extensions["pairing"] = pairing
    register_host_check(app, host_info)
    csrf.register_csrf_protection(app)
    app.after_request(remember_language)
    app.after_request(compress_response)
    app.register_error_handler(HTTPException, _handle_http_error)
    for kind in _REFUSALS:
        app.register_error_handler(kind, _refuse_request)
    return app


def _open_empty_store(app: Flask) -> GameStore:
    """Return a store in memory that is closed when the application is no longer used."""
    store = GameStore(":memory:")
    weakref.finalize(app, store.close)
    return store


def _set_template_values(app: Flask, session: TableSession, host_info: HostInfo) -> None:
    """Give all templates the values that describe the table, such as its name."""
    app.jinja_env.globals.update(
        is_hall=False,
        hall_of_table=host_info.hall,
        has_wifi=host_info.wifi_manager is not None,
        has_panel=host_info.panel is not None,
        has_settings=host_info.settings is not None,
        is_demo=host_info.start_own_game is not None,
        directed=host_info.directed,
        table_name=lambda: _find_table_name(host_info),
        is_owner=is_current_owner,
        has_phone_stream=session.phone_stream is not None,
        colours_path=lambda: filters.make_colours_path(session.state),
    )


def _find_table_name(host_info: HostInfo) -> str:
    given = host_info.directed.direction.name if host_info.directed else ""
    return given or host_info.table_name or "Tilekeeper"


_REFUSALS: Mapping[type[Exception], tuple[str, int]] = MappingProxyType(
    {
        StoreError: ("", 503),
        GameNotFoundError: ("", 404),
        ArchiveError: ("", 409),
        CommandRefusedError: ("", 409),
        CameraError: ("", 409),
        SettingsError: ("", 409),
        SettingsChangedError: ("settings.open_again", 409),
        GameInProgressError: ("history.at_table", 409),
        PlayersMetError: ("records.met", 409),
        TimeoutError: ("setup.slow", 409),
        RequestError: ("wrong.form", 400),
    }
)
"""The key of the text and the status for an error that no view handles; without a key, the error has the text."""


def _refuse_request(error: Exception) -> ResponseReturnValue:
    """Return the response to a request that failed with one of the errors in `_REFUSALS`."""
    if isinstance(error, StoreError):
        _log.warning("a request fails: %s", error)
    key, status = next(_REFUSALS[kind] for kind in type(error).__mro__ if kind in _REFUSALS)
    t = languages()[DEFAULT_LANGUAGE] if request.path.startswith(API_PATH) else texts()
    return refuse(t(key) if key else t.translate(error), status)


_ERROR_TEXT_KEYS = {404: "page.not_found", 413: "page.too_large", 500: "page.failed"}


def _handle_http_error(error: HTTPException) -> ResponseReturnValue:
    """Return the response to an HTTP error: JSON for the API, a page for browsers, otherwise plain text."""
    limit = format_size(request.max_content_length or MAX_BODY_BYTES)
    if (problem := api.make_problem_response(error, limit)) is not None:
        return problem
    status = error.code or 500
    return refuse(texts()(_ERROR_TEXT_KEYS.get(status, "page.misunderstood"), limit=limit), status)
