"""Start of the web server for `tilekeeper run`, over http and https, with messages about its addresses."""

from __future__ import annotations

import logging
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from device.cli import UserError
from device.system.periodic import PeriodicTask

if TYPE_CHECKING:
    from flask import Flask

    from device.settings import PageSettings
    from device.system.wifi import Hotspot
    from web.security.certificate import OwnCertificate
    from web.security.pairing import Pairing
    from web.security.server import PageServer, TlsSettings

_log = logging.getLogger(__name__)

_ALL_ADDRESSES = ("0.0.0.0", "::")
"""Values of `page.host` that mean all addresses of the machine; browsers cannot open them as an address."""

CERTIFICATE_CHECK_INTERVAL_S = 60.0
"""Seconds between two checks of the table's own certificate, because the address of the machine may change."""


def check_page_address(page: PageSettings) -> None:
    """Raise `PortInUseError` or `OSError` if the page cannot have its address and port."""
    from web.security.server import create_listening_socket

    create_listening_socket(page.host, page.port).close()


@contextmanager
def open_page(
    app: Flask,
    page: PageSettings,
    report: Callable[[str], None],
    folder: Path,
    hotspot: Hotspot | None = None,
    open_link: Callable[[str], object] = lambda _: None,
    *,
    secure: bool = True,
) -> Iterator[tuple[PageServer, str]]:
    """Serve the page during the `with` block, also over https if `secure`; report its addresses and the pairing code.

    `open_link` is called with the link for this machine's browser. If the settings have no certificate, the table makes
    its own, which is stored in `folder` and is also valid for the address of `hotspot`. Yields the server and a
    sentence with the URLs. Raises `UserError`, `PortInUseError`, `CertificateError`.
    """
    from web.security.certificate import FILE_NAME, OwnCertificate
    from web.security.hosts import make_secure_address
    from web.security.server import PageServer

    own = None
    if secure and not page.certificate:
        own = OwnCertificate(folder / FILE_NAME, lambda: find_certificate_names(page, hotspot))
    tls = _make_tls_settings(page, own) if secure else None
    with PageServer(app, page.port, page.host, tls=tls) as server:
        urls = plain = find_page_addresses(page.host, server.port)
        if server.secure_port is not None:
            encrypted = [make_secure_address(url, server.secure_port) for url in plain]
            urls = [*plain, *(encrypted[-1:] if own else encrypted)]
        up = f"The page is up: {' or '.join(urls)}"
        report(up)
        open_link(announce_pairing(plain, app.extensions["pairing"], report))
        with _keep_renewing(own, server) if own and server.secure_port is not None else nullcontext():
            yield server, up


def _make_tls_settings(page: PageSettings, own: OwnCertificate | None) -> TlsSettings:
    """Return the TLS settings, with the certificate in the settings or else the table's own.

    Raises `OSError` if the table's own certificate cannot be written, and `UserError` if the page itself has the port
    of https.
    """
    from web.security.server import TlsSettings

    if page.certificate and page.key:
        return TlsSettings(page.certificate, page.key, page.secure_port)
    assert own is not None
    if page.port == page.secure_port:
        raise UserError(f"No https: the page itself uses port {page.port}. Choose another port with page.secure_port.")
    own.renew()
    return TlsSettings(own.path, own.path, page.secure_port)


@contextmanager
def _keep_renewing(own: OwnCertificate, server: PageServer) -> Iterator[None]:
    """Keep the table's own certificate valid during a `with` block.

    It is renewed before it expires, and when the table has new names or addresses.
    """

    def renew() -> float:
        try:
            if own.renew():
                server.reload_certificate()
        except OSError as error:
            _log.warning("the certificate cannot be written: %s", error)
        return CERTIFICATE_CHECK_INTERVAL_S

    task = PeriodicTask("https", renew)
    try:
        yield
    finally:
        task.close()


def find_certificate_names(page: PageSettings, hotspot: Hotspot | None) -> list[str]:
    """Return the names and addresses of the page, which the table's own certificate must contain."""
    from web.security.hosts import find_local_names

    is_one = page.host and page.host not in _ALL_ADDRESSES
    addresses = [page.host] if is_one else ["localhost", "127.0.0.1", *filter(None, [_find_own_address()])]
    return [*addresses, *sorted(find_local_names()), *page.names, *([hotspot.address] if hotspot else [])]


def announce_pairing(addresses: Sequence[str], pairing: Pairing, report: Callable[[str], None]) -> str:
    """Report the link for this machine's browser and the pairing code for phones. On a terminal, also show a QR code.

    `addresses` are the URLs of the page; the last URL is the best for phones. Return the link.
    """
    from web.host_info import is_local_address
    from web.invitation import render_qr_blocks
    from web.pages.pairing import ENTER_PATH
    from web.security.csrf import PAIR_PATH

    link = f"{addresses[0]}{ENTER_PATH}/{pairing.make_one_time_token()}"
    report(f"In a browser on this machine, open this once: {link}")
    if sys.stdout.isatty() and not is_local_address(addresses[-1]):
        report(render_qr_blocks(f"{addresses[-1]}{PAIR_PATH}/{pairing.secret}"))
        report(f"To pair a phone, scan this, or type this code there: {pairing.code}")
    else:
        report(f"To pair a phone, type this code there: {pairing.code}")
    return link


def announce_wifi(hotspot: Hotspot, report: Callable[[str], None]) -> None:
    """Report the name and password of the hotspot. On a terminal, also show a QR code if the hotspot is active."""
    from web.invitation import render_qr_blocks

    if sys.stdout.isatty() and hotspot.is_active():
        report(render_qr_blocks(hotspot.qr_text))
    report(f"If no known Wi-Fi is in range, join {hotspot.name} with the password {hotspot.password}.")


def find_page_addresses(host: str, port: int) -> list[str]:
    """Return the URLs of the page; the last one is the best for phones.

    The last URL has a numeric address if possible, because some phones cannot resolve the host name.
    """
    if host and host not in _ALL_ADDRESSES:
        return [f"http://{f'[{host}]' if ':' in host else host}:{port}"]
    address = _find_own_address()
    names = ["localhost", f"{socket.gethostname()}.local", *([address] if address else [])]
    return [f"http://{name}:{port}" for name in names]


def _find_own_address() -> str | None:
    """Return the IPv4 address of this machine in its network, or None without a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing, but selects the local address (RFC 5737)
        except OSError:
            return None
        return str(probe.getsockname()[0])
