"""Protection against requests from other sites: security headers, cookies, CSRF tokens, body sizes."""

from __future__ import annotations

import hmac
from urllib.parse import urlsplit

from flask import Flask, Response, request, session
from flask.sessions import SecureCookieSessionInterface, SessionMixin
from itsdangerous import URLSafeSerializer
from werkzeug.http import dump_cookie

from engine.limits import MAX_BODY_BYTES, MAX_LEXICON_BYTES, MAX_PREVIEW_BYTES, MAX_UPLOADED_PHOTO_BYTES
from web.game_archive import MAX_IMPORT_BYTES
from web.i18n import texts
from web.responses import API_PATH, refuse
from web.security.pairing import CSRF_KEY, find_current_client, make_form_secret

PAIR_PATH = "/pair"
"""The only path that accepts POST requests from unpaired phones."""
PICTURE_PATH = "/actions/picture"
"""Path that accepts the picture of a turn (`web.pages.pictures`)."""
CAMERA_PREVIEW_PATH, CAMERA_STILL_PATH = "/camera/preview", "/camera/still"
"""Paths that accept the pictures of a phone on a stand (`web.pages.pictures`)."""
REBUILD_PATH = "/history/rebuild"
"""Path that accepts a photograph of a final board (`web.pages.rebuild`)."""
LEXICON_PATH, SHEET_PATH = "/settings/lexicon", "/setup/table"
"""Paths that accept an uploaded word list (`web.pages.settings`, `web.pages.settings`)."""
RESTORE_PATH = "/data/games"
"""Path that accepts a file with all games (`web.pages.stored_games`)."""
MAX_BODY_BYTES_BY_PATH = {
    "/history/import": MAX_IMPORT_BYTES,
    "/api/v1/games": MAX_IMPORT_BYTES,
    PICTURE_PATH: MAX_UPLOADED_PHOTO_BYTES,
    REBUILD_PATH: MAX_UPLOADED_PHOTO_BYTES,
    LEXICON_PATH: MAX_LEXICON_BYTES,
    RESTORE_PATH: MAX_LEXICON_BYTES,
    SHEET_PATH: MAX_LEXICON_BYTES,
    CAMERA_PREVIEW_PATH: MAX_PREVIEW_BYTES,
    CAMERA_STILL_PATH: MAX_UPLOADED_PHOTO_BYTES,
}
"""Largest request body in bytes, by path, for the paths that accept files. `web.security.server` enforces it."""
_SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
        "manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(self), microphone=(), geolocation=(), screen-wake-lock=(self)",
}


def register_csrf_protection(app: Flask) -> None:
    """Add security headers to all responses, and refuse forged requests.

    A request that would change data is refused if it comes from another site's page or from an unpaired phone, or if it
    has no valid CSRF token. The API has its own checks.
    """

    def check_change() -> Response | None:
        """Return a refusal of a forged request, or None if the request is allowed."""
        request.max_content_length = MAX_BODY_BYTES_BY_PATH.get(request.path, MAX_BODY_BYTES)
        if request.method in ("GET", "HEAD", "OPTIONS") or request.path.startswith(API_PATH):
            return None
        wrong = ""
        if is_cross_site():
            wrong = "wrong.foreign"
        elif request.path != PAIR_PATH and not find_current_client():
            wrong = "pair.needed"
        elif not _has_valid_token():
            wrong = "wrong.stale" if request.cookies else "wrong.no_cookie"
        return refuse(texts()(wrong), 403) if wrong else None

    app.before_request(check_change)
    app.after_request(_set_headers)
    app.jinja_env.globals["csrf_token"] = csrf_token


def csrf_token() -> str:
    """Return the CSRF token in the client's signed session cookie; create it if necessary."""
    if CSRF_KEY not in session:
        session[CSRF_KEY] = make_form_secret()
    return str(session[CSRF_KEY])


def is_cross_site() -> bool:
    """Return True if the request comes from a page of another site, according to the browser's headers."""
    origin = request.headers.get("Origin") or request.headers.get("Referer")
    if origin is not None:
        try:
            host = urlsplit(origin).netloc
        except ValueError:  # an IPv6 address without its closing bracket
            return True
        if host != request.host:
            return True
    return request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none")


def _has_valid_token() -> bool:
    """Return True if the request contains the CSRF token of this client."""
    sent = request.form.get(CSRF_KEY) or request.headers.get("X-CSRF-Token") or ""
    expected = session.get(CSRF_KEY)
    return bool(expected) and hmac.compare_digest(sent.encode(), str(expected).encode())


def _set_headers(response: Response) -> Response:
    for name, value in _SECURITY_HEADERS.items():
        response.headers.setdefault(name, value)
    return response


_SALT = "tilekeeper session"
MAX_AGE_S = 400 * 24 * 3600
"""`Max-Age` of the cookie in seconds: the largest value that browsers allow (RFC 6265bis, 5.5)."""


class DatelessCookieSessionInterface(SecureCookieSessionInterface):
    """Flask session in a signed cookie without a date, with different names for http and https.

    The https cookie is never sent over http, and its `__Host-` prefix binds it to this host (RFC 6265bis, 4.1.3.2). A
    cookie is valid until its device is unpaired. Neither its signature nor its `Max-Age` contains a date, because the
    clock of this machine may be wrong.

    `name` is the name of the cookie. Browsers send a cookie to all ports of a machine, so a table and a hall on one
    machine need different names.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def get_cookie_name(self, app: Flask) -> str:  # noqa: ARG002
        """Return the name of the cookie for the scheme of the request."""
        return f"__Host-{self._name}" if request.is_secure else self._name

    def get_signing_serializer(self, app: Flask) -> URLSafeSerializer:  # type: ignore[override]
        """Return the signer of the cookies, which does not date them."""
        return URLSafeSerializer(app.config["SECRET_KEY"], salt=_SALT)

    def save_session(self, app: Flask, session: SessionMixin, response: Response) -> None:
        """Set the session cookie in the response if the session was changed."""
        if session.accessed:
            response.vary.add("Cookie")
        if not session.modified or not session:
            return
        cookie = dump_cookie(
            self.get_cookie_name(app),
            str(self.get_signing_serializer(app).dumps(dict(session))),
            max_age=MAX_AGE_S if session.permanent else None,
            sync_expires=False,
            secure=request.is_secure,
            httponly=True,
            samesite="Strict",
        )
        response.headers.add("Set-Cookie", cookie)
