"""TLS proxy that serves the page over https, which browsers require to keep the screen on or to install an app.

Waitress has no TLS. One thread with an event loop terminates TLS and forwards the bytes to the page's own port. The
proxy passes the client's address to the application, so that wrong codes are counted by device.
"""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from engine.errors import TilekeeperError
from web.security.server import PageServer, create_listening_socket

CHUNK_BYTES = 64 * 1024
HANDSHAKE_TIMEOUT_S = 10.0
MAX_CONNECTIONS = 256

WsgiApp = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class TlsProxyError(TilekeeperError):
    """An unusable certificate or key; the message gives the remedy on one line."""


class ClientAddresses:
    """Addresses of the proxy's clients, by the local address of the proxy's connection to the page."""

    def __init__(self) -> None:
        self._addresses: dict[tuple[str, str], str] = {}

    def wrap_app(self, page: WsgiApp) -> WsgiApp:
        """Return the application with the client's own address and the scheme `https` in its environment."""

        def tell(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
            came = str(environ.get("REMOTE_ADDR")), str(environ.get("REMOTE_PORT"))
            if (address := self._addresses.get(came)) is not None:
                environ["REMOTE_ADDR"], environ["wsgi.url_scheme"] = address, "https"
            return page(environ, start)

        return tell

    def add_client(self, asking: tuple[str, int], address: str) -> None:
        """Record that the proxy's connection from `asking` belongs to the client at `address`."""
        for own in (asking[0], f"::ffff:{asking[0]}"):  # as a socket of both protocols sees it
            self._addresses[own, str(asking[1])] = address

    def remove_client(self, asking: tuple[str, int]) -> None:
        """Forget a connection of the proxy."""
        for own in (asking[0], f"::ffff:{asking[0]}"):
            self._addresses.pop((own, str(asking[1])), None)


class TlsProxy:
    """https server at a port of its own, in a thread named `https`. It starts when `with` is entered."""

    def __init__(
        self, server: PageServer, visitors: ClientAddresses, certificate: Path, key: Path, port: int, host: str = ""
    ) -> None:
        """Bind the port. Raises `TlsProxyError`, `PortInUseError`, `OSError`."""
        self._page_address = host or "127.0.0.1", server.port
        self._client_addresses = visitors
        self._ssl_context = _load_ssl_context(certificate, key)
        self._socket = create_listening_socket(host, port)
        self.port: int = self._socket.getsockname()[1]
        self._loop = asyncio.new_event_loop()
        self._closing = asyncio.Event()
        self._connections: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._run, name="https", daemon=True)

    def __enter__(self) -> TlsProxy:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all connections and wait for the thread."""
        with suppress(RuntimeError):  # it never opened, or is closed already
            self._loop.call_soon_threadsafe(self._closing.set)
        if self._thread.is_alive():
            self._thread.join()
        self._socket.close()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        server = await asyncio.start_server(
            self._handle_connection,
            sock=self._socket,
            ssl=self._ssl_context,
            ssl_handshake_timeout=HANDSHAKE_TIMEOUT_S,
            limit=CHUNK_BYTES,
        )
        await self._closing.wait()
        server.close()
        for task in tuple(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _handle_connection(self, visitor: asyncio.StreamReader, to_visitor: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        if len(self._connections) >= MAX_CONNECTIONS:
            to_visitor.close()
            return
        self._connections.add(task)
        try:
            page, to_page = await asyncio.open_connection(*self._page_address, limit=CHUNK_BYTES)
            asking = to_page.get_extra_info("sockname")[:2]
            self._client_addresses.add_client(asking, str(to_visitor.get_extra_info("peername")[0]))
            try:
                await _run_until_either_ends(_copy_stream(visitor, to_page), _copy_stream(page, to_visitor))
            finally:
                self._client_addresses.remove_client(asking)
                to_page.close()
        except (OSError, asyncio.CancelledError):
            pass  # phones come and go, and the page may be closing
        finally:
            self._connections.discard(task)
            to_visitor.close()


async def _run_until_either_ends(one: Any, other: Any) -> None:
    """Run two coroutines until one of them ends, then cancel the other: both directions are needed."""
    tasks = [asyncio.ensure_future(one), asyncio.ensure_future(other)]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _copy_stream(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while data := await source.read(CHUNK_BYTES):
        target.write(data)
        await target.drain()  # a slow phone makes the page wait, not the memory grow


def _load_ssl_context(certificate: Path, key: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    try:
        context.load_cert_chain(certificate, key)
    except OSError as error:  # ssl.SSLError is one
        raise TlsProxyError(
            f"no https: {certificate} and {key} are no certificate with its key that can be read ({error.strerror})"
        ) from error
    return context
