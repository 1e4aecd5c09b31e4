"""Responses that several pages and the API give: pages, pictures, files, refusals."""

from __future__ import annotations

from collections.abc import Iterator

from flask import Blueprint, Response, abort, redirect, render_template, request
from flask.typing import ResponseReturnValue

from web.i18n import texts
from web.security.csrf import is_document_request
from web.security.pairing import Pairing, current_client

A_DAY = "private, max-age=86400"
FOR_EVER = "private, max-age=31536000, immutable"
"""Values of Cache-Control for pictures: of games that may be deleted, and of turns, whose name is never used again."""


def render_page(template: str, **values: object) -> Response:
    """Return a page in the language of the visitor, which must not be cached."""
    t = texts()
    headers = {"Cache-Control": "no-store", "Content-Language": t.language, "Vary": "Accept-Language, Cookie"}
    return Response(render_template(template, t=t, **values), headers=headers)


def render_dialog(name: str, **values: object) -> Response:
    """Return a form: only its content if a script requests it for a `<dialog>`, otherwise a page of its own."""
    frame = "form.html" if request.headers.get("X-Dialog") is None else "dialog.html"
    return Response(
        render_template(f"dialogs/{name}.html", t=texts(), frame=frame, **values),
        headers={"Cache-Control": "no-store", "Vary": "X-Dialog, Cookie"},
    )


def require_pairing(routes: Blueprint, pairing: Pairing) -> None:
    """Let unpaired phones see the form for pairing instead of the pages of a blueprint."""
    routes.before_request(lambda: None if current_client(pairing) else render_dialog("pair"))


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
