"""JSON API of the table under `/api/v1`, and the OpenAPI document that describes the API.

The API uses the same objects as the web pages. Programs authenticate with a token, never with a cookie, so that a page
of another site cannot send authenticated requests from a browser.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from flask import Blueprint, Flask, Response, request
from werkzeug.exceptions import HTTPException

from device.session.messages import format_sentence
from device.session.new_game import FindLexicon
from device.session.table_session import TableSession
from device.storage.errors import ArchiveError, GameNotFoundError, StoreError
from engine.errors import TilekeeperError
from web.api.devices import DeviceOperations
from web.api.games import ArchiveOperations
from web.api.live_game import LiveGameOperations
from web.api.operations import (
    JSON,
    PREFIX,
    ApiError,
    Media,
    Operation,
    Problem,
    make_json_response,
    make_operation,
    register_routes,
)
from web.game_archive import GameArchive, GameInProgressError
from web.live import LiveUpdates
from web.pages.reports import ProblemReports
from web.security.csrf import is_cross_site

__all__ = ["PREFIX", "DeviceOperations", "list_operations", "make_problem_response", "register_api"]

_OPENAPI_PATH = Path(__file__).with_name("openapi.json")
_ERROR_STATUSES: dict[type[TilekeeperError], int] = {
    GameNotFoundError: 404,
    GameInProgressError: 409,
    ArchiveError: 409,
    StoreError: 503,
}


def register_api(app: Flask, operations: Sequence[Operation], devices: DeviceOperations) -> None:
    """Add a route to `app` for each operation of the API."""
    routes = Blueprint("api", __name__, url_prefix=PREFIX)
    routes.before_request(_refuse_cross_site_change)
    routes.register_error_handler(ApiError, _handle_api_error)
    for kind in _ERROR_STATUSES:
        routes.register_error_handler(kind, _handle_error)
    app.extensions["api"] = operations
    register_routes(routes, operations, devices.find_client)
    app.register_blueprint(routes)


def list_operations(
    session: TableSession,
    page: LiveUpdates,
    archive: GameArchive,
    reports: ProblemReports,
    find_own: FindLexicon,
    devices: DeviceOperations,
) -> list[Operation]:
    """Return all operations of the API, in the order of the OpenAPI document."""
    return [
        *LiveGameOperations(session, page, find_own).list_operations(),
        *ArchiveOperations(archive, reports).list_operations(),
        *devices.list_operations(),
        make_operation("GET", "/openapi.json", openapi),
    ]


def openapi() -> Annotated[Response, Media(JSON, "The OpenAPI document of this API.")]:
    """Return the OpenAPI document of this API."""
    return Response(_OPENAPI_PATH.read_bytes(), mimetype=JSON)


def make_problem_response(error: HTTPException, body_limit: str) -> Response | None:
    """Return an error response as JSON if the path of the request is in the API, otherwise None."""
    if not request.path.startswith(f"{PREFIX}/"):
        return None
    reason = f"{error.name}: {body_limit} at most." if error.code == 413 else f"{error.name}."
    return make_json_response(Problem(reason), error.code or 500)


def _refuse_cross_site_change() -> None:
    if request.method not in ("GET", "HEAD", "OPTIONS") and is_cross_site():
        raise ApiError(403, "This came from another site's page.")


def _handle_api_error(error: ApiError) -> Response:
    answer = make_json_response(error.problem, error.status)
    answer.headers.update(error.headers)
    return answer


def _handle_error(error: TilekeeperError) -> Response:
    status = next(status for kind, status in _ERROR_STATUSES.items() if isinstance(error, kind))
    return make_json_response(Problem(format_sentence(str(error))), status)
