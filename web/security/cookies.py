"""Signed session cookies without an expiry date, because the clock of a Raspberry Pi may be wrong after a start."""

from __future__ import annotations

from flask import Flask, Request, Response
from flask import request as current_request
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface, SessionMixin
from itsdangerous import BadSignature, URLSafeSerializer

_SALT = "tilekeeper session"
MAX_AGE_S = 400 * 24 * 3600
"""`Max-Age` of the cookie in seconds: the largest value that browsers allow (RFC 6265bis, 5.5)."""


class DatelessCookieSessionInterface(SecureCookieSessionInterface):
    """Flask session in a signed cookie without a date, with different names for http and https.

    The https cookie is never sent over http, and its `__Host-` prefix binds it to this host (RFC 6265bis, 4.1.3.2). A
    cookie is valid until its device is unpaired: neither the signature nor `Max-Age` depends on the clock of this
    machine.

    `name` is the name of the cookie. Browsers send a cookie to all ports of a machine, so a table and a hall on one
    machine need different names.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        """Return the session from the cookie, or an empty session if the cookie is missing or has a wrong signature."""
        value = request.cookies.get(self._make_cookie_name(request))
        if not value:
            return self.session_class()
        try:
            return self.session_class(_make_serializer(app).loads(value))
        except (BadSignature, ValueError, TypeError):
            return self.session_class()

    def save_session(self, app: Flask, session: SessionMixin, response: Response) -> None:
        """Set the session cookie in the response if the session was changed."""
        if session.accessed:
            response.vary.add("Cookie")
        if not session.modified or not session:
            return
        response.set_cookie(
            self._make_cookie_name(current_request),
            str(_make_serializer(app).dumps(dict(session))),
            max_age=MAX_AGE_S if session.permanent else None,
            secure=current_request.is_secure,
            httponly=True,
            samesite="Strict",
        )
        response.headers.setlist(
            "Set-Cookie",
            [_remove_date(cookie) for cookie in response.headers.getlist("Set-Cookie")],
        )

    def _make_cookie_name(self, request: Request) -> str:
        return f"__Host-{self._name}" if request.is_secure else self._name


def _make_serializer(app: Flask) -> URLSafeSerializer:
    return URLSafeSerializer(app.config["SECRET_KEY"], salt=_SALT)


def _remove_date(cookie: str) -> str:
    """Return a Set-Cookie header without `Expires`, which Werkzeug adds to `Max-Age` for old browsers."""
    return "; ".join(part for part in cookie.split("; ") if not part.startswith("Expires="))
