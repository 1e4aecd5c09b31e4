"""Pages for all clients: scoreboard, large scoreboard, page with QR codes, and pictures of turns."""

from __future__ import annotations

import time

from flask import Blueprint, Response, redirect, request
from flask import session as cookie
from flask.typing import ResponseReturnValue

from web.filters import build_editions_css
from web.i18n import languages, texts
from web.invitation import find_address, find_shown_code, make_invitation, make_qr
from web.live import add_live_routes
from web.pages.setup import SEEN_KEY, SETUP_PATH
from web.responses import render_page, send_picture
from web.security.pairing import find_current_client
from web.served_table import table

routes = Blueprint("pages", __name__)
add_live_routes(routes, "", lambda: table.live)


@routes.get("/")
def show_scoreboard() -> ResponseReturnValue:
    """Return the page with the scoreboard. At the first start, the owner gets the set-up page first, once."""
    client = find_current_client()
    if client and client.admin and SEEN_KEY not in cookie and table.host.is_new_table():
        return redirect(SETUP_PATH)
    return _render("scoreboard.html")


@routes.get("/watch")
def show_to_guests() -> Response:
    """Return the scoreboard for guests, without buttons that control the table."""
    return _render("scoreboard.html", watch=True)


@routes.get("/big")
def show_big() -> Response:
    """Return the scoreboard for a large screen. `?overlay` makes the background transparent, for broadcasts."""
    code = find_shown_code()
    join = make_invitation(table.host)
    return _render("big.html", code=code, join=join, overlay="overlay" in request.args)


@routes.get("/join")
def show_join_codes() -> Response:
    """Return the page with the QR codes for joining the Wi-Fi and opening the scoreboard."""
    code, addresses = find_shown_code(), table.host.find_phone_addresses()
    join = make_invitation(table.host)
    if code and join:  # guests need a code that does not pair their phone
        address = find_address(table.host)
        join.append(make_qr(f"{address}/watch", "join.watch", address.partition("//")[2]))
    has_https = table.host.find_secure_port() is not None
    return _render(
        "join.html", code=code, join=join, addresses=addresses, secure=request.is_secure, has_https=has_https
    )


@routes.get("/pictures/<name>.jpg")
def send_turn_picture(name: str) -> Response:
    """Return the picture of a turn."""
    return send_picture(table.session.find_picture(name))


@routes.get("/editions.css")
def send_editions_css() -> Response:
    """Return the style sheet with the colours of each edition's board and of the table's own board."""
    css = build_editions_css(table.session.state.board_colours)
    return Response(css, mimetype="text/css", headers={"Cache-Control": "max-age=3600"})


def _render(template: str, **values: object) -> Response:
    rendered_state = table.live.render_newest(texts())
    return render_page(
        template,
        rendered_state=rendered_state,
        parts=table.live.refresh_parts(rendered_state),
        now=time.monotonic(),
        paired=None if values.get("watch") else find_current_client(),
        phone_camera=table.session.uses_phone_camera or table.session.phone_stream is not None,
        languages=languages().values(),
        **values,
    )
