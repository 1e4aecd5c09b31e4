"""The page as a command serves it: over http, over https where there is a certificate, and how people find it."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from device.cli import UserError

if TYPE_CHECKING:
    from flask import Flask

    from device.settings import PageSettings
    from web.security.server import PageServer


_LOCAL_ADDRESS = re.compile(r"https?://(localhost|127\.|\[::1\])")
"""Addresses that no phone can reach."""


@contextmanager
def open_page(
    app: Flask, page: PageSettings, addresses: Callable[[str, int], Sequence[str]], report: Callable[[str], None]
) -> Iterator[tuple[PageServer, str]]:
    """Serve the page and say where it is and how phones are paired, as text and QR code. Raises `UserError`.

    `addresses` gives the addresses of a host and port, the best one for phones last. Yields the server, and where the
    page is, in a sentence.
    """
    from web.security.server import PageServer, PortInUseError
    from web.security.tls_proxy import ClientAddresses, TlsProxy, TlsProxyError

    visitors, port = ClientAddresses(), page.port
    app.wsgi_app = visitors.wrap_app(app.wsgi_app)  # type: ignore[method-assign, assignment]
    try:
        with ExitStack() as stack:
            server = stack.enter_context(PageServer(app, port, page.host))
            found = list(addresses(page.host, server.port))
            if page.certificate and page.key:
                port = page.secure_port
                door = TlsProxy(server, visitors, page.certificate, page.key, port, page.host)
                stack.enter_context(door)
                found += [one.replace("http:", "https:", 1) for one in addresses(page.host, door.port)]
            up = f"The page is up: {' or '.join(found)}"
            report(up)
            announce_pairing(addresses(page.host, server.port)[-1], app.extensions["pairing"].code, report)
            yield server, up
    except PortInUseError:
        option = "--port" if port == page.port else "page.secure_port in the settings"
        raise UserError(f"port {port} is in use: choose another with {option}") from None
    except TlsProxyError as error:
        raise UserError(str(error)) from None


def announce_pairing(address: str, code: str, report: Callable[[str], None]) -> None:
    """Say how phones are paired on the page at this address; as a QR code too, on a terminal but not in a log."""
    from web.qr import render_qr_blocks

    if sys.stdout.isatty() and not _LOCAL_ADDRESS.match(address):
        report(render_qr_blocks(f"{address}/pair?code={code}"))
        report(f"To pair a phone, scan this, or type this code there: {code}")
    else:
        report(f"To pair a phone, type this code there: {code}")
