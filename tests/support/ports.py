"""A free port for a server of a test."""

from __future__ import annotations

import socket


def find_free_port() -> int:
    """Return a port that is free on all addresses of this machine."""
    with socket.socket() as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])
