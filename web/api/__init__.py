"""The table for programs: a JSON API under `/api/v1`, described by the OpenAPI document that it serves.

It stands beside the page and over the same objects. Programs prove that they are paired by a token, never by a cookie,
so that no page of another site can make a browser act for them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from flask import Blueprint, Flask, Response, request
from itsdangerous import BadSignature, URLSafeSerializer
from werkzeug.exceptions import HTTPException

from device.storage.store import StoreError
from web.api import devices, games, live_game
from web.api.openapi import PREFIX
from web.api.operations import JSON, ApiError, Media, Operation, Problem, as_json, register
from web.game_archive import Library
from web.live import LivePage
from web.security.csrf import comes_from_elsewhere
from web.security.pairing import Pairing, Phone
from web.table import Table

__all__ = ["PREFIX", "add_to", "fail", "operations"]

_DOCUMENT = Path(__file__).with_name("openapi.json")


def add_to(
    app: Flask, shown: Table, page: LivePage, pairing: Pairing, library: Library, own_lexicon: Path | None
) -> None:
    """Let programs use the table: every operation becomes a route of `app`."""
    signer = URLSafeSerializer(app.config["SECRET_KEY"], salt="api")
    routes = Blueprint("api", __name__, url_prefix=PREFIX)

    def who_asks() -> Phone:
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        try:
            phone = pairing.find(str(signer.loads(token))) if kind.lower() == "bearer" else None
        except BadSignature:
            phone = None
        if phone is None:
            raise ApiError(401, "Only paired devices may do this.", headers={"WWW-Authenticate": "Bearer"})
        return phone

    @routes.before_request
    def check_change() -> None:
        if request.method not in ("GET", "HEAD", "OPTIONS") and comes_from_elsewhere():
            raise ApiError(403, "This came from another site's page.")

    @routes.errorhandler(ApiError)
    def refuse(error: ApiError) -> Response:
        answer = as_json(Problem(error.why, error.moment), error.status)
        answer.headers.update(error.headers)
        return answer

    @routes.errorhandler(StoreError)
    def no_store(error: StoreError) -> Response:
        return as_json(Problem(str(error)), 503)

    def token_of(phone: Phone) -> str:
        return str(signer.dumps(phone.id))

    offered = operations(shown, page, pairing, library, own_lexicon, token_of)
    app.extensions["api"] = offered
    register(routes, offered, who_asks)
    app.register_blueprint(routes)


def operations(
    shown: Table,
    page: LivePage,
    pairing: Pairing,
    library: Library,
    own_lexicon: Path | None,
    token_of: Callable[[Phone], str],
) -> list[Operation]:
    """Everything that the API can do."""

    def openapi() -> Response:
        """This document."""
        return Response(_DOCUMENT.read_bytes(), mimetype=JSON)

    return [
        *live_game.operations(shown, page, own_lexicon),
        *games.operations(library),
        *devices.operations(pairing, token_of),
        Operation("GET", "/openapi.json", openapi, Media(JSON, "The OpenAPI document of this API.")),
    ]


def fail(error: HTTPException) -> Response | None:
    """What a program is told that asked for something that is not here; None for anybody else."""
    if not request.path.startswith(f"{PREFIX}/"):
        return None
    return as_json(Problem(error.name + "."), error.code or 500)
