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


_LOCAL = re.compile(r"https?://(localhost|127\.|\[::1\])")
"""Addresses that no phone can reach."""


@contextmanager
def open_page(
    app: Flask, page: PageSettings, addresses: Callable[[str, int], Sequence[str]], say: Callable[[str], None]
) -> Iterator[tuple[PageServer, str]]:
    """Serve the page and say where it is and how phones are paired, as text and QR code. Raises `UserError`.

    `addresses` gives the addresses of a host and port, the best one for phones last. Yields the server, and where the
    page is, in a sentence.
    """
    from web.security.server import PageServer, PortInUse
    from web.security.tls_proxy import DoorError, SecureDoor, Visitors

    visitors, port = Visitors(), page.port
    app.wsgi_app = visitors.seen_by(app.wsgi_app)  # type: ignore[method-assign, assignment]
    try:
        with ExitStack() as stack:
            server = stack.enter_context(PageServer(app, port, page.host))
            found = list(addresses(page.host, server.port))
            if page.certificate and page.key:
                port = page.secure_port
                door = SecureDoor(server, visitors, page.certificate, page.key, port, page.host)
                stack.enter_context(door)
                found += [one.replace("http:", "https:", 1) for one in addresses(page.host, door.port)]
            up = f"The page is up: {' or '.join(found)}"
            say(up)
            invite_phones(addresses(page.host, server.port)[-1], app.extensions["pairing"].code, say)
            yield server, up
    except PortInUse:
        option = "--port" if port == page.port else "page.secure_port in the settings"
        raise UserError(f"port {port} is in use: choose another with {option}") from None
    except DoorError as error:
        raise UserError(str(error)) from None


def invite_phones(address: str, code: str, say: Callable[[str], None]) -> None:
    """Say how phones are paired on the page at this address; as a QR code too, on a terminal but not in a log."""
    from web.qr import qr_text

    if sys.stdout.isatty() and not _LOCAL.match(address):
        say(qr_text(f"{address}/pair?code={code}"))
        say(f"To pair a phone, scan this, or type this code there: {code}")
    else:
        say(f"To pair a phone, type this code there: {code}")
