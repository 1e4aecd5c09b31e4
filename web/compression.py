"""Compress responses with gzip: on a slow Wi-Fi, the transfer takes longer than the compression."""

from __future__ import annotations

import gzip
from functools import lru_cache

from flask import Response, request

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
