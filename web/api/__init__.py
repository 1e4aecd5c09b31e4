"""JSON API of the table under `/api/v1`, described by the OpenAPI document that it serves.

It exists beside the web page and uses the same objects. Programs authenticate by a token, never by a cookie, so a page
of another site cannot make a browser act for them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from flask import Blueprint, Flask, Response, request
from itsdangerous import BadSignature, URLSafeSerializer
from werkzeug.exceptions import HTTPException

from device.session.table_session import TableSession
from device.storage.store import StoreError
from web.api import devices, games, live_game
from web.api.openapi import PREFIX
from web.api.operations import JSON, ApiError, Media, Operation, Problem, make_json_response, register_routes
from web.game_archive import GameArchive
from web.live import LiveUpdates
from web.security.csrf import is_cross_site
from web.security.pairing import PairedClient, Pairing

__all__ = ["PREFIX", "build_operations", "make_problem_response", "register_api"]

_OPENAPI_PATH = Path(__file__).with_name("openapi.json")


def register_api(
    app: Flask,
    session: TableSession,
    page: LiveUpdates,
    pairing: Pairing,
    library: GameArchive,
    own_lexicon: Path | None,
) -> None:
    """Add a route for each operation of the API to `app`."""
    signer = URLSafeSerializer(app.config["SECRET_KEY"], salt="api")
    routes = Blueprint("api", __name__, url_prefix=PREFIX)

    def who_asks() -> PairedClient:
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        try:
            phone = pairing.find_client(str(signer.loads(token))) if kind.lower() == "bearer" else None
        except BadSignature:
            phone = None
        if phone is None:
            raise ApiError(401, "Only paired devices may do this.", headers={"WWW-Authenticate": "Bearer"})
        return phone

    @routes.before_request
    def check_change() -> None:
        if request.method not in ("GET", "HEAD", "OPTIONS") and is_cross_site():
            raise ApiError(403, "This came from another site's page.")

    @routes.errorhandler(ApiError)
    def refuse(error: ApiError) -> Response:
        answer = make_json_response(Problem(error.reason, error.moment), error.status)
        answer.headers.update(error.headers)
        return answer

    @routes.errorhandler(StoreError)
    def no_store(error: StoreError) -> Response:
        return make_json_response(Problem(str(error)), 503)

    def token_of(phone: PairedClient) -> str:
        return str(signer.dumps(phone.id))

    offered = build_operations(session, page, pairing, library, own_lexicon, token_of)
    app.extensions["api"] = offered
    register_routes(routes, offered, who_asks)
    app.register_blueprint(routes)


def build_operations(
    session: TableSession,
    page: LiveUpdates,
    pairing: Pairing,
    library: GameArchive,
    own_lexicon: Path | None,
    token_of: Callable[[PairedClient], str],
) -> list[Operation]:
    """Return all operations of the API."""

    def openapi() -> Response:
        """Return this document."""
        return Response(_OPENAPI_PATH.read_bytes(), mimetype=JSON)

    return [
        *live_game.build_operations(session, page, own_lexicon),
        *games.build_operations(library),
        *devices.build_operations(pairing, token_of),
        Operation("GET", "/openapi.json", openapi, Media(JSON, "The OpenAPI document of this API.")),
    ]


def make_problem_response(error: HTTPException, body_limit: str) -> Response | None:
    """Return the error as JSON if the request was for the API, else None."""
    if not request.path.startswith(f"{PREFIX}/"):
        return None
    reason = f"{error.name}: {body_limit} at most." if error.code == 413 else f"{error.name}."
    return make_json_response(Problem(reason), error.code or 500)
