"""Checksums that detect damage of stored games.

Each event, each game and each note has a checksum over its row, which includes the number of the game and of the event.
So a flipped bit changes the checksum of one row only. A game has the number of its events, so that a missing event is
detected. After each change, the write-ahead log is emptied, because SQLite drops the end of a damaged log without an
error.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

CHECKSUM_DIGITS = 32
"""Number of hexadecimal digits of a checksum, which is the first 128 bits of a SHA-256."""

EventRow = tuple[int, float, str]
"""An event as a row of the database: number, time (seconds since 1970) and body (JSON)."""


def compute_checksum(*parts: object) -> str:
    """Return a checksum over the `repr` of the given values.

    >>> compute_checksum("", 0, 1.5, "{}") == compute_checksum("", 0, 1.5, "{ }")
    False
    """
    return hashlib.sha256(repr(parts).encode(errors="surrogatepass")).hexdigest()[:CHECKSUM_DIGITS]


def add_checksum(*row: object) -> tuple[object, ...]:
    """Return a row of the database with its checksum at the end."""
    return (*row, compute_checksum(*row))


def is_intact(row: Sequence[object]) -> bool:
    """Return True if the checksum at the end of a row is correct."""
    return row[-1] == compute_checksum(*row[:-1])
