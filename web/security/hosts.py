"""Protection against DNS rebinding: only requests with a known host name are accepted.

In this attack, the DNS name of another site points to this machine, so that a browser treats this server as part of the
other site. The `Host` header of such a request contains the name of the other site.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

from flask import Flask, Response, request

from engine.limits import MAX_HOST_CHARS
from web.host_info import HostInfo
from web.i18n import texts
from web.responses import refuse

RESOLVER_FILE = Path("/etc/resolv.conf")


def accept_host(host: str, configured: Iterable[str] = (), resolver_file: Path = RESOLVER_FILE) -> bool:
    """Return True if a `Host` header contains a name of this machine or any IP address.

    IP addresses are safe, because DNS rebinding requires a host name. `configured` are additional host names, for
    example of a proxy.

    >>> accept_host("192.168.1.7:8080"), accept_host("[::1]"), accept_host("evil.example")
    (True, True, False)
    """
    name = _read_name(host)
    if not name or len(host) > MAX_HOST_CHARS:
        return False
    if _is_address(name) or name == "localhost" or name.endswith(".localhost"):
        return True
    return name in {one.lower().rstrip(".") for one in configured} or name in find_local_names(resolver_file)


def find_local_names(resolver_file: Path = RESOLVER_FILE) -> frozenset[str]:
    """Return the host name of this machine in several forms: alone, with `.local` (mDNS), and with each local domain.

    The domains are those in `resolver_file`.
    """
    own = socket.gethostname().lower().rstrip(".")
    short = own.partition(".")[0]
    domains = {"local", *_read_domains(resolver_file)}
    return frozenset({own, short, *(f"{short}.{domain}" for domain in domains)})


def register_host_check(app: Flask, host_info: HostInfo) -> None:
    """Refuse requests with a wrong `Host` header (421); the response contains the correct address."""

    def check_host() -> Response | None:
        if accept_host(request.headers.get("Host") or "localhost", host_info.names):
            return None
        address = _find_best_address(host_info) or _make_server_address()
        return refuse(texts()("wrong.host", address=address), 421)

    app.before_request(check_host)


def _find_best_address(host_info: HostInfo) -> str | None:
    """Return the best address for phones: an https address if the request came over https."""
    address, port = next(reversed(host_info.addresses()), None), host_info.find_secure_port()
    return make_secure_address(address, port) if address and port and request.is_secure else address


def make_secure_address(address: str, port: int) -> str:
    """Return the https address of the page, given its http address and the port of https.

    >>> make_secure_address("http://[fe80::1]:8080", 8443), make_secure_address("http://table.local", 8443)
    ('https://[fe80::1]:8443', 'https://table.local:8443')
    """
    host = re.sub(r":\d*$", "", address.partition("//")[2])
    return f"https://{host}:{port}"


def _make_server_address() -> str:
    """Return the URL of the server with the IP address to which the request was sent."""
    name = request.environ.get("SERVER_NAME", "localhost").removeprefix("::ffff:")
    return f"{request.scheme}://{f'[{name}]' if ':' in name else name}:{request.environ.get('SERVER_PORT', '80')}"


def _read_name(host: str) -> str:
    """Return the name or address in a `Host` header, or an empty text if the header is invalid (RFC 9110, 7.2)."""
    try:
        parts = urlsplit(f"//{host}")
        name, _ = parts.hostname, parts.port  # a wrong port is a `ValueError`, too
    except ValueError:
        return ""
    return (name or "").removesuffix(".")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return True


def _read_domains(resolver_file: Path) -> set[str]:
    """Return the local domains in a file such as `/etc/resolv.conf` (options `domain` and `search`)."""
    try:
        lines = resolver_file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return set()
    found = (line.split()[1:] for line in lines if line.split()[:1] in (["search"], ["domain"]))
    return {domain.lower().strip(".") for domains in found for domain in domains if domain.strip(".")}
