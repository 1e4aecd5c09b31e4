"""Pages for all clients: scoreboard, large scoreboard, page with QR codes, and pictures of turns."""

from __future__ import annotations

import time
from dataclasses import dataclass

from flask import Blueprint, Response, request
from markupsafe import Markup

from device.session.table_session import TableSession
from web.filters import build_editions_css
from web.host_info import HostInfo, is_local_address
from web.i18n import languages, texts
from web.live import LiveUpdates
from web.qr import format_wifi_text, render_qr_svg
from web.responses import render_page, send_picture
from web.security.csrf import PAIR_PATH
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

    def scoreboard(self) -> Response:
        """Return the page with the scoreboard."""
        return self._render("scoreboard.html")

    def watch(self) -> Response:
        """Return the scoreboard for guests, without buttons that control the table."""
        return self._render("scoreboard.html", watch=True)

    def big(self) -> Response:
        """Return the scoreboard for a large screen. `?overlay` makes the background transparent, for broadcasts."""
        code = self.find_shown_code()
        return self._render("big.html", code=code, join=self.make_invitation(code), overlay="overlay" in request.args)

    def join(self) -> Response:
        """Return the page with the QR codes for joining the Wi-Fi and opening the scoreboard."""
        code, addresses = self.find_shown_code(), self.host.find_phone_addresses()
        join = self.make_invitation(code)
        if code and join:  # guests need a code that does not pair their phone
            address = self.find_address()
            join.append(_make_qr(f"{address}/watch", "join.watch", address.partition("//")[2]))
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

    def find_shown_code(self) -> str:
        """Return the pairing code for a paired client, or an empty string for other clients.

        A local address does not authenticate a client, because a proxy on this machine may have forwarded the request.
        """
        return self.pairing.code if find_current_client(self.pairing) else ""

    def find_address(self) -> str:
        """Return the address of the page for phones, or an empty string if only this machine can open the page."""
        if addresses := self.host.find_phone_addresses():
            return addresses[-1]
        shown = request.host_url.rstrip("/")  # perhaps that of a proxy
        return "" if self.host.addresses() and is_local_address(shown) else shown

    def make_invitation(self, code: str) -> list[tuple[Markup, str, str]]:
        """Return the QR codes for joining as (image, purpose, text).

        Passwords and secrets are included only if `code`, the pairing code, is not empty. There are no codes if only
        this machine can open the page.
        """
        address = self.find_address()
        if not address:
            return []
        if not code:
            return [_make_qr(address, "join.page", address)]
        link = f"{address}{PAIR_PATH}/{self.pairing.secret}"
        pair_qr = _make_qr(link, "join.pair", f"{code[:3]} {code[3:]}")
        wifi, hotspot = self.host.wifi, self.host.hotspot
        if wifi is None and hotspot is not None and hotspot.is_active():
            wifi = hotspot.name, hotspot.password
        if wifi is None:
            return [pair_qr]
        return [_make_qr(format_wifi_text(*wifi), "join.wifi", " · ".join(filter(None, wifi))), pair_qr]

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


def _make_qr(content: str, purpose_key: str, text: str) -> tuple[Markup, str, str]:
    """Return a QR code as (image, purpose, text); the purpose is the text of the page with the key `purpose_key`."""
    purpose = texts()(purpose_key)
    return render_qr_svg(content, purpose), purpose, text
