"""The table session: joins camera, reader, engine and store, and tells everybody what came of it."""

from __future__ import annotations


class Refused(Exception):
    """A command that makes no sense now; the message says why, on one line, to whoever gave it."""
