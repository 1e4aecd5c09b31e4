"""Addresses of network cameras: how they are recognised, and how they are displayed without passwords."""

from __future__ import annotations

import re

_ADDRESS = re.compile(r"(https?|rtsps?)://.+", re.IGNORECASE)
_HOST = re.compile(r"([^:@]*|\[[0-9A-Fa-f:.%]+\])(:\d+)?")
"""Pattern of a host name or address with an optional port."""


def is_network_address(source: str) -> bool:
    """Return True if `source`, a value of the setting `camera.source`, is the address of a network camera."""
    return _ADDRESS.fullmatch(source) is not None


def hide_credentials(source: str) -> str:
    """Return the source of a camera for messages, without user name, password and query, which may contain a password.

    >>> hide_credentials("rtsp://anna:secret@camera.local:554/live?key=1")
    'rtsp://camera.local:554/live'
    >>> hide_credentials("usb:0")
    'usb:0'

    If a password contains a slash, it cannot be told from the path, so only the scheme is returned:

    >>> hide_credentials("rtsp://anna:se/cret@camera.local/live")
    'rtsp://...'
    """
    if "://" not in source:
        return source
    scheme, _, rest = source.partition("://")
    authority, slash, path = rest.partition("/")
    host = authority.rpartition("@")[2].partition("?")[0]
    path = path.partition("?")[0].partition("#")[0]
    if "@" in path or not _HOST.fullmatch(host):
        return f"{scheme}://..."
    return f"{scheme}://{host}{slash}{path}"
