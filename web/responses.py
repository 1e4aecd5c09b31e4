"""Helpers that build responses for the pages and the API: pages, forms, pictures, files, refusals.

Responses are compressed with gzip: on a slow Wi-Fi, the transfer takes longer than the compression.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from functools import lru_cache

import msgspec
from flask import Response, abort, redirect, render_template, request
from werkzeug.wrappers import Response as BaseResponse

from web.i18n import texts
from web.security.pairing import find_current_client
from web.streams import open_download

API_PATH = "/api/"
"""Prefix of the API's paths, where a token is required instead of a cookie, and errors are JSON (`web.api`)."""


def is_document_request() -> bool:
    """Return True if the browser requests a page to display, and not data for a script.

    Browsers send `Sec-Fetch-Dest` only over https and on the machine itself. Over http, as on phones in the Wi-Fi,
    the header `Accept` shows the difference: for a page it names HTML, and for a script of the pages it is `*/*`.
    """
    destination = request.headers.get("Sec-Fetch-Dest")
    return destination == "document" if destination else "text/html" in request.headers.get("Accept", "")


def render_page(template: str, **values: object) -> Response:
    """Return the response with a page in the language of the request, with `Cache-Control: no-store`."""
    t = texts()
    headers = {"Cache-Control": "no-store", "Content-Language": t.language, "Vary": "Accept-Language, Cookie"}
    return Response(render_template(template, t=t, **values), headers=headers)


def render_dialog(name: str, **values: object) -> Response:
    """Return a form. A script gets only the content of its `<dialog>`, a browser without script a complete page."""
    frame = "form.html" if request.headers.get("X-Dialog") is None else "dialog.html"
    return Response(
        render_template(f"dialogs/{name}.html", t=texts(), frame=frame, **values),
        headers={"Cache-Control": "no-store", "Vary": "X-Dialog, Cookie"},
    )


def require_pairing() -> Response | None:
    """Return the pairing form for an unpaired phone, otherwise None."""
    return None if find_current_client() else render_dialog("pair")


def require_admin() -> Response | None:
    """Return a refusal unless the client is an owner of the table, otherwise None."""
    client = find_current_client()
    if client is None:
        return render_dialog("pair")
    return None if client.admin else refuse(texts()("phones.only_first"), 403)


def accept(location: str = "/", status: int = 204) -> BaseResponse:
    """Return the response to an accepted form: a redirect to `location`, or an empty response for a script."""
    return redirect(location, code=303) if is_document_request() else Response(status=status)


def refuse(reason: str, status: int = 409) -> Response:
    """Return the response to a refused request with its reason.

    The response is a page for a browser, one line of text for a script, and JSON for a program that uses the API.
    """
    if request.path.startswith(API_PATH):
        return Response(msgspec.json.encode({"error": reason}), status, mimetype="application/json")
    if is_document_request():
        return Response(render_template("refused.html", t=texts(), reason=reason), status=status)
    return Response(f"{reason}\n", status=status, mimetype="text/plain")


def send_picture(jpeg: bytes | None, cache_control: str = "private, no-cache") -> Response:
    """Return a response with a JPEG picture, or abort with 404 if the picture is None.

    By default, browsers keep the picture, but ask each time if it has changed: after the restore of a backup, another
    picture may have the numbers of its game and event.
    """
    if jpeg is None:
        abort(404)
    response = Response(jpeg, mimetype="image/jpeg", headers={"Cache-Control": cache_control})
    response.add_etag()
    response.make_conditional(request)
    return response


def send_file(data: str | Iterator[bytes], media_type: str, name: str) -> Response:
    """Return a response that the browser saves as a file with the given name.

    `data` is a text, or the parts of a generated file. Raises `NoDownloadError`.
    """
    response = Response(data, mimetype=media_type) if isinstance(data, str) else open_download(data, media_type)
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


MIN_COMPRESSED_BYTES = 700
"""Smallest response that is compressed, in bytes. A smaller response fits in one packet anyway."""
_GZIP_LEVEL = 6
_COMPRESSIBLE_TYPES = (
    "text/html",
    "text/css",
    "text/plain",
    "text/javascript",
    "application/json",
    "application/manifest+json",
    "image/svg+xml",
)


def compress_response(response: Response) -> Response:
    """Compress a text response with gzip (RFC 9110, 8.4.1.3) if the client accepts gzip."""
    if response.mimetype not in _COMPRESSIBLE_TYPES:
        return response
    response.vary.add("Accept-Encoding")
    if response.status_code != 200 or "Content-Encoding" in response.headers or request.method == "HEAD":
        return response
    if request.accept_encodings["gzip"] <= 0 or not _is_complete(response):
        return response
    response.direct_passthrough = False
    data = response.get_data()
    if len(data) < MIN_COMPRESSED_BYTES:
        return response
    is_file = request.endpoint == "static"
    response.set_data(_compress_file(data) if is_file else gzip.compress(data, _GZIP_LEVEL, mtime=0))
    response.headers["Content-Encoding"] = "gzip"
    if etag := response.get_etag()[0]:
        response.set_etag(etag, weak=True)  # weak: the compressed response has the same content but different bytes
    return response


def _is_complete(response: Response) -> bool:
    return response.is_sequence or response.direct_passthrough  # not a generated stream


@lru_cache(maxsize=32)
def _compress_file(data: bytes) -> bytes:
    return gzip.compress(data, 9, mtime=0)
