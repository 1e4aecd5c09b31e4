"""Downloads of generated files, which occupy no worker thread while their clients receive them.

A view returns the response of `open_download`. Then `deliver_downloads` makes each part of the file when the client has
received the previous part. A slow client costs one part in memory, and makes no other client wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

from flask import Response, current_app, request

from engine.errors import TilekeeperError
from engine.limits import MAX_DOWNLOADS, MAX_DOWNLOADS_PER_ADDRESS
from web.security.addresses import make_client_key
from web.security.device_counter import DeviceCounter
from web.streams import AsgiApp, Message, Receive, Scope, Send, wait_until_gone

_DOWNLOAD_KEY = "tilekeeper.download"


class NoDownloadError(TilekeeperError):
    """Error if the limit of simultaneous downloads is reached, in total or for one address."""


@dataclass(frozen=True, slots=True)
class _Download:
    """The file that a client downloads: its remaining parts, and the key of the client's device."""

    parts: Iterator[bytes]
    address: str


class Downloads:
    """The downloads of one application, counted with limits. Thread-safe."""

    def __init__(self, limit: int = MAX_DOWNLOADS) -> None:
        self._limit = limit
        self._counter = DeviceCounter(limit, MAX_DOWNLOADS_PER_ADDRESS)

    @property
    def count(self) -> int:
        """Number of downloads in progress."""
        return self._counter.count

    def add(self, address: str) -> None:
        """Count a new download of the device with the key `address`. Raises `NoDownloadError`."""
        if not self._counter.add(address):
            raise NoDownloadError(
                f"All downloads are taken, {self._limit} in all and {MAX_DOWNLOADS_PER_ADDRESS} for each device. "
                "Try again in a minute."
            )

    def remove(self, address: str) -> None:
        """Remove a download that has ended from the count."""
        self._counter.remove(address)


def open_download(parts: Iterator[bytes], media_type: str) -> Response:
    """Return the response to the request with a generated file. Raises `NoDownloadError`."""
    scope = request.environ.get("asgi.scope")
    if scope is None:  # a test client
        return Response(parts, mimetype=media_type)
    address = make_client_key(request.remote_addr or "")
    current_app.extensions["downloads"].add(address)
    scope[_DOWNLOAD_KEY] = _Download(parts, address)
    return Response(iter(()), mimetype=media_type)  # an iterator, so that Flask sends no Content-Length


def deliver_downloads(app: AsgiApp, downloads: Downloads) -> AsgiApp:
    """Wrap an ASGI application so that the parts of a download follow the headers of its response.

    The parts are made in another thread, one at a time for all clients, so that the page keeps most of the processor.
    """
    turn = asyncio.Lock()

    async def send_parts(parts: Iterator[bytes], receive: Receive, send: Send) -> None:
        gone = asyncio.ensure_future(wait_until_gone(receive))
        try:
            while not gone.done():
                async with turn:
                    part = await asyncio.to_thread(next, parts, None)
                if part is None:
                    break
                await send({"type": "http.response.body", "body": part, "more_body": True})
        finally:
            gone.cancel()
        await send({"type": "http.response.body", "body": b""})

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_open(message: Message) -> None:
            if _DOWNLOAD_KEY in scope and message["type"] == "http.response.body":
                message = {**message, "more_body": True}
            await send(message)

        try:
            await app(scope, receive, send_open)
            if (download := scope.get(_DOWNLOAD_KEY)) is not None:
                await send_parts(iter(()) if scope["method"] == "HEAD" else download.parts, receive, send)
        finally:
            if (download := scope.pop(_DOWNLOAD_KEY, None)) is not None:
                downloads.remove(download.address)

    return serve
