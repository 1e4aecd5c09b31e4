"""A listening socket with limits on the connections that it accepts, of each device and of all.

Connections are counted when they are accepted, so also during a TLS handshake, for which a client may take a minute.
"""

from __future__ import annotations

import ipaddress
import socket
from collections import Counter
from typing import Any

from engine.limits import MAX_CONNECTIONS_PER_ADDRESS

THIS_MACHINE = ("127.0.0.1", "::1", "::ffff:127.0.0.1")
"""Loopback addresses, used by browsers on this machine and by all clients of a proxy on this machine."""


def make_client_key(address: str) -> str:
    """Return the key of a device for limits per device: the IPv4 address, or the IPv6 /64 network (RFC 4291, 2.5.4).

    >>> make_client_key("2001:db8::1:2")
    '2001:db8::/64'
    """
    try:
        ip_address = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address[:64]
    if isinstance(ip_address, ipaddress.IPv4Address):
        return str(ip_address)
    if ip_address.ipv4_mapped:
        return str(ip_address.ipv4_mapped)
    if ip_address.is_link_local:
        return str(ip_address)
    return str(ipaddress.ip_network((ip_address, 64), strict=False))


def is_this_machine(address: str) -> bool:
    """Return True for a loopback address.

    A loopback address does not identify a device, because a proxy on this machine may forward many devices.
    """
    return address in THIS_MACHINE or address == "::/64"


class LimitedListener(socket.socket):
    """A listening socket that closes new connections beyond the limits, of one device and of all devices together.

    It takes the place of the socket `listening`, which is detached. `counts` has the number of connections of each
    device, and `limit` is the largest number of all devices; several listeners may share them. Use it only in the event
    loop of the server.
    """

    def __init__(self, listening: socket.socket, counts: Counter[str], limit: int) -> None:
        super().__init__(fileno=listening.detach())
        self._counts = counts
        self._limit = limit

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection. Raises `ConnectionAbortedError`, which asyncio ignores, if a limit is reached."""
        connection, address = super().accept()
        key = make_client_key(address[0])
        is_device_full = self._counts[key] >= MAX_CONNECTIONS_PER_ADDRESS and not is_this_machine(key)
        if is_device_full or self._counts.total() >= self._limit:
            connection.close()
            raise ConnectionAbortedError("too many connections")
        self._counts[key] += 1
        return _CountedConnection(connection, self._counts, key), address


class _CountedConnection(socket.socket):
    """A connection that is counted until it is closed; it takes the place of the socket `connection`."""

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
