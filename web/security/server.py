"""Server of the page in the process that owns camera and panel.

Waitress, because it neither forks nor needs the main thread. Measurements with many open streams showed two traps. More
streams than threads starve every other request, so streams are limited well below the number of threads. And a phone
that falls asleep holds its thread until the kernel gives up the connection, so that timeout is set to ten seconds.
"""

from __future__ import annotations

import contextlib
import copy
import errno
import socket
import threading
from typing import Any

import waitress
from flask import Flask
from waitress import wasyncore
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser

from engine.errors import TilekeeperError
from web.security.csrf import MAX_BODY_BYTES, MAX_BODY_BYTES_BY_PATH

THREADS = 128
"""Number of threads; waiting threads are cheap, and `web.app.MAX_STREAMS` of them may hold a stream."""
SEND_TIMEOUT_MS = 10_000
"""Milliseconds without an acknowledgement after which a connection is closed (RFC 5482, TCP_USER_TIMEOUT)."""
STREAM_BUFFER_BYTES = 128 * 1024
"""Bytes of a response that are kept for a client. With waitress's default of 16 MB, 100 open pages took 1 GB after
150 s."""


class PortInUseError(TilekeeperError, OSError):
    """Another program uses the port."""


class PageServer:
    """Server of the page at a port, in a thread named `page`. Serving starts when `with` is entered."""

    def __init__(self, app: Flask, port: int, host: str = "", *, threads: int = THREADS) -> None:
        """Bind the port; an empty `host` means all interfaces. Raises `PortInUseError`, `OSError`."""
        self._app = app
        self._socket = create_listening_socket(host, port)
        self.port: int = self._socket.getsockname()[1]
        self._sockets: dict[int, Any] = {}
        self._server = waitress.create_server(
            app,
            map=self._sockets,
            sockets=[self._socket],
            threads=threads,
            connection_limit=4 * threads,
            channel_request_lookahead=1,  # a closed phone is noticed at the first write
            channel_timeout=60,
            outbuf_high_watermark=STREAM_BUFFER_BYTES,
            max_request_body_size=MAX_BODY_BYTES,
            asyncore_use_poll=True,
            log_socket_errors=False,  # phones come and go
            ident=None,
        )
        self._server.channel_class = _Channel
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="page", daemon=True)

    def __enter__(self) -> PageServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the streams, then the server, and wait for both."""
        self._app.extensions["live"].close()
        self._closing.set()
        with contextlib.suppress(OSError):  # the loop may have seen it before it is woken, and closed the trigger
            self._server.pull_trigger()
        self._thread.join()

    def _run(self) -> None:
        """Run waitress's loop until `close`, then close all connections; waitress itself only ends on an exception."""
        while not self._closing.is_set():
            wasyncore.loop(timeout=1.0, use_poll=True, map=self._sockets, count=1)
        self._server.task_dispatcher.shutdown()
        wasyncore.close_all(self._sockets, ignore_all=True)


class _LargeBodyParser(HTTPRequestParser):  # type: ignore[misc]  # waitress has no types
    """Parser that accepts large bodies only at the paths that take files."""

    adj: Any

    def parse_header(self, header_plus: bytes) -> None:
        super().parse_header(header_plus)
        if large := MAX_BODY_BYTES_BY_PATH.get(self.path):
            roomier = copy.copy(self.adj)
            roomier.max_request_body_size = large
            self.adj = roomier


class _Channel(HTTPChannel):  # type: ignore[misc]
    parser_class = _LargeBodyParser


def create_listening_socket(host: str, port: int) -> socket.socket:
    """Return a listening socket whose connections time out on silent phones. Raises `PortInUseError`, `OSError`."""
    if not 0 <= port <= 65535:
        raise OSError(errno.EINVAL, f"no port {port}: choose one from 1 to 65535")
    both = not host and socket.has_dualstack_ipv6()
    try:
        listening = socket.create_server(
            (host, port),
            family=socket.AF_INET6 if both or ":" in host else socket.AF_INET,
            dualstack_ipv6=both,
            backlog=128,
        )
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise PortInUseError(*error.args) from error
        raise OSError(error.errno, f"no page at {host or 'all addresses'}, port {port}: {error.strerror}") from error
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, SEND_TIMEOUT_MS)
    return listening
