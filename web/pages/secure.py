"""Page that explains how to open the table's page over https, and the link with which a paired device changes to it."""

from __future__ import annotations

from dataclasses import dataclass

from flask import Blueprint, Response, request
from flask.typing import ResponseReturnValue

from web.host_info import HostInfo
from web.i18n import texts
from web.responses import refuse, render_page
from web.security.hosts import make_secure_address
from web.security.pairing import Pairing, current_client, is_opened_by_user, remember_client

SECURE_PATH = "/secure"
CAMERA_PATH = "/camera"
"""Path of the page of a phone on a stand (`web.pages.phone_camera`), a possible target of the link."""


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

        The page then opens the next page by script: with a redirect, the browser would not send the new cookie, which
        is `SameSite=Strict`, because http and https are different sites.
        """
        client = self.pairing.redeem_handover(token) if request.is_secure and is_opened_by_user() else None
        if client is not None:
            remember_client(client)
        elif current_client(self.pairing) is None:
            return refuse(texts()("pair.used"), 404)
        return render_page("secure.html", link="", goes_to=CAMERA_PATH if "camera" in request.args else "/")


def find_secure_link(pairing: Pairing, host: HostInfo, path: str = "/") -> str:
    """Return the address over https of the page at `path`, `/` or `CAMERA_PATH`; empty if there is none.

    For a paired device the link contains a token, so that it remains paired. There is no such address without https,
    and for a request that already came over https.
    """
    port, client = host.find_secure_port(), current_client(pairing)
    if port is None or request.is_secure:
        return ""
    address = make_secure_address(request.host_url.rstrip("/"), port)
    if client is None:
        return f"{address}{path}"
    query = "?camera" if path == CAMERA_PATH else ""
    return f"{address}{SECURE_PATH}/enter/{pairing.make_handover_token(client.id)}{query}"
