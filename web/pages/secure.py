"""Page that explains the change from http to https, and the https link with which a device remains paired."""

from __future__ import annotations

from dataclasses import dataclass

from flask import Blueprint, Response, request
from flask.typing import ResponseReturnValue

from web.host_info import HostInfo
from web.i18n import texts
from web.responses import refuse, render_page
from web.security.hosts import make_secure_address
from web.security.pairing import Pairing, find_current_client, is_opened_by_user, remember_client

SECURE_PATH = "/secure"
CAMERA_PATH = "/camera"
"""Path of the page for a phone on a stand (`web.pages.phone_camera`), which the https link may open."""


def create_blueprint(pairing: Pairing, host: HostInfo) -> Blueprint:
    """Return the routes `GET /secure` and `GET /secure/enter/TOKEN`."""
    routes = Blueprint("secure", __name__, url_prefix=SECURE_PATH)
    pages = SecurePages(pairing, host)
    routes.get("")(pages.explain)
    routes.get("/enter/<token>")(pages.enter)
    return routes


@dataclass(frozen=True)
class SecurePages:
    """The view functions that lead from http to https."""

    pairing: Pairing
    host: HostInfo

    def explain(self) -> Response:
        """Return the page that shows how to accept the table's own certificate."""
        return render_page("secure.html", link=find_secure_link(self.pairing, self.host), goes_to="")

    def enter(self, token: str) -> ResponseReturnValue:
        """Identify a device that comes from http, so that it remains paired. A prefetch of the link has no effect.

        A script of the returned page opens the next page. After a redirect, the browser would not send the new cookie,
        which is `SameSite=Strict`: browsers treat http and https as different sites.
        """
        client = self.pairing.redeem_handover(token) if request.is_secure and is_opened_by_user() else None
        if client is not None:
            remember_client(client)
        elif find_current_client(self.pairing) is None:
            return refuse(texts()("pair.used"), 404)
        return render_page("secure.html", link="", goes_to=CAMERA_PATH if "camera" in request.args else "/")


def find_secure_link(pairing: Pairing, host: HostInfo, path: str = "/") -> str:
    """Return the https address of the page at `path` (`/` or `CAMERA_PATH`), or an empty string.

    For a paired device, the address contains a token, so that the device remains paired. The string is empty if the
    table has no https, or if the request already came over https.
    """
    port, client = host.find_secure_port(), find_current_client(pairing)
    if port is None or request.is_secure:
        return ""
    address = make_secure_address(request.host_url.rstrip("/"), port)
    if client is None:
        return f"{address}{path}"
    query = "?camera" if path == CAMERA_PATH else ""
    return f"{address}{SECURE_PATH}/enter/{pairing.make_handover_token(client.id)}{query}"
