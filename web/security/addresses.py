"""Addresses of clients: which of them count as one device."""

from __future__ import annotations

import ipaddress

THIS_MACHINE = ("127.0.0.1", "::1", "::ffff:127.0.0.1")
"""Addresses of a browser on the machine itself, and of all clients of a proxy there."""


def make_client_key(address: str) -> str:
    """Return the key under which a device is counted: its address, or the /64 network in IPv6 (RFC 4291, 2.5.4).

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
    """Return True for the loopback address, which a proxy may share with many devices: it proves nothing."""
    return address in THIS_MACHINE or address == "::/64"
