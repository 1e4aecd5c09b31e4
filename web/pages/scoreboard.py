"""The scoreboard, its large version, the page to join, and the pictures on them."""

from __future__ import annotations

import time

from flask import Blueprint, Response, abort, render_template, request
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from device.session.table_session import TableSession
from web.colours import build_editions_css
from web.host import HostInfo
from web.i18n import languages, texts
from web.live import LiveUpdates
from web.qr import format_wifi_text, render_qr_svg
from web.security.pairing import Pairing, current_client


def create_blueprint(page: LiveUpdates, session: TableSession, pairing: Pairing, place: HostInfo) -> Blueprint:
    """Return the routes `/`, `/big`, `/join`, `/pictures/NAME.jpg` and `/editions.css`.

    `/big?overlay` has a transparent background, for a broadcast.
    """
    routes = Blueprint("pages", __name__)

    def show(template: str, **values: object) -> Response:
        t = texts()
        drawing = page.render_newest(t)
        html = render_template(
            template,
            t=t,
            drawing=drawing,
            parts=page.refresh_parts(drawing),
            now=time.monotonic(),
            paired=current_client(pairing),
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
        code = code_to_show()
        return show("big.html", code=code, join=invitation(code), overlay="overlay" in request.args)

    @routes.get("/join")
    def join() -> ResponseReturnValue:
        code = code_to_show()
        return show(
            "join.html", code=code, join=invitation(code), addresses=place.addresses(), secure=request.is_secure
        )

    def code_to_show() -> str:
        """Return the pairing code for paired clients and for screens at the table's own machine, otherwise "".

        Requests that a proxy on this machine forwarded do not count as local.
        """
        is_here = request.remote_addr in ("127.0.0.1", "::1", "::ffff:127.0.0.1")
        passed_on = any(name in request.headers for name in ("Forwarded", "X-Forwarded-For", "Via"))
        return pairing.code if current_client(pairing) or (is_here and not passed_on) else ""

    def invitation(code: str) -> list[tuple[Markup, str, str]]:
        """Return the QR codes to join, each with its purpose and its content as text."""
        t, found = texts(), []
        wifi = place.wifi
        if wifi is None and place.hotspot is not None and place.hotspot.is_active():
            wifi = place.hotspot.name, place.hotspot.password
        if wifi is not None:
            found.append(
                (render_qr_svg(format_wifi_text(*wifi), t("join.wifi")), t("join.wifi"), " · ".join(filter(None, wifi)))
            )
        address = next(reversed(place.addresses()), request.host_url.rstrip("/"))
        if code:
            pairs = render_qr_svg(f"{address}/pair?code={code}", t("join.pair"))
            found.append((pairs, t("join.pair"), f"{code[:3]} {code[3:]}"))
        else:
            found.append((render_qr_svg(address, t("join.page")), t("join.page"), address))
        return found

    @routes.get("/editions.css")
    def editions() -> ResponseReturnValue:
        return Response(build_editions_css(), mimetype="text/css", headers={"Cache-Control": "max-age=3600"})

    @routes.get("/pictures/<name>.jpg")
    def picture(name: str) -> ResponseReturnValue:
        jpeg = session.picture(name)
        if jpeg is None:
            abort(404)
        return Response(jpeg, mimetype="image/jpeg", headers={"Cache-Control": "private, max-age=31536000, immutable"})

    return routes
