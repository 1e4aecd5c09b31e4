"""HTTP and HTTPS server of the Flask application.

One thread with an event loop (uvicorn) accepts connections, reads requests, and sends responses and event streams, over
http and https. (Browsers require https to keep the screen on or to install an app.) Worker threads handle only complete
requests, and never wait for a client to receive a response. So open pages, idle connections and slow clients do not
block other clients.

A connection without a complete request is closed after a time (`ImpatientProtocol`). A small body is read completely
before a worker thread starts. A large body (an imported game) is read only after the application has checked that the
client is paired, and few are read at the same time (`read_bodies`). Connections are counted when they are accepted, so
also during a TLS handshake, for which a client may take a minute (`LimitedListener`).
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
from typing import Any, cast

import uvicorn
from a2wsgi import WSGIMiddleware
from flask import Flask
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from engine.errors import TilekeeperError
from engine.limits import (
    BODY_TIMEOUT_S,
    IDLE_TIMEOUT_S,
    MAX_BODY_BYTES,
    MAX_CONNECTIONS,
    MAX_CONNECTIONS_PER_ADDRESS,
    MAX_LARGE_BODIES,
    MAX_PORT,
    MIN_BODY_RATE,
)
from web.security.csrf import MAX_BODY_BYTES_BY_PATH
from web.security.pairing import make_client_key
from web.streams import AsgiApp, Message, Receive, Scope, Send, deliver_rests

THIS_MACHINE = ("127.0.0.1", "::/64")
"""Keys (`make_client_key`) of the loopback addresses. All devices whose requests a proxy on this machine forwards have
one of these addresses, so the limit for one device does not apply to them."""


class LimitedListener(socket.socket):
    """A listening socket that closes new connections beyond the limits, of one device and of all devices together.

    The listener takes over the socket `listening`, which must not be used afterwards. `counts` has the number of
    connections of each device, and `limit` is the largest number of connections of all devices together. Several
    listeners may share one `counts`. Use a listener only in the event loop of the server.
    """

    def __init__(self, listening: socket.socket, counts: Counter[str], limit: int) -> None:
        super().__init__(fileno=listening.detach())
        self._counts = counts
        self._limit = limit

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection. Raises `ConnectionAbortedError`, which asyncio ignores, if a limit is reached."""
        connection, address = super().accept()
        key = make_client_key(address[0])
        is_device_full = self._counts[key] >= MAX_CONNECTIONS_PER_ADDRESS and key not in THIS_MACHINE
        if is_device_full or self._counts.total() >= self._limit:
            connection.close()
            raise ConnectionAbortedError("too many connections")
        self._counts[key] += 1
        return _CountedConnection(connection, self._counts, key), address


class _CountedConnection(socket.socket):
    """A connection that is counted until it is closed; it takes over the socket `connection`."""

    def __init__(self, connection: socket.socket, counts: Counter[str], key: str) -> None:
        super().__init__(fileno=connection.detach())
        self._counts = counts
        self._key = key

    def close(self) -> None:
        """Close the connection."""
        super().close()
        if self._key:
            self._counts[self._key] -= 1
            self._counts += Counter()  # removes devices without a connection
            self._key = ""


_DISCONNECT: Message = {"type": "http.disconnect"}


class ImpatientProtocol(H11Protocol):
    """The asyncio protocol of an HTTP/1.1 connection, closed if no complete request comes for `IDLE_TIMEOUT_S`.

    The time-out of uvicorn is not enough: it begins only after the first response, and ends with the first byte of the
    next request.
    """

    _idle_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the first request (called by asyncio)."""
        super().connection_made(transport)  # type: ignore[arg-type]
        self._wait_for_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer (called by asyncio)."""
        super().connection_lost(exc)
        if self._idle_timer:
            self._idle_timer.cancel()

    def on_response_complete(self) -> None:
        """Wait for the next request (called by uvicorn)."""
        self._wait_for_request()
        super().on_response_complete()

    def shutdown(self) -> None:
        """Close the connection when the server ends (called by uvicorn), unless it is closing already.

        A TLS connection that is closed twice cannot be aborted any more (asyncio.sslproto), so it might stay open.
        """
        if not self.transport.is_closing():
            super().shutdown()

    def _wait_for_request(self) -> None:
        if self._idle_timer:
            self._idle_timer.cancel()
        self._idle_timer = self.loop.call_later(IDLE_TIMEOUT_S, self._close_if_idle, self.cycle)

    def _close_if_idle(self, last: RequestResponseCycle | None) -> None:
        """Close the connection if no request has begun since the request `last`."""
        if self.cycle is last:
            self.transport.abort()


