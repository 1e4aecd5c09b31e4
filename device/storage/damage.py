"""Checksums of stored games, and the damage of a store that they show.

Each event, each game and each note has a checksum over its row, which includes the number of the game and of the event.
So a flipped bit changes the checksum of one row only. A game has the number of its events, so that a missing event is
detected.
"""

from __future__ import annotations

import hashlib
import json
import logging
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from engine.ledger_data import UNREADABLE

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


_log = logging.getLogger(__name__)

UNREADABLE_BODY = json.dumps(dict(UNREADABLE), separators=(",", ":"))
"""The body of the event in place of one that is lost."""
SELECT_EVENTS = "SELECT game, number, time, body, checksum FROM event WHERE game = ? ORDER BY number"
SELECT_GAMES = "SELECT id, started, imported, deleted, length, checksum FROM game"


def list_intact_rows(rows: Iterable[tuple[Any, ...]]) -> list[EventRow]:
    """Return those of the rows of `SELECT_EVENTS` that have a correct checksum."""
    return [(number, time, body) for _, number, time, body, _ in filter(is_intact, rows)]


def fill_gaps(rows: Iterable[EventRow], length: int) -> list[EventRow]:
    """Return the events of a game from 0 to `length`, with an unreadable event in place of each that is missing."""
    known = {row[0]: row for row in rows}
    return [known.get(number, (number, 0.0, UNREADABLE_BODY)) for number in range(length)]


def read_event_rows(db: sqlite3.Connection, game: int) -> list[EventRow]:
    """Return the events of a game, with an unreadable event in place of each damaged one. Raises `sqlite3.Error`."""
    length = find_length(db, game)  # first: another program may add an event between the two queries
    return fill_gaps(list_intact_rows(db.execute(SELECT_EVENTS, (game,))), length)


def find_length(db: sqlite3.Connection, game: int) -> int:
    """Return the number of events of a game, even if its row in the list of games is damaged.

    Raises `sqlite3.Error`.
    """
    row = db.execute(f"{SELECT_GAMES} WHERE id = ?", (game,)).fetchone()
    if row and is_intact(row):
        return int(row[4])
    (length,) = db.execute("SELECT coalesce(max(number) + 1, 0) FROM event WHERE game = ?", (game,)).fetchone()
    return int(length)


def find_damaged_games(db: sqlite3.Connection) -> dict[int, int]:
    """Return, for each damaged game, the number of its events that can be read. Raises `sqlite3.Error`."""
    damaged = {}
    for row in db.execute(SELECT_GAMES).fetchall():
        rows = read_event_rows(db, row[0])
        readable = sum(body != UNREADABLE_BODY for _, _, body in rows)
        if readable < len(rows) or not is_intact(row):
            damaged[row[0]] = readable
            _log.warning("game %d is damaged: %d of %d events can be read", row[0], readable, len(rows))
    return damaged


def has_orphans(db: sqlite3.Connection) -> bool:
    """Return True if there are events of a game that is not in the list of games. Raises `sqlite3.Error`."""
    return db.execute("SELECT 1 FROM event WHERE game NOT IN (SELECT id FROM game) LIMIT 1").fetchone() is not None
