"""Pages for all clients: scoreboard, large scoreboard, page with QR codes, and pictures of turns."""

from __future__ import annotations

import time
from dataclasses import dataclass

from flask import Blueprint, Response, redirect, request
from flask import session as cookie
from flask.typing import ResponseReturnValue

from device.session.table_session import TableSession
from web.filters import build_editions_css
from web.host_info import HostInfo
from web.i18n import languages, texts
from web.invitation import find_address, find_shown_code, make_invitation, make_qr
from web.live import LiveUpdates
from web.pages.setup import SEEN_KEY, SETUP_PATH
from web.responses import render_page, send_picture
from web.security.pairing import Pairing, find_current_client


def create_blueprint(page: LiveUpdates, session: TableSession, pairing: Pairing, host: HostInfo) -> Blueprint:
    """Return the routes `/`, `/watch`, `/big`, `/join`, `/pictures/NAME.jpg` and `/editions.css`."""
    routes = Blueprint("pages", __name__)
    pages = ScoreboardPages(page, session, pairing, host)
    routes.get("/")(pages.scoreboard)
    routes.get("/watch")(pages.watch)
    routes.get("/big")(pages.big)
    routes.get("/join")(pages.join)
    routes.get("/editions.css")(pages.editions_css)
    routes.get("/pictures/<name>.jpg")(pages.picture)
    return routes


@dataclass(frozen=True)
class ScoreboardPages:
    """The view functions that do not require pairing."""

    page: LiveUpdates
    session: TableSession
    pairing: Pairing
    host: HostInfo

    def scoreboard(self) -> ResponseReturnValue:
        """Return the page with the scoreboard. At the first start, the owner gets the set-up page first, once."""
        client = find_current_client(self.pairing)
        if client and client.admin and SEEN_KEY not in cookie and self.host.is_new_table():
            return redirect(SETUP_PATH)
        return self._render("scoreboard.html")

    def watch(self) -> Response:
        """Return the scoreboard for guests, without buttons that control the table."""
        return self._render("scoreboard.html", watch=True)

    def big(self) -> Response:
        """Return the scoreboard for a large screen. `?overlay` makes the background transparent, for broadcasts."""
        code = find_shown_code(self.pairing)
        join = make_invitation(self.pairing, self.host)
        return self._render("big.html", code=code, join=join, overlay="overlay" in request.args)

    def join(self) -> Response:
        """Return the page with the QR codes for joining the Wi-Fi and opening the scoreboard."""
        code, addresses = find_shown_code(self.pairing), self.host.find_phone_addresses()
        join = make_invitation(self.pairing, self.host)
        if code and join:  # guests need a code that does not pair their phone
            address = find_address(self.host)
            join.append(make_qr(f"{address}/watch", "join.watch", address.partition("//")[2]))
        has_https = self.host.find_secure_port() is not None
        return self._render(
            "join.html", code=code, join=join, addresses=addresses, secure=request.is_secure, has_https=has_https
        )

    def picture(self, name: str) -> Response:
        """Return the picture of a turn."""
        return send_picture(self.session.find_picture(name))

    def editions_css(self) -> Response:
        """Return the style sheet with the colours of each edition's board and of the table's own board."""
        css = build_editions_css(self.session.state.board_colours)
        return Response(css, mimetype="text/css", headers={"Cache-Control": "max-age=3600"})

    def _render(self, template: str, **values: object) -> Response:
        rendered_state = self.page.render_newest(texts())
        return render_page(
            template,
            rendered_state=rendered_state,
            parts=self.page.refresh_parts(rendered_state),
            now=time.monotonic(),
            paired=None if values.get("watch") else find_current_client(self.pairing),
            phone_camera=self.session.uses_phone_camera or self.session.phone_stream is not None,
            languages=languages().values(),
            **values,
        )
