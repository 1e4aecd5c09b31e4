"""Responses that several pages and the API give: pages, pictures, files, refusals."""

from __future__ import annotations

from collections.abc import Iterator

from flask import Response, abort, redirect, render_template
from flask.typing import ResponseReturnValue

from web.i18n import texts
from web.security.csrf import is_document_request

A_DAY = "private, max-age=86400"
FOR_EVER = "private, max-age=31536000, immutable"
"""Values of Cache-Control for pictures: of games that may be deleted, and of turns, whose name is never used again."""


def render_page(template: str, **values: object) -> Response:
    """Return a page in the language of the visitor, which must not be cached."""
    t = texts()
    headers = {"Cache-Control": "no-store", "Content-Language": t.language, "Vary": "Accept-Language, Cookie"}
    return Response(render_template(template, t=t, **values), headers=headers)


def accept(location: str = "/", status: int = 204) -> ResponseReturnValue:
    """Return the answer to a form that was accepted: a page to go to, or an empty response for a script."""
    return redirect(location, code=303) if is_document_request() else Response(status=status)


def refuse(why: str, status: int = 409) -> Response:
    """Return the answer to a form that was refused: a page with the reason, or the reason on one line for a script."""
    if is_document_request():
        return Response(render_template("refused.html", t=texts(), why=why), status=status)
    return Response(f"{why}\n", status=status, mimetype="text/plain")


def send_picture(jpeg: bytes | None, cache_control: str) -> Response:
    """Return a JPEG, or fail with 404 if there is none."""
    if jpeg is None:
        abort(404)
    return Response(jpeg, mimetype="image/jpeg", headers={"Cache-Control": cache_control})


def send_file(data: str | Iterator[bytes], media_type: str, name: str) -> Response:
    """Return a file to save under this name."""
    return Response(data, mimetype=media_type, headers={"Content-Disposition": f'attachment; filename="{name}"'})
