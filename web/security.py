"""What keeps strangers' pages from steering the table: headers on every answer, a check on every change."""

from __future__ import annotations

import hmac
import secrets
from urllib.parse import urlsplit

from flask import Flask, Response, abort, request, session

_KEY = "csrf"
_HEADERS = {
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


def add_to(app: Flask) -> None:
    """Set the headers on every answer, refuse changes that come from elsewhere, and give templates `csrf_token()`."""
    app.before_request(_check_change)
    app.after_request(_set_headers)
    app.jinja_env.globals["csrf_token"] = csrf_token


def csrf_token() -> str:
    """The token that a form of this visitor must send back; it lives in the signed cookie."""
    if _KEY not in session:
        session[_KEY] = secrets.token_urlsafe(24)
    return str(session[_KEY])


def _check_change() -> None:
    """Let a request that changes something through only from our own page with its own token."""
    if request.method in ("GET", "HEAD", "OPTIONS"):
        return
    origin = request.headers.get("Origin") or request.headers.get("Referer")
    if origin is not None and urlsplit(origin).netloc != request.host:
        abort(403, "This came from another site's page. Open the table's own page and try again.")
    if request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
        abort(403, "This came from another site's page. Open the table's own page and try again.")
    sent = request.form.get(_KEY) or request.headers.get("X-CSRF-Token") or ""
    expected = session.get(_KEY)
    if not expected or not hmac.compare_digest(sent, str(expected)):
        abort(403, "This page is from before a restart. Reload it and try again.")


def _set_headers(response: Response) -> Response:
    for name, value in _HEADERS.items():
        response.headers.setdefault(name, value)
    return response
