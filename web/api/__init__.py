"""JSON API of the table under `/api/v1`, and the OpenAPI document that describes the API.

The API uses the same objects as the web pages. Programs authenticate with a token, never with a cookie, so that a page
of another site cannot send authenticated requests from a browser.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from flask import Blueprint, Response, request
from werkzeug.exceptions import HTTPException

from web.api import devices, games, live_game
from web.api.operations import (
    JSON,
    PREFIX,
    ApiError,
    Media,
    Problem,
    make_json_response,
    make_operation,
    register_routes,
)
from web.security.csrf import is_cross_site

__all__ = ["OPERATIONS", "PREFIX", "make_problem_response", "routes"]

_OPENAPI_PATH = Path(__file__).with_name("openapi.json")
routes = Blueprint("api", __name__, url_prefix=PREFIX)


def openapi() -> Annotated[Response, Media(JSON, "The OpenAPI document of this API.")]:
    """Return the OpenAPI document of this API."""
    return Response(_OPENAPI_PATH.read_bytes(), mimetype=JSON)


def make_problem_response(error: HTTPException, body_limit: str) -> Response | None:
    """Return an error response as JSON if the path of the request is in the API, otherwise None."""
    if not request.path.startswith(f"{PREFIX}/"):
        return None
    reason = f"{error.name}: {body_limit} at most." if error.code == 413 else f"{error.name}."
    return make_json_response(Problem(reason), error.code or 500)


@routes.before_request
def _refuse_cross_site_change() -> None:
    if request.method not in ("GET", "HEAD", "OPTIONS") and is_cross_site():
        raise ApiError(403, "This came from another site's page.")


@routes.errorhandler(ApiError)
def _handle_api_error(error: ApiError) -> Response:
    answer = make_json_response(error.problem, error.status)
    answer.headers.update(error.headers)
    return answer


OPERATIONS = (
    *live_game.OPERATIONS,
    *games.OPERATIONS,
    *devices.OPERATIONS,
    make_operation("GET", "/openapi.json", openapi),
)
"""All operations of the API, in the order of the OpenAPI document."""
register_routes(routes, OPERATIONS)
