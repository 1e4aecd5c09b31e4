"""Server of the page in the process that owns camera and panel.

One thread with an event loop (uvicorn) accepts connections, reads requests, and sends responses and event streams, over
http and over https, which browsers require to keep the screen on or to install an app. Only requests that are complete
occupy a worker thread. So open pages, idle connections and slow clients cost little, and none of them keeps others out.
"""

from __future__ import annotations

import asyncio
import errno
import resource
import socket
import ssl
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import uvicorn
from a2wsgi import WSGIMiddleware
from flask import Flask

from engine.errors import TilekeeperError
from engine.limits import IDLE_TIMEOUT_S, MAX_CONNECTIONS
from web.event_streams import AsgiApp, deliver_events
from web.security.connections import ConnectionLimiter, make_protocol_class
from web.security.gate import RequestGate, limit_send_time

THREADS = 32
"""Number of worker threads. A request holds one for milliseconds, a command until the board is read."""
SEND_TIMEOUT_MS = 10_000
"""Milliseconds without an acknowledgement after which a connection is closed (RFC 5482, TCP_USER_TIMEOUT)."""
CLOSE_TIMEOUT_S = 2.0
"""Seconds that requests in progress have when the server is closed."""
_SPARE_FILES = 256
"""Open files for everything but connections: store, camera, pins, libraries."""


class PortInUseError(TilekeeperError, OSError):
    """Another program uses the `port`."""

    def __init__(self, error: OSError, port: int) -> None:
        super().__init__(*error.args)
        self.port = port


class CertificateError(TilekeeperError):
    """An unusable certificate or key; the message gives the remedy on one line."""


@dataclass(frozen=True, slots=True)
class TlsSettings:
    """The certificate and the key for https, and its port."""

    certificate: Path
    key: Path
    port: int


class PageServer:
    """Server of the page at a port, in a thread named `page`. Serving starts when `with` is entered."""

    def __init__(
        self,
        app: Flask,
        port: int,
        host: str = "",
        *,
        threads: int = THREADS,
        tls: TlsSettings | None = None,
        limiter: ConnectionLimiter | None = None,
    ) -> None:
        """Bind the ports; an empty `host` means all interfaces.

        Raises `PortInUseError`, `CertificateError`, `OSError`.
        """
        self.app = app
        self._live = app.extensions["live"]
        self._context = _load_ssl_context(tls.certificate, tls.key) if tls else None
        self._socket = create_listening_socket(host, port)
        self.port: int = self._socket.getsockname()[1]
        self._secure_socket = None
        if tls:
            try:
                self._secure_socket = create_listening_socket(host, tls.port)
            except OSError:
                self._socket.close()
                raise
        self.secure_port: int | None = self._secure_socket.getsockname()[1] if self._secure_socket else None
        self._workers = WSGIMiddleware(app, workers=threads)  # type: ignore[arg-type]
        self.limiter = ConnectionLimiter(_raise_file_limit()) if limiter is None else limiter
        self._servers: list[uvicorn.Server] = []
        self._thread = threading.Thread(target=self._run, name="page", daemon=True)
        self._is_started = threading.Event()

    def __enter__(self) -> PageServer:
        self._thread.start()
        self._is_started.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the streams, then the server, and wait for both."""
        self._live.close()
        for server in self._servers:
            server.should_exit = True
        if self._is_started.is_set():
            self._thread.join()
        for listening in filter(None, (self._socket, self._secure_socket)):
            listening.close()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        finally:
            self._is_started.set()

    async def _serve(self) -> None:
        """Serve until `close`."""
        streams = self._live.streams
        streams.run_in(asyncio.get_running_loop())
        app = limit_send_time(deliver_events(RequestGate(cast(AsgiApp, self._workers)), streams))
        listeners = [(self._socket, None), (self._secure_socket, self._context)]
        used = [(listening, context) for listening, context in listeners if listening is not None]
        self._servers = [uvicorn.Server(self._make_config(app, context)) for _, context in used]
        sweep = asyncio.create_task(self.limiter.close_idle_connections())
        serving = [
            asyncio.create_task(server.serve([listening]))
            for server, (listening, _) in zip(self._servers, used, strict=True)
        ]
        self._is_started.set()
        abort = asyncio.create_task(self._abort_late_requests())
        await asyncio.wait(serving)
        sweep.cancel()
        abort.cancel()
        await asyncio.get_running_loop().run_in_executor(None, self._workers.executor.shutdown)

    async def _abort_late_requests(self) -> None:
        """Close what is still open some time after the servers were asked to end."""
        while not all(server.should_exit for server in self._servers):
            await asyncio.sleep(0.1)
        await asyncio.sleep(CLOSE_TIMEOUT_S)
        self.limiter.close_all()

    def _make_config(self, app: object, context: ssl.SSLContext | None) -> uvicorn.Config:
        config = uvicorn.Config(
            app,  # type: ignore[arg-type]
            http=make_protocol_class(self.limiter),
            interface="asgi3",
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="error",  # clients that send nonsense come and go
            access_log=False,
            proxy_headers=False,  # an address in a header proves nothing
            server_header=False,
            timeout_keep_alive=round(IDLE_TIMEOUT_S),
        )
        config.load()
        config.ssl = context
        return config


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
            raise PortInUseError(error, port) from error
        raise OSError(error.errno, f"no page at {host or 'all addresses'}, port {port}: {error.strerror}") from error
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, SEND_TIMEOUT_MS)
    return listening


def _raise_file_limit() -> int:
    """Let this process open a file for each connection; return the number of connections that there may be."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_CONNECTIONS + _SPARE_FILES
    if soft < wanted:
        with suppress(OSError, ValueError):  # the service's sandbox sets the limit itself
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(64, min(MAX_CONNECTIONS, soft - _SPARE_FILES))


def _load_ssl_context(certificate: Path, key: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    try:
        context.load_cert_chain(certificate, key)
    except OSError as error:  # ssl.SSLError is one
        raise CertificateError(
            f"no https: {certificate} and {key} are no certificate with its key that can be read ({error.strerror})"
        ) from error
    return context
