"""The scoreboard itself, and the pictures on it."""

from __future__ import annotations

from flask import Blueprint, Response, abort, render_template
from flask.typing import ResponseReturnValue

from web.live import LivePage
from web.table import Table


def blueprint(page: LivePage, table: Table, *, panel: bool) -> Blueprint:
    """`/` and `/pictures/NAME.jpg`."""
    routes = Blueprint("pages", __name__)

    @routes.get("/")
    def scoreboard() -> ResponseReturnValue:
        html = render_template("scoreboard.html", drawing=page.drawing(), panel=panel)
        return Response(html, headers={"Cache-Control": "no-store"})

    @routes.get("/pictures/<name>.jpg")
    def picture(name: str) -> ResponseReturnValue:
        jpeg = table.picture(name)
        if jpeg is None:
            abort(404)
        return Response(jpeg, mimetype="image/jpeg", headers={"Cache-Control": "private, max-age=31536000, immutable"})

    return routes