def read_bodies(app: AsgiApp) -> AsgiApp:
    """Wrap an ASGI application so that request bodies are limited in size and in time.

    A body of at most `MAX_BODY_BYTES` is read before the application starts. A larger one, on a path that accepts
    files, is read by the application. If a body was not read completely, the connection is closed after the response.
    """
    large_bodies = asyncio.Semaphore(MAX_LARGE_BODIES)

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        declared = int(dict(scope["headers"]).get(b"content-length", b"0"))
        limit = MAX_BODY_BYTES_BY_PATH.get(scope["path"], MAX_BODY_BYTES)
        if MAX_BODY_BYTES < declared <= limit:
            async with large_bodies:
                await app(scope, _limit_time(receive, declared), _close_after(send))
            return
        parts = [] if declared > limit else await _read_small_body(receive)
        size = max(declared, sum(len(part.get("body", b"")) for part in parts))
        others = [header for header in scope["headers"] if header[0] not in (b"content-length", b"transfer-encoding")]
        scope["headers"] = [*others, (b"content-length", str(size if size <= MAX_BODY_BYTES else limit + 1).encode())]
        is_whole = bool(parts) and not parts[-1].get("more_body")

        async def receive_part() -> Message:
            return parts.pop(0) if parts else _DISCONNECT

        await app(scope, receive_part, send if is_whole else _close_after(send))

    return serve


async def _read_small_body(receive: Receive) -> list[Message]:
    """Return the ASGI messages of a body until it is complete, larger than `MAX_BODY_BYTES`, or late."""
    parts: list[Message] = []
    size = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(BODY_TIMEOUT_S):
            while size <= MAX_BODY_BYTES and (not parts or parts[-1].get("more_body")):
                parts.append(await receive())
                size += len(parts[-1].get("body", b""))
    return parts


def _limit_time(receive: Receive, size: int) -> Receive:
    """Wrap the ASGI function `receive` to return a disconnect message after `BODY_TIMEOUT_S` without data.

    The same happens if the whole body of `size` bytes takes longer than at the rate `MIN_BODY_RATE`, because other
    large bodies have to wait for it.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + BODY_TIMEOUT_S + size / MIN_BODY_RATE

    async def receive_in_time() -> Message:
        try:
            async with asyncio.timeout_at(min(end, loop.time() + BODY_TIMEOUT_S)):
                return await receive()
        except TimeoutError:
            return _DISCONNECT

    return receive_in_time


def _close_after(send: Send) -> Send:
    """Wrap the ASGI function `send` to add `Connection: close`, so that the rest of a body is not received."""

    async def send_closing(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], (b"connection", b"close")]}
        await send(message)

    return send_closing


THREADS = 24
"""Number of worker threads.

A request for a page occupies a thread for milliseconds. A command occupies a thread until the board is read.

The session has about a dozen threads. So the program has at most 40 threads, however many pages are open.
"""
SEND_TIMEOUT_MS = 10_000
"""Time without a TCP acknowledgement after which a connection is closed, in milliseconds (RFC 5482, TCP_USER_TIMEOUT).
"""
CLOSE_TIMEOUT_S = 2
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
        """Use the certificate and key that are now in the files for new connections. Thread-safe."""
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
        # The rest of a long response is sent by this event loop, so that it does not keep a worker thread busy.
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
        await asyncio.wait(serving)
        for server in servers:
            for connection in tuple(server.server_state.connections):
                connection.transport.abort()
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
            timeout_graceful_shutdown=CLOSE_TIMEOUT_S,
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
