"""Group the addresses of clients by device, for limits that apply to each device."""

from __future__ import annotations

import ipaddress

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
