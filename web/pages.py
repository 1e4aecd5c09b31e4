"""The scoreboard itself, its big-screen form, and the pictures on it."""

from __future__ import annotations

import time

from flask import Blueprint, Response, abort, render_template, request
from flask.typing import ResponseReturnValue

from web.colours import editions_css
from web.languages import languages, texts
from web.live import LivePage
from web.pairing import Pairing, visitor
from web.table import Table


def blueprint(page: LivePage, table: Table, pairing: Pairing) -> Blueprint:
    """`/`, `/big` (with `?overlay` transparent, for a broadcast), `/pictures/NAME.jpg`, `/editions.css`."""
    routes = Blueprint("pages", __name__)

    def show(template: str, **values: object) -> Response:
        t = texts()
        drawing = page.drawing(t)
        html = render_template(
            template,
            t=t,
            drawing=drawing,
            parts=page.parts(drawing),
            now=time.monotonic(),
            paired=visitor(pairing),
            languages=languages().values(),
            **values,
        )
        headers = {"Cache-Control": "no-store", "Content-Language": t.language, "Vary": "Accept-Language, Cookie"}
        return Response(html, headers=headers)

    @routes.get("/")
    def scoreboard() -> ResponseReturnValue:
        return show("scoreboard.html")

    @routes.get("/big")
    def big() -> ResponseReturnValue:
        # Anybody on the network may open this page: the code stands only on a screen that was told it before.
        code = pairing.code if visitor(pairing) else ""
        return show("big.html", code=code, overlay="overlay" in request.args)

    @routes.get("/editions.css")
    def editions() -> ResponseReturnValue:
        return Response(editions_css(), mimetype="text/css", headers={"Cache-Control": "max-age=3600"})

    @routes.get("/pictures/<name>.jpg")
    def picture(name: str) -> ResponseReturnValue:
        jpeg = table.picture(name)
        if jpeg is None:
            abort(404)
        return Response(jpeg, mimetype="image/jpeg", headers={"Cache-Control": "private, max-age=31536000, immutable"})

    return routes
