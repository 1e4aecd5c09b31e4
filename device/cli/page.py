"""The web server of `tilekeeper run`, with http, optional https, and the messages about its addresses."""

from __future__ import annotations

import re
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from device.cli import UserError

if TYPE_CHECKING:
    from flask import Flask

    from device.settings import PageSettings
    from device.system.hotspot import Hotspot
    from web.security.pairing import Pairing
    from web.security.server import PageServer


_LOCAL_ADDRESS = re.compile(r"https?://(localhost|127\.|\[::1\])")
"""Pattern of URLs that phones cannot reach."""


@contextmanager
def open_page(app: Flask, page: PageSettings, report: Callable[[str], None]) -> Iterator[tuple[PageServer, str]]:
    """Serve the page during the `with` block, and report its addresses and the pairing code. Raises `UserError`.

    Yield the server and a sentence with the URLs.
    """
    from web.security.server import CertificateError, PageServer, PortInUseError, TlsSettings

    tls = TlsSettings(page.certificate, page.key, page.secure_port) if page.certificate and page.key else None
    try:
        with PageServer(app, page.port, page.host, tls=tls) as server:
            urls = find_page_addresses(page.host, server.port)
            if server.secure_port is not None:
                urls += [
                    url.replace("http:", "https:", 1) for url in find_page_addresses(page.host, server.secure_port)
                ]
            up = f"The page is up: {' or '.join(urls)}"
            report(up)
            plain = find_page_addresses(page.host, server.port)
            announce_pairing(plain, app.extensions["pairing"], report)
            yield server, up
    except PortInUseError as error:
        option = "--port" if error.port == page.port else "page.secure_port in the settings"
        raise UserError(f"port {error.port} is in use: choose another with {option}") from None
    except CertificateError as error:
        raise UserError(str(error)) from None


def announce_pairing(addresses: Sequence[str], pairing: Pairing, report: Callable[[str], None]) -> None:
    """Report the link for this machine's browser and the pairing code for phones; on a terminal also a QR code.

    `addresses` are the URLs of the page; the last URL is the best for phones.
    """
    from web.pages.pairing import ENTER_PATH
    from web.qr import render_qr_blocks
    from web.security.csrf import PAIR_PATH

    report(f"In a browser on this machine, open this once: {addresses[0]}{ENTER_PATH}/{pairing.make_one_time_token()}")
    if sys.stdout.isatty() and not _LOCAL_ADDRESS.match(addresses[-1]):
        report(render_qr_blocks(f"{addresses[-1]}{PAIR_PATH}/{pairing.secret}"))
        report(f"To pair a phone, scan this, or type this code there: {pairing.code}")
    else:
        report(f"To pair a phone, type this code there: {pairing.code}")


def announce_wifi(hotspot: Hotspot, report: Callable[[str], None]) -> None:
    """Report the name and password of the hotspot; on a terminal also a QR code, if the hotspot is active."""
    from web.qr import render_qr_blocks

    if sys.stdout.isatty() and hotspot.is_active():
        report(render_qr_blocks(hotspot.qr_text))
    report(f"Without a known Wi-Fi: join {hotspot.name}, password {hotspot.password}.")


def find_page_addresses(host: str, port: int) -> list[str]:
    """Return the URLs of the page; the last URL is the best for phones.

    This is the URL with a numeric address, because some phones cannot resolve the host name.
    """
    if host:
        return [f"http://{host}:{port}"]
    found = [f"http://localhost:{port}", f"http://{socket.gethostname()}.local:{port}"]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing, but selects the local address (RFC 5737)
            found.append(f"http://{probe.getsockname()[0]}:{port}")
        except OSError:
            return found
    return found
