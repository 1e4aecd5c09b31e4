"""HTTP and HTTPS server of the Flask application.

One thread with an event loop (uvicorn) accepts connections, reads requests, and sends responses and event streams, over
http and https. (Browsers require https to keep the screen on or to install an app.) Worker threads handle only complete
requests, and never wait for a client to receive a response. So open pages, idle connections and slow clients do not
block other clients.
"""

from __future__ import annotations

import asyncio
import errno
import resource
import socket
import ssl
import threading
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import uvicorn
from a2wsgi import WSGIMiddleware
from flask import Flask

from engine.errors import TilekeeperError
from engine.limits import IDLE_TIMEOUT_S, MAX_CONNECTIONS, MAX_PORT
from web.security.limits import ImpatientProtocol, read_bodies
from web.security.listener import LimitedListener
from web.streams import AsgiApp, deliver_rests

THREADS = 24
"""Number of worker threads.

A request for a page occupies a thread for milliseconds. A command occupies a thread until the board is read.

The session has about a dozen threads. So the program has at most 40 threads, however many pages are open.
"""
SEND_TIMEOUT_MS = 10_000
"""Time without a TCP acknowledgement after which a connection is closed, in milliseconds (RFC 5482, TCP_USER_TIMEOUT).
"""
CLOSE_TIMEOUT_S = 2.0
"""Time to wait for requests in progress when the server is closed, in seconds."""
_SPARE_FILES = 256
"""Number of file descriptors reserved for other uses than connections: store, camera, pins, libraries."""


class PortInUseError(TilekeeperError, OSError):
    """Error if a TCP port of the page is in use by another program; `setting` names what chooses the port."""

    def __init__(self, port: int, setting: str) -> None:
        super().__init__(f"Port {port} is in use. Choose another port with {setting}.")


class CertificateError(TilekeeperError):
    """Error for an unusable TLS certificate or key. The message has one line and names the files."""


@dataclass(frozen=True, slots=True)
class TlsSettings:
    """Certificate, key and port for https. Certificate and key may be in one file."""

    certificate: Path
    key: Path
    port: int


