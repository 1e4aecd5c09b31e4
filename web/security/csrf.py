"""What keeps strangers from steering the table: headers on every answer, a check on every change."""

from __future__ import annotations

import hmac
import secrets
from urllib.parse import urlsplit

from flask import Flask, Response, request, session
from flask.sessions import SecureCookieSessionInterface

from web.game_archive import MAX_IMPORT_BYTES
from web.i18n import texts
from web.security.pairing import Pairing, current_client

PAIR_PATH = "/pair"
"""The one change that a phone may make that is not paired."""

API_PATH = "/api/"
"""Under this, programs are let in by a token instead of a cookie (`web.api`)."""
MAX_BODY_BYTES = 64 * 1024
"""What a request may carry."""
MAX_BODY_BYTES_BY_PATH = {"/history/import": MAX_IMPORT_BYTES, "/api/v1/games": MAX_IMPORT_BYTES}
"""What it may carry to these addresses. The server refuses more before it has read it (`web.security.server`)."""

_TOKEN_KEY = "csrf"
_SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), screen-wake-lock=(self)",
}


def register_csrf_protection(app: Flask, pairing: Pairing) -> None:
    """Set the headers on every answer, refuse changes that come from elsewhere or from phones that are not paired."""

    def check_change() -> Response | None:
        request.max_content_length = MAX_BODY_BYTES_BY_PATH.get(request.path, MAX_BODY_BYTES)
        if request.method in ("GET", "HEAD", "OPTIONS") or request.path.startswith(API_PATH):
            return None
        wrong = ""
        if is_cross_site():
            wrong = "wrong.foreign"
        elif request.path != PAIR_PATH and not current_client(pairing):
            wrong = "pair.needed"
        elif not _has_valid_token():
            wrong = "wrong.stale"
        return Response(f"{texts()(wrong)}\n", status=403, mimetype="text/plain") if wrong else None

    app.before_request(check_change)
    app.after_request(_set_headers)
    app.jinja_env.globals["csrf_token"] = csrf_token


class HostCookieSessionInterface(SecureCookieSessionInterface):
    """The visitor's signed cookie: one over http, and another over https that never goes over http.

    The prefix ties the latter to this very machine (RFC 6265bis, 4.1.3.2).
    """

    def get_cookie_name(self, app: Flask) -> str:  # noqa: ARG002 (Flask's signature)
        """The cookie's name."""
        return "__Host-tilekeeper" if request.is_secure else "tilekeeper"

    def get_cookie_secure(self, app: Flask) -> bool:  # noqa: ARG002
        """Whether the cookie goes over https only."""
        return request.is_secure


def csrf_token() -> str:
    """The token that a form of this visitor must send back; it lives in the signed cookie."""
    if _TOKEN_KEY not in session:
        session[_TOKEN_KEY] = secrets.token_urlsafe(24)
    return str(session[_TOKEN_KEY])


def is_document_request() -> bool:
    """True for a request that the browser made for a page of its own, not our script."""
    return request.headers.get("Sec-Fetch-Dest") == "document"


def is_cross_site() -> bool:
    """True for a request that a page of another site made the browser send, as the browser says."""
    origin = request.headers.get("Origin") or request.headers.get("Referer")
    if origin is not None and urlsplit(origin).netloc != request.host:
        return True
    return request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none")


def _has_valid_token() -> bool:
    """True for a form that a page of ours gave to this visitor."""
    sent = request.form.get(_TOKEN_KEY) or request.headers.get("X-CSRF-Token") or ""
    expected = session.get(_TOKEN_KEY)
    return bool(expected) and hmac.compare_digest(sent.encode(), str(expected).encode())


def _set_headers(response: Response) -> Response:
    for name, value in _SECURITY_HEADERS.items():
        response.headers.setdefault(name, value)
    return response
