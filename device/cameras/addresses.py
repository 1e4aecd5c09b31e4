"""Addresses of network cameras: how they are recognised, and how they are displayed without passwords."""

from __future__ import annotations

NETWORK_SCHEMES = ("http://", "https://", "rtsp://", "rtsps://")


def is_network_address(source: str) -> bool:
    """Return True if `source`, a value of the setting `camera.source`, is the address of a network camera."""
    return source.lower().startswith(NETWORK_SCHEMES)


def hide_credentials(source: str) -> str:
    """Return the source of a camera for messages, without user name, password and query, which may contain a password.

    >>> hide_credentials("rtsp://anna:secret@camera.local:554/live?key=1")
    'rtsp://camera.local:554/live'
    >>> hide_credentials("usb:0")
    'usb:0'
    """
    if "://" not in source:
        return source
    scheme, _, rest = source.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2].partition('?')[0]}{slash}{path.partition('?')[0].partition('#')[0]}"