class PageServer:
    """Context manager that runs the server of the Flask application in a thread named `page`."""

    def __init__(
        self,
        app: Flask,
        port: int,
        host: str = "",
        *,
        threads: int = THREADS,
        tls: TlsSettings | None = None,
    ) -> None:
        """Bind the ports; an empty `host` means all network interfaces.

        Raises `PortInUseError`, `CertificateError`, `OSError`.
        """
        self.app = app
        self._live = app.extensions["live"]
        self._tls = tls
        self._context = _load_ssl_context(tls.certificate, tls.key) if tls else None
        self.connections = Counter[str]()
        limit = _raise_file_limit()
        self._socket = LimitedListener(create_listening_socket(host, port), self.connections, limit)
        self.port: int = self._socket.getsockname()[1]
        self._secure_socket: LimitedListener | None = None
        if tls:
            try:
                listening = create_listening_socket(host, tls.port, "page.secure_port in the settings")
                self._secure_socket = LimitedListener(listening, self.connections, limit)
            except OSError:
                self._socket.close()
                raise
        self.secure_port: int | None = self._secure_socket.getsockname()[1] if self._secure_socket else None
        self._workers = WSGIMiddleware(
            app,  # type: ignore[arg-type]
            workers=threads,
            send_queue_size=0,  # unlimited: a worker never waits for a client
        )
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_closing = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="page", daemon=True)
        self._is_started = threading.Event()

    def __enter__(self) -> PageServer:
        self._thread.start()
        self._is_started.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def reload_certificate(self) -> None:
        """For new connections, use the certificate and key that are now in the files. Thread-safe."""
        if self._loop is not None and self._tls is not None and self._context is not None:
            with suppress(RuntimeError):  # the loop is closed: the server has stopped already
                self._loop.call_soon_threadsafe(self._context.load_cert_chain, self._tls.certificate, self._tls.key)

    def close(self) -> None:
        """End the event streams, stop the server, and wait for the server thread."""
        self._live.close()
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop is closed: the server has stopped already
                self._loop.call_soon_threadsafe(self._is_closing.set)
            self._thread.join()
        for listening in filter(None, (self._socket, self._secure_socket)):
            listening.close()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        finally:
            self._is_started.set()

    async def _serve(self) -> None:
        """Run the servers until `close` is called; close remaining connections after `CLOSE_TIMEOUT_S`."""
        self._loop = asyncio.get_running_loop()
        self._live.streams.run_in(self._loop)
        app = deliver_rests(read_bodies(cast(AsgiApp, self._workers)))
        listeners = [(self._socket, None), (self._secure_socket, self._context)]
        used = [(listening, context) for listening, context in listeners if listening is not None]
        servers = [uvicorn.Server(self._make_config(app, context)) for _, context in used]
        serving = [
            asyncio.create_task(server.serve([listening])) for server, (listening, _) in zip(servers, used, strict=True)
        ]
        self._is_started.set()
        closing = asyncio.create_task(self._is_closing.wait())
        await asyncio.wait([closing, *serving], return_when=asyncio.FIRST_COMPLETED)
        for server in servers:
            server.should_exit = True
        await asyncio.wait(serving, timeout=CLOSE_TIMEOUT_S)
        for server in servers:
            server.force_exit = True  # do not wait for a connection that is never lost
            for connection in tuple(server.server_state.connections):
                connection.transport.abort()
        _, hanging = await asyncio.wait(serving, timeout=CLOSE_TIMEOUT_S)
        for task in hanging:
            task.cancel()
        closing.cancel()
        await self._loop.run_in_executor(None, self._workers.executor.shutdown)

    def _make_config(self, app: object, context: ssl.SSLContext | None) -> uvicorn.Config:
        config = uvicorn.Config(
            app,  # type: ignore[arg-type]
            http=ImpatientProtocol,
            interface="asgi3",
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="error",  # invalid requests of clients are not logged
            access_log=False,
            proxy_headers=False,  # a client can send any address in a header
            server_header=False,
            timeout_keep_alive=round(IDLE_TIMEOUT_S),
        )
        config.load()
        config.ssl = context
        return config


def create_listening_socket(host: str, port: int, setting: str = "--port") -> socket.socket:
    """Return a listening socket whose connections time out after `SEND_TIMEOUT_MS`.

    `setting` names what chooses the port, for the message of the error.

    Raises `PortInUseError`, `OSError`.
    """
    if not 0 <= port <= MAX_PORT:
        raise OSError(errno.EINVAL, f"no port {port}: choose one from 1 to {MAX_PORT}")
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
            raise PortInUseError(port, setting) from error
        reason = str(error.strerror).partition(" (while")[0]  # Python adds the address to the reason of the system
        what = f"There can be no page at {host or 'all addresses'}, port {port} ({reason})."
        raise OSError(error.errno, f"{what} Choose another address or port.") from error
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, SEND_TIMEOUT_MS)
    return listening


def _raise_file_limit() -> int:
    """Raise the process's limit of open files, and return the number of connections that the limit allows.

    If the limit stays so low that nothing is left beside the reserved files, connections may use a quarter of it.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < MAX_CONNECTIONS + _SPARE_FILES:
        with suppress(OSError, ValueError):  # in a sandboxed service the limit cannot be changed
            soft = min(MAX_CONNECTIONS + _SPARE_FILES, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return min(MAX_CONNECTIONS, max(soft // 4, soft - _SPARE_FILES))


def _load_ssl_context(certificate: Path, key: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    try:
        context.load_cert_chain(certificate, key)
    except OSError as error:  # ssl.SSLError is a subclass of OSError
        raise CertificateError(
            f"no https: {certificate} and {key} are no certificate with its key that can be read ({error.strerror})"
        ) from error
    return context
